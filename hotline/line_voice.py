"""The shared voice at one line's rate: a clause in, its sound as that line wants it out. Knows no call and no codec.

The voice speaks, and caches, at the telephone's 8 kHz; a wideband line gets the same sound at its own rate, not twice as fast.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from hotline.parts import Speaking
from hotline.sound.resample import resample
from tts.types import Spoken


@dataclass(frozen=True, slots=True, kw_only=True)
class LineVoice:
    """Another voice, resampled."""

    voice: Speaking
    rate_hz: int

    async def speak(self, text: str, *, cacheable: bool = True, slow: bool = False) -> Spoken:
        """As the voice does."""
        spoken = await self.voice.speak(text, cacheable=cacheable, slow=slow)
        if spoken.rate_hz == self.rate_hz or not len(spoken.samples):
            return spoken
        samples = await asyncio.to_thread(resample, spoken.samples, spoken.rate_hz, self.rate_hz)
        return replace(spoken, samples=samples, rate_hz=self.rate_hz)
