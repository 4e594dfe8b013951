"""What became of replayed recordings: a table for the screen, report.json and report.html for people and programs. Knows no call.

Every word in it is masked: transcripts as the server sent them, and the error rate is counted against a reference that was masked
before anything else saw it.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

import numpy as np

from hotline import cer
from hotline.call_events import NOT_UNDERSTOOD, Turn
from hotline.caller_leg import LegReport
from hotline.page import fill
from hotline.recordings.names import shown_name
from hotline.recordings.types import Recording

HEARD_COLUMNS = 44
TABLE_AT_MOST = 20  # calls; more are told by the report
REPORT_JSON, REPORT_HTML = "report.json", "report.html"
_GREETING = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReport:
    """One replayed recording. error: why it failed, else empty. folder: where its files are. errors: against the reference."""

    path: Path
    recording: Recording | None = None
    leg: LegReport | None = None
    turns: tuple[Turn, ...] = ()
    folder: Path | None = None
    errors: cer.Errors | None = None
    error: str = ""

    @property
    def name(self) -> str:
        """The path as people may see it: a PBX names recordings by who called."""
        return shown_name(str(self.path))

    @property
    def answered(self) -> tuple[Turn, ...]:
        """Turns of the caller."""
        return tuple(turn for turn in self.turns if turn.number != _GREETING)

    @property
    def heard(self) -> str:
        """Everything that was heard, masked."""
        return "".join(turn.heard for turn in self.answered)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is odd about the recording and about its call, in words."""
        of_recording = self.recording.notes if self.recording is not None else ()
        is_unheard = self.leg is not None and not self.error and not self.heard
        return (*of_recording, NOT_UNDERSTOOD) if is_unheard else of_recording


def write_reports(reports: Sequence[CallReport], out_dir: Path, *, how: str) -> Path:
    """report.json and report.html; returns the page. how: at which speed, over what. OSError passes."""
    out_dir.mkdir(parents=True, exist_ok=True)
    told = {"how": how, "words": "masked", "summary": summary(reports), "calls": [_told(report, out_dir) for report in reports]}
    (out_dir / REPORT_JSON).write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", "utf-8")
    page = out_dir / REPORT_HTML
    page.write_text(report_page(reports, out_dir, how=how), "utf-8")
    return page


def summary(reports: Sequence[CallReport]) -> dict[str, object]:
    """Figures over all."""
    turns = [turn for report in reports for turn in report.answered]
    waits_ms = [turn.voice_to_voice_ms for turn in turns if turn.voice_to_voice_ms]
    compared = cer.total(report.errors for report in reports if report.errors is not None)
    return {
        "recordings": len(reports),
        "failed": sum(bool(report.error) for report in reports),
        "turns": len(turns),
        "voice_to_voice_ms": {name: _percentile(waits_ms, share) for name, share in (("p50", 50), ("p95", 95))} if waits_ms else {},
        "routes": dict(Counter(turn.route or "-" for turn in turns).most_common()),
        "ends": dict(Counter(report.leg.reason for report in reports if report.leg is not None).most_common()),
        "compared_characters": compared.characters,
        "cer": round(compared.rate, 4) if compared.rate is not None else None,
    }


def _percentile(values: Sequence[int], share: int) -> int:
    return round(float(np.percentile(values, share)))


def _told(report: CallReport, out_dir: Path) -> dict[str, object]:
    told: dict[str, object] = {"file": report.name, "error": report.error}
    if (recording := report.recording) is not None:
        told["recording"] = {
            "kind": recording.kind,
            "codec": recording.codec,
            "bits": recording.bits,
            "rate_hz": recording.rate_hz,
            "duration_ms": recording.duration_ms,
            "parties": [party.name for party in recording.parties],
            "notes": list(report.notes),
        }
    if report.leg is not None:
        told |= {"ended": report.leg.reason, "call_ms": report.leg.duration_ms}
        told["turns"] = [_turn(turn) for turn in report.turns]
    if report.folder is not None:
        told["folder"] = os.path.relpath(report.folder, out_dir)
    if report.errors is not None:
        rate = report.errors.rate
        told["cer"] = {
            "edits": report.errors.edits,
            "characters": report.errors.characters,
            "rate": round(rate, 4) if rate is not None else None,
        }
    return told


def _turn(turn: Turn) -> dict[str, object]:
    return {
        "turn": turn.number,
        "heard": turn.heard,
        "said": "".join(turn.said),
        "route": turn.route,
        "sources": list(turn.source_ids),
        "start_ms": turn.start_ms,
        "end_ms": turn.end_ms,
        "voice_to_voice_ms": turn.voice_to_voice_ms,
    }


