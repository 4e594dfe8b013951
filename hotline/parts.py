"""What a call is put together from: contracts of its collaborators, its settings and its fixed sentences. No implementation."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, fields
from typing import Protocol

from asr.types import AudioPacket, Slot, SpeechEvent
from hotline.lines import CallStart
from hotline.record.types import CallOpened, Offer, TurnDone
from hotline.turns import TurnSettings
from llm.types import MaskedText, Masker, Mind
from tts.types import Spoken


class Hearing(Protocol):
    """One call's ear."""

    async def run(self, packets: AsyncGenerator[AudioPacket, None], emit: Callable[[SpeechEvent], None]) -> None:
        """Hear until the packets end. Raises HearingError when the line can't be understood at all."""
        ...

    def expect(self, slot: Slot) -> None:
        """What the caller was asked to dictate."""
        ...


class Speaking(Protocol):
    """The shared voice."""

    async def speak(self, text: str, *, cacheable: bool = True, slow: bool = False) -> Spoken:
        """Audio of one clause at the line's rate. slow: for who may not have followed. Raises SpeakingError."""
        ...


class Recorder(Protocol):
    """The record. Every method may raise RecordError; a call goes on without its record rather than fall silent."""

    async def call_opened(self, call: CallOpened) -> None: ...
    async def turn_done(self, turn: TurnDone) -> None: ...
    async def call_rated(self, call_id: str, grade: int, how: str) -> None: ...
    async def call_ended(self, call_id: str, reason: str, ended_at: dt.datetime) -> None: ...
    async def next_ticket(self, tenant: str) -> str: ...
    async def hand_over(self, offer: Offer) -> None: ...


_GIVE_UP = {
    "asked": "好的，正在为您转接人工，请稍候。",
    "unclear": "抱歉，我还是没能听清，现在为您转接人工，请不要挂机。",
    "silence": "我一直没有听到您的声音，现在为您转接人工，请稍候。",
    "failure": "抱歉，系统出了点问题，马上为您转接人工，请不要挂机。",
    "time_up": "通话时间已到，现在为您转接人工继续处理，请不要挂机。",
    "overload": "您好，这里是样例市政务服务热线，我是人工智能语音助手。当前来电较多，正在为您转接人工排队，请不要挂机。",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """Fixed sentences of a call. The label says that a machine speaks: required in China since 2025-09-01.

    give_up: by the reason of the hand-over; a reason that is left out keeps its sentence. {ticket} in transfer_failed_again: the
    number of the work order, where there is one.
    """

    label: str = "您好，这里是样例市政务服务热线，我是人工智能语音助手。"
    notice: str = "为保证服务质量，本次通话将被录音。"
    offer: str = "请直接说出您的问题，需要人工服务，请随时说转人工。"
    reprompts: tuple[str, ...] = (
        "您好，请问您还在吗？不着急，您慢慢说。",
        "我没有听到您的声音。您可以直接说问题，也可以说转人工。",
    )
    not_understood: tuple[str, ...] = ("抱歉，我没有听清，请您再说一遍。", "不好意思，还是没有听清，请您靠近话筒，慢一点再说一遍。")
    filler: str = "请稍等，我查一下。"
    overload_failed: str = "抱歉，人工坐席暂时没有接通。您的来电已经登记，请稍后再拨。再见。"
    transfer_failed: str = "抱歉，人工坐席暂时没有接通。您的诉求已经登记，请稍后再拨。请问还有别的可以帮您吗？"
    transfer_failed_again: tuple[str, ...] = (
        "抱歉，还是没有坐席能接听，耽误您了。您的诉求已经登记，{ticket}您可以稍后再拨，也可以现在问我别的。",
        "实在抱歉，坐席仍然没有接通。登记的诉求会保留，{ticket}您可以换个时间再拨，或者先把问题告诉我。",
    )
    asked_again: tuple[str, ...] = (
        "好的，我再为您接一次人工，请您稍等，不要挂机。",
        "好的，这就再试着为您接通人工坐席，请您不要挂机。",
    )
    rate: str = "请您对本次服务作出评价：非常满意请按5，满意请按4，基本满意请按3，不满意请按2，非常不满意请按1，也可以直接说。"
    rate_again: str = "没有听清您的评价。请按1到5之间的一个键，5是非常满意，1是非常不满意；不评价可以直接挂机。"
    rated: str = "感谢您的评价，再见。"
    farewell: str = "祝您生活愉快，再见。"
    give_up: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what would be silence, and fill in what was left out."""
        if unknown := sorted(self.give_up.keys() - _GIVE_UP.keys()):
            raise ValueError(f"give_up: {', '.join(unknown)}: no such reason (known: {', '.join(_GIVE_UP)})")
        object.__setattr__(self, "give_up", _GIVE_UP | self.give_up)
        for each in fields(self):
            value = getattr(self, each.name)
            sentences = value.values() if isinstance(value, dict) else (value,) if isinstance(value, str) else value
            if not sentences or not all(sentence.strip() for sentence in sentences):
                raise ValueError(f"{each.name} must say something")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """A call's patience, its sentences, and where people are. Times of bounded waits in ms."""

    turns: TurnSettings = field(default_factory=TurnSettings)
    phrases: Phrases = field(default_factory=Phrases)
    person_target: str = "queue:general"
    run_ahead_ms: int = 6000
    record_limit_ms: int = 2000
    send_limit_ms: int = 5000
    history_turns: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A call's collaborators. hear None or a start without codec: a text-only call. join: several masked turns as one question.

    grade_of: what words say as a grade of the call, 1 to 5; 0: none is given; None: they say nothing of the kind.
    """

    mind: Mind
    new_masker: Callable[[], Masker]
    join: Callable[[list[MaskedText]], MaskedText]
    is_backchannel: Callable[[str], bool]
    grade_of: Callable[[str], int | None]
    record: Recorder
    offered: Callable[[], None]
    unrecorded: Callable[[Offer], None]
    speech: Speaking | None = None
    hear: Callable[[CallStart, Callable[[], int]], Hearing] | None = None
