"""A URL in, an open database out, and its errors told in ours. Knows SQLite's and PostgreSQL's habits, no tables."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, StaticPool, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InvalidRequestError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from hotline.record.types import RecordError, RecordFull, RecordUnavailable

_BUSY_TIMEOUT_MS = 5_000
# One for the writer, one for a reader. With aiosqlite each is a thread.
_CONNECTIONS = 2
# The record runs on asyncio: what a URL without a driver means, or with one that can't wait.
_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+pysqlite": "sqlite+aiosqlite",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg2": "postgresql+psycopg",
}
_MEMORY = ":memory:"
_MAKE_ROOM = "free space on the record's disk or allow writing there; calls go on, but this is not kept"
_FULL_CODES = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY}
_POSTGRES_DISK_FULL = "53100"


async def open_engine(text: str) -> AsyncEngine:
    """The database behind a URL, proven to open. SQLite: its folder is made, WAL, a commit is on the disk when it returns.

    Memory is one shared connection, gone when it closes: for measurements and demonstrations. Raises RecordUnavailable or
    RecordFull.
    """
    engine = await asyncio.to_thread(_make_engine, text)
    try:
        async with reading(engine):
            pass
    except (RecordError, asyncio.CancelledError):
        await engine.dispose()
        raise
    return engine


@asynccontextmanager
async def reading(engine: AsyncEngine) -> AsyncGenerator[AsyncConnection, None]:
    """A consistent view; waits for no writer."""
    with told_in_ours():
        async with engine.execution_options(only_reads=True).begin() as connection:
            yield connection


@asynccontextmanager
async def writing(engine: AsyncEngine) -> AsyncGenerator[AsyncConnection, None]:
    """All of it or nothing."""
    with told_in_ours():
        async with engine.begin() as connection:
            yield connection


@contextmanager
def told_in_ours() -> Generator[None, None, None]:
    """Database errors as RecordError, without the cause: that may hold a row."""
    try:
        yield
    except DBAPIError as error:
        raise _explain(error) from None
    except (UnicodeError, OverflowError) as error:  # sqlite3's own, and the first one holds the text
        raise RecordError(f"the record can't keep a value ({type(error).__name__})", what_to_do="report it") from None
    except OSError as error:  # some drivers' way to say that no server answers
        raise RecordUnavailable(
            f"the record's server can't be reached ({type(error).__name__})", what_to_do="check the database server"
        ) from None
    except SQLAlchemyError as error:
        raise RecordError(f"the record refused a statement ({type(error).__name__})", what_to_do="report it") from None


def _make_engine(text: str) -> AsyncEngine:
    """Blocks: it imports the driver and makes a folder."""
    url = _parse(text)
    # Memory belongs to its connection.
    pool: dict[str, Any] = {"poolclass": StaticPool} if url.database == _MEMORY else {"pool_size": _CONNECTIONS, "max_overflow": 0}
    try:
        engine = create_async_engine(url, hide_parameters=True, **pool)
    except (ArgumentError, InvalidRequestError):  # no such driver, or one that can't wait
        raise _not_a_url() from None
    except ImportError as error:
        raise RecordUnavailable(
            f"the record's database needs the Python package {error.name}", what_to_do=f"install {error.name}"
        ) from None
    if url.get_backend_name() == "sqlite":
        _make_folder(Path(url.database or ""))
        event.listen(engine.sync_engine, "connect", _set_up_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _parse(text: str) -> URL:
    try:
        url = make_url(text)
    except ArgumentError:
        raise _not_a_url() from None
    if url.get_backend_name() == "sqlite" and not url.database:
        raise _not_a_url()
    return url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))


def _not_a_url() -> RecordUnavailable:
    return RecordUnavailable(
        "the record's URL isn't one", what_to_do="set [record] url to sqlite:///PATH or postgresql://USER@HOST/NAME"
    )


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise RecordUnavailable(
            f"the record's folder {path.parent} can't be made ({error.strerror})", what_to_do="name another path in [record] url"
        ) from None


def _set_up_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401  SQLAlchemy's adapted connection has no type
    try:
        connection.isolation_level = None  # we begin ourselves, so that DDL and reads are in the transaction too
        cursor = connection.cursor()
        for pragma in (f"busy_timeout = {_BUSY_TIMEOUT_MS}", "journal_mode = WAL", "synchronous = FULL"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()
    except BaseException:  # also cancelled: SQLAlchemy forgets a connection that fails here, and its thread would go on
        connection.terminate()
        raise


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes its lock at once: a deferred one that reads first fails instead of waiting.
    connection.exec_driver_sql("BEGIN" if connection.get_execution_options().get("only_reads") else "BEGIN IMMEDIATE")


def _explain(error: DBAPIError) -> RecordError:
    match error.orig:
        case sqlite3.Error(sqlite_errorcode=int(code)) if code & 0xFF in _FULL_CODES:
            return RecordFull("the record takes nothing more: the disk is full or read-only", what_to_do=_MAKE_ROOM)
        case sqlite3.Error(sqlite_errorcode=int(code), sqlite_errorname=str(name)) if code & 0xFF == sqlite3.SQLITE_BUSY:
            return RecordUnavailable(
                f"the record was locked for {_BUSY_TIMEOUT_MS} ms ({name})", what_to_do="end the other program that writes to it"
            )
        case sqlite3.Error(sqlite_errorname=str(name)):
            return RecordUnavailable(f"the record can't be opened or read ({name})", what_to_do="check its path, owner and disk")
        case orig if getattr(orig, "sqlstate", None) == _POSTGRES_DISK_FULL:
            return RecordFull("the record's server has no space left", what_to_do=_MAKE_ROOM)
        case orig:
            return RecordUnavailable(
                f"the record's database failed ({type(orig).__name__})", what_to_do="check the database server"
            )
