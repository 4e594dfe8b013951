"""Recorded calls → the same calls in this process, as fast as the machine works. Body of `hotline replay --fast`.

The caller's leg, the service, the call and its rooms are those of the server; gRPC is left out, and the clock jumps from timer to
timer. What counts as time: audio its length, a pause its length; a decode, and the synthesis of a clause that is never cached, as
long as a model says, however long they really take; every other clause, an answer and the record nothing.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import grpc
import grpc.aio

from hotline.compose import open_desk
from hotline.config import Settings
from hotline.desk import ServerSettings
from hotline.handoff.types import MqttSettings
from hotline.parts import Parts, Recorder, Speaking
from hotline.replay import Booth, ReplaySettings, Tell, replay_at
from hotline.server import HotlineService
from hotline.v1 import hotline_pb2 as pb
from hotline.v1 import hotline_pb2_grpc as pb_grpc
from hotline.virtual_loop import VirtualLoop
from llm.types import Dialogue, MaskedText, Mind, Step
from tts.types import Spoken

SYNTHESIS_MS = 120  # of a clause that holds personal data, which is never cached; as measured with the neural voice
SYNTHESIS_MS_A_CHARACTER = 15
QUEUED_FRAMES = 64
LONGEST_CALL_S = 6 * 3600

Hold = Callable[[], AbstractContextManager[None]]


async def replay_fast(
    paths: Sequence[Path], settings: ReplaySettings, product: Settings, *, tell: Tell = print, on_terminal: bool = False
) -> int:
    """Run on a VirtualLoop. Raises what a desk that can't open raises, ReferenceWrong, NotARecording. The exit code."""
    return await replay_at(_booth(product, tell), paths, settings, tell=tell, on_terminal=on_terminal)


@asynccontextmanager
async def _booth(product: Settings, tell: Tell) -> AsyncGenerator[Booth, None]:
    loop = asyncio.get_running_loop()
    if not isinstance(loop, VirtualLoop):
        raise TypeError("a fast replay needs a VirtualLoop")
    tell("opening a desk for this replay")
    with tempfile.TemporaryDirectory(prefix="hotline-replay-") as folder:
        async with open_desk(_for_practice(product, folder), hold=loop.hold) as desk, asyncio.TaskGroup() as tasks:
            held = replace(desk, parts=held_parts(desk.parts, loop.hold))
            service = HotlineService(held, ServerSettings(max_call_s=product.server.max_call_s), tasks)
            service.ready = True
            loop.go()
            try:
                stub = LocalStub(service, tasks)
                yield Booth(stub=cast("pb_grpc.HotlineAsyncStub", stub), how="as fast as it goes, in one process")
            finally:
                loop.stop_going()


def _for_practice(product: Settings, folder: str) -> Settings:
    """A record and a broker of its own: a replayed call makes no real ticket, and carries no real offer away."""
    record = replace(product.record, url=f"sqlite+aiosqlite:///{folder}/record.db")
    return replace(product, record=record, mqtt=MqttSettings(port=0))


def held_parts(parts: Parts, hold: Hold) -> Parts:
    """The same collaborators; while one of them works, the clock stands."""
    speech = HeldSpeech(parts.speech, hold) if parts.speech is not None else None
    return replace(parts, speech=speech, mind=HeldMind(parts.mind, hold), record=held_record(parts.record, hold))


def held_record(record: Recorder, hold: Hold) -> Recorder:
    """A record that takes no time to write."""
    return cast("Recorder", _HeldRecord(record, hold))


@dataclass(frozen=True, slots=True)
class HeldSpeech:
    """A voice whose work counts as long as the model says."""

    voice: Speaking
    hold: Hold

    async def speak(self, text: str, *, cacheable: bool = True, slow: bool = False) -> Spoken:
        """As the voice does."""
        with self.hold():
            spoken = await self.voice.speak(text, cacheable=cacheable, slow=slow)
        if not cacheable:
            await asyncio.sleep((SYNTHESIS_MS + SYNTHESIS_MS_A_CHARACTER * len(text)) / 1000)
        return spoken


@dataclass(frozen=True, slots=True)
class HeldMind:
    """A mind that finds its answers in no time."""

    mind: Mind
    hold: Hold

    async def answer(self, question: MaskedText, dialogue: Dialogue) -> AsyncGenerator[Step, None]:
        """As the mind does."""
        async with aclosing(self.mind.answer(question, dialogue)) as steps:
            while True:
                with self.hold():
                    try:
                        step = await anext(steps)
                    except StopAsyncIteration:
                        return
                yield step  # noqa: ASYNC119  closed by its consumer


@dataclass(frozen=True, slots=True)
class _HeldRecord:
    """Every method waits for the real record's, while the clock stands."""

    record: Recorder
    hold: Hold

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.record, name)

        async def held(*arguments: object) -> object:
            with self.hold():
                return await method(*arguments)

        return held


class LocalStub:
    """Stands for a server's stub: its streams end in a service of this process."""

    def __init__(self, service: HotlineService, tasks: asyncio.TaskGroup) -> None:
        self._service = service
        self._tasks = tasks

    def Converse(self, metadata: object = None) -> LocalStream:  # noqa: ARG002, N802  gRPC's form
        """A call's stream."""
        stream = LocalStream()
        stream.serving = self._tasks.create_task(self._serve(stream), name="serve")
        return stream

    async def _serve(self, stream: LocalStream) -> None:
        try:
            await self._service.Converse(None, cast("Any", stream.server))
        except grpc.aio.AbortError:
            pass
        finally:
            stream.to_client.shut()


class _Pipe:
    """Messages one way, in order. Reading past the end gives EOF."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[object] = asyncio.Queue(QUEUED_FRAMES)
        self._shut = asyncio.Event()

    async def put(self, message: object) -> None:
        """Waits while the other side is slow. Nothing is taken after the end."""
        if not self._shut.is_set():
            await self._queue.put(message)

    async def get(self) -> object:
        """The next message, EOF at the end."""
        if self._shut.is_set() and self._queue.empty():
            return grpc.aio.EOF
        return await self._queue.get()

    def shut(self) -> None:
        """No more. Who waits for room goes on, who waits for a message gets EOF."""
        self._shut.set()
        if self._queue.full():
            self._queue.get_nowait()
        self._queue.put_nowait(grpc.aio.EOF)


class LocalStream:
    """A stream's client side; `server` is what the service sees of it."""

    def __init__(self) -> None:
        self.to_server, self.to_client = _Pipe(), _Pipe()
        self.server = _Context(self)
        self.serving: asyncio.Task[None] | None = None
        self.status = grpc.StatusCode.OK
        self.why = ""

    async def write(self, frame: pb.CallerFrame) -> None:
        """To the service."""
        await self.to_server.put(frame)

    async def read(self) -> object:
        """From the service."""
        return await self.to_client.get()

    async def code(self) -> grpc.StatusCode:
        """How it ended."""
        return self.status

    async def details(self) -> str:
        """Why."""
        return self.why

    def cancel(self) -> None:
        """Hang up without a word, if it still runs."""
        self.to_server.shut()
        if self.serving is not None:
            self.serving.cancel()


@dataclass(frozen=True, slots=True)
class _Context:
    """A stream as its service sees it."""

    stream: LocalStream

    async def read(self) -> object:
        return await self.stream.to_server.get()

    async def write(self, frame: pb.BotFrame) -> None:
        await self.stream.to_client.put(frame)

    async def abort(self, status: grpc.StatusCode, why: str) -> None:
        self.stream.status, self.stream.why = status, why
        raise grpc.aio.AbortError
