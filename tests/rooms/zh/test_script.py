"""Traditional to simplified: OpenCC's result, character for character."""

from __future__ import annotations

import opencc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline.zh.script import simplify


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("請問申請公租房需要準備哪些材料", "请问申请公租房需要准备哪些材料"),
        ("麵條後面", "面条后面"),
        ("一目瞭然，瞭望", "一目了然，瞭望"),
        ("乾隆年間，乾淨", "乾隆年间，干净"),
        ("壹貳叄陸萬億", "壹贰叁陆万亿"),
        ("已经是简体 ABC 123", "已经是简体 ABC 123"),
        ("", ""),
    ],
)
def test_simplified(traditional: str, simplified: str) -> None:
    assert simplify(traditional) == simplified


@given(st.text())
def test_a_character_stays_a_character(text: str) -> None:
    assert len(simplify(text)) == len(text)


@given(st.text(alphabet="請問乾隆瞭解望計畫藉口重覆項鍊答於是後麼著裏，一目了然abc", max_size=30))
def test_it_is_what_opencc_says(text: str) -> None:
    assert simplify(text) == opencc.OpenCC("t2s").convert(text)
