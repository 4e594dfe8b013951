"""The door before every request: who it is, how often, how much; request id, security headers, one log line and the metrics.

Knows no question and no answer. What is logged of a request is a word for its place, its status and its time.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from math import ceil
from typing import Any

import structlog

from hotline import metrics
from hotline.access import AccessBook, Holder, Scope, bearer_of
from hotline.errors import anatomy
from hotline.http.arrivals import Arrivals, ClientGone, Message, ReceiveMessage
from hotline.http.limits import Rates, network_of
from hotline.http.problems import Problem, busy, failed
from hotline.http.types import HttpSettings

SendMessage = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], ReceiveMessage, SendMessage], Awaitable[None]]

ASK, SPEECH = "/v1/ask", "/v1/speech"
MAX_JSON_BYTES = 64 << 10
OVER_ALL_S = 30.0  # beyond the route's own deadline: for a client that doesn't read
_MOST_ARRIVALS, _LEAST_ARRIVALS = 64, 8  # bodies on their way; a quarter of the connections in between
_ARRIVING_RECORDINGS = 4  # as many of the largest are held while they come
_WORDS = {ASK: "ask", SPEECH: "speech", "/healthz": "health", "/readyz": "health", "/openapi.json": "docs", "/docs": "docs"}
_OUTCOMES = {401: "unauthorised", 403: "unauthorised", 429: "limited", 503: "busy"}
_CLIENT_GONE = 499
_SECURITY = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'",
    ),
)
_TLS_ONLY = (b"strict-transport-security", b"max-age=31536000")

_log = structlog.get_logger("hotline.http")


class Door:
    """Wraps the application. ready, draining: whether work is taken now."""

    def __init__(self, app: App, settings: HttpSettings, book: AccessBook, *, is_guarded: bool, deadline_s: float) -> None:
        """is_guarded: clients show certificates. deadline_s: of the slowest route."""
        self.ready = False
        self.draining = False
        self.idle = asyncio.Event()
        self.idle.set()
        self._app = app
        self._settings = settings
        self._book = book
        self._is_guarded = is_guarded
        self._deadline_s = deadline_s + OVER_ALL_S
        self._rates = Rates(per_minute=settings.rate_per_minute, burst=settings.burst)
        self._most = {ASK: settings.max_asks, SPEECH: settings.max_speech}
        self._running: Counter[str] = Counter()
        self._arrivals = Arrivals(
            most=max(_LEAST_ARRIVALS, min(_MOST_ARRIVALS, settings.max_connections // 4)),
            most_bytes=max(_ARRIVING_RECORDINGS * settings.max_speech_bytes, _MOST_ARRIVALS * MAX_JSON_BYTES),
            within_s=settings.body_within_s,
        )

    @property
    def arriving(self) -> int:
        """Bodies on their way."""
        return len(self._arrivals)

    async def __call__(self, scope: MutableMapping[str, Any], receive: ReceiveMessage, send: SendMessage) -> None:
        """One request."""
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        answer = _Answer(send, scope)
        scope["request_id"] = answer.request_id
        try:
            async with asyncio.timeout(self._deadline_s):
                await self._enter(scope, receive, answer)
        except Problem as problem:
            await answer.refuse(problem)
        except ClientGone:
            answer.status = _CLIENT_GONE
        except Exception as error:  # noqa: BLE001  the server's border: one request's failure is no other's
            _log.error("request_failed", request_id=answer.request_id, **anatomy(error))
            await answer.refuse(failed())
        finally:
            self._tell(scope, answer, loop.time() - began_s)

    def _tell(self, scope: MutableMapping[str, Any], answer: _Answer, took_s: float) -> None:
        path = scope["path"]
        place = _WORDS.get(path, "docs" if path.startswith("/docs/") else "other")
        metrics.HTTP_REQUESTS.of(_outcome(answer.status)).inc()
        metrics.HTTP_SECONDS.of(place).observe(took_s)
        holder: Holder | None = scope.get("holder")
        _log.info(
            "http",
            place=place,
            status=answer.status,
            took_ms=round(took_s * 1000),
            request_id=answer.request_id,
            holder=holder.id if holder else "",
        )

    async def _enter(self, scope: MutableMapping[str, Any], receive: ReceiveMessage, answer: _Answer) -> None:
        path = scope["path"]
        if path == "/readyz" and not self._is_open:
            raise self._closed()
        if path not in self._most or scope["method"] != "POST":
            await self._app(scope, receive, answer.send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        scope["holder"] = await self._admit(scope, headers)
        if not self._is_open:
            raise self._closed()
        most = MAX_JSON_BYTES if path == ASK else self._settings.max_speech_bytes
        body = await self._arrivals.read(receive, _network(scope), declared=headers.get("content-length", ""), most_bytes=most)
        if not self._is_open:  # it may have closed while the body came
            raise self._closed()
        async with self._place(path):
            await self._app(scope, _replayed(body, receive), answer.send)

    async def _admit(self, scope: MutableMapping[str, Any], headers: Mapping[str, str]) -> Holder:
        """Raises Problem."""
        self._count(f"address {_network(scope)}")
        if not self._book.is_needed:
            return Holder(id="certificate" if self._is_guarded else "loopback", scope=Scope.ALL)
        holder = await self._book.admit(bearer_of(headers.get("authorization", "")))
        if holder is None:
            raise Problem(401, "access.unknown", "there is no such token", "send the header `Authorization: Bearer TOKEN`")
        if not holder.scope.allows(Scope.ASK):
            raise Problem(403, "access.scope", "this token opens calls only", "make one: hotline access new --scope ask")
        self._count(f"token {holder.id}")
        return holder

    def _count(self, name: str) -> None:
        wait_s = self._rates.wait_s(name, asyncio.get_running_loop().time())
        if wait_s:
            raise Problem(429, "http.too_often", "too many requests", "wait as Retry-After says", retry_s=ceil(wait_s))

    @property
    def _is_open(self) -> bool:
        return self.ready and not self.draining

    def _closed(self) -> Problem:
        why = "draining" if self.draining else "warming up"
        return Problem(503, "server.not_ready", f"the server is {why}", "take another server, or try again in a moment", retry_s=5)

    @asynccontextmanager
    async def _place(self, path: str) -> AsyncGenerator[None, None]:
        """A place among those who are served; taken when all is here that an answer needs."""
        if self._running[path] >= self._most[path]:
            raise busy()
        self._running[path] += 1
        self.idle.clear()
        try:
            yield
        finally:
            self._running[path] -= 1
            if not self._running.total():
                self.idle.set()


class _Answer:
    """What goes out, with what every answer carries. status: as sent, 0 before."""

    def __init__(self, send: SendMessage, scope: MutableMapping[str, Any]) -> None:
        self.status = 0
        self.request_id = uuid.uuid4().hex
        self._send = send
        self._more = [*_SECURITY, (b"x-request-id", self.request_id.encode())]
        if scope.get("scheme") == "https":
            self._more.append(_TLS_ONLY)

    async def send(self, message: Message) -> None:
        """To the server."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *self._more]}
        await self._send(message)

    async def refuse(self, problem: Problem) -> None:
        """Unless something was sent already."""
        if self.status:
            return
        headers = [(name.encode(), value.encode()) for name, value in problem.headers().items()]
        body = problem.body()
        headers.append((b"content-length", str(len(body)).encode()))
        await self.send({"type": "http.response.start", "status": problem.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def _replayed(body: bytes, receive: ReceiveMessage) -> ReceiveMessage:
    """The body once, then whatever comes: only the client's leaving can."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return left.pop() if left else await receive()

    return next_message


def _network(scope: Mapping[str, Any]) -> str:
    client = scope.get("client")
    return network_of(client[0] if client else "")


def _outcome(status: int) -> str:
    if status in {0, _CLIENT_GONE}:
        return "gone"
    if status in _OUTCOMES:
        return _OUTCOMES[status]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "failed"
    return "wrong" if status >= HTTPStatus.BAD_REQUEST else "ok"
