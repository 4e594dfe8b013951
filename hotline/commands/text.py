"""`hotline text`."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from pathlib import Path
from typing import Any

from hotline.commands.common import add, run, settings_of
from hotline.commands.paths import file_or_folder, file_to_write
from hotline.streams import tell_error


def add_to(commands: Any) -> None:  # noqa: ANN401
    text = add(commands, "text", _text, "the same call by typing")
    what = text.add_mutually_exclusive_group()
    what.add_argument(
        "--script",
        dest="scripts",
        type=_scripts,
        nargs="+",
        default=[],
        metavar="FILE",
        help="play these call scripts, or those in a folder; exit code 1 if an expectation fails",
    )
    what.add_argument("--record", type=file_to_write, metavar="FILE", help="write a call script of what is typed, and play it once")
    text.add_argument("--json", action="store_true", help="print events as JSON lines")
    text.add_argument("--explain", action="store_true", help="tell why each turn was answered as it was")


def _scripts(told: str) -> Path:
    """A script or a folder of some."""
    try:
        return file_or_folder(told)
    except argparse.ArgumentTypeError as wrong:
        if os.strerror(errno.ENOENT) not in str(wrong):
            raise
        raise argparse.ArgumentTypeError(f"{wrong}; to write a first script: hotline text --record FILE") from None


def _text(arguments: argparse.Namespace) -> int:
    from hotline.text import TextOptions, text_call  # noqa: PLC0415

    options = TextOptions(scripts=arguments.scripts, as_json=arguments.json, explains=arguments.explain, record=arguments.record)
    tell = _tell_start if sys.stderr.isatty() else lambda _: None
    return run(text_call(settings_of(arguments, quiet=True), options, tell=tell))


def _tell_start(step: str) -> None:
    """Whoever watches learns that it works, not hangs; what the call prints stays what it is."""
    tell_error(f"  准备  {step}\n")
