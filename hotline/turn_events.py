"""What may happen in a call, and what the turn machine may order. Frozen facts only; the transitions stand in turns.py."""

from __future__ import annotations

import enum
from dataclasses import dataclass

# ---------------------------------------------------------------- events: what happened, and when


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerBegan:
    """The caller makes a sound like speech. start_ms: its first sample."""

    at_ms: int
    start_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerGoes:
    """They go on. edge: the reply is within edge_ms of its first or last frame."""

    at_ms: int
    voiced_ms: int
    edge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerEnded:
    """They stopped; a decode is pending until `Said` or `Missed`."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Words. ended_ms: of the CallerEnded whose decode gave them, None for typed words; backchannel: 嗯, 对, 好的 and the like.

    grade: what the words say as a grade of the call, 1 to 5; 0: none is given; None: they say nothing of the kind.
    """

    at_ms: int
    backchannel: bool = False
    ended_ms: int | None = None
    grade: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A decode gave no words to trust. voiced_ms: how long it sounded like speech; ended_ms: as in `Said`."""

    at_ms: int
    voiced_ms: int = 0
    ended_ms: int | None = None
    broken: bool = False  # the recogniser itself failed


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyBegan:
    """A reply is being made."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The reply in hand ends with a person: words no longer drop it."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAsked:
    """Key 0, or a command of the operator: a person, now."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPressed:
    """Any other key."""

    at_ms: int
    digit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerDone:
    """A reply that says goodbye was played to its end; comes instead of `Finished`."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sounding:
    """First frame of the reply left."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """The clause that sounds may not be interrupted (on), or may again."""

    at_ms: int
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The reply was played to its end."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Something of ours broke: a reply could not be made, or (deaf) the caller cannot be heard."""

    at_ms: int
    deaf: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Transferring:
    """A transfer was asked for."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferEnded:
    """What became of it."""

    at_ms: int
    accepted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldBegan:
    """The line is on hold."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldEnded:
    """The line is back."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """The caller hung up, or the line broke."""

    at_ms: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Time passed. last_frame_ms: when bot audio last left, None before the first."""

    at_ms: int
    last_frame_ms: int | None = None


TurnEvent = (
    CallerBegan
    | CallerGoes
    | CallerEnded
    | Said
    | Missed
    | ReplyBegan
    | Committed
    | PersonAsked
    | KeyPressed
    | CallerDone
    | Sounding
    | Guarded
    | Finished
    | Failed
    | Transferring
    | TransferEnded
    | HoldBegan
    | HoldEnded
    | Gone
    | Tick
)


# ---------------------------------------------------------------- commands: what to do, in order


class Command(enum.Enum):
    """Orders to the call."""

    PAUSE = "pause"  # silence now, keep the place
    RESUME = "resume"  # go on at the same sample
    CUT = "cut"  # stop making the reply; keep what is made, in case it was a false alarm
    DISCARD = "discard"  # drop the reply; history is what was played
    ANSWER = "answer"  # answer what the caller said
    KEEP = "keep"  # nobody may interrupt now: an ANSWER to these words follows
    REPROMPT = "reprompt"  # nobody spoke
    NOT_UNDERSTOOD = "not_understood"  # ask to say it again
    FILL = "fill"  # say that it takes a moment
    TRANSFER_FAILED = "transfer_failed"  # the person could not be reached
    ASK_TO_RATE = "ask_to_rate"  # how they found it, from 1 to 5
    ASK_TO_RATE_AGAIN = "ask_to_rate_again"  # that was no grade
    FAREWELL = "farewell"  # the last words


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """Hand the call to a person. reason as in the contract's Transfer."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Keep the caller's grade, 1 to 5. how: key or voice."""

    grade: int
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The call is over."""

    reason: str


Order = Command | GiveUp | Rate | Finish
