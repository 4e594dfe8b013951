"""Wrong characters against what was really said: what counts as the same, and what is counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline.cer import Errors, errors, normalised, total


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("居住证，怎么办？", "居住证怎么办"),
        ("一百二十三元", "123元"),
        ("幺二三元", "123 元"),
        ("三万五", "35000"),
        ("3万5千", "35,000"),
        ("百分之三点五", "3.5%"),
        ("兩百塊", "200块"),
        ("ＶＩＰ 卡", "vip卡"),
        ("我的手机号是〈手机号·1〉。", "我的手机号是〈手机号·2〉"),
        ("我叫〈姓名·1〉", "我叫〈内容·1〉"),
    ],
)
def test_what_is_said_alike_is_the_same(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)
    assert errors(one, other).edits == 0


def test_each_wrong_character_counts_and_a_placeholder_is_one() -> None:
    assert errors("社保卡丢了怎么办", "社保卡丢怎么班") == Errors(edits=2, characters=8)
    assert errors("我的号码是〈手机号·1〉", "我的号码是") == Errors(edits=1, characters=6)
    assert errors("我的号码是〈手机号·1〉", "") == Errors(edits=6, characters=6)


def test_nothing_to_compare_with_gives_no_rate() -> None:
    assert errors("……", "喂").rate is None
    assert total([]).rate is None


def test_long_texts_weigh_more() -> None:
    assert total([Errors(edits=1, characters=1), Errors(edits=0, characters=9)]).rate == 0.1


@given(st.text(max_size=80))
def test_any_text_is_itself(text: str) -> None:
    assert errors(text, text).edits == 0
    assert normalised(normalised(text)) == normalised(text)
