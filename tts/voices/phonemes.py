"""Normalised text in → syllables and ids of the Mandarin voice's phonemes out. Knows nothing of models or sound.

A syllable is an initial (^ where it has none) and a final with its tone, ``#0`` between syllables, ``#3`` at a pause,
``sil`` at both ends, ``eos`` last. Characters that have no reading are left out.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from pypinyin import Style, lazy_pinyin

_LETTERS = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (
            "ei1", "bi4", "xi1", "di4", "yi4", "ai2 fu5", "ji4", "ai2 chi5", "ai4", "jie4", "kai4", "ai2 lou5", "ai2 mu5",
            "en1", "ou1", "pi4", "kiu4", "a4", "ai2 si5", "ti4", "you4", "wei4", "da2 bu5 liu5", "ai2 ke5 si5", "wai4", "zei4",
        ),
        strict=True,
    )
)  # fmt: skip
_PIECES = re.compile(r"[\u3400-\u9fff]+|[A-Za-z]|[，。！？；：、,.!?;:…—]")
_SYLLABLE = re.compile(r"([a-z]+)([1-5])")
_ODD_SYLLABLES = {
    "n": "en",
    "ng": "en",
    "m": "mu",
    "hm": "heng",
    "hng": "heng",
    "kiu": "qiu",
    "lo": "luo",
    "yai": "ya",
    "ê": "ei",
    "eh": "ei",
}
_PAUSE = "#3"
_R_COLOURED = "哪那这会点事玩空味活劲块今明昨"
_NO_R = ("童", "女", "子", "科", "媳", "歌", "孙")


class Phonemes:
    """The table of one voice. Raises OSError, ValueError or KeyError for a file that isn't one."""

    def __init__(self, mapper: Path) -> None:
        table = json.loads(mapper.read_text(encoding="utf-8"))
        self._ids: dict[str, int] = table["symbol_to_id"]
        self._parts: dict[str, tuple[str, str]] = {
            syllable: (first, last) for syllable, (first, last) in table["pinyin_dict"].items()
        }

    def ids(self, spoken: str) -> list[int]:
        """Ids for one clause; empty when nothing in it can be spoken."""
        symbols: list[str] = []
        for syllable in syllables(spoken):
            if syllable == _PAUSE:
                if symbols and symbols[-1] == "#0":
                    symbols[-1] = _PAUSE
                continue
            if parts := self._split(syllable):
                symbols += [*parts, "#0"]
        if not symbols:
            return []
        return [self._ids[symbol] for symbol in ("sil", *symbols[:-1], "sil", "eos")]

    def _split(self, syllable: str) -> list[str]:
        """Initial and final of a syllable such as zhong1; er-hua (dianr3) keeps its r as a syllable of its own."""
        sound, tone = syllable[:-1], syllable[-1]
        sound = _ODD_SYLLABLES.get(sound, sound)
        if sound in self._parts:
            first, last = self._parts[sound]
            return [first, last + tone]
        if sound.endswith("r") and sound[:-1] in self._parts:
            first, last = self._parts[sound[:-1]]
            return [first, last + tone, "er5"]
        return []


def syllables(spoken: str) -> Iterator[str]:
    """Syllables with tones (5 is the neutral one), and ``#3`` where punctuation makes a pause."""
    for piece in _PIECES.findall(spoken):
        if piece[0].isascii() and piece.isalpha():
            yield from _LETTERS[piece.upper()].split()
        elif "\u3400" <= piece[0] <= "\u9fff":
            for syllable in _hanzi(piece):
                if found := _SYLLABLE.fullmatch(syllable):
                    yield found[0]
        else:
            yield _PAUSE


def _hanzi(run: str) -> list[str]:
    """A run of hanzi as syllables, tones as they sound in context; characters without a reading vanish."""
    found = lazy_pinyin(
        run,
        style=Style.TONE3,
        neutral_tone_with_five=True,
        tone_sandhi=True,
        v_to_u=False,
        errors=lambda _: "",
    )
    if len(found) != len(run):
        return found
    out: list[str] = []
    for at, (char, syllable) in enumerate(zip(run, found, strict=True)):
        if char == "儿" and at and run[at - 1] in _R_COLOURED and run[at + 1 : at + 2] not in _NO_R and out[-1]:
            out[-1] = f"{out[-1][:-1]}r{out[-1][-1]}"
        else:
            out.append(syllable)
    return out
