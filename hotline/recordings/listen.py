"""One pass over a stream's samples → its length, its parties, and what is odd about them. Knows no format."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hotline.recordings.types import Party, Recording, RecordingEmpty, Role, Samples, Stream, near_rate_hz, note
from hotline.sound.codec import Codec, detect_wrong_law, encode

SOUND_DBOV = -42.0
FRAME_MS = 20
FRAMES_IN_A_ROW = 3  # a click is no sound
TELEPHONE_HZ = (8000, 16_000)
SHORT_MS = 200
STEREO = 2
LAW_SAMPLES = 80_000  # ten seconds are enough to tell
_LAWS = (Codec.PCMA, Codec.PCMU)

LEAK_WITHIN_MS = 60
LEAK_LIKENESS = 0.8
LEAK_QUIETER_DB = 20.0
LEAK_BLOCKS = 48  # that are compared, at most: some minutes of a telephone line
_LEAST_ENERGY = 1e-9


def listened(path: Path, stream: Stream) -> Recording:
    """The recording. Reads the file to its end, in bounded memory. Raises RecordingError, OSError."""
    ears = _Ears(stream.rate_hz, stream.channels)
    for block in stream.blocks():
        ears.hear(block)
    if not ears.frames:
        raise RecordingEmpty("the file holds no samples", what_to_do="was anything recorded?")
    notes = stream.notes
    if stream.rate_hz not in TELEPHONE_HZ:
        note(notes, f"{stream.rate_hz} Hz: no telephone line's rate, resampled")
    if near_rate_hz(stream.rate_hz) != stream.rate_hz:
        note(notes, f"taken as {near_rate_hz(stream.rate_hz)} Hz")
    parties = _parties(stream, ears, notes)
    if all(party.began_ms is None for party in parties):
        note(notes, "holds silence only")
    if _is_other_law(stream, ears.began_ms):
        note(notes, f"sounds as if it were not {stream.codec}, but the other law of G.711")
    duration_ms = ears.frames * 1000 // stream.rate_hz
    if duration_ms < SHORT_MS:
        note(notes, f"only {duration_ms} ms long")
    return Recording(
        path=path,
        kind=stream.kind,
        codec=stream.codec,
        bits=stream.bits,
        rate_hz=stream.rate_hz,
        duration_ms=duration_ms,
        parties=parties,
        notes=tuple(notes),
        keys=stream.keys,
        read=stream.blocks,
    )


def _is_other_law(stream: Stream, began_ms: list[int | None]) -> bool:
    """Whether the first seconds of sound are in the other law than the file says. False where it isn't G.711 at all."""
    first_ms = min((at for at in began_ms if at is not None), default=None)
    if stream.codec not in {codec.value for codec in _LAWS} or first_ms is None:
        return False
    party = began_ms.index(first_ms)
    skip, heard = first_ms * stream.rate_hz // 1000, np.zeros(0, np.float32)
    for block in stream.blocks():
        heard = np.concatenate((heard, block[skip:, party]))[:LAW_SAMPLES]
        skip = max(0, skip - len(block))
        if len(heard) == LAW_SAMPLES:
            break
    return detect_wrong_law(encode(heard, Codec(stream.codec)), Codec(stream.codec))


def _parties(stream: Stream, ears: _Ears, notes: list[str]) -> tuple[Party, ...]:
    if stream.channels == STEREO and ears.is_doubled and not stream.names:
        note(notes, "both channels hold the same sound: a mono call, saved as stereo")
        return (Party(name="both channels", began_ms=ears.began_ms[0]),)
    if stream.channels > STEREO:
        note(notes, f"{stream.channels} channels: more than a call has parties")
    leak = ears.leak()
    parties = []
    for index, name in enumerate(stream.names or _names(stream.channels)):
        role = stream.roles[index] if stream.roles else Role.UNKNOWN
        parties.append(Party(name=name, role=role, began_ms=ears.began_ms[index], leak=index == leak))
    if leak is not None:
        note(notes, f"{parties[leak].name} holds only what leaked over from the other side: taken as silent")
    return tuple(parties)


def _names(channels: int) -> tuple[str, ...]:
    if channels == STEREO:
        return ("left", "right")
    return ("mono",) if channels == 1 else tuple(f"channel {index + 1}" for index in range(channels))


@dataclass(slots=True)
class _Ears:
    """What was heard so far. began_ms: of each channel, its first sound."""

    rate_hz: int
    channels: int
    frames: int = 0
    is_doubled: bool = True
    began_ms: list[int | None] = field(default_factory=list)
    _likeness: _Likeness | None = None

    def __post_init__(self) -> None:
        self.began_ms = [None] * self.channels
        if self.channels == STEREO:
            self._likeness = _Likeness(self.rate_hz)

    def hear(self, block: Samples) -> None:
        """The next samples."""
        if self.is_doubled:
            self.is_doubled = self.channels == STEREO and bool(np.array_equal(block[:, 0], block[:, 1]))
        for index, began_ms in enumerate(self.began_ms):
            if began_ms is None and (at := _first_sound(block[:, index], self.rate_hz)) is not None:
                self.began_ms[index] = (self.frames + at) * 1000 // self.rate_hz
        if self._likeness is not None and not self.is_doubled:
            self._likeness.compare(block)
        self.frames += len(block)

    def leak(self) -> int | None:
        """The channel that holds only what leaked from the other."""
        return self._likeness.leak() if self._likeness is not None else None


def _first_sound(samples: NDArray[np.float32], rate_hz: int) -> int | None:
    """Where a sound that lasts begins, None where there is none within this block."""
    size = rate_hz * FRAME_MS // 1000
    frames = samples[: len(samples) // size * size].reshape(-1, size)
    loud = np.mean(np.square(frames), axis=1) > 10 ** (SOUND_DBOV / 10)
    if len(loud) < FRAMES_IN_A_ROW:
        return None
    lasting = np.flatnonzero(np.convolve(loud, np.ones(FRAMES_IN_A_ROW), "valid") >= FRAMES_IN_A_ROW)
    return int(lasting[0]) * size if len(lasting) else None


class _Likeness:
    """How much one channel is the other, shifted by some milliseconds and fainter: cross-talk of a two-wire line."""

    def __init__(self, rate_hz: int) -> None:
        self._reach = rate_hz * LEAK_WITHIN_MS // 1000
        self._crossed = np.zeros(2 * self._reach + 1)
        self._energy = np.zeros(STEREO)
        self._blocks = 0

    def compare(self, block: Samples) -> None:
        """Take the next block into account, if there is sound in it."""
        energy = np.sum(np.square(block, dtype=np.float64), axis=0)
        if self._blocks >= LEAK_BLOCKS or len(block) <= self._reach or energy.max() < _LEAST_ENERGY * len(block):
            return
        self._blocks += 1
        self._energy += energy
        size = 1 << (2 * len(block) - 1).bit_length()
        spectra = np.fft.rfft(block, size, axis=0)
        crossed = np.fft.irfft(spectra[:, 0] * np.conj(spectra[:, 1]), size)
        self._crossed += np.concatenate((crossed[-self._reach :], crossed[: self._reach + 1]))

    def leak(self) -> int | None:
        """The fainter channel, if the other explains it."""
        if self._energy.min() <= 0:
            return None
        likeness = float(np.max(np.abs(self._crossed)) / np.sqrt(self._energy[0] * self._energy[1]))
        quieter_db = float(10 * np.log10(self._energy.max() / self._energy.min()))
        return int(np.argmin(self._energy)) if likeness >= LEAK_LIKENESS and quieter_db >= LEAK_QUIETER_DB else None
