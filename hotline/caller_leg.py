"""A caller's leg over gRPC, as a gateway would hold it: sound in at 20 ms a frame, bot frames played out, all on one clock.

Something else decides what the caller says: a file (`hotline.replay`) or a live script (`hotline.demo`). One task writes
and one reads, because a cancelled write cancels the whole stream in grpc.aio.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import grpc
import grpc.aio
import numpy as np
from numpy.typing import NDArray

from hotline.call_events import CallEvent, Field
from hotline.caller_voice import CallerVoice
from hotline.leg_playout import LegPlayout
from hotline.recording import Recording
from hotline.sound.codec import Codec, decode, encode
from hotline.transport import bearer, channel_options
from hotline.v1 import hotline_pb2 as pb
from hotline.v1 import hotline_pb2_grpc as pb_grpc

Samples = NDArray[np.float32]
Stream = grpc.aio.StreamStreamCall[pb.CallerFrame, pb.BotFrame]

FRAME_MS = 20
ACCEPT_WITHIN_S = 10.0
LAST_WORDS_MS = 15_000  # what is still buffered when the bot ends is played, up to this
AFTER_TRANSFER_MS = 500  # the bot may end the call itself after a transfer, before we hang up
CLOSE_WITHIN_S = 5.0
EVENTS_KEPT = 4096
ARRIVALS_KEPT = 100_000  # half an hour of the bot's speech
_WIRE_CODEC = {Codec.PCMA: pb.CODEC_PCMA, Codec.PCMU: pb.CODEC_PCMU, Codec.L16: pb.CODEC_L16}


@dataclass(frozen=True, slots=True, kw_only=True)
class LegSettings:
    """noise_dbov: line noise where the caller is silent, and under their words if noise_under_speech.

    is_realtime False: as fast as the server takes it, at_ms counted in frames; no good for calls with timers.
    """

    codec: Codec = Codec.PCMA
    rate_hz: int = 8000
    call_id: str = ""
    caller_number: str = ""
    trunk: str = "replay"
    noise_dbov: float = -65.0
    noise_under_speech: bool = True
    is_realtime: bool = True
    reports_marks: bool = True
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A frame from the bot (all but audio) and when it came."""

    at_ms: int
    frame: pb.BotFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class LegReport:
    """How the call went. reason: the bot's `end`, or `hung_up`, or `broken`; error: what broke, else empty."""

    call_id: str
    reason: str
    duration_ms: int
    error: str = ""


