"""A question → its answer, whole or as events, for as long as the client is there. Knows no HTTP but the client's leaving."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hotline.conversation import Conversation
from hotline.desk import AskClause, AskDone, AskEvent, AskRouted, CallDesk, MaskedQuestion
from hotline.http.arrivals import ClientGone, ReceiveMessage
from hotline.http.models import Answer, ClauseOut, NextStep
from hotline.http.problems import Problem
from hotline.http.written import EMERGENCY, Screen

AI_LABEL = "内容由人工智能生成"  # shown with every answer: required since 2025-09-01
_CALLS = re.compile(r"(?<!\d)(?:110|119|120|122|12356)(?!\d)")

T = TypeVar("T")


@dataclass(slots=True)
class Collected:
    """An answer as it grows. screen: what its clauses become there."""

    screen: Screen
    masked_question: str = ""
    route: str = ""
    confidence: float = 0.0
    sources: tuple[str, ...] = ()
    clauses: list[AskClause] = field(default_factory=list)
    done: AskDone | None = None

    def take(self, event: AskEvent) -> AskEvent | None:
        """The next event of it, as it is shown; None: nothing is."""
        match event:
            case MaskedQuestion():
                self.masked_question = event.text
            case AskRouted():
                self.route, self.confidence, self.sources = event.route, event.confidence, event.source_ids
            case AskClause():
                shown = self.screen.clause(event)
                if shown is not None:
                    self.clauses.append(shown)
                return shown
            case AskDone():
                self.route, self.done = event.route, event
        return event

    @property
    def text(self) -> str:
        """What is said."""
        return "".join(clause.text for clause in self.clauses)

    def answer(self, person_number: str) -> Answer:
        """For the wire."""
        done = self.done or AskDone(route=self.route)
        return Answer(
            answer=self.text,
            clauses=[ClauseOut(text=clause.text, sources=list(clause.source_ids)) for clause in self.clauses],
            route=self.route,
            confidence=self.confidence,
            sources=list(self.sources),
            needs_person=done.needs_person,
            reason=done.reason,
            next_step=next_step(done, self.text, person_number, wants_order=self.screen.wants_order),
            masked_question=self.masked_question,
            ai_label=AI_LABEL,
        )


def next_step(done: AskDone, text: str, person_number: str, *, wants_order: bool = False) -> NextStep:
    """What the app should do after these words. In an emergency: the numbers that they name, in their order."""
    numbers = list(dict.fromkeys(_CALLS.findall(text))) if done.route == EMERGENCY else []
    if numbers:
        return NextStep(action="call", call=numbers[0], also=numbers[1:])
    if wants_order:
        return NextStep(action="work_order", call=person_number)
    return NextStep(action="person", call=person_number) if done.needs_person else NextStep()


async def answered(
    desk: CallDesk,
    question: str,
    talk: Conversation,
    *,
    person_number: str,
    emit: Callable[[AskEvent, Collected], Awaitable[None]] | None = None,
) -> Collected:
    """Ask, and collect the answer; emit: told each event as soon as it exists."""
    found = Collected(Screen(person_number))
    async with aclosing(desk.ask(question, talk)) as events:
        async for event in events:
            shown = found.take(event)
            if emit is not None and shown is not None:
                await emit(shown, found)
    return found


@asynccontextmanager
async def in_time(within_s: float) -> AsyncGenerator[None, None]:
    """Raises Problem when an answer takes longer."""
    try:
        async with asyncio.timeout(within_s):
            yield
    except TimeoutError:
        raise Problem(504, "ask.too_long", "the answer took too long", "ask again, or hand the question to a person") from None


def event_frame(event: AskEvent, found: Collected, person_number: str) -> bytes:
    """A server-sent event: masked, route, one clause at a time, done."""
    match event:
        case MaskedQuestion():
            return frame("masked", {"masked_question": event.text, "ai_label": AI_LABEL})
        case AskRouted():
            return frame("route", {"route": event.route, "confidence": event.confidence, "sources": event.source_ids})
        case AskClause():
            return frame("clause", {"text": event.text, "sources": event.source_ids})
        case AskDone():
            return frame("done", found.answer(person_number).model_dump(exclude={"clauses", "masked_question", "ai_label"}))


def frame(name: str, told: Mapping[str, Any]) -> bytes:
    """Any server-sent event."""
    return f"event: {name}\ndata: {json.dumps(told, ensure_ascii=False)}\n\n".encode()


async def while_connected(receive: ReceiveMessage, work: Callable[[], Awaitable[T]]) -> T:
    """Do it, and stop it for real when the client leaves. Raises ClientGone, and what the work raises."""
    gone = False

    async def watch(working: asyncio.Task[T]) -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        gone = True
        working.cancel()

    async def run() -> T:
        return await work()

    try:
        async with asyncio.TaskGroup() as tasks:
            working = tasks.create_task(run(), name="http-work")
            watching = tasks.create_task(watch(working), name="http-client")
            await asyncio.wait({working})
            watching.cancel()
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None
    if gone and working.cancelled():
        raise ClientGone
    return working.result()
