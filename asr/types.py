"""Contracts of the listening room: line audio in, speech events out. Knows nothing of the call, of answers or of gRPC.

Times named ``*_ms`` are milliseconds since the call's start on the call's clock: when the frame that holds the sample arrived.

    HearingError
    ├── WrongAudio          the payload does not fit the announced codec or rate
    ├── RecogniserMissing   weights are not there, or do not load
    ├── RecogniserFailed    a decode broke
    ├── RecogniserStalled   a decode took longer than its deadline
    └── RecogniserBusy      a speculative decode was shed: the queue is full
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import threading

    import numpy as np
    from numpy.typing import NDArray


class HearingError(Exception):
    """Something in this room failed. ``code`` is stable (metrics, wire); the message says what to do, without caller content."""

    code = "asr.error"


class WrongAudio(HearingError):
    """The payload does not fit the announced codec or rate."""

    code = "asr.wrong_audio"


class RecogniserMissing(HearingError):
    """The recogniser's weights are not there, or do not load."""

    code = "asr.recogniser_missing"


class RecogniserFailed(HearingError):
    """A decode broke."""

    code = "asr.recogniser_failed"


class RecogniserStalled(HearingError):
    """A decode took longer than its deadline."""

    code = "asr.recogniser_stalled"


class RecogniserBusy(HearingError):
    """A speculative decode was shed, because the queue is full."""

    code = "asr.recogniser_busy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pcm:
    """Mono audio. samples: float32 in [-1, 1], shape (n,). start_ms: where it begins, counted in samples, not by a clock."""

    samples: NDArray[np.float32]
    rate_hz: int
    start_ms: int = 0

    @property
    def duration_ms(self) -> int:
        """Length, rounded down."""
        return len(self.samples) * 1000 // self.rate_hz


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioPacket:
    """One packet of line audio as it came. sequence: counts from 0; payload: 10–60 ms in the call's codec.

    capture_ms: when its first sample was captured, by the far end's media clock; 0 where that is not told.
    """

    sequence: int
    payload: bytes
    lost_before: bool = False
    capture_ms: int = 0


class Slot(enum.Enum):
    """What the caller was asked to dictate: it decides how long a pause inside it may last."""

    NONE = "none"
    MOBILE = "mobile"  # 11 digits
    ID_CARD = "id_card"  # 18 characters
    NUMBER = "number"  # any other number


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechStarted:
    """Someone speaks. start_ms: first voiced sample, before at_ms, when that became sure."""

    at_ms: int
    start_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechGoing:
    """Still speaking (each VAD window). voiced_ms: voiced sound since the start, silences left out."""

    at_ms: int
    voiced_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechEnded:
    """The caller's turn is over, so decided at at_ms. Exactly one `Heard` or `Unclear` follows: until then a decode is pending."""

    at_ms: int
    start_ms: int
    last_speech_ms: int
    vad_end_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What was recognised, raw (simplified characters): for the masker only, never for a log."""

    at_ms: int
    text: str
    ended: SpeechEnded
    confidence: float

    def __repr__(self) -> str:
        """Without the text: this object may end in an exception or a debugger's log."""
        return f"Heard(at_ms={self.at_ms}, characters={len(self.text)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """Sound that was taken for speech and gave no words that can be trusted. reason: the guard's rule or an error's code."""

    at_ms: int
    reason: str
    ended: SpeechEnded


SpeechEvent = SpeechStarted | SpeechGoing | SpeechEnded | Heard | Unclear


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeHints:
    """Help for one decode. hot_words: terms likely now, at most about ten; language: ISO 639-1."""

    language: str = "zh"
    hot_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """One decode before the guards. avg_logprob: mean log-probability of a token; no_speech_prob in [0, 1]."""

    text: str
    avg_logprob: float
    no_speech_prob: float

    def __repr__(self) -> str:
        """Without the text."""
        return f"Decoded(characters={len(self.text)}, avg_logprob={self.avg_logprob:.2f}, no_speech_prob={self.no_speech_prob:.2f})"


class Priority(enum.IntEnum):
    """Order of the decode queue: the lower goes first."""

    FINAL = 0
    SPECULATIVE = 1
    ASIDE = 2  # for who isn't on the telephone


class Recogniser(Protocol):
    """Turns a stretch of speech into text. Blocking: the pool runs it in a worker thread, one call a worker at a time."""

    rate_hz: int

    def decode(self, speech: Pcm, hints: DecodeHints, stop: threading.Event) -> Decoded:
        """Decode one segment at rate_hz. stop: set when nobody wants the result any more; checked between steps.

        Raises RecogniserFailed. The result of a stopped decode is meaningless.
        """
        ...


class Vad(Protocol):
    """Speech probability, window by window, for one call (it holds the call's state)."""

    rate_hz: int
    window_samples: int

    def speech_probability(self, window: NDArray[np.float32]) -> float:
        """Probability in [0, 1] for window_samples samples at rate_hz."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """When a caller's turn begins and ends. speech_on/off: probability thresholds with hysteresis."""

    speech_on: float = 0.5
    speech_off: float = 0.35
    min_speech_ms: int = 96
    min_resume_ms: int = 64
    pre_roll_ms: int = 450
    speculate_after_ms: int = 200
    complete_silence_ms: int = 480
    silence_ms: int = 640
    incomplete_silence_ms: int = 1000
    dictation_silence_ms: int = 1600
    slot_silence_ms: int = 2500
    max_turn_ms: int = 60_000

    def __post_init__(self) -> None:
        """Refuse an order that can't work."""
        if not 0 < self.speech_off < self.speech_on < 1:
            msg = "speech_off must lie below speech_on, both within (0, 1)"
            raise ValueError(msg)
        if not self.speculate_after_ms <= self.complete_silence_ms <= self.silence_ms <= self.incomplete_silence_ms:
            msg = "silences must not fall: speculate_after_ms ≤ complete_silence_ms ≤ silence_ms ≤ incomplete_silence_ms"
            raise ValueError(msg)


_HOT_WORDS = ("居住证", "身份证", "养老保险", "医保", "公积金", "停车", "劳动", "营业执照", "户口", "护照")


@dataclass(frozen=True, slots=True, kw_only=True)
class HearingSettings:
    """The listening room. model: a catalogue name or a folder of CTranslate2 weights; vad: silero or webrtc.

    hot_words: what callers say and the recogniser expects, at most ten, the most misheard first; none: the knowledge base's topics.
    """

    vad: Literal["silero", "webrtc"] = "silero"
    model: str = "whisper-base"
    workers: int = 2
    threads_per_worker: int = 1
    beam: int = 1
    decode_deadline_ms: int = 8000
    max_queue: int = 32
    window_padding_ms: int = 2000
    hot_words: tuple[str, ...] = _HOT_WORDS
    endpoint: EndpointSettings = EndpointSettings()
