"""Failures of other voice bots to the millisecond: a filler and its answer, and a caller whose offer no broker takes."""

import asyncio
import functools
import itertools
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from hotline.lines import BotAudio, Clear
from hotline.parts import Phrases
from hotline.paths import configs_dir
from hotline.sound.codec import Codec, decode
from hotline.turns import TurnSettings
from llm import knowledge
from llm.mind import AnsweringMind
from llm.types import AnsweringSettings, Dialogue, EngineFailed, MaskedText, Step
from tests.fakes import MemoryRecord, Say, SilentVoice
from tests.rooms.tts.test_speaking import Tone
from tests.script import ANSWERS, SOCIAL, Caller, Outcome, stored
from tts.speech import Speech
from tts.types import SpeakingSettings, Spoken

Samples = NDArray[np.float32]

FILLER = Phrases().filler
ASK = Say(at_ms=15_000, text="社保怎么交", ms=1_000)
DECIDED_MS = 16_600  # it was understood
FILLER_AFTER_MS, SYNTHESIS_MS = 1_000, 50
FRAME_MS, RATE_PER_MS = 20, 8
LOUD = 0.004  # above what A-law makes of silence
TURNS = TurnSettings(filler_after_ms=FILLER_AFTER_MS, speaking_gap_ms=900, thinking_limit_ms=5_000)


# ---------------------------------------------------------------- the filler


@functools.cache
def sound_of(text: str) -> Samples:
    """As the room for speech makes it, with a voice that is a tone; whole frames, so that nothing is padded on the line."""

    async def speak() -> Samples:
        speech = Speech(Tone(), SpeakingSettings())
        try:
            samples = (await speech.speak(text)).samples
        finally:
            speech.close()
        frame = FRAME_MS * RATE_PER_MS
        return np.pad(samples, (0, -len(samples) % frame))

    return asyncio.run(speak())


@dataclass
class ToneVoice(SilentVoice):
    """Clips that can be told apart on the line. made: of all texts that the call will ask for, beforehand."""

    made: dict[str, Samples] = field(default_factory=dict)

    async def speak(self, text: str, *, cacheable: bool = True, slow: bool = False) -> Spoken:
        silent = await super().speak(text, cacheable=cacheable, slow=slow)
        samples = self.made.get(text, silent.samples)
        return Spoken(samples=samples, rate_hz=silent.rate_hz, cached=False)


def asked(ready_ms: int, **changes: object) -> Outcome:
    """A question whose answer's first sound is there that long after it was understood."""
    clauses = [sentence + "。" for sentence in SOCIAL.split("。") if sentence]
    made = {text: sound_of(text) for text in (FILLER, *clauses)}
    voice = ToneVoice(synthesis_ms=SYNTHESIS_MS, made=made)
    fields: dict[str, object] = {"says": (ASK,), "turns": TURNS, "think_ms": ready_ms - SYNTHESIS_MS, "ends_at_ms": 30_000}
    return Caller(voice=voice, **{**fields, **changes}).call()  # type: ignore[arg-type]


def frames(call: Outcome) -> list[tuple[int, Samples]]:
    """What was sent once the question was understood, each frame with its time."""
    return [
        (at_ms, decode(event.payload, Codec.PCMA))
        for at_ms, event in call.line.sent
        if isinstance(event, BotAudio) and at_ms >= DECIDED_MS
    ]


def nothing_overlaps(call: Outcome, *clips: Samples) -> bool:
    """The frames are these clips one after the other, whole and unmixed, and never two at once."""
    sent = frames(call)
    wanted = np.concatenate(clips)
    heard = np.concatenate([samples for _, samples in sent])[: len(wanted)]
    apart_ms = [after - before for (before, _), (after, _) in itertools.pairwise(sent)]
    return len(heard) == len(wanted) and float(np.abs(heard - wanted).max()) < 0.02 and min(apart_ms) >= FRAME_MS


def test_the_filler_of_these_tests_lasts_about_a_second_and_the_tone_is_loud() -> None:
    assert 800 <= len(sound_of(FILLER)) // RATE_PER_MS <= 1_300
    assert np.abs(sound_of(FILLER)).max() > 0.1


@pytest.mark.parametrize("ready_ms", [300, 950])
def test_an_answer_that_is_there_before_the_filler_is_due_is_heard_at_once_and_alone(ready_ms: int) -> None:
    call = asked(ready_ms)
    assert "filler" not in call.routes
    assert frames(call)[0][0] == pytest.approx(DECIDED_MS + ready_ms, abs=FRAME_MS)
    assert nothing_overlaps(call, sound_of("一二三四五六七八。"), sound_of("九十甲乙丙丁戊己。"))
    assert call.record.turns[1].heard_reply == SOCIAL


