"""What callers do that no gateway should, each as a call to make. What must come of it stands in the tests."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from hotline.sound.codec import Codec, encode
from hotline.sound.resample import resample
from hotline.v1 import hotline_pb2 as pb
from tests.rough_caller import LINE_HZ, PATIENCE_S, RoughCaller, Samples, frames_of

PERMIT, WATER = "居住证怎么办理", "停水了怎么办"
Act = Callable[[RoughCaller, "Words"], Awaitable[None]]
Words = Mapping[str, Samples]


@dataclass(frozen=True, kw_only=True)
class Ring:
    """A call to make. act: what is done after the greeting; words: said after it; until: when the caller leaves."""

    act: Act
    words: str = PERMIT
    codec: Codec | None = Codec.PCMA
    rate_hz: int = LINE_HZ
    start: Mapping[str, Any] = field(default_factory=dict)
    until: Callable[[RoughCaller], bool] = lambda caller: bool(caller.of("turn_metrics") or caller.of("transfer"))
    at_most_s: float = PATIENCE_S


# ---------------------------------------------------------------- mischief


async def nothing(_caller: RoughCaller, _words: Words) -> None:
    pass


def packets(count: int, payload: bytes) -> Act:
    async def act(caller: RoughCaller, _words: Words) -> None:
        for _ in range(count):
            await caller.packet(payload)

    return act


def frames(count: int = 1, **frame: Any) -> Act:  # noqa: ANN401  any frame
    async def act(caller: RoughCaller, _words: Words) -> None:
        for _ in range(count):
            await caller.send(**frame)

    return act


async def doubled(caller: RoughCaller, words: Words) -> None:
    """Every packet twice."""

    async def twice(payload: bytes) -> None:
        sequence = caller.sequence
        await caller.packet(payload)
        await caller.packet(payload, sequence=sequence)
        caller.sequence = sequence + 1

    await in_time(words[PERMIT], twice)


async def every_third_missing(caller: RoughCaller, words: Words) -> None:
    async def lossy(payload: bytes) -> None:
        if caller.sequence % 3 == 2:
            caller.sequence += 1
        else:
            await caller.packet(payload)

    await in_time(words[PERMIT], lossy)


async def out_of_order(caller: RoughCaller, words: Words) -> None:
    dice, base = random.Random(7), caller.sequence  # noqa: S311  not a secret
    order = [at + i for at in range(0, len(frames_of(words[PERMIT])), 4) for i in dice.sample(range(4), 4)]
    coming = iter(order)

    async def shuffled(payload: bytes) -> None:
        await caller.packet(payload, sequence=base + next(coming))

    await in_time(words[PERMIT], shuffled)
    caller.sequence = base + len(order)


async def wild_number(caller: RoughCaller, words: Words) -> None:
    """The twentieth packet says that 2³¹ were lost."""

    async def wild(payload: bytes) -> None:
        sequence = caller.sequence
        await caller.packet(payload, sequence=(sequence + 2**31) % 2**32 if sequence % 50 == 20 else sequence)
        caller.sequence = sequence + 1

    await in_time(words[PERMIT], wild)


async def nonsense(caller: RoughCaller, _words: Words) -> None:
    """Statistics, marks, keys and transfers that can't be."""
    most = 2**64 - 1
    await caller.send(media_stats=pb.MediaStats(packets_received=most, packets_lost=most, jitter_us=2**32 - 1))
    await caller.send(mark_played=pb.MarkPlayed(reply_id=most, name="9" * 100))
    await caller.send(mark_played=pb.MarkPlayed(reply_id=1, name="x" * 1000))
    await caller.send(dtmf=pb.Dtmf(digit="天" * 100))
    await caller.send(transfer_result=pb.TransferResult(ticket="nobody's", outcome=pb.TRANSFER_OUTCOME_ACCEPTED))
    await caller.send(resumed=pb.Resumed())
    for _ in range(2):
        await caller.send(held=pb.Held())
        await caller.send(resumed=pb.Resumed())


async def in_time(samples: Samples, send: Callable[[bytes], Awaitable[None]]) -> None:
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    for step, frame in enumerate(frames_of(samples)):
        await asyncio.sleep(max(0.0, began_s + step * 0.02 - loop.time()))
        await send(encode(frame, Codec.PCMA))


