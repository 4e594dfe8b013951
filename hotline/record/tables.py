"""The record's tables, as the newest migration leaves them. Knows no queries; a change here needs a migration beside it.

No foreign keys from turns, offers and events to calls, on purpose: if the row that opened a call was lost to a full disk, the
hand-over of its caller must still be stored.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import fields
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
)
from sqlalchemy.types import TypeEngine

from hotline.stamps import Stamps


class UtcTime(TypeDecorator[dt.datetime]):
    """Aware UTC in, aware UTC out, also where the database keeps no zones (SQLite)."""

    impl: TypeEngine[Any] | type[TypeEngine[Any]] = DateTime(timezone=True)
    cache_ok: bool | None = True

    def process_bind_param(self, value: dt.datetime | None, dialect: Dialect) -> dt.datetime | None:  # noqa: ARG002  SQLAlchemy's signature
        """UTC, or ValueError for a time without a zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time in the record needs its zone: use hotline.clock.utc_now()")
        return value.astimezone(dt.UTC)

    def process_result_value(self, value: dt.datetime | None, dialect: Dialect) -> dt.datetime | None:  # noqa: ARG002  SQLAlchemy's signature
        """With its zone."""
        if value is None:
            return None
        return value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value.astimezone(dt.UTC)


STAMP_NAMES = tuple(stamp.name for stamp in fields(Stamps))

metadata = MetaData()

calls = Table(
    "calls",
    metadata,
    Column("call_id", String(128), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("trunk", String(128), nullable=False),
    Column("masked_caller", String(64), nullable=False),
    Column("dialled_number", String(64), nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("end_reason", String(64), nullable=False, server_default=""),
    Column("satisfaction", Integer),  # 1 to 5; none where the caller gave none
    Column("satisfaction_by", String(8)),  # key or voice
    Index("calls_by_start", "started_at"),
)

turns = Table(
    "turns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("call_id", String(128), nullable=False),
    Column("turn", Integer, nullable=False),
    Column("reply_id", Integer, nullable=False),
    Column("masked_text", Text, nullable=False),
    Column("route", String(64), nullable=False),
    Column("confidence", Float, nullable=False),
    Column("source_ids", Text, nullable=False),  # JSON list
    Column("heard_reply", Text, nullable=False),
    Column("unheard_reply", Text, nullable=False),
    Column("interrupted", Boolean, nullable=False),
    Column("explain", Text, nullable=False),
    *(Column(name, Integer) for name in STAMP_NAMES),
    UniqueConstraint("call_id", "turn", "reply_id", name="turns_once"),
)

offers = Table(
    "offers",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("ticket", String(32), nullable=False),
    Column("call_id", String(128), nullable=False),
    Column("tenant", String(64), nullable=False),
    Column("skill", String(64), nullable=False),
    Column("reason", String(64), nullable=False),
    Column("urgent", Boolean, nullable=False),
    Column("summary", Text, nullable=False),
    Column("turns", Text, nullable=False),  # JSON list of [caller, bot]
    Column("created_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
    Index("offers_by_call", "call_id"),
)

call_events = Table(
    "call_events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("call_id", String(128), nullable=False),
    Column("tenant", String(64), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("body", Text, nullable=False),  # JSON object of strings
    Index("call_events_by_call", "call_id"),
)

# By reference: the payload is made from the row that it points to, so what is kept and what is told can't differ.
outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("offer_id", String(64)),
    Column("event_id", Integer),
    Column("urgent", Boolean, nullable=False, server_default=false()),
    Column("created_at", UtcTime, nullable=False),
    Column("due_at", UtcTime, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("last_error", String(64), nullable=False, server_default=""),
    Column("sent_at", UtcTime),
    Index("outbox_unsent", "sent_at", "due_at"),
)

tickets = Table(
    "tickets",
    metadata,
    Column("tenant", String(64), primary_key=True),
    Column("day", String(6), primary_key=True),  # YYMMDD
    Column("last_number", Integer, nullable=False),
)

access_tokens = Table(
    "access_tokens",
    metadata,
    Column("id", String(16), primary_key=True),  # shown; tells nothing of the token
    Column("name", String(64), nullable=False),
    Column("scope", String(16), nullable=False),
    Column("digest", String(64), nullable=False),  # SHA-256, hexadecimal
    Column("created_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime),
    Column("revoked_at", UtcTime),
    Column("last_used", String(10), nullable=False, server_default=""),  # YYYY-MM-DD, UTC
    UniqueConstraint("digest", name="access_tokens_once"),
)
