"""One call's hearing, packet by packet: what the caller does on the line, and what the ear says of it."""

import asyncio
import threading
from collections.abc import AsyncGenerator

import numpy as np
import pytest
from asr_lines import LineClock, LoudnessVad, ScriptedRecogniser, hear, line, noise, packets, silence, talk
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.ear import Ear
from asr.pool import DecodeJob, DecodePool
from asr.types import (
    AudioPacket,
    Decoded,
    EndpointSettings,
    Heard,
    HearingSettings,
    Priority,
    RecogniserBusy,
    Slot,
    SpeechEnded,
    SpeechEvent,
    SpeechGoing,
    SpeechStarted,
    Unclear,
    WrongAudio,
)
from hotline.sound.codec import Codec


def story(events: list[SpeechEvent]) -> list[str]:
    """The events as words, `going` left out."""
    told = []
    for event in events:
        match event:
            case SpeechStarted():
                told.append("started")
            case SpeechEnded():
                told.append("ended")
            case Heard():
                told.append(event.text)
            case Unclear():
                told.append(f"unclear: {event.reason}")
    return told


def ends(events: list[SpeechEvent]) -> list[SpeechEnded]:
    return [event for event in events if isinstance(event, SpeechEnded)]


async def test_a_question_is_heard() -> None:
    events, _ = await hear(packets(silence(500), talk(1500), silence(1000)))
    assert story(events) == ["started", "ended", "社保卡丢了怎么办"]
    started, heard = events[0], events[-1]
    assert isinstance(started, SpeechStarted)
    assert isinstance(heard, Heard)
    assert started.start_ms == pytest.approx(500, abs=40)
    assert started.at_ms == pytest.approx(500 + 96, abs=60)
    assert heard.ended.last_speech_ms == pytest.approx(2000, abs=40)
    assert heard.ended.vad_end_ms == pytest.approx(2000, abs=80)
    assert heard.ended.at_ms == pytest.approx(2000 + 480, abs=80)
    assert heard.confidence == pytest.approx(0.74, abs=0.01)
    assert sum(isinstance(event, SpeechGoing) for event in events) == pytest.approx((1500 - 96) / 32, abs=2)


async def test_the_recogniser_gets_the_first_syllable_and_a_little_before() -> None:
    recogniser = ScriptedRecogniser()
    await hear(packets(silence(1000), talk(800), silence(1000)), recogniser)
    segment = recogniser.heard[0]
    assert segment.rate_hz == 16_000
    assert segment.start_ms == pytest.approx(1000 - 450, abs=40)
    loud = np.flatnonzero(np.abs(segment.samples) > 0.05) / 16
    assert loud[0] == pytest.approx(450, abs=40)
    assert loud[-1] - loud[0] == pytest.approx(800, abs=10)
    assert segment.duration_ms - loud[-1] >= 200


async def test_speech_from_the_first_packet_on_is_heard_whole() -> None:
    recogniser = ScriptedRecogniser()
    events, _ = await hear(packets(talk(800), silence(1000)), recogniser)
    assert story(events) == ["started", "ended", "社保卡丢了怎么办"]
    assert np.abs(recogniser.heard[0].samples[160:1600]).max() > 0.1


async def test_the_words_are_there_when_the_pause_turns_out_to_be_the_end() -> None:
    recogniser = ScriptedRecogniser()
    events, _ = await hear(packets(talk(800), silence(1000)), recogniser)
    assert len(recogniser.heard) == 1
    ended, heard = events[-2:]
    assert heard.at_ms == ended.at_ms


async def test_a_caller_who_goes_on_is_heard_in_one_turn() -> None:
    recogniser = ScriptedRecogniser(texts=("我想问一下那个", "我想问一下那个就是公积金怎么提取"))
    events, _ = await hear(packets(talk(900), silence(800), talk(900), silence(1200)), recogniser)
    assert story(events) == ["started", "ended", "我想问一下那个就是公积金怎么提取"]
    assert [segment.duration_ms for segment in recogniser.heard] == [pytest.approx(1124, abs=40), pytest.approx(2824, abs=40)]


