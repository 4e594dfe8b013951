"""The set dialogs: a small knowledge base and a caller's turns → a typed call over it, as `hotline text` runs one.

An entry has a title and a text and no paraphrases: the title is its question, the text its answer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

from hotline.config import Settings
from hotline.evaluate.desks import text_desk
from hotline.evaluate.records import Answer, CaseSet, RecordWrong, Solver
from hotline.lines import CallStart
from hotline.scripts import CallScript, ScriptStep
from hotline.text import Exchanged, TextLine, run_script
from llm import phrases
from llm.types import Entry, Route

_RESTS = frozenset({Route.HOT.value, Route.STORED.value, Route.GENERATED.value, Route.REPEAT.value})
_PARTING = frozenset({Route.GOODBYE.value, "rating"})  # a goodbye may end with the question how it was
_HAND_OVER = "转人工"


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """An entry of the record's knowledge base."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerTurn:
    """What the caller says. barge_in_ms: into the bot's speech; a typed call has none to barge into."""

    text: str
    role: Literal["caller"] = "caller"
    barge_in_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogRecord:
    """A call to hold. distractors: entries that the answers must not come from; the product is not told which are which."""

    id: str
    turns: tuple[CallerTurn, ...]
    kb: tuple[Article, ...] = ()
    distractors: tuple[Article, ...] = ()


@dataclass(slots=True)
class _Events:
    """What a call sent, in the order of its turns."""

    transfers: dict[int, dict[str, Any]]
    line: TextLine | None = None

    def show(self, printed: str) -> None:
        """One event as printed."""
        event = json.loads(printed)
        if event["event"] == "Transfer" and self.line is not None:
            self.transfers[len(self.line.exchanges) - 1] = event


@asynccontextmanager
async def _open(settings: Settings) -> AsyncGenerator[Solver[DialogRecord], None]:
    async def solve(record: DialogRecord) -> Answer:
        articles = (*record.kb, *record.distractors)
        if len({article.id for article in articles}) < len(articles):
            raise RecordWrong("kb and distractors: two entries have the same id", what_to_do="give each an id of its own")
        entries = sorted((_entry(article) for article in articles), key=lambda entry: entry.id)
        return await hold(settings, entries, [turn.text for turn in record.turns])

    yield solve


async def hold(settings: Settings, entries: Sequence[Entry], turns: Sequence[str]) -> Answer:
    """Hold one typed call: what the bot said to each turn, and how it ended."""
    events = _Events({})
    line = TextLine(start=CallStart(call_id="eval", trunk="text"), show=events.show, as_json=True)
    events.line = line
    script = CallScript(title="eval", steps=tuple(ScriptStep(say=text) for text in turns))
    async with text_desk(settings, entries) as desk, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(desk.answer(line), name="call")
        await run_script(line, script)
        await running
    said = [_turn(got, events.transfers.get(number)) for number, got in enumerate(line.exchanges) if number]
    rested = any(turn["kb"] for turn in said)
    outcome = "transferred" if line.ending == "transferred" else "answered" if rested else "unanswered"
    return {"turns": said[: len(turns)], "outcome": outcome, "ending": line.ending}


def _turn(got: Exchanged, transfer: dict[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "text": got.answer,
        "action": _action(got, person=transfer is not None),
        "kb": next(iter(got.sources), None) if got.route in _RESTS else None,
        "route": got.route,
        "sources": list(got.sources),
    }
    return found | ({"handoff": {"summary": transfer["summary"], "ticket": transfer["ticket"]}} if transfer else {})


def _action(got: Exchanged, *, person: bool) -> str:
    """The route in the set's words. close: a goodbye, or thanks answered with *anything else?*, which ends the matter."""
    if got.route == Route.EMERGENCY.value:
        return "emergency"
    if person:
        return "transfer"
    if got.route in _PARTING or got.answer == phrases.WELCOME:
        return "close"
    if got.route == Route.REFUSED.value:
        return "refuse"
    if got.route == Route.CLARIFY.value:
        return "offer_transfer" if _HAND_OVER in got.answer else "clarify"
    return "answer"


def _entry(article: Article) -> Entry:
    return Entry(
        id=article.id, topic=article.title, question=article.title, paraphrases=(), answer=article.text, source=article.title
    )


DIALOGS = CaseSet(record=DialogRecord, open=_open)
