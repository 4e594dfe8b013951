"""The recogniser itself: the window, long stretches, empty ones, and no caller's words in another caller's result."""

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from asr_lines import AISHELL, FUNASR, human, model_folder, noise, silence, tones
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from asr.guard import refusal
from asr.types import Decoded, DecodeHints, HearingSettings, Pcm, RecogniserFailed, RecogniserMissing
from asr.whisper import RATE_HZ, WhisperRecogniser, cut_long
from hotline.sound.resample import resample

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def whisper() -> WhisperRecogniser:
    return WhisperRecogniser(model_folder("whisper-base"), HearingSettings())


def decode(whisper: WhisperRecogniser, line: NDArray[np.float32], *hot_words: str) -> Decoded:
    return whisper.decode(
        Pcm(samples=resample(line, 8000, RATE_HZ), rate_hz=RATE_HZ), DecodeHints(hot_words=hot_words), threading.Event()
    )


@pytest.mark.models
@pytest.mark.parametrize(("clip", "words"), [(AISHELL, ("协会",)), (FUNASR, ("欢迎大家来体验", "推出的"))])
def test_people_on_a_telephone_are_understood(whisper: WhisperRecogniser, clip: str, words: tuple[str, ...]) -> None:
    decoded = decode(whisper, human(clip, -26))
    assert all(word in decoded.text for word in words)
    assert refusal(decoded, voiced_ms=4000) is None


@pytest.mark.models
def test_hot_words_help(whisper: WhisperRecogniser) -> None:
    assert "达摩院" not in decode(whisper, human(FUNASR, -26)).text
    assert "达摩院" in decode(whisper, human(FUNASR, -26), "达摩院", "语音识别").text


@pytest.mark.models
@pytest.mark.parametrize(
    "sound",
    [silence(4000), noise(4000), tones(450, ms=4000), tones(350, 440, ms=4000), tones(770, 1336, ms=4000, on_ms=100, off_ms=100)],
    ids=["silence", "noise", "ring_back", "dial_tone", "dtmf"],
)
def test_what_it_invents_for_no_speech_is_refused(whisper: WhisperRecogniser, sound: NDArray[np.float32]) -> None:
    assert refusal(decode(whisper, sound), voiced_ms=4000, prompts=("以下是普通话的句子。",)) is not None


@pytest.mark.models
def test_nothing_of_one_caller_comes_up_in_another_ones_silence(whisper: WhisperRecogniser) -> None:
    said = decode(whisper, human(FUNASR, -26)).text
    assert said
    for samples in (silence(3000), silence(0), np.zeros(1, dtype=np.float32)):
        after = decode(whisper, samples)
        assert refusal(after, voiced_ms=3000) is not None
        assert not set(after.text) & set("欢迎体验模型")


@pytest.mark.models
def test_samples_that_are_no_numbers_are_silence(whisper: WhisperRecogniser) -> None:
    broken = np.full(RATE_HZ, np.nan, dtype=np.float32)
    broken[::3], broken[1::3] = np.inf, -1e30
    decoded = whisper.decode(Pcm(samples=broken, rate_hz=RATE_HZ), DecodeHints(), threading.Event())
    assert isinstance(decoded, Decoded)


@pytest.mark.models
@pytest.mark.slow
def test_a_long_stretch_is_heard_to_its_end(whisper: WhisperRecogniser) -> None:
    clip = human(FUNASR, -26)
    text = decode(whisper, np.concatenate([clip, silence(300)] * 6)).text
    assert text.count("推出的") == 6


@pytest.mark.models
def test_a_stopped_decode_ends_at_its_next_step(whisper: WhisperRecogniser) -> None:
    stop = threading.Event()
    stop.set()
    speech = Pcm(samples=np.ones(RATE_HZ * 60, dtype=np.float32), rate_hz=RATE_HZ)
    assert whisper.decode(speech, DecodeHints(), stop).text == ""


@pytest.mark.models
def test_a_wrong_rate_or_language_fails_and_says_so(whisper: WhisperRecogniser) -> None:
    speech = Pcm(samples=np.zeros(8000, dtype=np.float32), rate_hz=8000)
    with pytest.raises(RecogniserFailed, match="16000 Hz"):
        whisper.decode(speech, DecodeHints(), threading.Event())
    with pytest.raises(RecogniserFailed, match="hotline doctor"):
        whisper.decode(
            Pcm(samples=np.zeros(8000, dtype=np.float32), rate_hz=RATE_HZ), DecodeHints(language="xx"), threading.Event()
        )


def test_missing_weights_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RecogniserMissing, match="hotline models pull whisper-base"):
        WhisperRecogniser(tmp_path, HearingSettings())


@pytest.mark.models
def test_broken_weights_say_what_to_do(tmp_path: Path) -> None:
    whole = model_folder("whisper-base")
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        shutil.copy(whole / name, tmp_path)
    (tmp_path / "model.bin").write_bytes((whole / "model.bin").read_bytes()[:100_000])
    with pytest.raises(RecogniserMissing, match="do not load"):
        WhisperRecogniser(tmp_path, HearingSettings())


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 90_000), st.integers(0, 5))
def test_pieces_join_to_the_whole_and_none_is_longer_than_the_window_allows(ms: int, seed: int) -> None:
    samples = np.random.default_rng(seed).normal(0, 0.1, ms * 16).astype(np.float32)
    pieces = cut_long(samples)
    assert np.array_equal(np.concatenate(pieces), samples)
    assert all(len(piece) <= 20 * RATE_HZ for piece in pieces)


def test_a_long_stretch_without_a_pause_is_cut_where_it_is_quietest() -> None:
    samples = np.full(25 * RATE_HZ, 0.1, dtype=np.float32)
    samples[15 * RATE_HZ : 16 * RATE_HZ] = 0.05
    first, _ = cut_long(samples)
    assert 15 * RATE_HZ <= len(first) <= 16 * RATE_HZ


def test_long_speech_is_cut_in_its_pauses_and_short_speech_is_not() -> None:
    samples = np.full(12 * RATE_HZ, 0.1, dtype=np.float32)
    for pause_s in (2, 6, 11):
        samples[pause_s * RATE_HZ : pause_s * RATE_HZ + RATE_HZ // 2] = 0
    first, second = cut_long(samples)
    assert 6 * RATE_HZ < len(first) < 6.5 * RATE_HZ
    assert len(second) > 5 * RATE_HZ
