"""Spans that measure: money, percentages, ranges, units, fractions, ordinals, plain numbers. Knows nothing of names and dates."""

import re

from tts.normalise.figures import DASH, FIGURE, SIGN_DASH, amount, number, one_by_one, ordinal, plain
from tts.normalise.scan import Place, Rule, rule

_UNITS = {
    "kWh": "千瓦时", "KWH": "千瓦时", "kwh": "千瓦时", "MW": "兆瓦", "kW": "千瓦", "KW": "千瓦", "kw": "千瓦", "W": "瓦",
    "km/h": "公里每小时", "m/s": "米每秒", "km²": "平方公里", "km2": "平方公里", "km": "公里", "KM": "公里",
    "m²": "平方米", "m2": "平方米", "㎡": "平方米", "m³": "立方米", "m3": "立方米", "cm²": "平方厘米", "cm": "厘米", "CM": "厘米",
    "mm": "毫米", "dm": "分米", "μm": "微米", "nm": "纳米", "m": "米", "M": "兆",
    "mg/L": "毫克每升", "mg/m³": "毫克每立方米", "μg/m³": "微克每立方米", "mg/kg": "毫克每公斤",
    "kg": "公斤", "KG": "公斤", "Kg": "公斤", "mg": "毫克", "μg": "微克", "g": "克", "t": "吨",
    "mL": "毫升", "ml": "毫升", "ML": "毫升", "L": "升", "dB(A)": "分贝", "dB": "分贝", "db": "分贝", "DB": "分贝",
    "GHz": "吉赫兹", "MHz": "兆赫兹", "kHz": "千赫兹", "KHz": "千赫兹", "Hz": "赫兹", "Mbps": "兆", "Gbps": "G", "MB": "兆",
    "kV": "千伏", "V": "伏", "mAh": "毫安时", "kPa": "千帕", "MPa": "兆帕", "Pa": "帕", "ppm": "PPM", "kcal": "千卡", "kJ": "千焦",
    "h": "小时", "min": "分钟", "s": "秒", "ms": "毫秒", "℃": "摄氏度", "°C": "摄氏度", "℉": "华氏度", "°F": "华氏度", "°": "度",
    "mmHg": "毫米汞柱", "ha": "公顷",
}  # fmt: skip
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_SYMBOL = rf"(?:{_UNIT})(?![A-Za-z0-9])"
_SCALE = "[万亿]|百万|千万|百亿|千亿|万亿"
_CURRENCIES = {
    "¥": "元", "RMB": "元", "CNY": "元", "US$": "美元", "HK$": "港元", "HKD": "港元", "$": "美元", "USD": "美元",
    "€": "欧元", "EUR": "欧元", "£": "英镑", "GBP": "英镑", "JPY": "日元",
}  # fmt: skip
_CURRENCY = "|".join(re.escape(name) for name in sorted(_CURRENCIES, key=len, reverse=True))
_PER = {"月": "月", "年": "年", "日": "日", "天": "天", "人": "人", "次": "次", "户": "户", "㎡": "平方米", "m²": "平方米", "平方米": "平方米",
        "平米": "平米", "小时": "小时", "h": "小时", "吨": "吨", "t": "吨", "度": "度", "kWh": "千瓦时", "公里": "公里", "km": "公里", "m³": "立方米",
        "立方米": "立方米", "立方": "立方", "kg": "公斤", "公斤": "公斤", "斤": "斤", "件": "件", "个": "个", "位": "位", "张": "张", "份": "份", "车": "车",
        "晚": "晚", "周": "周", "季度": "季度", "季": "季", "课时": "课时", "学期": "学期", "辆": "辆", "台": "台", "套": "套", "分钟": "分钟", "千瓦时": "千瓦时"}  # fmt: skip
_PER_UNIT = "|".join(re.escape(name) for name in sorted(_PER, key=len, reverse=True))
_NEGATIVE_BEFORE = re.compile(r"[A-Za-z0-9一-龥)）]$")


def per_units(text: str) -> str:
    """Of 元/月, the /月 as read: 每月."""
    return "".join("每" + _PER[part] for part in text.split("/") if part)


def _percent(figure: str) -> str:
    return "百" if plain(figure) == "100" else number(figure)


@rule("percent", rf"(?P<a>{FIGURE})(?P<pa>[%‰])?{DASH}(?P<minus>[-−])?(?P<b>{FIGURE})(?P<pb>[%‰])")
def percent_range(found: re.Match[str], _: Place) -> str | None:
    """5%-12%, 5-12%."""
    first = {"%": "百分之", "‰": "千分之"}[found["pa"] or found["pb"]]
    second = {"%": "百分之", "‰": "千分之"}[found["pb"]]
    return f"{first}{_percent(found['a'])}到{'负' if found['minus'] else ''}{second}{_percent(found['b'])}"


