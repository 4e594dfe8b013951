"""Contracts of the speaking room: text in, line-rate audio out. Knows nothing of the call, of answers or of gRPC.

SpeakingError
├── VoiceMissing    weights or the system library are not there
└── VoiceFailed     a synthesis broke, stalled or gave no sound
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SpeakingError(Exception):
    """Something in this room failed. ``code`` is stable (metrics, wire); the message says what to do."""

    code = "tts.error"


class VoiceMissing(SpeakingError):
    """The voice's weights or its system library are not there."""

    code = "tts.voice_missing"


class VoiceFailed(SpeakingError):
    """A synthesis broke, stalled or gave no sound."""

    code = "tts.voice_failed"


class Voice(Protocol):
    """Speaks one clause. Blocking: the room runs it in its own worker, one clause at a time."""

    name: str
    rate_hz: int

    def synthesise(self, spoken: str, *, slower: float = 1.0) -> NDArray[np.float32]:
        """Audio for normalised text: float32 in [-1, 1], shape (n,), at rate_hz. slower: times as long. Raises VoiceFailed."""
        ...

    def close(self) -> None:
        """Give back threads and processes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """Audio of one clause, levelled and band-limited. samples: float32, shape (n,), at rate_hz (the line's rate)."""

    samples: NDArray[np.float32]
    rate_hz: int
    cached: bool

    @property
    def duration_ms(self) -> int:
        """Length, rounded down."""
        return len(self.samples) * 1000 // self.rate_hz


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakingSettings:
    """The speaking room. voice: neural or espeak; speed above 1 is slower (neural); level as active speech level.

    cache_mb: of synthesised clauses on disk; 0: no cache, every clause is synthesised when it is said.
    """

    voice: Literal["neural", "espeak"] = "neural"
    speed: float = 1.15
    level_dbov: float = -20.0
    peak_dbfs: float = -3.0
    gap_ms: int = 120
    synthesis_deadline_ms: int = 6000
    cache_mb: int = 256
