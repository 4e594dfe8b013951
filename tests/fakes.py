"""Small fakes beside the contracts: a scripted ear and line, a voice of silence, a mind of fixed answers, a record in memory."""

import asyncio
import datetime as dt
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

import numpy as np

from asr.types import AudioPacket, Heard, Slot, SpeechEnded, SpeechEvent, SpeechGoing, SpeechStarted, Unclear
from hotline.lines import BotEvent, CallStart, LineEvent
from hotline.record.types import CallOpened, Offer, RecordUnavailable, TurnDone
from llm.privacy import CallMasker
from llm.types import Clause, Dialogue, MaskedText, Route, Routed, Step
from tts.types import Spoken, VoiceFailed

MS_A_CHARACTER = 200
WINDOW_MS = 32


@dataclass(frozen=True, kw_only=True)
class Say:
    """The caller makes a sound. text "": nothing to recognise (a cough). ms: how long; decode_ms: the recogniser's work."""

    at_ms: int
    text: str
    ms: int = 800
    silence_ms: int = 500
    decode_ms: int = 100
    broken: bool = False


@dataclass
class ScriptedEar:
    """Speech events by script."""

    says: tuple[Say, ...]
    now_ms: Callable[[], int]
    slots: list[Slot] = field(default_factory=list)

    async def run(self, packets: AsyncGenerator[AudioPacket, None], emit: Callable[[SpeechEvent], None]) -> None:
        async with asyncio.TaskGroup() as tasks:
            for say in self.says:
                tasks.create_task(self._say(say, emit))

    async def _say(self, say: Say, emit: Callable[[SpeechEvent], None]) -> None:
        await self._until(say.at_ms + 96)
        emit(SpeechStarted(at_ms=self.now_ms(), start_ms=say.at_ms))
        for voiced_ms in range(96, say.ms, WINDOW_MS):
            await self._until(say.at_ms + voiced_ms)
            emit(SpeechGoing(at_ms=self.now_ms(), voiced_ms=voiced_ms))
        end_ms = say.at_ms + say.ms
        await self._until(end_ms + say.silence_ms)
        ended = SpeechEnded(at_ms=self.now_ms(), start_ms=say.at_ms, last_speech_ms=end_ms, vad_end_ms=end_ms + 200)
        emit(ended)
        await self._until(end_ms + say.silence_ms + say.decode_ms)
        if say.text:
            emit(Heard(at_ms=self.now_ms(), text=say.text, ended=ended, confidence=0.9))
        else:
            reason = "asr.recogniser_failed" if say.broken else "no_speech"
            emit(Unclear(at_ms=self.now_ms(), reason=reason, ended=ended))

    async def _until(self, at_ms: int) -> None:
        await asyncio.sleep(max(0, at_ms - self.now_ms()) / 1000)

    def expect(self, slot: Slot) -> None:
        self.slots.append(slot)


@dataclass
class ScriptedLine:
    """Line events by script; keeps what the bot sent, with the call's time."""

    start: CallStart
    does: tuple[tuple[int, LineEvent], ...] = ()
    ends_at_ms: int = 120_000
    sent: list[tuple[int, BotEvent]] = field(default_factory=list)
    began_s: float = 0.0

    async def events(self) -> AsyncGenerator[LineEvent, None]:
        loop = asyncio.get_running_loop()
        for at_ms, event in sorted(self.does, key=lambda pair: pair[0]):
            await asyncio.sleep(max(0.0, self.began_s + at_ms / 1000 - loop.time()))
            yield event
        await asyncio.sleep(max(0.0, self.began_s + self.ends_at_ms / 1000 - loop.time()))

    async def send(self, event: BotEvent) -> None:
        self.sent.append((round((asyncio.get_running_loop().time() - self.began_s) * 1000), event))


@dataclass
class SilentVoice:
    """Takes synthesis_ms, gives 200 ms of nothing a character. breaks: fails from the n-th clause on."""

    synthesis_ms: int = 50
    breaks: int | None = None
    spoken: list[str] = field(default_factory=list)
    slowly: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)

    async def speak(self, text: str, *, cacheable: bool = True, slow: bool = False) -> Spoken:
        if self.breaks is not None and len(self.spoken) >= self.breaks:
            raise VoiceFailed("the voice is broken")
        try:
            await asyncio.sleep(self.synthesis_ms / 1000)
        except asyncio.CancelledError:
            self.cancelled.append(text)
            raise
        self.spoken.append(text)
        if slow:
            self.slowly.append(text)
        samples = np.full(len(text) * MS_A_CHARACTER * 8, 0.1, np.float32)
        return Spoken(samples=samples, rate_hz=8000, cached=False)


@dataclass
class FixedMind:
    """Steps by the words that a question holds. An unknown question is clarified."""

    answers: dict[str, tuple[Step, ...]]
    think_ms: int = 5
    asked: list[tuple[str, Dialogue]] = field(default_factory=list)
    closed: int = 0

    async def answer(self, question: MaskedText, dialogue: Dialogue) -> AsyncGenerator[Step, None]:
        self.asked.append((question.text, dialogue))
        try:
            await asyncio.sleep(self.think_ms / 1000)
            for word, steps in self.answers.items():
                if word in question.text:
                    for step in steps:
                        yield step
                    return
            yield Routed(route=Route.CLARIFY, confidence=0.1)
            yield Clause(text="您想问什么？")
        finally:
            self.closed += 1


@dataclass
class EndlessMind:
    """Generates the same clause for ever."""

    clause: str
    every_ms: int
    asked: list[tuple[str, Dialogue]] = field(default_factory=list)
    stopped_at_ms: list[int] = field(default_factory=list)

    async def answer(self, question: MaskedText, dialogue: Dialogue) -> AsyncGenerator[Step, None]:
        self.asked.append((question.text, dialogue))
        try:
            yield Routed(route=Route.GENERATED, confidence=0.9)
            while True:
                await asyncio.sleep(self.every_ms / 1000)
                yield Clause(text=self.clause)
        finally:
            self.stopped_at_ms.append(round(asyncio.get_running_loop().time() * 1000))


@dataclass
class MemoryRecord:
    """The record, in memory. broken: every write fails."""

    broken: bool = False
    opened: list[CallOpened] = field(default_factory=list)
    turns: list[TurnDone] = field(default_factory=list)
    offers: list[Offer] = field(default_factory=list)
    ratings: list[tuple[str, int, str]] = field(default_factory=list)
    ended: list[tuple[str, str]] = field(default_factory=list)

    async def call_opened(self, call: CallOpened) -> None:
        self._check()
        self.opened.append(call)

    async def turn_done(self, turn: TurnDone) -> None:
        self._check()
        self.turns.append(turn)

    async def call_rated(self, call_id: str, grade: int, how: str) -> None:
        self._check()
        self.ratings.append((call_id, grade, how))

    async def call_ended(self, call_id: str, reason: str, ended_at: dt.datetime) -> None:
        self._check()
        self.ended.append((call_id, reason))

    async def next_ticket(self, tenant: str) -> str:
        self._check()
        return "2612010001"

    async def hand_over(self, offer: Offer) -> None:
        self._check()
        self.offers.append(offer)

    def _check(self) -> None:
        if self.broken:
            raise RecordUnavailable("no database")


def new_masker() -> CallMasker:
    return CallMasker(mask_budget_ms=2_000)  # a busy machine must not change what a script expects
