"""Scores and samples that are no numbers: others let invented words pass, or went deaf for the rest of the call."""

import numpy as np
import pytest
from asr_lines import (
    FUNASR,
    LoudnessVad,
    Samples,
    ScriptedRecogniser,
    hear,
    human,
    model_folder,
    packets,
    silence,
    talk,
)

from asr.foreground import Foreground
from asr.types import AudioPacket, Heard, SpeechStarted, Unclear
from asr.vad import SileroModel, load_silero
from hotline.sound.codec import Codec

NAN, INF = float("nan"), float("inf")
NO_NUMBERS = [NAN, INF, -INF]


class BrokenVad(LoudnessVad):
    """Says something else than a probability in the windows first to last."""

    def __init__(self, says: float, first: int, last: int) -> None:
        self.says, self.first, self.last = says, first, last
        self.window = -1

    def speech_probability(self, window: Samples) -> float:
        self.window += 1
        return self.says if self.first <= self.window <= self.last else super().speech_probability(window)


# ---------------------------------------------------------------- the recogniser's scores


@pytest.mark.parametrize(
    ("avg_logprob", "no_speech_prob"),
    [(NAN, 0.05), (-0.3, NAN), (NAN, NAN), (INF, 0.05), (-INF, 0.05), (-0.3, INF), (-0.3, -INF)],
)
@pytest.mark.parametrize("text", ["社保卡丢了怎么办", "谢谢观看", "好", "嗯"])
async def test_words_whose_score_is_no_number_are_never_heard_and_the_next_ones_are(
    text: str, avg_logprob: float, no_speech_prob: float
) -> None:
    class OnceBroken(ScriptedRecogniser):
        """The first decode's scores are no numbers."""

        def decode(self, *asked):  # type: ignore[no-untyped-def]  # noqa: ANN002, ANN202  as the contract's
            decoded = super().decode(*asked)
            self.avg_logprob, self.no_speech_prob = -0.3, 0.05
            return decoded

    recogniser = OnceBroken(texts=(text, "居住证怎么办"), avg_logprob=avg_logprob, no_speech_prob=no_speech_prob)
    events, ear = await hear(packets(silence(500), talk(1500), silence(1500), talk(1500), silence(1500)), recogniser)
    ends = [event for event in events if isinstance(event, Heard | Unclear)]
    assert [type(end) for end in ends] == [Unclear, Heard]
    assert isinstance(ends[0], Unclear)
    assert isinstance(ends[1], Heard)
    assert ends[0].reason == "nan_score"
    assert ends[1].text == "居住证怎么办"
    assert dict(ear.stats.refused) == {"nan_score": 1}  # counted


# ---------------------------------------------------------------- the detector's


@pytest.mark.parametrize("says", [*NO_NUMBERS, 1e30, -1.0])
async def test_silence_that_a_broken_detector_scores_is_no_speech(says: float) -> None:
    events, _ = await hear(packets(silence(4000)), vad=BrokenVad(says, 0, 10_000))
    assert events == []


@pytest.mark.parametrize("says", [*NO_NUMBERS, 1e30])
async def test_a_detector_that_breaks_before_the_caller_speaks_takes_no_word_away(says: float) -> None:
    events, _ = await hear(packets(silence(3000), talk(1500), silence(1500)), vad=BrokenVad(says, 10, 60))
    assert isinstance(events[0], SpeechStarted)
    assert events[0].start_ms == pytest.approx(3000, abs=40)
    assert isinstance(events[-1], Heard)


@pytest.mark.parametrize("says", [*NO_NUMBERS, 1e30])
async def test_a_turn_ends_although_the_detector_breaks_in_the_silence_after_it(says: float) -> None:
    events, _ = await hear(packets(silence(500), talk(1500), silence(4000)), vad=BrokenVad(says, 70, 10_000))
    assert isinstance(events[-1], Heard)
    assert events[-1].at_ms < 4000


@pytest.mark.parametrize("probability", [*NO_NUMBERS, 1.5, -0.1])
def test_what_is_no_probability_sets_no_level_for_the_callers_voice(probability: float) -> None:
    foreground = Foreground()
    loud, soft = np.full(256, 0.5, np.float32), np.full(256, 0.01, np.float32)
    assert foreground.weigh(probability, loud, 32) == 0.0
    assert foreground.weigh(0.9, soft, 32) == 0.9


@pytest.mark.parametrize("broken", NO_NUMBERS)
def test_a_state_that_became_no_number_is_forgotten(broken: float) -> None:
    class Poisoned(SileroModel):
        """As the real one: a state or sample that is no number makes all that follows none."""

        def infer(self, samples: Samples, state: Samples) -> tuple[float, Samples]:
            after = state + samples.sum()
            return (0.9 if np.isfinite(after).all() else NAN), after

    vad = Poisoned(None).for_call()
    window = np.full(256, 0.1, np.float32)
    spoilt = window.copy()
    spoilt[3] = broken
    assert vad.speech_probability(window) == 0.9
    assert vad.speech_probability(spoilt) == 0.0
    assert vad.speech_probability(window) == 0.9


@pytest.mark.models
@pytest.mark.parametrize("broken", NO_NUMBERS)
def test_the_real_detector_hears_people_again_after_a_window_of_no_numbers(broken: float) -> None:
    vad = load_silero(model_folder("silero-vad")).for_call()
    speech = human(FUNASR, -26)
    assert 0.0 <= vad.speech_probability(np.full(256, broken, np.float32)) <= 1.0
    voiced = [vad.speech_probability(speech[at : at + 256]) > 0.5 for at in range(0, len(speech) - 255, 256)]
    assert np.mean(voiced) > 0.3


# ---------------------------------------------------------------- samples


async def test_any_bytes_on_a_line_of_16_bit_samples_are_numbers() -> None:
    """NaN, Inf, 1e30 and denormals as a float sender would write them: noise on the line, and the call goes on."""
    floats = np.tile(np.array([NAN, INF, -INF, 1e30, 1e-40], "<f4"), 16)
    wrong = [AudioPacket(sequence=number, payload=floats.tobytes()) for number in range(50)]
    right = packets(silence(1500), talk(1500), silence(1500), codec=Codec.L16)
    after = [AudioPacket(sequence=packet.sequence + 50, payload=packet.payload) for packet in right]
    events, ear = await hear([*wrong, *after], codec=Codec.L16)
    assert ear.stats.bad == 0
    assert isinstance(events[-1], Heard)
