"""One personal item in a turn's skeleton, and how lists of them go together. Knows nothing of how they are found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from llm.privacy_tokens import BARRIER
from llm.types import Personal


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something personal. start/end: in the skeleton; value: its normal form; continues: it is the rest of the open number."""

    kind: Personal
    start: int
    end: int
    value: str
    complete: bool = True
    continues: bool = False

    def __repr__(self) -> str:
        """Without the value."""
        return f"Item({self.kind.name}, {self.start}, {self.end})"


def disjoint(found: Iterable[Item]) -> list[Item]:
    """In order of place; where items overlap, the one named earlier stays."""
    kept: list[Item] = []
    taken: set[int] = set()
    for item in found:
        places = range(item.start, item.end)
        if places and taken.isdisjoint(places):
            taken.update(places)
            kept.append(item)
    return sorted(kept, key=lambda item: item.start)


def blank(text: str, items: Iterable[Item]) -> str:
    """The text of the same length in which the items are barriers."""
    chars = list(text)
    for item in items:
        chars[item.start : item.end] = BARRIER * (item.end - item.start)
    return "".join(chars)
