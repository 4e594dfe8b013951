"""Cutting answers into clauses: whatever the pieces, the same clauses, and nothing lost."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llm.clauses import AT_MOST, ClauseCutter, clauses, cut

ALPHABET = "一二点三零百啊好办证，。！？；…、：:.,!?;0159%-—～〈〉手机号·”’）Noab \n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("可以办理。请带身份证，到派出所申请。", ["可以办理。", "请带身份证，到派出所申请。"]),
        ("不收费，请带身份证。", ["不收费，", "请带身份证。"]),
        ("好，请带身份证来办理。", ["好，请带身份证来办理。"]),  # two characters are no clause
        ("利率为3.25%，额度60万元。", ["利率为3.25%，", "额度60万元。"]),
        ("共１，０００元。请于9:00-17:30来。No.5窗口", ["共１，０００元。", "请于9:00-17:30来。", "No.5窗口"]),
        ("他说：“好的。”然后走了", ["他说：“好的。”", "然后走了"]),
        ("真的吗？！是的……好", ["真的吗？！", "是的……", "好"]),
        ("您的〈手机号·1〉，已经记下。", ["您的〈手机号·1〉，", "已经记下。"]),
        ("", []),
    ],
)
def test_where_it_cuts(text: str, expected: list[str]) -> None:
    assert clauses(text) == expected


def test_a_long_sentence_is_cut_at_a_comma_and_a_longer_one_by_force() -> None:
    first, second = clauses("请您带上身份证、户口簿和近期的免冠照片原件，到公安出入境窗口申请。")
    assert first.endswith("，")
    assert second == "到公安出入境窗口申请。"
    assert clauses("请带上身份证、户口簿、最近六个月拍的免冠照片原件两张、单位开的证明和申请表来窗口办理手续。")[0].endswith(
        "两张、"
    )
    assert [len(clause) for clause in clauses("啊" * 90)] == [AT_MOST, AT_MOST, 10]


def test_a_number_is_never_cut_even_at_the_limit() -> None:
    number = "13800138000"
    text = "啊" * (AT_MOST - 5) + number + "啊" * 10
    assert [clause for clause in clauses(text) if number in clause]
    spoken = "啊" * (AT_MOST - 3) + "一万二千三百四十五元整"
    assert [clause for clause in clauses(spoken) if "一万二千三百四十五" in clause]


def test_a_placeholder_is_never_cut_but_an_unclosed_bracket_stops_nothing() -> None:
    text = "啊" * (AT_MOST - 3) + "〈手机号·12〉好"
    assert [clause for clause in clauses(text) if "〈手机号·12〉" in clause]
    assert all(len(clause) <= AT_MOST + 25 for clause in clauses("〈" + "啊" * 200))


@given(st.text(ALPHABET, max_size=160), st.lists(st.integers(0, 160), max_size=12))
@example("利率为3.25%，额度60万元。", [4, 5, 9])
def test_any_split_gives_the_same_clauses_and_joined_they_are_the_input(text: str, places: list[int]) -> None:
    bounds = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    pieces = [text[a:b] for a, b in pairwise(bounds)]
    found = list(cut(pieces))
    assert found == clauses(text)
    assert "".join(found) == text
    assert all(found)


@given(st.text(ALPHABET, max_size=160))
def test_no_cut_goes_through_a_number_or_a_closed_placeholder(text: str) -> None:
    ends, at = set(), 0
    for clause in clauses(text)[:-1]:
        at += len(clause)
        ends.add(at)
    atoms = [*re.finditer(r"〈[^〈〉]{1,20}〉", text), *re.finditer(r"[0-9]+(?:[.,，:-][0-9]+)*", text)]
    through = [found for found in atoms if found.end() - found.start() <= 20 and ends & set(range(found.start() + 1, found.end()))]
    assert through == []


def test_a_cutter_can_be_used_again() -> None:
    cutter = ClauseCutter()
    assert [*cutter.feed("好的。请"), *cutter.flush()] == ["好的。", "请"]
    assert [*cutter.feed("不收费，请来"), *cutter.flush()] == ["不收费，", "请来"]
