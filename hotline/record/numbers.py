"""Long digit runs in text that should be masked: text in, found or blotted out. Knows nothing of what a number means.

The second look after the masker, with a table of its own on purpose: for a number to leak, two tables must be wrong.
"""

from __future__ import annotations

import re

# \d: ASCII, full-width and every other script's decimal digits.
_DIGIT = r"[\d零〇一二三四五六七八九幺两壹贰叁肆伍陆柒捌玖⓪①-⑨]"
# White space between digits doesn't break a run (recognisers write 138 0013 8000).
_LONG_RUN = re.compile(rf"{_DIGIT}(?:\s*{_DIGIT}){{6,}}")
_AMOUNT_UNIT = re.compile(r"\s*[元块圆万亿]")
_LONGEST_AMOUNT = 10

BLOT = "〈号码〉"


def has_long_number(text: str) -> bool:
    """Whether seven or more digits (ASCII, full-width or Chinese) stand in a row. An amount of up to ten (1500000元) is let by."""
    return any(not _is_amount(found) for found in _LONG_RUN.finditer(text))


def blot_long_numbers(text: str) -> str:
    """The text with every such run replaced by 〈号码〉."""
    return _LONG_RUN.sub(lambda found: found.group() if _is_amount(found) else BLOT, text)


def _is_amount(found: re.Match[str]) -> bool:
    digits = sum(not character.isspace() for character in found.group())
    return digits <= _LONGEST_AMOUNT and _AMOUNT_UNIT.match(found.string, found.end()) is not None
