"""A written conversation: raw questions in, events of their answers out; its masker and its history last from one to the next.

Knows no wire and no line. What is remembered is masked, and bounded.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from hotline.clock import utc_now
from hotline.desk import AskClause, AskDone, AskEvent, AskRouted, MaskedQuestion
from llm.types import AskedFor, Clause, Dialogue, Exchange, HandOver, Masker, Mind, Personal, Route, Routed

HISTORY_TURNS = 20  # as a call's


class Conversation:
    """One asker's questions, one at a time."""

    def __init__(self, mind: Mind, masker: Masker) -> None:
        """masker: of this conversation alone, so that a number keeps its placeholder."""
        self._mind = mind
        self._masker = masker
        self._history: list[Exchange] = []
        self._clarified = 0
        self._asked_for: Personal | None = None

    async def ask(self, question: str) -> AsyncGenerator[AskEvent, None]:
        """One question, masked before anything else sees it. An answer that is broken off is not remembered."""
        said = question.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is no text
        masked = self._masker.mask(said, asked_for=self._asked_for)
        dialogue = Dialogue(
            history=tuple(self._history), clarified=self._clarified, asked_for=self._asked_for, today=utc_now().date()
        )
        self._asked_for = None
        yield MaskedQuestion(text=masked.text)
        routed, spoken = Routed(route=Route.UNKNOWN, confidence=0.0), ""
        needs_person, reason = False, ""
        async with aclosing(self._mind.answer(masked, dialogue)) as steps:
            async for step in steps:
                match step:
                    case Routed():
                        routed = step
                        yield AskRouted(route=step.route.value, confidence=step.confidence, source_ids=step.source_ids)  # noqa: ASYNC119  closed by consumer
                    case Clause():
                        spoken += step.text
                        yield AskClause(text=step.text, route=routed.route.value, source_ids=step.source_ids)  # noqa: ASYNC119  closed by consumer
                    case HandOver():
                        needs_person, reason = True, step.reason
                    case AskedFor():
                        self._asked_for = step.kind
                    case _:
                        pass
        self._clarified = self._clarified + 1 if routed.route is Route.CLARIFY else 0
        topic_id = next(iter(routed.source_ids), "")
        self._history.append(Exchange(caller=masked, said=spoken, route=routed.route, topic_id=topic_id))
        del self._history[:-HISTORY_TURNS]
        yield AskDone(route=routed.route.value, needs_person=needs_person, reason=reason)
