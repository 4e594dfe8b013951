"""Normalised text in → plain Mandarin speech out, by eSpeak NG through pyttsx3. Knows nothing of lines or caches.

pyttsx3 keeps one engine for a process, its first file may never come, and a call can hang. So a process of its own
(`espeak_process`) owns the engine; here is its watchdog: an answer that is late costs the process its life, and the next clause
starts a new one.
"""

import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tts.types import VoiceFailed, VoiceMissing
from tts.voices.phonemes import syllables

_RATE_HZ = 22_050
_WORDS_PER_MINUTE = 175
_START_MS = 20_000
_STRETCH = 80  # syllables at a time: the engine gives nothing for very long texts
_MISSING = "no eSpeak NG here: `apt-get install libespeak-ng1`"


class EspeakVoice:
    """The voice that needs no weights. One clause at a time; calls from several threads wait for each other."""

    name = "espeak-ng-cmn-1"
    rate_hz = _RATE_HZ

    def __init__(self, *, speed: float = 1.15, watchdog_ms: int = 5_000) -> None:
        """speed: above 1 is slower. Starts the process, and raises VoiceMissing where the library is not there."""
        if not speed > 0:
            raise ValueError("speed must be positive")
        self._words_per_minute = round(_WORDS_PER_MINUTE / speed)
        self._watchdog_ms = watchdog_ms
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        with self._lock:
            self._start(self._words_per_minute)

    def synthesise(self, spoken: str, *, slower: float = 1.0) -> NDArray[np.float32]:
        """One clause; nothing for a text without words. Raises VoiceFailed, at the latest after two watchdog times."""
        said = list(syllables(spoken))
        if not any(syllable != "#3" for syllable in said):
            return np.zeros(0, dtype=np.float32)
        return np.concatenate([
            self._stretch(said[at : at + _STRETCH], round(self._words_per_minute / slower)) for at in range(0, len(said), _STRETCH)
        ])

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()

    def _stretch(self, said: list[str], words_per_minute: int) -> NDArray[np.float32]:
        pinyin = " ".join(said).replace(" #3", ",").replace("#3", "").strip(" ,")
        if not pinyin:
            return np.zeros(0, dtype=np.float32)
        with self._lock, tempfile.TemporaryDirectory(prefix="hotline-espeak-") as folder:
            for attempt in range(2):
                sound = self._try(pinyin, Path(folder) / f"{attempt}.wav", words_per_minute)
                if sound is not None:
                    return sound
        raise VoiceFailed("eSpeak NG gave no sound, twice")

    def _try(self, pinyin: str, path: Path, words_per_minute: int) -> NDArray[np.float32] | None:
        """One attempt: None when it gave nothing, and then its process is gone."""
        try:
            if self._process is None or words_per_minute != self._running_at:
                self._stop()
                self._start(words_per_minute)
            self._ask({"text": pinyin, "path": str(path)}, self._watchdog_ms)
            return _read(path)
        except (OSError, EOFError, ValueError, wave.Error):
            self._stop()
            return None

    def _start(self, words_per_minute: int) -> None:
        """A new process, its engine warm: a rate that is set later counts only sometimes. Raises VoiceMissing, VoiceFailed."""
        self._running_at = words_per_minute
        root = str(Path(__file__).parents[2])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(  # noqa: S603  our own module in our own interpreter
            [sys.executable, "-m", "tts.voices.espeak_process", str(words_per_minute)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        try:
            answer = self._answer(_START_MS)
        except (OSError, EOFError, ValueError):
            self._stop()
            raise VoiceFailed("eSpeak NG did not start") from None
        if "missing" in answer:
            self._stop()
            raise VoiceMissing(_MISSING)

    def _ask(self, request: dict[str, str], patience_ms: int) -> None:
        if self._process is None or self._process.stdin is None:
            raise EOFError
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._answer(patience_ms)

    def _answer(self, patience_ms: int) -> dict[str, object]:
        """One line from the process. Raises EOFError when it is dead or late."""
        if self._process is None or self._process.stdout is None:
            raise EOFError
        ready, _, _ = select.select([self._process.stdout], [], [], patience_ms / 1000)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            raise EOFError
        answer: dict[str, object] = json.loads(line)
        return answer

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def _read(path: Path) -> NDArray[np.float32]:
    """A file's samples at the voice's rate. Raises ValueError for a file without sound."""
    with wave.open(str(path)) as file:
        frames = file.readframes(file.getnframes())
        if not frames or (file.getnchannels(), file.getsampwidth(), file.getframerate()) != (1, 2, _RATE_HZ):
            raise ValueError("not the sound that was asked for")
    return np.frombuffer(frames, "<i2").astype(np.float32) / np.float32(32768)
