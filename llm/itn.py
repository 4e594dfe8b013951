"""Spoken numerals in a masked text → figures as people write them: 三万二千五百元 → 32500元, 早上八点半 → 早上8点半. Pure.

    text → placeholders and titles → words that only hold a numeral → typed spans (document, percentage, time, number …)

A scanner goes from left to right; where a numeral may begin it asks the rules in order, and the first that writes something there
wins. What no rule is sure of stays as it was said: 七八个, 两三天, 万一. For people's eyes, and for whatever compares figures;
never for finding personal data, which happens before. Knows nothing of calls.
"""

from __future__ import annotations

import re

from llm.itn_rules import RULES
from llm.itn_words import IDIOM, IDIOM_BEGINS, LUNAR, NUMERAL, WEEKDAY

_OPAQUE = re.compile(r"〈[^〈〉]{1,12}〉|《[^《》]{1,60}》|【[^【】]{1,60}】")
_TRIGGER = re.compile(rf"[〈《【第周星礼农阴腊正初国省市县区府A-Za-z{IDIOM_BEGINS}{NUMERAL}]|\d(?=[\d\s]{{0,8}}[{NUMERAL}])")
_KEPT = (_OPAQUE, WEEKDAY, LUNAR, IDIOM)
_RUN = re.compile(rf"[{NUMERAL}]+|.", re.DOTALL)


def written(text: str) -> str:
    """The text as written. Never raises; takes linear time; placeholders 〈…〉 and titles 《…》 stay as they are."""
    out: list[str] = []
    at = 0
    while found := _TRIGGER.search(text, at):
        out.append(text[at : found.start()])
        at = found.start()
        piece, at = _piece(text, at)
        out.append(piece)
    out.append(text[at:])
    return "".join(out)


def _piece(text: str, at: int) -> tuple[str, int]:
    """What stands at a place, as written, and where it ends."""
    for kept in _KEPT:
        if opaque := kept.match(text, at):
            return opaque.group(), opaque.end()
    for pattern, write in RULES:
        match = pattern.match(text, at)
        if match and (figure := write(match)) is not None:
            return figure, match.end()
    whole = _RUN.match(text, at)
    assert whole is not None  # noqa: S101  _RUN takes any character
    return whole.group(), whole.end()
