"""The gRPC server: streams → lines → the desk that runs the calls. Admits, limits, drains; knows nothing of what is said.

A call runs in the server's own task group, not in its stream's handler: gRPC cancels a handler the moment the client
is gone, and the call still has to write its record and hand the caller over.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import secrets
import signal
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import grpc
import grpc.aio
import structlog
from google.protobuf.message import DecodeError
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from hotline.access import AccessBook
from hotline.certificates import Certificates
from hotline.desk import AskClause, AskDone, AskEvent, AskRouted, CallDesk, MaskedQuestion, ServerSettings
from hotline.errors import PortTaken, anatomy
from hotline.grpc_line import UNREADABLE, ClientStuck, GrpcLine
from hotline.lines import CallStart, Ended, Line
from hotline.transport import Guard, bind_address, channel_options, server_options
from hotline.v1 import hotline_pb2 as pb
from hotline.v1 import hotline_pb2_grpc as pb_grpc
from hotline.wire import MAX_PAYLOAD_BYTES, MAX_TEXT_CHARACTERS, WireError, ask_frame, refusal_frame, start_of

if TYPE_CHECKING:
    Context = grpc.aio.ServicerContext[pb.CallerFrame, pb.BotFrame]
    AskContext = grpc.aio.ServicerContext[pb.AskRequest, pb.AskEvent]
    DraftContext = grpc.aio.ServicerContext[pb.DraftRequest, pb.DraftEvent]

__all__ = [
    "AskClause", "AskDone", "AskEvent", "CallDesk", "HotlineServer", "HotlineService", "MaskedQuestion",
    "ServerSettings", "channel_options", "serve",
]  # fmt: skip

START_WITHIN_S = 10.0
OVERTIME_S = 60.0  # a call ends itself within transfer_limit_ms of max_call_s; this is for one that doesn't
HAND_OVER_SHARE = 0.5  # of the drain's time: callers who are still there then are handed over to people
BROKEN_GRACE_S = 10.0  # for the record of a call whose line broke
SERVICE = pb.DESCRIPTOR.services_by_name["Hotline"].full_name

_log = structlog.get_logger("hotline.server")


class Refused(Exception):
    """A stream isn't taken: an `error` frame, then this status."""

    def __init__(self, status: grpc.StatusCode, wrong: WireError) -> None:
        """wrong: code, message and what to do, for the client."""
        super().__init__(str(wrong))
        self.status = status
        self.wrong = wrong


class Door(Protocol):
    """A server that is opened and drained."""

    async def set_ready(self, *, is_ready: bool) -> None:
        """Take work, or not yet."""
        ...

    async def drain(self, *, within_s: float) -> bool:
        """No new work; wait for what runs, then cut it off. True when all ended by itself."""
        ...


@dataclass(slots=True)
class _Call:
    """A running call. scope: its deadline, moved when the line breaks or the server stops."""

    line: GrpcLine
    scope: asyncio.Timeout
    failed: Refused | None = None


