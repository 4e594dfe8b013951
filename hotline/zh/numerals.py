"""Mandarin numerals: figures ↔ their readings, digit strings, and capitals for money. Knows nothing of the text around them.

Which reading a figure takes (quantity, count, digits) is the caller's decision, for it depends on what the figure is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from types import MappingProxyType

_DIGITS = "零一二三四五六七八九"
_PLACES = ((1000, "千"), (100, "百"), (10, "十"))
_GROUPS = ((10**8, "亿"), (10**4, "万"))
_LIMIT = 10**16

_FORMS = {
    "0": "零〇○洞",
    "1": "一壹弌幺",
    "2": "二贰貳弍两兩",
    "3": "三叁叄弎",
    "4": "四肆",
    "5": "五伍",
    "6": "六陆陸",
    "7": "七柒拐",
    "8": "八捌",
    "9": "九玖勾",
}
DIGIT_OF: Mapping[str, str] = MappingProxyType({
    form: digit for digit, forms in _FORMS.items() for form in (digit, chr(0xFF10 + int(digit)), *forms)
})
"""Every written or spoken form of one digit → the digit. 两, 陆, 伍, 洞, 拐 and 勾 are words and names too."""


# ---------------------------------------------------------------- figures → readings


def _section(n: int) -> str:
    """1 to 9999, every 一 spoken: 15 → 一十五."""
    text, gap = "", False
    for worth, place in (*_PLACES, (1, "")):
        digit, n = divmod(n, worth)
        if digit:
            text += ("零" if gap and text else "") + _DIGITS[digit] + place
        gap = not digit
    return text


def _whole(n: int) -> str:
    """1 and up, every 一 spoken."""
    for worth, name in _GROUPS:
        if n >= worth:
            head, rest = divmod(n, worth)
            if not rest:
                return _whole(head) + name
            return _whole(head) + name + ("零" if rest < worth // 10 else "") + _whole(rest)
    return _section(n)


def _parts(n: int | Decimal | str) -> tuple[str, str, str]:
    """Sign (负 or nothing), whole digits and decimals of a figure."""
    try:
        value = Decimal(unicodedata.normalize("NFKC", n).replace(",", "") if isinstance(n, str) else n)
    except InvalidOperation:
        raise ValueError("not a figure") from None
    if not value.is_finite() or abs(value) >= _LIMIT:
        raise ValueError("no reading for this figure: it must be finite and below 10^16")
    whole, _, decimals = f"{abs(value):f}".partition(".")
    return "负" if value < 0 else "", whole, decimals


def read_number(n: int | Decimal | str) -> str:
    """A quantity: 10500 → 一万零五百, -15 → 负十五, "2.50" → 二点五零. Raises ValueError for what is no figure."""
    sign, whole, decimals = _parts(n)
    text = _whole(int(whole)) if int(whole) else "零"
    if text.startswith("一十"):
        text = text[1:]
    return sign + text + ("点" + read_digits(decimals) if decimals else "")


# 两 stands for a lone 二, for 二 before 千, for a lone 二 before 万 or 亿, and before 百 where the number begins
_COUNTED_TWO = re.compile("^二(?=$|百)|二(?=千)|(?:^|(?<=[亿万])|(?<=[亿万]零))二(?=[万亿])")


def read_count(n: int | Decimal | str) -> str:
    """A number before a measure word: 2 → 两, 200 → 两百, 22000 → 两万两千, 12 → 十二, 2.5 → 二点五."""
    sign, whole, decimals = _parts(n)
    return read_number(n) if decimals else sign + _COUNTED_TWO.sub("两", read_number(whole))


def read_digits(digits: str, *, phone: bool = False) -> str:
    """Digits one by one: 138 → 一三八, on the phone 幺三八. Other characters stay."""
    names = _DIGITS.replace("一", "幺") if phone else _DIGITS
    return "".join(names[int(d)] if d in "0123456789" else d for d in unicodedata.normalize("NFKC", digits))


_TO_CAPITALS = str.maketrans(_DIGITS + "十百千", "零壹贰叁肆伍陆柒捌玖拾佰仟")


def rmb_capitals(amount: Decimal) -> str:
    """An amount in capitals: 32500 → 人民币叁万贰仟伍佰元整, 10.5 → 人民币壹拾元伍角整, 300.03 → 人民币叁佰元零叁分.

    整 follows 元 and 角, never 分; 负 stands before a debt. Raises ValueError for an amount with fractions of a cent.
    """
    sign, whole, decimals = _parts(amount)
    jiao, fen, *finer = (*map(int, decimals), 0, 0)
    if any(finer):
        raise ValueError("an amount in capitals has whole cents: round it to two decimals")
    if not Decimal(amount):
        sign = ""
    text = _whole(int(whole)) + "元" if int(whole) else ""
    if jiao:
        text += _DIGITS[jiao] + "角"
    elif fen and text:
        text += "零"
    text += _DIGITS[fen] + "分" if fen else "整"
    return "人民币" + sign + (text if text != "整" else "零元整").translate(_TO_CAPITALS)


# ---------------------------------------------------------------- readings → figures

_ZERO = "零〇"
_PLACE_FORMS = str.maketrans(dict(zip("拾佰仟萬億負點", "十百千万亿负点", strict=True)) | {"廿": "二十", "卅": "三十"})
_ONE_TO_NINE = "".join(form for form, digit in DIGIT_OF.items() if digit != "0" and form not in "幺拐勾")
_IN_PLACES = re.compile(
    f"(?:(?P<d1000>[{_ONE_TO_NINE}])千)?(?:(?P<d100>[{_ONE_TO_NINE}])百)?"
    f"(?:(?P<skip>[{_ZERO}])?(?P<ten>(?P<d10>[{_ONE_TO_NINE}])?十))?(?:(?P<zero>[{_ZERO}])?(?P<d1>[{_ONE_TO_NINE}]))?"
)
_ARABIC = re.compile(r"(?:\d{1,12}|\d{1,3}(?:,\d{3}){1,4})(?:\.\d{1,8})?", re.ASCII)
_SAID_DECIMAL = re.compile(f"(?P<whole>[^点]+)点(?P<decimals>[{''.join(DIGIT_OF)}]{{1,8}})")
_LONGEST = 64  # characters; no number below 10^16 is longer, and the parser recurses


def _positional(text: str) -> int | None:
    """Digits said one by one: 二零二六 → 2026. Two alone (三四个) mean *three or four* unless a 零 or 幺 shows that they don't."""
    if not all(char in DIGIT_OF for char in text):
        return None
    if len(text) > 1 and any(char in "两兩" for char in text):
        return None
    if len(text) == 2 and not any(char in "零〇○洞幺" for char in text):  # noqa: PLR2004  said just above
        return None
    return int("".join(DIGIT_OF[char] for char in text))


