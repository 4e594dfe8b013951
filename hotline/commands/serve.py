"""`hotline serve`."""

from __future__ import annotations

import argparse
from typing import Any

from hotline.commands.common import add, run, settings_of


def add_to(commands: Any) -> None:  # noqa: ANN401
    add(commands, "serve", _serve, "answer calls over gRPC")


def _serve(arguments: argparse.Namespace) -> int:
    from hotline.serving import serve_calls  # noqa: PLC0415

    return run(serve_calls(settings_of(arguments)))
