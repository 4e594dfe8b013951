"""`hotline config`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hotline.commands.common import add, group
from hotline.commands.paths import file_to_read


def add_to(commands: Any) -> None:  # noqa: ANN401
    actions = group(commands, "config", "show, check and document the settings")
    show = add(actions, "show", _show, "every knob: value, unit, default, and where the value came from")
    show.add_argument("--changed", action="store_true", help="only those that differ from their default")
    show.add_argument("--json", action="store_true", help="as JSON")
    check = add(actions, "check", _check, "are the file and the environment right? exit code 1 and what to mend if not")
    check.add_argument("file", nargs="?", type=Path, help="settings file (default: the one in force)")
    docs = add(actions, "docs", _docs, "print docs/configuration.md")
    docs.add_argument("--check", type=file_to_read, metavar="FILE", help="exit code 1 if this file is not what would be printed")


def _show(arguments: argparse.Namespace) -> int:
    from hotline import knobs  # noqa: PLC0415

    found = knobs.knobs(arguments.config)
    if arguments.changed:
        found = [knob for knob in found if knob.source != "default"]
    sys.stdout.write((knobs.as_json(found) if arguments.json else knobs.table(found)) + "\n")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from hotline.config import check, knowledge_folder, settings_file, variables_of  # noqa: PLC0415

    path = arguments.file or arguments.config or settings_file()
    settings = check(path)
    variables = ", ".join(variables_of())
    sys.stdout.write(f"{path}{f' with {variables}' if variables else ''}: as it should be\n")
    sys.stdout.write(f"knowledge base: {knowledge_folder(settings)}\n")
    return 0


def _docs(arguments: argparse.Namespace) -> int:
    from hotline import knobs  # noqa: PLC0415

    page = knobs.as_page(knobs.knobs(environment={}))
    if arguments.check is None:
        sys.stdout.write(page)
        return 0
    if arguments.check.read_text("utf-8", "replace") == page:
        return 0
    sys.stderr.write(f"{arguments.check} is stale: hotline config docs > {arguments.check}\n")
    return 1
