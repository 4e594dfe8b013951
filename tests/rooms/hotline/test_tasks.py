"""Tasks that live as long as a server: they end when it does, also those that won't hear of it the first time."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from hotline.tasks import BackgroundTasks
from tests.clock import run_virtually


async def for_ever() -> None:
    await asyncio.Event().wait()


def test_they_end_with_the_body() -> None:
    async def story() -> None:
        async with BackgroundTasks() as tasks:
            tasks.start(for_ever(), name="relay")
            tasks.start(asyncio.sleep(1), name="short")
            await asyncio.sleep(5)

    run_virtually(story())


def test_one_that_swallows_its_cancellation_is_cancelled_again() -> None:
    async def deaf() -> None:
        with suppress(asyncio.CancelledError):
            await for_ever()
        await for_ever()

    async def story() -> float:
        async with BackgroundTasks() as tasks:
            tasks.start(deaf(), name="relay")
            await asyncio.sleep(1)
        return asyncio.get_running_loop().time()

    assert run_virtually(story()) == pytest.approx(1.5)


def test_one_that_fails_ends_the_body() -> None:
    async def broken() -> None:
        await asyncio.sleep(1)
        raise ZeroDivisionError

    async def story() -> None:
        async with BackgroundTasks() as tasks:
            tasks.start(broken(), name="relay")
            tasks.start(for_ever(), name="other")
            await for_ever()

    with pytest.raises(ExceptionGroup) as raised:
        run_virtually(story())
    assert isinstance(raised.value.exceptions[0], ZeroDivisionError)


def test_a_body_that_fails_ends_them() -> None:
    async def story() -> None:
        async with BackgroundTasks() as tasks:
            tasks.start(for_ever(), name="relay")
            raise KeyError

    with pytest.raises(ExceptionGroup) as raised:
        run_virtually(story())
    assert isinstance(raised.value.exceptions[0], KeyError)
