"""The server on a real loopback port, with a scripted desk: what a gateway sees when things go right, and when they don't."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import grpc
import grpc.aio
import pytest
from desk_for_tests import FRAME, ScriptedDesk
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from hotline import grpc_line
from hotline import server as server_module
from hotline.errors import ConfigWrong, PortTaken
from hotline.lines import HungUp, Key, Typed
from hotline.server import HotlineServer, ServerSettings, serve
from hotline.transport import bearer, bind_address, channel_options
from hotline.v1 import hotline_pb2 as pb
from hotline.v1 import hotline_pb2_grpc as pb_grpc

SETTINGS = ServerSettings(port=0, max_calls=2, drain_s=1)


@dataclass
class Office:
    """A desk, its server and a client's channel."""

    desk: ScriptedDesk
    server: HotlineServer
    channel: grpc.aio.Channel

    @property
    def stub(self) -> pb_grpc.HotlineAsyncStub:
        return pb_grpc.HotlineStub(self.channel)

    def call(self) -> Caller:
        return Caller(self.stub.Converse())


class Caller:
    """One end of a call, as a gateway sees it."""

    def __init__(self, stream: grpc.aio.StreamStreamCall) -> None:
        self.stream = stream

    async def start(self, call_id: str = "", **fields: object) -> pb.BotFrame:
        await self.send(start=pb.Start(call_id=call_id, codec=pb.CODEC_PCMA, sample_rate_hz=8000, **fields))
        return await self.hear()

    async def send(self, **frame: object) -> None:
        await self.stream.write(pb.CallerFrame(**frame))

    async def say(self, words: str) -> None:
        await self.send(text=pb.Text(text=words))

    async def hear(self) -> pb.BotFrame:
        return await self.stream.read()

    async def rest(self) -> list[pb.BotFrame]:
        """Everything until the stream ends; its status is read with `status`."""
        frames = []
        try:
            while (frame := await self.stream.read()) is not grpc.aio.EOF:
                frames.append(frame)
        except grpc.aio.AioRpcError:
            pass
        return frames

    async def status(self) -> grpc.StatusCode:
        return await self.stream.code()


@asynccontextmanager
async def office(settings: ServerSettings = SETTINGS, *, ready: bool = True) -> AsyncGenerator[Office, None]:
    desk = ScriptedDesk()
    async with HotlineServer(desk, settings) as server:
        if ready:
            await server.set_ready(is_ready=True)
        async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}", options=channel_options()) as channel:
            yield Office(desk, server, channel)


async def until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(15):
        while not is_true():  # noqa: ASYNC110  watched from outside, as an operator would
            await asyncio.sleep(0.01)


def kinds(frames: list[pb.BotFrame]) -> list[str | None]:
    return [frame.WhichOneof("frame") for frame in frames]


# ---------------------------------------------------------------- a good call


async def test_a_call_is_accepted_first_and_ended_last() -> None:
    async with office() as place:
        caller = place.call()
        accepted = (await caller.start("call-1", caller_number="13800138000")).accepted
        await caller.say("再见")
        frames = await caller.rest()

        assert accepted.call_id == "call-1"
        assert accepted.max_call_s == 1800
        assert accepted.max_payload_bytes == 1920
        assert len(accepted.resume_token) >= 24
        assert kinds(frames) == ["reply_text", "end"]
        assert frames[-1].end.reason == "goodbye"
        assert await caller.status() is grpc.StatusCode.OK
        assert place.desk.lines[0].start.masked_caller == "138****8000"
        assert place.server.service.live_calls == 0


async def test_a_call_without_an_id_gets_one() -> None:
    async with office() as place:
        one, two = place.call(), place.call()
        assert (await one.start()).accepted.call_id != (await two.start()).accepted.call_id != ""


async def test_bot_audio_is_numbered_over_the_call() -> None:
    async with office() as place:
        caller = place.call()
        await caller.start()
        await caller.say("说")
        await caller.say("说")
        await caller.say("再见")
        frames = await caller.rest()

        audio = [frame.audio for frame in frames if frame.WhichOneof("frame") == "audio"]
        assert [packet.sequence for packet in audio] == list(range(10))
        assert {packet.payload for packet in audio} == {FRAME}
        assert kinds(frames)[1:11] == ["transcript", "reply_text", *["audio"] * 5, "mark", "turn_metrics", "clear"]


