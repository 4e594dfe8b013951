"""A call's line without sound: what is typed in, what is shown out, as text for people or as JSON lines. Runs no call."""

from __future__ import annotations

import asyncio
import enum
import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import asdict, dataclass, field

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
    Why,
)
from hotline.streams import OutputLost
from hotline.why import in_words
from llm.types import Explained

ANSWER_WITHIN_S = 90.0
_NO_ANSWER_OF_ITS_OWN = {"filler", "rating"}  # said on the way to an answer, or behind a goodbye


@dataclass(slots=True, kw_only=True)
class Exchanged:
    """What one act of the caller led to. key: what was pressed; is_end: they hung up; masked: what was heard of their words."""

    key: str = ""
    is_end: bool = False
    route: str = ""
    masked: str = ""
    answer: str = ""
    sources: tuple[str, ...] = ()
    latency_ms: int | None = None
    explained: Explained | None = None


@dataclass(slots=True, kw_only=True)
class TextLine:
    """A line without sound. show: prints a line; explains: why each answer came out as it did is shown, too.

    lost: why nobody sees any more what is shown. The caller has hung up then, as one does who hears nothing.
    """

    start: CallStart
    show: Callable[[str], None]
    as_json: bool = False
    explains: bool = False
    exchanges: list[Exchanged] = field(default_factory=lambda: [Exchanged()])
    ending: str = ""
    lost: OutputLost | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    _inbox: asyncio.Queue[LineEvent] = field(default_factory=lambda: asyncio.Queue(maxsize=8))
    _quiet: asyncio.Event = field(default_factory=asyncio.Event)
    _route: str = ""  # of the last words
    _why: Why | None = None

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
                self._said(text, route, sources)
                self._print(event, f"  热线  {text}  [{route}{' ' + ','.join(sources) if sources else ''}]")
            case TurnFigures(stamps=stamps):
                exchange.latency_ms = stamps.voice_to_voice_ms
                self._print(event, "")
            case Transfer(reason=reason, ticket=ticket, summary=summary):
                self._print(event, f"  转人工 {reason} 工单 {ticket}\n  摘要  {summary}")
                await self._inbox.put(TransferResult(ticket=ticket, outcome="accepted"))
            case Why(explained=explained):
                exchange.explained, self._why = explained, event
            case Mark(name="end"):
                self._tell_why()
                if self._route != "goodbye":  # more follows: the question for a grade, or the last words
                    self._quiet.set()
            case Ended(reason=reason):
                self._tell_why()
                self.ending = reason
                self._print(event, f"  结束  {reason}")
                self._quiet.set()
                self.over.set()
            case _:
                pass

    async def type(self, event: LineEvent) -> None:
        """The caller's next act."""
        if self.ending:
            return
        if self._is_answered(event):
            self._quiet.clear()
        key = event.digit if isinstance(event, Key) else ""
        self.exchanges.append(Exchanged(key=key, is_end=isinstance(event, HungUp)))
        await self._inbox.put(event)

    async def quiet(self) -> bool:
        """Until the bot has said what it had to say. False: it says nothing."""
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                await self._quiet.wait()
        except TimeoutError:
            return False
        return True

    def tell(self, event: str, told: str, **fields: object) -> None:
        """What is no part of the call: an event of ours, or words for people."""
        self.print(as_json_line(event, **fields) if self.as_json else told)

    def print(self, line: str) -> None:
        """Show one line, as long as somebody sees it: a screen that is gone is no fault of the call."""
        if self.lost is not None:
            return
        try:
            self.show(line)
        except OutputLost as error:
            self.lost = error
            self.hang_up()

    def hang_up(self) -> None:
        """At once, whatever is being said; from a signal handler, too."""
        if not self.ending and not self._inbox.full():
            self.exchanges.append(Exchanged(is_end=True))
            self._inbox.put_nowait(HungUp(reason="caller"))

    def _is_answered(self, event: LineEvent) -> bool:
        """A key means nothing but a person, or a grade where one was asked for."""
        return not isinstance(event, Key) or event.digit == "0" or self._route == "rating"

    def _said(self, text: str, route: str, sources: tuple[str, ...]) -> None:
        exchange, self._route = self.exchanges[-1], route
        exchange.answer += text
        exchange.sources = tuple(dict.fromkeys((*exchange.sources, *sources)))
        exchange.route = route if route not in _NO_ANSWER_OF_ITS_OWN or not exchange.route else exchange.route

    def _tell_why(self) -> None:
        why, self._why = self._why, None
        if why is not None and self.explains:
            self._print(why, "\n".join(in_words(why.explained)))

    def _print(self, event: BotEvent, line: str) -> None:
        if self.as_json:
            self.print(as_json_line(type(event).__name__, **asdict(event)))
        elif line:
            self.print(line)


def as_json_line(event: str, **fields: object) -> str:
    """One event as one line of JSON."""
    return json.dumps({"event": event, **fields}, ensure_ascii=False, default=_value)


def act_of_words(typed: str) -> LineEvent:
    """What a typed line is: words, or `/` and a key."""
    return Key(digit=typed[1]) if is_key(typed) else Typed(text=typed)


def is_key(typed: str) -> bool:
    """`/5`, `/#`: a key press."""
    return len(typed) == len("/5") and typed[0] == "/" and typed[1] in "0123456789*#"


def _value(value: object) -> object:
    return value.value if isinstance(value, enum.Enum) else str(value)
