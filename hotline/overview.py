"""Folders of replayed calls (events.jsonl each) → one page about all of them: distributions, routes, ends, the slowest turns.

Knows no wire, no running call and no sound. The page holds no caller's words, only figures, and loads nothing.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

import numpy as np

from hotline.call_events import CallEvent, Turn, clock, read_events, turns_of
from hotline.errors import HotlineError
from hotline.page import fill
from hotline.stages import STAGES, stages_of

SPREAD = (50, 90, 95, 99)
_BUCKETS = 24
_SLOWEST = 12
_CHART_PX, _CHART_TALL_PX = 300, 90
_NO_TURN_OF_A_CALLER = 0
TITLES = {
    "voice_to_voice": "voice to voice",
    "silence": "silence: sure that the caller has finished",
    "hearing": "hearing, beyond the silence",
    "finding": "finding the answer",
    "writing": "writing the first clause",
    "voice": "voice: first audio",
    "sending": "sending the first frame",
}


class NothingToShow(HotlineError):
    """There is no call to make an overview of."""

    code = "overview.empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFigures:
    """One call in figures. name: of its folder; page: its timeline, where there is one."""

    name: str
    page: Path | None
    duration_ms: int
    ended: str
    interruptions: int
    turns: tuple[Turn, ...]

    @property
    def answered(self) -> list[Turn]:
        """Turns that the caller waited for."""
        return [turn for turn in self.turns if turn.number != _NO_TURN_OF_A_CALLER and turn.voice_to_voice_ms]


def figures_of(name: str, events: Sequence[CallEvent], page: Path | None = None) -> CallFigures:
    """What the events say in figures."""
    return CallFigures(
        name=name,
        page=page,
        duration_ms=max((event.at_ms for event in events), default=0),
        ended=next((event.text("reason") for event in reversed(events) if event.kind in {"end", "hangup"}), ""),
        interruptions=sum(event.kind == "clear" and event.text("reason") == "cancel" for event in events),
        turns=tuple(turns_of(events)),
    )


def calls_under(folder: Path) -> list[CallFigures]:
    """Every folder under this one that holds an events.jsonl, in order of names. Raises EventsWrong, NothingToShow."""
    found = sorted(folder.rglob("events.jsonl"))
    if not found:
        raise NothingToShow(f"{folder}: no events.jsonl in it", what_to_do="name a folder that `hotline replay` or `demo` wrote")
    calls = []
    for file in found:
        page = file.with_name("timeline.html")
        name = str(file.parent.relative_to(folder))
        calls.append(figures_of(folder.name if name == "." else name, read_events(file), page if page.is_file() else None))
    return calls


def delays_of(calls: Iterable[CallFigures]) -> dict[str, list[int]]:
    """Milliseconds of each answered turn, in all and by stage."""
    delays: dict[str, list[int]] = {"voice_to_voice": [], **{stage: [] for stage, _ in STAGES}}
    for call in calls:
        for turn in call.answered:
            delays["voice_to_voice"].append(turn.voice_to_voice_ms)
            for stage, ms in stages_of(turn.stamps).items():
                delays[stage].append(ms)
    return delays


def spread_of(values: Sequence[int]) -> dict[str, int]:
    """n, and the percentiles where there is anything."""
    if not values:
        return {"n": 0}
    return {"n": len(values), **{f"p{share}": round(float(np.percentile(values, share))) for share in SPREAD}, "max": max(values)}


def summary(calls: Sequence[CallFigures]) -> dict[str, object]:
    """The overview for programs. Times in ms."""
    turns = [turn for call in calls for turn in call.turns if turn.number != _NO_TURN_OF_A_CALLER]
    return {
        "calls": len(calls),
        "turns": len(turns),
        "duration_ms": sum(call.duration_ms for call in calls),
        "interruptions": sum(call.interruptions for call in calls),
        "routes": dict(Counter(turn.route or "none" for turn in turns).most_common()),
        "ends": dict(Counter(call.ended or "none" for call in calls).most_common()),
        "delays_ms": {name: spread_of(values) for name, values in delays_of(calls).items()},
    }


def overview_page(calls: Sequence[CallFigures], *, title: str, beside: Path) -> str:
    """The page. beside: the folder that it will lie in, for its links."""
    told = summary(calls)
    answered = [(turn.voice_to_voice_ms, call, turn) for call in calls for turn in call.answered]
    slowest = sorted(answered, key=lambda each: -each[0])[:_SLOWEST]
    return fill(
        "overview.html",
        {
            "title": escape(title),
            "facts": _facts(told, calls),
            "charts": "".join(_chart(name, values) for name, values in delays_of(calls).items()),
            "routes": _shares(told["routes"]),
            "ends": _shares(told["ends"]),
            "slowest": "".join(_slow_row(turn, call, beside) for _, call, turn in slowest),
            "calls": "".join(_call_row(call, beside) for call in calls),
        },
    )


def write_overview(folder: Path, *, out: Path | None = None, title: str = "") -> Path:
    """Write overview.html and overview.json into the folder (or `out`). Raises EventsWrong, NothingToShow, OSError."""
    calls = calls_under(folder)
    target = out or folder / "overview.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(overview_page(calls, title=title or folder.name, beside=target.parent), encoding="utf-8")
    told = json.dumps(summary(calls), ensure_ascii=False, indent=1)
    target.with_suffix(".json").write_text(told + "\n", encoding="utf-8")
    return target


# ---------------------------------------------------------------- parts of the page


def _facts(told: Mapping[str, object], calls: Sequence[CallFigures]) -> str:
    total_ms = sum(call.duration_ms for call in calls)
    to_people = sum(call.ended == "transferred" for call in calls)
    facts = (
        ("calls", str(told["calls"])),
        ("length in all", clock(total_ms)),
        ("turns", str(told["turns"])),
        ("interruptions", str(told["interruptions"])),
        ("to a person", f"{to_people} ({100 * to_people / max(1, len(calls)):.0f} %)"),
    )
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)


def _chart(name: str, values: Sequence[int]) -> str:
    """A histogram up to the largest value, with its percentiles in figures."""
    if not values:
        return f'<figure class="empty"><figcaption>{escape(TITLES[name])}</figcaption><p>no figures</p></figure>'
    spread = spread_of(values)
    counts, edges = np.histogram(values, bins=_BUCKETS, range=(0, max(1, spread["max"])))
    tallest, wide = int(counts.max()), _CHART_PX / _BUCKETS
    tall = [_CHART_TALL_PX * count / tallest for count in counts]
    bars = "".join(
        f'<rect x="{index * wide:.1f}" y="{_CHART_TALL_PX - high:.1f}" width="{wide - 1:.1f}" height="{high:.1f}">'
        f"<title>{edges[index]:.0f}–{edges[index + 1]:.0f} ms: {counts[index]}</title></rect>"
        for index, high in enumerate(tall)
        if high
    )
    marks = "".join(
        f'<line class="{mark}" x1="{_CHART_PX * spread[mark] / max(1, spread["max"]):.1f}" y1="0" '
        f'x2="{_CHART_PX * spread[mark] / max(1, spread["max"]):.1f}" y2="{_CHART_TALL_PX}"/>'
        for mark in ("p50", "p95")
    )
    told = " · ".join(f"{key} {value}" for key, value in spread.items() if key != "n")
    return (
        f"<figure><figcaption>{escape(TITLES[name])} <small>n = {spread['n']}</small></figcaption>"
        f'<svg viewBox="0 0 {_CHART_PX} {_CHART_TALL_PX}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(told)}">{bars}{marks}</svg>'
        f'<p class="ends"><span>0</span><span>{spread["max"]} ms</span></p><p class="told">{escape(told)} ms</p></figure>'
    )


def _shares(counts: object) -> str:
    if not isinstance(counts, Mapping) or not counts:
        return "<p>none</p>"
    total, most = sum(counts.values()), max(counts.values())
    return "".join(
        f'<div class="share"><span>{escape(str(name))}</span><i style="--share:{100 * count / most:.1f}%"></i>'
        f"<b>{count} ({100 * count / total:.0f} %)</b></div>"
        for name, count in counts.items()
    )


def _link(call: CallFigures, beside: Path) -> str:
    if call.page is None:
        return escape(call.name)
    place = quote(os.path.relpath(call.page, beside).replace(os.sep, "/"))
    return f'<a href="{escape(place)}">{escape(call.name)}</a>'


def _slow_row(turn: Turn, call: CallFigures, beside: Path) -> str:
    took = stages_of(turn.stamps)
    worst = max(took, key=lambda stage: took[stage]) if took else ""
    most = f"{worst} {took[worst]} ms" if worst else "–"
    return (
        f"<tr><td>{_link(call, beside)}</td><td>{turn.number}</td><td>{escape(turn.route or '–')}</td>"
        f"<td>{turn.voice_to_voice_ms} ms</td><td>{escape(most)}</td></tr>"
    )


def _call_row(call: CallFigures, beside: Path) -> str:
    delays = [turn.voice_to_voice_ms for turn in call.answered]
    spread = spread_of(delays)
    median, most = (f"{spread['p50']} ms", f"{spread['max']} ms") if delays else ("–", "–")
    routes = ", ".join(f"{name} {count}" for name, count in Counter(turn.route or "none" for turn in call.turns).most_common())
    cells = (
        clock(call.duration_ms),
        sum(turn.number != _NO_TURN_OF_A_CALLER for turn in call.turns),
        median,
        most,
        call.interruptions,
        routes,
        call.ended,
    )
    return f"<tr><td>{_link(call, beside)}</td>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>"
