"""When a caller's turn begins and ends: speech probabilities in, decisions out. Pure: no audio, no clock, no recogniser.

All positions are milliseconds of audio since the call's first sample. How long a silence ends the turn depends on what is
known of the words (`note_text`), on what was asked for (`expect`) and on whether the words are still being worked out
(`await_text`): waiting for those costs nothing, because the answer needs them too.

    quiet ──Opened──► speaking ──Paused──► paused ──Closed──► quiet
                         ▲                    │
                         └──────Resumed───────┘
"""

from __future__ import annotations

from dataclasses import dataclass, field

from asr.types import EndpointSettings, Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Speech is sure. start_ms: its first voiced window (pre-roll not taken off)."""

    start_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """One more voiced window. voiced_ms: voiced sound of the turn so far."""

    voiced_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """Silent for long enough to try a decode. speech_end_ms: end of the last voiced window."""

    speech_end_ms: int
    voiced_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The caller goes on after a pause: what was decoded is not the whole turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The turn is over. vad_end_ms: when silence was first noticed; forced: cut at the longest turn or at the call's end."""

    start_ms: int
    speech_end_ms: int
    vad_end_ms: int
    voiced_ms: int
    forced: bool = False


Decision = Opened | Going | Paused | Resumed | Closed


@dataclass(slots=True)
class _Words:
    """What is known of the words so far. pending: a decode is on its way; known: one has come back."""

    pending: bool = False
    known: bool = False
    complete: bool | None = None
    dictating: bool = False


@dataclass(slots=True)
class _Turn:
    """The running turn. vad_end_ms: the first silent window since the last voiced one; None while there is none."""

    start_ms: int
    speech_end_ms: int
    voiced_ms: int
    vad_end_ms: int | None = None
    paused: bool = False
    words: _Words = field(default_factory=_Words)

    def count(self, voiced_ms: int, at_ms: int) -> None:
        """More speech. A gap too short for a pause is part of a word."""
        self.voiced_ms += voiced_ms if self.paused else at_ms - self.speech_end_ms
        self.paused = False
        self.speech_end_ms = at_ms
        self.vad_end_ms = None


class Endpointer:
    """One call's turns. Feed every window, in order."""

    def __init__(self, settings: EndpointSettings) -> None:
        self._settings = settings
        self._slot = Slot.NONE
        self._at_ms = 0
        self._turn: _Turn | None = None
        self._run_ms = 0  # voiced sound that does not count yet: before opening, or after a pause
        self._voiced = False  # the last window, by hysteresis

    @property
    def is_open(self) -> bool:
        """Whether a turn is running."""
        return self._turn is not None

    def expect(self, slot: Slot) -> None:
        """What the caller was just asked to dictate."""
        self._slot = slot

    def await_text(self) -> None:
        """A decode of the words so far is on its way: `note_text` will follow."""
        if self._turn is not None:
            self._turn.words.pending = True

    def note_text(self, *, complete: bool | None, dictating: bool) -> list[Decision]:
        """What the words so far are like. May close the turn at once, since the silence may already be long enough."""
        if self._turn is None:
            return []
        self._turn.words = _Words(known=True, complete=complete, dictating=dictating)
        return self._close_if_silent_enough(self._turn)

    def feed(self, probability: float, at_ms: int, window_ms: int) -> list[Decision]:
        """One window that ends at at_ms. A probability that is no number counts as silence."""
        self._at_ms = at_ms
        self._voiced = probability >= (self._settings.speech_off if self._voiced else self._settings.speech_on)
        self._run_ms = self._run_ms + window_ms if self._voiced else 0
        if self._turn is None:
            return self._open_if_sure()
        decisions = self._feed_voiced(self._turn) if self._voiced else self._feed_silent(self._turn)
        if self.is_open and at_ms - self._turn.start_ms >= self._settings.max_turn_ms:
            decisions += self.finish()
        return decisions

    def finish(self) -> list[Decision]:
        """End a running turn here and now."""
        return [] if self._turn is None else [self._close(self._turn, forced=True)]

    def _open_if_sure(self) -> list[Decision]:
        if not self._voiced or self._run_ms < self._settings.min_speech_ms:
            return []
        start_ms = self._at_ms - self._run_ms
        self._turn = _Turn(start_ms=start_ms, speech_end_ms=self._at_ms, voiced_ms=self._run_ms)
        self._run_ms = 0
        return [Opened(start_ms=start_ms)]

    def _feed_voiced(self, turn: _Turn) -> list[Decision]:
        resumed: list[Decision] = []
        if turn.paused:
            if self._run_ms < self._settings.min_resume_ms:
                return self._close_if_silent_enough(turn)  # a click must not keep a turn open for ever
            turn.words = _Words()
            resumed = [Resumed()]
        turn.count(self._run_ms, self._at_ms)
        self._run_ms = 0
        return [*resumed, Going(voiced_ms=turn.voiced_ms)]

    def _feed_silent(self, turn: _Turn) -> list[Decision]:
        if turn.vad_end_ms is None:
            turn.vad_end_ms = self._at_ms
        paused: list[Decision] = []
        if not turn.paused and self._at_ms - turn.speech_end_ms >= self._settings.speculate_after_ms:
            turn.paused = True
            paused = [Paused(speech_end_ms=turn.speech_end_ms, voiced_ms=turn.voiced_ms)]
        return [*paused, *self._close_if_silent_enough(turn)]

    def _close_if_silent_enough(self, turn: _Turn) -> list[Decision]:
        if not turn.paused or self._at_ms - turn.speech_end_ms < self._wait_ms(turn.words):
            return []
        return [self._close(turn, forced=False)]

    def _wait_ms(self, words: _Words) -> int:
        settings = self._settings
        if self._slot is not Slot.NONE and (words.dictating or not words.known):
            return settings.slot_silence_ms
        if words.dictating:
            return settings.dictation_silence_ms
        if words.complete:
            return settings.complete_silence_ms
        if words.pending or words.complete is False:
            return settings.incomplete_silence_ms
        return settings.silence_ms

    def _close(self, turn: _Turn, *, forced: bool) -> Closed:
        self._turn = None
        self._run_ms = 0
        self._voiced = False
        return Closed(
            start_ms=turn.start_ms,
            speech_end_ms=turn.speech_end_ms,
            vad_end_ms=self._at_ms if turn.vad_end_ms is None else turn.vad_end_ms,
            voiced_ms=turn.voiced_ms,
            forced=forced,
        )
