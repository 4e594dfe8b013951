"""Two texts → how many characters of the one are wrong in the other. Pure; knows no masker: whoever calls has masked both alike.

Compared after this, on both sides: NFKC, lower case, simplified characters; each placeholder 〈手机号·1〉 is one character; a
per cent sign is 百分之 and a decimal point 点; a number is its digits however it was said (一百二十三, 123 and 幺二三 are the
same); then everything but letters, digits and 汉字 is dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from hotline.zh.numerals import parse_number, read_number
from hotline.zh.script import simplify

_PLACEHOLDER = re.compile(r"〈[^〉]{1,20}〉")
_STANDS_FOR = "\ue000"  # of a private use area: no text has it
_PER_CENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_SEPARATOR = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PLACES = "十百千万亿"
_DIGITS = dict(zip("零〇一幺二两三四五六七八九", "0011223456789", strict=True))
_NUMBER = re.compile(f"[{''.join(_DIGITS)}{_PLACES}0-9]+")
_MAX_DIGITS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """edits: characters put in, left out or changed; characters: of the reference."""

    edits: int
    characters: int

    @property
    def rate(self) -> float | None:
        """The character error rate; None where the reference is empty."""
        return self.edits / self.characters if self.characters else None


def errors(reference: str, heard: str) -> Errors:
    """Compare two masked texts."""
    expected, got = normalised(reference), normalised(heard)
    return Errors(edits=Levenshtein.distance(expected, got), characters=len(expected))


def total(each: Iterable[Errors]) -> Errors:
    """Of many texts: long ones weigh more."""
    found = list(each)
    return Errors(edits=sum(one.edits for one in found), characters=sum(one.characters for one in found))


def normalised(text: str) -> str:
    """What is compared."""
    plain = _PLACEHOLDER.sub(_STANDS_FOR, text.replace(_STANDS_FOR, ""))
    plain = simplify(unicodedata.normalize("NFKC", plain).lower())
    plain = _PER_CENT.sub(r"百分之\1", _SEPARATOR.sub("", plain))
    plain = _NUMBER.sub(_digits, _POINT.sub("点", plain))
    return "".join(char for char in plain if char == _STANDS_FOR or unicodedata.category(char)[0] in "LN")


def _digits(number: re.Match[str]) -> str:
    """A number's digits. What makes no value (十百) keeps its characters."""
    said = number[0]
    if any(place in said for place in _PLACES):
        spoken = re.sub(r"\d+", lambda figures: read_number(figures[0]) if len(figures[0]) <= _MAX_DIGITS else figures[0], said)
        value = parse_number(spoken.replace("幺", "一").replace("〇", "零"))
        if value is not None:
            return str(value)
    return "".join(_DIGITS.get(char, char) for char in said)
