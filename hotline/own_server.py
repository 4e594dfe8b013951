"""A server for one command: `hotline serve` as a process on free loopback ports, ready for calls, ended afterwards."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from hotline.caller_leg import open_channel
from hotline.errors import HotlineError
from hotline.handoff.types import MqttSettings

START_WITHIN_S = 300.0
STOP_WITHIN_S = 20.0


class ServerFailed(HotlineError):
    """The server did not start."""

    code = "server.failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnServer:
    """Where it is, and its process id."""

    target: str
    token: str
    mqtt: MqttSettings
    pid: int


@asynccontextmanager
async def own_server(out_dir: Path, extra: Mapping[str, str] | None = None) -> AsyncGenerator[OwnServer, None]:
    """Start one; its log and record go to out_dir. extra: settings as environment variables. Raises ServerFailed."""
    port, token, mqtt = free_port(), secrets.token_urlsafe(16), MqttSettings(port=free_port())
    environment = os.environ | {
        "HOTLINE_SERVER__PORT": str(port),
        "HOTLINE_SERVER__TOKEN": token,
        "HOTLINE_SERVER__TLS_CERT": "",
        "HOTLINE_SERVER__TLS_KEY": "",
        "HOTLINE_SERVER__TLS_CLIENT_CA": "",
        "HOTLINE_HTTP__PORT": "0",
        "HOTLINE_MQTT__PORT": str(mqtt.port),
        "HOTLINE_RECORD__URL": f"sqlite+aiosqlite:///{Path.cwd() / out_dir / 'record.db'}",
        **(extra or {}),
    }
    log_path = out_dir / "server.log"
    with await asyncio.to_thread(_new_log, log_path) as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "hotline.tethered", "serve"),
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=log,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            await _until_ready(process, port, log_path)
            yield OwnServer(target=f"127.0.0.1:{port}", token=token, mqtt=mqtt, pid=process.pid)
        finally:
            await _stop(process)


def _new_log(path: Path) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("wb")


async def _until_ready(process: asyncio.subprocess.Process, port: int, log_path: Path) -> None:
    async with asyncio.timeout(START_WITHIN_S), open_channel(f"127.0.0.1:{port}") as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)  # its types know no asynchronous channel
        while process.returncode is None:
            try:
                answer = await health.Check(health_pb2.HealthCheckRequest(service=""), timeout=1.0)
            except grpc.aio.AioRpcError:
                await asyncio.sleep(0.2)
                continue
            if answer.status == health_pb2.HealthCheckResponse.SERVING:
                return
            await asyncio.sleep(0.2)
    raise ServerFailed(f"the server did not start: {_last_line(log_path)}", what_to_do=f"read {log_path}, or run: hotline doctor")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_WITHIN_S):
                await process.wait()
    finally:  # also when who waits is cancelled: no server outlives its command
        if process.returncode is None:
            process.kill()
            await process.wait()


def _last_line(log_path: Path) -> str:
    lines = log_path.read_text("utf-8", "replace").strip().splitlines()
    told = [line for line in lines if line.startswith("hotline: ")]
    return (told or lines or ["it said nothing"])[-1].removeprefix("hotline: ")


def free_port() -> int:
    """A loopback port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
