"""events.jsonl + call.wav of one call → one HTML page that holds everything: lanes on one time axis, a player, the turns.

Knows no wire and no running call. Everything that a caller or a model may have said is escaped; the page loads nothing.
"""

from __future__ import annotations

import base64
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hotline.call_events import STAMP_NAMES, CallEvent, Turn, clock, read_events, turns_of
from hotline.page import fill
from hotline.sound.level import rms_dbov
from hotline.stages import stages_of
from hotline.wav import read_wav, wav_header_and_samples

Samples = NDArray[np.float32]

PX_PER_S = 64
MAX_WIDTH_PX = 14_000
WAVE_HEIGHT = 60
WAVE_DETAIL = 3  # strokes a pixel before any zoom
MAX_WAVE_POINTS = 24_000
LEVEL_STEP_MS = 100
SILENT_DBOV = -60.0
FLAG_PX = 170
UNHEARD_MS = 1500
EMBED_AT_MOST_BYTES = 5_000_000
TICKS_S = (1, 2, 5, 10, 30, 60, 120, 300)
LEAST_TICK_PX = 60
ROUTES = {
    "hot": "good", "stored": "good", "generated": "good", "clarify": "ask", "reprompt": "ask", "noted": "ask", "repeat": "ask",
    "filler": "quiet", "greeting": "quiet", "notice": "quiet", "goodbye": "quiet", "hand_over": "person", "person": "person",
    "unknown": "person", "refused": "alarm", "emergency": "alarm",
}  # fmt: skip
STAMP_TITLES = dict(
    zip(
        STAMP_NAMES,
        ("last speech", "VAD end", "turn decided", "ASR final", "route", "first token", "safe clause", "TTS audio", "frame sent"),
        strict=True,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A stretch in a lane. look: one of the page's colours; label and hint: plain text."""

    from_ms: int
    to_ms: int
    look: str
    label: str = ""
    hint: str = ""


def write_timeline(folder: Path, *, title: str) -> Path:
    """Write timeline.html beside the call's files. Raises EventsWrong, WavError, OSError."""
    audio = read_wav(folder / "call.wav")
    page = timeline_page(read_events(folder / "events.jsonl"), audio.samples, audio.rate_hz, title=title)
    target = folder / "timeline.html"
    target.write_text(page, encoding="utf-8")
    return target


def timeline_page(events: Sequence[CallEvent], stereo: Samples, rate_hz: int, *, title: str) -> str:
    """The page. stereo: shape (n, 2), caller left, bot right."""
    turns = turns_of(events)
    duration_ms = max(len(stereo) * 1000 // rate_hz, max((event.at_ms for event in events), default=0), 1000)
    scale = _Scale(duration_ms)
    parts = {
        "title": escape(title),
        "facts": _facts(events, turns, duration_ms),
        "audio": _audio(stereo, rate_hz),
        "duration_ms": str(duration_ms),
        "width_px": str(scale.width_px),
        "ticks": _ticks(scale),
        "caller_wave": _wave(stereo[:, 0], rate_hz, scale),
        "bot_wave": _wave(stereo[:, -1], rate_hz, scale),
        "vad": _bars(_vad(events, turns), scale),
        "asr": _bars(_asr(turns), scale),
        "answer": _bars(_answer(turns), scale),
        "tts": _bars(_tts(turns), scale),
        "words": _bars(_words(events), scale),
        "happenings": _happenings(events, scale),
        "turns": "".join(_turn(turn) for turn in turns),
        "spent": _spent(turns),
        "caller_levels": _levels(stereo[:, 0], rate_hz),
        "bot_levels": _levels(stereo[:, -1], rate_hz),
    }
    return fill("timeline.html", parts)


class _Scale:
    """Milliseconds → the width of the page before any zoom, and shares of it: zooming changes one number, the track's width."""

    def __init__(self, duration_ms: int) -> None:
        self.duration_ms = duration_ms
        self.px_per_ms = min(PX_PER_S / 1000, MAX_WIDTH_PX / duration_ms)
        self.width_px = round(duration_ms * self.px_per_ms)

    def px(self, at_ms: float) -> float:
        """Within the page, before any zoom."""
        return min(max(0.0, at_ms), self.duration_ms) * self.px_per_ms

    def share(self, at_ms: float) -> float:
        """Per cent of the page."""
        return round(100 * min(max(0.0, at_ms), self.duration_ms) / self.duration_ms, 4)


# ---------------------------------------------------------------- lanes


def _vad(events: Iterable[CallEvent], turns: Iterable[Turn]) -> Iterable[Bar]:
    began_ms: int | None = None
    for event in events:
        if event.side == "caller" and event.kind == "sound_began":
            began_ms = event.at_ms
        elif event.side == "caller" and event.kind == "sound_stopped" and began_ms is not None:
            yield Bar(from_ms=began_ms, to_ms=event.at_ms, look="sound", hint="sound on the caller's side")
            began_ms = None
    for turn in turns:
        ended_ms = turn.stamps.get("vad_end_ms") or turn.end_ms
        if turn.start_ms and ended_ms:
            yield Bar(from_ms=turn.start_ms, to_ms=ended_ms, look="speech", hint=f"turn {turn.number}: speech")
        if ended_ms and (decided_ms := turn.stamps.get("turn_decided_ms")):
            yield Bar(
                from_ms=ended_ms, to_ms=decided_ms, look="wait", hint=f"turn {turn.number}: {decided_ms - ended_ms} ms to be sure"
            )


def _asr(turns: Iterable[Turn]) -> Iterable[Bar]:
    for turn in turns:
        final_ms = turn.stamps.get("asr_final_ms")
        begins_ms = turn.stamps.get("caller_last_speech_ms") or turn.end_ms
        if final_ms and begins_ms:
            yield Bar(from_ms=begins_ms, to_ms=final_ms, look="asr", label=turn.heard, hint=f"turn {turn.number}: {turn.heard}")
        elif turn.heard and turn.end_ms:
            yield Bar(
                from_ms=turn.end_ms, to_ms=turn.end_ms, look="asr", label=turn.heard, hint=f"turn {turn.number}: {turn.heard}"
            )


def _answer(turns: Iterable[Turn]) -> Iterable[Bar]:
    for turn in turns:
        known = [turn.stamps[name] for name in ("asr_final_ms", "route_decided_ms", "first_safe_clause_ms") if name in turn.stamps]
        if known:
            label = turn.route or "answer"
            yield Bar(
                from_ms=known[0],
                to_ms=known[-1],
                look=f"route {_look(turn.route)}",
                label=label,
                hint=f"turn {turn.number}: {label}",
            )


def _tts(turns: Iterable[Turn]) -> Iterable[Bar]:
    for turn in turns:
        known = [
            turn.stamps[name]
            for name in ("first_safe_clause_ms", "first_tts_audio_ms", "first_frame_sent_ms")
            if name in turn.stamps
        ]
        if len(known) > 1:
            took_ms = known[-1] - known[0]
            yield Bar(
                from_ms=known[0],
                to_ms=known[-1],
                look="tts",
                label=f"{took_ms} ms",
                hint=f"turn {turn.number}: first audio in {took_ms} ms",
            )


def _words(events: Sequence[CallEvent]) -> Iterable[Bar]:
    """The bot's clauses. They are sent ahead of their sound, so each gets a share of its reply's time, by its length."""
    replies: dict[int, list[CallEvent]] = {}
    for event in events:
        if event.kind == "reply_text":
            replies.setdefault(event.number("reply_id"), []).append(event)
    begins = [said[0].at_ms for said in replies.values()]
    silent = [event.at_ms for event in events if event.side == "bot" and event.kind == "sound_stopped"]
    for index, said in enumerate(replies.values()):
        ends = [at_ms for at_ms in silent if at_ms > said[-1].at_ms][:1] or [said[-1].at_ms + UNHEARD_MS]
        yield from _shares(said, min([*ends, *begins[index + 1 : index + 2]]))


def _shares(said: Sequence[CallEvent], end_ms: int) -> Iterable[Bar]:
    at_ms = float(said[0].at_ms)
    per_character = max(0.0, end_ms - at_ms) / max(1, sum(len(event.text("text")) for event in said))
    for event in said:
        text = event.text("text")
        until_ms = at_ms + per_character * len(text)
        yield Bar(from_ms=round(at_ms), to_ms=round(until_ms), look=f"words {_look(event.text('route'))}", label=text, hint=text)
        at_ms = until_ms


def _bars(bars: Iterable[Bar], scale: _Scale) -> str:
    return "".join(
        f'<div class="bar {bar.look}" style="left:{scale.share(bar.from_ms)}%;'
        f'width:{max(0.0, round(scale.share(bar.to_ms) - scale.share(bar.from_ms), 4))}%" '
        f'data-hint="{escape(bar.hint)}" data-from="{bar.from_ms}" data-to="{bar.to_ms}"><span>{escape(bar.label)}</span></div>'
        for bar in bars
    )


def _happenings(events: Iterable[CallEvent], scale: _Scale) -> str:
    told = []
    last_px, is_low = -float(FLAG_PX), False
    for event in events:
        if (name := _happening(event)) is None:
            continue
        at_px = scale.px(event.at_ms)
        is_low = at_px - last_px < FLAG_PX and not is_low
        last_px = at_px
        place = f"{'low ' if is_low else ''}{'left ' if scale.width_px - at_px < FLAG_PX else ''}"
        told.append(
            f'<div class="flag {place}{event.kind}" style="left:{scale.share(event.at_ms)}%" title="{clock(event.at_ms)}">'
            f"<span>{escape(name)}</span></div>"
        )
    return "".join(told)


def _happening(event: CallEvent) -> str | None:  # noqa: PLR0911  one return a kind of event
    match event.kind:
        case "clear":
            return "interrupted" if event.text("reason") == "cancel" else event.text("reason")
        case "transfer":
            return f"to a person: {event.text('reason')}"
        case "end":
            return f"end: {event.text('reason')}"
        case "error":
            return event.text("code")
        case "key":
            return f"key {event.text('digit')}"
        case "hangup":
            return "hang-up"
        case _:
            return None


def _wave(samples: Samples, rate_hz: int, scale: _Scale) -> str:
    """An outline of the loudest samples; loud calls and quiet ones both fill the lane. It stretches with the zoom."""
    buckets = max(1, min(scale.width_px * WAVE_DETAIL, MAX_WAVE_POINTS))
    edges = np.linspace(0, scale.duration_ms * rate_hz / 1000, buckets + 1).astype(np.int64)
    loudest = max(0.05, float(np.max(np.abs(samples), initial=0.0)))
    strokes = []
    middle = WAVE_HEIGHT / 2
    for x in range(buckets):
        piece = samples[edges[x] : edges[x + 1]]
        if len(piece) and (reach := float(np.max(np.abs(piece)))) / loudest > 1 / WAVE_HEIGHT:
            tall = round(reach / loudest * (middle - 1))
            strokes.append(f"M{x} {middle - tall:g}h1v{2 * tall:g}h-1z")
    return (
        f'<svg viewBox="0 0 {buckets} {WAVE_HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="zero" d="M0 {middle:g}H{buckets}"/><path d="{"".join(strokes)}"/></svg>'
    )


def _levels(samples: Samples, rate_hz: int) -> str:
    """Level in dBov for each 100 ms, silence as an empty place: what hovering shows."""
    step = max(1, rate_hz * LEVEL_STEP_MS // 1000)
    pieces = (samples[at : at + step] for at in range(0, len(samples), step))
    levels = (rms_dbov(piece) for piece in pieces)
    return ",".join(str(round(level)) if level > SILENT_DBOV else "" for level in levels)


def _ticks(scale: _Scale) -> str:
    every_s = next((tick for tick in TICKS_S if tick * 1000 * scale.px_per_ms >= LEAST_TICK_PX), TICKS_S[-1])
    return "".join(
        f'<div class="tick" style="left:{scale.share(at_s * 1000)}%"><span>{at_s // 60}:{at_s % 60:02}</span></div>'
        for at_s in range(0, scale.duration_ms // 1000 + 1, every_s)
    )


# ---------------------------------------------------------------- the rest of the page


def _audio(stereo: Samples, rate_hz: int) -> str:
    content = wav_header_and_samples(stereo, rate_hz)
    if len(content) > EMBED_AT_MOST_BYTES:  # a long call: the page stays light, its sound lies beside it
        return "call.wav"
    return "data:audio/wav;base64," + base64.b64encode(content).decode("ascii")


def _facts(events: Sequence[CallEvent], turns: Sequence[Turn], duration_ms: int) -> str:
    call_id = next((event.text("call_id") for event in events if event.kind == "accepted"), "")
    ended = next((event.text("reason") for event in reversed(events) if event.kind in {"end", "hangup"}), "")
    delays = [turn.voice_to_voice_ms for turn in turns if turn.voice_to_voice_ms]
    cut = sum(event.kind == "clear" and event.text("reason") == "cancel" for event in events)
    facts = [
        ("length", clock(duration_ms)),
        ("turns", str(sum(turn.number > 0 for turn in turns))),
        ("voice to voice, median", f"{statistics.median(delays):.0f} ms" if delays else "–"),
        ("interruptions", str(cut)),
        ("ended by", ended or "–"),
        ("call", call_id or "–"),
    ]
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)


def _turn(turn: Turn) -> str:
    begins_ms = turn.start_ms or turn.said_at_ms
    heard = f'<p class="heard">{escape(turn.heard)}</p>' if turn.heard else ""
    said = f'<p class="said">{escape("".join(turn.said))}</p>' if turn.said else ""
    sources = f'<span class="source">{escape(", ".join(turn.source_ids))}</span>' if turn.source_ids else ""
    delay = f'<span class="delay">{turn.voice_to_voice_ms} ms</span>' if turn.voice_to_voice_ms else ""
    name = f"Turn {turn.number}" if turn.number else "Opening"
    return (
        f'<article class="turn"><header><button type="button" data-at="{begins_ms}" aria-label="play from here">▶</button>'
        f'<h3>{name}</h3><time>{clock(begins_ms)}</time><span class="badge {_look(turn.route)}">{escape(turn.route or "–")}</span>'
        f"{sources}{delay}</header>{heard}{said}{_stamps(turn)}</article>"
    )


def _stamps(turn: Turn) -> str:
    if not turn.stamps:
        return ""
    zero_ms = turn.stamps.get("caller_last_speech_ms") or min(turn.stamps.values())
    longest_ms = max(1, *(at_ms - zero_ms for at_ms in turn.stamps.values()))
    rows = []
    for name, title in STAMP_TITLES.items():
        at_ms = turn.stamps.get(name)
        if at_ms is None:
            rows.append(f'<li class="none"><span>{title}</span><i></i><b>–</b></li>')
            continue
        share = max(0.0, min(100.0, 100 * (at_ms - zero_ms) / longest_ms))
        rows.append(
            f'<li><span>{title}</span><i style="--share:{share:.1f}%"></i><b title="{clock(at_ms)}">{at_ms - zero_ms:+d}</b></li>'
        )
    return f'<ol class="stamps">{"".join(rows)}</ol>'


def _spent(turns: Sequence[Turn]) -> str:
    """Where the time went: each answered turn as one bar of stages, the mean of all on top."""
    rows = [(f"turn {turn.number}", took) for turn in turns if turn.number and (took := stages_of(turn.stamps))]
    if not rows:
        return "<p>No turn has both its ends on record.</p>"
    if len(rows) > 1:
        mean = {stage: round(statistics.mean(took[stage] for _, took in rows)) for stage in rows[0][1]}
        rows.insert(0, ("mean", mean))
    longest_ms = max(1, *(sum(took.values()) for _, took in rows))
    return "".join(
        f'<div class="spent"><span>{name}</span><div>'
        + "".join(
            f'<i class="stage {stage}" style="width:{100 * ms / longest_ms:.2f}%" title="{stage}: {ms} ms"></i>'
            for stage, ms in took.items()
            if ms
        )
        + f"</div><b>{sum(took.values())} ms</b></div>"
        for name, took in rows
    )


def _look(route: str) -> str:
    return ROUTES.get(route, "quiet")
