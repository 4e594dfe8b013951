"""The same call by typing: `hotline text`, or a script with an exit code. Typed words → call → lines on the screen.

Runs the very call code of the telephone, with another source and sink.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import sys
import tempfile
import threading
import uuid
from collections.abc import AsyncGenerator, Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from hotline.compose import open_desk
from hotline.config import Settings
from hotline.handoff.types import MqttSettings
from hotline.lines import (
    BotEvent,
    CallStart,
    Ended,
    HungUp,
    Key,
    LineEvent,
    Mark,
    ReplyText,
    Transcript,
    Transfer,
    TransferResult,
    TurnFigures,
    Typed,
)
from hotline.scripts import CallScript, ScriptStep, load_script, unmet

ANSWER_WITHIN_S = 90.0
_LINES_AHEAD = 64


@dataclass(slots=True, kw_only=True)
class Exchanged:
    """What one step of the caller led to."""

    route: str = ""
    masked: str = ""
    answer: str = ""
    sources: tuple[str, ...] = ()
    latency_ms: int | None = None


@dataclass(slots=True, kw_only=True)
class TextLine:
    """A line without sound. show: prints for people; each `typed` is one turn of the caller, None hangs up."""

    start: CallStart
    show: Callable[[str], None]
    as_json: bool = False
    exchanges: list[Exchanged] = field(default_factory=lambda: [Exchanged()])
    ending: str = ""
    _inbox: asyncio.Queue[LineEvent] = field(default_factory=lambda: asyncio.Queue(maxsize=8))
    _quiet: asyncio.Event = field(default_factory=asyncio.Event)

    async def events(self) -> AsyncGenerator[LineEvent, None]:
        """What was typed, until a hang-up."""
        while True:
            event = await self._inbox.get()
            yield event
            if isinstance(event, HungUp):
                return

    async def send(self, event: BotEvent) -> None:
        """Show one event."""
        exchange = self.exchanges[-1]
        match event:
            case Transcript(masked_text=masked):
                exchange.masked = masked
                self._print(event, f"  听到  {masked}")
            case ReplyText(text=text, route=route, source_ids=sources):
                exchange.answer += text
                exchange.sources = tuple(dict.fromkeys((*exchange.sources, *sources)))
                exchange.route = route if route != "filler" else exchange.route
                self._print(event, f"  热线  {text}  [{route}{' ' + ','.join(sources) if sources else ''}]")
            case TurnFigures(stamps=stamps):
                exchange.latency_ms = stamps.voice_to_voice_ms
                self._print(event, "")
            case Transfer(reason=reason, ticket=ticket, summary=summary):
                self._print(event, f"  转人工 {reason} 工单 {ticket}\n  摘要  {summary}")
                await self._inbox.put(TransferResult(ticket=ticket, outcome="accepted"))
            case Mark(name="end"):
                self._quiet.set()
            case Ended(reason=reason):
                self.ending = reason
                self._print(event, f"  结束  {reason}")
                self._quiet.set()
            case _:
                pass

    async def type(self, event: LineEvent) -> None:
        """The caller's next act."""
        if self.ending:
            return
        if not isinstance(event, Key) or event.digit == "0":  # other keys mean nothing yet: nothing will be said to them
            self._quiet.clear()
        self.exchanges.append(Exchanged())
        await self._inbox.put(event)

    async def quiet(self) -> bool:
        """Until the bot has said what it had to say. False: it says nothing."""
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                await self._quiet.wait()
        except TimeoutError:
            return False
        return True

    def _print(self, event: BotEvent, line: str) -> None:
        if self.as_json:
            self.show(json.dumps({"event": type(event).__name__, **asdict(event)}, ensure_ascii=False))
        elif line:
            self.show(line)


