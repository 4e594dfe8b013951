"""A short question after an answer (要钱吗, 多久) → the entry of the same topic that answers it. Pure; knows no scores, no engine.

Such a question names no matter of its own: by itself it would match whatever entry happens to use the same words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llm.amounts import Amount, answering_text, asks_amount, states_payment
from llm.gate import About, doubts, things_in
from llm.gate_words import Words
from llm.sound import sound_of
from llm.types import Dialogue, Entry
from llm.wording import content, plain

# What is asked → what an answer to it contains.
_FACETS: tuple[tuple[str, str], ...] = (
    ("钱|收费|费用|工本费|贵", "收费|费|[0-9零一二三四五六七八九十百千万]+元|免费|钱"),
    ("多久|几天|多长时间|什么时候|啥时候|几个|几次|一次|时间|工作日|几点", "[日天月年]|小时|分钟|季度|点|当场|当天"),
    ("哪|地方|地址|窗口", "到.{2,}|向|窗口|派出所|大厅|街道|网|应用|中心"),
    ("带|材料|证件|手续|东西|资料", "带|凭|材料|证|提交|合同"),
    ("网上|手机上|线上|不去|应用", "网|应用|线上"),
    ("代办|别人|本人|家人|子女|替", "本人|代办|委托|亲自"),
    ("条件|资格|谁能", "以上|满|符合|可以"),
)
# What an objection claims (不对吧，你刚才说要十天) → what the text that puts it right contains.
_FIGURE = "[0-9零一二三四五六七八九十百千万两]+"
_CLAIMS = (
    (f"{_FIGURE}(?:元|块)", f"{_FIGURE}元|免费|不收费"),
    (f"{_FIGURE}个?(?:[天日周月年]|小时|工作日)|当天|当场", f"{_FIGURE}个?(?:[日天月年]|小时|工作日)|当天|当场"),
)
_ANYTHING = "."
_INSTEAD = re.compile("(?:那么|那|如果|要是|假如|换成|要)*(?P<other>.{2,6}?)(?:的话|的)?呢")
_MORE = re.compile("具体|详细|仔细|还有吗|还有呢|然后呢|再说说|讲讲")
_TOPIC_AT_MOST = 3
_ASKING = re.compile(
    "怎|如何|咋|啥|什么|哪|几|多|吗|呢|能|可以|办|查|交|领|取|转|换|补|丢|停|吵|没|不|坏|堵|漏|断|塌|裂|臭|亮|倒|爆|破|歪"
)
_HOW = re.compile("(?:怎么|如何|咋|怎样)(?:样|办|申请|提取|领|查|补|换|交|报|转|续|投诉|举报|登记|迁|备案|弄|开|注销|取|反映)")
_OBJECTION = re.compile("不对|你刚才|您刚才|刚才说|你说的|上面说|搞错")
_EMPTY = re.compile(
    "谢谢你|谢谢您|谢谢|多谢|顺便|再|贵不贵|贵|花钱|花多少|要花|钱|收费|费用|工本费|费|多久|多长|时间|几天|什么时候|啥时候|几个|几次|次|工作日|几点|几|地方|地址|窗口|材料|证件|手续|东西|资料|带|网上|手机上|线上|"
    "代办|别人|本人|家人|子女|条件|资格|谁能|具体|详细|仔细|等一下|等一等|等等|等|请问|麻烦|那个|那么|那|这个|这|怎么样|怎么办|怎么|如何|咋|什么|啥|哪里|哪儿|哪|多少|"
    "我|你|您|他|她|的|了|吗|呢|啊|呀|吧|嘛|要|想|问|可以|可不可以|能不能|能|需要|是不是|是|有没有|有|去|到|在|给|得|还|也|"
    "都|就|取|办理|办|弄|一下|会|收|交|好"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """entry: what answers. text: its answer or, where only that holds it, its detail. objection: the caller doubts us."""

    entry: Entry
    text: str
    objection: bool = False


def is_bare(question: str) -> bool:
    """Asks for a fee, a place, a time, and names no matter."""
    folded = plain(question)
    return bool(folded) and len(_EMPTY.sub("", folded)) <= 1 and _facet(folded) is not None


def names_nothing(question: str) -> bool:
    """Nothing is left without the words of asking: 那要多少钱, 怎么办."""
    return len(_EMPTY.sub("", plain(question))) <= 1


def asks_how(question: str) -> bool:
    """How something is done: a question of its own, no doubt about an answer."""
    return _HOW.search(plain(question)) is not None


def is_mere_topic(question: str) -> bool:
    """Names a matter and asks nothing about it: 公积金. What is meant is worth a question of ours."""
    return len(content(question)) <= _TOPIC_AT_MOST and not _ASKING.search(plain(question))


def topic_of(dialogue: Dialogue, entries: Sequence[Entry]) -> Entry | None:
    """The entry that the dialogue rested on last. entries: those that may be spoken now."""
    known = {entry.id: entry for entry in entries}
    for exchange in reversed(dialogue.history):
        if exchange.topic_id in known:
            return known[exchange.topic_id]
    return None


def follow_up(
    question: str, topic: Entry, entries: Sequence[Entry], *, region: str = "", words: Words | None = None
) -> FollowUp | None:
    """The topic's own entry if it holds what is asked, else a sibling that does."""
    folded = plain(question)
    objection = bool(_OBJECTION.search(folded)) and not _is_about_another_thing(question, topic, words)
    facet = _facet(folded)
    if (facet is None and not objection) or (not objection and names_another_matter(question, topic)):
        return None
    siblings = [entry for entry in entries if entry.topic == topic.topic and entry.id != topic.id]
    for entry in (topic, *siblings):
        # an objection may hold a negation or a figure that is wrong: that is what the answer corrects
        if not objection and any(
            doubt.hard and doubt.about not in {About.STRANGE, About.AMOUNT}
            for doubt in doubts(question, entry, region=region, words=words)
        ):
            continue
        if objection and facet is None:
            return FollowUp(entry=topic, text=_putting_right(folded, topic), objection=True)
        if facet and (text := _telling(question, facet, entry, is_own=entry is topic)):
            return FollowUp(entry=entry, text=text, objection=objection)
    return None


