"""Spans of spoken numerals → how they are written, one rule a kind, in the order in which they are tried.

A rule gets its match and returns the figure, or None where the place says that it is none. Knows nothing of the scanner.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from hotline.zh.numerals import DIGIT_OF, parse_number
from llm.itn_words import NUMERAL, UNIT, UNIT_OF_ONE, UNIT_OF_TWO

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]

_D = r"[零〇幺一二三四五六七八九\d]"
_H = "零〇幺一二三四五六七八九"
_NUM = rf"[{NUMERAL}]{{1,24}}"
_ONE_BY_ONE = rf"(?:[两三四五六七八九]个{_D}(?![十百千万个])|{_D}(?!个{_D}))"
_PLACED = re.compile("[十百千万亿]")
_AROUND = 6

_OFFICE = re.compile(
    "(?:[国办政府厅委局院省市社财税建教卫民公法字通规审环交农商住安](?:发|函|令|字|规|文|通|办|号|办发|办函|任)|财税|银发|法释|税总函?)$"
)
_DAYTIME = re.compile(
    r"(?:上午|下午|中午|凌晨|清晨|早晨|早上|傍晚|晚上|夜里|半夜|深夜|今晚|明早|今早|当晚|[到至从]|次日|周[一-日]|星期.|[日号])\s?(?:的)?$"
)
_CLOCK_AFTER = re.compile(r"[钟整]|左右|[之以]?[前后]|开(?:始|门|放|业)|[上下]班|关门|多|[到至]|来|去|才|就|出发")
_NO_CLOCK = re.compile("意见|建议|要求|问题|疑问|原因|希望|说明|看法|想法|诉求|理由|体会|好处|坏处|不同|钱|儿|也|不|点|水")


def _rule(pattern: str) -> Callable[[Callable[[re.Match[str]], str | None]], Rule]:
    def make(write: Callable[[re.Match[str]], str | None]) -> Rule:
        return re.compile(pattern), write

    return make


def _before(found: re.Match[str]) -> str:
    return found.string[max(0, found.start() - _AROUND) : found.start()]


def _after(found: re.Match[str], at: int | None = None) -> str:
    at = found.end() if at is None else at
    return found.string[at : at + _AROUND]


def _digits(said: str) -> str:
    return "".join(DIGIT_OF.get(char, char) for char in said)


def _figure(said: str) -> str | None:
    """A whole number as written: 三万二千五百 → 32500, 三十万 → 30万; None for what is not one number (七八十)."""
    value = parse_number(said)
    if value is None:
        return None
    for worth, name in ((10**8, "亿"), (10**4, "万")):
        if value >= worth and not value % (worth // 10) and name in said:
            scaled = Decimal(value) / worth
            if scaled == int(scaled) or (worth == 10**8 and not value % (worth // 100)):
                return f"{scaled.normalize():f}{name}"
    return str(value)


def _decimal(said: str) -> str | None:
    whole, _, point = said.partition("点")
    figure = _figure(whole) if whole not in {"零", "〇"} else "0"
    return f"{figure}.{_digits(point)}" if figure is not None and point else figure


def _is_guess(said: str) -> bool:
    """七八, 三五, 一两: two counts beside each other are an estimate, not digits."""
    if len(said) != 2:  # noqa: PLR2004  said just above
        return False
    first, second = (int(DIGIT_OF[char]) for char in said)
    return second == first + 1 or said in {"三五", "一两", "两三"}


# ---------------------------------------------------------------- what has a name of its own


@_rule(rf"(?P<year>[二一][零〇九]{_D}{{2}})年?(?P<n>{_NUM})号")
def document(found: re.Match[str]) -> str | None:
    """国发二零二三五号 → 国发〔2023〕5号."""
    number = found["n"]
    figure = _figure(number) if _PLACED.search(number) else _digits(number)
    if figure is None or not _OFFICE.search(_before(found)):
        return None
    return f"〔{_digits(found['year'])}〕{int(figure)}号"


@_rule(rf"百分之(?P<n>百(?!分)|{_NUM}(?:点[{_H}]{{1,8}})?)")
def percent(found: re.Match[str]) -> str | None:
    """百分之七十五 → 75%."""
    figure = "100" if found["n"] == "百" else _decimal(found["n"])
    return None if figure is None else f"{figure}%"


@_rule(rf"千分之(?P<n>{_NUM}(?:点[{_H}]{{1,8}})?)")
def permille(found: re.Match[str]) -> str | None:
    """千分之三 → 3‰."""
    figure = _decimal(found["n"])
    return None if figure is None else f"{figure}‰"


@_rule(rf"(?P<under>(?!百分|千分)[{NUMERAL}]{{1,8}})分之(?P<over>[{NUMERAL}]{{1,8}})")
def fraction(found: re.Match[str]) -> str | None:
    """三分之二 → 2/3."""
    over, under = parse_number(found["over"]), parse_number(found["under"])
    return None if over is None or not under else f"{over}/{under}"


@_rule(rf"(?P<letters>[A-Za-z]{{1,3}})\s?(?P<n>[{_H}十百千A-Za-z\d]{{1,12}})(?![十百千万亿])")
def lettered(found: re.Match[str]) -> str | None:
    """G七五零一 → G7501, A一二T零七 → A12T07, K十二路 → K12路."""
    said = found["n"]
    if not any(char in NUMERAL for char in said):
        return found.group()
    if _PLACED.search(said):
        figure = _figure(said) if all(char in NUMERAL for char in said) else None
        return None if figure is None else found["letters"] + figure
    return found["letters"] + _digits(said)


@_rule(
    rf"(?=[\d\s]{{0,8}}[{_H}两]){_ONE_BY_ONE}(?:[\s\-－杠]{{0,2}}{_ONE_BY_ONE}){{2,30}}+(?:(?:大写)?(?:叉|艾克斯|X))?(?![十百千万亿])"
)
def dictated(found: re.Match[str]) -> str | None:
    """幺三九零零零零五六七八, 一二零三: three digits or more, one by one."""
    said = re.sub(r"(?:大写)?(?:叉|艾克斯)$", "X", re.sub(r"\s", "", found.group()))
    said = re.sub(r"([两三四五六七八九])个(.)", lambda m: m[2] * int(DIGIT_OF[m[1]]), said)
    digits = re.sub("[杠－]", "-", _digits(said))
    count = sum(map(str.isdigit, digits))
    if re.search(r"[十百千万亿点]$", _before(found)) or (re.search(r"[\s杠\-－]", found.group()) and count < 7):  # noqa: PLR2004  fewer, with gaps, may be several numbers
        return None
    if digits.endswith("X") and count != 17:  # noqa: PLR2004  an identity number's
        return None
    return digits


# ---------------------------------------------------------------- dates and times


@_rule(rf"(?P<y>[二一][零〇九]{_D}{{2}}|[{_H}]{{2}})(?P<unit>年(?!级)|届|级|后(?=[{NUMERAL}]|[\u4e00-\u9fff]|$))")
def year(found: re.Match[str]) -> str | None:
    """二零二三年, 九八年, 九零后; 七八年 may be a guess at a length of time."""
    said, unit = found["y"], found["unit"]
    if len(said) == 2:  # noqa: PLR2004  a year without its century
        dated = re.match(rf"[{NUMERAL}]{{1,2}}月|出生|生人|毕业|参军|入伍|建的|买的", _after(found)) or re.search(
            "[于从在]$", _before(found)
        )
        if unit == "后" and said[1] not in "零〇五":
            return None
        if unit == "年" and _is_guess(said) and not dated:
            return None
    return _digits(said) + unit


@_rule(
    r"(?P<m>十[一二]?|[一二三四五六七八九])月(?P<part>份?)(?P<d>(?P<day>[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])(?P<unit>[日号]))?"
)
def month_day(found: re.Match[str]) -> str | None:
    """七月一号, 十二月; 三个月 is no date."""
    month = _figure(found["m"])
    if re.match("[亮嫂]", _after(found)) or (
        found["m"] == "一" and not found["d"] and not found["part"] and re.match("内|里|不", _after(found))
    ):
        return None
    return f"{month}月{found['part']}" + (f"{_figure(found['day'])}{found['unit']}" if found["d"] else "")


@_rule(
    rf"(?P<h>二十[一二三四]?|十[一二三四五六七八九]?|[零〇一二两三四五六七八九])(?P<unit>[点时])(?P<rest>半|整|[一三]刻|(?P<m>[零〇][一二三四五六七八九](?![{_H}])|[二三四五]?十[一二三四五六七八九]?|[一二三四五六七八九](?=分))(?P<f>分(?![之钟]))?)?(?P<clock>钟)?"
)
def clock(found: re.Match[str]) -> str | None:
    """八点半, 二十一点三十分; 一点 alone may be a little, 三点意见 are points, 三点五 is a decimal."""
    hour, rest = found["h"], found["rest"] or ""
    before, after = _before(found), _after(found)
    timed = bool(found["clock"] or found["f"] or _DAYTIME.search(before))
    if found["unit"] == "时" and (re.match("[间候期代常段节刻装尚速限效而]", after) or (hour == "一" and not rest)):
        return None
    if not rest and re.match(rf"[{_H}十]", after) and not (timed and re.match("[到至]", after)):
        return None  # 三点五: a decimal; 八点二零: dictated
    if re.match("[零〇]", rest) and not timed and not _CLOCK_AFTER.match(after):
        return None  # 三点零五: a decimal
    if not rest and not timed and not _CLOCK_AFTER.match(after) and (hour in "一零〇两三" or _NO_CLOCK.match(after)):
        return None
    if not rest and not timed and re.search("[有早晚快慢差多少好大小]$", before) and hour == "一":
        return None
    spoken = rest if rest[:1] in {"半", "整"} or rest.endswith("刻") else _minutes(found)
    return f"{_figure(hour) if hour not in '零〇' else 0}{found['unit']}{spoken}{found['clock'] or ''}"


def _minutes(found: re.Match[str]) -> str:
    said = found["m"]
    if not said:
        return ""
    minutes = _digits(said) if said[0] in "零〇" else _figure(said)
    return f"{minutes}{found['f'] or ''}"


# ---------------------------------------------------------------- numbers


@_rule(rf"第(?P<n>{_NUM})(?P<more>(?:[、和到至]第?[{NUMERAL}]{{1,12}}(?=[、和到至条款项号章节页]|之)){{0,8}})")
def ordinal(found: re.Match[str]) -> str | None:
    """第一千一百六十五条 → 第1165条, 第三季度; 第二天 and 第三方 are words."""
    said, after = found["n"], _after(found)
    figure = _figure(said)
    if figure is None or (
        len(said) == 1 and not UNIT.match(found.string, found.end()) and not re.match("[条款项章节页季号届名]|之", after)
    ):
        return None
    more = re.sub(rf"[{NUMERAL}]+", lambda m: _figure(m.group()) or m.group(), found["more"])
    return f"第{figure}{more}"


@_rule(rf"(?P<whole>{_NUM})点(?P<point>[{_H}]{{1,8}})(?P<scale>[百千]?[万亿])?(?![十百千])")
def decimal(found: re.Match[str]) -> str | None:
    """三点五 → 3.5, 一点二万 → 1.2万."""
    figure = _decimal(f"{found['whole']}点{found['point']}")
    return None if figure is None else figure + (found["scale"] or "")


@_rule(rf"(?P<n>[{NUMERAL}]{{1,8}})斤(?P<more>[一二三四五六七八九])两(?!年|个|天)")
def weight(found: re.Match[str]) -> str | None:
    """二斤八两."""
    figure = _figure(found["n"])
    return None if figure is None else f"{figure}斤{_digits(found['more'])}两"


@_rule(
    rf"(?P<n>{_NUM})(?P<unit>元|块|毛|角|米|度)(?P<more>[一二三四五六七八九])(?P<last>(?<=米[一二三四五六七八九])[一二三四五六七八九](?=$|[^{NUMERAL}]))?(?!(?!一[斤个份次张天])[{NUMERAL}点个]|[元块毛角分米度年月日天号])"
)
def and_a_bit(found: re.Match[str]) -> str | None:
    """十二块八, 一米七五, 三十八度五."""
    figure = _figure(found["n"])
    return None if figure is None else f"{figure}{found['unit']}{_digits(found['more'] + (found['last'] or ''))}"


@_rule(r"(?P<a>[一二三四五六七八九])(?P<b>[一二三四五六七八九]?)折")
def discount(found: re.Match[str]) -> str | None:
    """八五折 → 8.5折."""
    return f"{_digits(found['a'])}{'.' + _digits(found['b']) if found['b'] else ''}折"


@_rule(rf"(?P<n>[{NUMERAL}]{{1,23}})千(?=[瓦克米]|卡)")
def thousand_of_unit(found: re.Match[str]) -> str | None:
    """五千瓦 are five kilowatts."""
    figure = _figure(found["n"])
    return None if figure is None or (len(found["n"]) > 1 and not _PLACED.search(found["n"])) else f"{figure}千"


@_rule(rf"{_NUM}")
def number(found: re.Match[str]) -> str | None:
    """Any other numeral: what has places is a figure; a digit is one where something measured, counted or named follows."""
    said, string, end = found.group(), found.string, found.end()
    if len(said) > 1:
        return _several(said, found)
    if said in "零〇幺百千万亿":
        return None
    if said == "十":
        return "10" if UNIT.match(string, end) or _ranges(string, end) else None
    if re.match("个[零〇]", string[end : end + 2]):
        return None
    wanted = {"一": UNIT_OF_ONE, "两": UNIT_OF_TWO}.get(said, UNIT)
    counts = wanted.match(string, end) or re.match("[A-Z](?![a-z])", string[end : end + 2])
    linked = re.search(rf"[{NUMERAL}][到至、乘]$", _before(found)) and UNIT.match(string, end)
    scored = re.search(rf"[{NUMERAL}](?:比|乘以|除以)$", _before(found))
    return _digits(said) if counts or linked or scored or _ranges(string, end) else None


def _several(said: str, found: re.Match[str]) -> str | None:
    if not _PLACED.search(said):
        named = re.match(r"路(?!上)|号(?!码)|室|楼|栋|幢|房|线|班|弄", _after(found)) or re.search(
            "(?:尾号[是为]?|房|室|楼|栋|单元)$", _before(found)
        )
        return _digits(said) if "两" not in said and (named or said[0] in "零〇" or "幺" in said) and not _is_guess(said) else None
    if re.search("[几数]$", _before(found)) or (
        re.search("[一二三四五六七八九][到至]$", _before(found)) and re.fullmatch(".[百千]", said)
    ):
        return None  # 几十万; 三到五千 are thousands on both sides
    figure = _figure(said)
    if figure is None and said.endswith("一") and re.match("个|年|月|天|次|斤|平|亩|件|人|台|吨", _after(found)):
        figure = _figure(said[:-1])  # 一万二一个月
        return None if figure is None else figure + "一"
    return figure


_RANGE = re.compile(rf"[到至、比乘\-~－](?P<to>[{NUMERAL}]{{1,12}})")


def _ranges(text: str, at: int) -> bool:
    """三到五个工作日, 三、四、五号楼: the next number is one that is written as a figure."""
    for _ in range(8):
        link = _RANGE.match(text, at)
        if link is None:
            return False
        if link.group()[0] == "比" or UNIT.match(text, link.end()):
            return parse_number(link["to"]) is not None
        at = link.end()
    return False


RULES: tuple[Rule, ...] = (
    document, percent, permille, fraction, ordinal, year, month_day, lettered, dictated, clock, decimal, weight, and_a_bit,
    discount, thousand_of_unit, number,
)  # fmt: skip
