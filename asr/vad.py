"""Is there speech in this window? Windows of line audio in, a probability out. Knows nothing of turns, thresholds or packets.

Silero runs natively at 8 kHz: 256 samples (32 ms) with the 32 samples before them, and a recurrent state that belongs to the
call. The session, the costly part, is shared by all calls. WebRTC's detector is the light choice: no weights, but it takes
tones and music for speech.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
import webrtcvad
from onnxruntime.capi import onnxruntime_pybind11_state as onnx_errors

from asr.types import RecogniserMissing

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

LINE_RATE_HZ = 8000
UNLOADABLE = (onnx_errors.InvalidProtobuf, onnx_errors.Fail, onnx_errors.InvalidGraph, onnx_errors.NoModel, RuntimeError)
SILERO_FILE = "silero_vad.onnx"
SILERO_WINDOW_SAMPLES = 256
SILERO_CONTEXT_SAMPLES = 32
QUIET_POWER = 10.0 ** (-70 / 10)  # -70 dBov: below the smallest step of A-law plus a little line noise
QUIET_WINDOWS = 8  # the model hears this much silence first, so that its state has let go of the last word


class SileroModel:
    """The shared half: weights and session. Single-threaded on purpose: many calls share the cores."""

    def __init__(self, session: Any) -> None:  # noqa: ANN401  onnxruntime has no types
        self._session = session
        self._rate = np.array(LINE_RATE_HZ, dtype=np.int64)

    def for_call(self) -> SileroVad:
        """A detector with its own state."""
        return SileroVad(self)

    def infer(self, samples: NDArray[np.float32], state: NDArray[np.float32]) -> tuple[float, NDArray[np.float32]]:
        """samples: (1, 288), context first; state: (2, 1, 128). The probability and the next state."""
        probability, after = self._session.run(None, {"input": samples, "state": state, "sr": self._rate})
        return float(probability[0, 0]), after


def load_silero(path: Path) -> SileroModel:
    """Load the weights from the file, or from the folder that holds it. Raises RecogniserMissing."""
    file = path / SILERO_FILE if path.is_dir() else path
    if not file.is_file():
        raise RecogniserMissing("The voice detector's weights are missing: run `hotline models pull silero-vad`.")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except UNLOADABLE as error:
        raise RecogniserMissing(
            "The voice detector's weights do not load: delete them and run `hotline models pull silero-vad`."
        ) from error
    return SileroModel(session)


class SileroVad:
    """One call's detector. In lasting silence it answers 0 without asking the model, whose state then rests as silence left it."""

    rate_hz = LINE_RATE_HZ
    window_samples = SILERO_WINDOW_SAMPLES

    def __init__(self, model: SileroModel) -> None:
        self._model = model
        self._state = np.zeros((2, 1, 128), dtype=np.float32)
        self._input = np.zeros((1, SILERO_CONTEXT_SAMPLES + SILERO_WINDOW_SAMPLES), dtype=np.float32)
        self._quiet_windows = QUIET_WINDOWS

    def speech_probability(self, window: NDArray[np.float32]) -> float:
        """Probability in [0, 1] that somebody speaks in these 256 samples. No number counts as silence, and is forgotten."""
        self._input[0, :SILERO_CONTEXT_SAMPLES] = self._input[0, -SILERO_CONTEXT_SAMPLES:]
        self._input[0, SILERO_CONTEXT_SAMPLES:] = window
        self._quiet_windows = self._quiet_windows + 1 if _is_quiet(window) else 0
        if self._quiet_windows > QUIET_WINDOWS:
            return 0.0
        probability, self._state = self._model.infer(self._input, self._state)
        if not math.isfinite(probability):
            self._input[:], self._state = 0.0, np.zeros_like(self._state)  # else every window from now on is none
            return 0.0
        return probability


class WebRtcVad:
    """The light detector: yes or no by spectrum and energy. mode: 0 (lenient) to 3 (strict)."""

    rate_hz = LINE_RATE_HZ

    def __init__(self, mode: int = 1, window_samples: int = 240) -> None:
        if window_samples not in {80, 160, 240}:
            raise ValueError("window_samples must be 80, 160 or 240 (10, 20 or 30 ms)")
        self.window_samples = window_samples
        self._detector = webrtcvad.Vad(mode)

    def speech_probability(self, window: NDArray[np.float32]) -> float:
        """1.0 or 0.0."""
        if _is_quiet(window):
            return 0.0
        pcm16 = (np.clip(window, -1.0, 1.0) * 32767.0).astype("<i2")
        return 1.0 if self._detector.is_speech(pcm16.tobytes(), LINE_RATE_HZ) else 0.0


def _is_quiet(window: NDArray[np.float32]) -> bool:
    return bool(np.dot(window, window) < QUIET_POWER * len(window))
