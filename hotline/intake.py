"""Everything that reaches a call: line events and heard speech → news for the converse task. Raw words end here, in the masker.

Knows neither turns nor answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import assert_never

import structlog

from asr.types import AudioPacket, Heard, HearingError, Slot, SpeechEnded, SpeechEvent, SpeechGoing, SpeechStarted, Unclear
from hotline import metrics
from hotline.clock import CallClock
from hotline.errors import explain
from hotline.lines import HungUp, Key, Line, LineHeld, LineResumed, MarkPlayed, MediaStats, TransferResult, Trouble, Typed
from hotline.news import Inbox, News
from hotline.parts import Hearing
from hotline.turn_events import (
    CallerBegan,
    CallerEnded,
    CallerGoes,
    Failed,
    Gone,
    HoldBegan,
    HoldEnded,
    KeyPressed,
    Missed,
    PersonAsked,
    Said,
    TransferEnded,
)
from llm.types import Masker, Personal

log = structlog.get_logger()

_PACKETS_KEPT = 250  # 5 s of line audio
_MAX_TYPED = 4000
_TYPED_MS = 1000  # typed text counts as a second of speech
_SLOTS = {Personal.MOBILE: Slot.MOBILE, Personal.ID_CARD: Slot.ID_CARD}


@dataclass(slots=True, kw_only=True)
class Intake:
    """One call's intake. ear None: typed words only. asked_for: the personal data asked for just now."""

    line: Line
    clock: CallClock
    inbox: Inbox
    ear: Hearing | None
    masker: Masker
    is_backchannel: Callable[[str], bool]
    grade_of: Callable[[str], int | None]
    near_edge: Callable[[], bool]
    mark_played: Callable[[int, str], None]
    asked_for: Personal | None = None
    dropped_packets: int = 0
    _packets: asyncio.Queue[AudioPacket | None] = field(default_factory=lambda: asyncio.Queue(maxsize=_PACKETS_KEPT))

    async def listen(self) -> None:
        """What comes from the line, for as long as it does."""
        reason = "line_broken"
        async with aclosing(self.line.events()) as events:
            async for event in events:
                if isinstance(event, AudioPacket):
                    self._take(event)
                elif isinstance(event, HungUp):
                    log.info("hung_up", why=event.reason)
                    reason = "hangup"
                    break
                else:
                    await self._take_event(event)
        if self._packets.full():
            self._packets.get_nowait()
        self._packets.put_nowait(None)
        await self.inbox.put(News(event=Gone(at_ms=self.clock.now_ms(), reason=reason)))

    def expect(self, kind: Personal | None) -> None:
        """What the caller was asked to dictate, if anything: it is listened to with patience, and the masker fails closed."""
        self.asked_for = kind
        if self.ear is not None:
            self.ear.expect(Slot.NONE if kind is None else _SLOTS.get(kind, Slot.NUMBER))

    async def hear(self) -> None:
        """The caller's sound becomes speech events. A line that can't be understood at all is told to both sides."""
        if self.ear is None:
            return
        try:
            await self.ear.run(self._audio(), self._on_speech)
        except* HearingError as group:
            error = explain(group)
            log.warning("hearing_failed", code=error.code)
            await self.line.send(Trouble(code=error.code, message=error.message, what_to_do=error.what_to_do))
            self.inbox.post(News(event=Failed(at_ms=self.clock.now_ms(), deaf=True)))

    # ------------------------------------------------------------ line events

    def _take(self, packet: AudioPacket) -> None:
        if self._packets.full():  # the ear is behind: the oldest goes, and the ear sees a gap
            self._packets.get_nowait()
            self.dropped_packets += 1
        self._packets.put_nowait(packet)

    async def _audio(self) -> AsyncGenerator[AudioPacket, None]:
        while (packet := await self._packets.get()) is not None:
            yield packet

    async def _take_event(self, event: Typed | Key | MarkPlayed | LineHeld | LineResumed | TransferResult | MediaStats) -> None:
        at_ms = self.clock.now_ms()
        match event:
            case Typed(text=raw):
                text = raw[:_MAX_TYPED].encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is no text
                words = self.masker.mask(text, asked_for=self.asked_for)
                if words.text.strip():
                    said = Said(at_ms=at_ms, backchannel=self.is_backchannel(words.text), grade=self.grade_of(words.text))
                    await self.inbox.put(News(event=said, words=words))
                else:  # control characters and the like
                    await self.inbox.put(News(event=Missed(at_ms=at_ms, voiced_ms=_TYPED_MS)))
            case Key(digit="0"):
                await self.inbox.put(News(event=PersonAsked(at_ms=at_ms)))
            case Key(digit=digit):
                await self.inbox.put(News(event=KeyPressed(at_ms=at_ms, digit=digit)))
            case MarkPlayed(reply_id=reply_id, name=name):
                self.mark_played(reply_id, name)
            case LineHeld():
                await self.inbox.put(News(event=HoldBegan(at_ms=at_ms)))
            case LineResumed():
                await self.inbox.put(News(event=HoldEnded(at_ms=at_ms)))
            case TransferResult(outcome=outcome):
                await self.inbox.put(News(event=TransferEnded(at_ms=at_ms, accepted=outcome == "accepted")))
            case MediaStats():
                log.debug("line_event", kind=type(event).__name__)
            case _:
                assert_never(event)

    # ------------------------------------------------------------ speech events

    def _on_speech(self, event: SpeechEvent) -> None:
        match event:
            case SpeechStarted(at_ms=at_ms, start_ms=start_ms):
                self.inbox.post(News(event=CallerBegan(at_ms=at_ms, start_ms=start_ms)))
            case SpeechGoing(at_ms=at_ms, voiced_ms=voiced_ms):
                self.inbox.post(News(event=CallerGoes(at_ms=at_ms, voiced_ms=voiced_ms, edge=self.near_edge())))
            case SpeechEnded(at_ms=at_ms):
                self.inbox.post(News(event=CallerEnded(at_ms=at_ms)))
            case Heard(at_ms=at_ms, text=raw, ended=ended):
                words = self.masker.mask(raw, asked_for=self.asked_for)
                backchannel, grade = self.is_backchannel(words.text), self.grade_of(words.text)
                said = Said(at_ms=at_ms, backchannel=backchannel, ended_ms=ended.at_ms, grade=grade)
                self.inbox.post(News(event=said, words=words, ended=ended))
            case Unclear(at_ms=at_ms, reason=reason, ended=ended):
                log.info("unclear", rule=reason)
                metrics.REFUSED.of(reason).inc()
                voiced_ms = ended.last_speech_ms - ended.start_ms
                missed = Missed(at_ms=at_ms, voiced_ms=voiced_ms, broken=reason.startswith("asr."), ended_ms=ended.at_ms)
                self.inbox.post(News(event=missed, ended=ended))
            case _:
                assert_never(event)
