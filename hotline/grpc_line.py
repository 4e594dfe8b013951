"""A call's line over a gRPC stream: frames in → events, events → queued frames out. Knows the wire, not the call or its limits.

The call reads and sends from its own tasks; the stream's handler is the only writer (`pump`), because a cancelled
write leaves an operation pending in gRPC and every later write fails.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

import grpc.aio
from google.protobuf.message import DecodeError

from hotline.lines import BotAudio, BotEvent, CallStart, Ended, HungUp, Key, LineEvent, Why
from hotline.metrics import CALLER_FRAMES
from hotline.v1 import hotline_pb2 as pb
from hotline.wire import UNKNOWN_FRAME, WireError, bot_frame, caller_event, refusal_frame

if TYPE_CHECKING:
    Stream = grpc.aio.ServicerContext[pb.CallerFrame, pb.BotFrame]

QUEUED_FRAMES = 16  # 320 ms of audio: enough for jitter, little enough that `clear` is not late
STUCK_S = 10.0
BAD_IN_A_ROW = 50
TOO_MANY_BAD = WireError(
    "call.bad_frames", f"more than {BAD_IN_A_ROW} bad frames in a row", "see the errors sent before; mend the gateway"
)
UNREADABLE = WireError("frame.unreadable", "bytes that are no frame were dropped", "send CallerFrame messages, text in valid UTF-8")


class ClientStuck(Exception):
    """The client has taken no frame for STUCK_S."""


class GrpcLine:
    """The line of one stream. counts: frames that were ignored, by code; given_up: why the line ended the call, if it did."""

    def __init__(self, start: CallStart, stream: Stream) -> None:
        """stream: its `start` has been read."""
        self.start = start
        self.counts: Counter[str] = Counter()
        self.given_up: WireError | None = None
        self.ended = False
        self.broken = asyncio.Event()
        self._stream = stream
        self._outbox: asyncio.Queue[pb.BotFrame | None] = asyncio.Queue(QUEUED_FRAMES)
        self._sequence = 0
        self._bad_in_a_row = 0
        self._person_wanted = False

    async def events(self) -> AsyncGenerator[LineEvent, None]:
        """The caller's events. Ends after HungUp; without one when the client's frames end or the connection breaks."""
        while True:
            try:
                event = await self._next()
            except WireError as wrong:
                self._count(wrong)
                if self.given_up is None:
                    continue
                event = HungUp(reason="bad_frames")
            if event is None:
                return
            yield event
            if isinstance(event, HungUp):
                return
            if self._person_wanted:
                self._person_wanted = False
                yield Key(digit="0")

    def want_person(self) -> None:
        """Hand this caller over to a person, as if they had pressed 0: the server is going down."""
        self._person_wanted = True

    async def send(self, event: BotEvent) -> None:
        """Queue an event; waits while the client is slow. Nothing after the break or after `end`."""
        if self.broken.is_set() or self.ended or isinstance(event, Why):
            return
        self.ended = isinstance(event, Ended)
        sequence = self._sequence
        if isinstance(event, BotAudio):
            self._sequence = (sequence + 1) % 2**32
        await self._outbox.put(bot_frame(event, sequence=sequence))

    async def send_frame(self, frame: pb.BotFrame) -> None:
        """Queue a frame of the server itself."""
        if not self.broken.is_set():
            await self._outbox.put(frame)

    async def close(self) -> None:
        """The call is over: `pump` returns once everything queued is out."""
        if not self.broken.is_set():
            await self._outbox.put(None)

    async def pump(self) -> None:
        """Write what is queued until `close`. Raises ClientStuck; a broken stream ends it quietly."""
        while not self.broken.is_set() and (frame := await self._outbox.get()) is not None:
            try:
                async with asyncio.timeout(STUCK_S):
                    await self._stream.write(frame)
            except TimeoutError:
                self.break_off()
                raise ClientStuck from None
            except grpc.aio.BaseError:
                self.break_off()

    def break_off(self) -> None:
        """The stream is gone: nothing more is sent, and whoever waits to send goes on."""
        self.broken.set()
        while not self._outbox.empty():
            self._outbox.get_nowait()

    async def _next(self) -> LineEvent | None:
        """The next event; None when the client's frames are at their end. Raises WireError for a frame that is none."""
        try:
            frame: object = await self._stream.read()
        except grpc.aio.BaseError:
            return None
        except DecodeError:
            raise UNREADABLE from None
        if not isinstance(frame, pb.CallerFrame):  # grpc.aio.EOF
            return None
        event = caller_event(frame)
        self._bad_in_a_row = 0
        return event

    def _count(self, wrong: WireError) -> None:
        self.counts[wrong.code] += 1
        CALLER_FRAMES.of("bad").inc()
        if wrong.code == UNKNOWN_FRAME:  # a newer gateway's frames are no fault
            return
        self._bad_in_a_row += 1
        if self._bad_in_a_row > BAD_IN_A_ROW:
            self.given_up = TOO_MANY_BAD
        elif self.counts[wrong.code] == 1 and not (self._outbox.full() or self.broken.is_set()):
            self._outbox.put_nowait(refusal_frame(wrong))
