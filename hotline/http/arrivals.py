"""Bodies on their way in: whole, bounded in size, number and time. Who sends slowly delays nobody: it gives way to who comes later.

Nothing is held for a body but its bytes, and of these there are never more than `most_bytes`. Knows no place and no question.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from hotline.http.problems import Problem, busy

Message = MutableMapping[str, Any]
ReceiveMessage = Callable[[], Awaitable[Message]]

_DISCARDED_BYTES = 32 << 20  # of a body that is too large: who is cut off while sending doesn't see why
_DISCARD_WITHIN_S = 2.0


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


@dataclass(slots=True, eq=False)
class _Arrival:
    """peer: whom it counts for. scope: its time, which ends at once when it gives way."""

    peer: str
    scope: asyncio.Timeout
    content: bytearray = field(default_factory=bytearray)
    gave_way: bool = False


class Arrivals:
    """All bodies of one server. Beyond `most` of them, or `most_bytes`, the peer with the most loses its oldest one."""

    def __init__(self, *, most: int, most_bytes: int, within_s: float) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._within_s = within_s
        self._open: dict[_Arrival, None] = {}  # the oldest first

    def __len__(self) -> int:
        """How many are on their way."""
        return len(self._open)

    async def read(self, receive: ReceiveMessage, peer: str, *, declared: str, most_bytes: int) -> bytes:
        """A whole body. declared: the content-length header. Raises Problem, ClientGone."""
        if declared.isascii() and declared.isdigit() and int(declared[:19]) > most_bytes:
            await _discard(receive)
            raise _too_large(most_bytes)
        arrival, more = _Arrival(peer, asyncio.timeout(self._within_s)), True
        try:
            async with arrival.scope:
                self._open[arrival] = None
                self._make_room()
                while more and not arrival.gave_way and len(arrival.content) <= most_bytes:
                    more = await self._take(receive, arrival)
        except TimeoutError:
            if not arrival.gave_way:
                told = f"the request wasn't sent within {self._within_s} s"
                raise Problem(408, "http.too_slow", told, "send it faster, or send less", closes=True) from None
        finally:
            self._open.pop(arrival, None)
        if arrival.gave_way:
            raise busy(closes=True)
        if len(arrival.content) > most_bytes:
            if more:
                await _discard(receive)
            raise _too_large(most_bytes)
        return bytes(arrival.content)

    async def _take(self, receive: ReceiveMessage, arrival: _Arrival) -> bool:
        """The next piece. True while there is more to come."""
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        if not arrival.gave_way:
            arrival.content += message.get("body", b"")
            self._make_room()
        return bool(message.get("more_body"))

    def _make_room(self) -> None:
        while len(self._open) > self._most or sum(len(each.content) for each in self._open) > self._most_bytes:
            counts = Counter(each.peer for each in self._open)
            most = max(counts.values())
            self._give_way(next(each for each in self._open if counts[each.peer] == most))

    def _give_way(self, arrival: _Arrival) -> None:
        del self._open[arrival]
        arrival.gave_way = True
        arrival.content.clear()
        if not arrival.scope.expired():
            arrival.scope.reschedule(asyncio.get_running_loop().time())


def _too_large(most_bytes: int) -> Problem:
    return Problem(413, "http.too_large", f"the body has more than {most_bytes} bytes", "send less", closes=True)


async def _discard(receive: ReceiveMessage) -> None:
    size, more = 0, True
    try:
        async with asyncio.timeout(_DISCARD_WITHIN_S):
            while more and size < _DISCARDED_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                more = bool(message.get("more_body"))
    except TimeoutError:
        return
