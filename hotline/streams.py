"""Standard input, output and errors as a command may find them: closed, full, in another encoding, or with nobody at the end."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

NAMES = ("stdin", "stdout", "stderr")


class OutputLost(Exception):
    """What a command prints reaches nobody. is_full: the place it goes to takes no more; else whoever read it has left."""

    def __init__(self, reason: str, *, is_full: bool) -> None:
        super().__init__(reason)
        self.is_full = is_full


class _Outlet(io.FileIO):
    """Standard output. The first write that fails raises OutputLost, what comes after it is dropped."""

    is_lost = False

    def write(self, data: ReadableBuffer, /) -> int:
        if self.is_lost:
            return len(memoryview(data))
        try:
            return super().write(data)
        except OSError as error:
            self.is_lost = True
            raise OutputLost(error.strerror or "it can't be written", is_full=not isinstance(error, BrokenPipeError)) from None


def mend_streams() -> None:
    """A stream that was closed becomes the null device: else the next file that is opened would get its number and its lines.

    Lines leave at once, into a pipe, too; what the encoding has no sign for (a file's name in another one) is spelled out.
    """
    for number, name in enumerate(NAMES):
        if getattr(sys, name) is None:
            _open_null(number)
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115  as long as the process
    if (stdout := sys.__stdout__) is not None and sys.stdout is stdout:
        outlet = io.BufferedWriter(_Outlet(stdout.fileno(), "w", closefd=False))
        sys.stdout = io.TextIOWrapper(outlet, stdout.encoding, "backslashreplace", line_buffering=True)


def tell_error(words: str) -> None:
    """On standard error, if it takes anything."""
    try:
        sys.stderr.write(words)
        sys.stderr.flush()
    except OSError:
        with suppress(OSError):
            _open_null(sys.stderr.fileno())


def _open_null(number: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    if null != number:
        os.dup2(null, number)
        os.close(null)
