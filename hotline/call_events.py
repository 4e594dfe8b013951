"""What happened on a call, as a client saw it: events with times → lines of JSON and back, turns, a transcript. No audio, no wire.

An event is `{"at_ms": …, "from": "bot" | "caller", "kind": …, …}`; what the bot sent keeps the contract's field names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from hotline.errors import HotlineError

Field = str | int | bool | list[str]

NOT_UNDERSTOOD = "no speech was understood"  # a call of which nothing was heard

STAMP_NAMES = (
    "caller_last_speech_ms",
    "vad_end_ms",
    "turn_decided_ms",
    "asr_final_ms",
    "route_decided_ms",
    "first_token_ms",
    "first_safe_clause_ms",
    "first_tts_audio_ms",
    "first_frame_sent_ms",
)


class EventsWrong(HotlineError):
    """A file of events can't be read. The message names the line, not its content."""

    code = "events.wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEvent:
    """One event. at_ms: since the call was accepted, by the client's clock. side: bot or caller."""

    at_ms: int
    side: str
    kind: str
    fields: Mapping[str, Field] = field(default_factory=lambda: MappingProxyType({}))

    def text(self, name: str) -> str:
        """A field as text; empty where there is none."""
        return str(self.fields.get(name, ""))

    def number(self, name: str) -> int:
        """A field as a whole number; 0 where there is none, or where it isn't one."""
        value = self.fields.get(name, 0)
        return value if isinstance(value, int) else 0

    def to_json(self) -> str:
        """One line."""
        return json.dumps({"at_ms": self.at_ms, "from": self.side, "kind": self.kind, **self.fields}, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a call. number 0: before the caller's first words. said: the bot's clauses. stamps: those that the turn had."""

    number: int
    heard: str = ""
    start_ms: int = 0
    end_ms: int = 0
    said: tuple[str, ...] = ()
    said_at_ms: int = 0
    route: str = ""
    source_ids: tuple[str, ...] = ()
    stamps: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    voice_to_voice_ms: int = 0


def write_events(path: Path, events: Iterable[CallEvent]) -> None:
    """One event a line."""
    path.write_text("".join(event.to_json() + "\n" for event in events), encoding="utf-8")


def read_events(path: Path) -> list[CallEvent]:
    """Events in the file's order. Raises EventsWrong."""
    return [_event(line, number) for number, line in enumerate(_lines(path), 1) if line.strip()]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError:
        raise EventsWrong(f"{path.name} isn't text", what_to_do="name an events.jsonl that `hotline replay` wrote") from None


def _event(line: str, number: int) -> CallEvent:
    try:
        told = json.loads(line)
        at_ms, side, kind = told.pop("at_ms"), told.pop("from"), told.pop("kind")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        told, at_ms, side, kind = {}, None, None, None
    if not (isinstance(at_ms, int) and isinstance(side, str) and isinstance(kind, str)):
        raise EventsWrong(f"line {number} is no event", what_to_do="name an events.jsonl that `hotline replay` wrote")
    return CallEvent(at_ms=at_ms, side=side, kind=kind, fields=MappingProxyType(told))


def turns_of(events: Iterable[CallEvent]) -> list[Turn]:
    """The call's turns in order. What the bot says belongs to the last turn that was heard."""
    turns: dict[int, Turn] = {}
    now = 0
    for event in events:
        match event.kind:
            case "transcript" if event.fields.get("is_final", True):
                now = event.number("turn")
                turns[now] = _heard(turns.get(now) or Turn(number=now), event)
            case "reply_text":
                turns[now] = _said(turns.get(now) or Turn(number=now), event)
            case "turn_metrics":
                number = event.number("turn")
                turns[number] = _measured(turns.get(number) or Turn(number=number), event)
    return [turns[number] for number in sorted(turns)]


def _heard(turn: Turn, event: CallEvent) -> Turn:
    heard = f"{turn.heard} {event.text('masked_text')}".strip()
    return replace(turn, heard=heard, start_ms=turn.start_ms or event.number("start_ms"), end_ms=event.number("end_ms"))


def _said(turn: Turn, event: CallEvent) -> Turn:
    sources = event.fields.get("source_ids", [])
    new = tuple(source for source in sources if source not in turn.source_ids) if isinstance(sources, list) else ()
    route = event.text("route")
    return replace(
        turn,
        said=(*turn.said, event.text("text")),
        said_at_ms=turn.said_at_ms or event.at_ms,
        route=route if not turn.route or turn.route == "filler" else turn.route,
        source_ids=(*turn.source_ids, *new),
    )


def _measured(turn: Turn, event: CallEvent) -> Turn:
    stamps = {name: event.number(name) for name in STAMP_NAMES if event.number(name)}
    route = event.text("route") or turn.route
    return replace(turn, stamps=MappingProxyType(stamps), route=route, voice_to_voice_ms=event.number("voice_to_voice_ms"))


def transcript_of(events: Iterable[CallEvent]) -> str:
    """The call as people read it: who said what, when. Masked, as the server sent it."""
    lines = []
    is_understood = False
    for event in events:
        match event.kind:
            case "transcript" if event.fields.get("is_final", True):
                is_understood = True
                lines.append(f"[{clock(event.at_ms)}] 来电：{event.text('masked_text')}")
            case "reply_text":
                lines.append(f"[{clock(event.at_ms)}] 热线：{event.text('text')}（{event.text('route')}）")
            case "clear":
                lines.append(f"[{clock(event.at_ms)}] ——（{event.text('reason')}）")
            case "transfer":
                lines.append(f"[{clock(event.at_ms)}] —— 转人工 {event.text('target')}（{event.text('reason')}）")
            case "end":
                lines.append(f"[{clock(event.at_ms)}] —— 结束（{event.text('reason')}）")
            case "error":
                lines.append(f"[{clock(event.at_ms)}] —— {event.text('code')}: {event.text('message')}")
    if not is_understood:
        lines.append(f"没有听懂来电者的话（{NOT_UNDERSTOOD}）")
    return "".join(line + "\n" for line in lines)


def clock(at_ms: int) -> str:
    """mm:ss.s."""
    tenths = at_ms // 100
    return f"{tenths // 600:02}:{tenths // 10 % 60:02}.{tenths % 10}"
