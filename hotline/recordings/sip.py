"""SIP over UDP, as far as a recording needs it: who called, where each side wants its sound, what payload numbers mean. Pure."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field

from hotline.recordings.datagrams import Address, Datagram
from hotline.sound.codec import Codec

_FIRST_LINE = re.compile(rb"(?:(INVITE) |SIP/2\.0 (\d{3}) )")
_SOME_SIP = re.compile(rb"(?:[A-Z]{3,10} sips?:|SIP/2\.0 \d{3} )")
_HEADER = re.compile(rb"^(call-id|i|cseq)[ \t]*:[ \t]*(.{1,200}?)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_CONNECTION = re.compile(rb"^c=IN IP[46] ([0-9A-Fa-f.:]{2,45})", re.MULTILINE)
_AUDIO = re.compile(rb"^m=audio (\d{1,5})", re.MULTILINE)
_MAP = re.compile(rb"^a=rtpmap:(\d{1,3}) ([A-Za-z0-9-]{1,20})/(\d{1,6})", re.MULTILINE)
_CODECS = {"PCMA": Codec.PCMA, "PCMU": Codec.PCMU}
_MAX_CALLS = 1000


@dataclass(slots=True)
class SipCall:
    """One call. caller: where it wants to be sent to; called: the same of the other side."""

    caller_host: bytes
    caller: Address | None = None
    called: Address | None = None


@dataclass(slots=True)
class Signalling:
    """What all messages of a capture said. codecs, events: by RTP payload number."""

    calls: dict[bytes, SipCall] = field(default_factory=dict)
    codecs: dict[int, Codec] = field(default_factory=lambda: {0: Codec.PCMU, 8: Codec.PCMA})
    events: set[int] = field(default_factory=set)

    def take(self, datagram: Datagram) -> bool:
        """Whether this is SIP; what it says is kept."""
        first = _FIRST_LINE.match(datagram.payload)
        if first is None:
            return _SOME_SIP.match(datagram.payload) is not None
        headers = {_short(name): value for name, value in reversed(_HEADER.findall(datagram.payload))}
        call_id = headers.get(b"i", b"")
        if first[1] and len(self.calls) < _MAX_CALLS:
            self.calls.setdefault(call_id, SipCall(caller_host=datagram.source[0]))
        call = self.calls.get(call_id)
        is_answer = first[2] is not None and headers.get(b"cseq", b"").upper().endswith(b"INVITE")
        media = _media(datagram.payload)
        if call is not None and media is not None and (first[1] or is_answer):
            if is_answer:
                call.called = call.called or media
            else:
                call.caller = call.caller or media
            self._take_map(datagram.payload)
        return True

    def caller_of(self, source: Address, target: Address) -> bool | None:
        """Whether the sound from source to target is a caller's; None where no call tells."""
        for call in self.calls.values():
            if call.caller == source or call.called == target:
                return True
            if call.caller == target or call.called == source:
                return False
        for call in self.calls.values():  # media ports that nobody announced: behind a NAT, say
            if call.caller_host in {source[0], target[0]} and source[0] != target[0]:
                return call.caller_host == source[0]
        return None

    def _take_map(self, message: bytes) -> None:
        for number, name, rate in _MAP.findall(message):
            told, is_telephone = name.decode().upper(), int(rate) == 8000  # noqa: PLR2004  the clock rate of G.711
            if told in _CODECS and is_telephone:
                self.codecs[int(number)] = _CODECS[told]
            elif told == "TELEPHONE-EVENT":
                self.events.add(int(number))


def _short(name: bytes) -> bytes:
    return b"i" if name.lower() in {b"call-id", b"i"} else name.lower()


def _media(message: bytes) -> Address | None:
    """Where the sender of this description wants sound."""
    host, port = _CONNECTION.search(message), _AUDIO.search(message)
    if host is None or port is None:
        return None
    try:
        return ipaddress.ip_address(host[1].decode()).packed, int(port[1])
    except ValueError:
        return None
