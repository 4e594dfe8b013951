"""RTP packets of one direction → its samples on the capture's time axis, gaps filled, and its keys. Pure; knows no file.

Packets are ordered by number, doubled ones dropped; each lies where its time stamp says, unless that contradicts its arrival. A
loss is concealed by the last packet, fading, then silence; a pause that the sender made on purpose is silence.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hotline.recordings.types import Samples
from hotline.sound.codec import Codec, decode

RATE_HZ = 8000
COMFORT_NOISE = 13
_VERSION = 2
_HEAD_BYTES = 12
_MAX_AUDIO_BYTES = 1600  # 200 ms
_RTCP = range(72, 77)  # as payload numbers: RTCP on the same port
_DYNAMIC = range(96, 128)
_EVENT_BYTES = 4
_DIGITS = "0123456789*#ABCD"

DRIFT_SAMPLES = 2 * RATE_HZ  # time stamps may wander this far from the arrival; further, they began anew
LONGEST_GAP = 600 * RATE_HZ
CONCEALED_PACKETS = 3
MOST_LOST = 3000


class Packet(NamedTuple):
    """One RTP packet's head, and where its payload lies in the datagram."""

    kind: int
    number: int
    stamp: int
    source: int
    begin: int
    end: int


def packet_of(payload: bytes) -> Packet | None:
    """None for what is no RTP."""
    if len(payload) <= _HEAD_BYTES or payload[0] >> 6 != _VERSION:
        return None
    first, second, number, stamp, source = struct.unpack_from("!BBHII", payload)
    kind = second & 0x7F
    if kind in _RTCP:
        return None
    begin = _HEAD_BYTES + 4 * (first & 15)
    if first & 0x10:  # a header extension
        if len(payload) < begin + 4:
            return None
        begin += 4 + 4 * struct.unpack_from("!H", payload, begin + 2)[0]
    padding = payload[-1] if first & 0x20 else 0
    end = len(payload) - padding
    return Packet(kind, number, stamp, source, begin, end) if begin < end else None


@dataclass(slots=True)
class Faults:
    """What the network and the sender did. restarts: new SSRCs; jumps: time stamps that began anew."""

    lost: int = 0
    doubled: int = 0
    reordered: int = 0
    restarts: int = 0
    jumps: int = 0
    shortened: int = 0

    def told(self) -> list[str]:
        """In words."""
        words = {
            "lost": "packets lost: filled",
            "doubled": "packets doubled: dropped",
            "reordered": "packets out of order: put right",
            "restarts": "changes of the stream's source (SSRC)",
            "jumps": "jumps of the time stamps: placed by arrival",
            "shortened": "gaps longer than ten minutes: shortened",
        }
        return [f"{count} {what}" for name, what in words.items() if (count := getattr(self, name))]


@dataclass(slots=True)
class Flow:
    """One direction's packets as they came: columns, because an hour has 180 000."""

    codecs: Mapping[int, Codec]
    events: set[int]
    audio_packets: int = 0
    faults: Faults = field(default_factory=Faults)
    _arrived_s: array[float] = field(default_factory=lambda: array("d"))
    _heads: array[int] = field(default_factory=lambda: array("Q"))  # kind, number and stamp, packed
    _sources: array[int] = field(default_factory=lambda: array("Q"))
    _payloads: bytearray = field(default_factory=bytearray)
    _begins: array[int] = field(default_factory=lambda: array("Q"))

    def __len__(self) -> int:
        return len(self._heads)

    @property
    def began_s(self) -> float:
        """When the first packet came."""
        return self._arrived_s[0]

    def take(self, packet: Packet, payload: bytes, arrived_s: float) -> None:
        """One packet, if it is of a kind that is read."""
        size = packet.end - packet.begin
        if packet.kind in self.codecs:
            if size > _MAX_AUDIO_BYTES:
                return
            self.audio_packets += 1
        elif not self._is_event(packet, size) and packet.kind != COMFORT_NOISE:
            return
        self._arrived_s.append(arrived_s)
        self._heads.append(packet.kind << 56 | packet.number << 32 | packet.stamp)
        self._sources.append(packet.source)
        self._begins.append(len(self._payloads))
        self._payloads += payload[packet.begin : packet.end]

    def _is_event(self, packet: Packet, size: int) -> bool:
        if packet.kind in self.events:
            return size >= _EVENT_BYTES
        return not self.events and packet.kind in _DYNAMIC and size == _EVENT_BYTES

    def laid_out(self, began_s: float) -> tuple[list[Piece], list[tuple[int, str]]]:
        """Pieces of sound in order, and keys as (place, digit). began_s: the capture's time of place 0. Counts the faults anew."""
        self.faults = Faults()
        return _Layout(self, began_s).done()

    def columns(self) -> tuple[NDArray[np.float64], NDArray[np.uint64], NDArray[np.uint64]]:
        """Arrival, packed head, source."""
        return (
            np.frombuffer(self._arrived_s, np.float64),
            np.frombuffer(self._heads, np.uint64),
            np.frombuffer(self._sources, np.uint64),
        )

    def payload(self, index: int) -> bytes:
        """Of one packet."""
        begin = self._begins[index]
        end = self._begins[index + 1] if index + 1 < len(self._begins) else len(self._payloads)
        return bytes(self._payloads[begin:end])


