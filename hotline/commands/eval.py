"""`hotline eval`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from hotline.commands.common import add, run, settings_of
from hotline.commands.paths import file_to_write, folder_to_read

_REPORT = "report"
_SETS = ("pii", "itn", "tn", "rmb", "safety", "intents", "citations", "dialogs", "legal")
_READS = "SET: one record a line (JSON) on standard input, one answer a line on standard output; report: all sets, scored"


def add_to(commands: Any) -> None:  # noqa: ANN401
    evaluate = add(commands, "eval", _eval, "answer cases with known right answers, through the product's own code paths")
    evaluate.epilog = _READS
    evaluate.add_argument("what", choices=[*_SETS, _REPORT], metavar="SET", help=f"{', '.join(_SETS)}; or report")
    evaluate.add_argument(
        "--cases", type=folder_to_read, metavar="DIR", help="report: the folder of the case files and their score.py"
    )
    evaluate.add_argument("--out", type=file_to_write, metavar="FILE", help="report: write it there (default: print it)")


def _eval(arguments: argparse.Namespace) -> int:
    from hotline.evaluate.run import case_set, evaluate, standard_input  # noqa: PLC0415

    if arguments.what == _REPORT:
        from hotline.evaluate.report import report  # noqa: PLC0415

        return report(settings_of(arguments, quiet=True), arguments.cases, out=arguments.out)
    case_set(arguments.what)  # says at once what can't be run
    settings = settings_of(arguments, quiet=True)
    return run(evaluate(settings, arguments.what, standard_input(), sys.stdout, sys.stderr))
