"""The last stretch of a call's audio, cut out by time. Knows nothing of codecs, speech or decodes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from asr.types import Pcm


@dataclass(slots=True)
class TurnAudio:
    """Samples at rate_hz, addressed by milliseconds of audio since the call's first sample. `forget` bounds it."""

    rate_hz: int
    _chunks: deque[NDArray[np.float32]] = field(default_factory=deque)
    _first: int = 0
    _held: int = 0

    def add(self, samples: NDArray[np.float32]) -> None:
        """Append."""
        self._chunks.append(samples)
        self._held += len(samples)

    def forget(self, before_ms: int) -> None:
        """Drop whole chunks that end before this place."""
        before = before_ms * self.rate_hz // 1000
        while self._chunks and self._first + len(self._chunks[0]) <= before:
            gone = len(self._chunks.popleft())
            self._first += gone
            self._held -= gone

    def between(self, start_ms: int, end_ms: int) -> Pcm:
        """A copy of what is still here of this stretch."""
        start, end = (max(0, ms * self.rate_hz // 1000 - self._first) for ms in (start_ms, end_ms))
        whole = np.concatenate((np.zeros(0, dtype=np.float32), *self._chunks))
        return Pcm(samples=whole[start:end], rate_hz=self.rate_hz, start_ms=start_ms)

    @property
    def held_ms(self) -> int:
        """How much is here."""
        return self._held * 1000 // self.rate_hz


@dataclass(slots=True)
class ClockedPositions:
    """Milliseconds of audio → milliseconds of the call's clock, if frames arrive as they are spoken."""

    now_ms: Callable[[], int]
    audio_ms: int = 0
    _offset_ms: int = 0

    def advance(self, audio_ms: int) -> None:
        """The newest sample lies at audio_ms, and has just arrived."""
        self.audio_ms = audio_ms
        self._offset_ms = self.now_ms() - audio_ms

    def on_clock(self, audio_ms: int) -> int:
        """When the frame that holds this place arrived."""
        return max(0, audio_ms + self._offset_ms)
