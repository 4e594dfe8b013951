"""The record under asyncio: cancelled callers, closing in the middle of things, threads that end, memory instead of a file."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hotline.record.store import CallOpened, Offer, RecordUnavailable, Store, TurnDone
from tests.processes import running_python


@contextmanager
def locked(tmp_path: Path) -> Iterator[None]:
    """Another program writes for as long as the block lasts."""
    with closing(sqlite3.connect(tmp_path / "var" / "record.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def _threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if "connection_worker" in thread.name}


def _end(threads: set[threading.Thread]) -> None:
    """They were told to stop, and nothing waits for that."""
    for thread in threads:
        thread.join(timeout=5)
        assert not thread.is_alive()


@pytest.mark.parametrize("steps", range(0, 40, 3))
async def test_a_cancelled_writer_leaves_the_write_whole_and_the_store_usable(
    store: Store, opened: CallOpened, offer: Offer, steps: int
) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(store.hand_over(offer))
        for _ in range(steps + 1):
            await asyncio.sleep(0)  # it has begun, and got so far
        task.cancel()

    assert task.cancelled() or task.done()
    await store.call_opened(opened)
    assert len(await store.outbox_due()) == 2
    stored = await store.call("call-1")
    assert stored is not None
    assert [event.kind for event in stored.events] == ["offer_queued", "opened"]


async def test_a_writer_that_was_cancelled_before_its_turn_writes_nothing(store: Store, opened: CallOpened, tmp_path: Path) -> None:
    with locked(tmp_path):
        async with asyncio.TaskGroup() as group:
            calls = [replace(opened, call_id=f"call-{number}") for number in range(20)]
            tasks = [group.create_task(store.call_opened(call)) for call in calls]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
        assert all(task.cancelled() for task in tasks)  # at once, though the first one's transaction waits for the other program

    await store.migrate()  # has its turn after it
    assert [call.opened.call_id for call in await store.recent_calls()] == ["call-0"]


async def test_a_caller_with_too_little_time_goes_on_and_its_write_is_kept(
    store: Store, opened: CallOpened, tmp_path: Path
) -> None:
    with locked(tmp_path), pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await store.call_opened(opened)

    await store.call_ended("call-1", "hangup", opened.started_at)
    stored = await store.call("call-1")
    assert stored is not None
    assert stored.end_reason == "hangup"


async def test_a_look_waits_for_no_writer(store: Store, opened: CallOpened, tmp_path: Path) -> None:
    async with asyncio.TaskGroup() as group:
        with locked(tmp_path):
            group.create_task(store.call_opened(opened))
            await asyncio.sleep(0)
            assert await store.recent_calls() == []


async def test_closing_ends_the_threads(url: str, opened: CallOpened) -> None:
    before = _threads()
    store = await Store.connect(url)
    await store.migrate()
    async with asyncio.TaskGroup() as group:
        group.create_task(store.call_opened(opened))
        group.create_task(store.recent_calls())
    ours = _threads() - before
    assert len(ours) == 2

    await store.close()

    _end(ours)


async def test_closing_waits_for_a_write_whose_caller_is_gone(url: str, opened: CallOpened) -> None:
    before = _threads()
    store = await Store.connect(url)
    await store.migrate()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(store.call_opened(opened))
        await asyncio.sleep(0)
        task.cancel()
    await store.close()
    _end(_threads() - before)

    store = await Store.connect(url)
    assert await store.call("call-1") is not None
    await store.close()


@pytest.mark.parametrize("steps", [1, 2, 5, 20, 50])
def test_a_cancelled_close_closes_all_the_same_even_when_the_loop_ends_with_it(url: str, opened: CallOpened, steps: int) -> None:
    before = _threads()

    async def live() -> None:
        store = await Store.connect(url)
        await store.migrate()
        async with asyncio.TaskGroup() as group:
            group.create_task(store.call_opened(opened))
            group.create_task(store.recent_calls())
            close = group.create_task(store.close())
            for _ in range(steps):
                await asyncio.sleep(0)
            close.cancel()
            await asyncio.sleep(0)
            close.cancel()

    asyncio.run(live())
    _end(_threads() - before)


async def test_a_closed_record_says_so_to_those_that_come_and_those_that_wait(url: str, opened: CallOpened, tmp_path: Path) -> None:
    store = await Store.connect(url)
    await store.migrate()
    async with asyncio.TaskGroup() as group:
        with locked(tmp_path):
            tasks = [group.create_task(_code_of(store.call_opened(opened))) for _ in range(2)]
            await asyncio.sleep(0)
            close = group.create_task(store.close())
            await asyncio.sleep(0)
        await close

    assert [task.result() for task in tasks] == ["kept", "record.unavailable"]
    with pytest.raises(RecordUnavailable, match="closed"):
        await store.recent_calls()


@pytest.mark.parametrize("place", ["a_folder", "garbage.db"])
async def test_a_record_that_does_not_open_leaves_no_thread(tmp_path: Path, place: str) -> None:
    (tmp_path / "a_folder").mkdir()
    (tmp_path / "garbage.db").write_bytes(b"not a database, but long enough for a header " * 40)
    before = _threads()

    with pytest.raises(RecordUnavailable):
        await Store.connect(f"sqlite:///{tmp_path}/{place}")

    _end(_threads() - before)


async def test_opening_that_is_cancelled_leaves_no_thread(url: str) -> None:
    before = _threads()
    for steps in range(0, 60, 4):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(Store.connect(url))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
        if not task.cancelled():
            await task.result().close()
    _end(_threads() - before)


async def test_a_record_in_memory_is_one_for_all_and_gone_when_it_closes(opened: CallOpened, turn: TurnDone, offer: Offer) -> None:
    before = _threads()
    store = await Store.connect("sqlite+aiosqlite:///:memory:")
    await store.migrate()
    async with asyncio.TaskGroup() as group:
        group.create_task(store.call_opened(opened))
        looks = [group.create_task(store.outbox_due()) for _ in range(5)]
        group.create_task(store.turn_done(turn))
        group.create_task(store.hand_over(offer))
        looks += [group.create_task(store.outbox_due()) for _ in range(5)]

    stored = await store.call("call-1")
    assert stored is not None
    assert (stored.turns, stored.offers) == ((turn,), (offer,))
    assert {len(look.result()) for look in looks} == {0, 2}
    ours = _threads() - before
    assert len(ours) == 1
    await store.close()
    _end(ours)


FORGETFUL = """
import asyncio, datetime as dt, sys
from hotline.record.store import CallOpened, Store

async def serve(url):
    store = await Store.connect(url)
    await store.migrate()
    now = dt.datetime.now(dt.UTC)
    call = CallOpened(call_id="call-1", tenant="city", trunk="", masked_caller="", dialled_number="", started_at=now)
    asyncio.get_running_loop().call_later(0.001, asyncio.current_task().cancel)
    while True:
        await store.call_opened(call)

try:
    asyncio.run(serve(sys.argv[1]))
except asyncio.CancelledError:
    print("cancelled")
"""


async def test_a_process_that_forgets_to_close_ends_by_itself(url: str) -> None:
    async with running_python("-c", FORGETFUL, url, stdout=subprocess.PIPE) as server:
        said, _ = await server.communicate()

    assert (server.returncode, said.strip()) == (0, b"cancelled")
    store = await Store.connect(url)
    await store.migrate()
    assert len(await store.recent_calls()) <= 1
    await store.close()


async def _code_of(writing: object) -> str:
    try:
        await writing  # type: ignore[misc]
    except RecordUnavailable as error:
        return error.code
    return "kept"
