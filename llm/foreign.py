"""A turn's text → whether it is (partly) in English, so that the words our wordings are compared with are not all of it. Pure.

Courtesies and the Latin words of Mandarin (APP, WiFi, ETC) are no English. Knows no entries but by the words handed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hotline.zh.skeleton import skeleton

_PLACEHOLDER = re.compile(r"〈[^〉]*〉")
_WORD = re.compile(r"[a-z]{3,}(?:['’][a-z]+)?")
_MANDARIN_TOO_TEXT = """
    app wifi etc vip pdf email mail word excel ppt gps usb sim atm pos web www com http https vpn led dvd mri ktv spa
    wechat alipay iphone ipad apple android huawei ofo hello hey bye goodbye okay yes yeah thanks thank please sorry
    excuse you baby cpi gdp lpr hpv dna pcr nba emo bug low diy hmm umm mmm ahh ohh uhh huh wow
"""
_MANDARIN_TOO = frozenset(_MANDARIN_TOO_TEXT.split())
_COURTESY = re.compile(
    r"(?<![a-z])(?:thank\s*you|thanks|thank|please|hello|hi|hey|ok|okay|sorry|excuse\s*me|bye)(?![a-z])[\s,.!?，。！？]*",
    re.IGNORECASE,
)
_WANTS_ENGLISH = re.compile(
    r"(?:speak|spoken|in|have|an?y?|using)\s+english|english\s*(?:please|service|speak\w*|speaking|line|support)|^\W*english\W*$|"
    r"(?:英文|英语|外语|双语)(?:的)?(?:服务|客服|接线|热线|坐席|人工)|[讲说会用](?:不会)?(?:英语|英文)(?:吗|的人|的吗|服务|沟通|可以)|"
    r"(?:don'?t|do\s+not|can'?t|cannot|no)\s+(?:speak|understand)\s+(?:any\s+)?chinese"
)


def english_words(text: str, known: Iterable[str] = ()) -> frozenset[str]:
    """Words of the turn that are English and nothing else. known: Latin words of the knowledge base."""
    said = frozenset(_WORD.findall(_folded(text)))
    return said - _MANDARIN_TOO - frozenset(known)


def without_courtesies(text: str) -> str:
    """Hello, please and thank you are no part of what is asked."""
    return _COURTESY.sub("", text)


def latin_words(text: str) -> frozenset[str]:
    """Latin words of a text of ours."""
    return frozenset(_WORD.findall(_folded(text)))


def wants_english(text: str) -> bool:
    """Asks for somebody who speaks English."""
    return _WANTS_ENGLISH.search(_folded(text)) is not None


def _folded(text: str) -> str:
    return _PLACEHOLDER.sub(" ", skeleton(text).text).lower()
