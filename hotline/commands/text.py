"""`hotline text`."""

from __future__ import annotations

import argparse
from typing import Any

from hotline.commands.common import add, run, settings_of
from hotline.commands.paths import file_or_folder, file_to_write


def add_to(commands: Any) -> None:  # noqa: ANN401
    text = add(commands, "text", _text, "the same call by typing")
    what = text.add_mutually_exclusive_group()
    what.add_argument(
        "--script",
        dest="scripts",
        type=file_or_folder,
        nargs="+",
        default=[],
        metavar="FILE",
        help="play these call scripts, or those in a folder; exit code 1 if an expectation fails",
    )
    what.add_argument("--record", type=file_to_write, metavar="FILE", help="write a call script of what is typed, and play it once")
    text.add_argument("--json", action="store_true", help="print events as JSON lines")
    text.add_argument("--explain", action="store_true", help="tell why each turn was answered as it was")


def _text(arguments: argparse.Namespace) -> int:
    from hotline.text import TextOptions, text_call  # noqa: PLC0415

    options = TextOptions(scripts=arguments.scripts, as_json=arguments.json, explains=arguments.explain, record=arguments.record)
    return run(text_call(settings_of(arguments, quiet=True), options))