class HotlineService(pb_grpc.HotlineServicer):
    """The contract's three calls. counts: streams by what became of them, ignored frames by code."""

    def __init__(self, desk: CallDesk, settings: ServerSettings, tasks: asyncio.TaskGroup) -> None:
        """tasks: where the calls live; they never fail it."""
        self.counts: Counter[str] = Counter()
        self.ready = False
        self.draining = False
        self._desk = desk
        self._settings = settings
        self._tasks = tasks
        self._live: dict[str, _Call] = {}
        self._idle = asyncio.Event()
        self._idle.set()
        self._asks = 0

    @property
    def live_calls(self) -> int:
        """Calls that hold a place now, turned-away ones included."""
        return len(self._live)

    async def Converse(self, request_iterator: object, context: Context) -> None:  # type: ignore[override]  # noqa: ARG002, N802  gRPC's form
        """One call, from `start` to `end`."""
        try:
            start = await self._opened(context)
            call, work = self._admitted(start, context)
        except Refused as refused:
            self.counts[f"refused {refused.wrong.code}"] += 1
            await context.write(refusal_frame(refused.wrong))
            await context.abort(refused.status, str(refused))
        await call.line.send_frame(pb.BotFrame(accepted=self._accepted(start)))
        self._tasks.create_task(self._run(call, work), name=f"call {start.call_id}")
        try:
            await call.line.pump()
        except ClientStuck:
            self._line_broke(call)
            await context.abort(grpc.StatusCode.ABORTED, "the client has stopped reading")
        except asyncio.CancelledError:
            self._line_broke(call)
            raise
        if call.failed is not None:
            await context.abort(call.failed.status, str(call.failed))

    async def Ask(self, request: pb.AskRequest, context: AskContext) -> None:  # type: ignore[override]  # noqa: N802  gRPC's form
        """One question, its answer clause by clause."""
        if not 0 < len(request.question.strip()) <= MAX_TEXT_CHARACTERS:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"send a question of 1–{MAX_TEXT_CHARACTERS} characters")
        if not self.ready or self.draining:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the server is warming up or draining: ask again, or another server")
        if self._asks >= self._settings.max_asks:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many questions at a time: ask again in a moment")
        self._asks += 1
        try:
            async with asyncio.timeout(self._settings.ask_deadline_s), aclosing(self._desk.ask(request.question)) as events:
                async for event in events:
                    if not isinstance(event, AskRouted):  # every clause names its route
                        await context.write(ask_frame(event))
        except grpc.aio.BaseError:
            raise
        except Exception as error:  # noqa: BLE001  the server's border: one question's failure is no other's
            _log.error("ask failed", **anatomy(error))
            await context.abort(grpc.StatusCode.INTERNAL, "the answer failed: ask again, or hand the question to a person")
        finally:
            self._asks -= 1

    async def Draft(self, request: pb.DraftRequest, context: DraftContext) -> None:  # type: ignore[override]  # noqa: ARG002, N802  gRPC's form
        """Not yet."""
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "drafting documents is not in this release; Converse and Ask are")

    async def drained(self, within_s: float) -> bool:
        """Wait for the running calls; late in that time hand the rest over to people; at its end cut off what is left.

        True when none had to be cut off.
        """
        if await self._idle_within(within_s * (1 - HAND_OVER_SHARE)):
            return True
        for call in self._live.values():
            call.line.want_person()
        if await self._idle_within(within_s * HAND_OVER_SHARE):
            return True
        _log.warning("drain ran out of time", calls=len(self._live))
        for call in self._live.values():
            call.failed = _refused(
                "UNAVAILABLE", "call.drained", "the server is going down", "transfer the caller to the human queue"
            )
            self._end_by(call, 0)
        return False

    async def _idle_within(self, within_s: float) -> bool:
        try:
            async with asyncio.timeout(within_s):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    async def _opened(self, context: Context) -> CallStart:
        try:
            async with asyncio.timeout(START_WITHIN_S):
                frame: object = await context.read()
        except TimeoutError:
            raise _refused("DEADLINE_EXCEEDED", "call.no_start", "no `start` came", "send `start` first, at once") from None
        except DecodeError:
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, UNREADABLE) from None
        first = frame if isinstance(frame, pb.CallerFrame) else pb.CallerFrame()  # grpc.aio.EOF: the client sent none
        try:
            start = start_of(first, call_id_if_empty=str(uuid.uuid4()))
        except WireError as wrong:
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, wrong) from None
        if first.start.resume_token:
            mend = "start a new call without resume_token, or transfer the caller"
            raise _refused("FAILED_PRECONDITION", "call.cannot_resume", "calls can't be resumed in this release", mend)
        return start

    def _admitted(self, start: CallStart, context: Context) -> tuple[_Call, Callable[[Line], Awaitable[str]]]:
        if not self.ready or self.draining:
            why = "draining" if self.draining else "warming up"
            raise _refused(
                "UNAVAILABLE", "server.not_ready", f"the server is {why}", "take another server, or try again in a moment"
            )
        if start.call_id in self._live:
            raise _refused("ALREADY_EXISTS", "call.duplicate", "a call with this id is running", "use a new call_id for each call")
        if len(self._live) >= 2 * self._settings.max_calls:
            raise _refused("RESOURCE_EXHAUSTED", "server.full", "no line is free", "transfer the caller to the human queue")
        is_over = len(self._live) >= self._settings.max_calls
        self.counts["turned away" if is_over else "answered"] += 1
        call = _Call(GrpcLine(start, context), asyncio.timeout(self._settings.max_call_s + OVERTIME_S))
        self._live[start.call_id] = call
        self._idle.clear()
        return call, self._desk.turn_away if is_over else self._desk.answer

    async def _run(self, call: _Call, work: Callable[[Line], Awaitable[str]]) -> None:
        line = call.line
        try:
            async with call.scope:
                reason = await work(line)
            if line.given_up is not None:
                call.failed = Refused(grpc.StatusCode.INVALID_ARGUMENT, line.given_up)
            else:
                await line.send(Ended(reason=reason))
        except TimeoutError as error:
            call.failed = call.failed or (_overtime() if call.scope.expired() else self._broke_down(line, error))
        except Exception as error:  # noqa: BLE001  the server's border: one call's failure is no other's
            call.failed = self._broke_down(line, error)
        finally:
            self.counts.update(line.counts)
            del self._live[line.start.call_id]
            if not self._live:
                self._idle.set()
        if call.failed is not None:
            await line.send_frame(refusal_frame(call.failed.wrong))
        await line.close()

    def _broke_down(self, line: GrpcLine, error: Exception) -> Refused:
        self.counts["failed"] += 1
        _log.error("call failed", call_id=line.start.call_id, **anatomy(error))
        return _refused("INTERNAL", "call.failed", "the call failed", "transfer the caller to the human queue")

    def _line_broke(self, call: _Call) -> None:
        call.line.break_off()
        self.counts["broken lines"] += 1
        self._end_by(call, BROKEN_GRACE_S)

    def _end_by(self, call: _Call, in_s: float) -> None:
        """Bring a call's deadline nearer, never farther."""
        soonest = asyncio.get_running_loop().time() + in_s
        try:
            if (deadline := call.scope.when()) is None or deadline > soonest:
                call.scope.reschedule(soonest)
        except RuntimeError:  # not begun, or over
            return

    def _accepted(self, start: CallStart) -> pb.Accepted:
        return pb.Accepted(
            call_id=start.call_id,
            resume_token=secrets.token_urlsafe(24),
            max_call_s=self._settings.max_call_s,
            max_payload_bytes=MAX_PAYLOAD_BYTES,
            server_version=_version(),
        )


