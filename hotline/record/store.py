"""Masked calls, turns and offers in, rows out; and what a broker must still be told. Knows no broker, no wire and no room.

Safe for several processes on one database: ticket numbers, the outbox and migrations are decided inside its transactions.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import Connection, Engine

from hotline.record import migrate, queries
from hotline.record.engine import open_engine, reading, writing
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

P = ParamSpec("P")
R = TypeVar("R")


class Store:
    """One database. Every method raises RecordError; a write happens whole or not at all. Closed by `close`.

    Two threads of its own, one writes and one reads: a busy recogniser can't hold the record up, nor the other way round. A
    caller that is cancelled while its write runs leaves it to finish.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="record-writer")
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="record-reader")

    @classmethod
    async def connect(cls, url: str) -> Self:
        """Open ``sqlite:///PATH`` (the folder is made) or a PostgreSQL URL. Call `migrate` before the rest."""
        return cls(await asyncio.to_thread(open_engine, url))

    async def migrate(self) -> None:
        """Bring the tables up to date. Nothing to do is fine; of two processes that start at once, one waits."""
        await self._write(migrate.upgrade)

    async def close(self) -> None:
        """Let running work finish, then let go of the database. Twice is fine."""
        for threads in (self._writer, self._reader):
            await asyncio.to_thread(threads.shutdown)
        await asyncio.to_thread(self._engine.dispose)

    async def call_opened(self, call: CallOpened) -> None:
        """Keep a call's beginning; a second time changes nothing (a call that moves to another server begins there again)."""
        await self._write(queries.open_call, call)

    async def turn_done(self, turn: TurnDone) -> None:
        """Keep a turn; written again, it replaces what was there. RecordUnmasked when the caller's text holds a long number."""
        _refuse_unmasked(turn.masked_text)
        await self._write(queries.write_turn, turn)

    async def call_ended(self, call_id: str, reason: str, ended_at: dt.datetime) -> None:
        """Keep a call's end; the first one counts. Unknown calls are let by: their beginning was lost to a full disk."""
        await self._write(queries.end_call, call_id, reason, ended_at)

    async def next_ticket(self, tenant: str) -> str:
        """A ticket number, read out over the phone: YYMMDD and four digits (five after the 9999th), never given twice.

        Counted for each tenant and day in China; a number whose offer was never made stays unused.
        """
        return await self._write(queries.take_ticket, tenant)

    async def hand_over(self, offer: Offer) -> None:
        """Keep an offer and queue it for the broker, together or not at all; a second time (same id) changes nothing.

        RecordUnmasked when the summary or a caller's text holds a long number.
        """
        _refuse_unmasked(offer.summary, *(caller for caller, _ in offer.turns))
        await self._write(queries.queue_offer, offer)

    async def outbox_due(self, limit: int = 50) -> list[OutboxRow]:
        """What to tell the broker now: urgent first, then the oldest. Rows stay until `outbox_sent`."""
        return await self._read(queries.due_rows, limit)

    async def outbox_sent(self, row_id: int) -> None:
        """The broker has it (PUBACK). A second time changes nothing."""
        await self._write(queries.mark_sent, row_id)

    async def outbox_failed(self, row_id: int, error_code: str) -> None:
        """The broker refused it: others first, then again after 1, 2, 4 … 60 s."""
        await self._write(queries.mark_failed, row_id, error_code)

    async def call(self, call_id: str) -> StoredCall | None:
        """A call with its turns, offers and events, each in order; None where there is none."""
        return await self._read(queries.read_call, call_id)

    async def recent_calls(self, limit: int = 20) -> list[StoredCall]:
        """The newest calls first, each with its turns, offers and events."""
        return await self._read(queries.read_newest, limit)

    async def _read(self, query: Callable[Concatenate[Connection, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        def work() -> R:
            with reading(self._engine) as connection:
                return query(connection, *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._reader, work)

    async def _write(self, query: Callable[Concatenate[Connection, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        def work() -> R:
            with writing(self._engine) as connection:
                return query(connection, *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._writer, work)


def _refuse_unmasked(*texts: str) -> None:
    if any(has_long_number(each) for each in texts):
        raise RecordUnmasked(
            "a text that should be masked holds a long number; nothing was written", what_to_do="mask it first (llm.privacy)"
        )
