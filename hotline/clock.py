"""The one clock: loop time for durations, aware UTC for dates. Nothing else asks what time it is."""

from __future__ import annotations

import asyncio
import datetime as dt
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CallClock:
    """Milliseconds since the call's start, by the running loop's time (so a virtual loop moves it)."""

    started_s: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    def now_ms(self) -> int:
        """Whole milliseconds since the call's start."""
        return round((asyncio.get_running_loop().time() - self.started_s) * 1000)

    def loop_time_s(self, at_ms: int) -> float:
        """The loop's time at a moment of the call, for scheduling."""
        return self.started_s + at_ms / 1000


def utc_now() -> dt.datetime:
    """Now, aware, for records."""
    return dt.datetime.now(dt.UTC)
