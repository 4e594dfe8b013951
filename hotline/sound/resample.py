"""Sample-rate conversion: samples at one rate → samples at another, as a stream. Knows no codec, frame or clock.

A polyphase FIR (windowed sinc): flat to 85 % of the lower Nyquist frequency (3.4 kHz of 4), at least 70 dB down above it.
Each output sample is its own fixed-order sum, so the result is the same to the bit however the input was cut. Output is
aligned with the input (sample n lies at n/to_hz); the stream holds back the filter's half length until more input or
`flush` comes: 5 ms for 8 kHz.
"""

from __future__ import annotations

import functools
from math import gcd

import numpy as np
from numpy.typing import NDArray

_FLAT_TO = 0.85  # of the lower Nyquist frequency
_ATTENUATION_DB = 75.0
_KAISER_BETA = 0.1102 * (_ATTENUATION_DB - 8.7)
_BLOCK_VALUES = 1 << 18  # bound of one vectorised step's memory: output samples × taps


@functools.lru_cache(maxsize=32)
def _phases(up: int, down: int) -> NDArray[np.float32]:
    """Filter of each phase, shape (up, taps): tap t weighs the input sample t - taps/2 + 1 away from the output's place."""
    cutoff = (1 + _FLAT_TO) / 2 * min(1.0, up / down)  # of the input's Nyquist frequency
    transition = (1 - _FLAT_TO) * min(1.0, up / down)
    reach = int(np.ceil((_ATTENUATION_DB - 7.95) / (14.36 * transition))) + 1
    away = np.arange(1 - reach, reach + 1) - np.arange(up)[:, None] / up
    window = np.i0(_KAISER_BETA * np.sqrt(np.maximum(1 - (away / reach) ** 2, 0)))
    taps = np.sinc(cutoff * away) * window
    taps /= taps.sum(axis=1, keepdims=True)  # each phase passes a constant unchanged: no tone at the phases' rhythm
    table = taps.astype(np.float32)
    table.setflags(write=False)
    return table


class Resampler:
    """One stream's conversion."""

    def __init__(self, from_hz: int, to_hz: int) -> None:
        if from_hz <= 0 or to_hz <= 0:
            raise ValueError(f"rates must be positive: {from_hz} → {to_hz}")
        common = gcd(from_hz, to_hz)
        self._up, self._down = to_hz // common, from_hz // common
        self._table = _phases(self._up, self._down)
        self._reach = self._table.shape[1] // 2
        self._restart()

    def _restart(self) -> None:
        # the input sample before the first is silence, and so are the filter's reach - 1 before that
        self._held: NDArray[np.float32] = np.zeros(self._reach - 1, dtype=np.float32)
        self._held_from = 1 - self._reach
        self._received = 0
        self._made = 0

    def feed(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Everything that these samples make certain."""
        if self._up == self._down:
            return np.array(samples, dtype=np.float32)
        self._received += len(samples)
        self._held = np.concatenate((self._held, samples), dtype=np.float32)
        return self._make((self._received - self._reach) * self._up)  # before it, each place's whole neighbourhood is here

    def flush(self) -> NDArray[np.float32]:
        """The rest, as if silence followed: in all ⌈samples × to_hz / from_hz⌉. The next feed begins a new stream."""
        if self._up == self._down:
            return np.zeros(0, dtype=np.float32)
        self._held = np.concatenate((self._held, np.zeros(self._reach, dtype=np.float32)))
        rest = self._make(self._received * self._up)
        self._restart()
        return rest

    def _make(self, end: int) -> NDArray[np.float32]:
        """Outputs whose place, in steps of 1/up input samples, lies before end."""
        last = max(-(-end // self._down), self._made)
        step = max(_BLOCK_VALUES // (2 * self._reach), 1)
        blocks = [self._block(first, min(first + step, last)) for first in range(self._made, last, step)]
        self._made = last
        spent = min(last * self._down // self._up - self._reach + 1 - self._held_from, len(self._held))
        if spent > 0:
            self._held = self._held[spent:]
            self._held_from += spent
        return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.float32)

    def _block(self, first: int, last: int) -> NDArray[np.float32]:
        place, phase = np.divmod(np.arange(first, last) * self._down, self._up)
        taps, stride = 2 * self._reach, self._held.itemsize
        # every stretch of the input as long as the filter, not copied (sliding_window_view is the same, 18 µs slower)
        windows: NDArray[np.float32] = np.ndarray(
            (len(self._held) - taps + 1, taps), dtype=np.float32, buffer=self._held, strides=(stride, stride)
        )
        near = windows[place - self._reach + 1 - self._held_from]
        near *= self._table[phase]
        # one row, one sum: its order depends on the number of taps alone, never on how many rows there are
        sums: NDArray[np.float32] = np.add.reduce(near, axis=1)
        return sums


def resample(samples: NDArray[np.float32], from_hz: int, to_hz: int) -> NDArray[np.float32]:
    """A whole recording: ⌈samples × to_hz / from_hz⌉ samples."""
    stream = Resampler(from_hz, to_hz)
    return np.concatenate((stream.feed(samples), stream.flush()))
