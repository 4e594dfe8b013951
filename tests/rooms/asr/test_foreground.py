"""A caller near the telephone, and what is behind: a television, an echo of the last word."""

import numpy as np
import pytest
from asr_lines import AISHELL, FUNASR, hear, human, model_folder, packets, silence
from numpy.typing import NDArray

from asr.foreground import Foreground
from asr.types import SpeechEnded, SpeechStarted
from asr.vad import load_silero


def window(level_dbov: float) -> NDArray[np.float32]:
    return np.full(256, 10 ** (level_dbov / 20), dtype=np.float32)


def test_the_first_voice_is_the_caller_at_whatever_level() -> None:
    assert Foreground().weigh(0.9, window(-45), 32) == 0.9


def test_a_voice_far_below_the_caller_is_not_the_caller() -> None:
    foreground = Foreground()
    foreground.weigh(0.9, window(-20), 32)
    assert foreground.weigh(0.9, window(-37), 32) == 0.9
    assert foreground.weigh(0.9, window(-39), 32) == 0.0


def test_loud_noise_that_is_no_speech_does_not_shut_the_caller_out() -> None:
    foreground = Foreground()
    foreground.weigh(0.1, window(-3), 32)
    assert foreground.weigh(0.9, window(-40), 32) == 0.9


def test_a_quieter_caller_is_heard_after_some_seconds() -> None:
    foreground = Foreground()
    foreground.weigh(0.9, window(-15), 32)
    waited_ms = 0
    while not foreground.weigh(0.9, window(-45), 32):
        waited_ms += 32
    assert waited_ms < 13_000


def test_digital_silence_is_weighed_too() -> None:
    assert Foreground().weigh(0.0, np.zeros(256, dtype=np.float32), 32) == 0.0


@pytest.mark.models
async def test_a_television_that_goes_on_does_not_hold_the_turn_open_nor_open_one() -> None:
    model = load_silero(model_folder("silero-vad"))
    caller, television = human(FUNASR, -20), human(AISHELL, -46)
    speech = np.concatenate([silence(500), caller, silence(4000)])
    behind = np.resize(television, len(speech))
    events, _ = await hear(packets(speech + behind), vad=model.for_call())
    turns = [event for event in events if isinstance(event, SpeechEnded)]
    caller_ends_ms = 500 + np.flatnonzero(np.abs(caller) > 0.1 * np.abs(caller).max())[-1] / 8
    assert [turn.last_speech_ms for turn in turns if turn.last_speech_ms > 2000] == [pytest.approx(caller_ends_ms, abs=400)]
    assert sum(isinstance(event, SpeechStarted) for event in events) <= 2
