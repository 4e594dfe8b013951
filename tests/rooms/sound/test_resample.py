"""The resampler: the same samples however the stream is cut, flat where speech is, silent where it must not be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hotline.sound.level import rms_dbov
from hotline.sound.resample import Resampler, resample

USED = [(8000, 16000), (16000, 8000), (24000, 8000), (22050, 8000), (48000, 8000), (44100, 8000)]
RATES = st.sampled_from([8000, 11025, 16000, 22050, 24000, 44100, 48000])


def tone(hz: float, rate_hz: int, seconds: float = 0.5) -> NDArray[np.float32]:
    return (0.5 * np.sin(2 * np.pi * hz * np.arange(int(rate_hz * seconds)) / rate_hz)).astype(np.float32)


def middle(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    edge = len(samples) // 10
    return samples[edge:-edge]


@settings(max_examples=60, deadline=None)
@given(from_hz=RATES, to_hz=RATES, cuts=st.lists(st.integers(0, 700), max_size=12), seed=st.integers(0, 99))
def test_any_cutting_of_the_stream_gives_the_same_bits(from_hz: int, to_hz: int, cuts: list[int], seed: int) -> None:
    heard = np.random.default_rng(seed).uniform(-1, 1, sum(cuts) + 50).astype(np.float32)
    stream = Resampler(from_hz, to_hz)
    pieces = [stream.feed(piece) for piece in np.split(heard, np.cumsum(cuts))]
    pieces.append(stream.flush())
    assert np.array_equal(np.concatenate(pieces), resample(heard, from_hz, to_hz))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 96000), st.integers(1, 96000), st.integers(0, 300))
def test_any_pair_of_rates_gives_the_length_that_time_asks_for(from_hz: int, to_hz: int, length: int) -> None:
    ratio = max(from_hz, to_hz) // min(from_hz, to_hz)
    if ratio > 20 or to_hz // np.gcd(from_hz, to_hz) > 2000:
        return  # a filter of millions of taps is nobody's line
    assert len(resample(np.ones(length, dtype=np.float32), from_hz, to_hz)) == -(-length * to_hz // from_hz)


@pytest.mark.parametrize(("from_hz", "to_hz"), USED)
@pytest.mark.parametrize("hz", [300, 1000, 3400])
def test_a_tone_comes_out_clean_level_and_in_place(from_hz: int, to_hz: int, hz: int) -> None:
    wanted = tone(hz, to_hz)
    got = resample(tone(hz, from_hz), from_hz, to_hz)[: len(wanted)]
    error = middle(got - wanted)
    assert rms_dbov(middle(wanted)) - rms_dbov(error) > 60
    assert np.max(np.abs(error)) < 0.001, "no click where the stream's blocks meet"


@pytest.mark.parametrize(("from_hz", "to_hz"), [pair for pair in USED if pair[0] > pair[1]])
@pytest.mark.parametrize("hz", [4010, 4600, 6000, 7500])
def test_what_the_lower_rate_can_not_hold_is_gone_and_not_folded(from_hz: int, to_hz: int, hz: int) -> None:
    folded = middle(resample(tone(hz, from_hz), from_hz, to_hz))
    assert rms_dbov(folded) < rms_dbov(tone(hz, from_hz)) - 60


@pytest.mark.parametrize("hz", [300, 1000, 3400, 3900])
def test_going_up_makes_no_images(hz: int) -> None:
    def spectrum(samples: NDArray[np.float32]) -> NDArray[np.float64]:
        return np.abs(np.fft.rfft(samples * np.kaiser(len(samples), 14)))

    up = middle(resample(tone(hz, 8000), 8000, 16000))
    images = spectrum(up)[len(up) * 4060 // 16000 :]
    assert 20 * np.log10(images.max() / spectrum(middle(tone(hz, 16000))).max()) < -60


def test_a_constant_stays_constant() -> None:
    for from_hz, to_hz in USED:
        level = middle(resample(np.full(from_hz // 4, 0.5, dtype=np.float32), from_hz, to_hz))
        assert np.max(np.abs(level - 0.5)) < 1e-6


def test_a_20_ms_frame_makes_a_20_ms_frame_once_the_filter_is_full() -> None:
    stream = Resampler(8000, 16000)
    sizes = [len(stream.feed(np.zeros(160, dtype=np.float32))) for _ in range(4)]
    assert sizes[1:] == [320, 320, 320]
    assert 0 < 320 - sizes[0] <= 80, "the filter holds back at most 5 ms"


def test_equal_rates_hand_the_samples_on() -> None:
    heard = tone(440, 8000)
    stream = Resampler(8000, 8000)
    assert np.array_equal(stream.feed(heard), heard)
    assert len(stream.flush()) == 0


def test_a_flushed_stream_begins_again() -> None:
    heard = tone(440, 8000)
    stream = Resampler(8000, 16000)
    first, second = (np.concatenate((stream.feed(heard), stream.flush())) for _ in range(2))
    assert np.array_equal(first, second)


def test_nothing_comes_of_nothing() -> None:
    stream = Resampler(8000, 16000)
    assert len(stream.feed(np.zeros(0, dtype=np.float32))) == 0
    assert len(stream.flush()) == 0


def test_a_long_recording_goes_through_in_bounded_steps() -> None:
    minute = np.zeros(48000 * 60, dtype=np.float32)
    assert len(resample(minute, 48000, 8000)) == 8000 * 60


@pytest.mark.parametrize("rates", [(0, 8000), (8000, 0), (-1, 8000)])
def test_a_rate_that_is_none_is_refused(rates: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="positive"):
        Resampler(*rates)
