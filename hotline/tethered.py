"""`python -m hotline.tethered COMMAND …`: `hotline COMMAND …` that ends with whoever started it, however that ended.

Its standard input is the tether: a pipe that only the starter holds. When it closes, the command gets SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from hotline.cli import main


def _watch(tether: int) -> None:
    while os.read(tether, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _take_tether() -> int:
    """Keep the pipe, and leave nothing to read on standard input."""
    tether = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return tether


if __name__ == "__main__":
    threading.Thread(target=_watch, args=(_take_tether(),), name="tether", daemon=True).start()
    sys.exit(main())
