"""Folded texts → their grams as numbers, many texts at once. Arrays only; knows no weights and no entries.

A gram is a character or a pair of characters, as written or as it sounds. Its level says how much of it only carries a question
(怎么, 请问): 0 nothing, 1 one character, 2 both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm.sound import sound_of

Ints = NDArray[np.int64]
KINDS = 4  # written alone, written pair, sounding alone, sounding pair
LEVELS = 4  # three are used; a power of two keeps a key's parts in its bits
_NOWHERE = -1
_AT_ONCE = 16_384  # texts; so many need about 200 MB for a moment


@dataclass(frozen=True, slots=True)
class TextGrams:
    """Each gram of each text once, texts in order, a text's grams rising. text: its number; gram: its code; level: its lowest."""

    text: NDArray[np.integer]
    gram: NDArray[np.integer]
    level: NDArray[np.integer]


class Alphabet:
    """The characters and sounds of a set of texts, numbered. What is not among them has no number and no gram."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Number every character of the texts and its sound."""
        chars = sorted(set().union(*texts)) if texts else []
        sounds = sorted(set(map(sound_of, chars)))
        self._char = {char: number for number, char in enumerate(chars)}
        self._sound = {sound: number for number, sound in enumerate(sounds)}
        self._sound_of_char = np.array([self._sound[sound_of(char)] for char in chars], dtype=np.int64)
        self._codes = np.array([ord(char) for char in chars], dtype=np.int64)
        self.size = len(chars) + 1

    @property
    def grams(self) -> int:
        """Every gram's code lies below."""
        return KINDS * self.size * self.size

    def of_texts(self, texts: Sequence[str], carriers: NDArray[np.bool_]) -> TextGrams:
        """Grams of the texts that the alphabet was made from. carriers: one flag a character, all texts joined."""
        parts, at = [], 0
        for first in range(0, len(texts), _AT_ONCE):
            some = texts[first : first + _AT_ONCE]
            length = sum(map(len, some))
            parts.append(self._of_some(some, carriers[at : at + length], first))
            at += length
        return TextGrams(*map(np.concatenate, zip(*parts, strict=True))) if parts else TextGrams(*np.zeros((3, 0), dtype=np.int64))

    def _of_some(
        self, texts: Sequence[str], carriers: NDArray[np.bool_], first: int
    ) -> tuple[NDArray[np.int32], Ints, NDArray[np.int8]]:
        written = np.searchsorted(self._codes, np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32).astype(np.int64))
        text = np.repeat(np.arange(len(texts), dtype=np.int64), [len(each) for each in texts])
        carried = carriers.astype(np.int64)
        keys = np.concatenate([*self._keys(0, written, text, carried), *self._keys(2, self._sound_of_char[written], text, carried)])
        keys = distinct(keys, LEVELS)
        grams = keys // LEVELS
        return (grams // self.grams + first).astype(np.int32), grams % self.grams, (keys % LEVELS).astype(np.int8)

    def _keys(self, kind: int, ids: Ints, text: Ints, carried: Ints) -> list[Ints]:
        """text, gram and level in one number each."""
        alone = self._code(kind, ids, np.zeros_like(ids))
        same = text[1:] == text[:-1]
        pairs = self._code(kind + 1, ids[:-1], ids[1:])[same]
        together = (carried[1:] + carried[:-1])[same]
        return [
            (text * self.grams + alone) * LEVELS + carried,
            (text[1:][same] * self.grams + pairs) * LEVELS + together,
        ]

    def _code(self, kind: int, first: Ints, second: Ints) -> Ints:
        return (kind * self.size + first) * self.size + second

    def of_question(self, folded: str, carriers: Sequence[bool]) -> dict[tuple[int, str], tuple[int, int]]:
        """Kind and text of each gram → its code (-1: no text can hold it) and its lowest level."""
        found: dict[tuple[int, str], tuple[int, int]] = {}
        for kind, form, number in ((0, str, self._char), (2, sound_of, self._sound)):
            names: list[str] = [form(char) for char in folded]
            for at, name in enumerate(names):
                first = number.get(name)
                self._keep(found, (kind, name), None if first is None else (first, 0), int(carriers[at]))
                if at + 1 < len(names):
                    second = number.get(names[at + 1])
                    pair = None if first is None or second is None else (first, second)
                    self._keep(found, (kind + 1, f"{name} {names[at + 1]}"), pair, carriers[at] + carriers[at + 1])
        return found

    def _keep(
        self, found: dict[tuple[int, str], tuple[int, int]], name: tuple[int, str], pair: tuple[int, int] | None, level: int
    ) -> None:
        code = _NOWHERE if pair is None else (name[0] * self.size + pair[0]) * self.size + pair[1]
        found[name] = (code, min(level, found[name][1]) if name in found else level)


def carriers_in(texts: Sequence[str], spans: Callable[[str], Sequence[tuple[int, int]]]) -> NDArray[np.bool_]:
    """One flag a character, all texts joined: whether a span covers it. spans: of one text; line feeds part the texts."""
    joined = "\n".join(texts)
    flags = np.zeros(len(joined) + 1, dtype=np.int8)
    found = np.array(spans(joined), dtype=np.int64).reshape(-1, 2)
    np.add.at(flags, found[:, 0], 1)
    np.add.at(flags, found[:, 1], -1)
    inside = np.cumsum(flags)[: len(joined)] > 0
    ends = np.cumsum([len(each) + 1 for each in texts[:-1]], dtype=np.int64) - 1
    return np.delete(inside, ends)


def distinct(keys: Ints, step: int = 1) -> Ints:
    """Sorted in place, then the first of each run of keys that differ only below step."""
    keys.sort()
    runs = keys // step
    return keys[np.append(True, runs[1:] != runs[:-1])] if len(keys) else keys
