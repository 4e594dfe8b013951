"""A real HTTP server with a scripted mind behind the real masker and conversations, and clients for it."""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from desk_for_tests import ScriptedDesk

from hotline.access import AccessBook
from hotline.certificates import Certificates
from hotline.conversation import Conversation
from hotline.desk import AskEvent
from hotline.http.server import HttpServer
from hotline.http.types import HttpDesk, HttpSettings
from llm import phrases
from llm.privacy import CallMasker
from llm.types import AskedFor, Clause, Dialogue, HandOver, MaskedText, Personal, Route, Routed, Step

SETTINGS = HttpSettings(port=0, rate_per_minute=60_000, burst=5_000)
JSON = {"content-type": "application/json"}
EVENTS = JSON | {"accept": "text/event-stream"}


@dataclass
class ScriptedMind:
    """Answers by what is asked. seen: masked questions and what was known then; stopped: questions that were broken off."""

    seen: list[tuple[MaskedText, Dialogue]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    hold: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, question: MaskedText, dialogue: Dialogue) -> AsyncGenerator[Step, None]:
        self.seen.append((question, dialogue))
        text = question.text
        if text == "坏":
            raise RuntimeError("it breaks on 13958274061")
        if text == "着火了":
            yield Routed(route=Route.EMERGENCY, confidence=1.0)
            yield Clause(text="马上拨打119，有人受伤同时拨打120。", protected=True)
            yield HandOver(reason="emergency", urgent=True)
            return
        if text == "转人工":
            yield Routed(route=Route.PERSON, confidence=1.0)
            yield Clause(text=phrases.TO_PERSON)
            yield HandOver(reason="asked")
            return
        if text in {"路灯坏了", "要登记"}:
            yield Routed(route=Route.HOT, confidence=1.0, source_ids=("kb-2",))
            yield Clause(text=phrases.REGISTER if text == "路灯坏了" else phrases.TO_REGISTER, source_ids=("kb-2",))
            if text == "要登记":
                yield HandOver(reason="asked", skill="work_order")
            return
        if text == "登记":
            yield Routed(route=Route.NOTED, confidence=1.0)
            yield AskedFor(kind=Personal.MOBILE)
            return
        yield Routed(route=Route.HOT, confidence=0.9, source_ids=("kb-1",))
        yield Clause(text="工作日九点到十七点，", source_ids=("kb-1",))
        if text == "等":
            try:
                await self.hold.wait()
            except asyncio.CancelledError:
                self.stopped.append(text)
                raise
        yield Clause(text="周末休息。", source_ids=("kb-1",))


class AskingDesk(ScriptedDesk):
    """Calls by script, questions by the mind."""

    def __init__(self) -> None:
        super().__init__()
        self.mind = ScriptedMind()

    def converse(self) -> Conversation:
        return Conversation(self.mind, CallMasker(mask_budget_ms=10_000))

    def ask(self, question: str, conversation: Conversation | None = None) -> AsyncGenerator[AskEvent, None]:
        return (conversation or self.converse()).ask(question)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer. headers: names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Of an error, which has one form."""
        (error,) = self.json.values()
        assert set(error) == {"code", "message", "what_to_do"}
        assert all(error.values())
        return str(error["code"])


@dataclass
class Place:
    """A server and its clients' view of it."""

    desk: AskingDesk
    server: HttpServer
    tls: ssl.SSLContext | None = None

    async def ask(self, question: str = "几点开门", session: str = "", **headers: str) -> Reply:
        body: dict[str, str] = {"question": question} | ({"session": session} if session else {})
        return await self.post("/v1/ask", json.dumps(body).encode(), **headers)

    async def post(self, path: str, body: bytes, **headers: str) -> Reply:
        return await self.send("POST", path, body, **(JSON | {name.replace("_", "-"): value for name, value in headers.items()}))

    async def get(self, path: str, **headers: str) -> Reply:
        return await self.send("GET", path, None, **headers)

    async def send(self, method: str, path: str, body: bytes | None, **headers: str) -> Reply:
        return await asyncio.to_thread(self._send, method, path, body, headers)

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Reply:
        host, port = "127.0.0.1", self.server.port
        line = (
            http.client.HTTPConnection(host, port, timeout=30)
            if self.tls is None
            else http.client.HTTPSConnection(host, port, timeout=30, context=self.tls)
        )
        try:
            line.request(method, path, body, headers)
            answer = line.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(status=answer.status, headers=named, body=answer.read())
        finally:
            line.close()

    async def open(self, sent: bytes = b"", host: str = "127.0.0.1") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A bare connection. host: from which loopback address."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port, local_addr=(host, 0))
        writer.write(sent)
        await writer.drain()
        return reader, writer


def request_of(body: bytes, **headers: str) -> bytes:
    """A question as bytes."""
    named = JSON | headers | {"host": "h", "content-length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"POST /v1/ask HTTP/1.1\r\n{head}\r\n".encode() + body


@asynccontextmanager
async def serving(
    settings: HttpSettings = SETTINGS,
    *,
    book: AccessBook | None = None,
    certificates: Certificates | None = None,
    tls: ssl.SSLContext | None = None,
    desk: HttpDesk | None = None,
) -> AsyncGenerator[Place, None]:
    """A server that takes questions."""
    asking = AskingDesk()
    async with HttpServer(desk or HttpDesk(desk=asking), settings, book=book, certificates=certificates) as server:
        await server.set_ready(is_ready=True)
        yield Place(asking, server, tls)
