"""Blocking functions in → their results out, one at a time, on a thread of this room's own. Knows nothing of speech.

A function that outstays its deadline is given up: its thread is left to itself (Python can't stop one) and a new thread serves
the next. What waits is served in order, and forgotten when its caller is cancelled.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tts.types import VoiceFailed

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job(Generic[Result]):
    work: Callable[[], Result]
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[Result]"

    def run(self) -> None:
        """On the thread: work, and tell the loop, if it and the caller are still there."""
        try:
            outcome: Result | BaseException = self.work()
        except BaseException as error:  # noqa: BLE001  carried over to the caller, whole
            outcome = error
        try:
            self.loop.call_soon_threadsafe(self._tell, outcome)
        except RuntimeError:  # the loop is closed: nobody waits
            return

    def _tell(self, outcome: Result | BaseException) -> None:
        if self.done.done():
            return
        if isinstance(outcome, BaseException):
            self.done.set_exception(outcome)
        else:
            self.done.set_result(outcome)


class Worker:
    """One thread, bounded waiting."""

    def __init__(self, *, max_waiting: int = 64) -> None:
        self._max_waiting = max_waiting
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._jobs: queue.SimpleQueue[_Job[Any] | None] | None = None

    async def run(self, work: Callable[[], Result], *, deadline_ms: int) -> Result:
        """Run work when its turn comes. Raises what it raises, or VoiceFailed when too many wait or it outstays its deadline."""
        if self._waiting >= self._max_waiting:
            raise VoiceFailed(f"{self._waiting} clauses wait to be spoken already: too many calls for this machine's voice")
        self._waiting += 1
        try:
            async with self._turn:
                return await self._run(work, deadline_ms)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Let the thread end after what it is doing."""
        if self._jobs is not None:
            self._jobs.put(None)
            self._jobs = None

    async def _run(self, work: Callable[[], Result], deadline_ms: int) -> Result:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()
        self._thread().put(_Job(work=work, loop=loop, done=done))
        try:
            async with asyncio.timeout(deadline_ms / 1000):
                return await done
        except TimeoutError:
            self.close()
            raise VoiceFailed(f"a clause was not spoken within {deadline_ms} ms") from None

    def _thread(self) -> "queue.SimpleQueue[_Job[Any] | None]":
        if self._jobs is None:
            self._jobs = queue.SimpleQueue()
            threading.Thread(target=_serve, args=(self._jobs,), name="voice", daemon=True).start()
        return self._jobs


def _serve(jobs: "queue.SimpleQueue[_Job[Any] | None]") -> None:
    while (job := jobs.get()) is not None:
        if not job.done.cancelled():
            job.run()