async def test_a_hangup_ends_the_call() -> None:
    async with office() as place:
        caller = place.call()
        await caller.start()
        await caller.send(hangup=pb.Hangup(reason="carrier"))
        frames = await caller.rest()

        assert place.desk.seen == [HungUp(reason="carrier")]
        assert frames[-1].end.reason == "hangup"


async def test_half_closing_is_not_a_hangup() -> None:
    async with office() as place:
        caller = place.call()
        await caller.start()
        await caller.stream.done_writing()
        await until(lambda: bool(place.desk.endings))

        assert place.desk.endings == ["line_broken"]
        assert not any(isinstance(event, HungUp) for event in place.desk.seen)


async def test_a_vanished_client_frees_its_place_and_the_call_may_finish_its_record() -> None:
    async with office() as place:
        caller = place.call()
        await caller.start()
        await caller.hear()
        caller.stream.cancel()
        await until(lambda: place.server.service.live_calls == 0)

        assert place.desk.endings == ["line_broken"]
        assert place.server.service.counts["broken lines"] == 1


async def test_a_call_that_ignores_its_broken_line_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "BROKEN_GRACE_S", 0.05)
    async with office() as place:
        caller = place.call()
        await caller.start()
        await caller.say("睡")
        await until(lambda: bool(place.desk.seen))
        caller.stream.cancel()
        await until(lambda: place.server.service.live_calls == 0)

        assert place.desk.endings == ["cancelled"]


# ---------------------------------------------------------------- refusals


async def test_the_first_frame_must_be_start() -> None:
    async with office() as place:
        caller = place.call()
        await caller.say("你好")
        frames = await caller.rest()

        assert frames[0].error.code == "call.no_start"
        assert await caller.status() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_client_that_never_starts_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "START_WITHIN_S", 0.05)
    async with office() as place:
        caller = place.call()
        frames = await caller.rest()

        assert frames[0].error.code == "call.no_start"
        assert await caller.status() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_wrong_rate_is_refused_with_what_to_do() -> None:
    async with office() as place:
        caller = place.call()
        await caller.send(start=pb.Start(codec=pb.CODEC_PCMA, sample_rate_hz=16000))
        frames = await caller.rest()

        assert frames[0].error.code == "call.wrong_rate"
        assert "8000" in frames[0].error.what_to_do
        assert place.desk.lines == []


async def test_a_call_cannot_be_resumed_yet() -> None:
    async with office() as place:
        caller = place.call()
        assert (await caller.start(resume_token="old")).error.code == "call.cannot_resume"
        await caller.rest()
        assert await caller.status() is grpc.StatusCode.FAILED_PRECONDITION


async def test_a_live_call_id_is_not_taken_twice() -> None:
    async with office() as place:
        first, second = place.call(), place.call()
        await first.start("same")
        refused = await second.start("same")
        await second.rest()

        assert refused.error.code == "call.duplicate"
        assert await second.status() is grpc.StatusCode.ALREADY_EXISTS
        await first.say("再见")
        assert (await first.rest())[-1].end.reason == "goodbye"


async def test_beyond_capacity_callers_are_turned_away_and_far_beyond_refused() -> None:
    async with office(replace(SETTINGS, max_calls=1)) as place:
        busy, over, refused = place.call(), place.call(), place.call()
        await busy.start()
        await over.start()
        assert (await refused.start()).error.code == "server.full"
        await refused.rest()
        assert await refused.status() is grpc.StatusCode.RESOURCE_EXHAUSTED

        await over.say("谢谢")
        frames = await over.rest()
        assert kinds(frames) == ["reply_text", "transfer", "end"]
        assert frames[1].transfer.reason == "overload"
        assert place.desk.endings == ["overload"]


async def test_nothing_is_taken_before_warm_up() -> None:
    async with office(ready=False) as place:
        caller = place.call()
        assert (await caller.start()).error.code == "server.not_ready"
        await caller.rest()
        assert await caller.status() is grpc.StatusCode.UNAVAILABLE