async def test_hesitation_waits_longer_than_a_question() -> None:
    waits = {}
    for text in ("公积金怎么提取", "楼下饭店油烟", "我想问一下那个", "我的电话是幺三八"):
        events, _ = await hear(packets(talk(900), silence(3000)), ScriptedRecogniser(texts=(text,)))
        (ended,) = ends(events)
        waits[text] = ended.at_ms - ended.last_speech_ms
    assert list(waits.values()) == [pytest.approx(ms, abs=70) for ms in (480, 640, 1000, 1600)]


async def test_a_number_dictated_in_groups_with_long_pauses_is_one_turn() -> None:
    recogniser = ScriptedRecogniser(texts=("幺三八", "幺三八零零幺三", "幺三八零零幺三八零零零"))
    frames = packets(talk(700), silence(2200), talk(900), silence(2200), talk(900), silence(1500))
    events, _ = await hear(frames, recogniser, prepare=lambda ear: ear.expect(Slot.MOBILE))
    assert story(events) == ["started", "ended", "幺三八零零幺三八零零零"]
    (ended,) = ends(events)
    assert ended.at_ms - ended.last_speech_ms == pytest.approx(480, abs=70)


async def test_two_questions_are_two_turns_and_share_no_sound() -> None:
    recogniser = ScriptedRecogniser(texts=("社保卡丢了怎么办", "居住证怎么办理"))
    events, _ = await hear(packets(talk(700), silence(700), talk(700), silence(900)), recogniser)
    assert story(events) == ["started", "ended", "社保卡丢了怎么办", "started", "ended", "居住证怎么办理"]
    second = recogniser.heard[1]
    assert second.start_ms >= ends(events)[0].last_speech_ms
    assert np.abs(second.samples[:1600]).max() < 0.01


async def test_a_turn_that_never_ends_is_cut_and_what_follows_is_another_turn() -> None:
    recogniser = ScriptedRecogniser()
    short = HearingSettings(workers=1, endpoint=EndpointSettings(max_turn_ms=2000))
    events, _ = await hear(packets(talk(5000), silence(1000)), recogniser, settings=short)
    assert story(events) == ["started", "ended", "社保卡丢了怎么办"] * 3
    assert sum(len(segment.samples) for segment in recogniser.heard) / 16 <= 5000 + 3 * 600
    for earlier, later in zip(recogniser.heard, recogniser.heard[1:], strict=False):
        assert later.start_ms >= earlier.start_ms + earlier.duration_ms - 40


async def test_a_line_that_ends_in_the_middle_of_a_word_is_still_heard() -> None:
    events, _ = await hear(packets(talk(900)))
    assert story(events) == ["started", "ended", "社保卡丢了怎么办"]


async def test_packets_that_stop_coming_end_the_turn_after_a_while() -> None:
    hang_up = asyncio.Event()
    pool = DecodePool(ScriptedRecogniser(), HearingSettings(workers=1))
    clock, events = LineClock(), []

    async def dead_line() -> AsyncGenerator[AudioPacket, None]:
        async for packet in line(packets(talk(800)), clock, pool):
            yield packet
        await hang_up.wait()

    def emit(event: SpeechEvent) -> None:
        events.append(event)
        if isinstance(event, Heard):
            hang_up.set()

    await Ear(Codec.PCMA, 8000, LoudnessVad(), pool, HearingSettings(), clock).run(dead_line(), emit)
    await pool.close()
    assert story(events) == ["started", "ended", "社保卡丢了怎么办"]


async def test_a_click_is_not_worth_a_decode() -> None:
    recogniser = ScriptedRecogniser()
    clicks = HearingSettings(workers=1, endpoint=EndpointSettings(min_speech_ms=32))
    events, ear = await hear(packets(silence(320), talk(40), silence(1500)), recogniser, settings=clicks)
    assert story(events) == ["started", "ended", "unclear: too_short"]
    assert not recogniser.heard
    assert ear.stats.refused == {"too_short": 1}


