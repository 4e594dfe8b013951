"""A captured packet → the UDP datagram in it: Ethernet with VLANs, Linux cooked, raw IP; IPv4 and IPv6. Pure; knows no file."""

from __future__ import annotations

import ipaddress
import struct
from typing import NamedTuple

ETHERNET, NULL, LOOP, RAW, IPV4, IPV6, SLL, SLL2 = 1, 0, 108, (12, 14, 101), 228, 229, 113, 276
LINK_NAMES = "Ethernet, Linux cooked, loopback or raw IP"

_IP, _IP6 = 0x0800, 0x86DD
_VLAN = (0x8100, 0x88A8, 0x9100)
_UDP = 17
_IP6_EXTENSIONS = (0, 43, 60)
_FRAGMENT_OFFSET = 0x1FFF
_VERSION_4, _VERSION_6 = 4, 6
_IP_BYTES, _IP6_BYTES, _UDP_BYTES = 20, 40, 8

Address = tuple[bytes, int]


class Datagram(NamedTuple):
    """One UDP datagram. source, target: IP address as bytes, and port."""

    source: Address
    target: Address
    payload: bytes


def told(address: Address) -> str:
    """For people."""
    host = str(ipaddress.ip_address(address[0]))
    return f"[{host}]:{address[1]}" if ":" in host else f"{host}:{address[1]}"


def knows_link(link: int) -> bool:
    """Whether packets of this link type can be read."""
    return link in {ETHERNET, NULL, LOOP, *RAW, IPV4, IPV6, SLL, SLL2}


def datagram_of(packet: bytes, link: int) -> Datagram | None:
    """None for whatever is no whole UDP datagram."""
    try:
        at = _network_at(packet, link)
        if at is None:
            return None
        version = packet[at] >> 4
        if version == _VERSION_4:
            return _from_ip4(packet[at:])
        return _from_ip6(packet[at:]) if version == _VERSION_6 else None
    except (IndexError, struct.error):
        return None


def _network_at(packet: bytes, link: int) -> int | None:
    """Where the IP header begins."""
    if link == ETHERNET:
        kind, at = _behind_vlans(packet, 12)
        return at if kind in {_IP, _IP6} else None
    if link == SLL:
        kind, at = _behind_vlans(packet, 14)
        return at if kind in {_IP, _IP6} else None
    if link == SLL2:
        return 20 if struct.unpack_from("!H", packet)[0] in {_IP, _IP6} else None
    return 4 if link in {NULL, LOOP} else 0


def _behind_vlans(packet: bytes, at: int) -> tuple[int, int]:
    kind = struct.unpack_from("!H", packet, at)[0]
    while kind in _VLAN:
        at += 4
        kind = struct.unpack_from("!H", packet, at)[0]
    return kind, at + 2


def _from_ip4(ip: bytes) -> Datagram | None:
    head, total = (ip[0] & 15) * 4, struct.unpack_from("!H", ip, 2)[0]
    if head < _IP_BYTES or ip[9] != _UDP or struct.unpack_from("!H", ip, 6)[0] & _FRAGMENT_OFFSET:
        return None
    end = total if head <= total <= len(ip) else len(ip)  # 0 where the network card cuts packets; padding stays out
    return _from_udp(ip[head:end], ip[12:16], ip[16:20])


def _from_ip6(ip: bytes) -> Datagram | None:
    kind, at = ip[6], _IP6_BYTES
    while kind in _IP6_EXTENSIONS:
        kind, at = ip[at], at + (ip[at + 1] + 1) * 8
    return _from_udp(ip[at:], ip[8:24], ip[24:40]) if kind == _UDP else None


def _from_udp(udp: bytes, source: bytes, target: bytes) -> Datagram | None:
    from_port, to_port, size = struct.unpack_from("!HHH", udp)
    if size < _UDP_BYTES or len(udp) < size:
        return None
    return Datagram((source, from_port), (target, to_port), udp[_UDP_BYTES:size])