def sound(samples: Samples) -> Act:
    async def act(caller: RoughCaller, _words: Words) -> None:
        await caller.play(samples)

    return act


def as_if(wire: Codec, wire_hz: int = LINE_HZ) -> Act:
    """The right words in another codec or rate than the call's start said."""

    async def act(caller: RoughCaller, words: Words) -> None:
        await caller.play(resample(words[PERMIT], LINE_HZ, caller.rate_hz), lambda part: encode(at(part, caller), wire))

    def at(part: Samples, caller: RoughCaller) -> Samples:
        return resample(part, caller.rate_hz, wire_hz) if wire_hz != caller.rate_hz else part

    return act


def tones(length: float, *hertz: float, on_s: float, off_s: float, level: float = 0.2) -> Samples:
    t = np.arange(round(length * LINE_HZ)) / LINE_HZ
    waves = np.sum([np.sin(2 * np.pi * each * t) for each in hertz], axis=0)
    return (waves * level * (t % (on_s + off_s) < on_s)).astype(np.float32)


def white(length: float, level: float) -> Samples:
    return np.random.default_rng(3).normal(0, level, round(length * LINE_HZ)).clip(-1, 1).astype(np.float32)


# Whatever is done first, the words after it are heard and answered.
HEARD: Mapping[str, Ring] = MappingProxyType({
    "normal": Ring(act=nothing),
    "other_words": Ring(act=nothing, words=WATER),
    "wideband": Ring(act=nothing, codec=Codec.L16, rate_hz=16_000),
    "mu_law": Ring(act=nothing, codec=Codec.PCMU),
    "marks_promised_and_never_sent": Ring(act=nothing, start={"reports_marks": True}),
    "empty_packets": Ring(act=packets(30, b"")),
    "packets_of_1921_bytes": Ring(act=packets(30, b"\x00" * 1921)),
    "a_packet_of_1_MiB": Ring(act=packets(1, b"\x00" * (1 << 20))),
    "frames_of_nothing": Ring(act=frames(60)),
    "second_start": Ring(act=frames(3, start=pb.Start(codec=pb.CODEC_L16, sample_rate_hz=16_000))),
    "doubled": Ring(act=doubled, words=""),
    "wild_number": Ring(act=wild_number, words=""),
    "nonsense": Ring(act=nonsense),
})


def answered(caller: RoughCaller) -> bool:
    return bool(caller.of("turn_metrics"))


def asked_again(caller: RoughCaller) -> bool:
    return "reprompt" in caller.routes or bool(caller.of("transfer"))


# No words are in it, or none that could be understood: nothing may be made up.
NO_WORDS: Mapping[str, Ring] = MappingProxyType({
    "silence": Ring(act=nothing, words="", until=lambda caller: bool(caller.of("transfer"))),
    "white_noise": Ring(act=sound(white(8, 0.05)), words="", until=asked_again),
    "loud_white_noise": Ring(act=sound(white(8, 0.5)), words="", until=asked_again),
    "ring_back": Ring(act=sound(tones(8, 450, on_s=1, off_s=3)), words="", until=asked_again),
    "keys_in_band": Ring(act=sound(tones(8, 941, 1336, on_s=0.1, off_s=0.1)), words="", until=asked_again),
    "clipped_square_wave": Ring(act=sound(np.sign(tones(8, 180, on_s=9, off_s=0)).astype(np.float32)), words="", until=asked_again),
})
# The packets are not what the start said.
ANOTHER_CODEC: Mapping[str, Ring] = MappingProxyType({
    "L16_as_PCMA": Ring(act=as_if(Codec.L16), words=""),
    "PCMA_as_L16": Ring(act=as_if(Codec.PCMA), words="", codec=Codec.L16),
    "16_kHz_as_8": Ring(act=as_if(Codec.L16, 16_000), words="", codec=Codec.L16),
})
# Words may be lost; a call must not.
SHAKEN: Mapping[str, Ring] = MappingProxyType({
    "every_third_missing": Ring(act=every_third_missing, words="", until=lambda caller: asked_again(caller) or answered(caller)),
    "out_of_order": Ring(act=out_of_order, words="", until=lambda caller: asked_again(caller) or answered(caller)),
})