@rule("percent", rf"(?P<sign>[-−+±])?(?P<a>{FIGURE})\s?(?P<p>%|‰)")
def percent(found: re.Match[str], place: Place) -> str | None:
    """12.5%, -3%."""
    if found["sign"] and found["sign"] != "±" and _NEGATIVE_BEFORE.search(place.before) and place.before[-1:].isdigit():
        return None
    sign = {"-": "负", "−": "负", "+": "正", "±": "正负"}.get(found["sign"] or "", "")
    return sign + ("百分之" if found["p"] == "%" else "千分之") + _percent(found["a"])


@rule("degrees", rf"(?P<sa>[-−])?(?P<a>{FIGURE})(?P<ua>℃|°C|°)?{DASH}(?P<sb>[-−])?(?P<b>{FIGURE})\s?(?P<ub>℃|°C)")
def degrees_range(found: re.Match[str], _: Place) -> str | None:
    """15-20℃, -5℃~3℃."""
    unit = "摄氏度" if found["ua"] else ""
    below_a, below_b = ("零下" if found[name] else "" for name in ("sa", "sb"))
    above = "零上" if found["sa"] and not found["sb"] and plain(found["b"]) != "0" else ""
    return f"{below_a}{number(found['a'])}{unit}到{below_b or above}{number(found['b'])}摄氏度"


@rule("degrees", rf"(?P<sign>[-−+])?(?P<a>{FIGURE})\s?(?P<u>℃|°C|℉|°F)")
def degrees(found: re.Match[str], _: Place) -> str | None:
    """-5℃."""
    return ("零下" if found["sign"] in {"-", "−"} else "") + number(found["a"]) + _UNITS[found["u"]]


@rule(
    "money",
    rf"(?P<c>{_CURRENCY})\s?(?P<a>{FIGURE})(?P<s>{_SCALE})?(?P<ua>{_CURRENCY}|元)?{DASH}(?:{_CURRENCY})?\s?(?P<b>{FIGURE})(?P<t>{_SCALE})?(?:元)?",
)
def price_range(found: re.Match[str], _: Place) -> str | None:
    """¥3,000-¥5,000."""
    unit = _CURRENCIES[found["c"]]
    scale, last = found["s"] or "", found["t"] or ""
    return f"{amount(found['a'], scale or unit)}{scale}到{amount(found['b'], last or unit)}{last}{unit}"


@rule(
    "money",
    rf"(?P<sign>[-−])?(?P<c>{_CURRENCY})\s?(?P<m>[-−])?(?P<a>{FIGURE})\s?(?P<s>{_SCALE})?(?P<u>元|美元|港元|欧元|英镑)?(?P<per>(?:/(?:{_PER_UNIT})){{0,2}})",
)
def price(found: re.Match[str], _: Place) -> str | None:
    """¥3,000, $100, RMB 300."""
    scale, unit = found["s"] or "", found["u"] or _CURRENCIES[found["c"]]
    sign = "负" if found["sign"] or found["m"] else ""
    return sign + amount(found["a"], scale or unit) + scale + unit + per_units(found["per"])


@rule("money", rf"(?P<a>{FIGURE})\s?(?P<s>{_SCALE})?\s?(?P<c>RMB|CNY|USD|HKD|EUR|GBP)(?![A-Za-z])")
def price_after(found: re.Match[str], _: Place) -> str | None:
    """300RMB."""
    scale, unit = found["s"] or "", _CURRENCIES[found["c"]]
    return amount(found["a"], scale or unit) + scale + unit


@rule(
    "range",
    rf"(?P<a>{FIGURE})\s?(?P<ua>{_SYMBOL})?(?P<d>{SIGN_DASH})(?P<b>{FIGURE})\s?(?P<ub>{_SYMBOL})(?P<per>(?:/(?:{_PER_UNIT})){{0,2}})",
)
def unit_range(found: re.Match[str], _: Place) -> str | None:
    """10-20km, 50dB-60dB."""
    last = _UNITS[found["ub"]]
    first = _UNITS[found["ua"]] if found["ua"] else ""
    return f"{number(found['a'], first or last)}{first}到{number(found['b'], last)}{last}{per_units(found['per'])}"


@rule("range", rf"(?P<a>{FIGURE})(?P<ua>{_SCALE})?(?P<d>{SIGN_DASH})(?P<b>{FIGURE})(?![.\d\-])")
def plain_range(found: re.Match[str], place: Place) -> str | None:
    """3-5个工作日, 5~12万元; 比分3-2, 3-501."""
    a, b = plain(found["a"]), plain(found["b"])
    if re.search(r"(?:比分|战绩|获胜|胜|负|赢|输)(?:为|是|了)?$", place.before):
        return f"{number(a)}比{number(b)}"
    if a.startswith("0") and len(a) > 1 and "." not in a:
        return one_by_one(a) + one_by_one(b)
    scale = found["ua"] or ""
    if not scale and "~" not in found["d"] and float(a) > float(b) and not re.match(r"\s?[万亿]", place.after):
        return f"{number(a)}杠{number(b)}"
    return f"{number(a, scale or place.after)}{scale}到{number(b, place.after)}"