@pytest.mark.parametrize("ready_ms", [1_050, 1_100, 1_500, 1_900])
def test_an_answer_that_comes_during_the_filler_waits_for_its_end_and_a_breath(ready_ms: int) -> None:
    call = asked(ready_ms)
    assert call.routes[3:5] == ["filler", "hot"]
    filler, first = sound_of(FILLER), sound_of("一二三四五六七八。")
    assert nothing_overlaps(call, filler, first, sound_of("九十甲乙丙丁戊己。"))
    between = np.concatenate((filler, first))
    loud = np.flatnonzero(np.abs(between) > LOUD)
    gap_ms = (loud[loud >= len(filler)][0] - loud[loud < len(filler)][-1]) / RATE_PER_MS
    assert 50 <= gap_ms <= 300
    assert call.record.turns[1].heard_reply == SOCIAL


def test_an_answer_after_four_seconds_follows_at_most_two_fillers() -> None:
    call = asked(4_000)
    assert 1 <= call.routes.count("filler") <= 2
    assert call.routes.index("hot") > call.routes.index("filler")
    assert nothing_overlaps(call, *[sound_of(FILLER)] * call.routes.count("filler"), sound_of("一二三四五六七八。"))
    assert call.record.turns[1].heard_reply == SOCIAL
    assert not call.transfers


@pytest.mark.parametrize("at_ms", [17_700, 18_000, 18_400])
def test_who_speaks_during_the_filler_hears_neither_its_rest_nor_the_answer(at_ms: int) -> None:
    says = (ASK, Say(at_ms=at_ms, text="等等，我问的是居住证怎么办", ms=1_500))
    call = asked(2_500, says=says, answers={"居住证": stored("到派出所办理。", topic="kb-2")} | ANSWERS)
    old = next(event.reply_id for at, event in call.line.sent if isinstance(event, BotAudio) and at >= DECIDED_MS)
    silenced = [at for at, event in call.line.sent if isinstance(event, Clear) and event.reply_id == old]
    sounding = [at for at, event in call.line.sent if isinstance(event, BotAudio) and event.reply_id == old]
    assert sounding[-1] <= silenced[0] <= at_ms + 350
    assert call.texts[-1] == "到派出所办理。"
    assert "".join(turn.heard_reply for turn in call.record.turns if turn.turn) == "到派出所办理。"


@dataclass
class BrokenMind:
    """Thinks, and fails."""

    after_ms: int

    async def answer(self, question: MaskedText, dialogue: Dialogue) -> AsyncGenerator[Step, None]:
        await asyncio.sleep(self.after_ms / 1000)
        raise EngineFailed("the engine is gone")
        yield  # makes it a generator


@pytest.mark.parametrize("after_ms", [300, 1_050, 1_500, 2_500])
def test_an_answer_that_fails_before_in_or_behind_the_filler_is_followed_by_an_apology(after_ms: int) -> None:
    call = asked(1_000, mind=BrokenMind(after_ms))
    replies = [(text, route) for text, route in zip(call.texts[3:], call.routes[3:], strict=True) if route != "filler"]
    assert "抱歉" in replies[0][0]
    assert call.routes.count("filler") == (1 if after_ms > FILLER_AFTER_MS else 0)
    assert call.transfers  # and a person


# ---------------------------------------------------------------- no broker


def test_who_asks_for_a_person_while_no_broker_runs_is_told_the_truth_and_the_record_keeps_the_ticket() -> None:
    """Nobody answers the offer, not even with a refusal."""
    entries = knowledge.load(configs_dir() / "kb", today=None)
    mind = AnsweringMind(entries, AnsweringSettings(dense_model=""), None)
    says = (Say(at_ms=15_000, text="转人工", ms=900), Say(at_ms=90_000, text="转人工", ms=900))
    record = MemoryRecord()
    turns = TurnSettings(no_input_ms=60_000, transfer_limit_ms=45_000)
    call = Caller(says=says, mind=mind, record=record, turns=turns, ends_at_ms=150_000).call()

    told = [text for text, route in zip(call.texts, call.routes, strict=True) if route == "notice"]
    assert len(told) == 2
    for sentence in told:
        assert "没有" in sentence
        assert "登记" in sentence
        assert not any(lie in sentence for lie in ("已接通", "已经接通", "已为您接通", "正在通话"))
    assert record.offers[0].ticket in told[1]
    assert {offer.ticket for offer in record.offers} == {transfer.ticket for transfer in call.transfers}
    assert [turn.route for turn in record.turns if turn.turn] == ["person", "person"]
