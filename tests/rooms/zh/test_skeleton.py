"""The skeleton: one form to match against, and the exact way back to what was said."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hotline.zh.numerals import DIGIT_OF
from hotline.zh.skeleton import _by_clusters, skeleton

MOBILE = "13800138000"
ANY_TEXT = st.one_of(st.text(), st.text(alphabet="1１①٣e\u0301\u0336\u200b\ufe0f\u20e3㎡½ﬁ瞭解\ud800\x00\n\t 한글계", max_size=60))


@given(ANY_TEXT)
@example("e" + "\u0301" * 50)
def test_every_character_leads_back_to_where_it_came_from(raw: str) -> None:
    plain = skeleton(raw)
    assert len(plain.text) == len(plain.starts) == len(plain.ends)
    assert all(0 <= start < end <= len(raw) for start, end in zip(plain.starts, plain.ends, strict=True))
    assert list(plain.starts) == sorted(plain.starts)
    assert list(plain.ends) == sorted(plain.ends)
    assert all(
        (left, right) == (after_left, after_right) or right <= after_left
        for (left, right), (after_left, after_right) in zip(
            zip(plain.starts, plain.ends, strict=True), zip(plain.starts[1:], plain.ends[1:], strict=True), strict=False
        )
    ), "two characters share their stretch or have stretches that do not overlap"


@given(st.text(alphabet="".join(DIGIT_OF) + "请问公租房 ，。abcXYZ", max_size=80))
def test_plain_text_changes_neither_length_nor_place(raw: str) -> None:
    plain = skeleton(raw)
    assert plain.starts == tuple(range(len(raw)))
    assert plain.ends == tuple(range(1, len(raw) + 1))


@given(ANY_TEXT)
def test_the_short_way_ends_where_the_long_one_does(raw: str) -> None:
    assert skeleton(raw) == _by_clusters(raw)


@pytest.mark.parametrize(
    "raw",
    [
        "１３８００１３８０００",
        "138\u200b0013\u200d8000",
        "\u202e13800138000\u202c",
        "1️⃣3️⃣8️⃣0️⃣0️⃣1️⃣3️⃣8️⃣0️⃣0️⃣0️⃣",
        "1\u03363\u03368\u03360\u03360\u03361\u03363\u03368\u03360\u03360\u03360\u0336",
        "①③⑧00①③⑧000",
        "١٣٨٠٠١٣٨٠٠٠",
        "𝟏𝟑𝟖𝟎𝟎𝟏𝟑𝟖𝟎𝟎𝟎",
        "138\x000013\x1b8000",
        "1\u00ad3\u00ad800138000",
    ],
)
def test_a_number_can_not_hide(raw: str) -> None:
    plain = skeleton(f"电话{raw}谢谢")
    found = plain.text.index(MOBILE)
    start, end = plain.raw_span(found, found + len(MOBILE))
    assert f"电话{raw}谢谢"[start:end].strip("\u202e\u202c") == raw.strip("\u202e\u202c")


def test_traditional_becomes_simplified_by_phrase_too() -> None:
    assert skeleton("請問，我想瞭解乾隆").text == "请问,我想了解乾隆"


def test_spoken_numerals_spaces_and_case_stay() -> None:
    assert skeleton("幺三八 零零 AbC").text == "幺三八 零零 AbC"


def test_one_character_that_becomes_two_keeps_one_place() -> None:
    plain = skeleton("50㎡以内")
    assert plain.text == "50m2以内"
    assert plain.raw_span(2, 4) == plain.raw_span(2, 3) == (2, 3)


def test_an_empty_span_leads_nowhere() -> None:
    plain = skeleton("一二三")
    for start, end in ((1, 1), (-1, 2), (0, 4)):
        with pytest.raises(IndexError):
            plain.raw_span(start, end)


def test_a_log_of_a_skeleton_shows_no_text() -> None:
    assert repr(skeleton(MOBILE)) == "Skeleton(characters=11)"