# ---------------------------------------------------------------- bad frames


async def test_bad_frames_are_told_once_a_kind_and_the_call_goes_on() -> None:
    async with office() as place:
        caller = place.call()
        await caller.start()
        for _ in range(3):
            await caller.send(audio=pb.Audio(payload=b"\0" * 1921))
            await caller.say("长" * 100_000)
            await caller.send(dtmf=pb.Dtmf(digit="天"))
            await caller.send()  # a frame of a newer contract
        await caller.send(dtmf=pb.Dtmf(digit="5"))
        await caller.say("再见")
        frames = await caller.rest()

        errors = [frame.error.code for frame in frames if frame.WhichOneof("frame") == "error"]
        assert sorted(errors) == ["audio.too_large", "dtmf.wrong_digit", "text.too_long"]
        assert place.desk.seen == [Key(digit="5"), Typed(text="再见")]
        assert frames[-1].end.reason == "goodbye"
        assert place.server.service.counts["audio.too_large"] == 3
        assert place.server.service.counts["frame.unknown"] == 3


async def test_fifty_one_bad_frames_in_a_row_end_the_call() -> None:
    async with office() as place:
        caller = place.call()
        await caller.start()
        for _ in range(51):
            await caller.send(audio=pb.Audio())
        frames = await caller.rest()

        assert frames[-1].error.code == "call.bad_frames"
        assert await caller.status() is grpc.StatusCode.INVALID_ARGUMENT
        assert place.desk.seen == [HungUp(reason="bad_frames")]


async def test_bytes_that_are_no_frame_are_dropped_and_told() -> None:
    """Among them text that is not UTF-8: a lone surrogate gets no farther."""
    async with office() as place:
        raw = place.channel.stream_stream(
            "/hotline.v1.Hotline/Converse",
            request_serializer=lambda frame: frame if isinstance(frame, bytes) else frame.SerializeToString(),
            response_deserializer=pb.BotFrame.FromString,
        )
        caller = Caller(raw())
        await caller.start()
        for junk in (b"\xff\xff\xff\xff", b"\x1a\x05\x0a\x03\xed\xa0\x80"):
            await caller.stream.write(junk)
        await caller.say("再见")
        frames = await caller.rest()

        assert [frame.error.code for frame in frames if frame.WhichOneof("frame") == "error"] == ["frame.unreadable"]
        assert frames[-1].end.reason == "goodbye"
        assert place.server.service.counts["frame.unreadable"] == 2

        first = Caller(raw())
        await first.stream.write(b"\xff")
        assert [frame.error.code for frame in await first.rest()] == ["frame.unreadable"]
        assert await first.status() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_frame_beyond_the_limit_of_grpc_leaves_the_server_healthy() -> None:
    async with office(replace(SETTINGS, max_frame_bytes=4096)) as place:
        caller = place.call()
        await caller.start()
        await caller.say("长" * 2000)
        await caller.rest()
        assert await caller.status() is grpc.StatusCode.RESOURCE_EXHAUSTED
        await until(lambda: place.server.service.live_calls == 0)
        again = place.call()
        await again.start()
        await again.say("再见")
        assert (await again.rest())[-1].end.reason == "goodbye"


# ---------------------------------------------------------------- failures


async def test_a_failed_call_says_so_without_content_and_the_next_one_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    async with office() as place:
        caller = place.call()
        await caller.start()
        await caller.say("坏")
        frames = await caller.rest()

        assert frames[-1].error.code == "call.failed"
        assert await caller.status() is grpc.StatusCode.INTERNAL
        assert "13800138000" not in str(frames)
        output = "".join(capsys.readouterr())
        assert "ValueError" in output
        assert "13800138000" not in output

        again = place.call()
        await again.start()
        await again.say("再见")
        assert (await again.rest())[-1].end.reason == "goodbye"


