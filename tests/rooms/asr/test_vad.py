"""Voice detectors on the sounds of a telephone: people yes; silence, noise, tones and music no."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from asr_lines import AISHELL, ENGLISH, FUNASR, Samples, human, model_folder, music, noise, silence, through_alaw, tones
from numpy.typing import NDArray

from asr.types import RecogniserMissing, Vad
from asr.vad import SileroModel, WebRtcVad, load_silero


@pytest.fixture(scope="module")
def model() -> SileroModel:
    return load_silero(model_folder("silero-vad"))


def probabilities(vad: Vad, samples: NDArray[np.float32]) -> NDArray[np.float64]:
    size = vad.window_samples
    return np.array([vad.speech_probability(samples[at : at + size]) for at in range(0, len(samples) - size + 1, size)])


@pytest.mark.models
@pytest.mark.parametrize("clip", [AISHELL, FUNASR, ENGLISH])
@pytest.mark.parametrize("level_dbov", [-20, -26, -40])
def test_people_are_heard_at_every_level_of_a_line(model: SileroModel, clip: str, level_dbov: float) -> None:
    voiced = probabilities(model.for_call(), human(clip, level_dbov)) > 0.5
    assert voiced.mean() > 0.3
    assert "xxxxxxxxx" in "".join("x" if loud else " " for loud in voiced)


@pytest.mark.models
@pytest.mark.parametrize(
    "sound",
    [
        lambda: silence(20_000),
        lambda: noise(20_000),
        lambda: noise(20_000, level=0.001),
        lambda: tones(450, ms=20_000, on_ms=1000, off_ms=4000),
        lambda: tones(450, ms=20_000, on_ms=350, off_ms=350),
        lambda: tones(770, 1336, ms=20_000, on_ms=100, off_ms=100),
        lambda: music(20_000),
    ],
    ids=["silence", "noise", "faint_noise", "ring_back", "busy", "dtmf", "music"],
)
def test_what_is_no_speech_never_stays_above_the_threshold(model: SileroModel, sound: Callable[[], NDArray[np.float32]]) -> None:
    voiced = probabilities(model.for_call(), through_alaw(sound())) > 0.5
    longest = max((len(run) for run in "".join("x" if v else " " for v in voiced).split()), default=0)
    assert longest < 3  # 96 ms would open a turn
    assert voiced.mean() < 0.02


@pytest.mark.models
def test_calls_share_the_session_and_not_the_state(model: SileroModel) -> None:
    speech = human(FUNASR, -26)
    alone = probabilities(model.for_call(), speech)
    first, second = model.for_call(), model.for_call()
    probabilities(second, noise(2000))
    mixed = []
    for at in range(0, len(speech) - 255, 256):
        mixed.append(first.speech_probability(speech[at : at + 256]))
        second.speech_probability(speech[::-1][at : at + 256])
    assert np.allclose(alone, mixed)


@pytest.mark.models
def test_lasting_silence_costs_no_inference_and_the_word_after_it_is_heard_at_once(model: SileroModel) -> None:
    asked = []

    class Counting(SileroModel):
        def infer(self, samples: Samples, state: Samples) -> tuple[float, Samples]:
            asked.append(1)
            return model.infer(samples, state)

    speech = human(FUNASR, -26)
    barely_audible = noise(10_000, level=10 ** (-68 / 20))  # the same pause, with every window inferred
    always = model.for_call()
    probabilities(always, speech)
    probabilities(always, barely_audible)
    wanted = np.flatnonzero(probabilities(always, speech) > 0.5)[0]
    vad = Counting(None).for_call()
    probabilities(vad, speech)
    asked.clear()
    probabilities(vad, silence(10_000))
    assert len(asked) <= 8
    assert abs(int(np.flatnonzero(probabilities(vad, speech) > 0.5)[0]) - int(wanted)) <= 2


@pytest.mark.models
@pytest.mark.parametrize("window", [np.full(256, 1.0), np.tile([1.0, -1.0], 128), np.zeros(256)])
def test_clipped_windows_give_probabilities(model: SileroModel, window: NDArray[np.float64]) -> None:
    vad = model.for_call()
    assert all(0 <= vad.speech_probability(window.astype(np.float32)) <= 1 for _ in range(50))


def test_missing_weights_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RecogniserMissing, match="hotline models pull silero-vad"):
        load_silero(tmp_path)


def test_broken_weights_say_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "silero_vad.onnx").write_bytes(b"not a model")
    with pytest.raises(RecogniserMissing, match="hotline models pull silero-vad"):
        load_silero(tmp_path)


@pytest.mark.parametrize("window_samples", [160, 240])
def test_the_light_detector_hears_people_and_not_silence(window_samples: int) -> None:
    vad = WebRtcVad(window_samples=window_samples)
    assert probabilities(vad, silence(2000)).max() == 0
    assert probabilities(vad, human(FUNASR, -26)).mean() > 0.5


def test_the_light_detector_refuses_a_window_that_it_cannot_take() -> None:
    with pytest.raises(ValueError, match="80, 160 or 240"):
        WebRtcVad(window_samples=256)
