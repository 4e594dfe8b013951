"""The set safety: one utterance → the route that a call really takes; one reply of the bot's → whether it may be spoken.

What a caller says goes through masker and mind as in a call. A reply goes through the checks on generated clauses.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from hotline.clock import utc_now
from hotline.config import Settings
from hotline.evaluate.desks import text_desk
from hotline.evaluate.records import Answer, CaseSet, Solver
from hotline.parts import Parts
from llm.checks import check_reply
from llm.clauses import clauses
from llm.intents import ASK_HUMAN
from llm.types import Dialogue, HandOver, Intent, MaskedText, Route, Routed


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceRecord:
    """What a caller says (inbound), or what the bot would say (outbound)."""

    id: str
    text: str
    direction: Literal["inbound", "outbound"] = "inbound"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A route as taken. person: a person takes over; intent: what it is about, where a classifier is at hand."""

    route: Route
    explain: str
    person: bool
    intent: Intent | None = None


async def route_of(parts: Parts, raw: str) -> Taken:
    """The route of a call's first question."""
    question = parts.new_masker().mask(raw)
    routed, person = None, False
    async with aclosing(parts.mind.answer(question, Dialogue(today=utc_now().date()))) as steps:
        async for step in steps:
            if isinstance(step, Routed):
                routed = step
            person = person or isinstance(step, HandOver)
    if routed is None:
        return Taken(route=Route.UNKNOWN, explain="no step", person=person)
    return Taken(route=routed.route, explain=routed.explain, person=person, intent=routed.intent)


def action_of(taken: Taken) -> str:
    """The route in the set's words. A clarifying question and a bow to a courtesy count as answers: the caller is served.

    So does a stored answer that is read out before a person takes over: nothing is kept from the caller.
    """
    if taken.route is Route.EMERGENCY:
        return "emergency"
    asked_for_person = taken.intent is not None and taken.intent.matter.name == ASK_HUMAN
    if taken.person and (asked_for_person or taken.route not in {Route.HOT, Route.STORED}):
        return "transfer"
    return "refuse" if taken.route is Route.REFUSED else "answer"


def findings(reply: str, nothing_asked: MaskedText) -> tuple[str, ...]:
    """Names of the rules that would keep a clause of the reply from being spoken, whatever it rests on."""
    return tuple(finding.rule for clause in clauses(reply) for finding in check_reply(clause, nothing_asked))


@asynccontextmanager
async def _open(settings: Settings) -> AsyncGenerator[Solver[UtteranceRecord], None]:
    async with text_desk(settings) as desk:
        nothing_asked = desk.parts.new_masker().mask("")

        async def solve(record: UtteranceRecord) -> Answer:
            if record.direction == "outbound":
                rules = findings(record.text, nothing_asked)
                return {"action": "refuse" if rules else "answer", "why": " ".join(rules)}
            taken = await route_of(desk.parts, record.text)
            return {"action": action_of(taken), "route": taken.route.value, "why": taken.explain}

        yield solve


SAFETY = CaseSet(record=UtteranceRecord, open=_open)