async def text_call(
    settings: Settings, *, script: Path | None = None, as_json: bool = False, show: Callable[[str], None] = print
) -> int:
    """One typed call on this machine, without a server. Returns 0, or 1 when an expectation of the script fails."""
    steps = load_script(script) if script is not None else None
    with tempfile.TemporaryDirectory(prefix="hotline-text-") as folder:
        async with open_desk(_for_practice(settings, folder), audible=False) as desk:
            line = TextLine(start=CallStart(call_id=uuid.uuid4().hex, trunk="text"), show=show, as_json=as_json)
            async with asyncio.TaskGroup() as tasks:
                running = tasks.create_task(desk.answer(line), name="call")
                wrong = await (run_script(line, steps) if steps is not None else run_typed(line))
                await running
    for each in wrong:
        show(json.dumps({"event": "Unmet", "what": each}, ensure_ascii=False) if as_json else f"✗ {each}")
    return 1 if wrong else 0


def _for_practice(settings: Settings, folder: str) -> Settings:
    """A record and a broker of its own: a typed call makes no real ticket, and carries no real offer away."""
    record = replace(settings.record, url=f"sqlite+aiosqlite:///{folder}/record.db")
    return replace(settings, record=record, mqtt=MqttSettings(port=0))


async def run_script(line: TextLine, script: CallScript) -> list[str]:
    """Play a script on a line that a call is running on; what did not come as expected, in words."""
    wrong: list[str] = []
    await line.quiet()
    for number, step in enumerate(script.steps, start=1):
        if line.ending:
            wrong.append(f"step {number}: the call had ended ({line.ending})")
            break
        if not line.as_json:
            line.show(f"  来电  {_told(step)}")
        await line.type(_event_of(step))
        if not await line.quiet():
            wrong.append(f"step {number}: no answer within {ANSWER_WITHIN_S:.0f} s")
            break
        got = line.exchanges[-1]
        missed = unmet(step.expect, route=got.route, answer=got.answer, masked=got.masked, sources=got.sources)
        wrong += [f"step {number}: {each}" for each in missed]
    await _finish(line)
    if script.outcome and line.ending != script.outcome:
        wrong.append(f"outcome {line.ending}, expected {script.outcome}")
    return wrong


async def run_typed(line: TextLine) -> list[str]:
    """Read turns from standard input until its end, `/0` for key 0, `/bye` to hang up."""
    typed: asyncio.Queue[str | None] = asyncio.Queue()
    room = threading.Semaphore(_LINES_AHEAD)
    threading.Thread(target=_read, args=(asyncio.get_running_loop(), typed, room), name="keyboard", daemon=True).start()
    await line.quiet()
    while not line.ending:
        text = await typed.get()
        room.release()
        if text is None or text == "/bye":
            break
        if text.strip():
            await line.type(Key(digit="0") if text == "/0" else Typed(text=text))
            await line.quiet()
    await _finish(line)
    return []


def _read(loop: asyncio.AbstractEventLoop, typed: asyncio.Queue[str | None], room: threading.Semaphore) -> None:
    """Standard input, line by line; bytes that are no UTF-8 are replaced. A thread of its own: nothing can interrupt a read."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    with contextlib.suppress(RuntimeError):  # the call is over, and its loop closed
        for text in sys.stdin:
            room.acquire()
            loop.call_soon_threadsafe(typed.put_nowait, text.rstrip("\n"))
        loop.call_soon_threadsafe(typed.put_nowait, None)


async def _finish(line: TextLine) -> None:
    """Give a transfer or goodbye the moment it needs, then hang up."""
    for _ in range(50):
        if line.ending:
            return
        await asyncio.sleep(0.01)
    await line.type(HungUp(reason="caller"))
    await line.quiet()


def _event_of(step: ScriptStep) -> LineEvent:
    if step.hang_up:
        return HungUp(reason="caller")
    return Key(digit=step.key) if step.key else Typed(text=step.say)


def _told(step: ScriptStep) -> str:
    """Scripts hold invented samples, so their words may be shown."""
    return "（挂机）" if step.hang_up else f"（按键 {step.key}）" if step.key else step.say
