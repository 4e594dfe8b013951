"""Captured calls, byte by byte: RTP and SIP in UDP, in IP, in frames of several links, in pcap and pcapng."""

from __future__ import annotations

import io
import ipaddress
import struct
from collections.abc import Iterable
from dataclasses import dataclass

import dpkt.pcap
import dpkt.pcapng
import numpy as np
from numpy.typing import NDArray

from hotline.sound.codec import Codec, encode

CALLER, HOTLINE = ("10.0.0.7", 40_000), ("10.0.0.9", 12_000)
KINDS = {Codec.PCMU: 0, Codec.PCMA: 8}


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A UDP payload on its way."""

    at_s: float
    payload: bytes
    source: tuple[str, int] = CALLER
    target: tuple[str, int] = HOTLINE


def rtp(number: int, stamp: int, payload: bytes, *, kind: int = 8, source: int = 1, mark: bool = False) -> bytes:
    return struct.pack("!BBHII", 0x80, kind | (0x80 if mark else 0), number % 2**16, stamp % 2**32, source) + payload


def spoken(
    samples: NDArray[np.float32], *, codec: Codec = Codec.PCMA, at_s: float = 0.0, back: bool = False, first: int = 65_530
) -> list[Sent]:
    """A packet every 20 ms; the counters begin just before they wrap around."""
    source, target = (HOTLINE, CALLER) if back else (CALLER, HOTLINE)
    return [
        Sent(
            at_s=at_s + index * 0.02,
            payload=rtp(
                first + index,
                2**32 - 800 + index * 160,
                encode(samples[index * 160 : index * 160 + 160], codec),
                kind=KINDS[codec],
                source=2 if back else 1,
            ),
            source=source,
            target=target,
        )
        for index in range(len(samples) // 160)
    ]


def key(digit: int, *, number: int, stamp: int, at_s: float, kind: int = 101) -> list[Sent]:
    """A key press as RFC 4733 sends it: the same event again and again, its end three times."""
    return [
        Sent(
            at_s=at_s + step * 0.02,
            payload=rtp(number + step, stamp, struct.pack("!BBH", digit, 0x80 if step > 2 else 10, 160 * step), kind=kind),
        )
        for step in range(6)
    ]


def invite(at_s: float = 0.0, *, sdp: bool = True) -> list[Sent]:
    """The hotline is called from CALLER, and answers."""
    offer = sdp_of(CALLER) if sdp else b""
    first = b"INVITE sip:12345@10.0.0.9 SIP/2.0\r\nCall-ID: a1\r\nCSeq: 1 INVITE\r\nContent-Type: application/sdp\r\n\r\n"
    answer = b"SIP/2.0 200 OK\r\nCall-ID: a1\r\nCSeq: 1 INVITE\r\n\r\n" + sdp_of(HOTLINE)
    at_5060 = {"source": (CALLER[0], 5060), "target": (HOTLINE[0], 5060)}
    return [
        Sent(at_s=at_s, payload=first + offer, **at_5060),
        Sent(at_s=at_s + 0.01, payload=answer, source=at_5060["target"], target=at_5060["source"]),
    ]


def sdp_of(address: tuple[str, int]) -> bytes:
    return (
        f"v=0\r\nc=IN IP4 {address[0]}\r\nm=audio {address[1]} RTP/AVP 8 101\r\n"
        "a=rtpmap:8 PCMA/8000\r\na=rtpmap:101 telephone-event/8000\r\n"
    ).encode()


def udp(sent: Sent) -> bytes:
    return struct.pack("!HHHH", sent.source[1], sent.target[1], 8 + len(sent.payload), 0) + sent.payload


def ip(sent: Sent) -> bytes:
    source, target = (ipaddress.ip_address(host) for host in (sent.source[0], sent.target[0]))
    body = udp(sent)
    if source.version == 6:
        return struct.pack("!IHBB", 6 << 28, len(body), 17, 64) + source.packed + target.packed + body
    return struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 64, 17, 0) + source.packed + target.packed + body


def framed(sent: Sent, link: str) -> bytes:
    packet = ip(sent)
    kind = struct.pack("!H", 0x86DD if packet[0] >> 4 == 6 else 0x0800)
    match link:
        case "ethernet":
            return bytes(12) + kind + packet + bytes(6)  # padded, as short frames are
        case "vlan":
            return bytes(12) + b"\x88\xa8\0\1\x81\0\0\2" + kind + packet
        case "cooked":
            return bytes(14) + kind + packet
        case "cooked 2":
            return kind + bytes(18) + packet
        case "loopback":
            return b"\2\0\0\0" + packet
    return packet


LINKS = {"ethernet": 1, "vlan": 1, "cooked": 113, "cooked 2": 276, "loopback": 0, "raw": 101}


def pcap(packets: Iterable[Sent], *, link: str = "ethernet", nano: bool = False) -> bytes:
    target = io.BytesIO()
    writer = dpkt.pcap.Writer(target, linktype=LINKS[link], nano=nano)
    for sent in packets:
        writer.writepkt(framed(sent, link), ts=1_700_000_000 + sent.at_s)
    return target.getvalue()


def pcapng(packets: Iterable[Sent]) -> bytes:
    target = io.BytesIO()
    writer = dpkt.pcapng.Writer(target, idb=dpkt.pcapng.InterfaceDescriptionBlockLE(linktype=1))
    for sent in packets:
        writer.writepkt(framed(sent, "ethernet"), ts=1_700_000_000 + sent.at_s)
    return target.getvalue()
