"""The decode queue: finals first, guesses shed, stuck workers replaced, and one caller's trouble nobody else's."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np
import pytest

from asr.pool import MAX_REPLACEMENTS, AsidePool, DecodeJob, DecodePool
from asr.types import (
    Decoded,
    DecodeHints,
    HearingSettings,
    Pcm,
    Priority,
    RecogniserBusy,
    RecogniserFailed,
    RecogniserStalled,
)

FINAL, SPECULATIVE, ASIDE = Priority.FINAL, Priority.SPECULATIVE, Priority.ASIDE


@dataclass
class GatedRecogniser:
    """Each decode waits until let go; the segment's start_ms names it. breaks: these raise what a library would."""

    rate_hz: int = 16_000
    breaks: set[int] = field(default_factory=set)
    order: list[int] = field(default_factory=list)
    stopped: list[int] = field(default_factory=list)
    gates: dict[int, threading.Event] = field(default_factory=dict)

    def decode(self, speech: Pcm, hints: DecodeHints, stop: threading.Event) -> Decoded:
        name = speech.start_ms
        self.order.append(name)
        if name in self.gates:
            self.gates[name].wait(10)
        if stop.is_set():
            self.stopped.append(name)
        if name in self.breaks:
            raise ZeroDivisionError("with the caller's words in it")
        return Decoded(text=str(name), avg_logprob=-0.1, no_speech_prob=0.0)


def named(name: int) -> Pcm:
    return Pcm(samples=np.zeros(1600, dtype=np.float32), rate_hz=16_000, start_ms=name)


def job(name: int, priority: Priority = FINAL) -> DecodeJob:
    return DecodeJob(speech=named(name), hints=DecodeHints(), priority=priority)


@asynccontextmanager
async def pool_of(recogniser: GatedRecogniser, **settings: int) -> AsyncGenerator[DecodePool, None]:
    pool = DecodePool(recogniser, HearingSettings(**({"workers": 1} | settings)))
    try:
        yield pool
    finally:
        for gate in recogniser.gates.values():
            gate.set()
        await pool.close()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not true():  # noqa: ASYNC110  any state of the pool, not one event
            await asyncio.sleep(0)


async def test_a_segment_goes_in_and_its_text_comes_out() -> None:
    async with pool_of(GatedRecogniser()) as pool:
        decoded = await pool.decode(named(7), DecodeHints(), FINAL)
        assert decoded.text == "7"
        assert (pool.counters.decoded, pool.queued, pool.unfinished) == (1, 0, 0)


async def test_finals_overtake_guesses() -> None:
    recogniser = GatedRecogniser(gates={1: threading.Event()})
    async with pool_of(recogniser) as pool, asyncio.TaskGroup() as tasks:
        tasks.create_task(pool.run(job(1)))
        await until(lambda: recogniser.order == [1])
        for name, priority in ((2, SPECULATIVE), (3, SPECULATIVE), (4, FINAL), (5, FINAL)):
            tasks.create_task(pool.run(job(name, priority)))
        await until(lambda: pool.queued == 4)
        recogniser.gates[1].set()
    assert recogniser.order == [1, 4, 5, 2, 3]


async def test_a_guess_that_is_needed_now_becomes_a_final() -> None:
    recogniser = GatedRecogniser(gates={1: threading.Event()})
    async with pool_of(recogniser) as pool, asyncio.TaskGroup() as tasks:
        tasks.create_task(pool.run(job(1)))
        await until(lambda: recogniser.order == [1])
        needed = job(3, SPECULATIVE)
        for each in (job(2, SPECULATIVE), needed):
            tasks.create_task(pool.run(each))
        await until(lambda: pool.queued == 2)
        pool.promote(needed)
        pool.promote(needed)
        recogniser.gates[1].set()
    assert recogniser.order == [1, 3, 2]


async def test_a_full_queue_refuses_guesses_and_sheds_the_oldest_one_for_a_final() -> None:
    recogniser = GatedRecogniser(gates={1: threading.Event()})
    async with pool_of(recogniser, max_queue=2) as pool, asyncio.TaskGroup() as tasks:
        tasks.create_task(pool.run(job(1)))
        await until(lambda: recogniser.order == [1])
        oldest = tasks.create_task(_busy(pool, job(2, SPECULATIVE)))
        tasks.create_task(pool.run(job(3, SPECULATIVE)))
        await until(lambda: pool.queued == 2)
        with pytest.raises(RecogniserBusy):
            await pool.run(job(4, SPECULATIVE))
        tasks.create_task(pool.run(job(5)))
        await until(oldest.done)
        assert pool.queued == 2
        recogniser.gates[1].set()
    assert recogniser.order == [1, 5, 3]
    assert pool.counters.shed == 2


