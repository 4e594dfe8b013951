"""Tokens → runs: stretches of digits (and the letters among them) that one breath may have dictated. Knows no kinds of numbers.

Fillers, separators and invisible characters inside a run don't end it; any other word does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llm.privacy_tokens import Sort, Token

BRIDGE_TOKENS = 12  # fillers and separators in a row that a run outlasts
_ATOMS = frozenset({Sort.DIGIT, Sort.TEN, Sort.SOUND, Sort.LETTER, Sort.CROSS})
_BRIDGES = frozenset({Sort.FILLER, Sort.SEPARATOR})
_HARD = frozenset({Sort.DIGIT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Digits and letters said in one go. start/end: in the skeleton; digits: how many of value are digits."""

    start: int
    end: int
    value: str
    digits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Segments with nothing but fillers and separators between them."""

    segments: tuple[Segment, ...]

    @property
    def start(self) -> int:
        """Where it begins in the skeleton."""
        return self.segments[0].start

    @property
    def end(self) -> int:
        """Where it ends in the skeleton."""
        return self.segments[-1].end

    @property
    def value(self) -> str:
        """Its digits and letters, one after the other."""
        return "".join(s.value for s in self.segments)

    @property
    def digits(self) -> int:
        """How many of them are digits."""
        return sum(s.digits for s in self.segments)


def find_runs(tokens: Sequence[Token]) -> list[Run]:
    """The runs of a text, in order; also a lone X, which may end a number begun before. Each token is looked at twice at most."""
    runs: list[Run] = []
    open_tokens: list[Token] = []
    bridges = 0
    for token in tokens:
        if token.sort in _ATOMS:
            open_tokens.append(token)
            bridges = 0
            continue
        if token.sort in _BRIDGES and open_tokens and bridges < BRIDGE_TOKENS:
            open_tokens.append(token)
            bridges += 1
            continue
        runs.extend(_close(open_tokens))
        open_tokens, bridges = [], 0
    runs.extend(_close(open_tokens))
    return runs


def _close(tokens: list[Token]) -> list[Run]:
    """Trim what is no part of a number and cut into segments."""
    kept = _trim(tokens)
    if not any(t.sort in _HARD for t in kept) and [t.value for t in kept] != ["X"]:
        return []
    segments: list[Segment] = []
    part: list[Token] = []
    for token in [*kept, Token(Sort.SEPARATOR, -1, -1)]:
        if token.sort in _ATOMS:
            part.append(token)
        elif part:
            value = "".join(t.value for t in part)
            segments.append(Segment(start=part[0].start, end=part[-1].end, value=value, digits=sum(map(str.isdigit, value))))
            part = []
    return [Run(segments=tuple(segments))]


def _trim(tokens: list[Token]) -> list[Token]:
    first, last = 0, len(tokens)
    while first < last and not _begins(tokens, first):
        first += 1
    while last > first and not _ends(tokens, last - 1):
        last -= 1
    return tokens[first:last]


def _begins(tokens: list[Token], at: int) -> bool:
    """A number may begin here: a digit, or a letter or misheard digit that leans on one."""
    if tokens[at].sort is Sort.DIGIT or tokens[at].value == "X":
        return True
    after = tokens[at + 1].sort if at + 1 < len(tokens) else Sort.OTHER
    if tokens[at].sort in {Sort.LETTER, Sort.SOUND}:
        return after in {Sort.DIGIT, Sort.LETTER}
    return tokens[at].sort is Sort.TEN and after in _ATOMS


def _ends(tokens: list[Token], at: int) -> bool:
    """A number may end here."""
    if tokens[at].sort in {Sort.DIGIT, Sort.CROSS}:
        return True
    before = tokens[at - 1].sort if at else Sort.OTHER
    if tokens[at].sort is Sort.LETTER:
        return before in {Sort.DIGIT, Sort.LETTER} or tokens[at].value == "X"
    return tokens[at].sort is Sort.TEN and before in _ATOMS
