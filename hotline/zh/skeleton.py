"""One plain form of a text for matching: raw text → skeleton, with the way back to the raw text. Knows no patterns.

Folded: width and compatibility forms (NFKC), decimal digits of every script, traditional characters. Dropped: what is not seen
(zero-width, direction and control characters) and marks that make no letter (keycaps, strokes through digits), so that nothing
hides inside a number. Kept: spoken numerals, spaces, punctuation, case.
"""

from __future__ import annotations

import functools
import unicodedata
from dataclasses import dataclass

from hotline.zh.script import simplify

_LONGEST_CLUSTER = 16  # characters; a longer pile of marks is cut, so that its normalisation stays linear


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """text[i] came from raw[starts[i]:ends[i]]; both rise, and several characters may share one stretch (㎡ → m2)."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def __repr__(self) -> str:
        """Without the text: it is what the caller said."""
        return f"Skeleton(characters={len(self.text)})"

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the raw text that text[start:end] came from; what was dropped in between is inside."""
        if not 0 <= start < end <= len(self.text):
            raise IndexError(f"no span {start}:{end} in {len(self.text)} characters")
        return self.starts[start], self.ends[end - 1]


def _sounds(char: str) -> bool:
    """Neither a format, control or enclosing character nor a variation selector."""
    category = unicodedata.category(char)
    return not (category in {"Cf", "Me"} or "\ufe00" <= char <= "\ufe0f" or (category == "Cc" and not char.isspace()))


def _plain(char: str) -> str:
    digit = unicodedata.digit(char, None)  # ⓵ and ❶ too, which NFKC leaves
    return char if digit is None else str(digit)


def _fold(cluster: str) -> str:
    composed = unicodedata.normalize("NFKC", "".join(filter(_sounds, cluster)))
    return "".join(_plain(char) for char in composed if _sounds(char) and unicodedata.category(char) != "Mn")


@functools.lru_cache(maxsize=32768)
def _fold_char(char: str) -> str:
    """One character alone, kept between calls: single characters tell nothing about anybody."""
    return _fold(char)


@functools.lru_cache(maxsize=32768)
def _joins(char: str) -> bool:
    """A mark without a place of its own: it belongs to the character before it."""
    return unicodedata.category(char) in {"Mn", "Me"}


def _cluster_end(raw: str, at: int) -> int:
    end, last = at + 1, min(at + _LONGEST_CLUSTER, len(raw))
    while end < last and _joins(raw[end]):
        end += 1
    return end


def skeleton(raw: str) -> Skeleton:
    """The plain form and where each of its characters came from. Linear."""
    alone = [_fold_char(char) for char in raw]
    if "" not in alone and len(plain := "".join(alone)) == len(raw):  # nearly always: no marks, one for one
        return Skeleton(text=simplify(plain), starts=tuple(range(len(raw))), ends=tuple(range(1, len(raw) + 1)))
    return _by_clusters(raw)


def _by_clusters(raw: str) -> Skeleton:
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(raw):
        end = _cluster_end(raw, at)
        folded = _fold_char(raw[at]) if end == at + 1 else _fold(raw[at:end])
        text.append(folded)
        starts.extend([at] * len(folded))
        ends.extend([end] * len(folded))
        at = end
    return Skeleton(text=simplify("".join(text)), starts=tuple(starts), ends=tuple(ends))
