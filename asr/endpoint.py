"""When a caller's turn begins and ends: speech probabilities in, decisions out. Pure: no audio, no clock, no recogniser.

All positions are milliseconds of audio since the call's first sample. How long a silence ends the turn depends on what is
known of the words (`note_text`), on what was asked for (`expect`) and on whether the words are still being worked out
(`await_text`): waiting for those costs nothing, because the answer needs them too.

    quiet ──Opened──► speaking ──Paused──► paused ──Closed──► quiet
                         ▲                    │
                         └──────Resumed───────┘
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

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


class _State(enum.Enum):
    QUIET = enum.auto()
    SPEAKING = enum.auto()
    PAUSED = enum.auto()


class Endpointer:
    """One call's turns. Feed every window, in order."""

    def __init__(self, settings: EndpointSettings) -> None:
        self._settings = settings
        self._slot = Slot.NONE
        self._at_ms = 0
        self._state = _State.QUIET
        self._run_ms = 0  # voiced sound that does not count yet: before opening, or after a pause
        self._voiced = False  # hysteresis
        self._begin_turn(0)

    @property
    def is_open(self) -> bool:
        """Whether a turn is running."""
        return self._state is not _State.QUIET

    def expect(self, slot: Slot) -> None:
        """What the caller was just asked to dictate."""
        self._slot = slot

    def await_text(self) -> None:
        """A decode of the words so far is on its way: `note_text` will follow."""
        self._text_pending = True

    def note_text(self, *, complete: bool | None, dictating: bool) -> list[Decision]:
        """What the words so far are like. May close the turn at once, since the silence may already be long enough."""
        self._text_pending, self._text_known = False, True
        self._complete, self._dictating = complete, dictating
        return self._close_if_silent_enough()

    def feed(self, probability: float, at_ms: int, window_ms: int) -> list[Decision]:
        """One window that ends at at_ms. A probability that is no number counts as silence."""
        self._at_ms = at_ms
        self._voiced = probability >= (self._settings.speech_off if self._voiced else self._settings.speech_on)
        if self._state is _State.QUIET:
            return self._feed_quiet(at_ms, window_ms)
        decisions = self._feed_voiced(at_ms, window_ms) if self._voiced else self._feed_silent(at_ms)
        if self.is_open and at_ms - self._start_ms >= self._settings.max_turn_ms:
            decisions += self.finish()
        return decisions

    def finish(self) -> list[Decision]:
        """End a running turn here and now."""
        return [self._close(forced=True)] if self.is_open else []

    def _feed_quiet(self, at_ms: int, window_ms: int) -> list[Decision]:
        self._run_ms = self._run_ms + window_ms if self._voiced else 0
        if self._run_ms == 0 or self._run_ms < self._settings.min_speech_ms:
            return []
        self._begin_turn(at_ms - self._run_ms)
        self._state = _State.SPEAKING
        self._count_run()
        return [Opened(start_ms=self._start_ms)]

    def _feed_voiced(self, at_ms: int, window_ms: int) -> list[Decision]:
        self._run_ms += window_ms
        if self._state is _State.PAUSED:
            if self._run_ms < self._settings.min_resume_ms:
                return self._close_if_silent_enough()  # a click must not keep a turn open for ever
            self._state = _State.SPEAKING
            self._forget_text()
            self._count_run()
            return [Resumed(), Going(voiced_ms=self._voiced_ms)]
        self._count_run()
        return [Going(voiced_ms=self._voiced_ms)]

    def _feed_silent(self, at_ms: int) -> list[Decision]:
        self._run_ms = 0
        if self._vad_end_ms is None:
            self._vad_end_ms = at_ms
        decisions: list[Decision] = []
        if self._state is _State.SPEAKING and at_ms - self._speech_end_ms >= self._settings.speculate_after_ms:
            self._state = _State.PAUSED
            decisions.append(Paused(speech_end_ms=self._speech_end_ms, voiced_ms=self._voiced_ms))
        return decisions + self._close_if_silent_enough()

    def _count_run(self) -> None:
        self._voiced_ms += self._run_ms
        self._run_ms = 0
        self._speech_end_ms = self._at_ms
        self._vad_end_ms = None

    def _close_if_silent_enough(self) -> list[Decision]:
        if self._state is not _State.PAUSED or self._at_ms - self._speech_end_ms < self._wait_ms():
            return []
        return [self._close(forced=False)]

    def _wait_ms(self) -> int:
        settings = self._settings
        unknown_in_slot = self._slot is not Slot.NONE and not self._text_known
        if self._dictating or unknown_in_slot:
            return settings.dictation_silence_ms if self._slot is Slot.NONE else settings.slot_silence_ms
        if self._complete:
            return settings.complete_silence_ms
        if self._text_pending or self._complete is False:
            return settings.incomplete_silence_ms
        return settings.silence_ms

    def _close(self, *, forced: bool) -> Closed:
        self._state = _State.QUIET
        self._run_ms = 0
        self._voiced = False
        return Closed(
            start_ms=self._start_ms,
            speech_end_ms=self._speech_end_ms,
            vad_end_ms=self._at_ms if self._vad_end_ms is None else self._vad_end_ms,
            voiced_ms=self._voiced_ms,
            forced=forced,
        )

    def _begin_turn(self, start_ms: int) -> None:
        self._start_ms = start_ms
        self._speech_end_ms = start_ms
        self._voiced_ms = 0
        self._vad_end_ms: int | None = None
        self._forget_text()

    def _forget_text(self) -> None:
        self._text_pending = self._text_known = self._dictating = False
        self._complete: bool | None = None
