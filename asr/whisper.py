"""Whisper through CTranslate2: a stretch of speech in, simplified text and scores out. Knows nothing of calls, turns or queues.

faster-whisper's own `transcribe` fills every segment up to 30 s; on a telephone turn that is nine tenths of the work. Here the
window is the speech plus `window_padding_ms` of silence: without that tail the model repeats the last words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from asr.guard import refusal
from asr.hotwords import MANDARIN_PROMPT, prompt_of
from asr.types import Decoded, DecodeHints, HearingSettings, Pcm, RecogniserFailed, RecogniserMissing
from hotline.zh.script import simplify

if TYPE_CHECKING:
    import threading
    from pathlib import Path

    from numpy.typing import NDArray

RATE_HZ = 16_000
FRAME_SAMPLES = 160
MIN_WINDOW_MS = 4000
MAX_WINDOW_MS = 30_000
MIN_SPEECH_MS = 60  # less than a short vowel: nothing to decode
PIECE_MS = 5000  # from here on a pause is a place to cut: in long windows the model stops after a sentence that sounds final
MAX_PIECE_MS = 20_000  # here it is cut at its quietest place, pause or not
MIN_PIECE_MS = 2000
BLOCK_MS = 100
PAUSE_BLOCKS = 3
PAUSE_BELOW_LOUD = 10 ** (-25 / 10)  # power of a pause against that of the loudest tenth
TOKENS_PER_S = 10
TOKENS_EXTRA = 12
MAX_PROMPT_TOKENS = 160
FILES = ("model.bin", "config.json", "tokenizer.json")


@dataclass(frozen=True, slots=True)
class _Scored:
    """One window's result. tokens: its length, for weighting."""

    decoded: Decoded
    tokens: int


