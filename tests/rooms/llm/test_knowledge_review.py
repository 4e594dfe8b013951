"""What a reviewer objects to in entries that are well formed: sources that don't stand, answers that don't speak well."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest

from llm.knowledge import examine
from llm.knowledge_review import articles_of, review
from llm.laws import LawTable
from tests.rooms.llm.laws_for_tests import LABOUR, real_table, small_table

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = ROOT / "configs" / "schema" / "kb.schema.json"
TODAY = dt.date(2026, 12, 2)
RIGHT = f"{{law: {LABOUR}, article: 第八十二条, version: 2012-12-28}}"
WHERE = "a.yaml, line 7: entry contract, field source"


@pytest.fixture
def laws(tmp_path: Path) -> Iterator[LawTable]:
    with small_table(tmp_path) as table:
        yield table


def entry(folder: Path, *, source: str = RIGHT, answer: str = "要付二倍工资。", more: str = "") -> Path:
    (folder / "a.yaml").write_text(
        "entries:\n  - id: contract\n    topic: 合同\n    question: 没签合同怎么办\n"
        "    paraphrases: [公司不签合同, 一直没合同, 合同拖着不签, 不给合同]\n"
        f"    answer: {answer}\n    source: {source}\n{more}",
        "utf-8",
    )
    return folder


def told(folder: Path, laws: LawTable | None, *, today: dt.date = TODAY) -> list[str]:
    placed = examine(folder, schema=SCHEMA)
    assert placed.faults == ()
    return [f"{'note: ' if fault.note else ''}{fault}" for fault in review(placed.placed, laws, today)]


def test_an_entry_that_rests_on_the_law_in_force_passes_and_shows_its_article(tmp_path: Path, laws: LawTable) -> None:
    folder = entry(tmp_path)
    assert told(folder, laws) == []
    (each,) = examine(folder, schema=SCHEMA).placed
    ((ref, text),) = articles_of(each, laws, TODAY)
    assert str(ref) == f"《{LABOUR}》第八十二条（2012-12-28版）"
    assert "二倍" in text


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (
            "{law: 中华人民共和国噪声污染防治法, article: 第六十四条, version: 2021-12-24}",
            (
                "中华人民共和国噪声污染防治法 is repealed since 2026-08-15, replaced by 中华人民共和国生态环境法典; "
                "find the rule in 中华人民共和国生态环境法典 and cite its article"
            ),
        ),
        (
            "{law: 中华人民共和国乡镇企业法, article: 第一条, version: 1996-10-29}",
            "中华人民共和国乡镇企业法 is repealed; find the rule that holds now and cite its article",
        ),
        (
            f"{{law: {LABOUR}, article: 第九十九条, version: 2012-12-28}}",
            f"{LABOUR} has no 第九十九条; it ends with 第八十二条; look the article up again",
        ),
        ("{law: 劳动合同法, article: 第八十二条, version: 2012-12-28}", f"劳动合同法 is not its full name; write '{LABOUR}'"),
        (
            f"{{law: {LABOUR}, article: 第八十二条, version: 2007-06-29}}",
            (
                f"{LABOUR} of 2007-06-29 is not the text in force, which is of 2012-12-28; "
                "read 第八十二条 of that text again, then write 'version: 2012-12-28'"
            ),
        ),
        (
            "{law: 中华人民共和国医疗保障法, article: 第三条, version: 2026-08-28}",
            "中华人民共和国医疗保障法 is in force from 2027-01-01; begin the entry then with valid_from",
        ),
        (
            "{law: 中华人民共和国劳动合同保护法, article: 第三条, version: 2012-12-28}",
            f"there is no 中华人民共和国劳动合同保护法; write '{LABOUR}' if that is meant",
        ),
        (
            "{law: 物业管理条例, article: 第四十一条, version: 2018-03-19}",
            "物业管理条例 is not in the law table, which holds laws only; write a regulation as plain text: its title and article",
        ),
        (
            "噪声污染防治法第六十四条",
            (
                "cites 《噪声污染防治法》第六十四条: 中华人民共和国噪声污染防治法 is repealed since 2026-08-15, "
                "replaced by 中华人民共和国生态环境法典; look up what holds now, and cite that"
            ),
        ),
        (
            "劳动合同法第九十九条",
            f"cites 《劳动合同法》第九十九条: {LABOUR} ends with 第八十二条; look the article up again",
        ),
    ],
)
def test_a_source_that_does_not_stand_is_told_with_line_and_mend(tmp_path: Path, laws: LawTable, source: str, says: str) -> None:
    assert told(entry(tmp_path, source=source), laws) == [f"{WHERE}: {says}"]


def test_the_one_wrong_source_of_a_list_is_named(tmp_path: Path, laws: LawTable) -> None:
    wrong = RIGHT.replace("第八十二条", "第一百条")
    (fault,) = told(entry(tmp_path, source=f"\n      - {RIGHT}\n      - {wrong}"), laws)
    assert fault.startswith("a.yaml, line 9: entry contract, field source item 2: ")


def test_an_entry_for_next_year_rests_on_next_years_law(tmp_path: Path, laws: LawTable) -> None:
    source = "{law: 中华人民共和国医疗保障法, article: 第三条, version: 2026-08-28}"
    assert told(entry(tmp_path, source=source, answer="有医保。", more="    valid_from: 2027-01-01\n"), laws) == []


def test_an_entry_older_than_the_text_it_rests_on_is_noted(tmp_path: Path, laws: LawTable) -> None:
    (note,) = told(entry(tmp_path, more="    valid_from: 2008-01-01\n"), laws)
    assert note.startswith("note: a.yaml, line 8: entry contract, field valid_from: valid_from 2008-01-01 is before 2012-12-28")


def test_a_figure_that_no_article_holds_is_noted(tmp_path: Path, laws: LawTable) -> None:
    assert told(entry(tmp_path, answer="要付三倍工资。"), laws) == [
        (
            "note: a.yaml, line 6: entry contract, field answer: 三倍 is in none of its articles; "
            "check it; what the operator decides needs no article"
        )
    ]


def test_an_answer_that_cites_a_dead_law_is_refused(tmp_path: Path, laws: LawTable) -> None:
    (fault,) = told(entry(tmp_path, source="sample", answer="不行。《噪声污染防治法》第六十四条管这个。"), laws)
    assert fault.startswith("a.yaml, line 6: entry contract, field answer: cites 《噪声污染防治法》第六十四条")


def test_an_answer_that_begins_long_or_is_hard_to_speak_is_told_without_the_laws(tmp_path: Path) -> None:
    long = "您可以到劳动监察大队的窗口去投诉举报这家公司（带合同）。"
    assert told(entry(tmp_path, source="sample", answer=long), None) == [
        (
            f"a.yaml, line 6: entry contract, field answer: the first clause has {len(long)} characters, at most 15: {long}; "
            "begin with a short clause that answers"
        ),
        "note: a.yaml, line 6: entry contract, field answer: '（' is hard to speak; say it in words",
    ]


@pytest.mark.models
def test_the_sample_knowledge_base_rests_on_the_law_in_force(tmp_path: Path) -> None:
    with real_table(tmp_path) as laws:
        faults = [str(fault) for fault in review(examine(ROOT / "configs" / "kb").placed, laws, TODAY) if not fault.note]
    assert faults == []
