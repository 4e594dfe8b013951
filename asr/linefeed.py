"""Packets of line audio in, an unbroken stream of samples out. Knows nothing of speech, turns or the clock.

What the network did to the packets ends here: doubled and late ones are dropped, gaps are filled, broken ones are refused, and
all of it is counted. Sound of another codec or rate than announced is told by its pace: a packet holds twice or half the time that
lies between it and the next.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from asr.types import AudioPacket, WrongAudio
from hotline.sound.codec import Codec, CodecError, decode

RATES_HZ = {Codec.PCMA: (8000,), Codec.PCMU: (8000,), Codec.L16: (8000, 16_000)}
MAX_PACKET_MS = 60
BAD_IN_A_ROW = 5
LATE_IN_A_ROW = 50  # a whole second of "old" packets: the far end began to count anew
MOST_MISSING = 30_000  # ten minutes: a number further away is a new count, nothing was lost
WRONG_PACE = ((0.48, 0.52), (1.92, 2.08))  # codecs and rates of telephone lines differ by a factor of two, or not at all
WRONG_PACE_IN_A_ROW = 25
REPEATED_PACKETS = 3  # a gap is filled by the last packet, fading; a longer one ends in silence
MAX_FILLED_MS = 500


@dataclass(slots=True)
class LineStats:
    """What came. lost: packets that never came; doubled: came twice; late: came after their place was filled; bad: no audio.

    renumbered: new counts; refused: turns that gave no words, by reason.
    """

    packets: int = 0
    lost: int = 0
    doubled: int = 0
    late: int = 0
    bad: int = 0
    renumbered: int = 0
    filled_ms: int = 0
    refused: Counter[str] = field(default_factory=Counter)


class LineFeed:
    """One call's incoming stream."""

    def __init__(self, codec: Codec, rate_hz: int) -> None:
        if rate_hz not in RATES_HZ[codec]:
            raise WrongAudio(f"{codec.name} at {rate_hz} Hz is not a telephone line: PCMA or PCMU at 8000, L16 at 8000 or 16000.")
        self.stats = LineStats()
        self._codec = codec
        self._rate_hz = rate_hz
        self._next: int | None = None
        self._last: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self._bad_in_a_row = 0
        self._late_in_a_row = 0
        self._captured_ms: int | None = None  # the packet before this one
        self._wrong_pace_in_a_row = 0

    def take(self, packet: AudioPacket) -> NDArray[np.float32]:
        """Samples of the packet, after the filling of a gap before it. Raises WrongAudio: five bad in a row, or the wrong pace."""
        self.stats.packets += 1
        if self._is_old(packet.sequence):
            return np.zeros(0, dtype=np.float32)
        samples = self._decode(packet.payload)
        if samples is None:
            return np.zeros(0, dtype=np.float32)
        gap = 0 if self._next is None else packet.sequence - self._next
        self._check_pace(packet, follows=gap == 0 and not packet.lost_before)
        if gap == 0 and packet.lost_before and self._next is not None:
            gap = 1  # the gateway knows of a loss that its numbers don't show
        self._next = packet.sequence + 1
        filling = self._fill(gap)
        self._last = samples
        return np.concatenate((filling, samples)) if gap else samples

    def _is_old(self, sequence: int) -> bool:
        if self._next is not None and abs(sequence - self._next) > MOST_MISSING:
            self._count_anew(sequence)
        if self._next is None or sequence >= self._next:
            self._late_in_a_row = 0
            return False
        self._late_in_a_row += 1
        if self._late_in_a_row > LATE_IN_A_ROW:
            self._count_anew(sequence)
            return False
        if sequence == self._next - 1:
            self.stats.doubled += 1
        else:
            self.stats.late += 1
        return True

    def _count_anew(self, sequence: int) -> None:
        self.stats.renumbered += 1
        self._late_in_a_row, self._next = 0, sequence

    def _check_pace(self, packet: AudioPacket, *, follows: bool) -> None:
        """Hold the last packet's sound against the time from its capture to this one's. follows: nothing lies between them."""
        before_ms, self._captured_ms = self._captured_ms, packet.capture_ms
        if not follows or before_ms is None or packet.capture_ms <= before_ms:
            return
        held_ms, apart_ms = len(self._last) * 1000 / self._rate_hz, packet.capture_ms - before_ms
        is_wrong = any(least <= held_ms / apart_ms <= most for least, most in WRONG_PACE)
        self._wrong_pace_in_a_row = self._wrong_pace_in_a_row + 1 if is_wrong else 0
        if self._wrong_pace_in_a_row >= WRONG_PACE_IN_A_ROW:
            raise WrongAudio(
                f"packets hold {held_ms:g} ms of {self._codec.name} at {self._rate_hz} Hz, captured {apart_ms} ms apart: "
                "the sound has another codec or rate than the call's start names."
            )

    def _decode(self, payload: bytes) -> NDArray[np.float32] | None:
        most = self._rate_hz * MAX_PACKET_MS // 1000 * self._codec.bytes_per_sample
        try:
            samples = decode(payload, self._codec) if 0 < len(payload) <= most else None
        except CodecError:
            samples = None
        if samples is not None:
            self._bad_in_a_row = 0
            return samples
        self.stats.bad += 1
        self._bad_in_a_row += 1
        if self._bad_in_a_row >= BAD_IN_A_ROW:
            raise WrongAudio(
                f"{BAD_IN_A_ROW} packets in a row do not fit {self._codec.name} at {self._rate_hz} Hz "
                f"(the last: {len(payload)} bytes): send 10 to 60 ms of samples in the codec that the call's start names."
            )
        return None

    def _fill(self, gap: int) -> NDArray[np.float32]:
        self.stats.lost += gap
        size = len(self._last)
        total = min(gap * size, self._rate_hz * MAX_FILLED_MS // 1000)
        filling = np.zeros(total, dtype=np.float32)
        for turn in range(min(gap, REPEATED_PACKETS)):
            part = filling[turn * size : (turn + 1) * size]
            fade = np.linspace(1.0, 0.0, REPEATED_PACKETS * size, dtype=np.float32)[turn * size : turn * size + len(part)]
            part[:] = self._last[: len(part)] * fade
        self.stats.filled_ms += total * 1000 // self._rate_hz
        return filling
