"""Traditional → simplified characters, one for one, by OpenCC's t2s tables. Knows nothing of widths or sound.

OpenCC's converter walks the text in Python (about 2.5 µs a character); the same tables as one translation and one pattern take a
twentieth. They load at the first text that is not ASCII.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    """chars: code point → simplified; phrases: words, some with characters that turn out otherwise than alone (瞭解 → 了解)."""

    chars: dict[int, str]
    phrases: dict[str, str]
    pattern: re.Pattern[str]


def _pairs(file: Path) -> list[tuple[str, str]]:
    """Traditional and the preferred simplified form of each line, where both are equally long."""
    lines = (line.split("\t") for line in file.read_text("utf-8").splitlines() if line)
    pairs = ((old, new.split(" ")[0]) for old, new in lines)
    return [(old, new) for old, new in pairs if len(old) == len(new)]


@functools.cache
def _tables() -> _Tables:
    import opencc  # noqa: PLC0415  only who meets Chinese text pays for it

    folder = Path(opencc.__file__).parent / "dictionary"
    chars = {ord(old): new for old, new in _pairs(folder / "TSCharacters.txt")}
    phrases = dict(_pairs(folder / "TSPhrases.txt"))
    longest_first = sorted(phrases, key=len, reverse=True)
    return _Tables(chars=chars, phrases=phrases, pattern=re.compile("|".join(map(re.escape, longest_first))))


def simplify(text: str) -> str:
    """The text in simplified characters; character i stays character i."""
    if text.isascii():
        return text
    tables = _tables()
    plain, done = text.translate(tables.chars), 0
    pieces: list[str] = []
    for found in tables.pattern.finditer(text):
        pieces += plain[done : found.start()], tables.phrases[found[0]]
        done = found.end()
    return "".join((*pieces, plain[done:]))
