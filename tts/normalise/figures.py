"""Figures → their readings, with 两 and 二 in their places. Knows no kinds of spans: the rules call it."""

import re

from hotline.zh.numerals import read_count, read_digits, read_number

FIGURE = r"(?:\d{1,3}(?:,\d{3}){1,4}(?![\d,])|\d{1,15}(?!\d))(?:\.\d{1,10}(?![\d]))?"
"""A figure as written: 3,000 or 12 or 0.25."""

DASH = r"\s?(?P<dash>[-~—–]{1,2}|至|到)\s?"
SIGN_DASH = r"\s?[-~—–]{1,2}\s?"

_SHORT = 3  # from this many digits on, a name's digits are dictated one by one
_COUNTED = re.compile(
    r"多|余|来|几|[个位名人份件次天夜晚周倍岁项条家户套张本辆台部米斤克吨升种批页步处瓶箱袋支只间亩场组门所对双顿餐片粒杯盒回遍趟笔元块角万亿千百兆]"
    r"|小时|分钟|秒|公里|平方|立方|毫米|厘米|公斤|毫升|星期|年(?![级代度])|点(?![一二三四五六七八九零\d])|美元|欧元|英镑|港元|伏|瓦|赫"
    r"|(?:居|卧)室|室[一二两三四\d]厅|厅|卫(?!生)|把|束|枚|扇|辈|代人|层楼高|成(?![立为])|刻钟"
)


def to_word(found: re.Match[str]) -> str:
    """How a range's dash is read: as it is where it is a word already."""
    return found["dash"] if found["dash"] in {"至", "到"} else "到"


def plain(figure: str) -> str:
    """Without thousands' commas."""
    return figure.replace(",", "")


def one_by_one(digits: str) -> str:
    """Digits as dictated, 幺 for 1 where there are more than one."""
    return read_digits(digits, phone=len(digits) > 1)


def name(digits: str) -> str:
    """Digits within a name: B12 → 十二, G1234 → 幺二三四, 007 → 零零七."""
    return number(digits) if len(digits) < _SHORT and not digits.startswith("0") else one_by_one(digits)


def year(digits: str) -> str:
    """A calendar year: 2026 → 二零二六."""
    return read_digits(digits)


def number(figure: str, after: str = "") -> str:
    """A figure as a quantity. after: the words that follow, which decide whether 2 is 两 or 二."""
    figure = plain(figure)
    whole, _, fraction = figure.partition(".")
    if len(whole) > 1 and whole.startswith("0"):
        return one_by_one(whole) + ("点" + read_digits(fraction) if fraction else "")
    if fraction:
        return (read_number(whole) if len(whole) == 1 else read_count(whole)) + "点" + read_digits(fraction)
    if whole == "2":
        return "两" if _COUNTED.match(after) else "二"
    return read_count(whole)


def ordinal(figure: str) -> str:
    """After 第: 2 → 二, 200 → 二百."""
    return read_number(plain(figure))


def amount(figure: str, after: str) -> str:
    """Money: no zeros at the end of the decimals: 3,000.00 → 三千, 3.50 → 三点五."""
    figure = plain(figure)
    return number(figure.rstrip("0").rstrip(".") if "." in figure else figure, after)
