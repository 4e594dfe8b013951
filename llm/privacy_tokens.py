"""Digit skeleton → tokens: digits in every spoken or written form, letters, fillers, separators. One linear pass.

Knows nothing of what a number means: privacy_numbers.py decides that. It never backtracks: one alternation of character classes and
fixed words, each tried once a position.
"""

from __future__ import annotations

import enum
import re
import unicodedata
from dataclasses import dataclass

from hotline.zh.numerals import DIGIT_OF, parse_number

BARRIER = "\ue000"  # stands for a placeholder that is there already: nothing is found in it, nothing looks across it


class Sort(enum.Enum):
    """What a token is to the run finder."""

    DIGIT = "digit"  # value: its digits, more than one for 四个零
    TEN = "ten"  # 八十八 may be two digits, if real digits stand beside it
    SOUND = "sound"  # 腰, 酒: a digit misheard, if real digits stand beside it
    LETTER = "letter"
    CROSS = "cross"  # the X that ends an identity number
    WORD = "word"  # other Latin letters
    FILLER = "filler"
    SEPARATOR = "separator"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Token:
    """One token of the skeleton. value: digits or letters it stands for."""

    sort: Sort
    start: int
    end: int
    value: str = ""


_DIGIT_CHARS = "".join(sorted(c for c in DIGIT_OF if len(c) == 1 and c != "两"))
_ANY_DIGIT = rf"(?:[{re.escape(_DIGIT_CHARS)}]|\d)"
_COUNT = r"[两二三四五六七八九2-9]"
_ONES = r"[一二三四五六七八九]"
SOUNDS = {"腰": "1", "妖": "1", "邀": "1", "灵": "0", "铃": "0", "玲": "0", "凌": "0", "溜": "6", "扒": "8", "巴": "8"} | {
    "吴": "5", "酒": "9", "久": "9", "旗": "7", "漆": "7", "医": "1", "丝": "4"
}  # fmt: skip
_FILLERS_TEXT = """
    那个 这个 然后 接着 后面 后边 前面 前边 中间 就是 是 再 还有 对对 对 呃 额 嗯 啊 哦 噢 唉 诶 欸
    哎 呀 嘛 好的 好 您记 你记 记一下 空格 空 逗号 横杠 杠 短横 横线 减号 转分机 分机 转 加 下一位 接
    来 您听 听着 最后
"""
_FILLERS = _FILLERS_TEXT.split()
_CROSS = r"(?:大写|小写|英文|字母)?(?:的)?(?:艾克斯|爱克斯|埃克斯|挨克斯|叉(?![车子烧路口]))"
_LATIN_DIGITS = {
    w: str(n) for n, w in enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"))
} | {"oh": "0"}
_LATIN_FILLERS = frozenset({"uh", "um", "er", "erm", "ah", "and", "then", "dash", "hyphen", "space", "is", "plus"})
_NAMES_OF_ACCOUNTS = frozenset({"qq", "vx", "wx"})
_TIMES = {"double": 2, "triple": 3}
_PAUSE = r"[\s,，、。\-—嗯呃啊]{0,3}"
_HEAD = rf"(?>一百[三四五六七八九]十{_ONES}?)"
_LAST_PLACES = rf"{_ONES}?十(?:{_ONES}(?!千))?|零?{_ONES}(?![千百十])"
_THOUSANDS = rf"(?>[一二两三四五六七八九]千(?:{_ONES}百|零)?(?:{_LAST_PLACES})?)"  # 一千二百三十四
_IN_UNITS = (  # 一百三十九，一千二百三十四，五千六百七十八: a mobile number read as three amounts
    rf"(?:{_HEAD}亿?{_PAUSE}(?:{_THOUSANDS}|{_ANY_DIGIT}{{4}})|{_ANY_DIGIT}{{3}}{_PAUSE}{_THOUSANDS})万?{_PAUSE}(?:{_THOUSANDS}|{_ANY_DIGIT}{{4}})"
    rf"|{_ANY_DIGIT}{{3}}{_PAUSE}{_ANY_DIGIT}{{4}}{_PAUSE}{_THOUSANDS}"
)
_AMOUNT_IN_UNITS = re.compile(rf"{_HEAD}|{_THOUSANDS}|{_ANY_DIGIT}")

