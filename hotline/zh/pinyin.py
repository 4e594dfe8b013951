"""Sound of Mandarin text: characters → toneless syllables, and syllables → classes that a telephone confuses. Knows no words of ours."""

from __future__ import annotations

import functools


def syllables(text: str) -> list[str]:
    """One item for each character: toneless pinyin of a hanzi (ü written v), any other character as it is, in lower case."""
    from pypinyin import lazy_pinyin  # noqa: PLC0415  a quarter of a second to load

    return lazy_pinyin(text, errors=lambda run: [char.lower() for char in run])


@functools.lru_cache(maxsize=2048)
def fuzzy(syllable: str) -> str:
    """The class of a syllable: zh/z, ch/c, sh/s, n/l, f/h, ing/in, eng/en, ang/an are one."""
    initial, rest = syllable[:1], syllable[1:]
    if initial in "zcs" and rest[:1] == "h":
        rest = rest[1:]
    if rest:
        initial = {"n": "l", "f": "h"}.get(initial, initial)
    if rest.endswith(("ing", "eng", "ang")):
        rest = rest[:-1]
    return initial + rest
