"""What libraries in C and C++ write on standard error → events like all others, through the same walls. Knows no library.

Python's own writing there comes this way too: warnings, and threads that break. What a process says in the moment it crashes is
lost: nobody is left to read it.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from hotline import log

STDERR = 2
_LONGEST_LINE = 500
_READ_BYTES = 1 << 16
_END_WITHIN_S = 1.0

_log = structlog.get_logger("hotline.foreign")


@contextmanager
def as_events(*, form: str, level: str) -> Iterator[None]:
    """While it is entered, each line is an event `library_said`, and the log goes where standard error went before."""
    sys.stderr.flush()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # a library that holds the interpreter must not wait for the thread below: its line is lost
    before = os.dup(STDERR)
    os.dup2(writing, STDERR)
    os.close(writing)
    hook, threading.excepthook = threading.excepthook, _thread_broke
    logging.captureWarnings(True)  # noqa: FBT003  the library's form
    reader = threading.Thread(target=_tell, args=(reading,), name="foreign-lines", daemon=True)
    with os.fdopen(before, "w", buffering=1, encoding="utf-8", errors="backslashreplace") as place:
        log.set_up(form=form, level=level, stream=place)
        reader.start()
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(before, STDERR)
            reader.join(_END_WITHIN_S)  # a child that inherited the pipe may hold it open: the thread is a daemon
            logging.captureWarnings(False)  # noqa: FBT003
            threading.excepthook = hook
            log.set_up(form=form, level=level, stream=sys.stderr)


def _tell(reading: int) -> None:
    """The thread. A line is cut, never kept waiting for its end."""
    with os.fdopen(reading, "rb", buffering=_READ_BYTES) as lines:
        while line := lines.readline(_LONGEST_LINE):
            if told := line.decode("utf-8", "replace").strip():
                _log.warning("library_said", line=told)


def _thread_broke(broken: threading.ExceptHookArgs) -> None:
    if broken.exc_value is not None:
        _log.error("thread_broke", thread=broken.thread.name if broken.thread else "", exc_info=broken.exc_value)