class CallerLeg:
    """One call. Run `run()` in a task; meanwhile `say`, `type`, `press`, `hang_up`, wait with `until`.

    events: what came from the bot, but audio; None is the last.
    """

    def __init__(
        self,
        stub: pb_grpc.HotlineAsyncStub,
        settings: LegSettings,
        *,
        token: str = "",
        on_event: Callable[[CallEvent], None] | None = None,
    ) -> None:
        """on_event: told everything that goes into events.jsonl, as it happens."""
        self.recording = Recording(settings.rate_hz, on_event)
        self.events: asyncio.Queue[Received | None] = asyncio.Queue(EVENTS_KEPT)
        self.arrivals_s: deque[float] = deque(maxlen=ARRIVALS_KEPT)  # of bot audio frames, by this loop's clock
        self.is_over = False
        self.voice = CallerVoice(
            rate_hz=settings.rate_hz,
            frame_ms=FRAME_MS,
            noise_dbov=settings.noise_dbov,
            noise_under_speech=settings.noise_under_speech,
            seed=settings.seed,
        )
        self._stub = stub
        self._settings = settings
        self._token = token
        self._playout = LegPlayout()
        self._frame_samples = settings.rate_hz * FRAME_MS // 1000
        self._control: deque[pb.CallerFrame] = deque()
        self._ticked = asyncio.Condition()
        self._steps = 0
        self._began_s = 0.0
        self._call_id = settings.call_id
        self._ended_by = ""
        self._error = ""
        self._hang_up_at_ms: int | None = None
        self._hang_up_reason = "caller"
        self._transfer: pb.Transfer | None = None

    # ------------------------------------------------------------ what the caller does

    @property
    def now_ms(self) -> int:
        """Since the call was accepted."""
        if not self._settings.is_realtime or not self._began_s:
            return self._steps * FRAME_MS
        return round((asyncio.get_running_loop().time() - self._began_s) * 1000)

    @property
    def bot_is_speaking(self) -> bool:
        """Bot audio is being played, or waits in the gateway's buffer."""
        return self._playout.is_speaking

    def say(self, samples: Samples, rate_hz: int | None = None) -> int:
        """Queue words of the caller. Returns their length in ms; `voice.is_saying` tells when they are all on the line."""
        return self.voice.say(samples, rate_hz)

    def type(self, words: str) -> None:
        """Words of a caller who types. Only their number is written down: they are not masked yet."""
        self._control.append(pb.CallerFrame(text=pb.Text(text=words)))
        self.recording.note(self.now_ms, "caller", "typed", characters=len(words))

    def press(self, digit: str) -> None:
        """A key."""
        self._control.append(pb.CallerFrame(dtmf=pb.Dtmf(digit=digit, duration_ms=100)))
        self.recording.note(self.now_ms, "caller", "key", digit=digit)

    def hang_up(self, reason: str = "caller", *, in_ms: int = 0) -> None:
        """Leave at the next frame after in_ms."""
        self._hang_up_at_ms = self._steps * FRAME_MS + in_ms
        self._hang_up_reason = reason

    async def until(self, is_true: Callable[[], bool]) -> None:
        """Wait, frame by frame, for something about this leg. Returns too when the call is over."""
        async with self._ticked:
            await self._ticked.wait_for(lambda: self.is_over or is_true())

    # ------------------------------------------------------------ the call

    async def run(self) -> LegReport:
        """The whole call. Errors of the connection end up in the report."""
        stream = self._stub.Converse(metadata=bearer(self._token))
        try:
            async with asyncio.timeout(ACCEPT_WITHIN_S):
                await stream.write(_start_frame(self._settings))
                first: object = await stream.read()
            if isinstance(first, pb.BotFrame) and self._took(first):
                self._began_s = asyncio.get_running_loop().time()
                async with asyncio.TaskGroup() as tasks:
                    reading = tasks.create_task(self._receive(stream), name="receive")
                    await self._pace(stream)
                    await asyncio.wait([reading], timeout=CLOSE_WITHIN_S)
                    reading.cancel()
        except TimeoutError:
            self._error = "the server didn't answer"
        except grpc.aio.AioRpcError as broken:
            self._error = self._error or f"{broken.code().name}: {broken.details()}"
        finally:
            stream.cancel()
            self.is_over = True
            if self.events.full():  # nobody reads; whoever does yet must find the end
                self.events.get_nowait()
            self.events.put_nowait(None)
            async with self._ticked:
                self._ticked.notify_all()
        reason = self._ended_by or ("broken" if self._error else "hung_up")
        return LegReport(call_id=self._call_id, reason=reason, duration_ms=self.recording.duration_ms, error=self._error)

    async def _pace(self, stream: Stream) -> None:
        """A frame every 20 ms by the loop's clock: a late one is followed up at once."""
        loop = asyncio.get_running_loop()
        last_step: int | None = None
        while last_step is None or (self._steps < last_step and self.bot_is_speaking):
            await asyncio.sleep(
                max(0.0, self._began_s + self._steps * FRAME_MS / 1000 - loop.time()) if self._settings.is_realtime else 0
            )
            caller = encode(self.voice.next_frame(), self._settings.codec)
            if last_step is None and not await self._send(stream, caller):
                last_step = self._steps + (LAST_WORDS_MS // FRAME_MS if self._ended_by else 0)
            self._play(caller)
            self._steps += 1
            async with self._ticked:
                self._ticked.notify_all()

    async def _send(self, stream: Stream, caller: bytes) -> bool:
        """False when there is nothing more to send: the bot ended, the stream broke, or the caller hung up."""
        try:
            while self._control and not (self._ended_by or self._error):
                await stream.write(self._control.popleft())
            if self._ended_by or self._error:
                return False
            if self._hang_up_at_ms is not None and self._steps * FRAME_MS >= self._hang_up_at_ms:
                await stream.write(pb.CallerFrame(hangup=pb.Hangup(reason=self._hang_up_reason)))
                self.recording.note(self.now_ms, "caller", "hangup", reason=self._hang_up_reason)
                self._playout.clear()
                return False
            audio = pb.Audio(sequence=self._steps, capture_ms=self._steps * FRAME_MS, payload=caller)
            await stream.write(pb.CallerFrame(audio=audio))
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):  # the reader learns why
            return False
        return True

    def _play(self, caller: bytes) -> None:
        step = self._playout.step()
        silence = np.zeros(self._frame_samples, np.float32)
        bot = silence if step.payload is None else decode(step.payload, self._settings.codec)[: self._frame_samples]
        self.recording.add(decode(caller, self._settings.codec), np.concatenate([bot, silence[len(bot) :]]))
        for mark in step.marks:
            self.recording.note(self.now_ms, "caller", "mark_played", reply_id=mark.reply_id, name=mark.name)
            if self._settings.reports_marks:
                played = pb.MarkPlayed(reply_id=mark.reply_id, name=mark.name)
                self._control.append(pb.CallerFrame(mark_played=played))
        if self._transfer is not None and not self.bot_is_speaking:  # its announcement is played out
            self._control.append(_accepted(self._transfer))
            self.recording.note(self.now_ms, "caller", "transfer_result", ticket=self._transfer.ticket, outcome="accepted")
            self._transfer = None
            self.hang_up("transferred", in_ms=AFTER_TRANSFER_MS)

    async def _receive(self, stream: Stream) -> None:
        try:
            while isinstance(frame := await stream.read(), pb.BotFrame):
                self._take(frame)
            if not self._ended_by and await stream.code() is not grpc.StatusCode.OK:
                self._error = f"{(await stream.code()).name}: {await stream.details()}"
        except grpc.aio.AioRpcError as broken:
            self._error = f"{broken.code().name}: {broken.details()}"
        self._ended_by = self._ended_by or ("" if self._error else "closed")

    def _take(self, frame: pb.BotFrame) -> None:
        kind = frame.WhichOneof("frame") or "unknown"
        match kind:
            case "audio":
                self.arrivals_s.append(asyncio.get_running_loop().time())
                self._playout.add_frame(frame.audio.payload)
                return
            case "mark":
                self._playout.add_mark(frame.reply_id, frame.mark.name)
            case "clear":
                self.recording.note(self.now_ms, "caller", "dropped", dropped_ms=self._playout.clear() * FRAME_MS)
            case "transfer":
                self._transfer = frame.transfer
            case "end":
                self._ended_by = frame.end.reason or "end"
        self.recording.note(self.now_ms, "bot", kind, **fields_of(frame))
        if not self.events.full():  # nobody reads: the log has it all
            self.events.put_nowait(Received(at_ms=self.now_ms, frame=frame))

    def _took(self, first: pb.BotFrame) -> bool:
        self._take(first)
        if first.WhichOneof("frame") == "accepted":
            self._call_id = first.accepted.call_id
            return True
        self._error = f"{first.error.code}: {first.error.message}; {first.error.what_to_do}"
        return False


