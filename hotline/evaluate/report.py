"""`hotline eval report`: every case set run and scored → one page of figures. Knows no right answer: the sets' own scorer does.

The scorer (`score.py` beside the case files) prints each record without its answer, and scores what comes back.
"""

from __future__ import annotations

import asyncio
import io
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hotline.clock import utc_now
from hotline.config import Settings
from hotline.evaluate.records import EvaluationWrong
from hotline.evaluate.run import NOT_YET, SETS, evaluate

_SCORER = "score.py"
_LIMIT_S = 300
_UNSAID = frozenset({"records", "answered", "ms_per_record"})  # have columns of their own, or none
_HEAD = """\
# Quality on known cases

Written by `hotline eval report`; don't edit. Each set was answered through the product's own code paths (`hotline eval SET`:
masker, mind, normalisers, a typed call) and scored by the sets' own scorer, which keeps the right answers to itself.

**What these figures don't say.** The cases were known while the product was made, and its misses on them were mended, so they
show that nothing known is broken. They don't show how it does on what nobody has tried: unseen cases of the same kinds are
judged elsewhere, and less is to be expected there.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One set's figures. ms: each record's time once everything is loaded, on average; trouble: what kept it from being whole."""

    name: str
    records: int
    ms: float
    figures: Mapping[str, float | None]
    trouble: str = ""


def report(settings: Settings, cases: Path | None, *, out: Path | None) -> int:
    """Run and score every set; print the page or write it. Returns 1 when a record was left without an answer."""
    scorer = (cases or Path()) / _SCORER
    if cases is None or not scorer.is_file():
        raise EvaluationWrong(
            "no scorer for a report" if cases is None else f"no {_SCORER} in {cases}",
            what_to_do=f"name the folder that holds the case files and their {_SCORER}: --cases DIR",
        )
    scored = [_run(settings, scorer, name) for name in SETS if (cases / f"{name}.jsonl").is_file()]
    page = _page(scored)
    if out is None:
        sys.stdout.write(page)
    else:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(page, encoding="utf-8")
        sys.stdout.write(f"{out}: {len(scored)} sets, {sum(each.records for each in scored)} records\n")
    return 1 if any(each.trouble for each in scored) else 0


def _run(settings: Settings, scorer: Path, name: str) -> Scored:
    records = _score(scorer, name, "--print-input").splitlines()
    answers, errors = io.StringIO(), io.StringIO()
    begun_s = 0.0

    def lines() -> Iterator[str]:
        nonlocal begun_s
        begun_s = time.perf_counter()  # everything is loaded by now
        yield from records

    code = asyncio.run(evaluate(settings, name, lines(), answers, errors))
    took_ms = (time.perf_counter() - begun_s) * 1000
    with tempfile.TemporaryDirectory(prefix="hotline-report-") as folder:
        Path(folder, f"{name}.jsonl").write_text(answers.getvalue(), encoding="utf-8")
        scores = json.loads(_score(scorer, name, "--json", "--predictions-dir", folder))["scores"][name]
    return Scored(
        name=name,
        records=scores["records"],
        ms=took_ms / max(1, len(records)),
        figures={key: value for key, value in scores.items() if key not in _UNSAID},
        trouble=errors.getvalue().strip() if code else "",
    )


def _score(scorer: Path, name: str, *asked: str) -> str:
    """What the scorer prints."""
    command = [sys.executable, str(scorer), name, *asked]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=True)  # noqa: S603  the operator's own
    except subprocess.TimeoutExpired:
        raise EvaluationWrong(f"{name}: the scorer took more than {_LIMIT_S} s", what_to_do="run it by hand") from None
    except subprocess.CalledProcessError as failed:
        why = (failed.stderr or failed.stdout).strip().splitlines()
        raise EvaluationWrong(f"{name}: the scorer failed: {why[-1] if why else failed.returncode}") from None
    return done.stdout


def _page(scored: Sequence[Scored]) -> str:
    rows = [
        f"| {each.name} | {each.records} | {_headline(each.figures)} | {each.ms:.1f} |{' ' + each.trouble if each.trouble else ''}"
        for each in scored
    ]
    missing = ", ".join(f"{name} ({what})" for name, what in NOT_YET.items())
    parts = [
        _HEAD,
        f"{utc_now():%Y-%m-%d}, hotline {_version()}, Python {platform.python_version()}.\n",
        "| set | records | figures | ms a record |\n|---|---:|---|---:|\n" + "\n".join(rows) + "\n",
    ]
    return "\n".join([*parts, f"Not part of the product yet: {missing}.\n"] if missing else parts)


def _headline(figures: Mapping[str, float | None]) -> str:
    """The figures over a whole set; those of one kind are told where they are not perfect."""
    whole = {key: value for key, value in figures.items() if "." not in key}
    parts = {key: value for key, value in figures.items() if "." in key and value is not None and value < 1}
    return ", ".join(f"{key} {'-' if value is None else f'{value:g}'}" for key, value in (whole | parts).items())


def _version() -> str:
    try:
        return version("hotline")
    except PackageNotFoundError:
        return "unversioned"