class WhisperRecogniser:
    """A `Recogniser`. Thread-safe: the pool's workers share one model (`settings.workers` decodes at once)."""

    rate_hz = RATE_HZ

    def __init__(self, folder: Path, settings: HearingSettings) -> None:
        """Load the weights (about 150 MB for base). Raises RecogniserMissing."""
        self._settings = settings
        self._model = _load(folder, settings)
        self._tokenizers: dict[str, Any] = {}

    def warm_up(self, stop: threading.Event) -> None:
        """One decode of silence, so that the first caller does not pay for allocations."""
        silence = Pcm(samples=np.zeros(RATE_HZ, dtype=np.float32), rate_hz=RATE_HZ)
        self.decode(silence, DecodeHints(), stop)

    def decode(self, speech: Pcm, hints: DecodeHints, stop: threading.Event) -> Decoded:
        """Decode one segment of any length. Raises RecogniserFailed."""
        if speech.rate_hz != RATE_HZ:
            raise RecogniserFailed(f"Whisper wants {RATE_HZ} Hz, not {speech.rate_hz}.")
        samples = np.clip(np.nan_to_num(speech.samples), -1.0, 1.0)
        if speech.duration_ms < MIN_SPEECH_MS:
            return _nothing()
        try:
            pieces = [self._decode_piece(piece, hints, stop) for piece in cut_long(samples) if not stop.is_set()]
        except (RuntimeError, ValueError) as error:
            # its message may quote what was decoded
            raise RecogniserFailed(f"Whisper broke ({type(error).__name__}): see `hotline doctor`.") from None
        return _join(pieces)

    def _decode_piece(self, samples: NDArray[np.float32], hints: DecodeHints, stop: threading.Event) -> _Scored:
        window = self._window(samples)
        features = self._model.feature_extractor(window)[..., : len(window) // FRAME_SAMPLES]
        if stop.is_set():
            return _Scored(_nothing(), 1)
        encoded = self._model.encode(features)
        if stop.is_set():
            return _Scored(_nothing(), 1)
        seconds = len(samples) / RATE_HZ
        prompt = prompt_of(hints)
        scored = self._generate(encoded, hints.language, prompt, seconds)
        if not prompt or stop.is_set():
            return scored
        if refusal(scored.decoded, voiced_ms=None, prompts=(MANDARIN_PROMPT, prompt), hot_words=hints.hot_words) is None:
            return scored
        return self._generate(encoded, hints.language, "", seconds)

    def _window(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        wanted_ms = max(math.ceil(len(samples) * 1000 / RATE_HZ) + self._settings.window_padding_ms, MIN_WINDOW_MS)
        frames = min(wanted_ms, MAX_WINDOW_MS) // 10
        window = np.zeros((frames + frames % 2) * FRAME_SAMPLES, dtype=np.float32)  # the encoder halves the frames
        window[: len(samples)] = samples
        return window

    def _generate(self, encoded: Any, language: str, prompt: str, seconds: float) -> _Scored:  # noqa: ANN401  untyped library
        tokenizer = self._tokenizer(language)
        tokens = [*tokenizer.sot_sequence, tokenizer.no_timestamps]
        if prompt:
            tokens = [tokenizer.sot_prev, *tokenizer.encode(" " + prompt)[:MAX_PROMPT_TOKENS], *tokens]
        result = self._model.model.generate(
            encoded,
            [tokens],
            beam_size=self._settings.beam,
            max_length=min(len(tokens) + math.ceil(TOKENS_PER_S * seconds) + TOKENS_EXTRA, self._model.max_length),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=True,
            suppress_tokens=tokenizer.suppressed,
        )[0]
        written = result.sequences_ids[0]
        logprob = result.scores[0] * len(written) / (len(written) + 1)  # the score's mean leaves out the end token
        text = simplify(tokenizer.decode(written).replace("\ufffd", "").strip())  # half a character: a token cut it
        return _Scored(Decoded(text=text, avg_logprob=logprob, no_speech_prob=result.no_speech_prob), len(written) + 1)

    def _tokenizer(self, language: str) -> Any:  # noqa: ANN401  untyped library
        from faster_whisper.tokenizer import Tokenizer  # noqa: PLC0415  costly import
        from faster_whisper.transcribe import get_suppressed_tokens  # noqa: PLC0415  costly import

        if language not in self._tokenizers:
            tokenizer = Tokenizer(self._model.hf_tokenizer, multilingual=True, task="transcribe", language=language)
            tokenizer.suppressed = list(get_suppressed_tokens(tokenizer, [-1]))
            self._tokenizers[language] = tokenizer
        return self._tokenizers[language]


def cut_long(samples: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """Pieces of at most 20 s that join to the whole: cut in the pauses of long speech, and where it is quietest if it has none."""
    block = BLOCK_MS * RATE_HZ // 1000
    power = np.square(samples[: len(samples) // block * block]).reshape(-1, block).mean(axis=1)
    places: list[int] = []
    while (place := _cut_place(power[sum(places) :])) is not None:
        places.append(place)
    return np.split(samples, np.cumsum(places, dtype=np.intp) * block) if places else [samples]


def _cut_place(power: NDArray[np.float32]) -> int | None:
    """After how many blocks to cut; None: the rest is one piece."""
    first, least_rest, most = (ms // BLOCK_MS for ms in (PIECE_MS, MIN_PIECE_MS, MAX_PIECE_MS))
    quiet = power < np.quantile(power, 0.9) * PAUSE_BELOW_LOUD if len(power) else power > 0
    for at in range(first, min(most, len(power) - least_rest)):
        if quiet[at : at + PAUSE_BLOCKS].all():
            return at + PAUSE_BLOCKS // 2
    return first + int(np.argmin(power[first:most])) if len(power) >= most else None


def _join(pieces: list[_Scored]) -> Decoded:
    """One result of several windows. A window of invented text in a long turn is left out, not the turn."""
    good = [piece for piece in pieces if refusal(piece.decoded, voiced_ms=None) is None] or pieces[:1]
    if not good:
        return _nothing()
    tokens = sum(piece.tokens for piece in good)
    return Decoded(
        text="".join(piece.decoded.text for piece in good),
        avg_logprob=sum(piece.decoded.avg_logprob * piece.tokens for piece in good) / tokens,
        no_speech_prob=min(piece.decoded.no_speech_prob for piece in good),
    )


def _nothing() -> Decoded:
    return Decoded(text="", avg_logprob=0.0, no_speech_prob=1.0)


def _load(folder: Path, settings: HearingSettings) -> Any:  # noqa: ANN401  untyped library
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise RecogniserMissing(
            f"The recogniser's weights are missing ({', '.join(missing)}): run `hotline models pull whisper-base`."
        )
    from faster_whisper import WhisperModel  # noqa: PLC0415  costly import

    try:
        return WhisperModel(
            str(folder),
            device="cpu",
            compute_type="int8",
            cpu_threads=settings.threads_per_worker,
            num_workers=settings.workers,
            local_files_only=True,
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise RecogniserMissing(
            "The recogniser's weights do not load: delete them and run `hotline models pull whisper-base`."
        ) from error