def instead(question: str, topic: Entry, words: Words | None = None) -> FollowUp | None:
    """那周末呢: the topic's answer or detail, where the entry speaks of that case. Another thing (那身份证呢) is another matter."""
    found = _INSTEAD.fullmatch(plain(question))
    if found is None or _facet(found["other"]) or not content(found["other"]):
        return None
    other = _heard(content(found["other"]))
    wordings = _heard("，".join((topic.question, *topic.paraphrases)))
    if things_in(found["other"], words) and other not in wordings:
        return None
    if other in _heard(topic.detail) and other not in _heard(topic.answer):
        return FollowUp(entry=topic, text=topic.detail)
    return FollowUp(entry=topic, text=topic.answer) if other in _heard(topic.answer) + wordings else None


def _telling(question: str, facet: str, entry: Entry, *, is_own: bool) -> str:
    """Which of the entry's texts holds what is asked; empty when none does. is_own: it is what the caller speaks of."""
    texts = (entry.detail, entry.answer) if facet is _ANYTHING else (entry.answer, entry.detail)
    amount = asks_amount(question)
    if amount is None:
        return next((text for text in texts if re.search(facet, text)), "")
    told = answering_text(question, entry)
    if told or not is_own or amount not in {Amount.FEE, Amount.ANY} or not is_bare(question):
        return told if re.search(facet, told) else ""
    return next(filter(states_payment, texts), "")


def _heard(text: str) -> str:
    return "".join(f" {sound_of(char)}" for char in text) + " "


def names_another_matter(question: str, topic: Entry) -> bool:
    """Beside the words of asking it holds two sounds or more that nothing in the topic's entry has: 光伏补贴还有吗."""
    known = {sound_of(char) for char in "".join((topic.topic, topic.question, *topic.paraphrases, topic.answer, topic.detail))}
    named = _EMPTY.sub("", _MORE.sub("", plain(question)))
    strange = [char for char in named if sound_of(char) not in known and char not in "说讲谈"]
    return len(strange) > 1


def _is_about_another_thing(question: str, topic: Entry, words: Words | None) -> bool:
    """你搞错了，居住证丢了 after an answer about passports is no objection to that answer."""
    asked = things_in(question, words)
    merely_named = is_mere_topic(_OBJECTION.sub("", plain(question)))  # 不对，身份证 doubts no word of the answer
    told = () if merely_named else (topic.answer, topic.detail)
    known = things_in("，".join((topic.topic, topic.question, *topic.paraphrases, *told)), words)
    return bool(asked) and not asked & known


def _putting_right(folded: str, topic: Entry) -> str:
    """Which of the topic's texts states what the caller has wrong."""
    for claim, stated in _CLAIMS:
        if re.search(claim, folded) and (text := next((t for t in (topic.answer, topic.detail) if re.search(stated, t)), "")):
            return text
    return topic.answer


def _facet(folded: str) -> str | None:
    """What the answer must contain."""
    for asks, answers in _FACETS:
        if re.search(asks, folded):
            return answers
    return _ANYTHING if _MORE.search(folded) else None
