"""Runs of digits → personal numbers, with the call's memory of open ones. Knows nothing of names, places or placeholders.

Fails closed: seven digits or more are masked unless a named rule lets them go, four or more where a cue word or the bot's question
announces them, and any that continue a number left open in the turn before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llm import privacy_kinds as kinds
from llm.privacy_items import Item
from llm.privacy_runs import Run, Segment
from llm.types import Personal

CUED_DIGITS = 4
ASKED_DIGITS = 3
BARE_DIGITS = 5
TAIL_REACH = 8  # characters after a masked number in which a correction's cue counts
_GROUP_DIGITS = range(9, 20)  # from a passport to a bank card
_GROUPED_SEGMENTS = 80  # more is no number of anybody: masked as a whole
_AMOUNT_DIGITS = 10  # eleven may be a mobile number before 元旦 or 块
_ARTICLE_DIGITS = 5  # 第1、2、3条
_STAFF_DIGITS = 2
_EXTENSION = re.compile(r"[\s,，]?再?转接?(?:分机号?)?\s*")
_TAIL_WORDS = re.compile(r"(?:结尾|收尾|打头|开头)")
_OPENING = re.compile(r"[\s，,。.、嗯呃额啊哦噢对好的是行了那就个然后接着后面再还有继续最位一四八几边末尾数字这您听]*")
_CLOSING = re.compile(r"[\s，,。.、嗯呃额啊哦噢对了吧好的]*")
_WORD = re.compile(r"[一两二三四五六七八九](?:[下点些起样直定共会个天次句遍边般切]|旦)")  # 你记一下, 三点以后打
_DICTATED = frozenset({
    Personal.MOBILE, Personal.LANDLINE, Personal.ID_CARD, Personal.BANK_CARD, Personal.PASSPORT, Personal.QQ, Personal.WECHAT,
    Personal.ACCOUNT, Personal.CREDIT_CODE, Personal.NUMBER, Personal.PLATE, Personal.BIRTH_DATE,
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Dictated:
    """The last number of the call. open: digits may still be missing; is_shown: a placeholder stands for what there is of it."""

    kind: Personal
    value: str
    open: bool = False
    is_shown: bool = True
    quiet_turns: int = 0

    def __repr__(self) -> str:
        """Without the value."""
        return f"Dictated({self.kind.name}, open={self.open})"


def find_numbers(text: str, runs: Sequence[Run], *, asked_for: Personal | None, last: Dictated | None) -> list[Item]:
    """Personal numbers of one turn, in order, none overlapping."""
    reader = _Reader(text, asked_for if asked_for in _DICTATED else None, last)
    for run in runs:
        reader.read(run)
    return reader.items


def next_dictated(text: str, items: Sequence[Item], *, asked_for: Personal | None, last: Dictated | None) -> Dictated | None:
    """What the call remembers of its numbers after this turn."""
    numbers = [item for item in items if item.kind in _DICTATED and item.value]
    if not numbers:
        if (begun := kinds.announced(text, len(text.rstrip("。.")), digits=0)) in _DICTATED:
            return Dictated(kind=begun, value="", open=True)
        if last is None or not last.open:
            return last
        waited = last.quiet_turns + 1
        return Dictated(kind=last.kind, value=last.value, open=waited <= 2, quiet_turns=waited)  # noqa: PLR2004  two turns of 等一下
    end = numbers[-1]
    at_end = asked_for is not None or end.continues or _CLOSING.fullmatch(text, end.end) is not None
    short = not end.complete and len(end.value) < kinds.LENGTH.get(end.kind, 0)
    return Dictated(kind=end.kind, value=end.value, open=at_end and short)


def is_all_said(text: str, start: int, end: int) -> bool:
    """Nothing else is said in this turn."""
    return _OPENING.fullmatch(text, 0, start) is not None and _CLOSING.fullmatch(text, end) is not None


class _Reader:
    """Reads a turn's runs from left to right."""

    def __init__(self, text: str, asked_for: Personal | None, last: Dictated | None) -> None:
        self.items: list[Item] = []
        self._text = text
        self._asked_for = asked_for
        self._last = last

    def read(self, run: Run) -> None:
        """Mask what is personal in one run."""
        run = self._without_word(run)
        if self._continue(run) or self._correct(run) or self._are_dates(run.start, run.end):
            return
        start = len(self.items)
        rest: list[Segment] = []
        for group in _grouped(run.segments):
            kind = kinds.kind_by_form("".join(s.value for s in group))
            if kind is None:
                rest.extend(group)
                continue
            self._read_rest(rest, run, joined=True)
            rest = []
            self._add(kind, group)
        self._read_rest(rest, run, joined=len(self.items) > start)

    def _without_word(self, run: Run) -> Run:
        """The run less the numeral of an ordinary word after a number that is whole without it."""
        if _WORD.match(self._text, run.end - 1) is None:
            return run
        last = run.segments[-1]
        shorter = Segment(start=last.start, end=last.end - 1, value=last.value[:-1], digits=last.digits - 1)
        before = (*run.segments[:-1], *([shorter] if shorter.value else []))
        if not before:
            return run
        begun = self._last.value if self._last is not None and self._last.open else ""
        tail = "".join(s.value for s in _grouped(before)[-1])
        whole = kinds.kind_by_form(tail) or kinds.kind_by_form(begun + "".join(s.value for s in before))
        return Run(segments=before) if whole else run

    def _continue(self, run: Run) -> bool:
        """The rest of a number that the last turn left open."""
        last = self._last
        if last is None or not last.open or self.items or kinds.unit_follows(self._text, run.end):
            return False
        leads = _OPENING.fullmatch(self._text, 0, run.start) is not None
        if not leads and (run.digits < ASKED_DIGITS or self._released(run.segments)):
            return False
        whole = last.value + run.value
        if not run.digits and not kinds.id_card_fits(whole):
            return False
        if kinds.kind_by_form(run.value) is not None:
            return False
        if len(whole) > kinds.LENGTH[last.kind]:
            return self._overflow(run)
        kind = kinds.kind_by_form(whole) or last.kind
        joined = kind is last.kind and bool(last.value) and last.is_shown
        self.items.append(
            Item(kind=kind, start=run.start, end=run.end, value=whole, complete=kinds.fits(kind, whole), continues=joined)
        )
        return True

    def _overflow(self, run: Run) -> bool:
        """More digits than the open number can hold, and nothing else: not its rest, but surely somebody's."""
        if not is_all_said(self._text, run.start, run.end):
            return False
        self._add(Personal.NUMBER, run.segments, complete=False)
        return True

    def _correct(self, run: Run) -> bool:
        """不对，是五六七八结尾: a tail that replaces the last number's."""
        last = self.items[-1] if self.items else None
        kind, value, since = (last.kind, last.value, last.end) if last else (None, "", 0)
        if last is None and self._last is not None:
            kind, value = self._last.kind, self._last.value
        between = self._text[max(since, run.start - TAIL_REACH) : run.start]
        if kind not in _DICTATED or kinds.CORRECTION.search(between) is None or run.digits < 2:  # noqa: PLR2004  one digit is in many words
            return False
        if len(run.value) >= kinds.SURE_DIGITS or kinds.unit_follows(self._text, run.end) or kinds.is_public(run.value):
            return False
        tail = _TAIL_WORDS.match(self._text, run.end)
        whole = value[: -len(run.value)] + run.value
        end = tail.end() if tail else run.end
        self.items.append(Item(kind=kind, start=run.start, end=end, value=whole, complete=kinds.fits(kind, whole)))
        return True

    def _read_rest(self, rest: list[Segment], run: Run, *, joined: bool) -> None:
        """Segments whose form says nothing: context and length decide. joined: they touch a number that is masked."""
        if not any(s.digits for s in rest):
            return
        if self._is_extension(rest) or (sum(s.digits for s in rest) >= _STAFF_DIGITS and kinds.is_staff(*self._around(rest))):
            self._add(Personal.NUMBER, rest, complete=False)
            return
        if self._released(rest):
            return
        if joined:
            self._add(self._kind_here(rest) or Personal.NUMBER, rest, complete=False)
            return
        kind = self._kind_here(rest)
        if sum(s.digits for s in rest) >= kinds.SURE_DIGITS or kind is not None or self._is_bare(run):
            self._add(kind or Personal.NUMBER, rest)

    def _around(self, rest: Sequence[Segment]) -> tuple[str, int, int]:
        return self._text, rest[0].start, rest[-1].end

    def _is_extension(self, rest: Sequence[Segment]) -> bool:
        """转八零三 after a line's number."""
        last = self.items[-1] if self.items else None
        between = self._text[last.end : rest[0].start] if last is not None else ""
        return last is not None and last.kind is Personal.LANDLINE and _EXTENSION.fullmatch(between) is not None

    def _kind_here(self, rest: Sequence[Segment]) -> Personal | None:
        """The kind that the bot's question or the words around announce, if they may count for so few digits."""
        digits, start, end = sum(s.digits for s in rest), rest[0].start, rest[-1].end
        kind = kinds.cue_before(self._text, start)
        if kind is None and self.items and digits >= CUED_DIGITS and start - self.items[-1].end <= kinds.CUE_REACH:
            between = self._text[self.items[-1].end : start]
            kind = self.items[-1].kind if re.search(r"还有|另|或|备用|也|尾|不", between) else None
        kind = kind or (kinds.cue_after(self._text, end) if digits >= kinds.SURE_DIGITS else None)
        if kind is Personal.MOBILE and digits >= kinds.SURE_DIGITS and rest[0].value[0] in "2345678":
            kind = Personal.LANDLINE
        if self._asked_for is not None and digits >= ASKED_DIGITS:
            return kind or self._asked_for
        if digits >= CUED_DIGITS:
            return kind
        # 我的手机号是幺三九, and no more in this turn: the rest comes in the next ones
        ends = _CLOSING.fullmatch(self._text, end) is not None
        return kinds.announced(self._text, start, digits=digits) if ends else None

    def _released(self, rest: Sequence[Segment]) -> bool:
        """A named rule says that these digits are nobody's."""
        text, start, end = self._text, rest[0].start, rest[-1].end
        digits = sum(s.digits for s in rest)
        if all(kinds.is_public(s.value) for s in rest):
            awaited = self._asked_for is not None or (self._last is not None and self._last.open)
            chat = kinds.announced(text, start, digits=digits) in {Personal.QQ, Personal.WECHAT}  # QQ号12345
            return not chat and not (awaited and is_all_said(text, start, end))
        named = (
            self._are_dates(start, end)
            or (self._asked_for is None and kinds.are_figures(text, start, end))
            or kinds.is_document(text, start, end, "".join(s.value for s in rest))
            or all(kinds.is_train(s.value) for s in rest)
            or (all(kinds.is_year(s.value) for s in rest) and (text[end : end + 1] in {"年", "级", "届"} or self._are_years(rest)))
            or (kinds.amount_follows(text, end) and digits <= _AMOUNT_DIGITS)
            or (kinds.ordinal_precedes(text, start) and max(s.digits for s in rest) < _ARTICLE_DIGITS)
        )
        return named or (digits < kinds.SURE_DIGITS and self._is_small_matter(start, end))

    def _are_dates(self, start: int, end: int) -> bool:
        """Dates as written, and nobody's birth."""
        return kinds.are_plain_dates(self._text, start, end) and kinds.cue_before(self._text, start) is not Personal.BIRTH_DATE

    def _are_years(self, years: Sequence[Segment]) -> bool:
        """2019/2020/2021, which nothing announces."""
        return len(years) > 1 and self._asked_for is None and kinds.cue_before(self._text, years[0].start) is None

    def _is_small_matter(self, start: int, end: int) -> bool:
        """Few digits with a unit, after 第, as money, or of plates that may not drive today."""
        text = self._text
        around = kinds.unit_follows(text, end) or kinds.ordinal_precedes(text, start) or kinds.amount_precedes(text, start)
        return around or "限行" in text[end : end + 8]

    def _is_bare(self, run: Run) -> bool:
        """A turn of digits alone: five of them, or three in the way that only codes are read (幺)."""
        enough = run.digits >= BARE_DIGITS or (run.digits >= ASKED_DIGITS and "幺" in self._text[run.start : run.end])
        return enough and is_all_said(self._text, run.start, run.end)

    def _add(self, kind: Personal, group: Sequence[Segment], *, complete: bool = True) -> None:
        value = "".join(s.value for s in group)
        self.items.append(
            Item(kind=kind, start=group[0].start, end=group[-1].end, value=value, complete=complete and kinds.fits(kind, value))
        )


def _grouped(segments: Sequence[Segment]) -> list[tuple[Segment, ...]]:
    """Neighbouring segments whose joined form is a whole number of some kind, the longest first; the others each by itself."""
    if len(segments) > _GROUPED_SEGMENTS:
        return [(segment,) for segment in segments]
    groups: list[tuple[Segment, ...]] = []
    at = 0
    while at < len(segments):
        joined, ends = "", [at + 1]
        for reach in range(at, len(segments)):
            joined += segments[reach].value
            if len(joined) >= _GROUP_DIGITS.stop:
                break
            if len(joined) in _GROUP_DIGITS and kinds.kind_by_form(joined):
                ends.append(reach + 1)
        groups.append(tuple(segments[at : ends[-1]]))
        at = ends[-1]
    return groups
