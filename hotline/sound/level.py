"""Loudness: samples → levels, and samples brought to a level and to the telephone band. Knows no codec, voice or call.

dBov: relative to the overload point; a full-scale square wave is 0 dBov, a full-scale sine -3 dBov. These work on whole
recordings, not on a stream.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

FLOOR_DBOV = -100.0  # what silence measures

_BLOCK_MS = 5  # resolution of the envelope
_SMOOTHING_MS = 30.0
_HANGOVER_MS = 200
_MARGIN_DB = 15.9
_THRESHOLDS = 2.0 ** -np.arange(15, 0, -1)

_MAX_GAIN_DB = 30.0  # more would only lift noise
_LIMITER_MS = 5  # its gain begins to fall this long before a peak
_AUDIBLE_DB = 0.2
_MAX_MAKE_UP_DB = 3.0  # what the limiter took is given back once, up to this: more would flatten the voice

_BAND_HZ = (300.0, 3400.0)
_BAND_KAISER_BETA = 5.0  # 50 dB


def _dbov(mean_square: float) -> float:
    return max(10 * float(np.log10(mean_square)), FLOOR_DBOV) if mean_square > 0 else FLOOR_DBOV


def _energy(samples: NDArray[np.float32]) -> float:
    return float(np.sum(np.square(samples, dtype=np.float64)))


def rms_dbov(samples: NDArray[np.float32]) -> float:
    """Level of everything, silences included; FLOOR_DBOV for nothing."""
    return _dbov(_energy(samples) / len(samples)) if len(samples) else FLOOR_DBOV


def _envelope(samples: NDArray[np.float32], block: int) -> NDArray[np.float64]:
    """The magnitude's mean in each block, smoothed twice by an exponential of 30 ms."""
    padded = np.pad(np.abs(samples, dtype=np.float64), (0, -len(samples) % block))
    means = padded.reshape(-1, block).mean(axis=1)
    keep = np.exp(-_BLOCK_MS / _SMOOTHING_MS)
    age = np.arange(1, 80)  # 400 ms: what is older weighs nothing
    return np.convolve(means, (1 - keep) ** 2 * age * keep ** (age - 1))[: len(means)]


def _active_blocks(envelope: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many blocks count as speech for each threshold: above it, or not longer than the hangover after."""
    above = envelope >= _THRESHOLDS[:, None]
    hangover = _HANGOVER_MS // _BLOCK_MS
    seen = np.cumsum(np.pad(above, ((0, 0), (hangover + 1, 0))), axis=1, dtype=np.int64)
    recent = seen[:, hangover + 1 :] - seen[:, : -hangover - 1]
    counts: NDArray[np.int64] = np.count_nonzero(recent, axis=1)
    return counts


def active_level_dbov(samples: NDArray[np.float32], rate_hz: int) -> float:
    """Level while someone speaks, after ITU-T P.56 method B: pauses do not lower it.

    Simplified: the envelope is kept in blocks of 5 ms instead of sample by sample, which moves the result by hundredths of a dB.
    """
    block = rate_hz * _BLOCK_MS // 1000
    if len(samples) < block or not np.any(samples):
        return rms_dbov(samples)
    active = _active_blocks(_envelope(samples, block))
    # the threshold rises faster than the level of what lies above it: where they are 15.9 dB apart is the level
    counted = active > 0
    levels = 10 * np.log10(_energy(samples) / np.minimum(active[counted] * block, len(samples)))
    margins = levels - 20 * np.log10(_THRESHOLDS[counted])
    below = np.flatnonzero(margins <= _MARGIN_DB)
    if not len(below) or not below[0]:  # too quiet, or too short, for a margin
        return rms_dbov(samples)
    after, before = below[0], below[0] - 1
    share = (margins[before] - _MARGIN_DB) / (margins[before] - margins[after])
    return max(float(levels[before] + share * (levels[after] - levels[before])), FLOOR_DBOV)


def _raised(samples: NDArray[np.float32], gain_db: float) -> NDArray[np.float32]:
    return np.multiply(samples, 10 ** (gain_db / 20), dtype=np.float32)


def _limited(samples: NDArray[np.float32], rate_hz: int, limit: float) -> NDArray[np.float32]:
    """Peaks held to the limit by a gain that falls before each and rises after, so that nothing is cut off."""
    magnitude = np.abs(samples)
    if np.max(magnitude, initial=0.0) <= limit:
        return samples
    reach = max(rate_hz * _LIMITER_MS // 1000, 1)
    width = 2 * reach + 1
    wanted = limit / np.maximum(magnitude, limit)
    lowest = np.lib.stride_tricks.sliding_window_view(np.pad(wanted, 2 * reach, constant_values=1.0), width).min(axis=1)
    # each mean covers only minima that saw the sample in its middle, so it lies at or below what that sample needs
    gain = np.convolve(lowest, np.hanning(width + 2)[1:-1] / np.sum(np.hanning(width + 2)), mode="valid")
    held: NDArray[np.float32] = np.clip(samples * gain, -limit, limit).astype(np.float32)  # the clip takes off rounding, no more
    return held


def level_speech(
    samples: NDArray[np.float32], rate_hz: int, *, target_dbov: float = -20.0, peak_dbfs: float = -3.0
) -> NDArray[np.float32]:
    """Speech at an active level of target_dbov (raised by at most 30 dB), no peak above peak_dbfs, none clipped."""
    level_dbov = active_level_dbov(samples, rate_hz)
    gain_db = min(target_dbov - level_dbov, _MAX_GAIN_DB)
    limit = 10 ** (peak_dbfs / 20)
    levelled = _limited(_raised(samples, gain_db), rate_hz, limit)
    taken_db = level_dbov + gain_db - active_level_dbov(levelled, rate_hz)
    if taken_db < _AUDIBLE_DB:
        return levelled
    return _limited(_raised(samples, gain_db + min(taken_db, _MAX_MAKE_UP_DB)), rate_hz, limit)


@functools.lru_cache(maxsize=8)
def _band(rate_hz: int) -> NDArray[np.float32]:
    """A linear-phase filter: within 0.1 dB from 350 to 3350 Hz, -6 dB at the band's edges, 60 dB down 80 Hz beyond them."""
    reach = rate_hz // 55
    away = np.arange(-reach, reach + 1)
    low, high = (2 * hz / rate_hz for hz in _BAND_HZ)
    taps = (high * np.sinc(high * away) - low * np.sinc(low * away)) * np.kaiser(2 * reach + 1, _BAND_KAISER_BETA)
    table: NDArray[np.float32] = taps.astype(np.float32)
    table.setflags(write=False)
    return table


def band_limit(samples: NDArray[np.float32], rate_hz: int) -> NDArray[np.float32]:
    """The telephone band, 300 to 3400 Hz; as many samples, no delay. Raises ValueError for a rate that can't hold the band."""
    if rate_hz <= 2 * _BAND_HZ[1]:
        raise ValueError(f"{rate_hz} Hz is too low a rate for the telephone band")
    if not len(samples):
        return np.zeros(0, dtype=np.float32)
    taps = _band(rate_hz)
    reach = len(taps) // 2
    return np.convolve(samples, taps)[reach : reach + len(samples)].astype(np.float32)
