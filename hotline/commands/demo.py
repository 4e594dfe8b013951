"""`hotline demo`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hotline.commands.common import add, run, settings_of
from hotline.commands.paths import file_to_read, folder_to_fill


def add_to(commands: Any) -> None:  # noqa: ANN401
    demo = add(commands, "demo", _demo, "two calls in real time, with their pages")
    demo.add_argument("--full", action="store_true", help="typed, with answers that a language model writes; pull it first")
    demo.add_argument(
        "--out", type=folder_to_fill, metavar="FOLDER", help="folder of the results (default: out/demo, out/demo-full)"
    )
    demo.add_argument("--script", type=file_to_read, metavar="FILE", help="one call script instead of the two in configs/demo")


def _demo(arguments: argparse.Namespace) -> int:
    if arguments.full:
        from hotline.demo_full import demo_full  # noqa: PLC0415

        out_dir = arguments.out or Path("out/demo-full")
        return run(demo_full(settings_of(arguments, quiet=True), out_dir=out_dir, script=arguments.script))
    from hotline.demo import demo  # noqa: PLC0415

    out_dir = arguments.out or Path("out/demo")
    return run(demo(settings_of(arguments, quiet=True), out_dir=out_dir, script=arguments.script))
