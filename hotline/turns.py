"""Who speaks: events of a call in, commands out. PURE: no clock, no tasks, no sound, no text. It alone may interrupt the bot.

All transitions of a call stand in this file. Time comes in with the events; `deadline_ms` says when the next `Tick` is due.
Once a call is *given up* (a person is on the way), nothing that the caller does holds up the words that say so.
Once the caller is *done*, they are asked for a grade: one press or word is enough, and nothing more than that is asked of them.

    LISTENING     the caller's turn; silence is counted only while nothing is being decoded
    THINKING      a reply is being made, nothing of it has sounded
    SPEAKING      the reply sounds
    PAUSED        the reply waits at a sample because the caller speaks: it goes on (false alarm) or is dropped (words)
    HOLDING       the line is on hold
    TRANSFERRING  on the way to a person
    ENDED
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from hotline.grading import GRADES, Grading
from hotline.turn_events import (
    CallerBegan,
    CallerDone,
    CallerEnded,
    CallerGoes,
    Command,
    Committed,
    Failed,
    Finish,
    Finished,
    GiveUp,
    Gone,
    Guarded,
    HoldBegan,
    HoldEnded,
    KeyPressed,
    Missed,
    Order,
    PersonAsked,
    ReplyBegan,
    Said,
    Sounding,
    Tick,
    TransferEnded,
    Transferring,
    TurnEvent,
)
from hotline.turn_settings import TurnSettings

__all__ = ["State", "TurnMachine", "TurnSettings"]


class State(enum.Enum):
    """States of a call."""

    LISTENING = "listening"
    THINKING = "thinking"
    SPEAKING = "speaking"
    PAUSED = "paused"
    HOLDING = "holding"
    TRANSFERRING = "transferring"
    ENDED = "ended"


@dataclass(slots=True)
class _Reply:
    """The reply in hand. quiet_since_ms: when it began, first sounded or went on; no sound of it is missed before that."""

    quiet_since_ms: int
    sounded: bool = False
    guarded: bool = False
    cut: bool = False
    filled: bool = False


class TurnMachine:
    """One call's turns: `feed` an event, obey the orders it returns."""

    def __init__(self, settings: TurnSettings) -> None:
        self.settings = settings
        self.state = State.LISTENING
        self.silences = 0
        self.unclears = 0
        self.refusals = 0  # transfers that nobody took
        self._reply: _Reply | None = None
        self._caller_speaks = False
        self._decodes_since_ms: list[int] = []
        self._waiting_since_ms = 0
        self._words_wait = False  # words, or the wish for a person, that came while nobody may interrupt
        self._person_waits = False
        self._giving_up = False
        self.grading = Grading(allowed=settings.satisfaction)
        self._ends_ms = settings.max_call_ms
        self._overtime = False

    def deadline_ms(self, last_frame_ms: int | None = None) -> int:
        """When the next Tick is due, in call time."""
        return min(due_ms for due_ms, _ in self._timers(last_frame_ms))

    def _timers(self, last_frame_ms: int | None) -> list[tuple[int, Callable[[int], list[Order]]]]:
        """The timers that run: when each is due, and what happens then."""
        s = self.settings
        timers: list[tuple[int, Callable[[int], list[Order]]]] = [(self._ends_ms, self._time_up)]
        if self._decodes_since_ms:
            timers.append((self._decodes_since_ms[0] + s.decode_limit_ms, self._decode_lost))
        if self.state is State.LISTENING and not self._caller_speaks and not self._decodes_since_ms:
            timers.append((self._waiting_since_ms + s.no_input_ms, self._nobody_spoke))
        if self.state is State.TRANSFERRING:
            timers.append((self._waiting_since_ms + s.transfer_limit_ms, lambda _: self._transfer_ended(accepted=False)))
        reply = self._reply
        if reply is not None and self.state in {State.THINKING, State.SPEAKING}:
            gap_ms = s.thinking_limit_ms if reply.filled else s.speaking_gap_ms if reply.sounded else s.filler_after_ms
            timers.append((max(reply.quiet_since_ms, last_frame_ms or 0) + gap_ms, self._quiet_too_long))
        return timers

    def feed(self, event: TurnEvent) -> list[Order]:  # noqa: C901, PLR0911, PLR0912  one flat table of events is what this file is for
        """Take one event; return what to do, in order."""
        if self.state is State.ENDED:
            return []
        match event:
            case Gone():
                return self._end("goodbye" if self.grading.is_last and event.reason == "hangup" else event.reason)
            case CallerBegan():
                return self._caller_began()
            case CallerGoes():
                return self._caller_goes(event)
            case CallerEnded():
                self._caller_speaks = False
                self._decodes_since_ms.append(event.at_ms)
                return []
            case Said():
                return self._said(event)
            case Missed():
                return self._missed(event)
            case ReplyBegan():
                return self._reply_began(event.at_ms)
            case Committed():
                self._giving_up, self._words_wait, self._person_waits = True, False, False
                return self._go_on(event.at_ms)
            case PersonAsked():
                return self._person_asked()
            case KeyPressed():
                return self._key_pressed(event.digit)
            case CallerDone():
                return self._caller_done(event.at_ms)
            case Sounding():
                return self._sounding(event.at_ms)
            case Guarded():
                return self._guarded(event)
            case Finished():
                return self._finished(event.at_ms)
            case Failed():
                return self._failed(deaf=event.deaf)
            case Transferring():
                self._reply, self._giving_up, self._words_wait, self._person_waits = None, True, False, False
                self.state, self._waiting_since_ms = State.TRANSFERRING, event.at_ms
                self.grading.allowed = False
                return []
            case TransferEnded():
                return self._transfer_ended(accepted=event.accepted)
            case HoldBegan():
                return self._hold_began()
            case HoldEnded():
                return self._hold_ended(event.at_ms)
            case Tick():
                due_ms, act = min(self._timers(event.last_frame_ms), key=lambda timer: timer[0])
                return act(event.at_ms) if event.at_ms >= due_ms else []
            case _:
                assert_never(event)

    # ------------------------------------------------------------ the caller

    def _caller_began(self) -> list[Order]:
        self._caller_speaks = True
        if self.state is State.THINKING and not self._giving_up:
            self.state = State.PAUSED  # nothing has sounded: wait for the caller, never drop the reply for a noise
            return [Command.PAUSE]
        return []

    def _caller_goes(self, event: CallerGoes) -> list[Order]:
        reply, s = self._reply, self.settings
        if reply is None or reply.guarded or self._giving_up:
            return []
        orders: list[Order] = []
        if self.state is State.SPEAKING:
            needed_ms = s.edge_cancel_after_ms if event.edge else s.pause_after_ms
            if event.voiced_ms >= needed_ms:
                self.state = State.PAUSED
                orders.append(Command.PAUSE)
        cancel_after_ms = s.edge_cancel_after_ms if event.edge and not orders else s.cancel_after_ms
        if self.state is State.PAUSED and reply.sounded and not reply.cut and event.voiced_ms >= cancel_after_ms:
            reply.cut = True
            orders.append(Command.CUT)
        return orders

    def _decoded(self, ended_ms: int | None) -> None:
        if ended_ms in self._decodes_since_ms:  # else it was typed, or given up before it came
            self._decodes_since_ms.remove(ended_ms)

    def _said(self, event: Said) -> list[Order]:
        self._decoded(event.ended_ms)
        self.silences = 0
        if self._giving_up or self.state is State.HOLDING:
            return []  # a person is on the way, or the words belong to another conversation
        if self.grading.is_open and event.grade is not None:
            return [*self._discard(), *self.grading.given(event.grade, "voice")]
        reply, self.unclears = self._reply, 0
        if self.state is State.LISTENING or reply is None:
            return self.grading.again() if self.grading.is_open and event.backchannel else self._answer()
        if event.backchannel:
            return self._go_on(event.at_ms)
        if reply.guarded:
            self._words_wait = True
            return [Command.KEEP, *self._go_on(event.at_ms)]
        return [*self._discard(), *self._answer()]

    def _answer(self) -> list[Order]:
        """The caller takes a turn: whatever we wanted of them has to wait."""
        self.grading.set_aside()
        return [Command.ANSWER]

    def _discard(self) -> list[Order]:
        had_reply, self._reply, self.state = self._reply is not None, None, State.LISTENING
        return [Command.DISCARD] if had_reply else []

    def _missed(self, event: Missed) -> list[Order]:
        self._decoded(event.ended_ms)
        if self._giving_up or self.state is State.HOLDING:
            return []
        if event.broken and not self.grading.is_last:
            self.unclears += 1
            if self.unclears >= self.settings.unclear_limit:
                return self._give_up("failure")
        if self.state is not State.LISTENING:
            return self._go_on(event.at_ms)
        if event.voiced_ms < self.settings.short_noise_ms and not event.broken:
            return []  # a cough: the silence timer goes on
        if self.grading.is_open:
            return self.grading.again()
        if not event.broken:
            self.unclears += 1
        return self._give_up("unclear") if self.unclears > self.settings.unclear_limit else [Command.NOT_UNDERSTOOD]

    def _person_asked(self) -> list[Order]:
        if self._reply is not None and self._reply.guarded and not self._giving_up:
            self._person_waits = True
            return []
        return self._give_up("asked")

    def _go_on(self, at_ms: int) -> list[Order]:
        """A false alarm: resume, unless the caller speaks again or words are still being decoded."""
        reply = self._reply
        if self.state is not State.PAUSED or reply is None:
            return []
        if not self._giving_up and (self._caller_speaks or self._decodes_since_ms):
            return []
        self.state = State.SPEAKING if reply.sounded else State.THINKING
        reply.cut, reply.quiet_since_ms = False, at_ms
        return [Command.RESUME]

    # ------------------------------------------------------------ the bot

    def _reply_began(self, at_ms: int) -> list[Order]:
        self._reply = _Reply(quiet_since_ms=at_ms)
        if self.state is State.HOLDING:
            return [Command.PAUSE]
        waits = self._caller_speaks and not self._giving_up
        self.state = State.PAUSED if waits else State.THINKING
        return [Command.PAUSE] if waits else []

    def _sounding(self, at_ms: int) -> list[Order]:
        if self._reply is not None:
            self._reply.sounded, self._reply.quiet_since_ms = True, at_ms
        if self.state is State.THINKING:
            self.state = State.SPEAKING
        return []

    def _guarded(self, event: Guarded) -> list[Order]:
        if self._reply is None:
            return []
        self._reply.guarded = event.on
        return [] if event.on or self.state is State.HOLDING else self._unguarded()

    def _unguarded(self) -> list[Order]:
        """What came while nobody might interrupt."""
        if self._person_waits:
            return self._give_up("asked")
        if not self._words_wait:
            return []
        self._words_wait = False
        return [*self._discard(), *self._answer()]

    def _finished(self, at_ms: int) -> list[Order]:
        self._reply = None
        if self.state in {State.TRANSFERRING, State.HOLDING}:
            return []
        self._giving_up = False  # a hand-over is a Transferring: this reply had none after all
        self.state, self._waiting_since_ms = State.LISTENING, at_ms
        return self._unguarded()

    def _give_up(self, reason: str) -> list[Order]:
        if self._giving_up:
            return []
        self._giving_up, self._words_wait, self._person_waits = True, False, False
        self.grading.set_aside()
        had_reply, self._reply = self._reply is not None, None
        if self.state is not State.HOLDING:
            self.state = State.LISTENING
        give_up = GiveUp(reason=reason)
        return [Command.DISCARD, give_up] if had_reply else [give_up]

    def _failed(self, *, deaf: bool) -> list[Order]:
        if self.grading.is_last:
            return self._end("goodbye")  # who is done needs no person
        if deaf:  # what was being heard never ends
            self._caller_speaks = False
            self._decodes_since_ms.clear()
        elif self._giving_up and self.state is not State.TRANSFERRING:
            return self._end("failure")  # even the words of the hand-over failed: transfer without them
        return self._give_up("failure")

    # ------------------------------------------------------------ what the caller thought of it

    def _caller_done(self, at_ms: int) -> list[Order]:
        """A reply that says goodbye was played to its end."""
        self._words_wait = False  # said over a goodbye
        if orders := self._finished(at_ms):
            return orders
        return self._end("goodbye") if self.grading.is_parting else self.grading.done()

    def _key_pressed(self, digit: str) -> list[Order]:
        if not self.grading.is_open or self._giving_up or self.state is State.HOLDING:
            return []
        if digit in GRADES:
            return [*self._discard(), *self.grading.given(int(digit), "key")]
        return [] if self.grading.is_parting else [*self._discard(), *self.grading.again()]

    # ------------------------------------------------------------ line and time

    def _hold_began(self) -> list[Order]:
        if self.state in {State.HOLDING, State.TRANSFERRING}:
            return []
        self.state = State.HOLDING
        return [Command.PAUSE]

    def _hold_ended(self, at_ms: int) -> list[Order]:
        if self.state is not State.HOLDING:
            return []
        reply, self._waiting_since_ms = self._reply, at_ms
        self.state = State.LISTENING if reply is None else State.PAUSED
        if reply is not None and reply.guarded:
            return self._go_on(at_ms)
        return self._unguarded() or ([Command.RESUME] if reply is None else self._go_on(at_ms))

    def _transfer_ended(self, *, accepted: bool) -> list[Order]:
        if self.state is not State.TRANSFERRING:
            return []
        if accepted:
            return self._end("transferred")
        self._giving_up, self.silences, self.unclears = False, 0, 0
        self.refusals += 1
        self.state = State.LISTENING
        return [Command.TRANSFER_FAILED]

    def _end(self, reason: str) -> list[Order]:
        self.state = State.ENDED
        return [Finish(reason=reason)]

    # ------------------------------------------------------------ timers

    def _time_up(self, at_ms: int) -> list[Order]:
        if self._overtime:
            return self._end("time_up")
        if self.grading.is_last:
            return self._end("goodbye")
        self._overtime, self._ends_ms = True, at_ms + self.settings.transfer_limit_ms
        return self._give_up("time_up")

    def _decode_lost(self, at_ms: int) -> list[Order]:
        lost_ms = self._decodes_since_ms[0]
        return self._missed(Missed(at_ms=at_ms, voiced_ms=self.settings.short_noise_ms, broken=True, ended_ms=lost_ms))

    def _nobody_spoke(self, at_ms: int) -> list[Order]:
        self._waiting_since_ms = at_ms
        if self.grading.is_open:
            return self.grading.part()
        self.silences += 1
        return self._give_up("silence") if self.silences > self.settings.reprompts else [Command.REPROMPT]

    def _quiet_too_long(self, _at_ms: int) -> list[Order]:
        reply = self._reply
        if reply is None or reply.filled:
            return self._failed(deaf=False)
        reply.filled = True
        return [Command.FILL]
