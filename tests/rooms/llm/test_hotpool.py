"""The hot pool: sure by score, by margin and by the gate, or silent."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from llm.gate import About, doubts
from llm.hotpool import HotPool
from llm.knowledge import load
from llm.retrieve import Retriever
from llm.types import AnsweringSettings, Entry, Passage

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = ROOT / "configs" / "schema" / "kb.schema.json"
ENTRIES = {entry.id: entry for entry in load(ROOT / "tests" / "rooms" / "llm" / "kb31", schema=SCHEMA)}
SEARCH = Retriever(tuple(ENTRIES.values()))
POOL = HotPool(AnsweringSettings(region="样例市"))


def about(question: str, entry_id: str) -> set[tuple[About, bool]]:
    return {(doubt.about, doubt.hard) for doubt in doubts(question, ENTRIES[entry_id], region="样例市")}


@pytest.mark.parametrize(
    ("question", "entry_id"),
    [
        ("能不能办居住证", "residence-permit-apply"),
        ("我不知道居住证怎么办", "residence-permit-apply"),
        ("居住证让我弄没了", "residence-permit-replace"),
        ("从别的省把社保转过来", "insurance-transfer"),
        ("商家不给开发票", "invoice-report"),
        ("吵得睡不着觉", "noise-construction"),
        ("公积金租房能提取不", "fund-rent"),
        ("样例市居住证怎么办理", "residence-permit-apply"),
        ("办居住证要身份证吗", "residence-permit-apply"),
        ("八十岁老人有什么补贴", "elder-allowance"),
        ("家里一个人没有电了", "power-outage"),
    ],
)
def test_no_doubt(question: str, entry_id: str) -> None:
    assert about(question, entry_id) == set()


@pytest.mark.parametrize(
    ("question", "entry_id", "doubt"),
    [
        ("没有租房能不能提取公积金", "fund-rent", (About.POLARITY, True)),
        ("不结婚能领结婚证吗", "marriage-register", (About.POLARITY, True)),
        ("户口怎么迁出本市", "household-move-in", (About.WORD, True)),
        ("买房怎么提取公积金", "fund-rent", (About.WORD, True)),
        ("居住证怎么住销", "residence-permit-apply", (About.WORD, True)),  # by sound: 注销
        ("房产证怎么办理", "residence-permit-apply", (About.WORD, True)),
        ("北京的居住证怎么办", "residence-permit-apply", (About.REGION, True)),
        ("养老金什么时候涨", "pension-years", (About.STRANGE, True)),
        ("办事大厅在哪里", "hall-hours", (About.STRANGE, True)),
        ("2019年住院报销多少", "medical-reimburse", (About.YEAR, True)),
        ("二零一九年住院报销多少", "medical-reimburse", (About.YEAR, True)),
        ("居住证3个工作日能好吗", "residence-permit-apply", (About.NUMBER, False)),
        ("居住证三十五个工作日能好吗", "residence-permit-apply", (About.NUMBER, False)),
        ("去年的居住证怎么办", "residence-permit-apply", (About.DATE, False)),
        ("电什么时候来", "power-outage", (About.POLARITY, False)),
    ],
)
def test_what_changes_the_meaning_is_a_doubt(question: str, entry_id: str, doubt: tuple[About, bool]) -> None:
    assert doubt in about(question, entry_id)


def test_a_number_without_sense_agrees_with_nothing() -> None:
    assert (About.NUMBER, False) in about("居住证十百十个工作日", "residence-permit-apply")


def test_accepts_a_sure_match_and_says_why() -> None:
    question = "居住证怎么办理"
    verdict = POOL.match(question, SEARCH.search(question))
    assert verdict.entry is ENTRIES["residence-permit-apply"]
    assert "score" in verdict.why


@pytest.mark.parametrize(
    ("scores", "why"),
    [((0.61, 0.1), "score below"), ((0.9, 0.85), "margin below"), ((), "nothing alike")],
)
def test_abstains_below_score_or_margin(scores: tuple[float, ...], why: str) -> None:
    passages = [Passage(entry=entry, score=score) for entry, score in zip(ENTRIES.values(), scores, strict=False)]
    verdict = POOL.match("居住证怎么办理", passages)
    assert verdict.entry is None
    assert why in verdict.why


def test_an_entry_that_nobody_reviewed_is_no_hot_answer_but_a_stored_one() -> None:
    cold = dataclasses.replace(ENTRIES["passport-apply"], hot=False)
    passages = [Passage(entry=cold, score=1.0)]
    assert POOL.match("护照怎么办理", passages).entry is None
    assert POOL.match_stored("护照怎么办理", passages).entry is cold


def test_a_soft_doubt_stops_the_hot_pool_only_a_hard_one_both() -> None:
    entry: Entry = ENTRIES["residence-permit-apply"]
    passages = [Passage(entry=entry, score=1.0)]
    assert POOL.match("居住证3个工作日能好吗", passages).entry is None
    assert POOL.match_stored("居住证3个工作日能好吗", passages).entry is entry
    assert POOL.match_stored("北京的居住证怎么办", passages).entry is None
    assert "gate region:北京" in POOL.match_stored("北京的居住证怎么办", passages).why
