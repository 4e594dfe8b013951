"""Numerals: what a caller says and hears for a figure."""

from __future__ import annotations

import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline.zh.numerals import DIGIT_OF, parse_number, read_count, read_digits, read_number, rmb_capitals

ANY_WHOLE = st.integers(0, 16).flatmap(lambda digits: st.integers(0, max(10**digits - 1, 0)))


@pytest.mark.parametrize(
    ("figure", "reading"),
    [
        (0, "零"),
        (10, "十"),
        (15, "十五"),
        (110, "一百一十"),
        (1015, "一千零一十五"),
        (10500, "一万零五百"),
        (100015, "十万零一十五"),
        (12345, "一万二千三百四十五"),
        (1203000, "一百二十万三千"),
        (10**8 + 5, "一亿零五"),
        (350_000_000, "三亿五千万"),
        (10**12, "一万亿"),
        (-15, "负十五"),
        (Decimal("2.5"), "二点五"),
        (Decimal("1E+3"), "一千"),
        ("2.50", "二点五零"),
        ("0.05", "零点零五"),
        ("-0.5", "负零点五"),
        ("28,000", "二万八千"),
        ("１２", "十二"),
    ],
)
def test_a_figure_is_read_as_a_quantity(figure: int | Decimal | str, reading: str) -> None:
    assert read_number(figure) == reading


@pytest.mark.parametrize(
    ("figure", "reading"),
    [
        (2, "两"),
        (-2, "负两"),
        (12, "十二"),
        (20, "二十"),
        (22, "二十二"),
        (102, "一百零二"),
        (200, "两百"),
        (220, "两百二十"),
        (1200, "一千二百"),
        (2222, "两千二百二十二"),
        (12000, "一万两千"),
        (20000, "两万"),
        (220000, "二十二万"),
        (1020000, "一百零二万"),
        (200_000_000, "两亿"),
        (100_020_000, "一亿零两万"),
        (Decimal("2.5"), "二点五"),
        ("2000", "两千"),
    ],
)
def test_two_is_liang_where_people_say_so(figure: int | Decimal | str, reading: str) -> None:
    assert read_count(figure) == reading


@pytest.mark.parametrize("nonsense", ["", "abc", "1.2.3", "NaN", "Infinity", 10**16, "三"])
def test_what_is_no_figure_is_refused_and_not_repeated(nonsense: int | str) -> None:
    with pytest.raises(ValueError, match="figure") as refused:
        read_number(nonsense)
    assert not str(nonsense) or str(nonsense) not in str(refused.value)


def test_digits_are_read_one_by_one_and_one_is_yao_on_the_phone() -> None:
    assert read_digits("138") == "一三八"
    assert read_digits("138", phone=True) == "幺三八"
    assert read_digits("０５５１-12A", phone=True) == "零五五幺-幺二A"


# ---------------------------------------------------------------- readings back to figures


@given(ANY_WHOLE)
def test_every_reading_is_understood(figure: int) -> None:
    assert parse_number(read_number(figure)) == figure
    assert parse_number(read_count(figure)) == figure
    assert parse_number(read_number(-figure)) == -figure


@given(st.integers(1, 10**12 - 1))
def test_capitals_are_understood(figure: int) -> None:
    assert parse_number(rmb_capitals(Decimal(figure)).removeprefix("人民币").removesuffix("元整")) == figure


@pytest.mark.parametrize(
    ("said", "figure"),
    [
        ("十", 10),
        ("二十", 20),
        ("廿三", 23),
        ("卅", 30),
        ("一百一", 110),
        ("两百五", 250),
        ("一千零五", 1005),
        ("三千零五十", 3050),
        ("一千零十五", 1015),
        ("三千五", 3500),
        ("一万二", 12000),
        ("一万零二", 10002),
        ("一万二百", 10200),
        ("一亿二", 120_000_000),
        ("一万亿", 10**12),
        ("2万5千", 25000),
        ("3万5", 35000),
        ("3万2500", 32500),
        ("3.5万", 35000),
        ("三点五万", 35000),
        ("零点五万", 5000),
        ("12,000", 12000),
        ("１２００", 1200),
        ("叁萬貳仟伍佰", 32500),
        ("二零二六", 2026),
        ("二〇二六", 2026),
        ("幺幺零", 110),
        ("幺二三四五", 12345),
        ("零五", 5),
        ("两", 2),
        ("負三", -3),
        ("-12", -12),
    ],
)
def test_what_people_say_is_understood(said: str, figure: int) -> None:
    assert parse_number(said) == figure


