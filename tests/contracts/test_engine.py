"""What every engine keeps to: it streams, closes early, aborts for real, tells a stall. For a fake and for the embedded engine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from llm.privacy import CallMasker
from llm.prompt import make_prompt
from llm.types import Engine, EngineStalled, Entry, GenerateParams, Passage, Prompt, TokenEvent

SMALL = "smollm2-135m"
LONG = Passage(
    entry=Entry(id="a", topic="t", question="Count", paraphrases=(), answer="one two three four five six " * 60, source="sample"),
    score=1.0,
)


class FakeEngine:
    """Speaks words from a list. Reads a prompt at a set speed, so that a long one stalls."""

    name = "fake"

    def __init__(self) -> None:
        self.running = 0

    async def generate(self, prompt: Prompt, params: GenerateParams) -> AsyncGenerator[TokenEvent, None]:
        self.running += 1
        try:
            reading_s = len(prompt.user) / 10_000
            try:
                async with asyncio.timeout(params.first_token_ms / 1000):
                    await asyncio.sleep(reading_s)
            except TimeoutError:
                raise EngineStalled("no token within the deadline; shorten the prompt") from None
            for number in range(params.max_tokens):
                yield TokenEvent(text=f"{number} ", cut_off=number == params.max_tokens - 1)
                await asyncio.sleep(0)
        finally:
            self.running -= 1

    def first_clause_ms(self, prompt: Prompt) -> int:
        return len(prompt.user) // 10

    def close(self) -> None:
        """Nothing to free."""


@pytest.fixture(scope="module")
def embedded() -> Iterator[Engine]:
    from llm.engines.embedded import EmbeddedEngine  # noqa: PLC0415  the fake needs no llama.cpp

    folder = Path(os.environ.get("HOTLINE_MODELS__DIR", "~/.cache/hotline/models")).expanduser() / SMALL
    if not folder.is_dir():
        pytest.skip(f"no {SMALL}; run: hotline models pull {SMALL}")
    engine = EmbeddedEngine.load(folder, context_tokens=1024)
    yield engine
    engine.close()


@pytest.fixture(params=["fake", pytest.param("embedded", marks=pytest.mark.models)])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "fake":
        return FakeEngine()
    loaded: Engine = request.getfixturevalue("embedded")
    return loaded


def prompt(*passages: Passage) -> Prompt:
    return make_prompt(CallMasker(mask_budget_ms=5_000).mask("Count from one to a hundred."), passages)


async def first(engine: Engine, params: GenerateParams, *passages: Passage) -> str:
    """The first piece; the generation is closed after it."""
    async with aclosing(engine.generate(prompt(*passages), params)) as tokens:
        async for token in tokens:
            return token.text
    return ""


async def test_it_streams_pieces_and_keeps_to_the_limit(engine: Engine) -> None:
    async with aclosing(engine.generate(prompt(), GenerateParams(max_tokens=6))) as tokens:
        pieces = [token async for token in tokens]
    assert 2 <= len(pieces) <= 7
    assert all(piece.text for piece in pieces[:-1])
    assert [piece.cut_off for piece in pieces] == [False] * (len(pieces) - 1) + [True]


async def test_the_same_question_gets_the_same_words(engine: Engine) -> None:
    said = []
    for _ in range(2):
        async with aclosing(engine.generate(prompt(), GenerateParams(max_tokens=5))) as tokens:
            said.append("".join([token.text async for token in tokens]))
    assert said[0] == said[1]


async def test_closing_early_frees_it_for_the_next(engine: Engine) -> None:
    for _ in range(3):
        assert await first(engine, GenerateParams(max_tokens=900))


async def test_a_caller_who_interrupts_stops_the_generation(engine: Engine) -> None:
    heard: list[str] = []

    async def answer() -> None:
        async with aclosing(engine.generate(prompt(), GenerateParams(max_tokens=900))) as tokens:
            async for token in tokens:
                heard.append(token.text)
                if len(heard) == 3:
                    raise asyncio.CancelledError

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(answer(), name="answer")
    assert len(heard) == 3
    assert await first(engine, GenerateParams())


async def test_a_stall_is_told_and_the_engine_lives_on(engine: Engine) -> None:
    with pytest.raises(EngineStalled) as stalled:
        await first(engine, GenerateParams(first_token_ms=5), LONG)
    assert stalled.value.code == "llm.engine_stalled"
    assert await first(engine, GenerateParams())


async def test_it_tells_when_a_first_clause_would_come_and_a_longer_prompt_takes_longer(engine: Engine) -> None:
    short = Passage(entry=Entry(id="a", topic="t", question="q", paraphrases=(), answer="one", source="sample"), score=1)
    question = CallMasker(mask_budget_ms=5_000).mask("count")
    assert 0 <= engine.first_clause_ms(make_prompt(question, [short])) < engine.first_clause_ms(make_prompt(question, [LONG]))
