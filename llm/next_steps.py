"""What follows an answer that is not all: a person, or the registration of a work order; and how our questions are answered."""

from __future__ import annotations

import re

from llm import phrases
from llm.dialogue_acts import Act, act_of
from llm.spoken import speak, to_person
from llm.types import Clause, Dialogue, Entry, HandOver, Intent, Passage, Route, Routed, Step
from llm.wording import plain

_SKILL = "work_order"
_REGISTER = re.compile(
    "(?:好的?|要的?|对|嗯|行|可以|是的?|那|就|请|麻烦|帮我|给我|替我|我要|我想|需要|你们?|您|快|赶紧)*登记(?:一下|下|吧|了|好了|呗|嘛|这件事)*"
)

_DECLINED = re.compile("^(?:先|暂时|那|就|嗯|哦|好)*(?:不用|不要|不必|不需要|不想|不登记|算了)")
_WANTS_ACTION = re.compile(
    "我(?:们)?(?:现在)?(?:想|要|是来|就是要?|是要)?(?:投诉|举报|反映|报修)(?!电话|的?号码|要|需要|怎|如何|流程|到哪|去哪)"
)
_ACTS_ON = {"complain", "report"}
_ALIKE_FROM = 0.36
_ENOUGH_TO_TELL = 6  # characters by which an answer and its detail differ
_SHORT = 8  # characters; more is a question or a story
_DETAIL = re.compile("〈(?:地址|姓名|手机号|座机号)|[路街巷村镇乡]|小区|门口|[0-9一二三四五六七八九十百]+(?:号|栋|楼|单元)")
_ASKS = re.compile("怎|如何|咋|啥|什么|哪|几|多少|多久|[吗呢么]|能不能|可不可以|是不是|要不要")


def with_next_step(steps: tuple[Step, ...], entry: Entry) -> tuple[Step, ...]:
    """The answer's steps, and what its entry says comes after it."""
    ids = (entry.id,)
    if entry.next_step == "person":
        return (*steps, Clause(text=phrases.NEEDS_PERSON), HandOver(reason="needs_person"))
    if entry.next_step == "work_order":
        return (*steps, Clause(text=phrases.REGISTER, source_ids=ids))
    return steps


def can_register(said: str, best: Passage | None, intent: Intent | None, *, is_offered: bool) -> bool:
    """A complaint or a report that no entry answers: people can still act on it. best: what is most like it."""
    if _WANTS_ACTION.search(plain(said)):
        return True
    if is_offered:
        return False
    if best is not None and best.score >= _ALIKE_FROM and best.entry.next_step == _SKILL:
        return True
    return intent is not None and intent.kind.is_sure and intent.kind.name in _ACTS_ON


def register_steps(said: str, dialogue: Dialogue) -> tuple[Step, ...] | None:
    """The answer to whether the matter shall be registered; None when that was not asked, or something else is said."""
    last = dialogue.history[-1] if dialogue.history else None
    if last is None or not last.said.endswith(phrases.REGISTER):
        return None
    act = act_of(said, answering=True)
    if act is Act.YES or _REGISTER.fullmatch(plain(said)) or _tells_more(said):
        ids = (last.topic_id,) if last.topic_id else ()
        routed = Routed(route=Route.PERSON, confidence=1.0, source_ids=ids, explain="wants it registered")
        return (routed, Clause(text=phrases.TO_REGISTER), HandOver(reason="asked", skill=_SKILL))
    if act is Act.NO or (_DECLINED.search(plain(said)) and len(plain(said)) <= _SHORT):
        return (Routed(route=Route.NOTED, confidence=1.0, explain="wants nothing registered"), Clause(text=phrases.WHAT_ELSE))
    return None


def settled(act: Act, offered: tuple[Entry, ...]) -> tuple[Step, ...]:
    """The answer to our clarifying question."""
    if act in {Act.NO, Act.WRONG}:
        return to_person(Route.UNKNOWN, phrases.NOT_KNOWN, "not_in_kb", "no candidate was right")
    if act is Act.YES and len(offered) > 1:
        return speak(Route.CLARIFY, phrases.WHICH_OF_TWO, 1.0, "yes to two candidates", *offered)
    chosen = offered[1:] if act is Act.SECOND else offered[:1]
    if not chosen:
        return speak(Route.CLARIFY, phrases.WHICH_MATTER, 0.5, "chose, but nothing was offered")
    steps = speak(Route.STORED, chosen[0].answer, 1.0, "chosen after a clarifying question", chosen[0])
    return with_next_step(steps, chosen[0])


def whole(entry: Entry, said: str) -> str:
    """The entry's text that said is the beginning of; what was said, where that is more."""
    text = entry.detail if said and entry.detail.startswith(said[:_ENOUGH_TO_TELL]) else entry.answer
    return max(text, said, key=len)


def last_route(dialogue: Dialogue) -> Route | None:
    """How the last turn was answered."""
    return dialogue.history[-1].route if dialogue.history else None


def offered_more(dialogue: Dialogue) -> bool:
    """We asked just now what else there is."""
    return bool(dialogue.history) and dialogue.history[-1].said.endswith(phrases.ANYTHING_ELSE)


def _tells_more(said: str) -> bool:
    """Where it is, or who calls: the details that a work order needs, and no question."""
    return _DETAIL.search(said) is not None and not _ASKS.search(plain(said)) and not _DECLINED.search(plain(said))
