"""A real server process, and callers that ring it frame by frame: they may send what no gateway would. Knows no expectations."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import grpc
import grpc.aio
import numpy as np
import psutil
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from numpy.typing import NDArray

from hotline.handoff.types import MqttSettings
from hotline.own_server import free_port, own_server
from hotline.sound.codec import Codec, encode
from hotline.transport import bearer, channel_options
from hotline.v1 import hotline_pb2 as pb
from hotline.v1 import hotline_pb2_grpc as pb_grpc

Samples = NDArray[np.float32]
LINE_HZ = 8000
PATIENCE_S = 60.0  # for what takes seconds on an idle machine
FRAME_MS = 20
_CODECS = {Codec.PCMA: pb.CODEC_PCMA, Codec.PCMU: pb.CODEC_PCMU, Codec.L16: pb.CODEC_L16, None: pb.CODEC_UNSPECIFIED}
# Short sentences and little patience: a whole call takes seconds.
BRISK = {
    "HOTLINE_SPEAKING__VOICE": "espeak",
    "HOTLINE_SPEAKING__SPEED": "0.7",
    "HOTLINE_PHRASES__LABEL": "您好，我是机器人。",
    "HOTLINE_PHRASES__NOTICE": "有录音。",
    "HOTLINE_PHRASES__OFFER": "请讲。",
    "HOTLINE_TURNS__NO_INPUT_MS": "3000",
    "HOTLINE_TURNS__TRANSFER_LIMIT_MS": "2000",
    "HOTLINE_LOG_STRICT": "0",
}


@dataclass(frozen=True, kw_only=True)
class Server:
    """A running server, its folder, and a channel to it."""

    target: str
    token: str
    mqtt: MqttSettings
    process: psutil.Process
    folder: Path
    metrics_port: int
    channel: grpc.aio.Channel

    @property
    def stub(self) -> pb_grpc.HotlineAsyncStub:
        return pb_grpc.HotlineStub(self.channel)

    async def is_serving(self) -> bool:
        """What a health probe learns."""
        probe: Any = health_pb2_grpc.HealthStub(self.channel)
        answer = await probe.Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE_S)
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    async def metrics_page(self) -> str:
        return await asyncio.to_thread(_read_page, self.metrics_port)

    async def counted(self, name: str, **labels: str) -> float:
        """A counter's value; 0 when the page doesn't have it."""
        series = name + ("{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}" if labels else "")
        for line in (await self.metrics_page()).splitlines():
            if line.startswith(series + " "):
                return float(line.rpartition(" ")[2])
        return 0.0

    async def live_calls(self) -> float:
        return await self.counted("hotline_calls_active")

    async def until_live(self, calls: int) -> None:
        """A call that was accepted is live a moment later; one that is over, not yet gone."""
        async with asyncio.timeout(PATIENCE_S):
            while await self.live_calls() != calls:  # noqa: ASYNC110  watched from outside, as an operator would
                await asyncio.sleep(0.1)


def _read_page(port: int) -> str:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S) as page:
        return str(page.read().decode())


@asynccontextmanager
async def running_server(folder: Path, **extra: str) -> AsyncGenerator[Server, None]:
    """Start one with BRISK and extra settings; logs, record and cache go to the folder."""
    metrics_port = free_port()
    settings = BRISK | {"HOTLINE_CACHE_DIR": str(folder / "cache"), "HOTLINE_METRICS__PORT": str(metrics_port)} | extra
    async with (
        own_server(folder, settings) as server,
        grpc.aio.insecure_channel(server.target, options=channel_options()) as channel,
    ):
        yield Server(
            target=server.target,
            token=server.token,
            mqtt=server.mqtt,
            process=psutil.Process(server.pid),
            folder=folder,
            metrics_port=metrics_port,
            channel=channel,
        )


@dataclass
class RoughCaller:
    """One stream. frames: what the bot sent, in order; over: it ended, with `status`."""

    stream: Any
    codec: Codec | None
    rate_hz: int
    frames: list[pb.BotFrame] = field(default_factory=list)
    sequence: int = 0
    over: bool = False
    status: grpc.StatusCode | None = None
    details: str = ""
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    # ------------------------------------------------------------ what it sends

    async def send(self, **frame: object) -> None:
        """Any frame. What a dead stream doesn't take is nobody's loss."""
        if self.over:
            return
        try:
            await self.stream.write(pb.CallerFrame(**frame))  # type: ignore[arg-type]  # whatever the test says
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            return

    async def type(self, words: str) -> None:
        await self.send(text=pb.Text(text=words))

    async def packet(self, payload: bytes, **fields: object) -> None:
        """An audio frame with the next number, or any fields."""
        numbered = {"sequence": self.sequence, "capture_ms": self.sequence * FRAME_MS} | fields
        self.sequence += 1
        await self.send(audio=pb.Audio(payload=payload, **numbered))  # type: ignore[arg-type]

    async def play(self, samples: Samples, payload_of: Callable[[Samples], bytes] | None = None) -> None:
        """Sound at real time, 20 ms a frame."""
        loop, began_s = asyncio.get_running_loop(), asyncio.get_running_loop().time()
        for step, frame in enumerate(frames_of(samples, self.rate_hz)):
            await asyncio.sleep(max(0.0, began_s + step * FRAME_MS / 1000 - loop.time()))
            if self.over:
                return
            await self.packet(payload_of(frame) if payload_of else encode(frame, self.codec or Codec.PCMA))

    async def hold_line(self, is_true: Callable[[], bool], at_most_s: float = PATIENCE_S) -> bool:
        """Silence, frame by frame, until something is true (or the call is over, or patience is)."""
        loop = asyncio.get_running_loop()
        began_s, step = loop.time(), 0
        while not is_true() and not self.over and loop.time() - began_s < at_most_s:
            if self.codec is not None:
                await self.packet(encode(np.zeros(self.rate_hz * FRAME_MS // 1000, np.float32), self.codec))
            step += 1
            await asyncio.sleep(max(0.0, began_s + step * FRAME_MS / 1000 - loop.time()))
        return is_true()

    async def hang_up(self) -> None:
        """As a gateway does; waits for the bot's `end`."""
        await self.send(hangup=pb.Hangup(reason="caller"))
        await self.wait(lambda: self.over)

    # ------------------------------------------------------------ what it gets

    async def wait(self, is_true: Callable[[], bool], at_most_s: float = PATIENCE_S) -> bool:
        """Send nothing; wait for something to be true. False when the call was over before, or patience was."""
        try:
            async with asyncio.timeout(at_most_s), self._news:
                await self._news.wait_for(lambda: self.over or is_true())
        except TimeoutError:
            pass
        return is_true()

    async def read(self) -> None:
        """Collect frames until the stream ends."""
        try:
            while isinstance(frame := await self.stream.read(), pb.BotFrame):
                self.frames.append(frame)
                async with self._news:
                    self._news.notify_all()
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            pass
        except asyncio.CancelledError:
            if not self.stream.cancelled():  # else the caller dropped the call: only its reading is over
                raise
        self.status, self.details = await self.stream.code(), await self.stream.details() or ""
        self.over = True
        async with self._news:
            self._news.notify_all()

    def of(self, kind: str) -> list[Any]:
        """Contents of the frames of a kind."""
        return [getattr(frame, kind) for frame in self.frames if frame.WhichOneof("frame") == kind]

    @property
    def transcripts(self) -> list[str]:
        return [each.masked_text for each in self.of("transcript")]

    @property
    def errors(self) -> list[str]:
        return [each.code for each in self.of("error")]

    @property
    def routes(self) -> list[str]:
        return [each.route for each in self.of("reply_text")]

    @property
    def greeted(self) -> bool:
        """The greeting was sent to its end."""
        return self.replies_spoken > 0

    @property
    def replies_spoken(self) -> int:
        """How many replies were sent to their ends."""
        return sum(mark.name == "end" for mark in self.of("mark"))

    @property
    def end_reason(self) -> str:
        return "".join(each.reason for each in self.of("end"))


