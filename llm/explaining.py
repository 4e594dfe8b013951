"""A mind that says why: another one's steps, then what it looked at. Asked for by people who test; costs a second search.

Holds none of the caller's words: kinds of what was hidden, ids of entries, figures, names of rules and checks.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from llm.mind import AnsweringMind
from llm.types import Considered, Dialogue, Explained, Hidden, MaskedText, Passage, Route, Routed, Step

_SHOWN = 5
_SEARCHED_FOR = {Route.HOT, Route.STORED, Route.GENERATED, Route.CLARIFY, Route.UNKNOWN}


class ExplainingMind:
    """Answers as the other does."""

    def __init__(self, mind: AnsweringMind) -> None:
        self._mind = mind

    async def answer(self, question: MaskedText, dialogue: Dialogue) -> AsyncGenerator[Step, None]:
        """The other's steps, then `Explained`."""
        failed: list[str] = []
        routed = Routed(route=Route.UNKNOWN, confidence=0.0)
        async with aclosing(self._mind.answer(question, replace(dialogue, note=failed.append))) as steps:
            async for step in steps:
                routed = step if isinstance(step, Routed) else routed
                yield step  # noqa: ASYNC119  consumer closes us
        passages = await self._mind.looked_up(question, dialogue) if routed.route in _SEARCHED_FOR else ()
        yield Explained(
            route=routed.route,
            confidence=routed.confidence,
            why=routed.explain,
            hidden=hidden_in(question),
            intent=routed.intent,
            considered=self._considered(question, passages),
            failed=tuple(failed),
        )

    def _considered(self, question: MaskedText, passages: Sequence[Passage]) -> tuple[Considered, ...]:
        asked = self._mind.counting(question)
        nexts = [*(passage.score for passage in passages[1:]), 0.0]
        return tuple(
            Considered(
                entry_id=passage.entry.id,
                score=round(passage.score, 3),
                lead=round(passage.score - following, 3),
                doubts=tuple(str(doubt) for doubt in self._mind.doubts_of(asked, passage.entry)),
            )
            for passage, following in list(zip(passages, nexts, strict=False))[:_SHOWN]
        )


def hidden_in(question: MaskedText) -> tuple[Hidden, ...]:
    """What the masker hid: kinds and sizes, never the originals."""
    return tuple(
        Hidden(kind=span.kind.value, placeholder=span.placeholder, length=span.raw_end - span.raw_start, complete=span.complete)
        for span in question.spans
    )
