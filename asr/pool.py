"""The decode queue that all calls share: jobs in, decodes out. Knows nothing of calls, turns or models.

All bookkeeping happens on the event loop; threads only decode. Finals go before speculative decodes, and these before what is
asked aside from calls (recordings sent over HTTP), which leaves one worker of several free: a call waits for one such decode at
most. When the queue is full, what is least urgent is shed, and a final waits for a place. A worker that overruns its deadline is
written off and replaced.

    queued ──► running ──► done
       │          └──► RecogniserStalled (its worker: stuck, replaced, taken back when it returns)
       └──► shed (speculative, aside) / dropped (cancelled)
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from dataclasses import dataclass, field

from asr.types import (
    Decoded,
    DecodeHints,
    HearingSettings,
    Pcm,
    Priority,
    Recogniser,
    RecogniserBusy,
    RecogniserFailed,
    RecogniserStalled,
)

MAX_REPLACEMENTS = 4  # stuck threads can't be killed, only counted: beyond this the machine itself is ill
CLOSE_GRACE_S = 2.0


@dataclass(slots=True, eq=False)
class DecodeJob:
    """One decode, from queue to result. priority may rise while it waits (`DecodePool.promote`)."""

    speech: Pcm
    hints: DecodeHints
    priority: Priority
    stop: threading.Event = field(default_factory=threading.Event)
    result: asyncio.Future[Decoded] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def __repr__(self) -> str:
        """Without samples or words."""
        return f"DecodeJob(priority={self.priority.name}, speech_ms={self.speech.duration_ms})"


@dataclass(slots=True, eq=False)
class _Worker:
    """A thread and the job that it has now. written_off: replaced, because its job overran."""

    inbox: queue.SimpleQueue[DecodeJob | None] = field(default_factory=queue.SimpleQueue)
    thread: threading.Thread | None = None
    is_aside: bool = False
    overrun: asyncio.TimerHandle | None = None
    written_off: bool = False


@dataclass(slots=True)
class PoolCounters:
    """What happened so far; for metrics."""

    decoded: int = 0
    shed: int = 0
    stalled: int = 0
    failed: int = 0
    cancelled: int = 0
    replaced: int = 0


class DecodePool:
    """Shared by all calls of one event loop. The threads start with the first decode; `close` ends them."""

    def __init__(self, recogniser: Recogniser, settings: HearingSettings) -> None:
        self.counters = PoolCounters()
        self._recogniser = recogniser
        self._settings = settings
        self._deadline_s = settings.decode_deadline_ms / 1000
        self._finals: deque[DecodeJob] = deque()
        self._speculative: deque[DecodeJob] = deque()
        self._aside: deque[DecodeJob] = deque()
        self._idle: list[_Worker] = []
        self._workers: set[_Worker] = set()
        self._place_free = asyncio.Event()
        self._closed = False

    @property
    def rate_hz(self) -> int:
        """The rate that the recogniser wants."""
        return self._recogniser.rate_hz

    @property
    def queued(self) -> int:
        """Jobs that wait for a worker."""
        return len(self._finals) + len(self._speculative) + len(self._aside)

    @property
    def unfinished(self) -> int:
        """Jobs that wait or run."""
        return self.queued + len(self._workers) - len(self._idle)

    async def decode(self, speech: Pcm, hints: DecodeHints, priority: Priority) -> Decoded:
        """Decode one segment. Raises RecogniserFailed, RecogniserStalled, and RecogniserBusy for what is no final."""
        return await self.run(DecodeJob(speech=speech, hints=hints, priority=priority))

    async def run(self, job: DecodeJob) -> Decoded:
        """The same for a job that the caller keeps in hand. Cancelling drops it from the queue, or stops it at its next step."""
        try:
            async with asyncio.timeout(self._deadline_s):
                await self._enqueue(job)
                return await job.result
        except TimeoutError:
            self.counters.stalled += 1
            raise RecogniserStalled("A decode overran its deadline: fewer calls, a smaller model, or more cores.") from None
        except asyncio.CancelledError:
            self.counters.cancelled += 1
            raise
        finally:
            job.stop.set()
            self._drop(job)

    def promote(self, job: DecodeJob) -> None:
        """What was a guess is needed now: move it to the finals, if it still waits. What is aside stays aside."""
        if job.priority is Priority.ASIDE:
            return
        job.priority = Priority.FINAL
        if job in self._speculative:
            self._speculative.remove(job)
            self._finals.append(job)

    async def close(self) -> None:
        """Refuse what waits, stop what runs, end the threads. A stuck thread is left behind (it is a daemon)."""
        self._closed = True
        for job in (*self._finals, *self._speculative, *self._aside):
            job.result.set_exception(RecogniserFailed("The recogniser was closed."))
        self._finals.clear()
        self._speculative.clear()
        self._aside.clear()
        self._place_free.set()
        threads = [worker.thread for worker in self._workers if worker.thread is not None and not worker.written_off]
        for worker in self._workers:
            worker.inbox.put(None)
        await asyncio.to_thread(_join, threads)

    async def _enqueue(self, job: DecodeJob) -> None:
        while True:
            if self._closed:
                raise RecogniserFailed("The recogniser was closed.")
            if self.queued < self._settings.max_queue or self._has_idle_worker():
                break
            if self._shed_for(job.priority):
                continue
            if job.priority is not Priority.FINAL:
                self.counters.shed += 1
                raise RecogniserBusy("The decode queue is full.")
            self._place_free.clear()
            await self._place_free.wait()
        waiting = {Priority.FINAL: self._finals, Priority.SPECULATIVE: self._speculative, Priority.ASIDE: self._aside}
        waiting[job.priority].append(job)
        self._dispatch()

    def _shed_for(self, priority: Priority) -> bool:
        """The oldest of what is least urgent, if it is less urgent than that."""
        for rank, waiting in ((Priority.ASIDE, self._aside), (Priority.SPECULATIVE, self._speculative)):
            if waiting and rank > priority:
                self.counters.shed += 1
                waiting.popleft().result.set_exception(RecogniserBusy("Shed from the decode queue for what is more urgent."))
                return True
        return False

    def _has_idle_worker(self) -> bool:
        return bool(self._idle) or self._active_workers() < self._settings.workers

    def _active_workers(self) -> int:
        return sum(not worker.written_off for worker in self._workers)

    def _dispatch(self) -> None:
        while self._has_idle_worker() and (waiting := self._next()):
            job = waiting.popleft()
            worker = self._idle.pop() if self._idle else self._start_worker()
            worker.is_aside = job.priority is Priority.ASIDE
            loop = asyncio.get_running_loop()
            worker.overrun = loop.call_later(self._deadline_s, self._write_off, worker)
            worker.inbox.put(job)
        self._place_free.set()

    def _next(self) -> deque[DecodeJob]:
        """Where the next job is; empty when none may begin."""
        if self._finals or self._speculative:
            return self._finals or self._speculative
        asides = sum(worker.is_aside and not worker.written_off and worker not in self._idle for worker in self._workers)
        return self._aside if asides < max(1, self._settings.workers - 1) else deque()

    def _start_worker(self) -> _Worker:
        worker = _Worker()
        worker.thread = threading.Thread(
            target=self._work, args=(worker, asyncio.get_running_loop()), name="asr-decode", daemon=True
        )
        self._workers.add(worker)
        worker.thread.start()
        return worker

    def _work(self, worker: _Worker, loop: asyncio.AbstractEventLoop) -> None:
        """The thread: decode until told to end. Touches nothing of the pool but its own inbox."""
        while (job := worker.inbox.get()) is not None:
            outcome: Decoded | RecogniserFailed
            if job.stop.is_set():
                outcome = RecogniserFailed("Stopped before it began.")
            else:
                try:
                    outcome = self._recogniser.decode(job.speech, job.hints, job.stop)
                except RecogniserFailed as error:
                    outcome = error
                except Exception as error:  # noqa: BLE001  a thread's border: whatever broke is this caller's alone
                    outcome = RecogniserFailed(f"The recogniser broke ({type(error).__name__}): see `hotline doctor`.")
            try:
                loop.call_soon_threadsafe(self._finished, worker, job, outcome)
            except RuntimeError:  # the loop is gone: nobody listens
                return

    def _finished(self, worker: _Worker, job: DecodeJob, outcome: Decoded | RecogniserFailed) -> None:
        if worker.overrun is not None:
            worker.overrun.cancel()
        if not job.result.done():
            if isinstance(outcome, Decoded):
                self.counters.decoded += 1
                job.result.set_result(outcome)
            else:
                self.counters.failed += 1
                job.result.set_exception(outcome)
        if worker.written_off:  # its replacement has the place now
            self._workers.discard(worker)
            worker.inbox.put(None)
        else:
            self._idle.append(worker)
        if not self._closed:
            self._dispatch()

    def _write_off(self, worker: _Worker) -> None:
        if self._stuck_workers() >= MAX_REPLACEMENTS:
            return
        worker.written_off = True
        self.counters.replaced += 1
        self._dispatch()

    def _stuck_workers(self) -> int:
        return sum(worker.written_off for worker in self._workers)

    def _drop(self, job: DecodeJob) -> None:
        for waiting in (self._finals, self._speculative, self._aside):
            if job in waiting:
                waiting.remove(job)
                self._place_free.set()
        job.result.cancel()


class AsidePool:
    """The pool as an ear sees it that is on no telephone line: all its decodes give way to those of calls."""

    def __init__(self, pool: DecodePool) -> None:
        self.rate_hz = pool.rate_hz
        self.promote = pool.promote
        self._pool = pool

    async def run(self, job: DecodeJob) -> Decoded:
        """As the pool does, when no call wants anything."""
        job.priority = Priority.ASIDE
        return await self._pool.run(job)


Decodes = DecodePool | AsidePool


def _join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(timeout=CLOSE_GRACE_S / max(1, len(threads)))