@pytest.mark.parametrize(
    ("recogniser", "reason"),
    [
        (ScriptedRecogniser(texts=("谢谢观看",)), "boilerplate"),
        (ScriptedRecogniser(texts=("",)), "no_words"),
        (ScriptedRecogniser(no_speech_prob=0.9), "no_speech"),
        (ScriptedRecogniser(avg_logprob=float("nan")), "nan_score"),
        (ScriptedRecogniser(fails={0}), "asr.recogniser_failed"),
    ],
)
async def test_words_that_cannot_be_trusted_are_unclear(recogniser: ScriptedRecogniser, reason: str) -> None:
    events, ear = await hear(packets(talk(900), silence(1500)), recogniser)
    assert story(events) == ["started", "ended", f"unclear: {reason}"]
    assert ear.stats.refused == {reason: 1}


async def test_after_a_killed_recogniser_the_next_turn_works() -> None:
    recogniser = ScriptedRecogniser(fails={0})
    events, _ = await hear(packets(talk(900), silence(1500), talk(900), silence(1500)), recogniser)
    assert story(events) == ["started", "ended", "unclear: asr.recogniser_failed", "started", "ended", "社保卡丢了怎么办"]


async def test_a_stalled_recogniser_makes_its_turn_unclear_and_the_next_one_works() -> None:
    gate = threading.Event()
    recogniser = ScriptedRecogniser(gate=gate)
    stall = HearingSettings(workers=1, decode_deadline_ms=60)
    pool = DecodePool(recogniser, stall)
    clock, events = LineClock(), []
    unclear = asyncio.Event()

    async def two_turns() -> AsyncGenerator[AudioPacket, None]:
        async for packet in line(packets(talk(900), silence(1500)), clock, pool, patient=False):
            yield packet
        await unclear.wait()
        gate.set()
        for packet in packets(talk(900), silence(1500)):
            yield AudioPacket(sequence=packet.sequence + 120, payload=packet.payload)

    def emit(event: SpeechEvent) -> None:
        events.append(event)
        if isinstance(event, Unclear):
            unclear.set()

    await Ear(Codec.PCMA, 8000, LoudnessVad(), pool, stall, clock).run(two_turns(), emit)
    await pool.close()
    assert story(events) == ["started", "ended", "unclear: asr.recogniser_stalled", "started", "ended", "社保卡丢了怎么办"]


class PoolFullForGuesses(DecodePool):
    """Takes finals only."""

    async def run(self, job: DecodeJob) -> Decoded:
        if job.priority is Priority.SPECULATIVE:
            raise RecogniserBusy("full")
        return await super().run(job)


async def test_a_guess_that_was_shed_is_made_good_by_a_final() -> None:
    pool = PoolFullForGuesses(ScriptedRecogniser(), HearingSettings(workers=1))
    clock, events = LineClock(), []
    ear = Ear(Codec.PCMA, 8000, LoudnessVad(), pool, HearingSettings(), clock)
    await ear.run(line(packets(talk(900), silence(1500)), clock, pool), events.append)
    await pool.close()
    assert story(events) == ["started", "ended", "社保卡丢了怎么办"]


async def test_hot_words_reach_the_recogniser_ten_at_most() -> None:
    recogniser = ScriptedRecogniser()
    await hear(packets(talk(900), silence(1000)), recogniser, prepare=lambda ear: ear.hint([str(n) for n in range(20)]))
    assert recogniser.hints[0].hot_words == tuple(str(n) for n in range(10))
    assert recogniser.hints[0].language == "zh"


async def test_doubled_late_and_lost_packets_change_the_words_place_by_nothing() -> None:
    frames = packets(silence(500), talk(1000), silence(1000))
    untouched = ScriptedRecogniser()
    await hear(frames, untouched)
    shaken = [frame for frame in frames if frame.sequence not in {40, 41}]
    shaken[30:30] = [shaken[29], shaken[20]]
    recogniser = ScriptedRecogniser()
    events, ear = await hear(shaken, recogniser)
    assert story(events) == ["started", "ended", "社保卡丢了怎么办"]
    assert (ear.stats.doubled, ear.stats.late, ear.stats.lost) == (1, 1, 2)
    assert recogniser.heard[0].start_ms == untouched.heard[0].start_ms
    assert len(recogniser.heard[0].samples) == len(untouched.heard[0].samples)


