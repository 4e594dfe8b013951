"""What a caller puts on the line: queued words over line noise, one 20 ms frame at a time. Pure. Knows no wire and no clock."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from hotline.sound.resample import resample

Samples = NDArray[np.float32]


class CallerVoice:
    """noise_dbov: line noise where the caller is silent, and under their words if noise_under_speech."""

    def __init__(self, *, rate_hz: int, frame_ms: int, noise_dbov: float, noise_under_speech: bool, seed: int) -> None:
        """Silent. The same seed makes the same noise."""
        self._rate_hz = rate_hz
        self._frame_samples = rate_hz * frame_ms // 1000
        self._noise = 10 ** (noise_dbov / 20)
        self._noise_under_speech = noise_under_speech
        self._random = np.random.default_rng(seed)
        self._unsaid: deque[Samples] = deque()

    @property
    def is_saying(self) -> bool:
        """Some of what `say` was given is not yet on the line."""
        return bool(self._unsaid)

    def say(self, samples: Samples, rate_hz: int | None = None) -> int:
        """Queue words, after those queued before; resampled to the line if need be. Returns their length in ms."""
        line = resample(samples, rate_hz, self._rate_hz) if rate_hz and rate_hz != self._rate_hz else samples
        for begin in range(0, len(line), self._frame_samples):
            frame = np.zeros(self._frame_samples, np.float32)
            piece = line[begin : begin + self._frame_samples]
            frame[: len(piece)] = piece
            self._unsaid.append(frame)
        return len(line) * 1000 // self._rate_hz

    def next_frame(self) -> Samples:
        """The next 20 ms."""
        noise = self._random.normal(0.0, self._noise, self._frame_samples).astype(np.float32)
        if not self._unsaid:
            return noise
        words = self._unsaid.popleft()
        return words + noise if self._noise_under_speech else words
