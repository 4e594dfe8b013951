"""Text → the figures in it, in one normal form: 百分之七十五 = 75%, 三万二 = 32000, 八点半 = 8:30. Knows no passages.

For comparing what is said with what is written; it normalises for comparison only, nothing it returns is spoken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from hotline.zh.numerals import DIGIT_OF, parse_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure. value: plain decimal, or digits as dialled; unit: its class, empty where there is none; words: as it stands."""

    value: str
    unit: str
    words: str


_HANZI = "〇零一二两三四五六七八九幺"
_H = f"[{_HANZI}十百千万亿]"
_FIGURE = re.compile(
    rf"(?P<percent>百分之(?P<per_hanzi>{_H}+(?:点[{_HANZI}]+)?|[\d.]+)|(?P<per_digits>\d+(?:\.\d+)?)%)"
    r"|(?P<clock>\d{1,2}:\d{2})"
    r"|(?P<line>0\d{2,3}(?:[- ]\d{3,4}[- ]?\d{4}|-\d{5,8})(?!\d))"
    rf"|(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<scale>[百千万亿]+)?(?P<rest>\d+|[{_HANZI}](?![{_HANZI}十百千]))?"
    rf"|(?P<hanzi>{_H}+)(?:点(?P<point>[{_HANZI}]+)(?![{_HANZI}十百分刻]))?"
)
_UNIT_CLASSES_TEXT = """
    工作日 个月=月 个小时=时 小时=时 钟头=时 分钟=分 周岁=岁 星期=周 公里 平方米=平 平米=平 元
    块=元 年 月 日 天=日 号=日 点 时=点 分 岁 倍 周 条 款 折 次 个 人 名=人 份=个 级 米 度 季
    层 楼=层
"""
_UNIT_CLASSES = _UNIT_CLASSES_TEXT.split()
_UNITS = tuple((name, kind or name) for name, _, kind in (each.partition("=") for each in _UNIT_CLASSES))
_COUNTS = frozenset({"个", "次", "人", "条", "份", ""})  # 一 before these is an article, not a fact
# words that hold a numeral and state no figure
_AFTER_ONE_TEXT = """
    般 定 样 直 边 旦 共 并 律 站 种 些 下 起 会儿 方面 体 致 切 时 家 系列 户一 事一 网 窗 卡通
    线 手 经 概 次性 同 对一 侧 带 路 型
"""
_AFTER_ONE = _AFTER_ONE_TEXT.split()
_IDIOMS_TEXT = """
    第二天 统一 唯一 万一 之一 其一 逐一 专一 同一 单一 任一 千万别 千万要 千万不 百姓 四川 九江 五险 一金 三甲
    双休 三天两头 百货 千瓦 亿万 百科 八达 五官 四季 四周 七夕 十足 二手 二维 三方 第一方 第二方 第三方
    五一 十一假 两会 两地 两者 二者 三者 三轮 两侧 两边 三农 零售 零钱 零星 万达 百年
"""
_IDIOMS = _IDIOMS_TEXT.split()
_WORDS = re.compile("|".join([f"一(?:{'|'.join(_AFTER_ONE)})", "(?<![一二三四五六七八九点时])十分(?![钟之])", *_IDIOMS]))


def figures(text: str) -> list[Figure]:
    """The figures of a folded text, in order."""
    hidden = _WORDS.sub(lambda m: "□" * len(m.group()), text)
    found: list[Figure] = []
    for match in _FIGURE.finditer(hidden):
        found.extend(_read(match, hidden))
    return found


def _read(match: re.Match[str], text: str) -> list[Figure]:
    words = match.group()
    if match["percent"]:
        value = match["per_digits"] or _plain(match["per_hanzi"])
        return [Figure(value=_decimal(value), unit="%", words=words)] if value else []
    if match["clock"]:
        hour, _, minute = words.partition(":")
        minutes = [Figure(value=str(int(minute)), unit="分", words=words)] if int(minute) else []
        return [Figure(value=str(int(hour)), unit="点", words=words), *minutes]
    if match["line"]:
        return [Figure(value=re.sub(r"\D", "", words), unit="", words=words)]
    unit, after = _unit(text, match.end())
    value = _digits(match) if match["digits"] else _hanzi(match)
    if value is None or (match["hanzi"] and _is_article(words, unit)):
        return []
    half = [Figure(value="30", unit="分", words=words + "点半")] if unit == "点" and text.startswith("半", after) else []
    return [Figure(value=value, unit=unit, words=words + text[match.end() : after]), *half]


def _unit(text: str, at: int) -> tuple[str, int]:
    for name, kind in _UNITS:
        if text.startswith(name, at):
            return kind, at + len(name)
    return "", at


def _is_article(words: str, unit: str) -> bool:
    """一个, 一次, 一位; or a lone numeral that counts nothing."""
    return len(words) == 1 and (unit == "" or (words == "一" and unit in _COUNTS))


def _digits(match: re.Match[str]) -> str | None:
    plain = match["digits"].replace(",", "")
    scale = 1
    for char in match["scale"] or "":
        scale *= {"百": 100, "千": 1000, "万": 10**4, "亿": 10**8}[char]
    if scale == 1:
        return _decimal(plain) if "." in plain or (not plain.startswith("0") and len(plain) < 9) else plain  # noqa: PLR2004  longer is dialled
    rest = match["rest"] or ""
    more = (int(rest) if len(rest) > 1 else int(DIGIT_OF[rest]) * scale // 10) if rest else 0
    return _decimal(str(Decimal(plain) * scale + more))


def _hanzi(match: re.Match[str]) -> str | None:
    spoken = match["hanzi"]
    value = _plain(spoken)
    if value is None:
        return None
    if match["point"]:
        return _decimal(f"{value}.{''.join(DIGIT_OF[c] for c in match['point'])}")
    return value


def _plain(spoken: str) -> str | None:
    """A spoken numeral's value: digit by digit where no place word is in it."""
    whole, _, point = spoken.partition("点")
    if re.fullmatch(r"[\d.]+", spoken):
        return spoken
    if point:
        return f"{_plain(whole)}.{''.join(DIGIT_OF[c] for c in point)}"
    if not re.search(r"[十百千万亿]", spoken):
        return "".join(DIGIT_OF[c] for c in spoken)
    value = parse_number(spoken)
    return None if value is None else str(value)


def _decimal(value: str) -> str:
    return f"{Decimal(value).normalize():f}"