class Piece(NamedTuple):
    """A packet's sound. packet: its index; skip: samples that overlap what came before; lost: packets missing before it."""

    place: int
    packet: int
    kind: int
    skip: int
    lost: int


class _Layout:
    """Where each packet of a flow lies."""

    def __init__(self, flow: Flow, began_s: float) -> None:
        self._flow, self._faults = flow, flow.faults
        self._arrived_s, heads, self._sources = flow.columns()
        self._kinds = (heads >> np.uint64(56)).astype(np.int64)
        self._numbers = (heads >> np.uint64(32) & np.uint64(0xFFFF)).astype(np.int64)
        self._stamps = (heads & np.uint64(0xFFFFFFFF)).astype(np.int64)
        self._arrivals = np.rint(np.clip(self._arrived_s - began_s, 0, 1e7) * RATE_HZ).astype(np.int64)
        self._pieces: list[Piece] = []
        self._keys: list[tuple[int, str]] = []
        self._end = 0  # of the sound so far
        self._shortened = 0  # samples that were cut out of gaps

    def done(self) -> tuple[list[Piece], list[tuple[int, str]]]:
        """Segment by segment, in the order in which their sources appeared."""
        sources = list(dict.fromkeys(self._sources.tolist()))
        self._faults.restarts = len(sources) - 1
        for source in sources:
            self._lay(np.flatnonzero(self._sources == source))
        return self._pieces, self._keys

    def _lay(self, indices: NDArray[np.int64]) -> None:
        ordered, numbers, stamps = self._ordered(indices)
        offset = int(self._arrivals[ordered[0]]) - int(stamps[0])
        pressed: set[int] = set()
        before: int | None = None
        for index, number, stamp in zip(ordered.tolist(), numbers.tolist(), stamps.tolist(), strict=True):
            place = stamp + offset
            if abs(place - int(self._arrivals[index])) > DRIFT_SAMPLES:
                offset = int(self._arrivals[index]) - stamp
                place = stamp + offset
                self._faults.jumps += 1
            gap = number - before - 1 if before is not None else 0
            lost = gap if gap <= MOST_LOST else 0
            before = number
            self._faults.lost += lost
            kind = int(self._kinds[index])
            if kind in self._flow.codecs:
                self._sound(place, index, kind, lost)
            elif kind != COMFORT_NOISE and stamp not in pressed and (event := self._flow.payload(index)[0]) < len(_DIGITS):
                pressed.add(stamp)
                self._keys.append((max(0, place - self._shortened), _DIGITS[event]))

    def _ordered(self, indices: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Indices by number, the numbers and stamps without their wrap-around; doubled packets left out."""
        numbers, firsts = np.unique(_unwrapped(self._numbers[indices], 1 << 16), return_index=True)
        self._faults.doubled += len(indices) - len(firsts)
        self._faults.reordered += int(np.sum(firsts < np.maximum.accumulate(firsts)))
        ordered = indices[firsts]
        return ordered, numbers, _unwrapped(self._stamps[ordered], 1 << 32)

    def _sound(self, place: int, index: int, kind: int, lost: int) -> None:
        size = len(self._flow.payload(index))
        place -= self._shortened
        if place - self._end > LONGEST_GAP:
            self._shortened += place - self._end - LONGEST_GAP
            self._faults.shortened += 1
            place = self._end + LONGEST_GAP
        skip = max(0, self._end - place)
        if skip < size:
            self._pieces.append(Piece(place + skip, index, kind, skip, lost))
            self._end = place + size


def _unwrapped(values: NDArray[np.int64], modulus: int) -> NDArray[np.int64]:
    """Counting on where a counter of so many values begins anew."""
    steps = np.diff(values)
    steps = (steps + modulus // 2) % modulus - modulus // 2
    return np.concatenate((values[:1], values[0] + np.cumsum(steps)))


def sound_of(flow: Flow, pieces: list[Piece]) -> Iterator[Samples]:
    """The flow's samples from place 0 on, piece by piece, gaps filled."""
    end = 0
    last = np.zeros(0, np.float32)
    for piece in pieces:
        if piece.place > end:
            yield from _filling(piece.place - end, last if piece.lost else last[:0])
        samples = decode(flow.payload(piece.packet), flow.codecs[piece.kind])[piece.skip :]
        yield samples
        last = samples
        end = piece.place + len(samples)


def _filling(size: int, last: Samples) -> Iterator[Samples]:
    concealed = np.tile(last, CONCEALED_PACKETS)[:size]
    if len(concealed):
        fade = np.linspace(1.0, 0.0, CONCEALED_PACKETS * len(last), dtype=np.float32)
        yield concealed * fade[: len(concealed)]
    left = size - len(concealed)
    while left > 0:
        yield np.zeros(min(left, RATE_HZ), np.float32)
        left -= RATE_HZ
