"""A call's inbox: in order, never full for its own parts, and patient with a line that floods it."""

from __future__ import annotations

import asyncio

from hotline.clock import CallClock
from hotline.news import Inbox, News
from hotline.turn_events import CallerBegan, CallerGoes, Tick
from tests.clock import run_virtually

ROOM = 500  # for what comes from the line; as much again for the call's own parts


def news(at_ms: int) -> News:
    return News(event=CallerBegan(at_ms=at_ms))


def test_news_come_in_order_and_none_when_time_is_up() -> None:
    async def story() -> None:
        inbox = Inbox(CallClock())
        inbox.post(news(1))
        await inbox.put(news(2))
        assert [await inbox.next(0), await inbox.next(0)] == [news(1), news(2)]
        assert await inbox.next(3_000) is None
        assert asyncio.get_running_loop().time() == 3.0
        assert await inbox.next(0) is None  # a moment that has passed

    run_virtually(story())


def test_a_line_that_floods_is_held_up_and_leaves_room_for_our_own_parts() -> None:
    async def story() -> None:
        inbox, told = Inbox(CallClock()), []

        async def flood() -> None:
            for n in range(3 * ROOM):
                await inbox.put(news(n))
                told.append(n)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(flood())
            await asyncio.sleep(1)
            assert len(told) == ROOM
            for n in range(ROOM):
                inbox.post(News(event=Tick(at_ms=n)))
            for _ in range(3 * ROOM + ROOM):
                assert await inbox.next(9_999) is not None
        assert len(told) == 3 * ROOM

    run_virtually(story())


def test_going_on_gives_way_when_the_call_falls_behind() -> None:
    async def story() -> None:
        inbox = Inbox(CallClock())
        for n in range(10 * ROOM):
            inbox.post(News(event=CallerGoes(at_ms=n, voiced_ms=n)))
        inbox.post(news(7))
        seen = [await inbox.next(0) for _ in range(ROOM + 1)]
        assert seen[-1] == news(7)
        assert await inbox.next(0) is None

    run_virtually(story())
