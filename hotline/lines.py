"""A line: where a call's sound and words come from and go to. The same for gRPC, text mode, replay and tests; knows no wire."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from asr.types import AudioPacket
from hotline.sound.codec import Codec
from hotline.stamps import Stamps
from llm.types import Explained


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStart:
    """How a call begins. codec None: a text-only call. masked_caller: the calling number, already masked (139****5678)."""

    call_id: str
    masked_caller: str = ""
    dialled_number: str = ""
    codec: Codec | None = None
    rate_hz: int = 8000
    locale: str = "zh-CN"
    trunk: str = ""
    tenant: str = "default"
    reports_marks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """Typed words, raw: for the masker only."""

    text: str

    def __repr__(self) -> str:
        """Without the text."""
        return f"Typed(characters={len(self.text)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key press."""

    digit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkPlayed:
    """The far end played everything before this mark."""

    reply_id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LineHeld:
    """The leg went on hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineResumed:
    """The leg is back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferResult:
    """What became of a transfer. outcome: accepted, refused, no_answer, failed."""

    ticket: str
    outcome: str
    sip_code: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaStats:
    """Line statistics since the call's start."""

    packets_received: int
    packets_lost: int
    jitter_us: int = 0
    round_trip_us: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HungUp:
    """The caller is gone. reason: a word for the record."""

    reason: str = "caller"


LineEvent = AudioPacket | Typed | Key | MarkPlayed | LineHeld | LineResumed | TransferResult | MediaStats | HungUp


@dataclass(frozen=True, slots=True, kw_only=True)
class BotAudio:
    """20 ms of bot audio in the call's codec."""

    reply_id: int
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A place in a reply's audio."""

    reply_id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clear:
    """Drop buffered audio. reason: pause, cancel, held."""

    reply_id: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What was heard, masked."""

    turn: int
    masked_text: str
    start_ms: int = 0
    end_ms: int = 0
    is_final: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyText:
    """One clause as displayed; route as in the contract's ReplyText."""

    reply_id: int
    text: str
    route: str
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Move the caller to a person."""

    target: str
    ticket: str
    summary: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The bot is done; the last event. reason as in the contract's End."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFigures:
    """Figures of a finished turn."""

    turn: int
    stamps: Stamps
    route: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Something went wrong; the call goes on."""

    code: str
    message: str
    what_to_do: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why a turn was answered as it was; for people at this machine, never on a wire."""

    turn: int
    explained: Explained


WireEvent = BotAudio | Mark | Clear | Transcript | ReplyText | Transfer | Ended | TurnFigures | Trouble
BotEvent = WireEvent | Why


class Line(Protocol):
    """One call's line."""

    start: CallStart

    def events(self) -> AsyncGenerator[LineEvent, None]:
        """What comes from the caller. Ends after HungUp; ending without it means that the line broke. Consume inside aclosing."""
        ...

    async def send(self, event: BotEvent) -> None:
        """Hand one event to the far end, in order. Waits while the far end is slow; after the line broke it does nothing."""
        ...
