"""The caller's voice against what is behind it: probability and level of a window in, probability out. Knows no turn and no audio.

A detector goes on saying *speech* for about 200 ms after the last sound, and takes a television for a caller. What lies far
below the level at which the caller spoke just now is neither. On a noisy line everything is near that level, and the detector
decides alone.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BELOW_LOUDEST_DB = 18.0  # words keep within this of the caller's loudest window; a voice in the next room does not
FORGET_DB_PER_S = 1.0  # a quieter caller on the same telephone is heard after some seconds
SPEECH = 0.5


class Foreground:
    """One call's loudest speech, slowly forgotten."""

    def __init__(self) -> None:
        self._loudest_db = -math.inf

    def weigh(self, probability: float, window: NDArray[np.float32], window_ms: float) -> float:
        """The probability, or 0 where the window is too faint to be the caller. A probability that is none counts as silence."""
        if not 0.0 <= probability <= 1.0:
            return 0.0
        level_db = 10 * math.log10(float(np.dot(window, window)) / len(window) + 1e-12)
        self._loudest_db -= FORGET_DB_PER_S * window_ms / 1000
        if probability >= SPEECH:
            self._loudest_db = max(self._loudest_db, level_db)
        return probability if level_db >= self._loudest_db - BELOW_LOUDEST_DB else 0.0
