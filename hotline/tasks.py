"""A task group that lives as long as a server: entered on an exit stack, cancelled when it is left. Knows none of its tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Self

_AGAIN_AFTER_S = 0.5


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
        """Cancel what still runs, and wait for it; again and again, for a library may swallow a cancellation (wait_for did)."""
        try:
            while left := [task for task in self._tasks if not task.done()]:
                for task in left:
                    task.cancel()
                await asyncio.wait(left, timeout=_AGAIN_AFTER_S)
        finally:
            await self._group.__aexit__(kind, error, trace)
