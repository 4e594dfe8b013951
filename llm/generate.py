"""A prompt → an engine's tokens → clauses that passed the checks. Knows no routes and no retrieval.

A clause is given out only when it is checked; the first one that fails ends the answer and aborts the generation.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from llm.checks import check_clause
from llm.clauses import ClauseCutter
from llm.prompt import REFUSAL
from llm.types import Engine, GenerateParams, MaskedText, Passage, Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The model had no answer, or a clause failed: nothing further is spoken. why: names of checks, for `explain`."""

    why: str


async def checked_clauses(
    engine: Engine, prompt: Prompt, passages: tuple[Passage, ...], question: MaskedText, params: GenerateParams
) -> AsyncGenerator[str | Refused, None]:
    """Clauses in order; a `Refused` is the last. Raises EngineFailed, EngineStalled. Consume inside aclosing."""
    cutter = ClauseCutter()
    async with aclosing(engine.generate(prompt, params)) as tokens:
        async for token in tokens:
            for clause in cutter.feed(token.text):
                fit = _judge(clause, passages, question)
                yield fit  # noqa: ASYNC119  consumer closes us
                if isinstance(fit, Refused):
                    return
    for clause in cutter.flush():
        fit = _judge(clause, passages, question)
        yield fit
        if isinstance(fit, Refused):
            return


def _judge(clause: str, passages: tuple[Passage, ...], question: MaskedText) -> str | Refused:
    if clause.strip().startswith(REFUSAL[:2]):
        return Refused(why="the model has no answer")
    findings = check_clause(clause, passages, question)
    return Refused(why="check " + " ".join(finding.rule for finding in findings)) if findings else clause