NO_WHOLE_NUMBERS = """
    半 百 万 负 两百块 三点五 点五万 三四 三五万 两三 一二百 二百零五十 一百零 一万零 一万零零五 五百三千 一万三十万 一万二三
    三百零五百 零十五 1.5 1.23456万 1,00 一百万亿亿 万万万万万万万万万
"""


@pytest.mark.parametrize("said", ["", "一" * 17, "十" * 99, *NO_WHOLE_NUMBERS.split()])
def test_what_is_no_whole_number_is_none(said: str) -> None:
    assert parse_number(said) is None


@given(st.text(alphabet="零一二两三十百千万亿点负幺3.,五", max_size=80))
def test_any_string_of_numerals_is_a_number_in_range_or_none(said: str) -> None:
    figure = parse_number(said)
    assert figure is None or abs(figure) < 10**16


@given(st.text(max_size=40))
def test_any_text_is_answered(said: str) -> None:
    parse_number(said)


def test_digit_forms_cover_what_is_spoken_and_written() -> None:
    assert {DIGIT_OF[form] for form in "1１一壹幺"} == {"1"}
    assert {DIGIT_OF[form] for form in "0０零〇○洞"} == {"0"}
    assert (DIGIT_OF["两"], DIGIT_OF["拐"], DIGIT_OF["勾"]) == ("2", "7", "9")
    assert all(len(form) == 1 and digit in "0123456789" for form, digit in DIGIT_OF.items())
    assert not {"十", "么", "参"} & set(DIGIT_OF), "place names and everyday words are no digits"
    assert all(unicodedata.normalize("NFKC", form) in DIGIT_OF for form in DIGIT_OF)


# ---------------------------------------------------------------- money in capitals


@pytest.mark.parametrize(
    ("amount", "capitals"),
    [
        ("0", "零元整"),
        ("0.05", "伍分"),
        ("0.50", "伍角整"),
        ("1.23", "壹元贰角叁分"),
        ("10.5", "壹拾元伍角整"),
        ("300.03", "叁佰元零叁分"),
        ("1680.32", "壹仟陆佰捌拾元叁角贰分"),
        ("32500", "叁万贰仟伍佰元整"),
        ("32500.000", "叁万贰仟伍佰元整"),
        ("100005", "壹拾万零伍元整"),
        ("105000", "壹拾万伍仟元整"),
        ("10203040.50", "壹仟零贰拾万叁仟零肆拾元伍角整"),
        ("100000000", "壹亿元整"),
        ("1000000000005.01", "壹万亿零伍元零壹分"),
    ],
)
def test_an_amount_in_capitals(amount: str, capitals: str) -> None:
    assert rmb_capitals(Decimal(amount)) == "人民币" + capitals


@pytest.mark.parametrize(
    ("amount", "capitals"),
    [
        ("-1", "负壹元整"),
        ("-0.00", "零元整"),
        ("-32500.05", "负叁万贰仟伍佰元零伍分"),
        ("1000000000000", "壹万亿元整"),
        ("1000010000.10", "壹拾亿零壹万元壹角整"),
        ("9999999999999999.99", "玖仟玖佰玖拾玖万玖仟玖佰玖拾玖亿玖仟玖佰玖拾玖万玖仟玖佰玖拾玖元玖角玖分"),
        ("100000000.01", "壹亿元零壹分"),
        ("10000001", "壹仟万零壹元整"),
        ("0.05", "伍分"),
        ("110", "壹佰壹拾元整"),
    ],
)
def test_debts_and_large_amounts_have_capitals_too(amount: str, capitals: str) -> None:
    assert rmb_capitals(Decimal(amount)) == "人民币" + capitals


@pytest.mark.parametrize("amount", ["0.001", "-0.005", "NaN", "1E+16"])
def test_an_amount_that_has_no_capitals_is_refused(amount: str) -> None:
    with pytest.raises(ValueError, match=r"amount|figure"):
        rmb_capitals(Decimal(amount))
