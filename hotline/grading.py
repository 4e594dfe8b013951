"""The last question of a call: how did you find it, from 1 to 5? PURE: answers to it in, orders out. Knows no words and no time.

done → ASK_TO_RATE ─ grade → Rate, FAREWELL
                   ├ no grade → ASK_TO_RATE_AGAIN, once
                   ├ silence, or no grade again → FAREWELL
                   └ another question → set aside; asked once more at most when the caller is done again
"""

from __future__ import annotations

from dataclasses import dataclass

from hotline.turn_events import Command, Order, Rate

GRADES = "12345"
_ASKED_AT_MOST = 2


@dataclass(slots=True)
class Grading:
    """One call's grade. allowed: it may still be asked for; is_open: an answer is waited for; is_parting: last words are spoken."""

    allowed: bool
    grade: int | None = None
    asked: int = 0
    is_open: bool = False
    is_parting: bool = False

    @property
    def is_last(self) -> bool:
        """The caller is done: whatever fails or goes silent now ends the call, and well."""
        return self.is_open or self.is_parting

    def done(self) -> list[Order]:
        """The caller is done."""
        if not self.allowed or self.asked >= _ASKED_AT_MOST:
            return self.part()
        self.asked, self.is_open = self.asked + 1, True
        return [Command.ASK_TO_RATE]

    def again(self) -> list[Order]:
        """That was no grade."""
        if self.asked >= _ASKED_AT_MOST:
            return self.part()
        self.asked += 1
        return [Command.ASK_TO_RATE_AGAIN]

    def given(self, grade: int, how: str) -> list[Order]:
        """A grade, or 0 from who would rather give none. how: key or voice."""
        self.allowed = self.is_open = False
        self.grade = grade or None
        return [*([Rate(grade=grade, how=how)] if grade else []), *self.part()]

    def part(self) -> list[Order]:
        """Last words. A grade that comes into them still counts."""
        self.is_parting = True
        return [Command.FAREWELL]

    def set_aside(self) -> None:
        """The call goes on after all."""
        self.is_open = self.is_parting = False
