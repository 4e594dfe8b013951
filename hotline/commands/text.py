"""`hotline text`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hotline.commands.common import add, run, settings_of


def add_to(commands: Any) -> None:  # noqa: ANN401
    text = add(commands, "text", _text, "the same call by typing")
    text.add_argument("--script", type=Path, help="play this call script; exit code 1 if an expectation fails")
    text.add_argument("--json", action="store_true", help="print events as JSON lines")


def _text(arguments: argparse.Namespace) -> int:
    from hotline.text import text_call  # noqa: PLC0415

    return run(text_call(settings_of(arguments, quiet=True), script=arguments.script, as_json=arguments.json))
