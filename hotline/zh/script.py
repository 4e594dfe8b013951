"""Traditional → simplified characters, one for one. Knows nothing of words, widths or sound."""

from __future__ import annotations

import functools
import re
from pathlib import Path


@functools.cache
def _tables() -> tuple[dict[int, str], re.Pattern[str], dict[str, str]]:
    """Characters, and the phrases whose characters turn out otherwise than alone; from OpenCC's t2s."""
    import opencc  # noqa: PLC0415  loading it costs, and most processes never meet a traditional character

    folder = Path(opencc.__file__).parent / "dictionary"
    chars: dict[int, str] = {}
    for line in (folder / "TSCharacters.txt").read_text("utf-8").splitlines():
        old, _, new = line.partition("\t")
        chars[ord(old)] = new.split(" ")[0]
    phrases: dict[str, str] = {}
    for line in (folder / "TSPhrases.txt").read_text("utf-8").splitlines():
        old, _, new = line.partition("\t")
        new = new.split(" ")[0]
        if len(old) == len(new) and old.translate(chars) != new:
            phrases[old] = new
    return chars, re.compile("|".join(sorted(map(re.escape, phrases), key=len, reverse=True))), phrases


def simplify(text: str) -> str:
    """Simplified characters, the same number of them."""
    if text.isascii():
        return text
    chars, pattern, phrases = _tables()
    return pattern.sub(lambda found: phrases[found[0]], text).translate(chars)
