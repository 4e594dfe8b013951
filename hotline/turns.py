"""Who speaks: events of a call in, commands out. PURE: no clock, no tasks, no sound, no text. It alone may interrupt the bot.

All transitions of a call stand in this file. Time comes in with the events; `deadline_ms` says when the next `Tick` is due.

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
from dataclasses import dataclass, replace
from typing import assert_never

from hotline.turn_events import (
    CallerBegan,
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


class State(enum.Enum):
    """States of a call."""

    LISTENING = "listening"
    THINKING = "thinking"
    SPEAKING = "speaking"
    PAUSED = "paused"
    HOLDING = "holding"
    TRANSFERRING = "transferring"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSettings:
    """Patience and thresholds of a call, in ms of call time."""

    pause_after_ms: int = 200
    cancel_after_ms: int = 350
    edge_ms: int = 1000
    edge_cancel_after_ms: int = 700
    short_noise_ms: int = 400
    no_input_ms: int = 7000
    reprompts: int = 2
    unclear_limit: int = 2
    filler_after_ms: int = 1200
    speaking_gap_ms: int = 1000
    thinking_limit_ms: int = 2500
    decode_limit_ms: int = 10_000
    transfer_limit_ms: int = 45_000
    max_call_ms: int = 1_800_000

    def __post_init__(self) -> None:
        """Refuse an order that can't work."""
        if not 0 < self.pause_after_ms < self.cancel_after_ms <= self.edge_cancel_after_ms:
            raise ValueError("0 < pause_after_ms < cancel_after_ms ≤ edge_cancel_after_ms")
        if self.filler_after_ms >= self.thinking_limit_ms:
            raise ValueError("filler_after_ms must lie below thinking_limit_ms")


