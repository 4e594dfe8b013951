"""Holds coverage against its floors: what `coverage run` measured in, the files below in, an exit code out."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from coverage import Coverage

OVERALL_PERCENT = 85.0
TOLD = 12

# Pure modules: no clock, no socket, no model. There every branch is cheap to reach and worth reaching.
EVERY_BRANCH = (
    "asr/completeness.py",
    "asr/endpoint.py",
    "asr/guard.py",
    "engines/manifest.py",
    "hotline/catalogue.py",
    "hotline/config.py",
    "hotline/config_places.py",
    "hotline/playout.py",
    "hotline/questions.py",
    "hotline/scripts.py",
    "hotline/sentences.py",
    "hotline/sound/codec.py",
    "hotline/sound/level.py",
    "hotline/sound/resample.py",
    "hotline/turns.py",
    "hotline/zh/encoding.py",
    "hotline/zh/numerals.py",
    "hotline/zh/pinyin.py",
    "hotline/zh/script.py",
    "hotline/zh/skeleton.py",
    "llm/clauses.py",
    "llm/knowledge_yaml.py",
)


def main() -> int:
    """Print what lies below its floor."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        coverage = Coverage()
        coverage.load()
        coverage.json_report(outfile=str(report))
        measured = json.loads(report.read_text(encoding="utf-8"))
    overall = measured["totals"]["percent_covered"]
    below = [f"all together: {overall:.1f} %, floor {OVERALL_PERCENT} %"] if overall < OVERALL_PERCENT else []
    for name in EVERY_BRANCH:
        file = measured["files"].get(name)
        if file is None:
            below.append(f"{name}: never ran, or is gone (then take it out of scripts/coverage_floors.py)")
        elif file["missing_lines"] or file.get("missing_branches"):
            lines = [*file["missing_lines"], *(f"{start}→{end}" for start, end in file.get("missing_branches", []))]
            below.append(f"{name}: not reached: {', '.join(map(str, lines[:TOLD]))}{' …' if lines[TOLD:] else ''}; floor 100 %")
    for line in below:
        sys.stdout.write(f"coverage: {line}\n")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
