"""An event loop whose clock jumps to the next timer, but stands while real work is being done in threads. Knows no call.

Until `go` its clock is the real one, so that what takes real time (loading models, opening sockets) can be waited for.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

PATIENCE_S = 60.0  # real: work that takes longer is stuck, and time-outs must be able to say so

Ready = list[tuple[selectors.SelectorKey, int]]


class _JumpingSelector(selectors.DefaultSelector):
    """Where the loop would wait for a timer, it jumps there instead."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> Ready:
        """What is ready now; the wait itself only where it is real."""
        if not self.loop.is_virtual or timeout is None or timeout <= 0:
            return super().select(timeout)
        if self.loop.is_held:
            ready = super().select(PATIENCE_S)
            if not ready:
                self.loop.jump(timeout)
            return ready
        ready = super().select(0)
        if not ready:
            self.loop.jump(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """`hold` stops the clock; work handed to an executor stops it by itself."""

    def __init__(self) -> None:
        selector = _JumpingSelector()
        super().__init__(selector)
        selector.loop = self
        self.is_virtual = False
        self._ahead_s = 0.0  # of the real clock
        self._stands_at_s = 0.0
        self._held = 0

    @property
    def is_held(self) -> bool:
        """Somebody works for real."""
        return self._held > 0

    def time(self) -> float:
        """Seconds: real ones, or those that were jumped over."""
        return self._stands_at_s if self.is_virtual else super().time() + self._ahead_s

    def go(self) -> None:
        """From now on the clock jumps."""
        self._stands_at_s = self.time()
        self.is_virtual = True

    def stop_going(self) -> None:
        """From now on the clock is the real one again, and has not gone back."""
        self.is_virtual = False
        self._ahead_s = self._stands_at_s - super().time()

    def jump(self, seconds: float) -> None:
        """Move the clock."""
        self._stands_at_s += seconds

    @contextmanager
    def hold(self) -> Generator[None, None, None]:
        """The clock stands while this is entered."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """As every loop does; the clock stands until it is done."""
        done = super().run_in_executor(executor, func, *args)
        self._held += 1
        done.add_done_callback(self._let_go)
        return done

    def _let_go(self, _: asyncio.Future[Any]) -> None:
        self._held -= 1


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end on such a loop."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