async def test_a_wideband_line_reaches_the_recogniser_untouched() -> None:
    recogniser = ScriptedRecogniser()
    at = np.arange(16_000) / 16_000
    wide = (0.2 * np.sin(2 * np.pi * 6000 * at) + 0.2 * np.sin(2 * np.pi * 500 * at)).astype(np.float32)
    frames = packets(np.zeros(8000, np.float32), wide, np.zeros(16_000, np.float32), codec=Codec.L16, size=320)
    events, _ = await hear(frames, recogniser, codec=Codec.L16, rate_hz=16_000)
    assert story(events) == ["started", "ended", "社保卡丢了怎么办"]
    spectrum = np.abs(np.fft.rfft(recogniser.heard[0].samples))
    top_hz = np.argsort(spectrum)[-1:] * 16_000 / len(recogniser.heard[0].samples)
    assert spectrum[int(6000 * len(recogniser.heard[0].samples) / 16_000)] > spectrum.max() * 0.3
    assert top_hz[0] > 400


async def test_packets_that_are_no_audio_end_the_hearing_with_an_error_and_the_open_turn_with_an_outcome() -> None:
    events: list[SpeechEvent] = []
    pool = DecodePool(ScriptedRecogniser(), HearingSettings(workers=1))
    clock = LineClock()
    good = packets(talk(900))
    bad = [AudioPacket(sequence=45 + number, payload=b"") for number in range(8)]
    ear = Ear(Codec.PCMA, 8000, LoudnessVad(), pool, HearingSettings(), clock)
    with pytest.raises(WrongAudio):
        await ear.run(line([*good, *bad], clock, pool), events.append)
    await pool.close()
    assert ear.stats.bad == 5
    assert story(events) == ["started", "ended", "社保卡丢了怎么办"]


async def test_a_long_call_keeps_only_its_last_seconds() -> None:
    _, ear = await hear(packets(*[part for _ in range(10) for part in (talk(400), silence(2000))]))
    assert ear._audio.held_ms < 3000


async def test_hanging_up_in_the_middle_leaves_no_task_and_no_decode() -> None:
    gate = threading.Event()
    pool = DecodePool(ScriptedRecogniser(gate=gate), HearingSettings(workers=1))
    clock, events = LineClock(), []
    ear = Ear(Codec.PCMA, 8000, LoudnessVad(), pool, HearingSettings(), clock)
    frames = packets(talk(900), silence(5000))
    started = asyncio.Event()

    def emit(event: SpeechEvent) -> None:
        events.append(event)
        started.set()

    async with asyncio.TaskGroup() as tasks:
        hearing = tasks.create_task(ear.run(line(frames, clock, pool, patient=False), emit))
        await started.wait()
        hearing.cancel()
    gate.set()
    await pool.close()
    assert len(asyncio.all_tasks()) == 1
    assert pool.queued == 0


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(20, 900)), max_size=14), st.sets(st.integers(0, 13), max_size=4))
def test_whatever_is_said_every_start_has_one_end_and_every_end_one_outcome(parts: list[tuple[bool, int]], fails: set[int]) -> None:
    sounds = [talk(ms) if voiced else silence(ms) for voiced, ms in parts] or [silence(100)]
    events, _ = asyncio.run(hear(packets(*sounds), ScriptedRecogniser(fails=fails)))
    told = ["outcome" if word not in {"started", "ended"} else word for word in story(events)]
    assert [word for word in told if word != "outcome"] == ["started", "ended"] * told.count("started")
    assert told.count("outcome") == told.count("ended")


async def test_clipped_noise_is_one_long_turn_at_most_and_no_crash() -> None:
    events, _ = await hear(packets(noise(3000, level=2.0), silence(1000)), ScriptedRecogniser(no_speech_prob=0.9))
    assert story(events) == ["started", "ended", "unclear: no_speech"]
