"""A question and an entry → whether a fee or a sum is asked for, and which of the entry's texts states it. Pure; knows no scores.

护照要多少钱 is not answered by how a passport is applied for: an amount is answered only by a text that holds one.
"""

from __future__ import annotations

import enum
import re

from llm.sound import sound_of
from llm.types import Entry
from llm.wording import plain


class Amount(enum.Enum):
    """What kind of amount is asked for."""

    FEE = "fee"  # what the caller pays
    SUM = "sum"  # what the caller gets
    ANY = "any"  # 多少钱: either
    FINE = "fine"
    DAMAGES = "damages"


_HOW_MUCH = "(?:多少(?!年|天|岁|个|次|时间|人|号|平|久|工作日)|几块|几元|几百|几千|几万)"
_ASKED = (
    (Amount.FINE, re.compile(f"罚款?(?:要|是)?{_HOW_MUCH}|罚款吗|要罚|罚不罚")),
    (Amount.DAMAGES, re.compile("(?<!谁)(?<!谁来)(?<!谁给)赔")),
    (
        Amount.SUM,
        re.compile(
            f"(?:领|拿|报|报销|补|补贴|补助|给|提|取|发)(?:取|到|出来|我)?(?:个|的是)?{_HOW_MUCH}|百分之[几多]|(?:报销|报)比例"
        ),
    ),
    (
        Amount.FEE,
        re.compile(
            f"(?:要|收|交|缴|付|花|出|费用?)(?:是|的是|我)?{_HOW_MUCH}|(?:要|花|交|收|给)(?:不[要花交收给])?钱[吗不么嘛呀啊]|"
            "要不要(?:交|花|给)?钱|收不收[费钱]|收费|免费[吗不么的]?$|工本费|手续费|价格|什么价|价钱|费用(?:是|怎么)?(?:高|贵)|贵不贵|贵吗"
        ),
    ),
    (Amount.ANY, re.compile(f"{_HOW_MUCH}(?:钱|费用?|元|块)|(?<!电话)(?<!号码)(?<!电话是)(?<!号码是)多少[呢啊呀]?$")),
)
_SUM_STATED = re.compile("[一二三四五六七八九十百千万两0-9][元角]|百分之|计发|个月工资")
_FEE_STATED = re.compile("[不要]收费|免费|工本费|费[^，。；]{0,6}[十百千万0-9]元")
_STATED = {
    Amount.FEE: _FEE_STATED,
    Amount.SUM: _SUM_STATED,
    Amount.ANY: re.compile(f"{_FEE_STATED.pattern}|{_SUM_STATED.pattern}"),
    Amount.FINE: re.compile("[十百千万]元(?:以[上下])?罚款"),
    Amount.DAMAGES: re.compile("赔偿?金?[^。]{0,8}(?:元|百分之|倍|工资)|(?:元|百分之|倍|工资)[^。]{0,12}赔"),
}
_PENALTY = re.compile("罚款|拘留|赔偿")
_PAID = re.compile(
    f"{_FEE_STATED.pattern}|(?:不|不得|免|不再)(?:收|收取|交|缴)|[价票费收交缴付][^，。；]{{0,8}}[零一二三四五六七八九十百千万两0-9][元角]"
)
_AROUND_FEE = re.compile(
    "不收费|要?收费|免费|工本费|缴纳|首次|同样是|一律|全程|办理|申请|[零一二三四五六七八九十百千万两0-9]+元|不|要|的|是|也|都"
)


def asks_amount(question: str) -> Amount | None:
    """The kind of amount that is asked for, None when none is."""
    folded = plain(question)
    return next((kind for kind, asked in _ASKED if asked.search(folded)), None)


def answering_text(question: str, entry: Entry) -> str:
    """What is spoken: the answer; the detail, where an amount is asked for and only that states it. Empty when neither does."""
    asked = asks_amount(question)
    if asked is None:
        return entry.answer
    return next((text for text in (entry.answer, entry.detail) if _states(asked, text, question, entry)), "")


def states_payment(text: str) -> bool:
    """It says what is paid, for whatever: enough for 要钱吗 about a matter that it is known to be about."""
    return any(_PAID.search(part) and not _PENALTY.search(part) for part in re.split("[，。；]", text))


def _states(asked: Amount, text: str, question: str, entry: Entry) -> bool:
    return any(
        _STATED[asked].search(part) and (asked in {Amount.FINE, Amount.DAMAGES} or _is_about(part, question, entry))
        for part in (re.split("[，。；]", text) if asked not in {Amount.FINE, Amount.DAMAGES} else [text])
    )


def _is_about(part: str, question: str, entry: Entry) -> bool:
    """No penalty, and no other thing's fee: 拖车不收费 says nothing about a report's."""
    if _PENALTY.search(part):
        return False
    if not _FEE_STATED.search(part):
        return True
    known = {sound_of(char) for text in (question, entry.question, *entry.paraphrases) for char in plain(text)}
    return all(sound_of(char) in known for char in plain(_AROUND_FEE.sub("", part)))
