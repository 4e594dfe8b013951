"""Intents: trained from files and entries, calibrated, and only as sure as they were right on texts that they had not seen."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm import knowledge
from llm.intents import ASK_HUMAN, IntentModel, IntentsWrong, features
from llm.intents_build import Fit, built_intents, read_intents, train
from llm.privacy import CallMasker
from llm.types import Entry, Intent, MaskedText

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
SCHEMA = CONFIGS / "schema" / "intents.schema.json"
ENTRIES = knowledge.load(CONFIGS / "kb", today=dt.date(2026, 12, 2))
Trained = tuple[IntentModel, tuple[Fit, ...]]


def masked(words: str) -> MaskedText:
    return CallMasker(mask_budget_ms=5_000).mask(words)


@pytest.fixture(scope="module")
def trained() -> Trained:
    """From the shipped files, about ten seconds."""
    return train(read_intents(CONFIGS / "kb" / "intents", ENTRIES))


@pytest.fixture(scope="module")
def ask(trained: Trained) -> Callable[[str], Intent]:
    return lambda words: trained[0].classify(masked(words))


# ---------------------------------------------------------------- the shipped intents


@pytest.mark.parametrize(
    ("words", "matter"),
    [
        ("我想问问公积金贷款的事", "housing_fund"),
        ("老板三个月没发工资了", "labour"),
        ("楼上装修从早到晚地敲", "noise"),
        ("孩子该上小学了怎么报名", "education"),
        ("宝宝的出生证明弄丢了", "birth"),
        ("我妈八十五了有什么补贴没有", "elderly"),
        ("去香港要办什么证件", "travel_documents"),
        ("居住正快到期了", "residence_permit"),  # 居住证, as a recogniser writes it
        ("公鸡金怎么提", "housing_fund"),  # 公积金
        ("我前几天反映的事有没有下文", "ticket_progress"),
        ("帮我接一个真人", ASK_HUMAN),
        ("给我讲个故事吧", "out_of_scope"),
    ],
)
def test_what_a_call_is_about(ask: Callable[[str], Intent], words: str, matter: str) -> None:
    assert ask(words).matter.name == matter


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("请问这个怎么申请", "consult"),
        ("我要投诉你们窗口的人态度恶劣", "complain"),
        ("我要举报一家黑作坊", "report"),
        ("我建议在这里加一个路口的灯", "suggest"),
        ("特别感谢你们帮了大忙要表扬一下", "praise"),
    ],
)
def test_what_a_caller_wants(ask: Callable[[str], Intent], words: str, kind: str) -> None:
    assert ask(words).kind.name == kind


def test_it_is_as_good_as_is_said_on_wordings_that_it_had_not_seen(trained: Trained) -> None:
    matter, kind = trained[1]
    assert (matter.axis, kind.axis) == ("matter", "kind")
    assert matter.accuracy > 0.7
    assert matter.right >= 0.945
    assert matter.kept > 0.4
    assert matter.calibration_error < 0.08


def test_every_entry_of_the_sample_says_what_it_is_about() -> None:
    assert [entry.id for entry in ENTRIES if not entry.intent] == []


@pytest.mark.parametrize("words", ["", "。。。", "〈手机号·1〉", "αβγ", "\u2028"])
def test_of_nothing_known_nothing_is_sure(trained: Trained, words: str) -> None:
    assert not trained[0].classify(masked(words)).matter.is_sure


@settings(max_examples=60, deadline=None)
@given(words=st.text(max_size=200))
def test_any_text_has_probabilities(trained: Trained, words: str) -> None:
    shares = trained[0].matter.probabilities(features(words))
    assert np.isfinite(shares).all()
    assert float(shares.sum()) == pytest.approx(1, abs=1e-4)


def test_a_model_written_and_read_says_the_same(trained: Trained, tmp_path: Path) -> None:
    trained[0].write(tmp_path / "model.npz")
    read = IntentModel.read(tmp_path / "model.npz")
    for words in ("公积金怎么取", "有人半夜施工", "喂"):
        one, other = trained[0].classify(masked(words)), read.classify(masked(words))
        assert one.matter.name == other.matter.name
        assert one.matter.confidence == pytest.approx(other.matter.confidence, abs=0.01)


# ---------------------------------------------------------------- building


def small(folder: Path, **matters: list[str]) -> Path:
    """Two files of intents. JSON is YAML."""
    folder.mkdir(parents=True, exist_ok=True)
    for axis, intents in (("matter", matters), ("kind", {"consult": list("怎么办理呢"), "praise": list("表扬感谢好")})):
        document = {"axis": axis, "intents": [{"name": n, "title": n + "类", "examples": e} for n, e in intents.items()]}
        (folder / f"{axis}.yaml").write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    return folder


WATER, POWER = ["停水了", "水管坏了", "水表", "没水", "水压小"], ["停电了", "跳闸", "电表坏了", "没电", "电费"]


def test_it_is_built_once_and_again_when_an_example_changes(tmp_path: Path) -> None:
    told: list[str] = []
    folder = small(tmp_path / "intents", water=WATER, power=POWER)
    for _ in range(2):
        model = built_intents(folder, (), tmp_path / "cache", schema=SCHEMA, tell=told.append)
        assert model.classify(masked("家里停水了")).matter.name == "water"
    assert len(told) == 1
    small(folder, water=[*WATER, "自来水浑"], power=POWER)
    built_intents(folder, (), tmp_path / "cache", schema=SCHEMA, tell=told.append)
    assert len(told) == 2


def test_a_broken_model_in_the_cache_is_made_again(tmp_path: Path) -> None:
    folder = small(tmp_path / "intents", water=WATER, power=POWER)
    built_intents(folder, (), tmp_path / "cache", schema=SCHEMA)
    [model] = (tmp_path / "cache").iterdir()
    model.write_bytes(model.read_bytes()[:300])
    told: list[str] = []
    built_intents(folder, (), tmp_path / "cache", schema=SCHEMA, tell=told.append)
    assert len(told) == 1
    assert IntentModel.read(model)


def test_entries_are_examples_of_the_intent_that_they_name(tmp_path: Path) -> None:
    folder = small(tmp_path / "intents", water=WATER, power=POWER)
    entry = Entry(id="a", topic="t", question="龙头", paraphrases=("阀门",), answer="x", source="s", intent="water")
    assert {e.text for e in read_intents(folder, [entry], schema=SCHEMA).examples["matter"]} >= {"龙头", "阀门"}


def wrong(tmp_path: Path, folder: Path, *entries: Entry) -> str:
    with pytest.raises(IntentsWrong) as raised:
        built_intents(folder, entries, tmp_path / "cache", schema=SCHEMA)
    return str(raised.value)


def test_an_entry_of_an_unknown_intent_is_named(tmp_path: Path) -> None:
    entry = Entry(id="a", topic="t", question="q", paraphrases=(), answer="x", source="s", intent="gas")
    folder = small(tmp_path / "intents", water=WATER, power=POWER)
    assert "entry a: no intent is called gas" in wrong(tmp_path, folder, entry)


def test_an_intent_with_too_few_examples_is_named(tmp_path: Path) -> None:
    assert "intent water of axis matter has 1 examples" in wrong(tmp_path, small(tmp_path / "intents", water=["水"], power=POWER))


def test_no_intents_at_all_say_where_to_start(tmp_path: Path) -> None:
    (tmp_path / "intents").mkdir()
    assert "no intents of axis matter" in wrong(tmp_path, tmp_path / "intents")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("axis: [", "not valid YAML"),
        ("axis: colour\nintents: []", "axis"),
        ("axis: matter", "'intents' is a required property"),
        ("axis: matter\nintents: [{name: a, title: 甲甲, examples: [x], extra: 1}]", "intents.1"),
        ("axis: matter\nintents: [{name: water, title: 甲甲, examples: [x]}, {name: water, title: 乙乙, examples: [y]}]", "twice"),
    ],
)
def test_a_broken_file_is_named_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    folder = tmp_path / "intents"
    folder.mkdir()
    (folder / "own.yaml").write_text(text, "utf-8")
    message = wrong(tmp_path, folder)
    assert message.startswith(("own.yaml: ", "own.yaml, line "))
    assert told in message