@dataclass(slots=True)
class _Reply:
    """The reply in hand."""

    began_ms: int
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
        self._reply: _Reply | None = None
        self._caller_speaks = False
        self._decodes_since_ms: list[int] = []
        self._waiting_since_ms: int | None = None
        self.words_wait = False
        self._giving_up = False
        self._before_hold = State.LISTENING

    @property
    def decode_pending(self) -> bool:
        """A decode is under way: no timer about missing words may run."""
        return bool(self._decodes_since_ms)

    def deadline_ms(self, last_frame_ms: int | None = None) -> int:
        """When the next Tick is due, in call time."""
        s = self.settings
        due = [s.max_call_ms + (s.transfer_limit_ms if self._giving_up else 0)]
        if self._decodes_since_ms:
            due.append(self._decodes_since_ms[0] + s.decode_limit_ms)
        if self._waiting_since_ms is not None:
            if self.state is State.LISTENING and not self._caller_speaks and not self.decode_pending:
                due.append(self._waiting_since_ms + s.no_input_ms)
            if self.state is State.TRANSFERRING:
                due.append(self._waiting_since_ms + s.transfer_limit_ms)
        reply = self._reply
        if reply is not None and self.state in {State.THINKING, State.SPEAKING}:
            quiet_since = max(reply.began_ms, last_frame_ms or 0)
            due.append(quiet_since + (s.thinking_limit_ms if reply.filled else self._gap_ms(reply)))
        return min(due)

    def feed(self, event: TurnEvent) -> list[Order]:  # noqa: C901, PLR0911, PLR0912  one flat table of events is what this file is for
        """Take one event; return what to do, in order."""
        if self.state is State.ENDED:
            return []
        match event:
            case Gone():
                self.state = State.ENDED
                return [Finish(reason=event.reason)]
            case CallerBegan():
                return self._caller_began()
            case CallerGoes():
                return self._caller_goes(event)
            case CallerEnded():
                self._caller_speaks = False
                self._decodes_since_ms.append(event.at_ms)
                return []
            case Said():
                self._decoded(spoken=event.spoken)
                return self._said(event)
            case Missed():
                self._decoded(spoken=True)
                return self._missed(event)
            case ReplyBegan():
                return self._reply_began(event.at_ms)
            case Committed():
                return self._committed()
            case PersonAsked():
                return self._give_up("asked")
            case Sounding():
                return self._sounding()
            case Guarded():
                return self._guarded(event)
            case Finished():
                return self._finished(event.at_ms)
            case Failed():
                return self._give_up("failure")
            case Transferring():
                self._reply = None
                self.state, self._waiting_since_ms = State.TRANSFERRING, event.at_ms
                return []
            case TransferEnded():
                return self._transfer_ended(accepted=event.accepted)
            case HoldBegan():
                return self._hold_began()
            case HoldEnded():
                return self._hold_ended(event.at_ms)
            case Tick():
                return self._tick(event)
            case _:
                assert_never(event)

    # ------------------------------------------------------------ the caller

    def _caller_began(self) -> list[Order]:
        self._caller_speaks = True
        if self.state is State.THINKING:  # nothing has sounded: wait for the caller, never drop the reply for a noise
            self.state = State.PAUSED
            return [Command.PAUSE]
        return []

    def _caller_goes(self, event: CallerGoes) -> list[Order]:
        reply, s = self._reply, self.settings
        if reply is None or reply.guarded:
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

    def _decoded(self, *, spoken: bool) -> None:
        if spoken and self._decodes_since_ms:
            self._decodes_since_ms.pop(0)

    def _said(self, event: Said) -> list[Order]:
        self.silences = 0
        if self._giving_up or self.state in {State.HOLDING, State.TRANSFERRING}:
            return self._go_on()  # a person is on the way, or the words belong to another conversation
        if self.state is State.LISTENING:
            self.unclears = 0
            return [Command.ANSWER]
        reply = self._reply
        if event.backchannel:
            return self._go_on()
        if reply is not None and reply.guarded:
            self.words_wait = True
            return self._go_on()
        self.unclears = 0
        self._reply = None
        self.state = State.LISTENING
        return [Command.DISCARD, Command.ANSWER]

    def _missed(self, event: Missed) -> list[Order]:
        if event.broken:
            self.unclears += 1
            if self.unclears >= self.settings.unclear_limit:
                return self._give_up("failure")
        if self.state is State.PAUSED:
            return self._go_on()
        if self.state is not State.LISTENING or self._giving_up:
            return []
        if event.voiced_ms < self.settings.short_noise_ms and not event.broken:
            return []  # a cough: the silence timer goes on
        if not event.broken:
            self.unclears += 1
        if self.unclears > self.settings.unclear_limit:
            return self._give_up("unclear")
        return [Command.NOT_UNDERSTOOD]

    def _go_on(self) -> list[Order]:
        """A false alarm: resume, unless the caller speaks again or words are still being decoded."""
        if self.state is not State.PAUSED or self._caller_speaks or self.decode_pending:
            return []
        reply = self._reply
        self.state = State.SPEAKING if reply is not None and reply.sounded else State.THINKING
        if reply is not None:
            reply.cut = False
        return [Command.RESUME]

    # ------------------------------------------------------------ the bot

    def _reply_began(self, at_ms: int) -> list[Order]:
        self._reply = _Reply(began_ms=at_ms)
        if self.state is State.HOLDING:
            return [Command.PAUSE]
        self.state = State.PAUSED if self._caller_speaks else State.THINKING
        return [Command.PAUSE] if self._caller_speaks else []

    def _committed(self) -> list[Order]:
        self._giving_up = True
        return []

    def _sounding(self) -> list[Order]:
        if self._reply is not None:
            self._reply.sounded = True
        if self.state is State.THINKING:
            self.state = State.SPEAKING
        return []

    def _guarded(self, event: Guarded) -> list[Order]:
        if self._reply is None:
            return []
        self._reply.guarded = event.on
        if event.on or not self.words_wait:
            return []
        return self._answer_waiting()

    def _answer_waiting(self) -> list[Order]:
        self.words_wait, self._reply, self.state = False, None, State.LISTENING
        return [Command.DISCARD, Command.ANSWER]

    def _finished(self, at_ms: int) -> list[Order]:
        if self.state in {State.TRANSFERRING, State.HOLDING}:
            self._reply = None
            return []
        if self.words_wait:
            return self._answer_waiting()
        self._reply, self.state, self._waiting_since_ms = None, State.LISTENING, at_ms
        return []

    def _give_up(self, reason: str) -> list[Order]:
        if self._giving_up:
            if reason != "failure":
                return []
            self.state = State.ENDED  # even the words of the hand-over failed: transfer without them
            return [Finish(reason="failure")]
        self._giving_up, self.words_wait = True, False
        had_reply = self._reply is not None
        self._reply = None
        if self.state is not State.HOLDING:
            self.state = State.LISTENING
        give_up = GiveUp(reason=reason)
        return [Command.DISCARD, give_up] if had_reply else [give_up]

    # ------------------------------------------------------------ line and time

    def _hold_began(self) -> list[Order]:
        if self.state in {State.HOLDING, State.TRANSFERRING}:
            return []
        self._before_hold, self.state = self.state, State.HOLDING
        return [Command.PAUSE]

    def _hold_ended(self, at_ms: int) -> list[Order]:
        if self.state is not State.HOLDING:
            return []
        before = self._before_hold
        reply = self._reply
        self._waiting_since_ms = at_ms
        if reply is None:
            self.state = State.LISTENING
            return [Command.RESUME]
        self.state = State.SPEAKING if reply.sounded else State.THINKING
        if before is State.PAUSED and (self._caller_speaks or self.decode_pending):
            self.state = State.PAUSED
            return []
        self._reply = replace(reply, began_ms=at_ms)
        return [Command.RESUME]

    def _transfer_ended(self, *, accepted: bool) -> list[Order]:
        if self.state is not State.TRANSFERRING:
            return []
        if accepted:
            self.state = State.ENDED
            return [Finish(reason="transferred")]
        self._giving_up, self.silences, self.unclears = False, 0, 0
        self.state = State.LISTENING
        return [Command.TRANSFER_FAILED]

    def _gap_ms(self, reply: _Reply) -> int:
        return self.settings.speaking_gap_ms if reply.sounded else self.settings.filler_after_ms

    def _tick(self, event: Tick) -> list[Order]:
        if event.at_ms < self.deadline_ms(event.last_frame_ms):
            return []
        s = self.settings
        if event.at_ms >= s.max_call_ms:
            return self._time_up()
        if self._decodes_since_ms and event.at_ms >= self._decodes_since_ms[0] + s.decode_limit_ms:
            return self.feed(Missed(at_ms=event.at_ms, voiced_ms=s.short_noise_ms, broken=True))
        if self.state is State.LISTENING:
            return self._nobody_spoke(event.at_ms)
        if self.state is State.TRANSFERRING:
            return self._transfer_ended(accepted=False)
        return self._quiet_too_long()

    def _time_up(self) -> list[Order]:
        if not self._giving_up:
            return self._give_up("time_up")
        self.state = State.ENDED
        return [Finish(reason="time_up")]

    def _quiet_too_long(self) -> list[Order]:
        reply = self._reply
        if reply is None:
            return []
        if reply.filled:
            return self._give_up("failure")
        reply.filled = True
        return [Command.FILL]

    def _nobody_spoke(self, at_ms: int) -> list[Order]:
        self.silences += 1
        self._waiting_since_ms = at_ms
        if self.silences > self.settings.reprompts:
            return self._give_up("silence")
        return [Command.REPROMPT]
