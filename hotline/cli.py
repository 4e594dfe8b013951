"""`hotline`: arguments → the command's body, imported only then.

Exit codes: 0 done, 1 it failed or found something, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hotline.commands import access, bench, completion, config, demo, doctor, engine, kb, models, overview, replay, serve, text
from hotline.commands import eval as evaluate
from hotline.commands.common import Body
from hotline.errors import OURS, explain

INTERRUPTED = 130

_COMMANDS = (
    serve,
    text,
    replay,
    demo,
    overview,
    kb,
    models,
    doctor,
    bench,
    config,
    access,
    evaluate,
    engine,
    completion,
)
_EXIT_CODES = "exit codes: 0 done, 1 it failed or found something, 2 wrong usage, 130 interrupted"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command."""
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # read when numpy loads; our products are small, and threads wait for threads
    commands = parser()
    arguments = commands.parse_args(argv)
    arguments.parser = commands
    body: Body = arguments.body
    try:
        return body(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return _nobody_reads()
    except OURS as error:
        return _tell(error)
    except BaseExceptionGroup as group:
        if group.split(BrokenPipeError)[1] is None:
            return _nobody_reads()
        ours, others = group.split(OURS)
        if ours is None or others is not None:
            raise
        return _tell(ours)


def _nobody_reads() -> int:
    """Whoever read our output has left: there is nobody to tell, and the interpreter's last flush must not fail either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return INTERRUPTED


def _tell(error: BaseException) -> int:
    told = explain(error)
    sys.stderr.write(f"hotline: {told.message} [{told.code}]\n")
    if told.what_to_do:
        sys.stderr.write(f"         {told.what_to_do}\n")
    return 1


def parser() -> argparse.ArgumentParser:
    """Every command with its help; nothing heavy is imported."""
    found = argparse.ArgumentParser(prog="hotline", description="A telephone-hotline voice bot.", epilog=_EXIT_CODES)
    found.add_argument("--config", type=Path, help="settings file (default: HOTLINE_CONFIG, else configs/hotline.toml)")
    commands = found.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add_to(commands)
    return found


if __name__ == "__main__":
    sys.exit(main())
