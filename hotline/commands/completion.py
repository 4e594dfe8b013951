"""`hotline completion`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hotline.commands import paths
from hotline.commands.common import add

_HELP = "print a completion script: source <(hotline completion bash)"
_FOLDERS = (paths.folder_to_read, paths.folder_to_fill)


def add_to(commands: Any) -> None:  # noqa: ANN401
    completion = add(commands, "completion", _completion, _HELP)
    completion.add_argument("shell", choices=["bash", "zsh", "tcsh"])


def _completion(arguments: argparse.Namespace) -> int:
    import shtab  # noqa: PLC0415

    for action in _actions(arguments.parser):
        if action.type in _FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # where shtab looks for it
        elif _gives_path(action.type):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    sys.stdout.write(shtab.complete(arguments.parser, arguments.shell) + "\n")
    return 0


def _gives_path(kind: Any) -> bool:  # noqa: ANN401  whatever argparse calls with the word
    return kind is Path or getattr(kind, "__annotations__", {}).get("return") in {"Path", Path}


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Of the parser and of every command below it."""
    for action in parser._actions:  # noqa: SLF001  argparse has no other way to them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for below in action.choices.values():
                yield from _actions(below)
        else:
            yield action
