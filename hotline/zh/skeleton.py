"""One plain form of a text for matching: raw text → skeleton, with the way back to the raw text. Knows no patterns.

Widths, compatibility forms (NFKC) and traditional characters are folded, invisible characters dropped; numerals stay as written.
"""

from __future__ import annotations

import functools
import unicodedata
from dataclasses import dataclass

from hotline.zh.script import simplify


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """text[i] came from raw[starts[i]:ends[i]]."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def __repr__(self) -> str:
        """Without the text: it is what the caller said."""
        return f"Skeleton(characters={len(self.text)})"


@functools.lru_cache(maxsize=16384)
def _fold(cluster: str) -> str:
    return simplify(unicodedata.normalize("NFKC", cluster))


@functools.lru_cache(maxsize=16384)
def _joins(char: str) -> bool:
    """Belongs to the character before it."""
    return unicodedata.combining(char) != 0


def skeleton(raw: str) -> Skeleton:
    """The plain form and where each of its characters came from."""
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(raw):
        end = at + 1
        while end < len(raw) and _joins(raw[end]):
            end += 1
        for char in _fold(raw[at:end]):
            text.append(char)
            starts.append(at)
            ends.append(end)
        at = end
    return Skeleton(text="".join(text), starts=tuple(starts), ends=tuple(ends))
