"""uvicorn's HTTP/1.1 with two things it leaves out: patience that ends while a request's head comes, and a bound of connections."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from hotline.http.problems import Problem, busy

HEAD_WITHIN_S = 10.0


class BoundedProtocol(H11Protocol):
    """One connection. max_connections: beyond it, one is told so and closed."""

    def __init__(self, *arguments: Any, max_connections: int, **named: Any) -> None:  # noqa: ANN401  uvicorn's
        super().__init__(*arguments, **named)
        self._max_connections = max_connections
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for a request."""
        super().connection_made(transport)
        if len(self.connections) > self._max_connections:
            self._refuse(busy())
            return
        self._watch_head()

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

    @property
    def _waits(self) -> bool:
        """For a request's head."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _watch_head(self) -> None:
        """From a connection's first moment, or an answer's end, until the next request has its whole head."""
        if not self._waits:
            self._unwatch()
        elif self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(HEAD_WITHIN_S, self._too_slow)

    def _unwatch(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_slow(self) -> None:
        self._head_timer = None
        if self._waits:
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
