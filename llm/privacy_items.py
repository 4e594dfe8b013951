"""One personal item in a turn's skeleton, and how lists of them go together. Knows nothing of how they are found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def merge(first: Sequence[Item], then: Sequence[Item]) -> list[Item]:
    """Both in order of place; where they overlap, those of the first list stay."""
    kept = list(first)
    taken = {at for item in first for at in range(item.start, item.end)}
    kept.extend(item for item in then if item.start < item.end and taken.isdisjoint(range(item.start, item.end)))
    return sorted(kept, key=lambda item: item.start)


def blank(text: str, items: Iterable[Item]) -> str:
    """The text of the same length in which the items are barriers."""
    for item in items:
        text = text[: item.start] + BARRIER * (item.end - item.start) + text[item.end :]
    return text
