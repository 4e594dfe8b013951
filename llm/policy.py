"""An engine's speed and what was found for a question → may the engine answer, or is the stored answer given? Pure.

Where a first clause can come within the deadline of the channel, a grounded model writes the answer; where it can't, the stored
answer is given whole and at once. Nobody is asked beforehand which machine this is: the engine has measured itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llm.hotpool import Verdict
from llm.types import AnsweringSettings, Dialogue, Engine, Prompt, Route, Routed, Step
from llm.wording import plain

_NEAR_FROM = 0.45  # below this no passage is near enough for an engine to rest on
_YES_NO = re.compile(
    r"吗$|(?<![什怎多])么$|[不没]$|[对是行好法]吧$|(.{1,2})[不没]\1|有没有|能否|可否|是否|合不合法|会不会|"
    r"算不算|算.{2,10}还是"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InTime:
    """Whether a first clause can be there within_ms, by an estimate of expected_ms. str(): for `explain`."""

    expected_ms: int
    within_ms: int

    def __bool__(self) -> bool:
        """It can."""
        return self.expected_ms <= self.within_ms

    def __str__(self) -> str:
        """In words."""
        return f"first clause in about {self.expected_ms} ms, {'within' if self else 'later than'} {self.within_ms} ms"


def in_time(engine: Engine, prompt: Prompt, dialogue: Dialogue, settings: AnsweringSettings) -> InTime:
    """By what the engine measured of itself, now."""
    within_ms = settings.voice_first_clause_ms if dialogue.is_spoken else settings.text_first_clause_ms
    return InTime(expected_ms=engine.first_clause_ms(prompt), within_ms=within_ms)


def barred(asked: str, nearest: Verdict, steps: Sequence[Step] | None) -> str:
    """Why no engine may answer, whatever its speed; empty: it may. steps: what is said if it doesn't, None: nothing was found.

    Small models flip a yes and a no, and write well about a passage that doesn't answer: a hot answer, a may-I, and anything that
    a doubt hangs on are not theirs.
    """
    if _YES_NO.search(plain(asked)):
        return "a yes or no is read from the store"
    if steps is not None and not _is_answer_of(nearest, steps):
        routed = steps[0]
        return f"{routed.route.value if isinstance(routed, Routed) else 'stored'} answer is surer"
    if nearest.score < _NEAR_FROM:
        return "no passage is near enough"
    return "the passage is in doubt" if any(doubt.hard for doubt in nearest.doubts) else ""


def _is_answer_of(nearest: Verdict, steps: Sequence[Step]) -> bool:
    """These steps read the stored answer of the nearest entry."""
    routed = steps[0]
    return (
        nearest.entry is not None
        and isinstance(routed, Routed)
        and routed.route is Route.STORED
        and routed.source_ids == (nearest.entry.id,)
    )
