"""A call in this process on a clock that jumps: hours in seconds, decisions as at the speed of speech, streams without gRPC."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import grpc.aio
import numpy as np
import pytest
from desk_for_tests import ScriptedDesk
from test_replay import TONE, TalkingDesk

from asr.pool import DecodeJob
from asr.rehearsal import DECODE_MS, DECODE_MS_A_SECOND, RehearsalPool
from asr.types import Decoded, DecodeHints, HearingSettings, Pcm, Priority
from hotline.caller_leg import CallerLeg, LegReport, LegSettings
from hotline.config import Settings
from hotline.lines import HungUp, MarkPlayed
from hotline.recordings.plain import RawFormat
from hotline.replay import ReplaySettings
from hotline.replay_fast import HeldMind, HeldSpeech, LocalStub, held_record, replay_fast
from hotline.server import HotlineService, ServerSettings
from hotline.sound.codec import Codec
from hotline.v1 import hotline_pb2 as pb
from hotline.virtual_loop import VirtualLoop, run_virtually
from llm.types import Clause, Dialogue, MaskedText, Step
from tests.fakes import MemoryRecord, new_masker
from tests.fakes_hearing import ScriptedRecogniser
from tts.types import Spoken

T = TypeVar("T")


def virtually(work: Callable[[VirtualLoop], Coroutine[Any, Any, T]]) -> T:
    """With the clock jumping from the start."""

    async def going() -> T:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.go()
        return await work(loop)

    return run_virtually(going())


async def call(desk: ScriptedDesk, act: Callable[[CallerLeg], Coroutine[Any, Any, None]], *, ready: bool = True) -> LegReport:
    async with asyncio.TaskGroup() as tasks:
        service = HotlineService(desk, ServerSettings(), tasks)
        service.ready = ready
        leg = CallerLeg(LocalStub(service, tasks), LegSettings())  # type: ignore[arg-type]
        running = tasks.create_task(leg.run())
        await act(leg)
        return await running


def test_ten_minutes_on_the_line_take_seconds_and_no_frame_is_missing() -> None:
    desk = TalkingDesk()
    desk.transfer_after_ms = -1

    async def wait(leg: CallerLeg) -> None:
        leg.say(np.tile(TONE, 50))
        await leg.until(lambda: leg.now_ms >= 600_000)
        leg.hang_up()

    report = virtually(lambda _: call(desk, wait))
    assert report.reason == "hangup"
    assert report.duration_ms == pytest.approx(600_000, abs=40)
    assert desk.packets == list(range(len(desk.packets)))
    assert desk.seen == [MarkPlayed(reply_id=1, name="end"), HungUp(reason="caller")]


def test_a_transfer_ends_the_call_as_over_grpc() -> None:
    desk = TalkingDesk()

    async def wait(leg: CallerLeg) -> None:
        await leg.until(lambda: False)

    report = virtually(lambda _: call(desk, wait))
    assert report.reason == "transferred"
    assert desk.endings == ["transferred"]


def test_who_is_not_taken_is_told_why() -> None:
    async def wait(leg: CallerLeg) -> None:
        await leg.until(lambda: False)

    report = virtually(lambda _: call(ScriptedDesk(), wait, ready=False))
    assert report.reason == "broken"
    assert "server.not_ready" in report.error


def test_a_call_that_breaks_is_told_without_its_words() -> None:
    async def break_it(leg: CallerLeg) -> None:
        leg.type("坏")
        await leg.until(lambda: False)

    report = virtually(lambda _: call(ScriptedDesk(), break_it))
    assert report.error.startswith("INTERNAL")
    assert "13800138000" not in report.error


def test_a_stream_that_was_cancelled_reads_to_its_end() -> None:
    async def cancelled(_: VirtualLoop) -> object:
        async with asyncio.TaskGroup() as tasks:
            service = HotlineService(ScriptedDesk(), ServerSettings(), tasks)
            service.ready = True
            stream = LocalStub(service, tasks).Converse()
            await stream.write(pb.CallerFrame(start=pb.Start(codec=pb.CODEC_PCMA, sample_rate_hz=8000)))
            assert isinstance(await stream.read(), pb.BotFrame)
            stream.cancel()
            while isinstance(frame := await stream.read(), pb.BotFrame):
                pass
            return frame

    assert virtually(cancelled) is grpc.aio.EOF


# ---------------------------------------------------------------- what counts as time


def speech(ms: int) -> Pcm:
    return Pcm(samples=np.zeros(16 * ms, np.float32), rate_hz=16_000)


@dataclass
class SlowRecogniser(ScriptedRecogniser):
    def decode(self, speech: Pcm, hints: DecodeHints, stop: threading.Event) -> Decoded:
        time.sleep(0.05)
        return super().decode(speech, hints, stop)


def test_a_decode_counts_as_long_as_the_model_says() -> None:
    async def decode(loop: VirtualLoop) -> tuple[float, str]:
        pool = RehearsalPool(SlowRecogniser(), HearingSettings(), loop.hold)
        began_s = loop.time()
        decoded = await pool.decode(speech(2000), DecodeHints(), Priority.FINAL)
        took_s = loop.time() - began_s
        await pool.close()
        return took_s, decoded.text

    took_s, text = virtually(decode)
    assert took_s * 1000 == pytest.approx(DECODE_MS + 2 * DECODE_MS_A_SECOND)
    assert text == "社保卡丢了怎么办"


def test_a_guess_that_is_dropped_in_time_is_never_decoded() -> None:
    recogniser = ScriptedRecogniser()

    async def drop(loop: VirtualLoop) -> int:
        pool = RehearsalPool(recogniser, HearingSettings(), loop.hold)
        async with asyncio.TaskGroup() as tasks:
            job = DecodeJob(speech=speech(1000), hints=DecodeHints(), priority=Priority.SPECULATIVE)
            guess = tasks.create_task(pool.run(job))
            await asyncio.sleep(0.02)
            guess.cancel()
        await pool.close()
        return pool.counters.cancelled

    assert virtually(drop) == 1
    assert recogniser.heard == []


@dataclass
class SlowParts:
    """A voice and a mind that work in threads. said: how often."""

    said: list[str] = field(default_factory=list)

    async def speak(self, text: str, *, cacheable: bool = True, slow: bool = False) -> Spoken:
        await asyncio.to_thread(time.sleep, 0.02)
        self.said.append(text)
        return Spoken(samples=np.zeros(8, np.float32), rate_hz=8000, cached=False)

    async def answer(self, question: MaskedText, dialogue: Dialogue) -> AsyncGenerator[Step, None]:
        await asyncio.to_thread(time.sleep, 0.02)
        yield Clause(text=question.text)


def test_a_clause_that_is_kept_costs_no_time_and_one_that_is_not_some() -> None:
    async def speak(loop: VirtualLoop) -> list[int]:
        voice, took_ms = HeldSpeech(SlowParts(), loop.hold), []
        for cacheable in (True, False):
            began_s = loop.time()
            await voice.speak("您好", cacheable=cacheable)
            took_ms.append(round((loop.time() - began_s) * 1000))
        return took_ms

    assert virtually(speak) == [0, 150]


def test_answers_and_the_record_cost_no_time() -> None:
    record = MemoryRecord()

    async def answer(loop: VirtualLoop) -> tuple[float, list[Step], str]:
        began_s = loop.time()
        async with aclosing(HeldMind(SlowParts(), loop.hold).answer(new_masker().mask("你好"), Dialogue())) as steps:
            found = [step async for step in steps]
        ticket = await held_record(record, loop.hold).next_ticket("default")
        return loop.time() - began_s, found, ticket

    assert virtually(answer) == (0.0, [Clause(text="你好")], "2612010001")


async def test_a_fast_replay_needs_its_own_loop(tmp_path: Path) -> None:
    (tmp_path / "a.raw").write_bytes(b"\xd5" * 8000)
    settings = ReplaySettings(out_dir=tmp_path / "out", raw=RawFormat(codec=Codec.PCMA))
    with pytest.raises(TypeError, match="VirtualLoop"):
        await replay_fast([tmp_path / "a.raw"], settings, Settings(), tell=lambda _: None)
