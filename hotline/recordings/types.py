"""What a recorded call is, whatever file it came from: parties, samples by the block, keys, and what was odd. Knows no format.

RecordingError
├── NotARecording    no audio of a kind that is known
├── RecordingBroken  begun like a recording, and can't be read
├── RecordingEmpty   a recording of nothing
└── PartyUnclear     which party is the caller can't be told
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hotline.errors import HotlineError
from hotline.sound.resample import Resampler

Samples = NDArray[np.float32]

BLOCK_FRAMES = 1 << 16
MAX_CHANNELS = 32
RATES_HZ = range(4000, 384_001)
LONGEST_S = 12 * 3600
_RATE_STEP_HZ = 50  # a resampler between rates without a common measure would need a table of millions


class RecordingError(HotlineError):
    """A file gives no recorded call. The message says what it is and what to do."""

    code = "recording.unreadable"


class NotARecording(RecordingError):
    """No audio of a kind that is known."""

    code = "recording.unknown_kind"


class RecordingBroken(RecordingError):
    """Begun like a recording, and can't be read."""

    code = "recording.broken"


class RecordingEmpty(RecordingError):
    """A recording of nothing."""

    code = "recording.empty"


class PartyUnclear(RecordingError):
    """Which party is the caller can't be told."""

    code = "recording.party_unclear"


class Role(enum.Enum):
    """Who a party is, where the file tells."""

    UNKNOWN = "unknown"
    CALLER = "caller"
    CALLED = "called"


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """One side of a call. name: for people; began_ms: its first sound, None where there is none; leak: only the other's, leaked."""

    name: str
    role: Role = Role.UNKNOWN
    began_ms: int | None = None
    leak: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPress:
    """A key of a party's telephone."""

    party: int
    at_ms: int
    digit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """What a reader makes of a file, before anyone has listened to it.

    blocks: from the beginning each time it is called; float32 in [-1, 1], shape (n, channels), n at most BLOCK_FRAMES.
    notes: what was odd, in words; those of the blocks are complete once they have been read through.
    """

    kind: str
    codec: str
    bits: int
    rate_hz: int
    channels: int
    blocks: Callable[[], Iterator[Samples]]
    notes: list[str] = field(default_factory=list)
    names: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    keys: tuple[KeyPress, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recorded call. bits: of a stored sample, 0 where the codec has none. The audio stays in the file until it is asked for."""

    path: Path
    kind: str
    codec: str
    bits: int
    rate_hz: int
    duration_ms: int
    parties: tuple[Party, ...]
    notes: tuple[str, ...] = ()
    keys: tuple[KeyPress, ...] = ()
    read: Callable[[], Iterator[Samples]]

    def blocks(self, party: int, rate_hz: int | None = None) -> Iterator[Samples]:
        """One party's samples block by block, at another rate if asked for. Raises RecordingError, OSError."""
        leaked = self.parties[party].leak
        resampler = Resampler(near_rate_hz(self.rate_hz), rate_hz) if rate_hz and rate_hz != self.rate_hz else None
        for block in self.read():
            samples = np.zeros(len(block), np.float32) if leaked else np.ascontiguousarray(block[:, party])
            yield resampler.feed(samples) if resampler is not None else samples
        if resampler is not None:
            yield resampler.flush()

    def samples(self, party: int, rate_hz: int | None = None) -> Samples:
        """The same in one piece: 115 MB an hour at 8 kHz."""
        return np.concatenate([np.zeros(0, np.float32), *self.blocks(party, rate_hz)])


def near_rate_hz(rate_hz: int) -> int:
    """The rate that a resampler can work with: never further away than half a per cent."""
    return round(rate_hz / _RATE_STEP_HZ) * _RATE_STEP_HZ


def bounded(blocks: Iterator[Samples], rate_hz: int, notes: list[str]) -> Iterator[Samples]:
    """As many of the blocks as the longest call has."""
    most = LONGEST_S * rate_hz
    for block in blocks:
        if len(block) >= most:
            note(notes, f"only the first {LONGEST_S // 60} minutes are used")
            yield block[:most]
            return
        most -= len(block)
        yield block


def note(notes: list[str], words: str) -> None:
    """Add a note, once."""
    if words not in notes:
        notes.append(words)


def cut(samples: Samples) -> Iterator[Samples]:
    """Pieces of at most a block."""
    for begin in range(0, len(samples), BLOCK_FRAMES):
        yield samples[begin : begin + BLOCK_FRAMES]
