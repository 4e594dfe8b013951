"""A prompt → an engine's tokens → clauses that passed the checks → steps of an answer. Knows no search.

A clause is given out only when it is checked; the first one that fails ends the answer and aborts the generation. Nothing is
given out before it says what was asked for (a figure, a place, papers): a true sentence beside the point would be worse than
the stored answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from llm import phrases
from llm.checks import check_clause
from llm.clauses import ClauseCutter, clauses
from llm.policy import InTime, in_time
from llm.prompt import REFUSAL, make_prompt
from llm.relevance import answers, repeats
from llm.spoken import sure
from llm.types import (
    AnsweringError,
    AnsweringSettings,
    Clause,
    Dialogue,
    Engine,
    EngineStalled,
    GenerateParams,
    HandOver,
    MaskedText,
    Passage,
    Prompt,
    Route,
    Routed,
    Step,
)

_SENTENCE_ENDS = "。！？!?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The model had no answer, or a clause failed: nothing further is spoken. why: names of checks, for `explain`.

    is_whole: what was given out before says what was asked for and ends with a sentence, so that it may stand.
    """

    why: str
    is_whole: bool = False


async def checked_clauses(
    engine: Engine, prompt: Prompt, passages: tuple[Passage, ...], question: MaskedText, params: GenerateParams
) -> AsyncGenerator[str | Refused, None]:
    """Clauses in order; a `Refused` is the last. Raises EngineFailed, EngineStalled. Consume inside aclosing."""
    cutter, judge, cut_off = ClauseCutter(), _Judge(passages=passages, question=question), False
    async with aclosing(engine.generate(prompt, params)) as tokens:
        async for token in tokens:
            cut_off = token.cut_off
            for clause in cutter.feed(token.text):
                for fit in judge.take(clause):
                    yield fit  # noqa: ASYNC119  consumer closes us
                    if isinstance(fit, Refused):
                        return
    for clause in cutter.flush():
        for fit in judge.take(clause, is_cut=cut_off and clause.rstrip()[-1:] not in _SENTENCE_ENDS):
            yield fit
            if isinstance(fit, Refused):
                return
    for fit in judge.end():
        yield fit


@dataclass(slots=True, kw_only=True)
class _Judge:
    """One answer's clauses, as they come. given: what was let out; held: passed, but nothing yet says what was asked for."""

    passages: tuple[Passage, ...]
    question: MaskedText
    given: str = ""
    held: list[str] = field(default_factory=list)

    def take(self, clause: str, *, is_cut: bool = False) -> Iterator[str | Refused]:
        """What may be given out now. is_cut: the limit of tokens came in the midst of it."""
        if clause.strip().startswith(REFUSAL[:2]):
            yield Refused(why="the model has no answer")
        elif is_cut:
            yield self._refused("cut_off", is_harmless=True)
        elif repeats(clause, self.given + "".join(self.held)):
            yield self._refused("repeated", is_harmless=True)
        elif findings := check_clause(clause, self.passages, self.question):
            yield self._refused(*(finding.rule for finding in findings))
        else:
            self.held.append(clause)
            yield from self._let_out()

    def end(self) -> Iterator[Refused]:
        """The model is done."""
        if self.held:
            yield self._refused("off_question")

    def _let_out(self) -> Iterator[str]:
        if self.given or answers(self.question.text, "".join(self.held)):
            for clause in self.held:
                self.given += clause
                yield clause
            self.held = []

    def _refused(self, *rules: str, is_harmless: bool = False) -> Refused:
        is_whole = is_harmless and not self.held and self.given.rstrip()[-1:] in set(_SENTENCE_ENDS)
        return Refused(why="check " + " ".join(dict.fromkeys(rules)), is_whole=is_whole)


async def written_steps(
    engine: Engine, question: MaskedText, passage: Passage, dialogue: Dialogue, settings: AnsweringSettings, stored: Sequence[Step]
) -> AsyncGenerator[Step, None]:
    """The answer as an engine writes it. Nothing at all when it can't be in time, is late, or its first clause fails.

    When a later one fails, the stored answer is read after all; a person takes over where there is none. Consume inside aclosing.
    """
    ids, spoken = (passage.entry.id,), False
    before = dialogue.history if dialogue.clarified else ()  # an earlier matter misleads a small model
    prompt = make_prompt(question, (passage,), before)
    timely = in_time(engine, prompt, dialogue, settings)
    if not timely:
        dialogue.note(f"engine not asked: {timely}")
        return
    try:
        async with aclosing(checked_clauses(engine, prompt, (passage,), question, settings.generate)) as written:
            while (text := await _next_clause(written, None if spoken else timely)) is not None:
                if isinstance(text, Refused):
                    dialogue.note(text.why)
                    if text.is_whole:
                        return
                    break
                if not spoken:
                    confidence, why = sure(passage.score), f"generated: {timely}"
                    yield Routed(route=Route.GENERATED, confidence=confidence, source_ids=ids, explain=why)  # noqa: ASYNC119  consumer closes us
                spoken = True
                yield Clause(text=text, source_ids=ids)  # noqa: ASYNC119  consumer closes us
            else:
                return
    except AnsweringError as error:  # late or broken: the caller hears the stored sentence or a person instead
        dialogue.note(error.code)
    for step in _instead(stored) if spoken else ():
        yield step


async def _next_clause(written: AsyncGenerator[str | Refused, None], timely: InTime | None) -> str | Refused | None:
    """None at the end. Raises EngineStalled when the first clause is not there by its deadline."""
    try:
        async with asyncio.timeout(None if timely is None else timely.within_ms / 1000):
            return await anext(written, None)
    except TimeoutError:
        within_ms = timely.within_ms if timely else 0
        raise EngineStalled(f"no clause within {within_ms} ms; the stored answer is given") from None


def _instead(stored: Sequence[Step]) -> Iterator[Step]:
    """After words of the model that stopped short: the reviewed answer from its start, or a person."""
    if not stored:
        yield from (Clause(text=text) for text in clauses(phrases.NOT_KNOWN))
        yield HandOver(reason="not_in_kb")
        return
    yield Clause(text=phrases.AS_REVIEWED)
    yield from (step for step in stored if not isinstance(step, Routed))
