"""Labels that others made (file names, call ids, trunks) → the same without the personal numbers in them. Pure; knows no speech.

A PBX writes the caller's number into both. Dates, clock times, UUIDs and short numbers stay, for by them people find a call.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable

from hotline.zh.numerals import DIGIT_OF

_GAP = r"[\W_]{0,2}"
_ONE = r"[\W_]{1,2}"
_DAY = r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d(?:\d{3})?)?"
_MOBILE = rf"1[3-9]\d(?:{_GAP}\d{{4}}{_GAP}\d{{4}}|{_GAP}\d{{3}}{_GAP}\d{{5}}|(?:{_ONE}\d\d){{4}})|1{_ONE}[3-9](?:{_ONE}\d){{9}}"
_ID_CARD = rf"\d{{6}}{_GAP}{_DAY}{_GAP}\d{{3}}[\dXx]"
_BANK_CARD = rf"[3-6]\d{{3}}(?:{_ONE}\d{{4}}){{3}}(?:{_ONE}\d{{1,3}})?"
_LANDLINE = rf"0\d{{2,3}}{_GAP}[2-9]\d{{2,3}}{_GAP}\d{{4}}"
_HEX_DIGIT = "[0-9A-Fa-f]"
_UUID = rf"{_HEX_DIGIT}{{8}}(?:-{_HEX_DIGIT}{{4}}){{3}}-{_HEX_DIGIT}{{12}}"
_HEX = rf"(?<![0-9A-Za-z])(?P<hex>{_UUID}|(?=\d*[A-Fa-f]){_HEX_DIGIT}{{16,64}})(?![0-9A-Za-z])"
_SECONDS = r"1[5-9]\d{8}\.\d{1,6}"  # since 1970, as Asterisk names its calls
_STAMP = rf"(?P<stamp>(?<!\d)(?:{_DAY}(?:{_TIME})?|{_SECONDS})(?!\d))"
_SOMEBODYS = re.compile(
    rf"{_HEX}|(?<!\d)(?:(?:\+|00)?86{_GAP})?(?P<line>{_MOBILE})(?!\d)|(?<!\d)(?:{_ID_CARD}|{_LANDLINE})(?!\d)"
    rf"|{_STAMP}|(?<!\d)(?:{_BANK_CARD}(?!\d)|\d{{7,}}[Xx]?)"
)
_IN_HEX = re.compile(r"\d*(?:1[3-9]\d{9}|0\d{2,3}[2-9]\d{6,7})\d*|\d{15,}")  # what is no chance among random digits
_MOBILE_ONLY = re.compile(rf"(?<!\d)(?:(?:\+|00)?86{_GAP})?(?:{_MOBILE})(?!\d)")
_SHOWN = range(9, 13)  # digits of which the first three and the last four are shown, as of a line's number
_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijkmnpqr")


def masked_name(name: str) -> str:
    """For people's eyes and for folders: 20261203-13912345678-out → 20261203-139xxxx5678-out."""
    return _written(name, _for_eyes)


def keyed_name(name: str, key: bytes) -> str:
    """For an identifier: with the same key the same number has the same mask, and two numbers have two."""

    def digest(number: str) -> str:
        return "num-" + hashlib.blake2b(number.encode(), key=key, digest_size=6).hexdigest().translate(_LETTERS)

    return _written(name, digest)


def names_somebody(name: str) -> bool:
    """A personal number is in it."""
    return masked_name(name) != name


def is_mobile(number: str) -> bool:
    """A person's line, whatever stands between its digits."""
    return _MOBILE_ONLY.search(_folded(number)) is not None


def _written(name: str, write: Callable[[str], str]) -> str:
    folded = _folded(name)
    parts: list[str] = []
    done = 0
    for found in _SOMEBODYS.finditer(folded):
        inside = _IN_HEX.finditer(folded, *found.span()) if found["hex"] else [found]
        for number in inside if found["stamp"] is None else ():
            parts += [name[done : number.start()], write("".join(filter(str.isalnum, found["line"] or number.group())))]
            done = number.end()
    return "".join([*parts, name[done:]])


def _folded(name: str) -> str:
    """Digits of every script as ASCII, one character for one."""
    return "".join(DIGIT_OF.get(char) or str(unicodedata.digit(char, char)) for char in name)


def _for_eyes(number: str) -> str:
    return f"{number[:3]}xxxx{number[-4:]}" if len(number) in _SHOWN else "x" * len(number)
