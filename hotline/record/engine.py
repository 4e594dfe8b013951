"""A URL in, an open database out, and its errors told in ours. Knows SQLite's and PostgreSQL's habits, no tables. Blocks."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from hotline.record.types import RecordError, RecordFull, RecordUnavailable

_BUSY_TIMEOUT_MS = 5_000
_POOL_TIMEOUT_S = 5.0
# A URL may name an asynchronous driver; the record has threads of its own and uses the plain one.
_DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg"}
_MAKE_ROOM = "free space on the record's disk or allow writing there; calls go on, but this is not kept"
_FULL_CODES = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY}
_POSTGRES_DISK_FULL = "DiskFull"


def open_engine(text: str) -> Engine:
    """The database behind a URL, proven to open. SQLite: its folder is made, WAL, a commit is on the disk when it returns.

    Raises RecordUnavailable or RecordFull.
    """
    url = _parse(text)
    engine = create_engine(url, hide_parameters=True, pool_size=2, max_overflow=0, pool_timeout=_POOL_TIMEOUT_S)
    if url.get_backend_name() == "sqlite":
        _make_folder(Path(url.database or ""))
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    try:
        with reading(engine):
            pass
    except RecordError:
        engine.dispose()
        raise
    return engine


@contextmanager
def reading(engine: Engine) -> Generator[Connection, None, None]:
    """A consistent view; waits for no writer."""
    with told_in_ours(), engine.execution_options(only_reads=True).begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Generator[Connection, None, None]:
    """All of it or nothing."""
    with told_in_ours(), engine.begin() as connection:
        yield connection


@contextmanager
def told_in_ours() -> Generator[None, None, None]:
    """Database errors as RecordError, without the cause: that may hold a row."""
    try:
        yield
    except DBAPIError as error:
        raise _explain(error) from None
    except NoConnectionFree:
        raise RecordUnavailable(
            f"the record had no free connection for {_POOL_TIMEOUT_S:.0f} s", what_to_do="look for a stuck writer, or a slow disk"
        ) from None
    except (UnicodeError, OverflowError) as error:  # sqlite3's own, and the first one holds the text
        raise RecordError(f"the record can't keep a value ({type(error).__name__})", what_to_do="report it") from None
    except SQLAlchemyError as error:
        raise RecordError(f"the record refused a statement ({type(error).__name__})", what_to_do="report it") from None


def _parse(text: str) -> URL:
    try:
        url = make_url(text)
        backend = url.get_backend_name()
        url = url.set(drivername=_DRIVERS.get(backend, url.drivername))
        url.get_dialect().import_dbapi()
    except (ArgumentError, NoSuchModuleError):
        raise RecordUnavailable(
            "the record's URL isn't one", what_to_do="set [record] url to sqlite:///PATH or postgresql://USER@HOST/NAME"
        ) from None
    except ModuleNotFoundError as error:
        raise RecordUnavailable(
            f"the record's database needs the Python package {error.name}", what_to_do=f"install {error.name}"
        ) from None
    if backend == "sqlite" and url.database in {None, "", ":memory:"}:
        raise RecordUnavailable(
            "the record needs a file: memory isn't shared or kept", what_to_do="set [record] url to sqlite:///PATH"
        )
    return url


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise RecordUnavailable(
            f"the record's folder {path.parent} can't be made ({error.strerror})", what_to_do="name another path in [record] url"
        ) from None


def _set_up_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401  SQLAlchemy's adapted connection has no type
    connection.isolation_level = None  # we begin ourselves, so that DDL and reads are in the transaction too
    cursor = connection.cursor()
    for pragma in (f"busy_timeout = {_BUSY_TIMEOUT_MS}", "journal_mode = WAL", "synchronous = FULL"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


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
        case orig if orig is not None and _POSTGRES_DISK_FULL in type(orig).__name__:
            return RecordFull("the record's server has no space left", what_to_do=_MAKE_ROOM)
        case orig:
            return RecordUnavailable(
                f"the record's database failed ({type(orig).__name__})", what_to_do="check the database server"
            )