def _start_frame(settings: LegSettings) -> pb.CallerFrame:
    start = pb.Start(
        call_id=settings.call_id,
        caller_number=settings.caller_number,
        codec=_WIRE_CODEC[settings.codec],
        sample_rate_hz=settings.rate_hz,
        trunk=settings.trunk,
        reports_marks=settings.reports_marks,
    )
    return pb.CallerFrame(start=start)


def _accepted(transfer: pb.Transfer) -> pb.CallerFrame:
    """A person has the caller."""
    result = pb.TransferResult(ticket=transfer.ticket, outcome=pb.TRANSFER_OUTCOME_ACCEPTED, sip_code=200)
    return pb.CallerFrame(transfer_result=result)


async def until_bot_is_quiet(leg: CallerLeg, for_ms: int = 400) -> None:
    """Wait until the bot has played nothing for so long, or the call is over."""
    quiet_since_ms = leg.now_ms

    def is_quiet() -> bool:
        nonlocal quiet_since_ms
        if leg.bot_is_speaking:
            quiet_since_ms = leg.now_ms
        return leg.now_ms - quiet_since_ms >= for_ms

    await leg.until(is_quiet)


def fields_of(frame: pb.BotFrame) -> dict[str, Field]:
    """A frame's content under the contract's names; resume_token left out: it opens the call to whoever holds it."""
    kind = frame.WhichOneof("frame")
    content = getattr(frame, kind) if kind else pb.Held()
    told: dict[str, Field] = {"reply_id": frame.reply_id} if frame.reply_id else {}
    for field in content.DESCRIPTOR.fields:
        value = getattr(content, field.name)
        told[field.name] = value if isinstance(value, str | int) else list(value)
    told.pop("resume_token", None)
    return told


def open_channel(target: str, credentials: grpc.ChannelCredentials | None = None) -> grpc.aio.Channel:
    """A channel to a server, with this product's keepalive; without credentials in clear. Use as `async with`."""
    if credentials is None:
        return grpc.aio.insecure_channel(target, options=channel_options())
    return grpc.aio.secure_channel(target, credentials, options=channel_options())
