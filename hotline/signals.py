"""A command that is told to end ends as by Ctrl-C: with its children, its temporary folders and its last line."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ended_like_by_hand() -> Generator[None, None, None]:
    """Inside, SIGTERM and SIGHUP do what Ctrl-C does, whoever listens to that at the moment. A signal that is ignored stays so."""
    before = {number: signal.getsignal(number) for number in ENDING}
    taken = [number for number, handler in before.items() if handler is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    if signal.getsignal(signal.SIGINT) in {signal.SIG_IGN, signal.SIG_DFL}:  # a job in the background: Ctrl-C is not for it
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)
