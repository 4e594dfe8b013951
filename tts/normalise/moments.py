"""Spans of dates, years and times of day. Knows nothing of other numbers."""

import re

from tts.normalise.figures import DASH, SIGN_DASH, number, to_word, year
from tts.normalise.scan import Place, Rule, rule

_YEAR = r"(?:1[5-9]|20|21)\d\d"
_MONTH = r"(?:1[0-2]|0?[1-9])"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_CLOCK = r"(?:[01]?\d|2[0-4])[:：][0-5]\d(?:[:：][0-5]\d)?(?![\d:：])"
_RATIO_BEFORE = re.compile(r"(?:比例|比分|比率|赔率|杠杆|配比|按|以)(?:为|是|约|约为|达|达到)?\s?$")
_BORN = re.compile(r"(?:出)?生|毕业|入职|参军|入伍|结婚|退休|[底初末春夏秋冬]|版|款")
_HALVES = {"am": "上午", "pm": "下午"}


def _month_day(month: str, day: str) -> str:
    return f"{number(str(int(month)))}月{number(str(int(day)))}日"


def _sixtieths(value: int) -> str:
    """Minutes or seconds: 5 → 零五."""
    return ("零" if value and not value // 10 else "") + number(str(value))


def _clock(text: str) -> str:
    """8:05 → 八点零五分, 9:00 → 九点."""
    hour, minute, *second = (int(part) for part in re.split("[:：]", text))
    spoken = number(str(hour), "点") + "点"
    if minute or second:
        spoken += _sixtieths(minute) + "分"
    if second:
        spoken += _sixtieths(second[0]) + "秒"
    return spoken


@rule("date", rf"(?P<y>{_YEAR})(?P<sep>[-/.])(?P<m>{_MONTH})(?P=sep)(?P<d>{_DAY})(?:日|号)?(?![\d.])(?:[T ](?=\d\d?[:：]))?")
def full_date(found: re.Match[str], _: Place) -> str | None:
    """2026-03-01."""
    return f"{year(found['y'])}年{_month_day(found['m'], found['d'])}"


@rule("date", rf"(?P<y>{_YEAR})(?:[-/.](?P<m>0[1-9]|1[0-2])|[-/](?P<n>{_MONTH})(?=月))(?![\d.\-/])月?")
def year_month(found: re.Match[str], place: Place) -> str | None:
    """2026-03, 2026.03."""
    if re.match(r"\s?[元%万亿]|学?年", place.after):
        return None
    return f"{year(found['y'])}年{number(str(int(found['m'] or found['n'])))}月"


@rule("date", rf"(?P<y>{_YEAR}){DASH}(?P<z>{_YEAR})(?![\d.,])(?P<unit>学年度?|年度?)?")
def years(found: re.Match[str], place: Place) -> str | None:
    """2026-2027年度."""
    if not found["unit"] and (int(found["y"]) >= int(found["z"]) or re.match(r"\s?[元人个万户份吨%名米]", place.after)):
        return None
    return f"{year(found['y'])}{to_word(found)}{year(found['z'])}{found['unit'] or ''}"


@rule("date", rf"(?P<y>{_YEAR})(?P<unit>学?年|[级届款版](?!本)|财年)")
def calendar_year(found: re.Match[str], place: Place) -> str | None:
    """2026年; 1000年 with a word of length before it is a length of time."""
    if re.search(r"(?:满|近|约|超过|长达|历经|已有|经过|存续|共|多达)$", place.before) or re.match(r"[多余来]", place.after):
        return None
    return year(found["y"]) + found["unit"]


@rule("date", rf"(?P<y>\d\d)年(?P<m>{_MONTH})月(?P<d>{_DAY}[日号])?")
def short_year_month(found: re.Match[str], _: Place) -> str | None:
    """26年3月; 20年6个月 is a length of time."""
    day = found["d"]
    return f"{year(found['y'])}年{number(str(int(found['m'])))}月" + (number(str(int(day[:-1]))) + day[-1] if day else "")


@rule("date", r"(?P<y>\d\d)(?P<unit>年|后(?=[^\d的]|$))")
def short_year(found: re.Match[str], place: Place) -> str | None:
    """98年出生, 90后."""
    if found["unit"] == "后":
        return year(found["y"]) + "后" if found["y"][1] in "05" and not place.before.endswith(("第", "前", "后")) else None
    if _BORN.match(place.after) or re.search(r"(?:生于|出生于|毕业于|始于|建于)$", place.before):
        return None if place.before.endswith("民国") else year(found["y"]) + "年"
    return None


@rule("date", rf"(?P<m>0?[1-9]|1[0-2])月(?P<d>{_DAY})(?:(?P<unit>[日号])|(?![\d.%日号]))")
def month_day(found: re.Match[str], place: Place) -> str | None:
    """03月01日, 3月15."""
    if not found["unit"] and re.match(r"\s?[个元万人家月名件]", place.after):
        return None
    return f"{number(str(int(found['m'])))}月{number(str(int(found['d'])))}{found['unit'] or '日'}"


@rule("date", r"(?P<m>[1-9]|1[0-2])·(?P<d>\d{1,2})(?!\d)")
def named_day(found: re.Match[str], _: Place) -> str | None:
    """3·15, 12·4: days that have become names."""
    return "".join("零一二三四五六七八九"[int(digit)].replace("一", "幺") for digit in found["m"] + found["d"])


@rule("time", rf"(?P<a>{_CLOCK}){DASH}(?P<next>次日|第二天|翌日|晚上?|下午|上午|中午)?(?P<b>{_CLOCK})")
def clock_range(found: re.Match[str], _: Place) -> str | None:
    """9:00-17:30."""
    return f"{_clock(found['a'])}{to_word(found)}{found['next'] or ''}{_clock(found['b'])}"


@rule("time", rf"(?P<t>{_CLOCK})(?:\s?(?P<half>[aApP]\.?[mM]\b\.?))?(?:{SIGN_DASH}(?=[次第晚下上中早凌]))?")
def clock(found: re.Match[str], place: Place) -> str | None:
    """8:30, 17:30:05, 8:30am; 1:10 after 比例为 is a ratio."""
    if _RATIO_BEFORE.search(place.before):
        return None
    half = _HALVES[found["half"].lower().replace(".", "")] if found["half"] else ""
    return half + _clock(found["t"]) + ("到" if found[0][-1] in "-~—–" else "")


@rule("time", r"(?P<a>\d{1,4}(?:\.\d{1,4})?)\s?[:：]\s?(?P<b>\d{1,4}(?:\.\d{1,4})?)(?![\d:：])")
def ratio(found: re.Match[str], place: Place) -> str | None:
    """3:2, 1:10."""
    if re.fullmatch(_CLOCK, found[0]) and not _RATIO_BEFORE.search(place.before):
        return None
    return f"{number(found['a'])}比{number(found['b'])}"


@rule("time", r"(?P<h>[01]?\d|2[0-4])(?P<unit>点|时)(?P<m>[0-5]?\d)(?:分(?!钟)|(?=[^\d个元%.]|$))")
def hour_minute(found: re.Match[str], _: Place) -> str | None:
    """17点30分, 8点05, 8时5分."""
    hour = number(str(int(found["h"])), found["unit"]) + found["unit"]
    return f"{hour}{_sixtieths(int(found['m']))}分" if int(found["m"]) else f"{hour}整"


RULES: tuple[Rule, ...] = (
    full_date, years, year_month, calendar_year, short_year_month, short_year, month_day, named_day,
    clock_range, clock, ratio, hour_minute,
)  # fmt: skip
