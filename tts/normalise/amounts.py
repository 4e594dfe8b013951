"""Spans that measure: money, percentages, ranges, units, fractions, ordinals, plain numbers. Knows nothing of names and dates."""

import re

from hotline.zh.numerals import read_digits
from tts.normalise.figures import DASH, FIGURE, SIGN_DASH, amount, name, number, one_by_one, ordinal, plain, to_word
from tts.normalise.scan import Place, Rule, rule
from tts.normalise.units import CURRENCIES, CURRENCY, PER, SCALE, SYMBOL, UNITS, per

_SIGN = r"(?P<sign>[-±+])?"
_HUNDREDTHS = {"%": "百分之", "‰": "千分之"}
_SPAN_END = re.compile(
    r"(?:[年月日号时点分秒元块度米楼层室岁级天%℃万亿条人户㎡]|公里|公斤|小时|分钟|(?:周|星期)[一二三四五六日天])$"
)
_SCORE_BEFORE = re.compile(r"(?:比分|战绩|获胜|[胜负赢输])(?:为|是|了)?$")
_SCORE_AFTER = re.compile(r"[战获取]胜|击败|领先|落后")
_MINUS_AFTER = re.compile(r"[万亿]?[元块%分度]|$|[，。；、]")


def _sign(sign: str | None, place: Place) -> str:
    """A hyphen is a minus only where a quantity follows and no letter or figure stands before it."""
    if sign == "-":
        joins = re.search(r"[A-Za-z0-9]$", place.before)
        named = re.search(r"[一-龥)）]$", place.before) and not _MINUS_AFTER.match(place.after)
        return "杠" if joins or named else "负"
    return {"±": "正负", "+": "加"}.get(sign or "", "")


@rule("range", r"-\s?(?=第?\d|¥)")
def to(_: re.Match[str], place: Place) -> str | None:
    """The hyphen of 3月1日-5日, 3000元-5000元."""
    return "到" if _SPAN_END.search(place.before) else None


def _percent(figure: str) -> str:
    return "百" if plain(figure) == "100" else number(figure)


@rule("percent", rf"(?P<a>{FIGURE})(?P<pa>[%‰])?{DASH}(?P<minus>-)?(?P<b>{FIGURE})(?P<pb>[%‰])")
def percent_range(found: re.Match[str], _: Place) -> str | None:
    """5%-12%, 5-12%."""
    first, last = _HUNDREDTHS[found["pa"] or found["pb"]], _HUNDREDTHS[found["pb"]]
    return f"{first}{_percent(found['a'])}{to_word(found)}{'负' if found['minus'] else ''}{last}{_percent(found['b'])}"


@rule("percent", rf"{_SIGN}(?P<a>{FIGURE})\s?(?P<p>[%‰])")
def percent(found: re.Match[str], _: Place) -> str | None:
    """12.5%, -3%."""
    return {"-": "负", "+": "正", "±": "正负"}.get(found["sign"] or "", "") + _HUNDREDTHS[found["p"]] + _percent(found["a"])


@rule("degrees", rf"(?P<sa>-)?(?P<a>{FIGURE})(?P<ua>℃|°C|°)?{DASH}(?P<sb>-)?(?P<b>{FIGURE})\s?(?:℃|°C)")
def degrees_range(found: re.Match[str], _: Place) -> str | None:
    """15-20℃, -5℃~3℃."""
    unit = "摄氏度" if found["ua"] else ""
    below_a, below_b = ("零下" if found[sign] else "" for sign in ("sa", "sb"))
    above = "零上" if found["sa"] and not found["sb"] and plain(found["b"]) != "0" else ""
    return f"{below_a}{number(found['a'])}{unit}{to_word(found)}{below_b or above}{number(found['b'])}摄氏度"


@rule("degrees", rf"(?P<sign>[-+])?(?P<a>{FIGURE})\s?(?P<u>℃|°C|℉|°F)")
def degrees(found: re.Match[str], place: Place) -> str | None:
    """-5℃."""
    below = found["sign"] == "-" and not place.before.endswith("零下")
    return ("零下" if below else "") + number(found["a"]) + UNITS[found["u"]]