def _in_places(text: str) -> int | None:
    """A number below 10 000 with its places named; a last digit alone counts tenths of the place before: 两百五 → 250."""
    found = _IN_PLACES.fullmatch(text)
    if not found or not text:
        return None
    if found["skip"] and (found["d100"] or not found["d1000"]):
        return None
    if found["zero"] and (found["ten"] or not (found["d1000"] or found["d100"])):
        return None
    value, last = 0, 1
    for worth in (1000, 100):
        if digit := found[f"d{worth}"]:
            value, last = value + int(DIGIT_OF[digit]) * worth, worth
    if found["ten"]:
        value, last = value + int(DIGIT_OF[found["d10"] or "1"]) * 10, 10
    if found["d1"]:
        shorthand = last > 1 and not found["zero"]
        value += int(DIGIT_OF[found["d1"]]) * (last // 10 if shorthand else 1)
    return value


def _coefficient(text: str) -> Decimal | None:
    """What stands before 万 or 亿: 三千五百, 3.5, 三点五."""
    if _ARABIC.fullmatch(text):
        return Decimal(text.replace(",", ""))
    if found := _SAID_DECIMAL.fullmatch(text):
        whole = 0 if found["whole"] in _ZERO else _in_places(found["whole"])
        decimals = "".join(DIGIT_OF[char] for char in found["decimals"])
        return None if whole is None else Decimal(f"{whole}.{decimals}")
    return _grouped(text)


def _rest(text: str, worth: int) -> Decimal | None:
    """What stands after 万 or 亿: a digit alone counts thousands or ten millions (一万二 → 12000), after 零 it counts itself."""
    if not text:
        return Decimal(0)
    if text[0] not in _ZERO and len(text) == 1:
        digit = _in_places(text)
        return None if digit is None else Decimal(digit * worth // 10)
    value = _coefficient(text[1:] if text[0] in _ZERO else text)
    return value if value is not None and value < worth and value == int(value) else None


def _grouped(text: str) -> Decimal | None:
    for worth, name in _GROUPS:
        head, found, tail = text.rpartition(name)
        if found:
            if name in head:  # 一万三十万
                return None
            coefficient, rest = _coefficient(head), _rest(tail, worth)
            return coefficient * worth + rest if coefficient and rest is not None else None
    value = _in_places(text)
    return None if value is None else Decimal(value)


def parse_number(hanzi: str) -> int | None:
    """The whole number that a reading says, None for anything else.

    一万零五百 → 10500, 两百五 → 250, 一万二 → 12000, 3万5 → 35000, 三点五万 → 35000, 叁佰 → 300, 二零二六 → 2026, 负三 → -3.
    None for what is no whole number (三点五), for *three or four* (三四, 三五万), for a bare place (百, 万) and from 10^16.
    """
    text = unicodedata.normalize("NFKC", hanzi).translate(_PLACE_FORMS)
    sign = -1 if text[:1] in {"负", "-"} else 1
    text = text[1:] if sign < 0 else text
    if not text or len(text) > _LONGEST:
        return None
    value: Decimal | int | None = None if text.isascii() else _positional(text)
    if value is None:
        value = _coefficient(text)
    return sign * int(value) if value is not None and value == int(value) and value < _LIMIT else None
