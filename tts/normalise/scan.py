"""Tidied text and rules in → text with each typed span replaced by its reading out. Knows no rule's meaning.

The scanner goes from left to right. Where a span may begin it asks the rules in order; the first that reads something
there wins. Every pattern is bounded, so the work per character is, and the whole is linear.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_CONTEXT = 12
_TRIGGER = re.compile(r"[0-9A-Za-z¥$€£%‰+\-−±≥≤<>〈(（\[〔第京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼#]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a span stands. before/after: a dozen characters on each side; listed: the kind of span that this continues."""

    before: str
    after: str
    listed: str = ""


Reading = Callable[[re.Match[str], Place], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One kind of span. read: its reading, or None where the pattern fits but the place says otherwise."""

    kind: str
    pattern: re.Pattern[str]
    read: Reading


_LIST_MARK = re.compile(r"[、,，/]|或者?|和|及|与|以及|、?或拨打")


def rule(kind: str, pattern: str) -> Callable[[Reading], Rule]:
    """Make a reading function a rule."""

    def make(read: Reading) -> Rule:
        return Rule(kind=kind, pattern=re.compile(pattern), read=read)

    return make


def scan(text: str, rules: Iterable[Rule]) -> str:
    """Replace every span by its reading."""
    rules = tuple(rules)
    out: list[str] = []
    position = 0
    last_kind, last_end = "", 0
    while found := _TRIGGER.search(text, position):
        start = found.start()
        out.append(text[position:start])
        position = start
        listed = last_kind if start > last_end and _LIST_MARK.fullmatch(text, last_end, start) else ""
        for candidate in rules:
            match = candidate.pattern.match(text, start)
            if match is None or match.end() == start:
                continue
            place = Place(
                before=text[max(0, start - _CONTEXT) : start],
                after=text[match.end() : match.end() + _CONTEXT],
                listed=listed,
            )
            reading = candidate.read(match, place)
            if reading is not None:
                out.append(reading)
                position = match.end()
                last_kind, last_end = candidate.kind, position
                break
        else:
            out.append(text[start])
            position = start + 1
    out.append(text[position:])
    return "".join(out)
