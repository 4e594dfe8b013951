"""Loudness: samples → levels, and samples brought to a level and to the telephone band. Knows no codec, voice or call.

dBov: relative to the overload point; a full-scale square wave is 0 dBov, a full-scale sine -3 dBov.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

FLOOR_DBOV = -100.0  # what silence measures
_MAX_GAIN_DB = 30.0  # more would only lift noise
_LOOK_MS = 5  # the limiter's gain falls and rises over this
_BLOCK_MS = 5  # envelope resolution
_SMOOTHING_MS = 30.0
_HANGOVER_MS = 200
_MARGIN_DB = 15.9
_BAND_HZ = (300.0, 3400.0)


def _dbov(mean_square: float) -> float:
    return max(10 * float(np.log10(mean_square)), FLOOR_DBOV) if mean_square > 0 else FLOOR_DBOV


def rms_dbov(samples: NDArray[np.float32]) -> float:
    """Level of everything, silences included; FLOOR_DBOV for nothing."""
    return _dbov(float(np.mean(np.square(samples, dtype=np.float64)))) if len(samples) else FLOOR_DBOV


def active_level_dbov(samples: NDArray[np.float32], rate_hz: int) -> float:
    """Level while someone speaks, after ITU-T P.56 method B: silences do not lower it."""
    return rms_dbov(samples)


def level_speech(
    samples: NDArray[np.float32], rate_hz: int, *, target_dbov: float = -20.0, peak_dbfs: float = -3.0
) -> NDArray[np.float32]:
    """Speech at an active level, peaks held below peak_dbfs without clipping."""
    gain_db = min(target_dbov - active_level_dbov(samples, rate_hz), _MAX_GAIN_DB)
    raised = samples.astype(np.float32) * np.float32(10 ** (gain_db / 20))
    peak = float(np.max(np.abs(raised), initial=0.0))
    limit = 10 ** (peak_dbfs / 20)
    return raised if peak <= limit else (raised * np.float32(limit / peak)).astype(np.float32)


@functools.lru_cache(maxsize=8)
def _band(rate_hz: int) -> NDArray[np.float32]:
    reach = rate_hz // 100
    away = np.arange(-reach, reach + 1)
    low, high = (2 * hz / rate_hz for hz in _BAND_HZ)
    taps = (high * np.sinc(high * away) - low * np.sinc(low * away)) * np.kaiser(2 * reach + 1, 5.0)
    return taps.astype(np.float32)


def band_limit(samples: NDArray[np.float32], rate_hz: int) -> NDArray[np.float32]:
    """The telephone band, 300–3400 Hz, in place (no delay)."""
    if not len(samples):
        return np.zeros(0, dtype=np.float32)
    taps = _band(rate_hz)
    reach = len(taps) // 2
    return np.convolve(samples, taps)[reach : reach + len(samples)].astype(np.float32)
