"""What the record keeps: masked calls in, the same calls out. Knows no database, no broker and no wire.

    RecordError
    ├── RecordUnavailable   the database can't be reached, opened or understood
    ├── RecordFull          it can be read but takes nothing more (disk full, read-only)
    └── RecordUnmasked      the text still holds a long number: refused, nothing was written

A failed write never loses a call: whoever writes catches `RecordError` and goes on with the caller.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field

from hotline.errors import HotlineError
from hotline.stamps import Stamps


class RecordError(HotlineError):
    """The record failed. ``code`` is stable (metrics, wire); the message says what to do; neither holds caller content."""

    code = "record.error"


class RecordUnavailable(RecordError):
    """The database can't be reached, opened or understood."""

    code = "record.unavailable"


class RecordFull(RecordError):
    """The database takes nothing more: the disk is full, or it is read-only."""

    code = "record.full"


class RecordUnmasked(RecordError):
    """A text that must be masked holds a long number. Nothing was written."""

    code = "record.unmasked"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOpened:
    """A call begins. masked_caller: 139****5678; started_at: aware."""

    call_id: str
    tenant: str
    trunk: str
    masked_caller: str
    dialled_number: str
    started_at: dt.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDone:
    """One turn with its answer. heard_reply: what the caller really heard of it; unheard_reply: what an interruption cut off."""

    call_id: str
    turn: int
    reply_id: int
    masked_text: str
    route: str
    confidence: float
    source_ids: tuple[str, ...] = ()
    heard_reply: str = ""
    unheard_reply: str = ""
    interrupted: bool = False
    stamps: Stamps = field(default_factory=Stamps)
    explain: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A call that waits for a person. id: what consumers de-duplicate by; turns: (masked caller text, bot text that was heard)."""

    id: str
    ticket: str
    call_id: str
    tenant: str
    skill: str
    reason: str
    urgent: bool
    summary: str
    turns: tuple[tuple[str, str], ...]
    created_at: dt.datetime
    expires_at: dt.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEvent:
    """Something that happened to a call. kind: opened, offer_queued, offer_delivered, rated, ended."""

    id: int
    call_id: str
    tenant: str
    kind: str
    at: dt.datetime
    body: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """Something that a broker must still be told. attempts: how often that failed."""

    row_id: int
    what: Offer | CallEvent
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCall:
    """A call as the record has it. ended_at None: still open, or its server died.

    satisfaction: the caller's grade, 1 (worst) to 5, None where they gave none; satisfaction_by: key or voice.
    """

    opened: CallOpened
    ended_at: dt.datetime | None = None
    end_reason: str = ""
    satisfaction: int | None = None
    satisfaction_by: str | None = None
    turns: tuple[TurnDone, ...] = ()
    offers: tuple[Offer, ...] = ()
    events: tuple[CallEvent, ...] = ()
