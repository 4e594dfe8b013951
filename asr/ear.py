"""One call's hearing: line packets in, speech events out. Knows nothing of what is said back, of masking or of the wire.

    packets ──LineFeed──► samples ──Vad──► probability ──Endpointer──► decisions
                             └──16 kHz──► turn audio ──DecodePool──► text ──guard──► Heard | Unclear

At the first short pause the words so far are decoded on suspicion; if the caller goes on, that work is dropped, and if the
pause turns out to be the end, the text is there already.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from asr.completeness import judge
from asr.endpoint import Closed, Decision, Endpointer, Going, Opened, Paused, Resumed
from asr.foreground import Foreground
from asr.guard import refusal
from asr.hotwords import MANDARIN_PROMPT, MAX_HOT_WORDS, prompt_of
from asr.linefeed import LineFeed, LineStats
from asr.pool import DecodeJob, Decodes
from asr.turn_audio import ClockedPositions, TurnAudio
from asr.types import (
    AudioPacket,
    Decoded,
    DecodeHints,
    Heard,
    HearingError,
    HearingSettings,
    Priority,
    RecogniserBusy,
    Slot,
    SpeechEnded,
    SpeechEvent,
    SpeechGoing,
    SpeechStarted,
    Unclear,
    Vad,
    WrongAudio,
)
from hotline.sound.codec import Codec
from hotline.sound.resample import Resampler

DEAD_LINE_MS = 400  # no packet for so long inside a turn: silence is assumed, so that the turn can end
MIN_DECODE_VOICED_MS = 96  # a click is not worth a decode
TAIL_MS = 400  # decoded after the last voiced window
HISTORY_MS = 1000  # kept while nobody speaks, beyond the pre-roll: the time until speech is sure
READ_AHEAD_PACKETS = 64


@dataclass(slots=True, eq=False)
class _Guess:
    """A decode of the words so far. ended: the turn was closed on it, so that its outcome is the turn's."""

    job: DecodeJob
    speech_end_ms: int
    voiced_ms: int
    task: asyncio.Task[None] | None = None
    outcome: Decoded | str | None = None  # None: not there yet; str: why there is none
    ended: SpeechEnded | None = None

    @property
    def was_shed(self) -> bool:
        """Dropped unheard: the turn's end needs another decode."""
        return self.outcome == RecogniserBusy.code