@rule("money", rf"(?P<c>{CURRENCY})\s?(?P<a>{FIGURE})(?P<s>{SCALE})?元?{DASH}{CURRENCY}?\s?(?P<b>{FIGURE})(?P<t>{SCALE})?元?{PER}")
def price_range(found: re.Match[str], _: Place) -> str | None:
    """¥3,000-¥5,000."""
    unit, scale, last = CURRENCIES[found["c"]], found["s"] or "", found["t"] or ""
    first = amount(found["a"], scale or unit) + scale
    return first + to_word(found) + amount(found["b"], last or unit) + last + unit + per(found["per"])


@rule("money", rf"(?P<sign>-)?(?P<c>{CURRENCY})\s?(?P<m>-)?(?P<a>{FIGURE})\s?(?P<s>{SCALE})?(?P<u>元|美元|港元|欧元|英镑)?{PER}")
def price(found: re.Match[str], _: Place) -> str | None:
    """¥3,000, $100, RMB 300."""
    scale, unit = found["s"] or "", found["u"] or CURRENCIES[found["c"]]
    sign = "负" if found["sign"] or found["m"] else ""
    return sign + amount(found["a"], scale or unit) + scale + unit + per(found["per"])


@rule("money", rf"(?P<a>{FIGURE})\s?(?P<s>{SCALE})?\s?(?P<c>RMB|CNY|USD|HKD|EUR|GBP)(?![A-Za-z])")
def price_after(found: re.Match[str], _: Place) -> str | None:
    """300RMB."""
    scale, unit = found["s"] or "", CURRENCIES[found["c"]]
    return amount(found["a"], scale or unit) + scale + unit


@rule("range", rf"(?P<a>{FIGURE})\s?(?P<ua>{SYMBOL})?{SIGN_DASH}(?P<b>{FIGURE})\s?(?P<ub>{SYMBOL}){PER}")
def unit_range(found: re.Match[str], _: Place) -> str | None:
    """10-20km, 50dB-60dB."""
    first, last = UNITS[found["ua"]] if found["ua"] else "", UNITS[found["ub"]]
    return f"{number(found['a'], first or last)}{first}到{number(found['b'], last)}{last}{per(found['per'])}"


@rule("range", rf"(?P<a>{FIGURE})(?P<ua>{SCALE})?(?P<d>{SIGN_DASH})(?P<b>{FIGURE})(?![.\d\-])")
def plain_range(found: re.Match[str], place: Place) -> str | None:
    """3-5个工作日, 5~12万元; 比分3-2 is a score, 5-1窗口 a name."""
    a, b, scale = plain(found["a"]), plain(found["b"]), found["ua"] or ""
    if _SCORE_BEFORE.search(place.before) or _SCORE_AFTER.match(place.after):
        return f"{number(a)}比{number(b)}"
    if a.startswith("0") and a.isdigit() and a != "0":
        return one_by_one(a) + one_by_one(b)
    if not scale and "~" not in found["d"] and float(a) > float(b) and not re.match(SCALE, place.after):
        return f"{name(a) if a.isdigit() else number(a)}杠{name(b) if b.isdigit() else number(b)}"
    return f"{number(a, scale or place.after)}{scale}到{number(b, place.after)}"


@rule("ordinal", rf"第\s?(?P<a>\d{{1,8}})(?P<u>[一-龥])?{SIGN_DASH}(?P<nth>第)?(?P<b>\d{{1,8}})(?!\d)")
def ordinal_range(found: re.Match[str], _: Place) -> str | None:
    """第3-5条, 第3条-第5条."""
    return f"第{ordinal(found['a'])}{found['u'] or ''}到{found['nth'] or ''}{ordinal(found['b'])}"


