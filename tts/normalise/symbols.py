"""Signs between words → words, or nothing. Knows nothing of numbers: they are read by then, but for the neighbours of < and ≥."""

import re

from hotline.zh.numerals import read_digits
from tts.normalise.figures import number
from tts.normalise.scan import Place, Rule, rule

_WORDS = {"<": "小于", ">": "大于", "≤": "小于等于", "≥": "大于等于", "±": "正负"}


@rule("sign", r"(?P<s><=|>=|[<>≤≥])\s?(?=[¥$\-]?\d|[一-龥A-Za-z])")
def compared(found: re.Match[str], place: Place) -> str | None:
    """收入<5000元; only where a figure stands on one side."""
    if not re.match(r"[¥$\-]?\d", place.after) and not re.search(r"[\d元%]$|[一-龥]$", place.before):
        return ""
    return _WORDS[{"<=": "≤", ">=": "≥"}.get(found["s"], found["s"])]


@rule("sign", r"#(?=[楼房机线栋])")
def number_sign(_: re.Match[str], __: Place) -> str | None:
    """5#楼."""
    return "号"


@rule("sign", r"(?P<n>\d{1,2})\.(?=[一-龥])")
def list_mark(found: re.Match[str], place: Place) -> str | None:
    """1.身份证."""
    return f"{number(found['n'])}、" if not re.search(r"[^\s，。；：、]$", place.before) else None


@rule("letters", r"[A-Za-z]{1,64}")
def letters(found: re.Match[str], _: Place) -> str | None:
    """Letters stay, in one step."""
    return found[0]


BEFORE_NUMBERS: tuple[Rule, ...] = (list_mark,)
RULES: tuple[Rule, ...] = (compared, number_sign, letters)

_UNIT_END = r"(?<=[年月日号时点分秒元度米楼层室岁级个天周一二三四五六日末千百万十零])"
_SPAN_BEGIN = r"(?=[零一二两三四五六七八九十百千幺]|周|星期|月|第|上午|下午|凌晨|次日|晚)"
_LEFT = (
    (re.compile(r"(?<=[按下])\*|\*(?=号?键)"), "星号"),
    (re.compile(r"(?<=[按下])#|#(?=号?键)"), "井号"),
    (re.compile(r"星号号"), "星号"),
    (re.compile(r"井号号"), "井号"),
    (re.compile(r"(?<=GB)/(?=T)"), ""),
    (re.compile(r"(?<![A-Za-z-])([A-Z])-(?=[A-Z](?![A-Za-z-]))"), r"\1到"),
    (re.compile(r"&"), "和"),
    (re.compile(_UNIT_END + r"[-~—–]" + _SPAN_BEGIN), "到"),
    (re.compile(r"%"), "百分号"),
    (re.compile(r"‰"), "千分号"),
    (re.compile(r"¥"), "元"),
    (re.compile(r"\$"), "美元"),
    (re.compile(r"€"), "欧元"),
    (re.compile(r"£"), "英镑"),
    (re.compile(r"℃|°C"), "摄氏度"),
    (re.compile(r"°"), "度"),
    (re.compile(r"㎡|m²"), "平方米"),
    (re.compile(r"m³"), "立方米"),
    (re.compile(r"="), "等于"),
    (re.compile(r"≈"), "约等于"),
    (re.compile(r"×(?=[零一二两三四五六七八九十])"), "乘"),
    (re.compile(r"(?<=[A-Za-z])-(?=[零一二两三四五六七八九十])"), "杠"),
    (re.compile(r"(?<=[A-Za-z])\+(?=[A-Za-z])|(?<=[一-龥])\+"), "加"),
    (re.compile(r"(?<=[一-龥A-Za-z])/(?=[一-龥A-Za-z])"), "或"),
    (re.compile(r"@"), "艾特"),
    (re.compile(r"[<>#*`|\\^_~{}$+/×÷²³]"), ""),
    (re.compile(r"(?<=[一-龥])-(?=[一-龥A-Za-z])"), ""),
)  # fmt: skip


def leftovers(text: str) -> str:
    """The last sweep: signs to words, and no digit stays."""
    for pattern, word in _LEFT:
        text = pattern.sub(word, text)
    return re.sub(r"\d", lambda digit: read_digits(digit[0]), text)