class Ear:
    """Hears one call. `run` once; `expect` and `hint` at any time, for what comes next."""

    def __init__(
        self, codec: Codec, rate_hz: int, vad: Vad, pool: Decodes, settings: HearingSettings, now_ms: Callable[[], int]
    ) -> None:
        """Raises WrongAudio for a codec and rate that no telephone line has."""
        self._line = LineFeed(codec, rate_hz)
        self._rate_hz = rate_hz
        self._vad = vad
        self._pool = pool
        self._settings = settings.endpoint
        self._endpointer = Endpointer(settings.endpoint)
        self._foreground = Foreground()
        self._positions = ClockedPositions(now_ms)
        self._to_vad = Resampler(rate_hz, vad.rate_hz)
        self._to_recogniser = Resampler(rate_hz, pool.rate_hz)
        self._audio = TurnAudio(pool.rate_hz)
        self._pending: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self._heard_samples = 0
        self._turn_from_ms = 0  # where the running turn's audio begins, pre-roll included
        self._free_from_ms = 0  # pre-roll never reaches back into the turn before
        self._slot = Slot.NONE
        self._hot_words: tuple[str, ...] = ()
        self._guess: _Guess | None = None

    @property
    def stats(self) -> LineStats:
        """What came over the line, and what was refused."""
        return self._line.stats

    def expect(self, slot: Slot) -> None:
        """What the caller was just asked to dictate: pauses inside it may be long."""
        self._slot = slot
        self._endpointer.expect(slot)

    def hint(self, words: Sequence[str]) -> None:
        """Terms that are likely from now on; the first ten count."""
        self._hot_words = tuple(words)[:MAX_HOT_WORDS]

    async def run(self, packets: AsyncGenerator[AudioPacket, None], emit: Callable[[SpeechEvent], None]) -> None:
        """Hear until the packets end; what is still being decoded then is waited for.

        Raises WrongAudio when the packets are not what was announced. A failing recogniser raises nothing: its turns are Unclear.
        """
        self._emit = emit
        inbox: asyncio.Queue[AudioPacket | None] = asyncio.Queue(READ_AHEAD_PACKETS)
        wrong: WrongAudio | None = None
        async with asyncio.TaskGroup() as self._tasks:
            reader = self._tasks.create_task(_read(packets, inbox), name="ear-read")
            try:
                await self._listen(inbox)
            except WrongAudio as error:
                wrong = error
                reader.cancel()
            self._act(self._endpointer.finish())
        if wrong is not None:
            raise wrong

    async def _listen(self, inbox: asyncio.Queue[AudioPacket | None]) -> None:
        while True:
            try:
                async with asyncio.timeout(DEAD_LINE_MS / 1000 if self._endpointer.is_open else None):
                    packet = await inbox.get()
            except TimeoutError:
                self._take(np.zeros(self._rate_hz * DEAD_LINE_MS // 1000, dtype=np.float32))
                continue
            if packet is None:
                return
            self._take(self._line.take(packet))

    def _take(self, samples: NDArray[np.float32]) -> None:
        self._audio.add(self._to_recogniser.feed(samples))
        self._pending = np.concatenate((self._pending, self._to_vad.feed(samples)))
        size = self._vad.window_samples
        while len(self._pending) >= size:
            window, self._pending = self._pending[:size], self._pending[size:]
            self._hear(window)

    def _hear(self, window: NDArray[np.float32]) -> None:
        self._heard_samples += len(window)
        at_ms = self._heard_samples * 1000 // self._vad.rate_hz
        self._positions.advance(at_ms)
        window_ms = len(window) * 1000 // self._vad.rate_hz
        probability = self._foreground.weigh(self._vad.speech_probability(window), window, window_ms)
        self._act(self._endpointer.feed(probability, at_ms, window_ms))
        if not self._endpointer.is_open:
            self._audio.forget(at_ms - self._settings.pre_roll_ms - HISTORY_MS)

    def _act(self, decisions: Sequence[Decision]) -> None:
        on_clock = self._positions.on_clock
        now_ms = self._positions.now_ms()
        for decision in decisions:
            match decision:
                case Opened(start_ms=start_ms):
                    self._turn_from_ms = max(start_ms - self._settings.pre_roll_ms, self._free_from_ms, 0)
                    self._emit(SpeechStarted(at_ms=now_ms, start_ms=on_clock(start_ms)))
                case Going(voiced_ms=voiced_ms):
                    self._emit(SpeechGoing(at_ms=now_ms, voiced_ms=voiced_ms))
                case Paused(speech_end_ms=speech_end_ms, voiced_ms=voiced_ms):
                    if voiced_ms >= MIN_DECODE_VOICED_MS:
                        self._guess = self._start_decode(speech_end_ms, voiced_ms, Priority.SPECULATIVE)
                        self._endpointer.await_text()
                case Resumed():
                    self._drop_guess()
                case Closed():
                    self._close(decision, now_ms)
                case _:
                    assert_never(decision)

    def _close(self, closed: Closed, now_ms: int) -> None:
        """The turn is over: exactly one Heard or Unclear follows, now or when the decode is done."""
        on_clock = self._positions.on_clock
        ended = SpeechEnded(
            at_ms=now_ms,
            start_ms=on_clock(closed.start_ms),
            last_speech_ms=on_clock(closed.speech_end_ms),
            vad_end_ms=on_clock(closed.vad_end_ms),
        )
        self._emit(ended)
        guess, self._guess = self._guess, None
        if guess is not None and (guess.speech_end_ms != closed.speech_end_ms or guess.was_shed):
            self._cancel(guess)
            guess = None
        if guess is None and closed.voiced_ms >= MIN_DECODE_VOICED_MS:
            guess = self._start_decode(closed.speech_end_ms, closed.voiced_ms, Priority.FINAL)
        self._free_from_ms = self._positions.audio_ms if closed.forced else closed.speech_end_ms
        if guess is None:
            self._refuse(ended, "too_short")
            return
        guess.ended = ended
        self._pool.promote(guess.job)
        self._settle(guess)

    def _start_decode(self, speech_end_ms: int, voiced_ms: int, priority: Priority) -> _Guess:
        until_ms = min(self._positions.audio_ms, speech_end_ms + TAIL_MS)
        hints = DecodeHints(hot_words=self._hot_words)
        job = DecodeJob(speech=self._audio.between(self._turn_from_ms, until_ms), hints=hints, priority=priority)
        guess = _Guess(job=job, speech_end_ms=speech_end_ms, voiced_ms=voiced_ms)
        guess.task = self._tasks.create_task(self._decode(guess), name="ear-decode")
        return guess

    async def _decode(self, guess: _Guess) -> None:
        hints = guess.job.hints
        try:
            decoded = await self._pool.run(guess.job)
        except HearingError as error:
            guess.outcome = error.code
        else:
            reason = refusal(
                decoded, voiced_ms=guess.voiced_ms, prompts=(MANDARIN_PROMPT, prompt_of(hints)), hot_words=hints.hot_words
            )
            guess.outcome = decoded if reason is None else reason
        if guess.ended is None:
            text = guess.outcome.text if isinstance(guess.outcome, Decoded) else ""
            judgement = judge(text, self._slot)
            self._act(self._endpointer.note_text(complete=judgement.complete, dictating=judgement.dictating))
        else:
            self._settle(guess)

    def _settle(self, guess: _Guess) -> None:
        """Tell the turn's outcome, if the turn is over and the outcome is there."""
        match guess.ended, guess.outcome:
            case (None, _) | (_, None):
                return
            case SpeechEnded() as ended, Decoded() as decoded:
                confidence = min(1.0, math.exp(decoded.avg_logprob))
                self._emit(Heard(at_ms=self._positions.now_ms(), text=decoded.text, ended=ended, confidence=confidence))
            case SpeechEnded() as ended, str() as reason:
                self._refuse(ended, reason)

    def _refuse(self, ended: SpeechEnded, reason: str) -> None:
        self.stats.refused[reason] += 1
        self._emit(Unclear(at_ms=self._positions.now_ms(), reason=reason, ended=ended))

    def _drop_guess(self) -> None:
        if self._guess is not None:
            self._cancel(self._guess)
            self._guess = None

    def _cancel(self, guess: _Guess) -> None:
        if guess.task is not None:
            guess.task.cancel()


async def _read(packets: AsyncGenerator[AudioPacket, None], inbox: asyncio.Queue[AudioPacket | None]) -> None:
    async with aclosing(packets):
        async for packet in packets:
            await inbox.put(packet)
    await inbox.put(None)
