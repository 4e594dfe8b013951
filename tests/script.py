"""Caller scripts → finished calls, in virtual time. What a test needs of a call reads as: who says what when, what the bot did."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from asr.types import Slot
from hotline.call import Call
from hotline.lines import BotAudio, BotEvent, CallStart, Clear, LineEvent, ReplyText, Transcript, Transfer, TurnFigures
from hotline.parts import CallSettings, Parts
from hotline.record.types import Offer
from hotline.sound.codec import Codec
from hotline.turns import TurnSettings
from llm.dialogue_acts import is_backchannel
from llm.grade import grade_of
from llm.privacy import join_masked
from llm.types import Clause, Close, HandOver, Mind, Route, Routed, Step
from tests.clock import run_virtually
from tests.fakes import FixedMind, MemoryRecord, Say, ScriptedEar, ScriptedLine, SilentVoice, new_masker

GREETING_MS = 14_000  # the fake voice's greeting, 200 ms a character, has ended by then


def stored(*clauses: str, topic: str = "kb-1", route: Route = Route.HOT) -> tuple[Step, ...]:
    """A stored answer."""
    return (Routed(route=route, confidence=1.0, source_ids=(topic,)), *(Clause(text=clause) for clause in clauses))


def to_person(sentence: str = "好的，正在为您转接。", reason: str = "asked", *, urgent: bool = False) -> tuple[Step, ...]:
    """An answer that ends with a person."""
    route = Route.EMERGENCY if urgent else Route.PERSON
    return (
        Routed(route=route, confidence=1.0),
        Clause(text=sentence, protected=urgent),
        HandOver(reason=reason, urgent=urgent),
    )


def goodbye() -> tuple[Step, ...]:
    return (Routed(route=Route.GOODBYE, confidence=1.0), Clause(text="感谢来电，再见。"), Close())


SOCIAL = "一二三四五六七八。九十甲乙丙丁戊己。庚辛壬癸子丑寅卯。"  # 5.4 s in the fake voice

ANSWERS: dict[str, tuple[Step, ...]] = {
    "人工": to_person(),
    "着火": to_person("请立即拨打119。", "emergency", urgent=True),
    "社保": stored("一二三四五六七八。", "九十甲乙丙丁戊己。", "庚辛壬癸子丑寅卯。"),
    "居住证": stored("到派出所办理。", topic="kb-2"),
    "谢谢": goodbye(),
}


@dataclass
class Outcome:
    """A finished call."""

    reason: str
    call: Call
    line: ScriptedLine
    voice: SilentVoice
    mind: Any
    record: MemoryRecord
    offered: list[int]

    def of(self, kind: type[BotEvent]) -> list[tuple[int, BotEvent]]:
        """What the bot sent of a kind, with times."""
        return [(at_ms, event) for at_ms, event in self.line.sent if isinstance(event, kind)]

    @property
    def texts(self) -> list[str]:
        """What the bot said, clause by clause."""
        return [event.text for _, event in self.line.sent if isinstance(event, ReplyText)]

    @property
    def routes(self) -> list[str]:
        return [event.route for _, event in self.line.sent if isinstance(event, ReplyText)]

    @property
    def heard(self) -> list[str]:
        return [event.masked_text for _, event in self.line.sent if isinstance(event, Transcript)]

    @property
    def transfers(self) -> list[Transfer]:
        return [event for _, event in self.line.sent if isinstance(event, Transfer)]

    @property
    def figures(self) -> list[TurnFigures]:
        return [event for _, event in self.line.sent if isinstance(event, TurnFigures)]

    def audio_between(self, start_ms: int, end_ms: int) -> int:
        """Frames of bot audio sent in that time."""
        return sum(1 for at_ms, event in self.line.sent if isinstance(event, BotAudio) and start_ms <= at_ms < end_ms)

    def cleared(self, reason: str) -> list[int]:
        return [at_ms for at_ms, event in self.line.sent if isinstance(event, Clear) and event.reason == reason]

    def first_frame_after(self, at_ms: int) -> int:
        """When bot audio came again."""
        return next(sent_ms for sent_ms, event in self.line.sent if isinstance(event, BotAudio) and sent_ms >= at_ms)


@dataclass
class Caller:
    """A call's script. typed: a text-only call."""

    says: tuple[Say, ...] = ()
    does: tuple[tuple[int, LineEvent], ...] = ()
    ends_at_ms: int = 120_000
    answers: dict[str, tuple[Step, ...]] = field(default_factory=lambda: dict(ANSWERS))
    voice: SilentVoice = field(default_factory=SilentVoice)
    record: MemoryRecord = field(default_factory=MemoryRecord)
    turns: TurnSettings = field(default_factory=TurnSettings)
    think_ms: int = 5
    typed: bool = False
    ears: list[ScriptedEar] = field(default_factory=list)
    unrecorded: list[Offer] = field(default_factory=list)
    mind: Mind | None = None
    overloaded: bool = False
    call_id: str = "c-1"
    ear: Any = None

    def call(self) -> Outcome:
        """Run the call to its end."""
        return run_virtually(self._call())

    def call_with_ear(self, ear: object) -> Outcome:
        """The same, with another ear."""
        self.ear = ear
        return self.call()

    async def _call(self) -> Outcome:
        outcome = await self.live()
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert not left, f"tasks left behind: {left}"
        return outcome

    async def live(self) -> Outcome:
        """The call, in whatever loop runs."""
        codec = None if self.typed else Codec.PCMA
        line = ScriptedLine(start=CallStart(call_id=self.call_id, codec=codec), does=self.does, ends_at_ms=self.ends_at_ms)
        line.began_s = asyncio.get_running_loop().time()
        mind = self.mind or FixedMind(answers=self.answers, think_ms=self.think_ms)
        offered: list[int] = []

        def hear(start: CallStart, now_ms: object) -> Any:  # noqa: ANN401  an ear of the test
            if self.ear is not None:
                return self.ear
            ear = ScriptedEar(says=self.says, now_ms=now_ms)  # type: ignore[arg-type]
            self.ears.append(ear)
            return ear

        parts = Parts(
            mind=mind,
            new_masker=new_masker,
            join=join_masked,
            is_backchannel=is_backchannel,
            grade_of=grade_of,
            record=self.record,
            offered=lambda: offered.append(line.sent[-1][0] if line.sent else 0),
            unrecorded=self.unrecorded.append,
            speech=self.voice,
            hear=hear,
        )
        call = Call(line, parts, CallSettings(turns=self.turns), overloaded=self.overloaded)
        reason = await call.run()
        return Outcome(reason=reason, call=call, line=line, voice=self.voice, mind=mind, record=self.record, offered=offered)

    def expected_slots(self) -> list[Slot]:
        return self.ears[0].slots
