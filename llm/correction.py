"""A turn that takes something back (居住证丢了，不对，是身份证丢了) → the part that counts. Pure; knows no entries, no scores.

What was taken back must not be answered; where nothing is left after the correction, the turn stays whole.
"""

from __future__ import annotations

import re

from hotline.zh.script import simplify
from llm.followup import asks_how, names_nothing
from llm.gate import things_in
from llm.gate_words import Words

_AT_MOST = 8
_PAUSE = r"[\s，,。.！!？?、；;…]"
_HUM = r"(?:[哦噢喔啊呃嗯哎唉诶欸呀]|那个)"
_SLIP = (
    r"(?:我|你|您|你们)?(?:这个|都|给|又|可能|好像|全)?(?:说|讲|问|搞|弄|记|答|听|理解|报|念|查)(?:得|的)?"
    r"(?:错|反|岔|混|差)(?:了|啦)?|口误|更正(?:一下)?|纠正(?:一下)?"
)
_DENIAL = (
    r"不对|(?:我|俺)?(?:没有?|不是)[问说讲](?:这个|那个|这件事|这事)|"
    r"不是(?:的|这个|那个|这样|这件事|那件事)?|错了|不"
)
_BACK = rf"(?>(?:(?:{_SLIP}|{_DENIAL})(?:[啊吧呀哈了哦呢]|{_PAUSE})*)+)"  # atomic: a caller may say 不 a thousand times
# 我问的是: says itself that what was understood is not what was asked
_INSTEAD = (
    r"(?:我|俺)(?:刚才|刚刚|其实|本来|这次|现在|就|是|真正)*(?:想|要)?(?:问|说|讲|咨询|了解|知道|打听|查|指|讲|办)(?:一下)?(?:的)?"
    r"(?:其实|应该)?(?:是(?!不是)|的是|不是[^，,。是]{1,12}[，,]?(?:而)?是)"
)
_WANTING = r"(?:我|俺)(?:是|就是|其实|现在)*(?:想|要|想要)(?:问|说|咨询|了解|知道|打听|查)(?:一下)?的?是?"
_THEN = r"(?:应该|其实|而|就|改成|换成)?是(?!不是|否)|应该|改成|换成"

# after a pause or a hum, or at the start: 护照怎么办，说错了，居住证怎么办
_APART = re.compile(rf"(?:^|{_PAUSE}|{_HUM}){_HUM}*+{_BACK}(?P<link>{_INSTEAD}|{_WANTING}|{_THEN})?")
# without a pause, as many recognisers write: 居住证丢了不对是身份证丢了
_RUN_ON = re.compile(
    rf"(?:{_SLIP}|(?<!得)(?<!的)不对|{_HUM}不是?|不是不是|不不++){_PAUSE}*+(?:{_BACK})?(?P<link>{_INSTEAD}|{_THEN})"
)
_CONTRAST = re.compile(rf"(?<!是)不(?:是|办|问|要)(?P<not>[^，,。是]{{1,14}}?){_PAUSE}*(?:而)?是(?!不是|否)")
_INSTEAD_ALONE = re.compile(_INSTEAD)
_WORDS_BACK = re.compile(_BACK)
_LINKED = re.compile(rf"(?:{_INSTEAD}|{_WANTING}|{_THEN})$")  # without it, 不对，… is an objection
_OURS = re.compile("[你您](?:们)?(?:刚才|刚刚|前面|上面|上次)?(?:不是)?(?:说|讲|告诉)")
_LEADS = re.compile(rf"^(?:{_PAUSE}|{_HUM}|是(?!不是|否))+")


def what_counts(text: str, words: Words | None = None) -> str:
    """The turn after its last correction, or the whole turn. words: of the gate, default the shipped."""
    folded = simplify(text)
    start = 0
    for found in _corrections(folded, words):
        if found > start and _stands(folded[start:found], folded[found:]):
            start = found
    return _LEADS.sub("", text[start:]) if start else text


def _corrections(folded: str, words: Words | None) -> list[int]:
    """Where each correction's words end, in order."""
    ends: list[int] = []
    for found in _latest(_APART, folded):
        paused = re.search(rf"{_PAUSE}$", found.group()) is not None
        if found["link"] or paused:
            ends.append(found.end())
    for found in _latest(_RUN_ON, folded):
        plain = re.search(_SLIP, found.group()) or re.match(_INSTEAD, found["link"])
        if plain or (things_in(folded[: found.start()], words) and things_in(folded[found.end() :], words)):
            ends.append(found.end())
    for found in _latest(_CONTRAST, folded):
        said_before = found["not"] in folded[: found.start()]
        if said_before or things_in(found["not"], words) or found["not"] in {"这个", "那个"}:
            ends.append(found.end())
    if ends and (instead := _INSTEAD_ALONE.search(folded, max(ends))):
        ends.append(instead.end())
    return sorted(ends)


def _latest(pattern: re.Pattern[str], folded: str) -> list[re.Match[str]]:
    """The last few: nobody takes back more in one turn."""
    return list(pattern.finditer(folded))[-_AT_MOST:]


def _stands(before: str, after: str) -> bool:
    """What follows names a matter by itself, and is no word about what we said."""
    if names_nothing(after) or _OURS.search(after):
        return False
    took_back = not names_nothing(_WORDS_BACK.sub("", before))
    return took_back or _LINKED.search(before) is not None or asks_how(after)
