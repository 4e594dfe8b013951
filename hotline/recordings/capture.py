"""A network capture (pcap, pcapng) with RTP → both directions of its longest call, as two parties. Knows no call."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

import dpkt.dpkt
import dpkt.pcap
import numpy as np

from hotline.recordings.datagrams import LINK_NAMES, Address, datagram_of, knows_link, told
from hotline.recordings.rtp import RATE_HZ, Flow, packet_of, sound_of
from hotline.recordings.sip import Signalling
from hotline.recordings.types import (
    BLOCK_FRAMES,
    KeyPress,
    RecordingBroken,
    RecordingEmpty,
    Role,
    Samples,
    Stream,
    bounded,
    note,
)

LEAST_PACKETS = 10  # of audio: below that, chance may look like RTP
MAX_READ_BYTES = 1 << 20  # of one packet
MAX_FLOWS = 10_000
MAX_PACKETS = 8_000_000
_OTHER_KINDS = {3: "GSM", 4: "G.723", 9: "G.722", 15: "G.728", 18: "G.729"}
_BROKEN = (dpkt.dpkt.Error, ValueError, struct.error, IndexError, OverflowError, ArithmeticError)

Key = tuple[Address, Address]


def open_capture(path: Path) -> Stream:
    """Raises RecordingError, OSError."""
    found = _Found()
    with path.open("rb") as file:
        _read(file, found)
    keys = _longest_call(found)
    notes = found.notes
    began_s = min(found.flows[key].began_s for key in keys)
    laid = [found.flows[key].laid_out(began_s) for key in keys]
    for key in keys:
        for words in found.flows[key].faults.told():
            note(notes, f"{told(key[0])}: {words}")

    def blocks() -> Iterator[Samples]:
        sides = [_rebuffered(sound_of(found.flows[key], pieces)) for key, (pieces, _) in zip(keys, laid, strict=True)]
        return bounded(_side_by_side(sides), RATE_HZ, notes)

    codecs = dict.fromkeys(
        found.flows[key].codecs[piece.kind].value for key, (pieces, _) in zip(keys, laid, strict=True) for piece in pieces
    )
    pressed = [
        KeyPress(party=party, at_ms=place * 1000 // RATE_HZ, digit=digit)
        for party, (_, keys_) in enumerate(laid)
        for place, digit in keys_
    ]
    return Stream(
        kind="pcap",
        codec="/".join(codecs),
        bits=8,
        rate_hz=RATE_HZ,
        channels=len(keys),
        blocks=blocks,
        notes=notes,
        names=tuple(told(key[0]) for key in keys),
        roles=tuple(found.role(key) for key in keys),
        keys=tuple(sorted(pressed, key=lambda press: press.at_ms)),
    )


@dataclass(slots=True)
class _Found:
    """What a capture holds: flows by source and target, signalling, and what could not be read."""

    flows: dict[Key, Flow] = field(default_factory=dict)
    signalling: Signalling = field(default_factory=Signalling)
    other_kinds: Counter[int] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    packets: int = 0

    def take(self, packet: bytes, link: int, at_s: float) -> None:
        """One packet of the network."""
        datagram = datagram_of(packet, link)
        if datagram is None or self.signalling.take(datagram):
            return
        rtp = packet_of(datagram.payload)
        if rtp is None:
            return
        key = (datagram.source, datagram.target)
        flow = self.flows.get(key)
        if rtp.kind not in self.signalling.codecs:
            self.other_kinds[rtp.kind] += 1
            if flow is None:
                return
        if flow is None:
            if len(self.flows) >= MAX_FLOWS:
                return
            flow = self.flows[key] = Flow(self.signalling.codecs, self.signalling.events)
        flow.take(rtp, datagram.payload, at_s)
        self.packets += 1

    def role(self, key: Key) -> Role:
        """Who speaks in a flow."""
        is_caller = self.signalling.caller_of(*key)
        return Role.UNKNOWN if is_caller is None else Role.CALLER if is_caller else Role.CALLED


class _Sober:
    """A file that gives no more at a time than a packet can have: a broken length must not become memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.name = "capture"

    def read(self, size: int) -> bytes:
        """Raises ValueError for a length that no packet has."""
        if not 0 <= size <= MAX_READ_BYTES:
            raise ValueError("a packet's length makes no sense")
        return self._file.read(size)

    def seek(self, place: int) -> int:
        """For the reader that tries both formats."""
        return self._file.seek(place)


