"""Mandarin numerals: figures ↔ their readings, digit strings, and capitals for money. Knows nothing of the text around them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from types import MappingProxyType

_DIGITS = "零一二三四五六七八九"
_CAPITALS = "零壹贰叁肆伍陆柒捌玖"
_PLACES = ((1000, "千"), (100, "百"), (10, "十"))
_LARGEST = 10**16

_FORMS = {
    "0": "零〇○洞",
    "1": "一壹弌幺么腰",
    "2": "二贰貳贰弍两兩俩",
    "3": "三叁參参弎",
    "4": "四肆",
    "5": "五伍",
    "6": "六陆陸",
    "7": "七柒拐",
    "8": "八捌",
    "9": "九玖勾",
}
DIGIT_OF: Mapping[str, str] = MappingProxyType(
    {form: digit for digit, forms in _FORMS.items() for form in (digit, chr(0xFF10 + int(digit)), *forms)}
)
"""Every spoken or written form of one digit → the digit."""


def _section(n: int) -> str:
    """1 to 9999, every 一 spoken: 一十五."""
    text, gap = "", False
    for worth, place in _PLACES:
        digit, n = divmod(n, worth)
        if digit:
            text += ("零" if gap and text else "") + _DIGITS[digit] + place
        gap = not digit
    if n:
        text += ("零" if gap and text else "") + _DIGITS[n]
    return text


def _whole(n: int) -> str:
    """1 and up, every 一 spoken."""
    for worth, name in ((10**8, "亿"), (10**4, "万")):
        if n >= worth:
            head, rest = divmod(n, worth)
            link = "零" if rest and rest < worth // 10 else ""
            return _whole(head) + name + link + (_whole(rest) if rest else "")
    return _section(n)


def _decimal(n: int | Decimal | str) -> Decimal:
    try:
        value = Decimal(unicodedata.normalize("NFKC", n).replace(",", "") if isinstance(n, str) else n)
    except InvalidOperation:
        raise ValueError("not a figure") from None
    if not value.is_finite() or abs(value) >= _LARGEST:
        raise ValueError("a figure that has no reading here: it must be finite and below 10^16")
    return value


def read_number(n: int | Decimal | str) -> str:
    """A figure as a quantity: 10500 → 一万零五百, 2.50 → 二点五零, -3 → 负三. Raises ValueError for what is no figure."""
    value = _decimal(n)
    whole, _, fraction = f"{abs(value):f}".partition(".")
    text = _whole(int(whole)) if int(whole) else "零"
    text = text.removeprefix("一") if text.startswith("一十") else text
    if fraction:
        text += "点" + "".join(_DIGITS[int(d)] for d in fraction)
    return ("负" if value < 0 else "") + text


def read_count(n: int | Decimal | str) -> str:
    """A figure before a measure word: 2 → 两, 200 → 两百, 12 → 十二, 20 → 二十."""
    text = read_number(n)
    if text == "二":
        return "两"
    out = list(text)
    for i, char in enumerate(out[:-1]):
        alone = i == 0 or out[i - 1] in "零负亿万" or (out[i - 1] not in "十百千点")
        if char == "二" and (out[i + 1] in "千万亿" and (alone or out[i + 1] == "千") or (out[i + 1] == "百" and i == 0)):
            out[i] = "两"
    return "".join(out)


def read_digits(digits: str, *, phone: bool = False) -> str:
    """Digits one by one: 138 → 一三八, on the phone 幺三八. Other characters stay."""
    names = _DIGITS.replace("一", "幺") if phone else _DIGITS
    return "".join(names[int(d)] if d in "0123456789" else d for d in unicodedata.normalize("NFKC", digits))


def parse_number(hanzi: str) -> int | None:
    """A reading's figure: 一万零五百 → 10500, 两百五 → 250, 一万二 → 12000; None for what is no number."""
    total, section, digit = 0, 0, 0
    last = 1
    for char in hanzi:
        if char in DIGIT_OF:
            digit = digit * 10 + int(DIGIT_OF[char])
            if digit == 0:
                last = 1
        elif char in "十百千拾佰仟":
            last = {"十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000}[char]
            section += (digit or 1) * last
            digit = 0
        elif char in "万萬亿億":
            last = 10**4 if char in "万萬" else 10**8
            total = (total + section + digit) * last
            section = digit = 0
        else:
            return None
    if not hanzi:
        return None
    return total + section + (digit * last // 10 if 0 < digit < 10 and last > 1 else digit)


def rmb_capitals(amount: Decimal) -> str:
    """人民币大写: 32500 → 人民币叁万贰仟伍佰元整, 300.03 → 人民币叁佰元零叁分."""
    value = _decimal(amount)
    cents = value * 100
    if value < 0 or cents != int(cents):
        raise ValueError("an amount in capitals is not negative and has whole cents")
    yuan, rest = divmod(int(cents), 100)
    jiao, fen = divmod(rest, 10)
    text = _whole(yuan) + "元" if yuan else ""
    if jiao:
        text += _DIGITS[jiao] + "角"
    elif fen and yuan:
        text += "零"
    text += _DIGITS[fen] + "分" if fen else "整" if text else "零元整"
    return "人民币" + text.translate(str.maketrans(_DIGITS + "十百千", _CAPITALS + "拾佰仟"))
