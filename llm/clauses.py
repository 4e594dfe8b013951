"""A stream of text pieces → clauses that can be spoken one by one. Pure; knows nothing of engines, checks or voices.

Cuts after 。！？；… and, where that comes too late, after a comma. The first clause is short, so that the first sound is early.
Never cuts inside a placeholder 〈…〉, a number or a Latin word. However the stream is split, the clauses are the same, and joined
they are the input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

FIRST_AT_MOST = 15
COMMA_FROM = 18
LIST_FROM = 24
AT_MOST = 40
_FIRST_AT_LEAST = 4
_ATOM_AT_MOST = 24  # a 〈 that is never closed is no placeholder; a longer run of figures is no number

_HARD = frozenset("。！？；…!?;\n")
_SOFT = frozenset("，,：:")
_LIST = frozenset("、")  # sounds cut off where it ends a short clause
_CLOSERS = frozenset("”’」』）)》】\"' ")
_HANZI_DIGITS = frozenset("〇零一二两三四五六七八九十百千万亿幺点")
_JOINS_FIGURES = frozenset(".,，:：-—–~～/至")  # between two figures these belong to the number
_FIGURES = frozenset("0123456789０１２３４５６７８９.．%％")
_LATIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class ClauseCutter:
    """Cuts a stream. Feed pieces in order; `flush` gives what is left."""

    def __init__(self) -> None:
        """A new answer."""
        self._waiting = ""
        self._first = True

    def feed(self, piece: str) -> list[str]:
        """The clauses that are complete now. A clause waits for the character after it (a closing quote, the rest of a number)."""
        self._waiting += piece
        return list(self._cut(final=False))

    def flush(self) -> list[str]:
        """The rest. Then the cutter is new again."""
        rest = [*self._cut(final=True), *([self._waiting] if self._waiting else [])]
        self._waiting, self._first = "", True
        return rest

    def _cut(self, *, final: bool) -> Iterator[str]:
        while end := _clause_end(self._waiting, first=self._first, final=final):
            clause, self._waiting = self._waiting[:end], self._waiting[end:]
            self._first = False
            yield clause


def clauses(text: str) -> list[str]:
    """A whole text, cut."""
    return list(cut([text]))


def cut(pieces: Iterable[str]) -> Iterator[str]:
    """A finite stream of pieces, cut."""
    cutter = ClauseCutter()
    for piece in pieces:
        yield from cutter.feed(piece)
    yield from cutter.flush()


def _clause_end(text: str, *, first: bool, final: bool) -> int:
    """Where the first clause ends. 0: not known yet; at the end of the stream: all is one clause."""
    safe = 0
    inside = -1  # where an open placeholder began
    for at, char in enumerate(text[: len(text) if final else -1]):
        after = text[at + 1 : at + 2]
        if char == "〈":
            inside = at
        elif char == "〉" or at - inside > _ATOM_AT_MOST:
            inside = -1
        if inside < 0 and not _splits_atom(text[at - 1 : at], char, after):
            if char in _HARD:
                return _past_closers(text, at + 1, final=final)
            if (char in _SOFT and _comma_counts(at + 1, first=first)) or (char in _LIST and at + 1 >= LIST_FROM):
                return at + 1
            safe = at + 1 if at < AT_MOST else safe
        if at + 1 >= AT_MOST and after and (safe or at + 1 >= AT_MOST + _ATOM_AT_MOST):
            return safe or at + 1
    return 0


def _comma_counts(length: int, *, first: bool) -> bool:
    return length >= COMMA_FROM or (first and _FIRST_AT_LEAST <= length <= FIRST_AT_MOST)


def _past_closers(text: str, end: int, *, final: bool) -> int:
    """Closing quotes and repeated marks stay with their clause; 0 while they may still come."""
    while end < len(text) and (text[end] in _CLOSERS or text[end] in _HARD):
        end += 1
    return end if final or end < len(text) else 0


def _splits_atom(before: str, char: str, after: str) -> bool:
    """A cut after char would go through a number or a word."""
    if char in _JOINS_FIGURES:
        return before in _FIGURES and after in _FIGURES and bool(before and after)
    if char in _FIGURES:
        return bool(after) and (after in _FIGURES or after in _JOINS_FIGURES or after in _LATIN or after in _HANZI_DIGITS)
    if char in _HANZI_DIGITS:
        return after in _HANZI_DIGITS or (bool(after) and after in _FIGURES)
    return char in _LATIN and bool(after) and (after in _LATIN or after in _FIGURES or after == ".")
