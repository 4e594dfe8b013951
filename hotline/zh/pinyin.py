"""Sound of Mandarin text: characters → toneless syllables → classes that a telephone or an accent confuses. Knows no words."""

from __future__ import annotations

import functools

_FIRST = {"n": "l", "f": "h"}


def _as_they_are(run: str) -> list[str]:
    return [char.lower() for char in run]


def syllables(text: str) -> list[str]:
    """One item for each character: toneless pinyin of a hanzi (ü written v), any other character as it is, in lower case.

    A character with several readings takes the one of its word (重庆, 重要). The first call loads pypinyin (about 0.25 s).
    """
    from pypinyin import lazy_pinyin  # noqa: PLC0415  not every process needs the dictionaries

    return lazy_pinyin(text, errors=_as_they_are)  # type: ignore[arg-type]  # its stub leaves out the list that it allows


@functools.lru_cache(maxsize=2048)
def fuzzy(syllable: str) -> str:
    """The class of a syllable, one for zh/z, ch/c, sh/s, n/l, f/h, ing/in, eng/en and ang/an."""
    if syllable.endswith(("ing", "eng", "ang")):
        syllable = syllable[:-1]
    if syllable[:2] in {"zh", "ch", "sh"}:
        return syllable[0] + syllable[2:]
    first, rest = syllable[:1], syllable[1:]
    return _FIRST.get(first, first) + rest if rest else syllable
