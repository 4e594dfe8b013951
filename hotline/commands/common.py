"""What every command needs: a parser of its own, an event loop, settings with a log. Imports nothing heavy."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any

Body = Callable[[argparse.Namespace], int]


def add(commands: Any, name: str, body: Body, text: str) -> argparse.ArgumentParser:  # noqa: ANN401  argparse's private class
    """A command under `commands`, done by `body`. text: one line of help."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(body=body)
    return parser


def group(commands: Any, name: str, text: str) -> Any:  # noqa: ANN401
    """A command that has actions; returns where they go."""
    parser = commands.add_parser(name, help=text, description=text)
    return parser.add_subparsers(title="actions", required=True, metavar="ACTION")


def run(work: Coroutine[Any, Any, int]) -> int:
    """On an event loop."""
    return asyncio.run(work)


def settings_of(arguments: argparse.Namespace, *, quiet: bool = False) -> Any:  # noqa: ANN401  config is imported lazily
    """The settings as asked for, and a log set up by them. quiet: only errors, for commands that talk to people."""
    from hotline import config, log  # noqa: PLC0415

    settings = config.load(arguments.config)
    log.set_up(form=settings.log.form, level="error" if quiet else settings.log.level, stream=sys.stderr)
    return settings
