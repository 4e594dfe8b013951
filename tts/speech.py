"""A clause as displayed in → its sound at the line's rate out. Knows voices by their contract, nothing of calls.

text → `to_speech` → cached? → pieces (a voice speaks a few words best) → the voice, on this room's thread → line rate → telephone
band → silence trimmed → level → faded ends.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hotline.sound.level import band_limit, level_speech
from hotline.sound.resample import resample
from tts.cache import AudioCache
from tts.normalise import to_speech
from tts.types import SpeakingSettings, Spoken, Voice, VoiceFailed
from tts.worker import Worker

_SOUND_VERSION = 1  # raise it when the same text comes to sound otherwise: cached files are then left behind
_TELEPHONE_HZ = 8000
_SLOWER = 1.25  # times as long, where it is said slowly
_MAX_TEXT = 2000  # characters: a clause has 120 at most; more is a mistake somewhere, and would hold up the other calls
_MAX_PIECE, _MIN_PIECE = 40, 4
_LEAD_MS, _TAIL_MS, _FADE_MS = 20, 40, 5
_SILENCE = 10 ** (-45 / 20)  # below the loudest sample
_WORDS = re.compile(r"[^\u3400-\u9fffA-Za-z，。！？；：、 ]")
_PIECE_END = re.compile(r"(?<=[，。！？；：、])")
_PERSONAL = re.compile(
    r"(?<![零幺一二三四五六七八九])(?:[幺一][三四五六七八九][零幺一二三四五六七八九]{9}|[零幺一二三四五六七八九]{15,})"
)


@dataclass(slots=True, kw_only=True)
class SpeechCounts:
    """What happened since the start."""

    spoken: int = 0
    failed: int = 0
    by_fallback: int = 0


class Speech:
    """The mouth of all calls. One voice, one thread; concurrent calls take turns, piece by piece."""

    def __init__(
        self,
        voice: Voice,
        settings: SpeakingSettings,
        line_rate_hz: int = 8000,
        cache: AudioCache | None = None,
        fallback: Voice | None = None,
    ) -> None:
        self.counts = SpeechCounts()
        self._voice, self._fallback = voice, fallback
        self._settings = settings
        self._rate_hz = line_rate_hz
        self._cache = cache
        self._worker, self._fallback_worker = Worker(), Worker()

    async def speak(self, text: str, *, cacheable: bool = True, slow: bool = False) -> Spoken:
        """Say one clause. cacheable False: for text that holds personal data, whose sound must not stay. slow: as to old people.

        Cancelling it drops what is queued. Raises VoiceFailed when neither voice can speak it in time.
        """
        if len(text) > _MAX_TEXT:
            raise VoiceFailed(f"a clause of {len(text)} characters is not spoken: cut it at its sentences")
        spoken = to_speech(text)
        cache = self._cache if cacheable and not _PERSONAL.search(spoken) else None
        slower = _SLOWER if slow else 1.0
        key = self._key(self._voice, spoken, slower)
        if cache and (samples := cache.in_memory(key)) is not None:
            return Spoken(samples=samples, rate_hz=self._rate_hz, cached=True)
        if cache and (samples := await asyncio.to_thread(cache.load, key)) is not None:
            return Spoken(samples=samples, rate_hz=self._rate_hz, cached=True)
        try:
            samples = await self._say(self._voice, self._worker, spoken, slower)
        except VoiceFailed:
            self.counts.failed += 1
            if self._fallback is None:
                raise
            samples = await self._say(self._fallback, self._fallback_worker, spoken, slower)
            self.counts.by_fallback += 1
            cache = None
        self.counts.spoken += 1
        if cache and len(samples):
            await asyncio.to_thread(cache.store, key, samples)
        return Spoken(samples=samples, rate_hz=self._rate_hz, cached=False)

    async def warm(self, texts: Iterable[str], *, slow: bool = False) -> int:
        """Have these in the cache; returns how many were not. The voice is loaded afterwards in any case but for slow ones."""
        made = 0
        for text in texts:
            made += not (await self.speak(text, slow=slow)).cached
        if not made and not slow:  # what is said slowly comes after the rest
            await self.speak("您好", cacheable=False)
        return made

    def close(self) -> None:
        """Let go of threads and voices."""
        for worker, voice in ((self._worker, self._voice), (self._fallback_worker, self._fallback)):
            worker.close()
            if voice is not None:
                voice.close()

    def _key(self, voice: Voice, spoken: str, slower: float) -> str:
        s = self._settings
        parts = [_SOUND_VERSION, voice.name, s.speed * slower, s.level_dbov, s.peak_dbfs, s.gap_ms, self._rate_hz, spoken]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    async def _say(self, voice: Voice, worker: Worker, spoken: str, slower: float) -> NDArray[np.float32]:
        """Every piece in turn, then the whole made fit for the line."""
        deadline_ms = self._settings.synthesis_deadline_ms
        making = [partial(self._piece, voice, piece, slower) for piece in pieces(spoken)]
        said = [await worker.run(make, deadline_ms=deadline_ms) for make in making]
        if not said:
            return np.zeros(0, dtype=np.float32)
        return await worker.run(partial(self._finish, said), deadline_ms=deadline_ms)

    def _piece(self, voice: Voice, piece: str, slower: float) -> NDArray[np.float32]:
        """One piece at the line's rate, silence trimmed."""
        sound = voice.synthesise(piece, slower=slower)
        if not (np.any(sound) and np.isfinite(sound).all()):  # a number that is none would be a bang on the line
            raise VoiceFailed(f"{voice.name} gave no sound")
        line = resample(sound, voice.rate_hz, self._rate_hz)
        return trimmed(band_limit(line, self._rate_hz) if self._rate_hz <= _TELEPHONE_HZ else line, self._rate_hz)

    def _finish(self, said: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        """Pieces with pauses between and one behind, at the right level."""
        gap = np.zeros(self._settings.gap_ms * self._rate_hz // 1000, dtype=np.float32)
        parts = [part for piece in said for part in (faded(piece, self._rate_hz), gap)]
        s = self._settings
        return level_speech(np.concatenate(parts), self._rate_hz, target_dbov=s.level_dbov, peak_dbfs=s.peak_dbfs)


def pieces(spoken: str) -> list[str]:
    """A normalised text as stretches that a voice speaks in one breath: at punctuation, else after at most 40 characters.

    Signs that have no sound go; a stretch of fewer than four characters joins the next.
    """
    found: list[str] = []
    text = _WORDS.sub("", re.sub(r"[,;:!?…—()（）\n]+", "，", spoken))
    for part in _PIECE_END.split(text):
        held = found.pop() if found and _length(found[-1]) < _MIN_PIECE else ""
        joined = held + part.strip()
        while len(joined) > _MAX_PIECE:
            found.append(joined[:_MAX_PIECE])
            joined = joined[_MAX_PIECE:]
        found.append(joined)
    if len(found) > 1 and _length(found[-1]) == 1:
        tail = found.pop()
        found[-1] += tail
    return [piece for piece in found if _length(piece)]


def _length(piece: str) -> int:
    return sum(char.isalpha() for char in piece)


def trimmed(samples: NDArray[np.float32], rate_hz: int) -> NDArray[np.float32]:
    """Without the silence at both ends, but for a little."""
    loud = np.flatnonzero(np.abs(samples) > np.abs(samples).max(initial=0.0) * _SILENCE)
    if not len(loud):
        return samples[:0]
    first = max(0, int(loud[0]) - _LEAD_MS * rate_hz // 1000)
    return samples[first : int(loud[-1]) + _TAIL_MS * rate_hz // 1000]


def faded(samples: NDArray[np.float32], rate_hz: int) -> NDArray[np.float32]:
    """Both ends brought to zero over 5 ms, so that nothing clicks."""
    length = min(_FADE_MS * rate_hz // 1000, len(samples) // 2)
    ramp = np.linspace(0, 1, length, endpoint=False, dtype=np.float32)
    out = samples.copy()
    out[:length] *= ramp
    out[len(out) - length :] *= ramp[::-1]
    return out