async def test_a_call_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "OVERTIME_S", -0.95)
    async with office(replace(SETTINGS, max_call_s=1)) as place:
        caller = place.call()
        await caller.start()
        await caller.say("睡")
        frames = await caller.rest()

        assert frames[-1].error.code == "call.too_long"
        assert await caller.status() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_client_that_stops_reading_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grpc_line, "STUCK_S", 0.3)
    async with office() as place:
        caller = place.call()
        await caller.start()
        await caller.hear()
        await caller.say("倾")  # more than any window holds, and nobody reads
        await until(lambda: place.server.service.live_calls == 0)

        assert place.server.service.counts["broken lines"] == 1
        assert place.desk.endings == ["line_broken"]


# ---------------------------------------------------------------- ask, draft, doors


async def test_a_question_is_answered_by_clauses() -> None:
    async with office() as place:
        events = [event async for event in place.stub.Ask(pb.AskRequest(question="我是13800138000，几点开门"))]

        assert [event.WhichOneof("event") for event in events] == ["masked_question", "clause", "done"]
        assert events[0].masked_question == "我是〈手机号·1〉，几点开门"
        assert events[1].clause.source_ids == ["kb-1"]


@pytest.mark.parametrize(
    ("question", "status"),
    [("", "INVALID_ARGUMENT"), ("长" * 4001, "INVALID_ARGUMENT"), ("坏", "INTERNAL")],
    ids=["empty", "too long", "breaks"],
)
async def test_a_question_that_cannot_be_answered_gets_a_status(question: str, status: str) -> None:
    async with office() as place:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            _ = [event async for event in place.stub.Ask(pb.AskRequest(question=question))]
        assert refused.value.code() is grpc.StatusCode[status]
        assert "坏" not in (refused.value.details() or "")


async def test_drafting_is_not_in_this_release() -> None:
    async with office() as place:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            _ = [event async for event in place.stub.Draft(pb.DraftRequest(kind="contract"))]
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_without_the_token_nobody_is_let_in_but_health_probes() -> None:
    async with office(replace(SETTINGS, token="s3cret")) as place:
        for metadata in [(), bearer("wrong"), (("authorization", "Basic s3cret"),)]:
            caller = Caller(place.stub.Converse(metadata=metadata))
            await caller.rest()
            assert await caller.status() is grpc.StatusCode.UNAUTHENTICATED
        probe = await health_pb2_grpc.HealthStub(place.channel).Check(health_pb2.HealthCheckRequest())
        assert probe.status == health_pb2.HealthCheckResponse.SERVING

        caller = Caller(place.stub.Converse(metadata=bearer("s3cret")))
        assert (await caller.start()).WhichOneof("frame") == "accepted"


async def test_a_server_open_to_the_network_needs_a_token() -> None:
    with pytest.raises(ConfigWrong, match="no token"):
        async with HotlineServer(ScriptedDesk(), ServerSettings(host="0.0.0.0", port=0)):  # noqa: S104  the point of the test
            pass


@pytest.mark.parametrize(
    ("host", "token", "address"),
    [
        ("localhost", "", "localhost:5"),
        ("127.0.0.9", "", "127.0.0.9:5"),
        ("::1", "", "[::1]:5"),
        ("0.0.0.0", "t", "0.0.0.0:5"),  # noqa: S104  with a token it may
    ],
)
def test_where_a_server_may_bind(host: str, token: str, address: str) -> None:
    assert bind_address(host, 5, token=token) == address


def test_a_host_by_name_is_not_taken_for_loopback() -> None:
    with pytest.raises(ConfigWrong):
        bind_address("hotline.example", 5, token="")


async def test_a_taken_port_is_said() -> None:
    async with office() as place:
        with pytest.raises(PortTaken):
            async with HotlineServer(ScriptedDesk(), ServerSettings(port=place.server.port)):
                pass


async def test_the_contract_can_be_looked_up() -> None:
    async with office() as place:
        ask = reflection_pb2.ServerReflectionRequest(list_services="")
        stub = reflection_pb2_grpc.ServerReflectionStub(place.channel)
        async for answer in stub.ServerReflectionInfo(iter([ask])):
            assert "hotline.v1.Hotline" in [service.name for service in answer.list_services_response.service]
            break


# ---------------------------------------------------------------- going down


