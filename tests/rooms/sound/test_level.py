"""Levels: what a meter says, what the caller hears, and the band that a telephone carries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hotline.sound.level import FLOOR_DBOV, active_level_dbov, band_limit, level_speech, rms_dbov

NOTHING = np.zeros(0, dtype=np.float32)
SILENCE = np.zeros(8000, dtype=np.float32)


def sine(level_dbov: float, hz: float = 440.0, rate_hz: int = 8000, seconds: float = 2.0) -> NDArray[np.float32]:
    at = np.arange(int(rate_hz * seconds)) / rate_hz
    samples: NDArray[np.float32] = (np.sqrt(2) * 10 ** (level_dbov / 20) * np.sin(2 * np.pi * hz * at)).astype(np.float32)
    return samples


def bursts(level_dbov: float) -> NDArray[np.float32]:
    """Speech-like: noise in syllables with sharp peaks."""
    rng = np.random.default_rng(5)
    envelope = np.clip(np.sin(2 * np.pi * 2 * np.arange(24000) / 8000), 0, None) ** 2
    sound: NDArray[np.float32] = (rng.laplace(size=24000) * envelope).astype(np.float32)
    return sound * np.float32(10 ** ((level_dbov - rms_dbov(sound)) / 20))


def test_full_scale_is_where_the_standard_puts_it() -> None:
    assert rms_dbov(np.array([1, -1] * 100, dtype=np.float32)) == pytest.approx(0)
    assert rms_dbov(sine(-3.01)) == pytest.approx(-3.01, abs=0.01)


@pytest.mark.parametrize("nothing", [NOTHING, SILENCE, SILENCE[:3]])
def test_silence_has_a_level_that_arithmetic_survives(nothing: NDArray[np.float32]) -> None:
    assert rms_dbov(nothing) == FLOOR_DBOV
    assert active_level_dbov(nothing, 8000) == FLOOR_DBOV


@pytest.mark.parametrize("level_dbov", [-10, -26, -40, -60])
def test_a_steady_sound_is_active_throughout(level_dbov: int) -> None:
    assert active_level_dbov(sine(level_dbov), 8000) == pytest.approx(level_dbov, abs=0.1)


def test_a_pause_does_not_lower_the_active_level() -> None:
    spoken = np.concatenate((sine(-20), np.zeros(48000, dtype=np.float32)))
    assert rms_dbov(spoken) == pytest.approx(-26, abs=0.1)
    assert active_level_dbov(spoken, 8000) == pytest.approx(-20.5, abs=0.3), "the hangover and the fading envelope count as speech"


def test_what_is_too_quiet_to_tell_speech_from_pause_is_measured_whole() -> None:
    assert active_level_dbov(sine(-85), 8000) == pytest.approx(-85, abs=0.1)


def test_the_active_level_does_not_depend_on_the_rate() -> None:
    assert active_level_dbov(sine(-20, rate_hz=16000), 16000) == pytest.approx(active_level_dbov(sine(-20), 8000), abs=0.05)


@pytest.mark.parametrize("level_dbov", [-45, -30, -20, -8])
def test_speech_is_brought_to_its_level(level_dbov: int) -> None:
    assert active_level_dbov(level_speech(bursts(level_dbov), 8000), 8000) == pytest.approx(-20, abs=0.5)


@settings(max_examples=50, deadline=None)
@given(
    target_dbov=st.floats(-40, 0),
    peak_dbfs=st.floats(-20, 0),
    clicks=st.lists(st.tuples(st.integers(0, 3999), st.floats(-1, 1, width=32)), max_size=20),
)
def test_no_peak_passes_the_limit(target_dbov: float, peak_dbfs: float, clicks: list[tuple[int, float]]) -> None:
    sound = bursts(-30)[:4000]
    for at, value in clicks:
        sound[at] = value
    levelled = level_speech(sound, 8000, target_dbov=target_dbov, peak_dbfs=peak_dbfs)
    assert len(levelled) == len(sound)
    assert np.max(np.abs(levelled)) <= 10 ** (peak_dbfs / 20) * 1.000001


def test_the_limiter_bends_the_gain_and_cuts_no_wave() -> None:
    """A clipped sine has harmonics; a limited one is a softer sine."""
    limited = level_speech(sine(-20, hz=500), 8000, target_dbov=0, peak_dbfs=-3)[2000:-2000]
    spectrum = np.abs(np.fft.rfft(limited * np.kaiser(len(limited), 14)))
    third = spectrum[int(len(limited) * 1500 / 8000) - 5 :][:10].max()
    assert np.max(np.abs(limited)) == pytest.approx(10 ** (-3 / 20), rel=0.01)
    assert 20 * np.log10(third / spectrum.max()) < -50


def test_noise_is_not_lifted_to_speech() -> None:
    assert rms_dbov(level_speech(sine(-70), 8000)) == pytest.approx(-40, abs=0.2)
    assert np.array_equal(level_speech(SILENCE, 8000), SILENCE)
    assert len(level_speech(NOTHING, 8000)) == 0


@pytest.mark.parametrize("rate_hz", [8000, 16000, 24000])
def test_the_telephone_band_passes_and_the_rest_does_not(rate_hz: int) -> None:
    def gain_db(hz: float) -> float:
        heard = sine(-20, hz=hz, rate_hz=rate_hz)
        passed = band_limit(heard, rate_hz)
        assert len(passed) == len(heard)
        edge = rate_hz // 5
        return rms_dbov(passed[edge:-edge]) - rms_dbov(heard[edge:-edge])

    for hz in (360, 1000, 2500, 3340):
        assert gain_db(hz) == pytest.approx(0, abs=0.1)
    for hz in (50, 100, 215, 3485, 3900):
        assert gain_db(hz) < -55


def test_the_band_filter_delays_nothing() -> None:
    heard = sine(-20, hz=1000)
    assert np.max(np.abs(band_limit(heard, 8000) - heard)[400:-400]) < 0.001


def test_a_sound_shorter_than_the_filter_keeps_its_length() -> None:
    assert len(band_limit(SILENCE[:7], 8000)) == 7
    assert len(band_limit(NOTHING, 8000)) == 0


def test_a_rate_below_the_band_is_refused() -> None:
    with pytest.raises(ValueError, match="6000 Hz"):
        band_limit(SILENCE, 6000)
