"""The clock that jumps over waits and stands still over work."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from hotline import virtual_loop
from hotline.virtual_loop import VirtualLoop, run_virtually


def loop_here() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


def test_waits_are_jumped_over() -> None:
    async def hours() -> float:
        loop = loop_here()
        loop.go()
        began_s = loop.time()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(asyncio.sleep(3600))
            tasks.create_task(asyncio.sleep(7200))
        return loop.time() - began_s

    began_s = time.monotonic()
    assert run_virtually(hours()) == pytest.approx(7200)
    assert time.monotonic() - began_s < 5


def test_the_clock_stands_while_a_thread_works() -> None:
    async def work() -> tuple[float, list[str]]:
        loop = loop_here()
        loop.go()
        began_s, order = loop.time(), []

        async def timer() -> None:
            await asyncio.sleep(0.001)
            order.append("timer")

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(timer())
            await asyncio.to_thread(time.sleep, 0.05)
            order.append("work")
            worked_s = loop.time() - began_s
        return worked_s, order

    worked_s, order = run_virtually(work())
    assert worked_s == 0
    assert order == ["work", "timer"]


def test_the_clock_stands_while_it_is_held_for_a_thread_of_ones_own() -> None:
    async def work() -> float:
        loop = loop_here()
        loop.go()
        done = loop.create_future()
        threading.Timer(0.05, lambda: loop.call_soon_threadsafe(done.set_result, None)).start()
        began_s = loop.time()
        with loop.hold():
            async with asyncio.timeout(0.01):
                await done
        return loop.time() - began_s

    assert run_virtually(work()) == 0


def test_work_that_is_stuck_lets_time_outs_speak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtual_loop, "PATIENCE_S", 0.05)

    async def stuck() -> None:
        loop = loop_here()
        loop.go()
        with loop.hold():
            async with asyncio.timeout(8):
                await loop.create_future()

    with pytest.raises(TimeoutError):
        run_virtually(stuck())


def test_before_and_after_the_clock_is_the_real_one_and_never_goes_back() -> None:
    async def there_and_back() -> list[float]:
        loop = loop_here()
        times = [loop.time()]
        await asyncio.sleep(0.02)
        times.append(loop.time())
        loop.go()
        await asyncio.sleep(1000)
        times.append(loop.time())
        loop.stop_going()
        times.append(loop.time())
        await asyncio.sleep(0.02)
        times.append(loop.time())
        return times

    times = run_virtually(there_and_back())
    assert times == sorted(times)
    assert times[1] - times[0] < 1
    assert 1000 <= times[-1] - times[0] < 1005
