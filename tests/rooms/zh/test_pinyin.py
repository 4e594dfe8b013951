"""Sound: one syllable for each character, and the classes that a line and an accent blur."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline.zh.pinyin import fuzzy, syllables


def test_a_hanzi_gives_a_toneless_syllable_and_the_rest_stays() -> None:
    assert syllables("公租房A1，Ok") == ["gong", "zu", "fang", "a", "1", "，", "o", "k"]
    assert syllables("女略") == ["nv", "lve"]
    assert syllables("") == []


def test_a_character_with_two_readings_takes_its_words() -> None:
    assert syllables("重庆") == ["chong", "qing"]
    assert syllables("重要") == ["zhong", "yao"]
    assert syllables("银行不行") == ["yin", "hang", "bu", "xing"]


@given(st.one_of(st.text(), st.text(alphabet="重庆银行长大了乐〇㐀𠀀嗯，A1 \n", max_size=40)))
def test_syllables_and_characters_go_side_by_side(text: str) -> None:
    assert len(syllables(text)) == len(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("zhi", "zi"),
        ("chi", "ci"),
        ("shi", "si"),
        ("nan", "lan"),
        ("fu", "hu"),
        ("ying", "yin"),
        ("sheng", "sen"),
        ("zhuang", "zuan"),
        ("ang", "an"),
        ("niang", "lian"),
    ],
)
def test_what_a_line_blurs_is_one(one: str, other: str) -> None:
    assert fuzzy(one) == fuzzy(other)


@pytest.mark.parametrize(("one", "other"), [("zi", "ci"), ("gong", "gon"), ("ji", "zi"), ("er", "e"), ("ban", "pan"), ("1", "2")])
def test_what_it_does_not_blur_stays_apart(one: str, other: str) -> None:
    assert fuzzy(one) != fuzzy(other)


@given(st.text(max_size=8))
def test_a_class_is_its_own_class(syllable: str) -> None:
    assert fuzzy(syllable) == fuzzy(syllable)
    assert bool(fuzzy(syllable)) == bool(syllable)
