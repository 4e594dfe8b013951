"""Groups of digits that nothing announced and that are all of their turns: 139, then 1234, then 5678. Knows no kinds but by form.

The first group alone tells nothing and stays: it may answer any question. From the second on they are a number's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llm import privacy_kinds as kinds
from llm.privacy_numbers import Dictated, is_all_said
from llm.privacy_runs import Run
from llm.types import Personal

_FIRST_DIGITS = range(3, 5)
_NEXT_DIGITS = range(3, 6)
_PAIRS = range(2, 6)  # after 139 even 12, 34, 56, 78
_FOURS = range(4, 6)
_PATIENCE_TURNS = 2
_NUMBERS_START = re.compile(r"1[3-9]\d|0\d{2,3}|62\d\d")  # of a mobile, an area, a bank card


@dataclass(frozen=True, slots=True, kw_only=True)
class Bare:
    """A first group. quiet_turns: those since."""

    value: str
    quiet_turns: int = 0

    def __repr__(self) -> str:
        """Without the value."""
        return f"Bare(quiet_turns={self.quiet_turns})"


def next_bare(text: str, runs: Sequence[Run], *, masked: bool, begun: Bare | None) -> Bare | None:
    """The group that the next turn may go on from. masked: this turn holds a number already."""
    group = _group(text, runs)
    if masked:
        return None
    if len(group) in _FIRST_DIGITS and not kinds.is_public(group):
        return Bare(value=group)
    if begun is None or begun.quiet_turns >= _PATIENCE_TURNS:
        return None
    return Bare(value=begun.value, quiet_turns=begun.quiet_turns + 1)


def opened(text: str, runs: Sequence[Run], begun: Bare | None) -> Dictated | None:
    """The number that this turn's group goes on with, if it does."""
    group = _group(text, runs)
    if begun is None or not _goes_on(begun.value, group):
        return None
    return Dictated(kind=Personal.NUMBER, value=begun.value, open=True, is_shown=False)


def _group(text: str, runs: Sequence[Run]) -> str:
    """The digits of a turn that is nothing else; empty if it is."""
    if len(runs) != 1 or not runs[0].value.isdigit() or not is_all_said(text, runs[0].start, runs[0].end):
        return ""
    return runs[0].value


def _goes_on(first: str, then: str) -> bool:
    """Not two years, not two round sums, no line of the public's, unless a number surely begins so."""
    sure = _NUMBERS_START.fullmatch(first) is not None
    round_end = "00" if sure and len(then) in _FOURS else "0"
    if all(map(kinds.is_year, (first, then))) or all(each.endswith(round_end) for each in (first, then)):
        return False
    return len(then) in (_PAIRS if sure else _NEXT_DIGITS) and (sure or not kinds.is_public(then))
