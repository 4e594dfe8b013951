"""`hotline bench`."""

from __future__ import annotations

import argparse
from typing import Any

from hotline.commands.common import add, group, run, settings_of
from hotline.commands.numbers import whole
from hotline.commands.paths import folder_to_fill


def add_to(commands: Any) -> None:  # noqa: ANN401
    actions = group(commands, "bench", "measure on this machine")
    call = add(actions, "call", _call, "latencies and memory of one call, in real time")
    call.add_argument("--turns", type=whole(1, 1000), default=12, help="questions of each kind (default: 12)")
    answers = add(actions, "answers", _answers, "text in → first clause: hot, retrieved, mixed traffic; retrieval at size")
    answers.add_argument("--rate", type=whole(1, 10_000), default=50, help="questions a second (default: 50)")
    answers.add_argument("--seconds", type=whole(1, 3600), default=20, help="of each kind of traffic (default: 20)")
    for action in (call, answers):
        action.add_argument(
            "--out", type=folder_to_fill, metavar="FOLDER", default="out/bench", help="folder of the figures (default: out/bench)"
        )


def _call(arguments: argparse.Namespace) -> int:
    from hotline.bench import bench_call  # noqa: PLC0415

    return run(bench_call(settings_of(arguments, quiet=True), turns=arguments.turns, out_dir=arguments.out))


def _answers(arguments: argparse.Namespace) -> int:
    from hotline.bench_answers import bench_answers  # noqa: PLC0415

    settings = settings_of(arguments, quiet=True)
    return run(bench_answers(settings, rate_per_s=arguments.rate, seconds=arguments.seconds, out_dir=arguments.out))
