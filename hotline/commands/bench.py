"""`hotline bench`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hotline.commands.common import add, run, settings_of


def add_to(commands: Any) -> None:  # noqa: ANN401
    bench = add(commands, "bench", _bench, "measure on this machine")
    bench.add_argument("what", choices=["call"], help="call: latencies and memory of one call")
    bench.add_argument("--turns", type=int, default=12, help="questions of each kind (default: 12)")
    bench.add_argument("--out", type=Path, default=Path("out/bench"), help="folder of the figures (default: out/bench)")


def _bench(arguments: argparse.Namespace) -> int:
    from hotline.bench import bench_call  # noqa: PLC0415

    return run(bench_call(settings_of(arguments, quiet=True), turns=arguments.turns, out_dir=arguments.out))
