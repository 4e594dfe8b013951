"""Masked calls, turns and offers in, rows out; and what a broker must still be told. Knows no broker, no wire and no room.

Safe for several processes on one database: ticket numbers, the outbox and migrations are decided inside its transactions.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Self

from hotline.record import migrate, queries
from hotline.record.database import Database
from hotline.record.numbers import has_long_number
from hotline.record.types import (
    CallEvent,
    CallOpened,
    Offer,
    OutboxRow,
    RecordError,
    RecordFull,
    RecordUnavailable,
    RecordUnmasked,
    StoredCall,
    TurnDone,
)

__all__ = [
    "CallEvent",
    "CallOpened",
    "Offer",
    "OutboxRow",
    "RecordError",
    "RecordFull",
    "RecordUnavailable",
    "RecordUnmasked",
    "Store",
    "StoredCall",
    "TurnDone",
]


class Store:
    """One database. Every method raises RecordError; a write happens whole or not at all. Closed by `close`.

    A caller that is cancelled while its write runs leaves it to finish.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def connect(cls, url: str) -> Self:
        """Open ``sqlite:///PATH`` (its folder is made), ``sqlite:///:memory:`` or PostgreSQL. Call `migrate` before the rest."""
        return cls(await Database.connect(url))

    @property
    def database(self) -> Database:
        """For what else lives in it."""
        return self._database

    async def migrate(self) -> None:
        """Bring the tables up to date. Nothing to do is fine; of two processes that start at once, one waits."""
        scripts = await asyncio.to_thread(migrate.read_scripts)
        await self._database.write(migrate.upgrade, scripts)

    async def close(self) -> None:
        """Let running work finish, then let go of the database; bounded. Twice is fine."""
        await self._database.close()

    async def call_opened(self, call: CallOpened) -> None:
        """Keep a call's beginning; a second time changes nothing (a call that moves to another server begins there again)."""
        await self._database.write(queries.open_call, call)

    async def turn_done(self, turn: TurnDone) -> None:
        """Keep a turn; written again, it replaces what was there. RecordUnmasked when the caller's text holds a long number."""
        _refuse_unmasked(turn.masked_text)
        await self._database.write(queries.write_turn, turn)

    async def call_rated(self, call_id: str, grade: int, how: str) -> None:
        """Keep the caller's grade, 1 to 5, and whether it came by `key` or `voice`; the first one counts."""
        await self._database.write(queries.rate_call, call_id, grade, how)

    async def call_ended(self, call_id: str, reason: str, ended_at: dt.datetime) -> None:
        """Keep a call's end; the first one counts. Unknown calls are let by: their beginning was lost to a full disk."""
        await self._database.write(queries.end_call, call_id, reason, ended_at)

    async def next_ticket(self, tenant: str) -> str:
        """A ticket number, read out over the phone: YYMMDD and four digits (five after the 9999th), never given twice.

        Counted for each tenant and day in China; a number whose offer was never made stays unused.
        """
        return await self._database.write(queries.take_ticket, tenant)

    async def hand_over(self, offer: Offer) -> None:
        """Keep an offer and queue it for the broker, together or not at all; a second time (same id) changes nothing.

        RecordUnmasked when the summary or a caller's text holds a long number.
        """
        _refuse_unmasked(offer.summary, *(caller for caller, _ in offer.turns))
        await self._database.write(queries.queue_offer, offer)

    async def outbox_due(self, limit: int = 50) -> list[OutboxRow]:
        """What to tell the broker now: urgent first, then the oldest. Rows stay until `outbox_sent`."""
        return await self._database.read(queries.due_rows, limit)

    async def outbox_sent(self, row_id: int) -> None:
        """The broker has it (PUBACK). A second time changes nothing."""
        await self._database.write(queries.mark_sent, row_id)

    async def outbox_failed(self, row_id: int, error_code: str) -> None:
        """The broker refused it: others first, then again after 1, 2, 4 … 60 s."""
        await self._database.write(queries.mark_failed, row_id, error_code)

    async def call(self, call_id: str) -> StoredCall | None:
        """A call with its turns, offers and events, each in order; None where there is none."""
        return await self._database.read(queries.read_call, call_id)

    async def recent_calls(self, limit: int = 20) -> list[StoredCall]:
        """The newest calls first, each with its turns, offers and events."""
        return await self._database.read(queries.read_newest, limit)


def _refuse_unmasked(*texts: str) -> None:
    if any(has_long_number(each) for each in texts):
        raise RecordUnmasked(
            "a text that should be masked holds a long number; nothing was written", what_to_do="mask it first (llm.privacy)"
        )