@rule("ordinal", rf"第\s?(?P<a>\d{{1,8}}){SIGN_DASH}第?(?P<b>\d{{1,8}})(?!\d)")
def ordinal_range(found: re.Match[str], _: Place) -> str | None:
    """第3-5条."""
    second = "第" if "第" in found[0][1:] else ""
    return f"第{ordinal(found['a'])}到{second}{ordinal(found['b'])}"


@rule("ordinal", r"第\s?(?P<a>\d{1,8})(?P<more>(?:[、,，和及与]第?\d{1,8}){0,12})(?![\d.])")
def ordinals(found: re.Match[str], _: Place) -> str | None:
    """第1043条, 第2、3款."""
    return f"第{ordinal(found['a'])}" + re.sub(r"\d+", lambda run: ordinal(run[0]), found["more"])


@rule("fraction", r"(?:(?P<w>\d{1,4})又)?(?P<a>\d{1,5})/(?P<b>\d{1,5})(?![\d/.])")
def fraction(found: re.Match[str], place: Place) -> str | None:
    """2/3, 1又1/2; 24/7 stays a pair."""
    a, b = int(found["a"]), int(found["b"])
    if not b or (a > b and not found["w"]) or re.search(r"(?:第|页)$", place.before):
        return f"{number(found['a'])}、{number(found['b'])}"
    whole = f"{number(found['w'])}又" if found["w"] else ""
    return f"{whole}{ordinal(found['b'])}分之{ordinal(found['a'])}"


@rule("measure", rf"(?P<sign>[-−±+])?(?P<a>{FIGURE})\s?(?P<s>{_SCALE})?(?P<u>{_SYMBOL})(?P<per>(?:/(?:{_PER_UNIT})){{0,2}})")
def measure(found: re.Match[str], place: Place) -> str | None:
    """500m, 180kWh, 60dB, 80㎡."""
    scale, unit = found["s"] or "", _UNITS[found["u"]]
    sign = _sign(found["sign"], place)
    return sign + number(found["a"], scale or unit) + scale + unit + per_units(found["per"])


def _sign(sign: str | None, place: Place) -> str:
    if not sign:
        return ""
    if sign in "-−" and _NEGATIVE_BEFORE.search(place.before):
        return "杠" if re.search("[A-Za-z]$", place.before) else ""
    return {"-": "负", "−": "负", "±": "正负", "+": "加"}[sign]


@rule("discount", r"(?P<a>[1-9])\.?(?P<b>[1-9])折")
def discount(found: re.Match[str], _: Place) -> str | None:
    """8.5折 and 85折 are both 八五折."""
    return f"{number(found['a'])}{number(found['b'])}折"


@rule("floor", r"[-−](?P<a>\d{1,2})(?=[楼层])")
def below_ground(found: re.Match[str], _: Place) -> str | None:
    """-1楼."""
    return "负" + number(found["a"])


@rule("sum", rf"(?P<a>{FIGURE})\s?(?P<op>[+×xX*÷=])\s?(?=\d)")
def arithmetic(found: re.Match[str], place: Place) -> str | None:
    """1+1, 7×24小时, 3*4."""
    return number(found["a"]) + {"+": "加", "×": "乘", "x": "乘", "X": "乘", "*": "乘", "÷": "除以", "=": "等于"}[found["op"]]


@rule("number", rf"(?P<sign>[-−±+])?(?P<a>{FIGURE})(?P<per>(?=元/)元(?:/(?:{_PER_UNIT})){{1,2}})?")
def quantity(found: re.Match[str], place: Place) -> str | None:
    """Any other figure: 4000元, 2.5万元, 12个, 元/月 included."""
    money = re.match(r"(?:[万亿])?(?:元|块)", found["per"] or place.after)
    reading = (amount if money else number)(found["a"], found["per"] or place.after)
    return _sign(found["sign"], place) + reading + ("元" + per_units(found["per"][1:]) if found["per"] else "")


@rule("digits", r"\d{1,64}")
def digits(found: re.Match[str], _: Place) -> str | None:
    """What no rule knows is dictated."""
    return one_by_one(found[0])


RULES: tuple[Rule, ...] = (
    percent_range, percent, degrees_range, degrees, price_range, price, price_after, unit_range, ordinal_range, ordinals,
    fraction, measure, discount, below_ground, arithmetic, plain_range, quantity, digits,
)  # fmt: skip
