"""One character → its sound. By itself, not by its phrase, so that a wording and a question always agree. Knows no texts."""

from __future__ import annotations

import functools

from hotline.zh.pinyin import fuzzy, syllables


@functools.lru_cache(maxsize=16384)
def syllable_of(char: str) -> str:
    """Toneless pinyin; a character that is no hanzi stays as it is."""
    return syllables(char)[0]


@functools.lru_cache(maxsize=16384)
def sound_of(char: str) -> str:
    """The syllable's class on a telephone line."""
    return fuzzy(syllable_of(char))
