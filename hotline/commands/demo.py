"""`hotline demo`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hotline.commands.common import add, run, settings_of


def add_to(commands: Any) -> None:  # noqa: ANN401
    demo = add(commands, "demo", _demo, "two calls in real time, with their pages")
    demo.add_argument("--out", type=Path, default=Path("out/demo"), help="folder of the results (default: out/demo)")
    demo.add_argument("--script", type=Path, help="one call script instead of the two in configs/demo")


def _demo(arguments: argparse.Namespace) -> int:
    from hotline.demo import demo  # noqa: PLC0415

    return run(demo(settings_of(arguments, quiet=True), out_dir=arguments.out, script=arguments.script))