async def test_what_is_aside_comes_after_every_call_s_decodes_and_stays_there() -> None:
    recogniser = GatedRecogniser(gates={1: threading.Event()})
    async with pool_of(recogniser) as pool, asyncio.TaskGroup() as tasks:
        aside = AsidePool(pool)
        tasks.create_task(aside.run(job(1)))
        await until(lambda: recogniser.order == [1])
        needed = job(3, SPECULATIVE)
        for each in (job(2), needed):
            tasks.create_task(aside.run(each))
        for name, priority in ((4, SPECULATIVE), (5, FINAL)):
            tasks.create_task(pool.run(job(name, priority)))
        await until(lambda: pool.queued == 4)
        aside.promote(needed)
        recogniser.gates[1].set()
    assert recogniser.order == [1, 5, 4, 2, 3]


async def test_what_is_aside_leaves_a_worker_for_calls() -> None:
    recogniser = GatedRecogniser(gates={name: threading.Event() for name in (1, 2)})
    async with pool_of(recogniser, workers=2) as pool, asyncio.TaskGroup() as tasks:
        for name in (1, 2):
            tasks.create_task(pool.run(job(name, ASIDE)))
        await until(lambda: recogniser.order == [1])
        assert (await pool.decode(named(3), DecodeHints(), SPECULATIVE)).text == "3"
        assert recogniser.order == [1, 3]
        recogniser.gates[1].set()
        await until(lambda: recogniser.order == [1, 3, 2])
        recogniser.gates[2].set()


async def test_of_a_full_queue_what_is_aside_is_shed_first() -> None:
    recogniser = GatedRecogniser(gates={1: threading.Event()})
    async with pool_of(recogniser, max_queue=3) as pool, asyncio.TaskGroup() as tasks:
        tasks.create_task(pool.run(job(1)))
        await until(lambda: recogniser.order == [1])
        shed = [tasks.create_task(_busy(pool, job(name, ASIDE))) for name in (2, 3)]
        tasks.create_task(pool.run(job(4, SPECULATIVE)))
        await until(lambda: pool.queued == 3)
        with pytest.raises(RecogniserBusy):
            await pool.run(job(5, ASIDE))
        tasks.create_task(pool.run(job(6, SPECULATIVE)))
        await until(shed[0].done)
        tasks.create_task(pool.run(job(7)))
        await until(shed[1].done)
        recogniser.gates[1].set()
    assert recogniser.order == [1, 7, 4, 6]


async def test_a_pool_that_closes_refuses_what_is_aside_too() -> None:
    recogniser = GatedRecogniser(gates={1: threading.Event()})
    async with pool_of(recogniser) as pool, asyncio.TaskGroup() as tasks:
        tasks.create_task(pool.run(job(1, ASIDE)))
        await until(lambda: recogniser.order == [1])
        tasks.create_task(_failed(pool, job(2, ASIDE)))
        await until(lambda: pool.queued == 1)
        recogniser.gates[1].set()
        await pool.close()


async def test_a_final_waits_when_the_queue_is_full_of_finals() -> None:
    recogniser = GatedRecogniser(gates={1: threading.Event()})
    async with pool_of(recogniser, max_queue=1) as pool, asyncio.TaskGroup() as tasks:
        for name in (1, 2, 3, 4):
            tasks.create_task(pool.run(job(name)))
            await asyncio.sleep(0)
        await until(lambda: recogniser.order == [1])
        assert pool.queued == 1
        recogniser.gates[1].set()
    assert recogniser.order == [1, 2, 3, 4]
    assert pool.counters.decoded == 4


async def test_cancelling_drops_what_waits_and_stops_what_runs() -> None:
    recogniser = GatedRecogniser(gates={1: threading.Event()})
    async with pool_of(recogniser) as pool:
        async with asyncio.TaskGroup() as tasks:
            running, waiting = (tasks.create_task(pool.run(job(name))) for name in (1, 2))
            await until(lambda: recogniser.order == [1])
            waiting.cancel()
            running.cancel()
        assert pool.queued == 0
        recogniser.gates[1].set()
        assert (await pool.decode(named(3), DecodeHints(), FINAL)).text == "3"
        assert recogniser.stopped == [1]
        assert recogniser.order == [1, 3]
        assert pool.counters.cancelled == 2