_TOKEN = re.compile(
    rf"(?P<barrier>{BARRIER}+)"
    r"|(?P<clock>(?:(?<=[-/.．]\d\d\s)|(?<=[-/.．]\d\s))(?:[01]?\d|2[0-3])[:：][0-5]\d(?:[:：][0-5]\d)?(?!\d))"
    rf"|(?P<units>(?:{_IN_UNITS})(?![元块]|人(?!民)))"
    rf"|(?P<hundred>{_HEAD}(?=[\s,，]?(?:{_ANY_DIGIT}[\s,，]?){{4}}))"
    rf"|(?P<times>(?:{_COUNT}个|[双])(?:{_ANY_DIGIT})(?![十百千万亿点]))"
    rf"|(?P<places>(?:最?后|前|头|末)?面?[一二两三四五六七八九\d]位(?:数字?)?)"
    rf"|(?P<ten>{_ONES}?十{_ONES}?(?![百千万亿]))"
    rf"|(?P<cross>{_CROSS})"
    rf"|(?P<latin>[A-Za-z]+)"
    rf"|(?P<filler>{'|'.join(sorted(_FILLERS, key=len, reverse=True))})"
    rf"|(?P<two>两(?![年个次天月日块百千万亿位人种件点小分家口]))"
    rf"|(?P<mark>(?<={_ANY_DIGIT}{{3}})[:：#&^`'’\"”<>](?={_ANY_DIGIT}{{3}}))"
    rf"|(?P<digit>{_ANY_DIGIT})"
    rf"|(?P<sound>[{''.join(SOUNDS)}])"
    r"|(?P<separator>[\s,，、。.·_/|\\*;；\-—–－~…()（）]|[\x00-\x1f\x7f-\x9f\u00ad\u0300-\u036f\u20d0-\u20ff\ufe00-\ufe0f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff])",
)
_SORTS = {
    "barrier": Sort.OTHER,
    "clock": Sort.OTHER,  # after a date
    "units": Sort.DIGIT,
    "hundred": Sort.DIGIT,
    "times": Sort.DIGIT,
    "places": Sort.FILLER,
    "ten": Sort.TEN,
    "cross": Sort.CROSS,
    "filler": Sort.FILLER,
    "two": Sort.DIGIT,
    "digit": Sort.DIGIT,
    "sound": Sort.SOUND,
    "mark": Sort.SEPARATOR,  # no time of day has three digits
    "separator": Sort.SEPARATOR,
}
_SPELLED_OUT = 4  # letters in a row that touch a digit: part of a code such as 91420100MA00


def digit_of(char: str) -> str:
    """The ASCII digit of one character that stands for a digit."""
    known = DIGIT_OF.get(char)
    return known if known is not None else str(unicodedata.digit(char))


def tokenise(text: str) -> list[Token]:
    """Every character belongs to exactly one token; stretches of other characters are one token each."""
    tokens: list[Token] = []
    at = 0
    for match in _TOKEN.finditer(text):
        if match.start() > at:
            tokens.append(Token(Sort.OTHER, at, match.start()))
        tokens.extend(_read(match))
        at = match.end()
    if at < len(text):
        tokens.append(Token(Sort.OTHER, at, len(text)))
    return tokens


def _read(match: re.Match[str]) -> list[Token]:
    group, word, start, end = match.lastgroup or "", match.group(), match.start(), match.end()
    if group == "latin":
        return _latin(match.string, word, start, end)
    return [Token(_SORTS[group], start, end, _value(group, word))]


def _value(group: str, word: str) -> str:
    match group:
        case "digit" | "two" | "sound":
            return SOUNDS.get(word) or digit_of(word)
        case "times":
            return digit_of(word[-1]) * (2 if word[0] == "双" else int(digit_of(word[0])))
        case "units":
            amounts = _AMOUNT_IN_UNITS.findall(word)
            return "".join(digit_of(each) if len(each) == 1 else str(parse_number(each)) for each in amounts)
        case "hundred":
            return "1" + digit_of(word[2]) + (digit_of(word[4]) if len(word) > 4 else "0")  # noqa: PLR2004  一百三十九
        case "ten":
            left, _, right = word.partition("十")
            return (digit_of(left) if left else "1") + (digit_of(right) if right else "0")
        case _:
            return "X" if group == "cross" else ""


def _latin(text: str, word: str, start: int, end: int) -> list[Token]:
    low = word.lower()
    if low in _LATIN_DIGITS:
        return [Token(Sort.DIGIT, start, end, _LATIN_DIGITS[low])]
    if low in _LATIN_FILLERS or low in _TIMES:
        return [Token(Sort.FILLER, start, end, low)]
    if low in _NAMES_OF_ACCOUNTS:
        return [Token(Sort.WORD, start, end, word)]
    touching = text[max(0, start - 1) : start] in DIGIT_OF or text[end : end + 1] in DIGIT_OF
    if low in {"x", "ex"} and len(word) > 1:
        return [Token(Sort.CROSS, start, end, "X")]
    if len(word) == 1 or (touching and (len(word) <= _SPELLED_OUT or word.isupper())):
        return [Token(Sort.LETTER, at, at + 1, char.upper()) for at, char in zip(range(start, end), word, strict=True)]
    return [Token(Sort.WORD, start, end, word)]


def repeat_spoken(tokens: list[Token]) -> list[Token]:
    """``double zero`` and ``triple six``: the count joins its digit."""
    joined: list[Token] = []
    for token in tokens:
        last = joined[-1] if joined else None
        if token.sort is Sort.DIGIT and len(joined) > 1 and last is not None and last.sort is Sort.SEPARATOR:
            before = joined[-2]
            if before.value in _TIMES:
                joined[-2:] = [Token(Sort.DIGIT, before.start, token.end, token.value * _TIMES[before.value])]
                continue
        joined.append(token)
    return joined
