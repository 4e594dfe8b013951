"""`hotline completion`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from hotline.commands.common import add

_HELP = "print a completion script: source <(hotline completion bash)"


def add_to(commands: Any) -> None:  # noqa: ANN401
    completion = add(commands, "completion", _completion, _HELP)
    completion.add_argument("shell", choices=["bash", "zsh", "tcsh"])


def _completion(arguments: argparse.Namespace) -> int:
    import shtab  # noqa: PLC0415

    sys.stdout.write(shtab.complete(arguments.parser, arguments.shell) + "\n")
    return 0
