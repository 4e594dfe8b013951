"""The whole ear with its real parts: people on a telephone are heard, the sounds of a telephone are not."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from asr_lines import AISHELL, ENGLISH, FUNASR, ScriptedRecogniser, hear, human, model_folder, music, noise, packets, silence, tones
from numpy.typing import NDArray

from asr.types import Heard, HearingSettings, SpeechEnded, SpeechStarted, Unclear
from asr.vad import SileroModel, load_silero
from asr.whisper import WhisperRecogniser

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def silero() -> SileroModel:
    return load_silero(model_folder("silero-vad"))


@pytest.mark.parametrize(("clip", "level_dbov"), list(itertools.product([AISHELL, FUNASR, ENGLISH], [-26, -33, -40])))
async def test_a_person_opens_one_turn_and_ends_it(silero: SileroModel, clip: str, level_dbov: float) -> None:
    recogniser = ScriptedRecogniser()
    speech = human(clip, level_dbov)
    events, _ = await hear(packets(silence(600), speech, silence(1500)), recogniser, vad=silero.for_call())
    assert [type(event) for event in events if isinstance(event, SpeechStarted | SpeechEnded | Heard)] == [
        SpeechStarted,
        SpeechEnded,
        Heard,
    ]
    loud = np.flatnonzero(np.abs(speech) > 0.25 * np.abs(speech).max()) / 8 + 600
    assert recogniser.heard[-1].start_ms <= loud[0] - 100  # the first syllable and a little before
    assert recogniser.heard[-1].start_ms + recogniser.heard[-1].duration_ms >= loud[-1] + 100


@pytest.mark.parametrize(
    "sound",
    [
        lambda: silence(20_000),
        lambda: noise(20_000),
        lambda: tones(450, ms=20_000, on_ms=1000, off_ms=4000),
        lambda: tones(941, 1336, ms=20_000, on_ms=100, off_ms=100),
        lambda: music(20_000),
        lambda: noise(20_000, level=3.0),
    ],
    ids=["silence", "noise", "ring_back", "dtmf", "music", "clipped_noise"],
)
async def test_twenty_seconds_of_no_speech_are_no_turn(silero: SileroModel, sound: Callable[[], NDArray[np.float32]]) -> None:
    recogniser = ScriptedRecogniser()
    events, _ = await hear(packets(sound()), recogniser, vad=silero.for_call())
    assert not [event for event in events if isinstance(event, SpeechEnded | Heard | Unclear)]
    assert not recogniser.heard


async def test_a_person_over_line_noise_is_still_one_turn(silero: SileroModel) -> None:
    speech = np.concatenate([silence(500), human(FUNASR, -26), silence(1500)])
    noisy = speech + noise(len(speech) // 8 + 1, level=0.004)[: len(speech)]
    events, _ = await hear(packets(noisy), vad=silero.for_call())
    assert sum(isinstance(event, SpeechEnded) for event in events) == 1


async def test_a_syllable_of_a_third_of_a_second_opens_a_turn(silero: SileroModel) -> None:
    speech = human(FUNASR, -26)
    loud = int(np.flatnonzero(np.abs(speech) > 0.25 * np.abs(speech).max())[0])
    recogniser = ScriptedRecogniser(texts=("对",), avg_logprob=-1.1)
    frames = packets(silence(600), speech[loud - 400 : loud + 2400], silence(1500))
    events, _ = await hear(frames, recogniser, vad=silero.for_call())
    assert [event.text for event in events if isinstance(event, Heard)] == ["对"]


async def test_the_real_recogniser_hears_a_person(silero: SileroModel) -> None:
    whisper = WhisperRecogniser(model_folder("whisper-base"), HearingSettings())
    frames = packets(silence(600), human(FUNASR, -26), silence(1500))
    events, ear = await hear(frames, whisper, vad=silero.for_call(), prepare=lambda ear: ear.hint(["达摩院", "语音识别"]))
    (heard,) = [event for event in events if isinstance(event, Heard)]
    assert heard.text.startswith("欢迎大家来体验")
    assert heard.confidence > 0.5
    assert not ear.stats.refused
