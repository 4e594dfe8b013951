"""One call's masker: raw recogniser text → MaskedText. The only maker of MaskedText; raw text goes no further than this module.

    raw → skeleton → marks (plates, e-mail, accounts, dates of birth) → numbers → addresses → names → placeholders

Knows nothing of the call, of answers or of storage. Keeps no raw text but the digits of the last number, which the next turn may go
on with; for the rest it remembers keyed digests.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace

from hotline.zh.skeleton import Skeleton, skeleton
from llm.privacy_bare import Bare, next_bare, opened
from llm.privacy_items import Item, blank, disjoint
from llm.privacy_kinds import kind_asked
from llm.privacy_marks import find_marks
from llm.privacy_names import find_names
from llm.privacy_numbers import Dictated, find_numbers, next_dictated
from llm.privacy_places import find_addresses
from llm.privacy_runs import find_runs
from llm.privacy_tokens import BARRIER, repeat_spoken, tokenise
from llm.types import MaskedText, Personal, Span

__all__ = ["CallMasker", "join_masked", "kind_asked", "mask_phone_number"]

_COMMA = "，"
_TRADITIONAL = "電話"
MAX_CHARACTERS = 2000  # a minute of fast speech is 400: more is no turn of a caller's
_SHORTEST, _LONGEST = 9, 15  # digits of a line: fewer would show most of it, more is none (E.164)
_PLACEHOLDER = re.compile(rf"〈(?:{'|'.join(k.value for k in Personal)})(?:·\d{{1,3}})?〉")


class _OverBudgetError(Exception):
    """The turn took too long to mask."""


class CallMasker:
    """Masks one call's turns. mask_budget_ms: time for one turn, over which it becomes 〈内容〉. clock: seconds."""

    def __init__(self, *, mask_budget_ms: float = 20.0, clock: Callable[[], float] = time.perf_counter) -> None:
        self._budget_s = mask_budget_ms / 1000
        self._clock = clock
        self._key = secrets.token_bytes(16)
        self._placeholders: dict[bytes, str] = {}
        self._counts: dict[Personal, int] = {}
        self._last: Dictated | None = None
        self._bare: Bare | None = None
        self._last_placeholder = ""
        self._named = False
        skeleton(_TRADITIONAL)  # loads its table now, not within the first turn's budget

    def mask(self, raw: str, *, asked_for: Personal | None = None) -> MaskedText:
        """The turn with placeholders. asked_for: what the bot just asked the caller for. Never raises."""
        deadline_s = self._clock() + self._budget_s
        if len(raw) > MAX_CHARACTERS:
            return _all_of(raw)
        try:
            folded = skeleton(raw)
            items = self._find(folded.text, asked_for, deadline_s)
        except _OverBudgetError:
            return _all_of(raw)
        return self._write(raw, folded, items)

    def _find(self, folded: str, asked_for: Personal | None, deadline_s: float) -> list[Item]:
        """All personal items of a turn. What one scanner found is a wall to the next ones."""

        def within_budget() -> None:
            if self._clock() > deadline_s:
                raise _OverBudgetError

        within_budget()
        text = _PLACEHOLDER.sub(lambda m: BARRIER * len(m.group()), folded.replace(BARRIER, " "))
        items = find_marks(text, asked_for)
        text = blank(text, items)
        within_budget()
        runs = find_runs(repeat_spoken(tokenise(text)))
        within_budget()
        last = self._last if self._last and self._last.open else opened(text, runs, self._bare) or self._last
        numbers = find_numbers(text, runs, asked_for=asked_for, last=last)
        last = next_dictated(text, numbers, asked_for=asked_for, last=last)
        bare = next_bare(text, runs, masked=bool(numbers), begun=self._bare)
        text = blank(text, numbers)
        within_budget()
        addresses = find_addresses(text, asked_for)
        text = blank(text, addresses)
        within_budget()
        names = find_names(text, asked_for, named=self._named)
        within_budget()
        self._last, self._bare = last, bare
        self._named = any(item.kind is Personal.NAME for item in names)
        return disjoint([*items, *numbers, *addresses, *names])

    def _write(self, raw: str, folded: Skeleton, items: list[Item]) -> MaskedText:
        parts: list[str] = []
        spans: list[Span] = []
        size, done = 0, 0
        for item in items:
            raw_start, raw_end = max(done, folded.starts[item.start]), folded.ends[item.end - 1]
            before, placeholder = _readable(raw[done:raw_start]), self._placeholder(item)
            start = size + len(before)
            size = start + len(placeholder)
            parts += [before, placeholder]
            spans.append(
                Span(
                    kind=item.kind,
                    placeholder=placeholder,
                    start=start,
                    end=size,
                    raw_start=raw_start,
                    raw_end=raw_end,
                    complete=item.complete,
                )
            )
            done = raw_end
        return MaskedText(text="".join([*parts, _readable(raw[done:])]), spans=tuple(spans))

    def _placeholder(self, item: Item) -> str:
        """The same value of the same kind has the same placeholder for the whole call."""
        digest = hashlib.blake2b(f"{item.kind.name}:{item.value}".encode(errors="replace"), key=self._key, digest_size=16).digest()
        known = self._placeholders.get(digest)
        if known is None:
            if item.continues:
                known = self._last_placeholder
            else:
                self._counts[item.kind] = self._counts.get(item.kind, 0) + 1
                known = f"〈{item.kind.value}·{self._counts[item.kind]}〉"
            self._placeholders[digest] = known
        if item.kind not in {Personal.NAME, Personal.ADDRESS, Personal.SPELLING}:
            self._last_placeholder = known
        return known


def join_masked(turns: Sequence[MaskedText]) -> MaskedText:
    """Several turns as one question, a comma between them. raw_start/raw_end stay those of each turn's own raw text."""
    texts: list[str] = []
    spans: list[Span] = []
    size = 0
    for turn in (turn for turn in turns if turn.text):
        spans.extend(replace(span, start=span.start + size, end=span.end + size) for span in turn.spans)
        texts.append(turn.text)
        size += len(turn.text) + len(_COMMA)
    return MaskedText(text=_COMMA.join(texts), spans=tuple(spans))


def mask_phone_number(number: str) -> str:
    """A line's number for people's eyes: 13912345678 → 139****5678; whatever is no number → ****."""
    digits = re.sub(r"[\s\-()]", "", number).removeprefix("+86")
    if not digits.isascii() or not digits.isdigit() or not _SHORTEST <= len(digits) <= _LONGEST:
        return "****"
    return f"{digits[:3]}****{digits[-4:]}"


def _all_of(raw: str) -> MaskedText:
    """One placeholder for everything: nothing of it can be vouched for."""
    placeholder = f"〈{Personal.UNSURE.value}〉"
    whole = Span(
        kind=Personal.UNSURE, placeholder=placeholder, start=0, end=len(placeholder), raw_start=0, raw_end=len(raw), complete=False
    )
    return MaskedText(text=placeholder, spans=(whole,))


def _readable(piece: str) -> str:
    """Without characters that nobody says: controls, direction marks, lone surrogates, private use."""
    if piece.isprintable():
        return piece
    return "".join(char for char in piece if char.isprintable() or char == "\u3000" or unicodedata.category(char) in {"Zs", "Cn"})
