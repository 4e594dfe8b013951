"""The same call by typing: `hotline text`, or scripts with an exit code. Typed words → call → lines on the screen.

Runs the very call code of the telephone, with another source and sink.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import signal
import sys
import tempfile
import threading
import uuid
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from hotline import text_line
from hotline.compose import Desk, open_desk
from hotline.config import Settings
from hotline.errors import HotlineError
from hotline.handoff.types import MqttSettings
from hotline.lines import CallStart, HungUp, Key, LineEvent, Typed
from hotline.recorded_script import script_text
from hotline.scripts import CallScript, ScriptStep, load_script, load_scripts, unmet
from hotline.text_line import Exchanged, TextLine, act_of_words, is_key
from hotline.why import in_words

__all__ = ["Exchanged", "TextLine", "run_script", "run_typed", "text_call"]

INTERRUPTED = 130
_LINES_AHEAD = 64
_GRACE_S = 0.5
_NO_WHY = "  为何  上一轮没有经过判断（问候、按键，或还没有说话）"
_PROMPT = "来电> "
_HELP = """  直接打字就是来电者说的话。另有：
    /0 … /9 /* /#   按键：0 转人工；问到评价时 1 到 5 是评价
    /why            上一轮为何这样答
    /bye            挂机（Ctrl-D、Ctrl-C 也是）
    /help           这张单子"""


class RecordingTaken(HotlineError):
    """There is a file already where a recording should go."""

    code = "text.recording_taken"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """How a typed call is run and shown. scripts: files or folders, none: somebody types. record: where to write a script of it."""

    scripts: Sequence[Path] = ()
    as_json: bool = False
    explains: bool = False
    record: Path | None = None


async def text_call(
    settings: Settings,
    options: TextOptions | None = None,
    *,
    show: Callable[[str], None] = print,
    tell: Callable[[str], None] = lambda _: None,
) -> int:
    """Typed calls on this machine, without a server. 0; 1 when an expectation fails; 130 when interrupted. tell: of the start."""
    options = options or TextOptions()
    scripts = load_scripts(options.scripts)
    if options.record is not None and options.record.exists():
        raise RecordingTaken(f"{options.record} exists", what_to_do="name another file with --record, or remove it")
    started = threading.Event()

    def tell_start(step: str) -> None:
        if not started.is_set():  # what goes on beside the call is not told between its lines
            tell(step)

    with tempfile.TemporaryDirectory(prefix="hotline-text-") as folder:
        async with open_desk(_for_practice(settings, folder), audible=False, tell=tell_start) as desk:
            started.set()
            table = _Table(desk=desk.explaining(), options=options, show=show)
            return await (table.play(scripts) if scripts else table.type())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A desk to practise at."""

    desk: Desk
    options: TextOptions
    show: Callable[[str], None]

    async def play(self, scripts: Sequence[tuple[Path, CallScript]]) -> int:
        """Every script, each in a call of its own."""
        failed = 0
        for path, script in scripts:
            if len(scripts) > 1:
                self._tell("Script", f"■ {script.title}（{path}）", file=str(path), title=script.title)
            wrong = await self._call(self._line(), partial(run_script, script=script))
            self._tell_unmet(wrong)
            failed += bool(wrong)
        if len(scripts) > 1:
            told = f"{len(scripts)} 个脚本，{len(scripts) - failed} 个通过"
            self._tell("Result", told, scripts=len(scripts), failed=failed)
        return 1 if failed else 0

    async def type(self) -> int:
        """One call that somebody types."""
        line, interrupted = self._line(), asyncio.Event()
        with _interrupts(line, interrupted):
            await self._call(line, run_typed)
        if self.options.record is not None and len(line.exchanges) > 1:
            return await self._record(line, self.options.record)
        return INTERRUPTED if interrupted.is_set() else 0

    async def _record(self, line: TextLine, path: Path) -> int:
        """Write the script, and play it at once: it must do what it says."""
        text = script_text(path.stem, line.exchanges, line.ending, self.desk.parts.new_masker)
        await asyncio.to_thread(_write, path, text)
        self._tell("Recorded", f"  脚本  {path}", file=str(path))
        script = await asyncio.to_thread(load_script, path)
        again = TextLine(start=self._start(), show=lambda _: None)
        wrong = await self._call(again, partial(run_script, script=script))
        self._tell_unmet(wrong)
        return 1 if wrong else 0

    async def _call(self, line: TextLine, run: Callable[[TextLine], Awaitable[list[str]]]) -> list[str]:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self.desk.answer(line), name="call")
            wrong = await run(line)
            await running
        if line.lost is not None:
            raise line.lost
        return wrong

    def _line(self) -> TextLine:
        return TextLine(start=self._start(), show=self.show, as_json=self.options.as_json, explains=self.options.explains)

    def _start(self) -> CallStart:
        return CallStart(call_id=uuid.uuid4().hex, trunk="text")

    def _tell_unmet(self, wrong: Sequence[str]) -> None:
        for each in wrong:
            self._tell("Unmet", f"✗ {each}", what=each)

    def _tell(self, event: str, told: str, **fields: object) -> None:
        self._line().tell(event, told, **fields)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


async def run_script(line: TextLine, script: CallScript) -> list[str]:
    """Play a script on a line that a call is running on; what did not come as expected, in words."""
    wrong: list[str] = []
    await line.quiet()
    for number, step in enumerate(script.steps, start=1):
        if line.ending:
            wrong.append(f"step {number}: the call had ended ({line.ending})")
            break
        if not line.as_json:
            line.print(f"  来电  {_told(step)}")
        await line.type(_event_of(step))
        if not await line.quiet():
            wrong.append(f"step {number}: no answer within {text_line.ANSWER_WITHIN_S:.0f} s")
            break
        got = line.exchanges[-1]
        missed = unmet(step.expect, route=got.route, answer=got.answer, masked=got.masked, sources=got.sources)
        wrong += [f"step {number}: {each}" for each in missed]
    await _finish(line)
    if script.outcome and line.ending != script.outcome:
        wrong.append(f"outcome {line.ending}, expected {script.outcome}")
    return wrong


async def run_typed(line: TextLine) -> list[str]:
    """Read turns from standard input, until its end or the call's. Nothing is expected, so nothing is wrong."""
    typed: asyncio.Queue[str | None] = asyncio.Queue()
    room = threading.Semaphore(_LINES_AHEAD)
    threading.Thread(target=_read, args=(asyncio.get_running_loop(), typed, room), name="keyboard", daemon=True).start()
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(_tell_end(line, typed), name="end")
        await line.quiet()
        while not line.ending:
            _prompt(line)
            text = await typed.get()
            room.release()
            if text is None or text == "/bye":
                break
            await _take(line, text.strip())
        await _finish(line)
        watching.cancel()
    return []


async def _take(line: TextLine, text: str) -> None:
    """One typed line: a command of ours, or the caller's act."""
    match text:
        case "":
            return
        case "/help":
            line.tell("Help", _HELP, text=_HELP)
        case "/why":
            last = line.exchanges[-1].explained
            words = "\n".join(in_words(last)) if last is not None else _NO_WHY
            line.tell("Why", words, explained=asdict(last) if last is not None else None)
        case _ if text.startswith("/") and not is_key(text):
            line.tell("UnknownCommand", "  没有这个命令；/help 看有哪些")
        case _:
            await line.type(act_of_words(text))
            await line.quiet()


async def _tell_end(line: TextLine, typed: asyncio.Queue[str | None]) -> None:
    """Whoever waits for the keyboard learns that the call is over."""
    await line.over.wait()
    typed.put_nowait(None)


@contextlib.contextmanager
def _interrupts(line: TextLine, interrupted: asyncio.Event) -> Generator[None, None, None]:
    """Ctrl-C hangs up, and the call ends as calls do; the second one ends the program."""
    loop = asyncio.get_running_loop()

    def hang_up() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        interrupted.set()
        line.hang_up()

    try:
        loop.add_signal_handler(signal.SIGINT, hang_up)
    except (NotImplementedError, RuntimeError, ValueError):  # another system, or no main thread: then it is as ever
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _prompt(line: TextLine) -> None:
    if not line.as_json and sys.stdin.isatty():
        sys.stdout.write(_PROMPT)
        sys.stdout.flush()


def _read(loop: asyncio.AbstractEventLoop, typed: asyncio.Queue[str | None], room: threading.Semaphore) -> None:
    """Standard input, line by line; bytes that are no UTF-8 are replaced. A thread of its own: nothing can interrupt a read."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    with contextlib.suppress(RuntimeError):  # the call is over, and its loop closed
        with contextlib.suppress(OSError):  # can't be read, or not any more: as good as its end
            for text in sys.stdin:
                room.acquire()
                loop.call_soon_threadsafe(typed.put_nowait, text.rstrip("\n"))
        loop.call_soon_threadsafe(typed.put_nowait, None)


async def _finish(line: TextLine) -> None:
    """Give a transfer or goodbye the moment it needs, then hang up."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_GRACE_S):
            await line.over.wait()
    await line.type(HungUp(reason="caller"))
    await line.quiet()


def _for_practice(settings: Settings, folder: str) -> Settings:
    """A record and a broker of its own: a typed call makes no real ticket, and carries no real offer away."""
    record = replace(settings.record, url=f"sqlite+aiosqlite:///{folder}/record.db")
    return replace(settings, record=record, mqtt=MqttSettings(port=0))


def _event_of(step: ScriptStep) -> LineEvent:
    if step.hang_up:
        return HungUp(reason="caller")
    return Key(digit=step.key) if step.key else Typed(text=step.say)


def _told(step: ScriptStep) -> str:
    """Scripts hold invented samples, so their words may be shown."""
    return "（挂机）" if step.hang_up else f"（按键 {step.key}）" if step.key else step.say
