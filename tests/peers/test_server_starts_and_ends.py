"""The server as a process: why it doesn't start, what a full disk does to it, and how it ends while callers are on the line."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import psutil
import pytest

from hotline.v1 import hotline_pb2 as pb
from tests.processes import running_python
from tests.rough_caller import BRISK, PATIENCE_S, Server, needs_models, ringing, running_server

pytestmark = [pytest.mark.models, pytest.mark.timeout(240)]

WATER = "停水了怎么办"
IN_A_MOMENT_S = 60.0  # on two busy cores; 4 s when they are idle


@asynccontextmanager
async def a_server(tmp_path: Path, voice_cache: Path, **extra: str) -> AsyncGenerator[Server, None]:
    needs_models("whisper-base", "silero-vad")
    async with running_server(tmp_path, **({"HOTLINE_CACHE_DIR": str(voice_cache)} | extra)) as server:
        yield server


# ---------------------------------------------------------------- it does not start


async def start(tmp_path: Path, **extra: str) -> tuple[int | None, str]:
    """`hotline serve`: its exit code and what it said."""
    settings = BRISK | {
        "HOTLINE_CACHE_DIR": str(tmp_path / "cache"),
        "HOTLINE_RECORD__URL": f"sqlite+aiosqlite:///{tmp_path}/record.db",
        "HOTLINE_MQTT__PORT": "0",
        "HOTLINE_SERVER__PORT": "0",
        "HOTLINE_HTTP__PORT": "0",
    }
    async with running_python(
        *("-m", "hotline.cli", "serve"), env=settings | extra, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        async with asyncio.timeout(IN_A_MOMENT_S):
            _, said = await process.communicate()
    return process.returncode, said.decode()


async def test_without_models_it_says_what_to_type(tmp_path: Path) -> None:
    code, said = await start(tmp_path, HOTLINE_MODELS__DIR=str(tmp_path / "empty"))
    assert code == 1
    assert "hotline: model whisper-base is not on this machine" in said
    assert "run: hotline models pull whisper-base" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(("what", "told"), [("SERVER", "hotline.port_taken"), ("MQTT", "hotline.port_taken")])
async def test_a_taken_port_is_named(tmp_path: Path, what: str, told: str) -> None:
    needs_models("whisper-base", "silero-vad")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, said = await start(tmp_path, **{f"HOTLINE_{what}__PORT": str(port)})
    assert code == 1
    assert f"127.0.0.1:{port}" in said
    assert told in said
    assert "Traceback" not in said


async def test_a_record_on_a_full_disk_is_told_before_the_first_call(tmp_path: Path) -> None:
    needs_models("whisper-base", "silero-vad")
    code, said = await start(tmp_path, HOTLINE_RECORD__URL="sqlite:////dev/full")
    assert code == 1
    assert "the disk is full" in said
    assert "[record.full]" in said


# ---------------------------------------------------------------- the disk is full


async def a_whole_call(server: Server) -> str:
    """An answer, then a person. Returns the ticket."""
    async with ringing(server) as caller:
        await caller.hold_line(lambda: caller.greeted)
        await caller.type(WATER)
        await caller.hold_line(lambda: "hot" in caller.routes)
        await caller.type("我要转人工")
        await caller.hold_line(lambda: bool(caller.of("transfer")))
    assert "hot" in caller.routes
    assert caller.end_reason == "hangup"
    (transfer,) = caller.of("transfer")
    return str(transfer.ticket)


async def test_on_a_full_disk_calls_go_on_and_afterwards_the_record_does(tmp_path: Path, voice_cache: Path) -> None:
    """No file of the server's may grow: record, log and cache alike. Sockets may."""
    async with a_server(tmp_path, voice_cache) as server:
        server.process.rlimit(psutil.RLIMIT_FSIZE, (0, psutil.RLIM_INFINITY))
        assert await a_whole_call(server) == ""
        assert await server.is_serving()
        assert await server.counted("hotline_record_errors_total") > 0
        assert await server.counted("hotline_log_lost_total") > 0

        server.process.rlimit(psutil.RLIMIT_FSIZE, (psutil.RLIM_INFINITY, psutil.RLIM_INFINITY))
        assert await a_whole_call(server) != ""


# ---------------------------------------------------------------- a client process is killed

CLIENT = """
import asyncio, sys
from tests.rough_caller import LINE_HZ
import grpc.aio
from hotline.transport import bearer, channel_options
from hotline.v1 import hotline_pb2 as pb, hotline_pb2_grpc as rpc

async def main():
    async with grpc.aio.insecure_channel(sys.argv[1], options=channel_options()) as channel:
        streams = [rpc.HotlineStub(channel).Converse(metadata=bearer(sys.argv[2])) for _ in range(4)]
        for stream in streams:
            await stream.write(pb.CallerFrame(start=pb.Start(codec=pb.CODEC_PCMA, sample_rate_hz=LINE_HZ)))
            await stream.read()
        print("ringing", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_the_calls_of_a_killed_gateway_end_and_the_server_drains_what_is_left(tmp_path: Path, voice_cache: Path) -> None:
    async with a_server(tmp_path, voice_cache, HOTLINE_SERVER__DRAIN_S="3") as server:
        async with running_python("-c", CLIENT, server.target, server.token, stdout=subprocess.PIPE) as client:
            assert client.stdout is not None
            assert await client.stdout.readline() == b"ringing\n"
            await server.until_live(4)
            client.kill()
        await server.until_live(0)
        assert await server.counted("hotline_calls_ended_total", reason="line_broken") == 4

        await sigterm_lets_a_call_finish_and_cuts_off_the_one_that_does_not(server)
    assert "Traceback" not in (tmp_path / "server.log").read_text("utf-8")


async def sigterm_lets_a_call_finish_and_cuts_off_the_one_that_does_not(server: Server) -> None:
    async with ringing(server, codec=None) as patient, ringing(server) as endless:
        await endless.wait(lambda: endless.greeted)
        server.process.send_signal(signal.SIGTERM)
        await patient.type(WATER)
        await patient.wait(lambda: "hot" in patient.routes)
        await patient.hang_up()

        async with ringing(server, codec=None, opened=False) as late:
            await late.send(start=pb.Start())
            await late.wait(lambda: late.over)
        assert late.errors in (["server.not_ready"], [])  # gRPC itself may refuse first
        assert late.status is grpc.StatusCode.UNAVAILABLE

        await endless.wait(lambda: endless.over)
    assert (patient.end_reason, patient.status) == ("hangup", grpc.StatusCode.OK)
    assert endless.errors == ["call.drained"]
    assert endless.status is grpc.StatusCode.UNAVAILABLE
    assert await asyncio.to_thread(server.process.wait, PATIENCE_S) in {0, None}
