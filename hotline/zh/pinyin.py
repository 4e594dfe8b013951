"""Sound of Mandarin text: characters → toneless syllables, and syllables → classes that a telephone confuses. Knows no words of ours."""

from __future__ import annotations

import functools

_FIRST = {"n": "l", "f": "h"}


def syllables(text: str) -> list[str]:
    """One item for each character: toneless pinyin of a hanzi (ü written v), any other character as it is, in lower case."""
    from pypinyin import lazy_pinyin  # noqa: PLC0415  a quarter of a second to load

    return lazy_pinyin(text, errors=lambda run: [char.lower() for char in run])


@functools.lru_cache(maxsize=2048)
def fuzzy(syllable: str) -> str:
    """The class of a syllable, one for zh/z, ch/c, sh/s, n/l, f/h, ing/in, eng/en and ang/an."""
    if syllable.endswith(("ing", "eng", "ang")):
        syllable = syllable[:-1]
    if syllable[:2] in {"zh", "ch", "sh"}:
        return syllable[0] + syllable[2:]
    first, rest = syllable[:1], syllable[1:]
    return _FIRST.get(first, first) + rest if rest else syllable