@asynccontextmanager
async def ringing(
    server: Server, codec: Codec | None = Codec.PCMA, rate_hz: int = LINE_HZ, *, opened: bool = True, **start: object
) -> AsyncGenerator[RoughCaller, None]:
    """A call. Leaving the block hangs up, if the call still runs. opened False: not even `start` is sent."""
    stream = server.stub.Converse(metadata=bearer(server.token))
    caller = RoughCaller(stream, codec, rate_hz)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(caller.read(), name="read")
        if opened:
            await caller.send(start=pb.Start(codec=_CODECS[codec], sample_rate_hz=rate_hz, **start))  # type: ignore[arg-type]
            await caller.wait(lambda: bool(caller.frames))
        try:
            yield caller
            if not caller.over:
                await caller.hang_up()
        finally:
            stream.cancel()


def frames_of(samples: Samples, rate_hz: int = LINE_HZ) -> Sequence[Samples]:
    """20 ms pieces, the last filled up."""
    size = rate_hz * FRAME_MS // 1000
    whole = np.concatenate([samples, np.zeros(-len(samples) % size, np.float32)])
    return np.split(whole, len(whole) // size)


def needs_models(*names: str) -> None:
    """Skip where models were not pulled."""
    folder = Path(os.environ.get("HOTLINE_MODELS__DIR") or "~/.cache/hotline/models").expanduser()
    missing = [name for name in names if not (folder / name).is_dir()]
    if missing:
        pytest.skip(f"hotline models pull {' '.join(missing)}")


async def first(items: AsyncGenerator[Any, None]) -> Any:  # noqa: ANN401  whatever they are
    """The first of them, and no more."""
    async with aclosing(items):
        return await anext(items)
