"""The decode queue on a clock that is not real: work is done for real while the clock stands, and counts as long as a model says.

So a recorded call can be heard faster than it was spoken, with the same words at the same moments each time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager

from asr.pool import DecodeJob, DecodePool
from asr.types import Decoded, HearingSettings, Recogniser

DECODE_MS = 130  # of a decode, however short; as measured with whisper-base on one core
DECODE_MS_A_SECOND = 20  # more, for each second of speech


class RehearsalPool(DecodePool):
    """hold: while it is entered, the loop's clock stands."""

    def __init__(self, recogniser: Recogniser, settings: HearingSettings, hold: Callable[[], AbstractContextManager[None]]) -> None:
        super().__init__(recogniser, settings)
        self._hold = hold

    async def run(self, job: DecodeJob) -> Decoded:
        """As the queue does. The modelled time passes first, so that a guess that is dropped meanwhile costs nothing."""
        try:
            await asyncio.sleep((DECODE_MS + DECODE_MS_A_SECOND * job.speech.duration_ms / 1000) / 1000)
        except asyncio.CancelledError:
            self.counters.cancelled += 1
            raise
        with self._hold():
            return await super().run(job)