async def test_what_breaks_breaks_for_its_own_caller_and_says_nothing_of_the_words() -> None:
    async with pool_of(GatedRecogniser(breaks={1})) as pool:
        with pytest.raises(RecogniserFailed) as failed:
            await pool.decode(named(1), DecodeHints(), FINAL)
        assert "words" not in str(failed.value)
        assert (await pool.decode(named(2), DecodeHints(), FINAL)).text == "2"
        assert (pool.counters.failed, pool.counters.decoded) == (1, 1)


async def test_a_stuck_worker_is_replaced_and_taken_off_when_it_comes_back() -> None:
    recogniser = GatedRecogniser(gates={1: threading.Event()})
    async with pool_of(recogniser, decode_deadline_ms=50) as pool:
        with pytest.raises(RecogniserStalled):
            await pool.decode(named(1), DecodeHints(), FINAL)
        await until(lambda: pool.counters.replaced == 1)
        assert (await pool.decode(named(2), DecodeHints(), FINAL)).text == "2"
        recogniser.gates[1].set()
        await until(lambda: pool.unfinished == 0)
        assert (await pool.decode(named(3), DecodeHints(), FINAL)).text == "3"
        assert pool.counters.stalled == 1


async def test_replacements_are_bounded() -> None:
    names = range(MAX_REPLACEMENTS + 3)
    recogniser = GatedRecogniser(gates={name: threading.Event() for name in names})
    async with pool_of(recogniser, decode_deadline_ms=20) as pool:
        for name in names:
            with pytest.raises(RecogniserStalled):
                await pool.decode(named(name), DecodeHints(), FINAL)
        await until(lambda: pool.counters.replaced == MAX_REPLACEMENTS)
        assert len(recogniser.order) == MAX_REPLACEMENTS + 1
        for gate in recogniser.gates.values():
            gate.set()
        await until(lambda: pool.unfinished == 0)
        assert (await pool.decode(named(99), DecodeHints(), FINAL)).text == "99"


async def test_two_workers_decode_two_calls_at_once() -> None:
    recogniser = GatedRecogniser(gates={1: threading.Event(), 2: threading.Event()})
    async with pool_of(recogniser, workers=2) as pool, asyncio.TaskGroup() as tasks:
        for name in (1, 2):
            tasks.create_task(pool.run(job(name)))
        await until(lambda: sorted(recogniser.order) == [1, 2])
        for gate in recogniser.gates.values():
            gate.set()


async def test_closing_fails_what_waits_and_refuses_what_comes() -> None:
    recogniser = GatedRecogniser(gates={1: threading.Event()})
    pool = DecodePool(recogniser, HearingSettings(workers=1))
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(pool.run(job(1)))
        await until(lambda: recogniser.order == [1])
        waiting = tasks.create_task(_failed(pool, job(2)))
        await until(lambda: pool.queued == 1)
        recogniser.gates[1].set()
        await pool.close()
        await waiting
    with pytest.raises(RecogniserFailed, match="closed"):
        await pool.decode(named(3), DecodeHints(), FINAL)
    assert not [thread for thread in threading.enumerate() if thread.name == "asr-decode" and thread.is_alive()]


async def test_many_callers_who_come_and_go_leave_nothing_behind() -> None:
    recogniser = GatedRecogniser()
    async with pool_of(recogniser, workers=2, max_queue=4) as pool:
        for _ in range(30):
            async with asyncio.TaskGroup() as tasks:
                for name in range(8):
                    task = tasks.create_task(pool.run(job(name)))
                    await asyncio.sleep(0)
                    if name % 2:
                        task.cancel()
        await until(lambda: pool.unfinished == 0)
        assert pool.counters.decoded + pool.counters.cancelled + pool.counters.failed >= 30 * 8
        assert len([thread for thread in threading.enumerate() if thread.name == "asr-decode"]) <= 2


async def _busy(pool: DecodePool, each: DecodeJob) -> None:
    with pytest.raises(RecogniserBusy):
        await pool.run(each)


async def _failed(pool: DecodePool, each: DecodeJob) -> None:
    with pytest.raises(RecogniserFailed, match="closed"):
        await pool.run(each)
