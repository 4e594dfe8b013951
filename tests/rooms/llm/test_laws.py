"""The law table: names, articles, and what is in force on a day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.law_names import article_of, key_of
from llm.laws import LawTable, open_laws
from llm.types import KnowledgeWrong
from tests.rooms.llm.laws_for_tests import real_table, small_table, write_table

TODAY = dt.date(2026, 12, 2)
NEW_YEAR = dt.date(2027, 1, 1)


@pytest.fixture
def laws(tmp_path: Path) -> Iterator[LawTable]:
    with small_table(tmp_path) as table:
        yield table


@pytest.mark.parametrize(
    "name", ["劳动合同法", "中华人民共和国劳动合同法", "《劳动合同法》", "劳动合同法（2012年修正）", " 勞動合同法 "]
)
def test_a_law_is_found_however_it_is_named(laws: LawTable, name: str) -> None:
    law = laws.on(name, TODAY)
    assert law
    assert law.name == "中华人民共和国劳动合同法"


def test_an_amended_law_holds_from_its_own_date_not_from_that_of_its_first_version(laws: LawTable) -> None:
    law = laws.on("劳动合同法", TODAY)
    assert law
    assert (law.version, law.since) == (dt.date(2012, 12, 28), dt.date(2012, 12, 28))


def test_an_amendment_says_itself_when_it_comes_into_force(laws: LawTable) -> None:
    assert laws.on("网络安全法", dt.date(2025, 12, 31)) is None
    law = laws.on("网络安全法", NEW_YEAR)
    assert law
    assert law.since == dt.date(2026, 1, 1)


def test_the_old_text_holds_until_the_new_one_comes_into_force(laws: LawTable) -> None:
    before, after = laws.on("商标法", TODAY), laws.on("商标法", NEW_YEAR)
    assert before
    assert after
    assert (before.version.year, after.version.year) == (2019, 2026)
    assert laws.article(before, "第三十九条")
    assert laws.article(after, "第三十九条") is None


def test_a_law_of_next_year_is_not_in_force_yet(laws: LawTable) -> None:
    assert laws.on("医疗保障法", TODAY) is None
    assert laws.gone("医疗保障法", TODAY) is None
    assert laws.on("医疗保障法", NEW_YEAR)


def test_a_dead_law_knows_its_heir_and_its_day(laws: LawTable) -> None:
    assert laws.on("噪声污染防治法", dt.date(2026, 8, 14))
    assert laws.on("噪声污染防治法", dt.date(2026, 8, 15)) is None
    gone = laws.gone("噪声法", TODAY)
    assert gone
    assert (gone.by, gone.on) == ("中华人民共和国生态环境法典", dt.date(2026, 8, 15))
    in_no_table = laws.gone("环保法", TODAY)
    assert in_no_table
    assert in_no_table.by == "中华人民共和国生态环境法典"
    unknown_day = laws.gone("乡镇企业法", TODAY)
    assert unknown_day
    assert (unknown_day.by, unknown_day.on) == ("", None)


def test_an_inserted_article_is_not_its_neighbour(laws: LawTable) -> None:
    law = laws.on("刑法", TODAY)
    assert law
    assert "资助" in (laws.article(law, "第一百二十条之一") or "")
    assert "资助" not in (laws.article(law, "第一百二十条") or "")
    assert laws.last_article(law) == "第一百二十条"


def test_a_name_that_is_nearly_right_leads_to_the_right_one(laws: LawTable) -> None:
    assert laws.near("劳动合同保护法") == "中华人民共和国劳动合同法"
    assert laws.near("红楼梦") == ""


def test_the_copy_is_made_once_and_a_broken_table_is_told(tmp_path: Path) -> None:
    source = write_table(tmp_path / "laws.db")
    open_laws(source, tmp_path / "cache").close()
    (copy,) = (tmp_path / "cache").iterdir()
    made = copy.stat().st_mtime_ns
    open_laws(source, tmp_path / "cache").close()
    assert copy.stat().st_mtime_ns == made
    source.write_bytes(b"no table")
    with pytest.raises(KnowledgeWrong, match="hotline models verify china-laws"):
        open_laws(source, tmp_path / "cache")
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.parametrize(
    ("written", "article"),
    [
        ("82", "第八十二条"),
        ("第82条", "第八十二条"),
        ("第８２条", "第八十二条"),
        ("八十二", "第八十二条"),
        ("第一百〇六条", "第一百零六条"),
        ("1260条", "第一千二百六十条"),
        ("120条之一", "第一百二十条之一"),
        ("第一百二十条之二", "第一百二十条之二"),
        ("第零条", None),
        ("第三千条", None),
        ("附则", None),
    ],
)
def test_an_article_is_written_as_the_law_writes_it(written: str, article: str | None) -> None:
    assert article_of(written) == article


@given(st.text(max_size=60))
def test_no_name_and_no_number_breaks_anything(text: str) -> None:
    assert not set(key_of(f"《{text}》")) & set("《》 ")
    article = article_of(text)
    assert article is None or article_of(article) == article


@pytest.mark.models
def test_the_real_table_knows_what_changed_in_2026(tmp_path: Path) -> None:
    with real_table(tmp_path) as laws:
        assert laws.newest == dt.date(2026, 8, 28)
        heirs = {name: laws.gone(name, TODAY) for name in ("环境保护法", "噪声污染防治法", "婚姻法", "合同法", "增值税暂行条例")}
        assert {name: gone and gone.by.removeprefix("中华人民共和国") for name, gone in heirs.items()} == {
            "环境保护法": "生态环境法典",
            "噪声污染防治法": "生态环境法典",
            "婚姻法": "民法典",
            "合同法": "民法典",
            "增值税暂行条例": "增值税法",
        }
        coming = [name for name in ("商标法", "农业法", "医疗保障法") if (law := laws.texts(name)[-1]) and not law.in_force(TODAY)]
        assert coming == ["商标法", "农业法", "医疗保障法"]
        duty = laws.on("网络安全法", TODAY)
        assert duty
        assert "六个月" in (laws.article(duty, "第二十三条") or "")
