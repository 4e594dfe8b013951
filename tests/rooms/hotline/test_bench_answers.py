"""`hotline bench answers`: it asks at its rate, measures what was asked, and writes its figures."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hotline import bench_retrieval
from hotline.bench_answers import MIXES, NothingToAsk, bench_answers, hot_questions, other_questions, spread_ms
from hotline.config import Settings
from hotline.errors import ModelMissing
from hotline.paths import configs_dir
from llm import knowledge
from llm.types import AnsweringSettings

ENTRY = """
  - id: {id}
    topic: 居住证
    question: {question}
    paraphrases: [{question}请问, 我想问{question}, 请问一下{question}, 麻烦问{question}]
    answer: 可以办理。请带身份证到派出所。
    source: sample
    hot: {hot}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A knowledge base of two entries, one of them hot."""
    folder = tmp_path / "kb"
    folder.mkdir()
    shutil.copytree(configs_dir() / "schema", tmp_path / "schema")
    (folder / "10-x.yaml").write_text(
        "entries:"
        + ENTRY.format(id="apply", question="居住证怎么办理", hot="true")
        + ENTRY.format(id="lost", question="身份证丢了怎么补", hot="false"),
        "utf-8",
    )
    return folder


def settings_for(folder: Path) -> Settings:
    return replace(Settings(), answering=AnsweringSettings(knowledge_dir=str(folder)))


async def test_every_kind_of_traffic_is_measured(small: Path, tmp_path: Path) -> None:
    told: list[str] = []
    await bench_answers(settings_for(small), rate_per_s=50, seconds=1, out_dir=tmp_path / "out", sizes=(200,), tell=told.append)
    report = json.loads((tmp_path / "out" / "answers.json").read_text("utf-8"))
    assert set(report["figures"]) == {mix.name for mix in MIXES}
    assert all(figure["n"] == 50 and 0 < figure["p50"] <= figure["p99"] for figure in report["figures"].values())
    assert any("mixed, 70 % hot" in line and "40 / 150" in line for line in told)
    (found,) = report["retrieval"]
    assert (found["passages"], found["questions"]) == (200, 4)
    assert 0 < found["p50_ms"] <= found["p99_ms"]
    assert any("200 passages" in line for line in told)


async def test_without_the_law_table_it_says_what_to_pull(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> Path:
        raise ModelMissing("china-laws is not here", what_to_do="hotline models pull china-laws")

    monkeypatch.setattr(bench_retrieval, "resolve", missing)
    told: list[str] = []
    await bench_answers(settings_for(small), rate_per_s=50, seconds=1, out_dir=tmp_path, tell=told.append)
    assert "hotline models pull china-laws" in told[-1]
    assert json.loads((tmp_path / "answers.json").read_text("utf-8"))["retrieval"] == []


def test_the_test_set_gives_the_questions_that_no_entry_has(small: Path) -> None:
    entries = knowledge.load(small, schema=configs_dir() / "schema" / "kb.schema.json")
    assert len(hot_questions(entries)) == 5
    assert other_questions(entries, small)[0] == "身份证丢了怎么补请问"
    (small / "tests").mkdir()
    (small / "tests" / "own.jsonl").write_text('{"query": "证没了咋整", "want": "lost"}\n\n', "utf-8")
    assert other_questions(entries, small) == ["证没了咋整"]


async def test_without_hot_entries_it_says_what_is_missing(small: Path, tmp_path: Path) -> None:
    file = small / "10-x.yaml"
    file.write_text(file.read_text("utf-8").replace("hot: true", "hot: false"), "utf-8")
    with pytest.raises(NothingToAsk):
        await bench_answers(settings_for(small), rate_per_s=50, seconds=1, out_dir=tmp_path, tell=lambda _: None)


def test_a_spread_has_mean_and_percentiles() -> None:
    assert spread_ms([1.0, 2.0, 3.0]) == {"n": 3, "mean": 2.0, "p50": 2.0, "p95": 2.9, "p99": 2.98}
