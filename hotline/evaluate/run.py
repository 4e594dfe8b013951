"""`hotline eval SET`: JSON lines on standard input → JSON lines on standard output, through the product's own code paths.

Exit code 1 when a line could not be read; the other lines are answered all the same.
"""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TextIO

from hotline.config import Settings
from hotline.evaluate.records import CaseSet, EvaluationWrong, solve

SETS: Mapping[str, tuple[str, str]] = MappingProxyType({
    "pii": ("pii", "PII"),
    "itn": ("texts", "ITN"),
    "tn": ("texts", "TN"),
    "rmb": ("texts", "RMB"),
    "safety": ("routes", "SAFETY"),
    "intents": ("intents", "INTENTS"),
    "citations": ("citations", "CITATIONS"),
    "dialogs": ("dialogs", "DIALOGS"),
})
"""Each set: its module here, loaded when the set is run, and the name in it."""

NOT_YET: Mapping[str, str] = MappingProxyType({"legal": "drafting legal documents"})


def case_set(name: str) -> CaseSet[Any]:
    """A set by its name. Raises EvaluationWrong."""
    if name in NOT_YET:
        raise EvaluationWrong(
            f"{name}: {NOT_YET[name]} is not part of the product yet, so there is nothing to evaluate",
            what_to_do=f"evaluate one of {', '.join(SETS)}",
        )
    if name not in SETS:
        raise EvaluationWrong(f"{name} is no case set", what_to_do=f"name one of {', '.join(SETS)}")
    module, variable = SETS[name]
    found: CaseSet[Any] = getattr(importlib.import_module(f"hotline.evaluate.{module}"), variable)
    return found


@dataclass(slots=True, kw_only=True)
class _Streams:
    """Answers to one stream, complaints to another."""

    name: str
    out: TextIO
    errors: TextIO
    complaints: int = 0

    def answer(self, line: str) -> None:
        """At once: who pipes records in may wait for each."""
        self.out.write(line + "\n")
        self.out.flush()

    def wrong(self, sentence: str) -> None:
        """Beside the answers."""
        self.complaints += 1
        self.errors.write(f"hotline: eval {self.name}: {sentence}\n")


async def evaluate(settings: Settings, name: str, lines: Iterable[str], out: TextIO, errors: TextIO) -> int:
    """Run one set. Returns the exit code."""
    streams = _Streams(name=name, out=out, errors=errors)
    await solve(case_set(name), settings, lines, streams)
    return 1 if streams.complaints else 0


def standard_input() -> TextIO:
    """Lines of standard input; bytes that are no UTF-8 make a line that is no record."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    return sys.stdin