# ---------------------------------------------------------------- the page


def report_page(reports: Sequence[CallReport], out_dir: Path, *, how: str) -> str:
    """One page that loads nothing; links to the calls' timelines."""
    return fill(
        "replay.html",
        {
            "title": escape(f"{len(reports)} recordings replayed"),
            "facts": _facts(summary(reports), how),
            "failed": _failed(reports),
            "calls": "".join(_call(report, out_dir) for report in reports if report.leg is not None),
        },
    )


def _facts(told: dict[str, object], how: str) -> str:
    rows = {"how": how}
    for name, value in told.items():
        if isinstance(value, dict):
            rows[name] = " · ".join(f"{key} {count}" for key, count in value.items()) or "-"
        elif name == "cer" and isinstance(value, float):
            rows[name] = f"{value:.2%}"
        else:
            rows[name] = "-" if value is None else str(value)
    return "".join(f"<div><dt>{escape(name.replace('_', ' '))}</dt><dd>{escape(value)}</dd></div>" for name, value in rows.items())


def _failed(reports: Sequence[CallReport]) -> str:
    rows = "".join(f"<li><b>{escape(report.name)}</b> {escape(report.error)}</li>" for report in reports if report.error)
    return f"<h2>Failed</h2><ul>{rows}</ul>" if rows else ""


def _call(report: CallReport, out_dir: Path) -> str:
    name = escape(report.name)
    if report.folder is not None:
        page = quote(os.path.relpath(report.folder / "timeline.html", out_dir))
        name = f'<a href="{page}">{name}</a>'
    facts = [f"{report.leg.duration_ms / 1000:.1f} s", report.leg.reason] if report.leg is not None else []
    if (recording := report.recording) is not None:
        facts += [f"{recording.kind} {recording.codec} {recording.rate_hz} Hz"]
    facts += report.notes
    if report.errors is not None and report.errors.rate is not None:
        facts.append(f"CER {report.errors.rate:.1%} of {report.errors.characters}")
    turns = "".join(_row(turn) for turn in report.turns)
    return f'<section><h3>{name}</h3><p class="told">{escape(" · ".join(facts))}</p><table>{turns}</table></section>'


def _row(turn: Turn) -> str:
    wait = f"{turn.voice_to_voice_ms} ms" if turn.voice_to_voice_ms else "-"
    cells = (str(turn.number), turn.heard, "".join(turn.said), turn.route or "-", wait)
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


# ---------------------------------------------------------------- the screen


def table(reports: Sequence[CallReport]) -> str:
    """Each turn of each call: heard (masked), route, voice to voice; and how long the call was."""
    rows = [("file", "turn", "heard", "route", "voice to voice", "call")]
    for report in reports:
        if report.error:
            rows.append((shown_name(report.path.name), "-", "", "failed", "-", "-"))
        for turn in report.answered:
            delay = f"{turn.voice_to_voice_ms} ms" if turn.voice_to_voice_ms else "-"
            rows.append((shown_name(report.path.name), str(turn.number), turn.heard, turn.route or "-", delay, ""))
        if report.leg is not None and not report.error:
            length = f"{report.leg.duration_ms / 1000:.1f} s"
            rows.append((shown_name(report.path.name), "end", report.leg.reason, "", "", length))
    cut = [tuple(_fit(cell, HEARD_COLUMNS) for cell in row) for row in rows]
    widths = [max(_columns(row[column]) for row in cut) for column in range(len(cut[0]))]
    return "\n".join(
        "  ".join(cell + " " * (width - _columns(cell)) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cut
    )


def closing(reports: Sequence[CallReport]) -> Iterable[str]:
    """Last lines on the screen: few calls as a table, many in figures; then what is odd and what failed."""
    if len(reports) <= TABLE_AT_MOST:
        yield table(reports)
        yield from (f"{report.name}: {note}" for report in reports for note in report.notes)
    else:
        yield from (f"{name.replace('_', ' ')}: {value}" for name, value in summary(reports).items())
        odd = Counter(note for report in reports for note in report.notes)
        yield from (f"{count} × {note}" for note, count in odd.most_common())
    for report in reports:
        if report.error:
            yield f"✗ {report.name}: {report.error}"


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _fit(text: str, columns: int) -> str:
    if _columns(text) <= columns:
        return text
    kept = ""
    while _columns(kept) + _columns(text[len(kept)]) < columns:
        kept += text[len(kept)]
    return kept + "…"