def _refused(status: str, code: str, message: str, what_to_do: str) -> Refused:
    return Refused(grpc.StatusCode[status], WireError(code, message, what_to_do))


def _overtime() -> Refused:
    return _refused(
        "DEADLINE_EXCEEDED", "call.too_long", "the call ran past its longest time", "transfer the caller if they are still there"
    )


def _version() -> str:
    try:
        return importlib.metadata.version("hotline")
    except importlib.metadata.PackageNotFoundError:
        return "source"


class HotlineServer:
    """The running server. Use as `async with`; not ready until set_ready(True). port: the one really bound.

    Leaving the block stops the server: calls still running are cut off after the drain's time (see `drain`).
    """

    def __init__(
        self,
        desk: CallDesk,
        settings: ServerSettings,
        *,
        book: AccessBook | None = None,
        certificates: Certificates | None = None,
    ) -> None:
        """Binds nothing yet. book None: who knows the settings' token may enter. certificates None: no TLS."""
        self.port = 0
        self._tasks = asyncio.TaskGroup()
        self._settings = settings
        self.service = HotlineService(desk, settings, self._tasks)
        self._health = health.aio.HealthServicer()
        self._book = book or AccessBook(token=settings.token)
        self._certificates = certificates
        self._server = grpc.aio.server(interceptors=[Guard(self._book)], options=server_options(settings.max_frame_bytes))

    async def __aenter__(self) -> Self:
        """Bind and listen. Raises ConfigWrong, PortTaken."""
        address = self._address()
        pb_grpc.add_HotlineServicer_to_server(self.service, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)
        await self.set_ready(is_ready=False)
        try:
            if self._certificates is None:
                self.port = self._server.add_insecure_port(address)
            else:
                self.port = self._server.add_secure_port(address, self._certificates.grpc_credentials())
        except RuntimeError:
            raise PortTaken(f"{address} can't be bound", what_to_do="stop the other server, or set server.port") from None
        await self._tasks.__aenter__()
        await self._server.start()
        _log.info("listening", host=self._settings.host, port=self.port, tls=self._certificates is not None)
        return self

    def _address(self) -> str:
        is_guarded = self._book.is_needed or (self._certificates is not None and self._certificates.asks_clients)
        return bind_address(self._settings.host, self._settings.port, token=self._settings.token, is_guarded=is_guarded)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        """Cut off what still runs."""
        await self.drain(within_s=0)
        await self._server.stop(grace=1.0)
        await self._tasks.__aexit__(None, None, None)

    async def set_ready(self, *, is_ready: bool) -> None:
        """Take calls, or not yet. Health says the same."""
        self.service.ready = is_ready
        status = health_pb2.HealthCheckResponse.SERVING if is_ready else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in ("", SERVICE):
            await self._health.set(name, status)

    async def drain(self, *, within_s: float) -> bool:
        """No new calls; wait for the running ones, then cut them off. True when all ended by themselves."""
        self.service.draining = True
        await self._health.enter_graceful_shutdown()
        return await self.service.drained(within_s)


async def serve(
    desk: CallDesk,
    settings: ServerSettings,
    *,
    ready: asyncio.Event | None = None,
    book: AccessBook | None = None,
    certificates: Certificates | None = None,
    doors: Sequence[Door] = (),
) -> None:
    """Serve until SIGTERM or SIGINT, then drain. ready: calls are taken once it is set (None: at once).

    doors: of other kinds, already listening; opened and drained with this one. Raises ConfigWrong, PortTaken.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        async with HotlineServer(desk, settings, book=book, certificates=certificates) as server, asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(_when_ready([server, *doors], ready), name="warm-up")
            await stop.wait()
            waiting.cancel()
            _log.info("draining", calls=server.service.live_calls, drain_s=settings.drain_s)
            for door in (server, *doors):
                tasks.create_task(door.drain(within_s=settings.drain_s), name="drain")
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def _when_ready(doors: Sequence[Door], ready: asyncio.Event | None) -> None:
    if ready is not None:
        await ready.wait()
    for door in doors:
        await door.set_ready(is_ready=True)
    _log.info("serving")
