"""What every recogniser promises, the scripted one of the tests as well as the real one."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from asr.types import Decoded, DecodeHints, HearingSettings, Pcm, Recogniser
from asr.whisper import WhisperRecogniser
from tests.fakes_hearing import ScriptedRecogniser


def whisper() -> Recogniser:
    folder = Path(os.environ.get("HOTLINE_MODELS__DIR", "~/.cache/hotline/models")).expanduser() / "whisper-base"
    if not folder.is_dir():
        pytest.skip("whisper-base is not here: `hotline models pull`")
    return WhisperRecogniser(folder, HearingSettings(workers=2))


@pytest.fixture(scope="module", params=[ScriptedRecogniser, pytest.param(whisper, marks=pytest.mark.models)])
def recogniser(request: pytest.FixtureRequest) -> Iterator[Recogniser]:
    return request.param()


def speech(recogniser: Recogniser, ms: int, seed: int = 0) -> Pcm:
    samples = np.random.default_rng(seed).normal(0, 0.05, recogniser.rate_hz * ms // 1000).astype(np.float32)
    return Pcm(samples=samples, rate_hz=recogniser.rate_hz)


@pytest.mark.parametrize("ms", [0, 1, 20, 300, 5000])
def test_any_length_gives_text_and_scores(recogniser: Recogniser, ms: int) -> None:
    decoded = recogniser.decode(speech(recogniser, ms), DecodeHints(), threading.Event())
    assert isinstance(decoded, Decoded)
    assert isinstance(decoded.text, str)
    assert decoded.avg_logprob <= 0
    assert 0 <= decoded.no_speech_prob <= 1


def test_the_same_sound_gives_the_same_text(recogniser: Recogniser) -> None:
    first, second = (recogniser.decode(speech(recogniser, 1000), DecodeHints(), threading.Event()) for _ in range(2))
    assert first == second


def test_hot_words_and_a_full_list_of_them_are_taken(recogniser: Recogniser) -> None:
    hints = DecodeHints(hot_words=tuple(f"热词{number}" * 20 for number in range(50)))
    assert isinstance(recogniser.decode(speech(recogniser, 500), hints, threading.Event()), Decoded)


def test_a_decode_that_nobody_wants_returns(recogniser: Recogniser) -> None:
    stop = threading.Event()
    stop.set()
    assert isinstance(recogniser.decode(speech(recogniser, 5000), DecodeHints(), stop), Decoded)


def test_two_threads_at_once_give_what_each_gives_alone(recogniser: Recogniser) -> None:
    segments = [speech(recogniser, 800, seed) for seed in range(4)]
    alone = [recogniser.decode(segment, DecodeHints(), threading.Event()) for segment in segments]
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(lambda segment: recogniser.decode(segment, DecodeHints(), threading.Event()), segments))
    assert [decoded.text for decoded in together] == [decoded.text for decoded in alone]


def test_a_decode_does_not_show_its_text(recogniser: Recogniser) -> None:
    decoded = Decoded(text="身份证号是", avg_logprob=-0.1, no_speech_prob=0.0)
    assert "身份证" not in repr(decoded)
