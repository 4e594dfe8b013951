"""A record that is missing, full, locked, foreign or newer: a clear error each time, and nothing half written."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from hotline.record import tables
from hotline.record.engine import reading, told_in_ours
from hotline.record.store import CallOpened, Offer, RecordError, RecordFull, RecordUnavailable, Store, TurnDone
from tests.processes import running_python


async def _set_pragma(store: Store, pragma: str) -> None:
    """On both connections that the store has."""
    async with reading(store._database.engine) as one, reading(store._database.engine) as other:
        for connection in (one, other):
            await connection.exec_driver_sql(f"PRAGMA {pragma}")


async def test_a_full_disk_is_told_as_such_and_the_record_goes_on_afterwards(store: Store, turn: TurnDone, offer: Offer) -> None:
    await _set_pragma(store, "max_page_count = 1")  # SQLite takes the pages that it has for the least

    with pytest.raises(RecordFull) as full:
        await _fill_with_turns(store, turn)
    with pytest.raises(RecordFull):
        await _fill_with_offers(store, offer)
    assert full.value.code == "record.full"
    assert "disk" in f"{full.value} {full.value.what_to_do}"
    assert turn.masked_text not in repr(full.value)
    assert full.value.__cause__ is None

    await _set_pragma(store, "max_page_count = 100000")
    await store.hand_over(_with_id(offer, "after"))
    assert any(isinstance(row.what, Offer) and row.what.id == "after" for row in await store.outbox_due(2000))


async def test_a_read_only_record_is_told_as_full(store: Store, opened: CallOpened) -> None:
    await _set_pragma(store, "query_only = ON")

    with pytest.raises(RecordFull):
        await store.call_opened(opened)
    assert await store.call("call-1") is None


async def test_a_record_that_someone_else_locks_is_told_as_unavailable(store: Store, opened: CallOpened, tmp_path: Path) -> None:
    await _set_pragma(store, "busy_timeout = 20")
    with closing(sqlite3.connect(tmp_path / "var" / "record.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(RecordUnavailable) as locked:
            await store.call_opened(opened)
        other.execute("ROLLBACK")

    assert "locked" in str(locked.value)
    await store.call_opened(opened)


@pytest.mark.parametrize("place", ["a_file/record.db", "a_folder", "garbage.db"])
async def test_a_path_that_can_not_hold_a_record(tmp_path: Path, place: str) -> None:
    (tmp_path / "a_file").write_text("not a folder")
    (tmp_path / "a_folder").mkdir()
    (tmp_path / "garbage.db").write_bytes(b"not a database, but long enough for a header " * 40)

    with pytest.raises(RecordUnavailable) as refused:
        await Store.connect(f"sqlite:///{tmp_path}/{place}")

    assert refused.value.code == "record.unavailable"
    assert refused.value.what_to_do


@pytest.mark.parametrize("url", ["", "record.db", "nosuch://x/y", "sqlite://", "sqlite+aiosqlite://"])
async def test_a_url_that_is_none(url: str) -> None:
    with pytest.raises(RecordUnavailable) as refused:
        await Store.connect(url)

    assert "sqlite:///PATH" in refused.value.what_to_do


@pytest.mark.parametrize(
    ("scheme", "package"), [("postgresql", "psycopg"), ("postgresql+psycopg2", "psycopg"), ("postgresql+asyncpg", "asyncpg")]
)
async def test_postgresql_without_its_driver_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, scheme: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(RecordUnavailable) as refused:
        await Store.connect(f"{scheme}://hotline@db.invalid/hotline")

    assert package in refused.value.what_to_do


class _Refused(Exception):
    def __init__(self, sqlstate: str) -> None:
        super().__init__("DETAIL: Failing row contains (我的手机)")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (DBAPIError("INSERT", {}, _Refused("53100")), RecordFull),
        (DBAPIError("INSERT", {}, _Refused("08006")), RecordUnavailable),
        (ConnectionRefusedError("5432"), RecordUnavailable),
    ],
)
def test_what_a_server_says_is_told_without_the_row(error: Exception, told: type[RecordError]) -> None:
    with pytest.raises(RecordError) as refused, told_in_ours():
        raise error

    assert type(refused.value) is told
    assert "手机" not in f"{refused.value!r}{refused.value.what_to_do}"
    assert refused.value.__suppress_context__


async def test_a_record_of_a_newer_hotline_is_left_alone(store: Store, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "var" / "record.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = 'from-next-year'")

    with pytest.raises(RecordUnavailable) as refused:
        await store.migrate()
    assert "newer" in str(refused.value)


async def test_a_record_without_tables_says_so_as_a_record_error(url: str, opened: CallOpened) -> None:
    store = await Store.connect(url)
    with pytest.raises(RecordError):
        await store.call_opened(opened)
    await store.close()
    await store.close()


async def test_the_migrations_make_exactly_the_tables_that_the_queries_use(store: Store) -> None:
    await store.migrate()

    def differences(connection: Connection) -> object:
        return compare_metadata(MigrationContext.configure(connection), tables.metadata)

    async with reading(store._database.engine) as connection:
        assert await connection.run_sync(differences) == []


async def test_two_stores_migrate_one_file_at_once(url: str, opened: CallOpened) -> None:
    stores = [await Store.connect(url) for _ in range(3)]

    async with asyncio.TaskGroup() as group:
        for store in stores:
            group.create_task(store.migrate())

    await stores[0].call_opened(opened)
    assert await stores[2].call("call-1") is not None
    for store in stores:
        await store.close()


SERVER = """
import asyncio, datetime as dt, os, signal, sys
from hotline.record.store import Offer, Store

async def serve(url, name):
    store = await Store.connect(url)
    await store.migrate()
    now = dt.datetime.now(dt.UTC)
    await store.hand_over(Offer(id=name, ticket=await store.next_ticket("city"), call_id=name, tenant="city", skill="general",
                                reason="asked", urgent=False, summary="", turns=(), created_at=now, expires_at=now))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(serve(*sys.argv[1:]))
"""


async def test_two_servers_that_start_at_once_and_are_killed_leave_both_offers(url: str) -> None:
    async with running_python("-c", SERVER, url, "one") as one, running_python("-c", SERVER, url, "two") as two:
        assert [await server.wait() for server in (one, two)] == [-signal.SIGKILL, -signal.SIGKILL]

    store = await Store.connect(url)
    offers = [row.what for row in await store.outbox_due() if isinstance(row.what, Offer)]
    await store.close()

    assert {offer.id for offer in offers} == {"one", "two"}
    assert len({offer.ticket for offer in offers}) == 2


async def _fill_with_turns(store: Store, turn: TurnDone) -> None:
    for number in range(500):
        await store.turn_done(_with_turn(turn, number))


async def _fill_with_offers(store: Store, offer: Offer) -> None:
    for number in range(500):
        await store.hand_over(_with_id(offer, str(number)))


def _with_turn(turn: TurnDone, number: int) -> TurnDone:
    return TurnDone(
        call_id=turn.call_id, turn=number, reply_id=number, masked_text=turn.masked_text * 20, route="hot", confidence=1.0
    )


def _with_id(offer: Offer, name: str) -> Offer:
    return Offer(
        id=name,
        ticket="",
        call_id="call-1",
        tenant="city",
        skill="general",
        reason="failure",
        urgent=False,
        summary="来电诉求：" + "居住证" * 100,
        turns=offer.turns,
        created_at=offer.created_at,
        expires_at=offer.expires_at,
    )
