"""The embedded engine: what it needs, what it measures, what it refuses, what it stops at."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from llm.engines.embedded import EmbeddedEngine, EngineSpeed
from llm.privacy import CallMasker
from llm.prompt import make_prompt
from llm.types import EngineFailed, EngineMissing, EngineStalled, Entry, GenerateParams, Passage, Prompt

SMALL = "smollm2-135m"
QUESTION = make_prompt(CallMasker(mask_budget_ms=5_000).mask("Say hello."), ())


@pytest.fixture(scope="module")
def model() -> Iterator[EmbeddedEngine]:
    folder = Path(os.environ.get("HOTLINE_MODELS__DIR", "~/.cache/hotline/models")).expanduser() / SMALL
    if not folder.is_dir():
        pytest.skip(f"no {SMALL}; run: hotline models pull {SMALL}")
    engine = EmbeddedEngine.load(folder, context_tokens=512)
    yield engine
    engine.close()


async def cut_off(engine: EmbeddedEngine, params: GenerateParams) -> bool:
    async with aclosing(engine.generate(QUESTION, params)) as tokens:
        return [token.cut_off async for token in tokens][-1]


async def words(engine: EmbeddedEngine, params: GenerateParams, prompt: Prompt = QUESTION) -> str:
    async with aclosing(engine.generate(prompt, params)) as tokens:
        return "".join([token.text async for token in tokens])


@pytest.mark.models
async def test_the_real_model_measures_itself_and_speaks(model: EmbeddedEngine) -> None:
    assert model.speed.prefill_tokens_per_s > 1
    assert model.speed.decode_tokens_per_s > 1
    assert await words(model, GenerateParams(max_tokens=8))


@pytest.mark.models
async def test_the_real_model_refuses_what_does_not_fit_and_lives_on(model: EmbeddedEngine) -> None:
    entry = Entry(id="a", topic="t", question="q", paraphrases=(), answer="many words " * 900, source="sample")
    too_long = make_prompt(CallMasker(mask_budget_ms=5_000).mask("q"), [Passage(entry=entry, score=1)])
    with pytest.raises(EngineFailed, match="shorten the passages"):
        await words(model, GenerateParams(), too_long)
    assert await words(model, GenerateParams(max_tokens=2))


def test_missing_weights_say_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(EngineMissing, match="hotline models pull none"):
        EmbeddedEngine.load(tmp_path / "none")
    with pytest.raises(EngineMissing, match=r"0 \.gguf files"):
        EmbeddedEngine.load(tmp_path)


def test_broken_weights_are_no_crash(tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF and then nothing that makes sense")
    with pytest.raises(EngineMissing, match="does not load"):
        EmbeddedEngine.load(tmp_path)


def test_an_engine_tells_when_its_first_clause_would_come() -> None:
    speed = EngineSpeed(prefill_tokens_per_s=20, decode_tokens_per_s=5, tokens_per_character=0.5)
    assert speed.first_clause_ms(100) == 2500 + 2000
    slower = speed.blended(EngineSpeed(prefill_tokens_per_s=10, decode_tokens_per_s=3))
    assert slower == EngineSpeed(prefill_tokens_per_s=15, decode_tokens_per_s=4, tokens_per_character=0.5)


# ---------------------------------------------------------------- llama.cpp's callback, played by hand


class Llama:
    """Stands for the library: calls back with the chunks it was given, until told to stop."""

    def __init__(self, *chunks: str | Mapping[str, Any] | Exception) -> None:
        self.chunks = chunks
        self.may_go = threading.Event()
        self.may_go.set()
        self.stopped_at: int | None = None
        self.warm = False

    def handle_completions(self, request: Mapping[str, Any], callback: Callable[[Mapping[str, Any]], bool]) -> None:
        if not self.warm:
            self.warm = True
            callback({"choices": [{"text": ""}]})
            return
        self.may_go.wait(10)
        for number, chunk in enumerate(self.chunks):
            if isinstance(chunk, Exception):
                raise chunk
            if callback(chunk if isinstance(chunk, Mapping) else {"choices": [{"text": chunk}]}):
                self.stopped_at = number
                return


async def test_a_stop_string_in_pieces_never_gets_out() -> None:
    llama = Llama("好的", "<|im", "_end|>", "而且")
    engine = EmbeddedEngine(llama, "hand")
    assert await words(engine, GenerateParams()) == "好的"
    engine.close()


async def test_text_that_only_begins_like_a_stop_comes_whole() -> None:
    engine = EmbeddedEngine(Llama("请告诉用", "户名", "<|im"), "hand")
    assert await words(engine, GenerateParams(stop=("用户：",))) == "请告诉用户名<|im"
    engine.close()


async def test_closing_stops_the_library_at_its_next_token() -> None:
    llama = Llama(*["字"] * 10_000)
    engine = EmbeddedEngine(llama, "hand")
    async with aclosing(engine.generate(QUESTION, GenerateParams())) as tokens:
        async for _ in tokens:
            break
    engine.close()
    assert llama.stopped_at is None or llama.stopped_at < 10_000


async def test_a_library_error_is_ours_and_a_closed_engine_says_so() -> None:
    engine = EmbeddedEngine(Llama(RuntimeError("inside")), "hand")
    with pytest.raises(EngineFailed, match="restart"):
        await words(engine, GenerateParams())
    engine.close()
    with pytest.raises(EngineFailed, match="closed"):
        await words(engine, GenerateParams())


async def test_who_waits_behind_a_long_prompt_stalls_within_his_own_deadline() -> None:
    llama = Llama("好")
    llama.may_go.clear()
    engine = EmbeddedEngine(llama, "hand")
    for _ in range(2):
        with pytest.raises(EngineStalled, match="within 10 ms"):
            await words(engine, GenerateParams(first_token_ms=10))
    llama.may_go.set()
    assert await words(engine, GenerateParams()) == "好"
    engine.close()


@pytest.mark.parametrize(("reason", "is_cut"), [("length", True), ("stop", False)])
async def test_it_tells_whether_the_limit_or_the_model_ended_it(reason: str, is_cut: bool) -> None:
    engine = EmbeddedEngine(Llama("好", "的", {"choices": [{"text": "", "finish_reason": reason}]}), "hand")
    assert await cut_off(engine, GenerateParams()) is is_cut
    assert await words(engine, GenerateParams()) == "好的"
    engine.close()


async def test_who_asks_right_after_an_answer_is_told_of_no_queue() -> None:
    engine = EmbeddedEngine(Llama("好"), "hand")
    engine._took_ms = 60_000
    alone_ms = engine.first_clause_ms(QUESTION)
    for _ in range(20):
        await words(engine, GenerateParams())
        assert engine.first_clause_ms(QUESTION) == alone_ms
    engine.close()
    with pytest.raises(EngineFailed, match="closed"):
        await words(engine, GenerateParams())
    assert engine.first_clause_ms(QUESTION) == alone_ms


async def test_a_generation_that_was_given_up_as_too_late_makes_the_next_estimate_longer() -> None:
    llama = Llama("好")
    llama.may_go.clear()
    engine = EmbeddedEngine(llama, "hand")
    engine.speed = EngineSpeed(prefill_tokens_per_s=1e6, decode_tokens_per_s=10)
    with pytest.raises(EngineStalled):
        await words(engine, GenerateParams(first_token_ms=10))
    llama.may_go.set()
    await words(engine, GenerateParams())
    assert engine.speed.prefill_tokens_per_s < 1e6
    engine.close()


def timed(**timings: float) -> Mapping[str, Any]:
    """A last chunk with its figures."""
    return {"choices": [{"text": "。"}], "timings": timings}


async def test_every_generation_of_some_length_teaches_it_its_speed() -> None:
    slow = timed(prompt_n=100, prompt_per_second=3.0, predicted_n=20, predicted_per_second=0.5)
    engine = EmbeddedEngine(Llama("好", slow), "hand")
    before = engine.speed
    await words(engine, GenerateParams())
    assert engine.speed == before.blended(dataclasses.replace(before, prefill_tokens_per_s=3.0, decode_tokens_per_s=0.5))
    engine.close()


async def test_a_few_tokens_from_the_cache_teach_nothing() -> None:
    engine = EmbeddedEngine(Llama(timed(prompt_n=1, prompt_per_second=900.0, predicted_n=20, predicted_per_second=9.0)), "hand")
    before = engine.speed
    await words(engine, GenerateParams())
    assert engine.speed == before
    engine.close()


async def test_who_would_wait_behind_another_is_told_so() -> None:
    llama = Llama("好")
    engine = EmbeddedEngine(llama, "hand")
    await words(engine, GenerateParams())
    alone_ms = engine.first_clause_ms(QUESTION)
    engine._took_ms = 4000
    llama.may_go.clear()
    async with aclosing(engine.generate(QUESTION, GenerateParams())) as tokens, asyncio.TaskGroup() as tasks:
        first = tasks.create_task(anext(tokens))
        await asyncio.sleep(0.05)
        assert engine.first_clause_ms(QUESTION) == alone_ms + 4000
        llama.may_go.set()
        assert (await first).text == "好"
    engine.close()
    assert engine.first_clause_ms(QUESTION) == alone_ms
