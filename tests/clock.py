"""A loop whose time jumps to the next timer: minutes of a call in milliseconds, and a hang is a failure at once."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _JumpingSelector(selectors.DefaultSelector):
    """Never waits: tells the loop how long it would have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.loop: VirtualLoop | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise RuntimeError("deadlock: every task waits and no timer is set")
        assert self.loop is not None
        self.loop.jump(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Virtual time; no real sockets or threads."""

    def __init__(self) -> None:
        selector = _JumpingSelector()
        super().__init__(selector)
        selector.loop = self
        self._now_s = 0.0

    def time(self) -> float:
        return self._now_s

    def jump(self, seconds: float) -> None:
        self._now_s += seconds


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