def _read(file: BinaryIO, found: _Found) -> None:
    """Every packet. What a capture that breaks off holds until then is kept."""
    try:
        reader = dpkt.pcap.UniversalReader(_Sober(file))
        link = reader.datalink()
    except _BROKEN:
        raise RecordingBroken(
            "the file begins like a capture and can't be read", what_to_do="write it again: tshark -r FILE -w call.pcap"
        ) from None
    if not knows_link(link):
        raise RecordingBroken(f"the capture has link type {link}, not {LINK_NAMES}", what_to_do="capture with: tcpdump -i any udp")
    try:
        for at_s, packet in reader:
            found.take(packet, link, float(at_s))
            if found.packets >= MAX_PACKETS:
                note(found.notes, f"only the first {MAX_PACKETS} packets of sound are used")
                return
    except _BROKEN:
        note(found.notes, "the capture breaks off")


def _longest_call(found: _Found) -> list[Key]:
    """The two directions, the caller's first where it is known, else the one that began first. One where there is but one."""
    long = {key: flow for key, flow in found.flows.items() if flow.audio_packets >= LEAST_PACKETS}
    if not long:
        raise RecordingEmpty(_why_nothing(found), what_to_do="capture UDP of a call in G.711: tcpdump -i any -w call.pcap udp")
    calls: dict[frozenset[Key], int] = {}
    for key in long:
        partner = (key[1], key[0]) if (key[1], key[0]) in long else _other_ports(key, long)
        both = frozenset({key, partner} if partner is not None else {key})
        calls[both] = sum(long[each].audio_packets for each in both)
    longest = max(calls, key=lambda both: calls[both])
    if left := len(long) - len(longest):
        note(found.notes, f"{left} more streams of sound: those of the longest call are used")
    if len(longest) == 1:
        note(found.notes, "the capture holds one direction only")
    return sorted(longest, key=lambda key: (found.role(key) is Role.CALLED, found.flows[key].began_s))


def _other_ports(key: Key, long: dict[Key, Flow]) -> Key | None:
    """The way back, of a call whose sides send from other ports than they listen at."""
    (from_host, _), (to_host, _) = key
    back = [each for each in long if each != key and each[0][0] == to_host and each[1][0] == from_host]
    return max(back, key=lambda each: long[each].audio_packets) if back else None


def _why_nothing(found: _Found) -> str:
    for kind, count in found.other_kinds.most_common(1):
        if count >= LEAST_PACKETS:
            return f"the capture's sound is of RTP kind {kind} ({_OTHER_KINDS.get(kind, 'dynamic')}), not G.711"
    return "the capture holds no sound (RTP)"


def _rebuffered(pieces: Iterator[Samples]) -> Iterator[Samples]:
    """Blocks of BLOCK_FRAMES, but the last."""
    held: list[Samples] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= BLOCK_FRAMES:
            whole = np.concatenate(held)
            yield whole[:BLOCK_FRAMES]
            held = [whole[BLOCK_FRAMES:]]
            size -= BLOCK_FRAMES
    if size:
        yield np.concatenate(held)


def _side_by_side(sides: list[Iterator[Samples]]) -> Iterator[Samples]:
    for blocks in zip_longest(*sides, fillvalue=np.zeros(0, np.float32)):
        block = np.zeros((max(map(len, blocks)), len(sides)), np.float32)
        for party, samples in enumerate(blocks):
            block[: len(samples), party] = samples
        yield block
