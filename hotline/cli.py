"""`hotline`: arguments → the command's body, imported only then.

Exit codes: 0 done, 1 it failed or found something, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NoReturn

from hotline.commands import access, bench, completion, config, demo, doctor, engine, kb, models, overview, replay, serve, text
from hotline.commands import eval as evaluate
from hotline.commands.common import Body
from hotline.errors import OURS, explain
from hotline.signals import ended_like_by_hand
from hotline.streams import OutputLost, mend_streams, tell_error

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
    mend_streams()
    try:
        code = _ran(argv)
        sys.stdout.flush()
    except OutputLost as lost:
        return _nobody_reads(lost)
    return code


def _ran(argv: Sequence[str] | None) -> int:
    commands = parser()
    arguments = commands.parse_args(argv)
    arguments.parser = commands
    body: Body = arguments.body
    try:
        with nullcontext() if body.__module__ == serve.__name__ else ended_like_by_hand():  # a server drains
            return body(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except (*OURS, OSError) as error:
        return _tell(error)
    except BaseExceptionGroup as group:
        if (lost := _first(group, OutputLost)) is not None:
            raise lost from None
        if group.split((*OURS, OSError))[1] is not None:
            raise
        return _tell(_first(group, *OURS) or group)


def _first(group: BaseExceptionGroup[BaseException], *kinds: type[BaseException]) -> BaseException | None:
    error: BaseException | None = group.split(kinds)[0]
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _nobody_reads(lost: OutputLost) -> int:
    """Whoever has left need not be told."""
    if not lost.is_full:
        return INTERRUPTED
    tell_error(f"hotline: the output can't be written: {lost} [hotline.output_lost]\n")
    return 1


def _tell(error: BaseException) -> int:
    """An error of ours, or a file of the user's that can't be read or written. Anything else passes: it is a fault of ours."""
    system = _first(error, OSError) if isinstance(error, BaseExceptionGroup) else error
    if isinstance(system, OSError):
        if system.filename is None:
            raise error
        tell_error(f"hotline: {system.filename}: {system.strerror} [hotline.file_wrong]\n")
        return 1
    told = explain(error)
    tell_error(f"hotline: {told.message} [{told.code}]\n")
    if told.what_to_do:
        tell_error(f"         {told.what_to_do}\n")
    return 1


class _Version(argparse.Action):
    """Looked up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print it and leave."""
        from importlib import metadata  # noqa: PLC0415

        sys.stdout.write(f"hotline {metadata.version('hotline')}\n")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """Every command with its help; nothing heavy is imported."""
    found = argparse.ArgumentParser(prog="hotline", description="A telephone-hotline voice bot.", epilog=_EXIT_CODES)
    found.add_argument("--version", action=_Version, nargs=0, help="print the version")
    found.add_argument("--config", type=Path, help="settings file (default: HOTLINE_CONFIG, else configs/hotline.toml)")
    commands = found.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add_to(commands)
    return found


if __name__ == "__main__":
    sys.exit(main())