async def test_draining_takes_no_new_calls_and_lets_running_ones_finish() -> None:
    async with office() as place, asyncio.TaskGroup() as tasks:
        running = place.call()
        await running.start()
        draining = tasks.create_task(place.server.drain(within_s=5))
        await until(lambda: place.server.service.draining)

        late = place.call()
        assert (await late.start()).error.code == "server.not_ready"
        probe = await health_pb2_grpc.HealthStub(place.channel).Check(health_pb2.HealthCheckRequest())
        assert probe.status == health_pb2.HealthCheckResponse.NOT_SERVING

        await running.say("再见")
        assert (await running.rest())[-1].end.reason == "goodbye"
        assert await draining


async def test_who_is_still_there_late_in_the_drain_is_handed_to_a_person_not_cut_off() -> None:
    async with office() as place, asyncio.TaskGroup() as tasks:
        running = place.call()
        await running.start()
        draining = tasks.create_task(place.server.drain(within_s=4))
        await until(lambda: all(call.line._person_wanted for call in place.server.service._live.values()))
        await running.send(media_stats=pb.MediaStats(packets_received=1))  # a line is never still: audio comes every 20 ms
        while (frame := await running.hear()).WhichOneof("frame") != "transfer":
            pass
        assert frame.transfer.reason == "asked"
        await running.send(transfer_result=pb.TransferResult(ticket="T-7", outcome=pb.TRANSFER_OUTCOME_ACCEPTED))
        assert (await running.rest())[-1].end.reason == "transferred"
        assert await draining


async def test_a_call_that_outlasts_the_drain_is_told() -> None:
    async with office() as place:
        running = place.call()
        await running.start()
        await running.say("睡")
        await until(lambda: bool(place.desk.seen))
        assert not await place.server.drain(within_s=0.05)
        frames = await running.rest()

        assert frames[-1].error.code == "call.drained"
        assert await running.status() is grpc.StatusCode.UNAVAILABLE


async def test_serve_waits_for_warm_up_and_leaves_on_sigterm() -> None:
    ready = asyncio.Event()
    port = _free_port()
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(serve(ScriptedDesk(), replace(SETTINGS, port=port), ready=ready))
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            await channel.channel_ready()
            probe = health_pb2_grpc.HealthStub(channel)
            assert (await probe.Check(health_pb2.HealthCheckRequest())).status == health_pb2.HealthCheckResponse.NOT_SERVING
            ready.set()
            async for answer in probe.Watch(health_pb2.HealthCheckRequest()):
                if answer.status == health_pb2.HealthCheckResponse.SERVING:
                    break
        os.kill(os.getpid(), signal.SIGTERM)
        await serving


@pytest.mark.slow
async def test_a_peer_that_goes_silent_is_noticed_within_eight_seconds() -> None:
    async with (
        office() as place,
        _silent_proxy(place.server.port) as proxy,
        grpc.aio.insecure_channel(f"127.0.0.1:{proxy.port}", options=channel_options()) as channel,
    ):
        caller = Caller(pb_grpc.HotlineStub(channel).Converse())
        await caller.start()
        await caller.hear()
        begun_s = asyncio.get_running_loop().time()
        proxy.is_silent.set()
        async with asyncio.timeout(8):
            await until(lambda: bool(place.desk.endings))
            noticed_s = asyncio.get_running_loop().time() - begun_s
            await caller.rest()

        assert await caller.status() is grpc.StatusCode.UNAVAILABLE
        assert place.desk.endings == ["line_broken"]
        print(f"noticed after {noticed_s:.1f} s")  # noqa: T201  shown with -s


@dataclass
class _Proxy:
    """A link that can go silent without closing."""

    port: int
    is_silent: asyncio.Event


@asynccontextmanager
async def _silent_proxy(to_port: int) -> AsyncGenerator[_Proxy, None]:
    is_silent = asyncio.Event()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if not is_silent.is_set():
                writer.write(data)
                await writer.drain()
        writer.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", to_port)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(carry(reader, far_writer))
            tasks.create_task(carry(far_reader, writer))

    async with await asyncio.start_server(connect, "127.0.0.1", 0) as listening:
        yield _Proxy(listening.sockets[0].getsockname()[1], is_silent)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
