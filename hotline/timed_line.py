"""A line whose sends are bounded in time: a far end that stops reading can hold up no task of the call for longer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import structlog

from hotline.lines import BotEvent, CallStart, Line, LineEvent

log = structlog.get_logger()


class TimedLine:
    """Another line, with a limit on each send; what is not taken by then is lost, and logged."""

    def __init__(self, line: Line, limit_ms: int) -> None:
        self.start: CallStart = line.start
        self._line, self._limit_ms = line, limit_ms

    def events(self) -> AsyncGenerator[LineEvent, None]:
        """What comes from the caller."""
        return self._line.events()

    async def send(self, event: BotEvent) -> None:
        """Hand one event to the far end."""
        try:
            async with asyncio.timeout(self._limit_ms / 1000):
                await self._line.send(event)
        except TimeoutError:
            log.warning("line_slow", kind=type(event).__name__)
