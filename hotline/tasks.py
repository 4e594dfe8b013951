"""A task group that lives as long as a server: entered on an exit stack, cancelled when it is left. Knows none of its tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Self


class BackgroundTasks:
    """Tasks that run for ever beside the body. One that fails ends the body, as in any task group."""

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, work: Coroutine[None, None, None], *, name: str) -> None:
        """Run beside the body until it is left."""
        self._tasks.append(self._group.create_task(work, name=name))

    async def __aenter__(self) -> Self:
        """Begin."""
        await self._group.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Cancel what still runs, and wait for it."""
        for task in self._tasks:
            task.cancel()
        await self._group.__aexit__(kind, error, trace)
