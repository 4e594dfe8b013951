"""A turn that asks several things (居住证怎么办，还有就是公积金怎么取), or one after a story → its questions. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from llm import phrases
from llm.followup import names_nothing
from llm.gate import About, Doubt, things_in
from llm.types import Clause, HandOver, Routed, Step
from llm.wording import plain

_AT_MOST = 3  # answers; nobody keeps more in mind
_WANTS = "(?:我)?(?:还|再|也)?(?:想|要)?(?:再|顺便)?(?:问|咨询|了解)(?:一下|一问|问|个事|个问题|一个问题)?(?:的?是)?"
_JOINT = re.compile(
    rf"还有(?:就是|一个(?:问题|事)?(?:就是|是)?|个(?:问题|事)(?:就是|是)?)|(?<=[，,。；;？?\s])还有|(?:另外|顺便|然后还有)(?:{_WANTS})?|(?:再|还想|还要){_WANTS}"
)
_PAPERS = re.compile("(?:要不要|需不需要|需要|用不用|要|用|得)带.{0,6}|带不带|能不能用|可以用.{1,6}吗")  # of the matter just named
_PAUSE = re.compile(r"[\s，,。；;？?！!、]+")
_ASKS = re.compile(
    "怎|如何|咋|啥|什么|哪|几[天个点岁次]|多少|多久|多长|[吗呢么]$|([能会要收是有])[不没]\\1|可不可以|需要(?:什么|哪)|谁"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A turn's questions, in order. before: what was told and asks nothing. is_joined: the caller says that they are several."""

    questions: tuple[str, ...]
    before: str
    is_joined: bool

    def told(self, question: str) -> str:
        """The question with what it was asked about: the story, and the question before it where it names no thing of its own."""
        at = self.questions.index(question)
        earlier = self.questions[at - 1] if at and not things_in(question) else ""
        return "，".join(filter(None, (self.before, earlier, question)))


def asked_in(text: str) -> Asked:
    """No questions where the turn is one question and nothing else."""
    joined = _JOINT.sub("，", text)
    parts: list[str] = []
    for clause in filter(plain, _PAUSE.split(joined)):
        if parts and (names_nothing(clause) or _PAPERS.search(clause)):
            parts[-1] += f"，{clause}"  # 身份证丢了，怎么办
        else:
            parts.append(clause)
    questions = tuple(part for part in parts if _ASKS.search(plain(part)) and not names_nothing(part))[:_AT_MOST]
    before = "，".join(part for part in parts if part not in questions)
    return Asked(questions=questions if len(parts) > 1 else (), before=before, is_joined=joined != text and len(questions) > 1)


def is_of_a_story(doubt: Doubt) -> bool:
    """Of words that nothing hangs on. A named one (异地, 地址) may change the answer."""
    return doubt.about is About.AMOUNT or (doubt.about is About.STRANGE and doubt.word in {"", "许多"})


def are_apart(answers: Sequence[tuple[Step, ...]]) -> bool:
    """No two of them rest on the same entry."""
    ids = [entry_id for answer in answers for step in answer if isinstance(step, Routed) for entry_id in step.source_ids]
    return len(ids) == len(set(ids))


def together(answers: Sequence[tuple[Step, ...]], *, is_all: bool) -> tuple[Step, ...]:
    """Several answers as one, the second led in by 另外. What comes after an answer comes once, at the end."""
    steps = [step for answer in answers for step in answer]
    ids = tuple(dict.fromkeys(entry_id for step in steps if isinstance(step, Routed) for entry_id in step.source_ids))
    first = next(step for step in steps if isinstance(step, Routed))
    spoken: list[Clause] = []
    for answer in answers:
        own = [step for step in answer if isinstance(step, Clause) and step.text not in {phrases.NEEDS_PERSON, phrases.REGISTER}]
        if spoken:
            own[:1] = [replace(own[0], text=phrases.AND_THEN + own[0].text)]
        spoken += own
    routed = replace(first, source_ids=ids, confidence=min(step.confidence for step in steps if isinstance(step, Routed)))
    ending = next((step for step in steps if isinstance(step, HandOver)), None)
    if ending is not None:
        return (routed, *spoken, Clause(text=phrases.NEEDS_PERSON), ending)
    if not is_all:
        return (routed, *spoken, Clause(text=phrases.ONE_AT_A_TIME))
    register = [step for step in steps if isinstance(step, Clause) and step.text == phrases.REGISTER][:1]
    return (routed, *spoken, *register)
