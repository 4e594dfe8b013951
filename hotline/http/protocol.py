"""uvicorn's HTTP/1.1 with what it leaves out: patience that ends while a request's head comes, and a bound of connections.

At the bound who only holds a connection gives way to who comes: a question, or a look at the server's health, gets in.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from hotline.http.limits import network_of
from hotline.http.problems import Problem, busy

HEAD_WITHIN_S = 10.0
CLOSE_WITHIN_S = 2.0  # for who doesn't read what it is told, or doesn't end its TLS


class BoundedProtocol(H11Protocol):
    """One connection. max_connections: beyond it, one that asks nothing is closed; if all ask, the new one is told so.

    since_s: when it began to wait for a request, on the loop's clock.
    """

    def __init__(self, *arguments: Any, max_connections: int, **named: Any) -> None:  # noqa: ANN401  uvicorn's
        super().__init__(*arguments, **named)
        self._max_connections = max_connections
        self._head_timer: asyncio.TimerHandle | None = None
        self.since_s = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for a request."""
        super().connection_made(transport)
        self.since_s = self.loop.time()
        others = [each for each in self.connections if isinstance(each, BoundedProtocol) and each.is_open and each is not self]
        if len(others) >= self._max_connections and not _make_room(others):
            self._refuse(busy())
            return
        self._watch_head()

    @property
    def is_open(self) -> bool:
        """Not closed, nor about to be."""
        return not self.transport.is_closing()

    @property
    def peer(self) -> str:
        """Whom it counts for."""
        return network_of(self.client[0] if self.client else "")

    def give_way(self) -> None:
        """End at once."""
        self._unwatch()
        self.transport.abort()

    def on_response_complete(self) -> None:
        """It waits again."""
        self.since_s = self.loop.time()
        super().on_response_complete()

    def data_received(self, data: bytes) -> None:
        """More of a request."""
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end."""
        self._unwatch()
        super().connection_lost(exc)

    def send_400_response(self, _msg: str) -> None:
        """What is no HTTP, or too long a head."""
        self._refuse(Problem(400, "http.unreadable", "the request can't be read", "send HTTP/1.1 with a head below 16 KiB"))

    def _unsupported_upgrade_warning(self) -> None:
        """No other protocol is spoken here: the request is answered as any. uvicorn would log a hint on what to install."""

    @property
    def waits(self) -> bool:
        """For a request's head."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _watch_head(self) -> None:
        """From a connection's first moment, or an answer's end, until the next request has its whole head."""
        if not self.waits:
            self._unwatch()
        elif self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(HEAD_WITHIN_S, self._too_slow)

    def _unwatch(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_slow(self) -> None:
        self._head_timer = None
        if self.waits:
            self._refuse(Problem(408, "http.too_slow", "no request came in time", "send it faster"))

    def _refuse(self, problem: Problem) -> None:
        """Say so and close. Not through the state machine: it may be anywhere."""
        self._unwatch()
        if self.transport.is_closing():
            return
        if self.conn.our_state in {h11.IDLE, h11.ERROR}:
            body = problem.body()
            head = {**problem.headers(), "content-length": str(len(body)), "connection": "close"}
            lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
            self.transport.write(f"HTTP/1.1 {problem.status} \r\n{lines}\r\n".encode() + body)
        self.transport.close()
        self.loop.call_later(CLOSE_WITHIN_S, self.transport.abort)


def _make_room(connections: list[BoundedProtocol]) -> bool:
    """End one that waits: of the peer who holds the most, the one that waits longest. False: none does."""
    waiting = [each for each in connections if each.waits]
    if not waiting:
        return False
    held = Counter(each.peer for each in connections)
    min(waiting, key=lambda each: (-held[each.peer], each.since_s)).give_way()
    return True