@rule("ordinal", r"第\s?(?P<a>\d{1,8})(?P<more>(?:[、,，和及与]第?\d{1,8}(?=[、,，和及与条款项页章节号届名])){0,12})(?![\d.])")
def ordinals(found: re.Match[str], _: Place) -> str | None:
    """第1043条, 第2、3款."""
    return f"第{ordinal(found['a'])}" + re.sub(r"\d+", lambda run: ordinal(run[0]), found["more"])


@rule("fraction", r"(?:(?P<w>\d{1,4})又)?(?P<a>\d{1,5})/(?P<b>\d{1,5})(?P<u>mmHg)?(?![\d/.])")
def fraction(found: re.Match[str], place: Place) -> str | None:
    """2/3, 1又1/2; 24/7 stays a pair."""
    a, b = int(found["a"]), int(found["b"])
    if not b or (a > b and not found["w"]) or re.search(r"[第页]$", place.before):
        return f"{number(found['a'])}、{number(found['b'])}{UNITS.get(found['u'], '')}"
    whole = f"{number(found['w'])}又" if found["w"] else ""
    return f"{whole}{ordinal(found['b'])}分之{ordinal(found['a'])}"


@rule("measure", rf"{_SIGN}(?P<a>{FIGURE})\s?(?P<s>{SCALE})?(?P<u>{SYMBOL}){PER}")
def measure(found: re.Match[str], place: Place) -> str | None:
    """500m, 180kWh, 60dB, 80㎡."""
    scale, unit = found["s"] or "", UNITS[found["u"]]
    return _sign(found["sign"], place) + number(found["a"], scale or unit) + scale + unit + per(found["per"])


@rule("measure", r"(?P<a>[1-9])(?P<u>[米块])(?P<b>\d{1,2})(?![\d.米厘分元角个])")
def and_a_bit(found: re.Match[str], _: Place) -> str | None:
    """1米75, 3块5."""
    return number(found["a"], found["u"]) + found["u"] + read_digits(found["b"])


@rule("discount", r"(?P<a>[1-9])\.?(?P<b>[1-9])折")
def discount(found: re.Match[str], _: Place) -> str | None:
    """8.5折 and 85折 are both 八五折."""
    return f"{read_digits(found['a'] + found['b'])}折"


@rule("floor", r"-(?P<a>\d{1,2})(?=[楼层])")
def below_ground(found: re.Match[str], _: Place) -> str | None:
    """-1楼."""
    return "负" + number(found["a"])


@rule("sum", rf"(?P<a>{FIGURE})\s?(?P<op>[+×xX*÷=])\s?(?=\d)")
def arithmetic(found: re.Match[str], _: Place) -> str | None:
    """1+1, 7×24小时, 3*4."""
    return number(found["a"]) + {"+": "加", "÷": "除以", "=": "等于"}.get(found["op"], "乘")


@rule("number", rf"{_SIGN}(?P<a>{FIGURE})(?P<s>{SCALE})?(?P<u>元|块钱?)?{PER}")
def quantity(found: re.Match[str], place: Place) -> str | None:
    """Any other figure: 4000元, 2.5万元, 12个, 3元/㎡."""
    scale, unit = found["s"] or "", found["u"] or ""
    if not unit and found["per"] and re.match(r"/[年月日人]", found["per"]) and not scale:
        return None  # 2/月: no rate
    after = scale + unit + place.after
    read = amount if unit else number
    own = Place(before=place.before, after=after)
    return _sign(found["sign"], own) + read(found["a"], after) + scale + unit + per(found["per"])


@rule("digits", r"\d{1,64}")
def digits(found: re.Match[str], _: Place) -> str | None:
    """What no rule knows is dictated."""
    return one_by_one(found[0])


RULES: tuple[Rule, ...] = (
    to, percent_range, percent, degrees_range, degrees, price_range, price, price_after, unit_range, ordinal_range, ordinals,
    fraction, measure, and_a_bit, discount, below_ground, arithmetic, plain_range, quantity, digits,
)  # fmt: skip
