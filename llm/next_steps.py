"""What follows an answer that is not all: a person, or the registration of a work order. Knows no search."""

from __future__ import annotations

import re

from llm import phrases
from llm.dialogue_acts import Act, act_of
from llm.types import Clause, Dialogue, Entry, HandOver, Route, Routed, Step
from llm.wording import plain

_SKILL = "work_order"
_REGISTER = re.compile(
    "(?:好的?|要的?|对|嗯|行|可以|是的?|那|就|请|麻烦|帮我|给我|替我|我要|我想|需要|你们?|您|快|赶紧)*登记(?:一下|下|吧|了|好了|呗|嘛|这件事)*"
)

_DECLINED = re.compile("^(?:先|暂时|那|就|嗯|哦|好)*(?:不用|不要|不必|不需要|不想|不登记|算了)")
_SHORT = 8  # characters; more is a question or a story


def with_next_step(steps: tuple[Step, ...], entry: Entry) -> tuple[Step, ...]:
    """The answer's steps, and what its entry says comes after it."""
    ids = (entry.id,)
    if entry.next_step == "person":
        return (*steps, HandOver(reason="not_in_kb"))
    if entry.next_step == "work_order":
        return (*steps, Clause(text=phrases.REGISTER, source_ids=ids))
    return steps


def register_steps(said: str, dialogue: Dialogue) -> tuple[Step, ...] | None:
    """The answer to whether the matter shall be registered; None when that was not asked, or something else is said."""
    last = dialogue.history[-1] if dialogue.history else None
    if last is None or not last.said.endswith(phrases.REGISTER):
        return None
    act = act_of(said, answering=True)
    if act is Act.YES or _REGISTER.fullmatch(plain(said)):
        routed = Routed(route=Route.PERSON, confidence=1.0, source_ids=(last.topic_id,), explain="wants it registered")
        return (routed, Clause(text=phrases.TO_REGISTER), HandOver(reason="asked", skill=_SKILL))
    if act is Act.NO or (_DECLINED.search(plain(said)) and len(plain(said)) <= _SHORT):
        return (Routed(route=Route.NOTED, confidence=1.0, explain="wants nothing registered"), Clause(text=phrases.WHAT_ELSE))
    return None
