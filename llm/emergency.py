"""Masked text → the emergency in it, if any, with the fixed words to speak. Waits for no model; knows nothing of answers.

Three sieves: what is said (phrases, on the folded text without spaces), how it sounds (a few long phrases by fuzzy pinyin, because
the recogniser writes homophones), and what it is really about (fees, rules, last year's case): the last lets an ordinary question
through unless something in it says *now*.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from hotline.zh.pinyin import fuzzy, syllables
from hotline.zh.skeleton import skeleton
from llm import emergency_english as english
from llm import emergency_words as words
from llm.emergency_words import EmergencyKind
from llm.types import MaskedText

__all__ = ["INSTRUCTIONS", "Emergency", "EmergencyKind", "EmergencyRule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Emergency:
    """An emergency. instruction: spoken at once, whole, not to be interrupted; a person is called in parallel."""

    kind: EmergencyKind
    instruction: str


INSTRUCTIONS = {  # 12356 isn't answered at night everywhere: it never stands alone
    EmergencyKind.SELF_HARM: "您先别急，我在听。有生命危险请马上拨打120或110，也可以拨打12356心理援助热线。我这就为您转接人工。",
    EmergencyKind.FIRE: "请立即离开危险的地方，马上拨打119，有人受伤同时拨打120。我这就为您转接人工。",
    EmergencyKind.GAS: "不要开灯和用火，请开窗、关阀门，到室外再拨打119，有人不舒服请拨打120。我这就为您转接人工。",
    EmergencyKind.CRIME: "请先到安全的地方，马上拨打110报警，有人受伤同时拨打120。我这就为您转接人工。",
    EmergencyKind.MEDICAL: "请马上拨打120急救电话，说清地点，不要随意移动病人。我这就为您转接人工。",
    EmergencyKind.RESCUE: "请马上拨打119救援电话，有人受伤或不舒服同时拨打120。我这就为您转接人工。",
    EmergencyKind.TRAFFIC: "请先到路边安全处，有人受伤马上拨打120，并拨打122报警。我这就为您转接人工。",
    EmergencyKind.THREAT: "我听到了，请您先冷静，有什么事慢慢说。有人有危险请马上拨打110。我这就为您转接人工。",
}
_VETOES: dict[EmergencyKind, tuple[re.Pattern[str], ...]] = {
    EmergencyKind.FIRE: (words.WORRY,),
    EmergencyKind.GAS: (words.WORRY,),
    EmergencyKind.TRAFFIC: (words.WORRY, words.SETTLED),
    EmergencyKind.RESCUE: (words.WORRY, words.THINGS),
    EmergencyKind.SELF_HARM: (words.WORK,),
}
_SILENT = re.compile(r"[\s\u200b-\u200f\u2060\ufeff·]+")
_CLAUSE = re.compile(r"[,。;!?、]")
_LONGEST = 2000  # as the masker
_SOUNDED = 500


class EmergencyRule:
    """Finds emergencies in masked text. Stateless; made once, so that the pinyin table is loaded before the first call."""

    def __init__(self) -> None:
        self._sounds = _sounds()

    def check(self, text: MaskedText) -> Emergency | None:
        """The emergency in a turn, if any."""
        folded = skeleton(text.text[:_LONGEST]).text
        plain = words.IDIOM.sub("、", _SILENT.sub("", folded))
        kind = _said(plain) or self._heard(plain) or _in_english(folded.lower().replace("’", "'"))
        return Emergency(kind=kind, instruction=INSTRUCTIONS[kind]) if kind else None

    def _heard(self, plain: str) -> EmergencyKind | None:
        if (words.ABOUT.search(plain) or words.PAST.search(plain)) and not words.NOW.search(plain):
            return None
        sound = _sound_of(_CLAUSE.sub("", plain)[:_SOUNDED])
        return next((kind for kind, phrase in self._sounds if phrase in sound), None)


def _in_english(text: str) -> EmergencyKind | None:
    if english.CRY.search(text) and english.CRIES.search(text):
        return EmergencyKind.CRIME
    if english.ABOUT.search(text) and not english.NOW.search(text):
        return None
    return next((kind for kind, said in english.SAID.items() if said.search(text)), None)


def _said(plain: str) -> EmergencyKind | None:
    if words.ACCIDENT.search(plain) and not words.MEANT.search(plain) and not _ordinary(EmergencyKind.MEDICAL, plain):
        return EmergencyKind.MEDICAL
    if words.ALWAYS.search(plain) and not words.STORY.search(plain):
        return EmergencyKind.SELF_HARM
    now = words.NOW.search(plain) is not None
    return next((kind for kind, said in words.SAID.items() if said.search(plain) and (now or not _ordinary(kind, plain))), None)


def _ordinary(kind: EmergencyKind, plain: str) -> bool:
    """The words are there, but it is about fees, rules, the past, or another thing of that name."""
    if words.ABOUT.search(plain) or words.PAST.search(plain):
        return True
    if kind is EmergencyKind.FIRE and words.FLAMES.search(plain) is None and words.SMOKE.search(plain):
        return True
    return any(veto.search(plain) for veto in _VETOES.get(kind, ()))


def _sound_of(text: str) -> str:
    return " " + " ".join(fuzzy(s) for s in syllables(text)) + " "


@functools.cache
def _sounds() -> tuple[tuple[EmergencyKind, str], ...]:
    return tuple((kind, _sound_of(phrase)) for kind, phrases in words.SOUNDS.items() for phrase in phrases)
