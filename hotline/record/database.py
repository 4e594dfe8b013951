"""A query in, its result out of one transaction, on asyncio. Knows turns, cancelling and closing; no tables and no SQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import Connection, StaticPool
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from hotline.record.engine import open_engine, reading, writing
from hotline.record.types import RecordUnavailable

P = ParamSpec("P")
R = TypeVar("R")

# Of closing. Twice what SQLite waits for another program's lock: only a disk that hangs takes longer.
_LONGEST_STEP_S = 10


class Database:
    """Runs synchronous queries, each in a transaction of its own. Raises RecordError. Closed by `close`.

    One writes and one reads at a time, each on its own connection: a slow look doesn't hold a call's entries up. A caller that is
    cancelled leaves the transaction that runs for it to finish; one that still waits for its turn is never begun.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self._to_write = asyncio.Lock()
        # In memory there is only one connection.
        self._to_read = self._to_write if isinstance(engine.pool, StaticPool) else asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def connect(cls, url: str) -> Self:
        """What is behind the URL, proven to open."""
        return cls(await open_engine(url))

    async def read(self, query: Callable[Concatenate[Connection, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """A consistent view."""
        await self._take(self._to_read)
        return await asyncio.shield(_finish(self._to_read, reading(self.engine), query, *args, **kwargs))

    async def write(self, query: Callable[Concatenate[Connection, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """All of it or nothing."""
        await self._take(self._to_write)
        return await asyncio.shield(_finish(self._to_write, writing(self.engine), query, *args, **kwargs))

    async def close(self) -> None:
        """Let running work finish, then let go; bounded. Twice is fine. Who is cancelled here still sees it done."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._let_go(), name="record-closes")
        await _see_done(self._closing)

    async def _take(self, turn: asyncio.Lock) -> None:
        await turn.acquire()
        if self._closing is not None:
            turn.release()
            raise RecordUnavailable("the record is closed", what_to_do="connect again")

    async def _let_go(self) -> None:
        for step in (self._finished, self.engine.dispose):
            with suppress(TimeoutError):  # a disk that hangs: the connections' threads end with the process
                async with asyncio.timeout(_LONGEST_STEP_S):
                    await step()

    async def _finished(self) -> None:
        for turn in (self._to_write, self._to_read):
            async with turn:
                pass


async def _finish(
    turn: asyncio.Lock,
    transaction: AbstractAsyncContextManager[AsyncConnection],
    query: Callable[Concatenate[Connection, P], R],
    *args: P.args,
    **kwargs: P.kwargs,
) -> R:
    try:
        async with transaction as connection:
            return await connection.run_sync(query, *args, **kwargs)
    finally:
        turn.release()


async def _see_done(task: asyncio.Task[None]) -> None:
    """Wait for it, then be cancelled: a loop that ends before its connections do leaves their threads behind."""
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
    task.result()
