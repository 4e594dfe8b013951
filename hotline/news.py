"""What the converse task is told: an event for the turn machine, and what belongs to it; and its inbox. Masked words only."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from asr.types import SpeechEnded
from hotline.clock import CallClock
from hotline.playout import Played
from hotline.turn_events import CallerGoes, TurnEvent
from llm.types import HandOver, MaskedText

_KEPT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """words, ended: what the caller said, and when. played: of the reply that ended. handover: how the one in hand will end.

    reply_id: the reply that it is about, 0 for the call.
    """

    event: TurnEvent
    words: MaskedText | None = None
    ended: SpeechEnded | None = None
    played: Played | None = None
    handover: HandOver | None = None
    reply_id: int = 0


class Inbox:
    """One call's news, in order."""

    def __init__(self, clock: CallClock) -> None:
        self._clock = clock
        self._news: asyncio.Queue[News] = asyncio.Queue(maxsize=_KEPT)
        self._room = asyncio.Event()

    def post(self, news: News) -> None:
        """Tell the converse task, without waiting. What is merely `going on` gives way when it falls behind."""
        if self._news.qsize() < _KEPT // 2 or not isinstance(news.event, CallerGoes):
            self._news.put_nowait(news)

    async def put(self, news: News) -> None:
        """Tell it, and wait for room: what comes from the line is held up rather than lost, and leaves room for `post`."""
        while self._news.qsize() >= _KEPT // 2:
            self._room.clear()
            await self._room.wait()
        self._news.put_nowait(news)

    async def next(self, until_ms: int) -> News | None:
        """The next news; None when the moment until_ms comes first."""
        try:
            async with asyncio.timeout_at(self._clock.loop_time_s(until_ms)):
                return await self._news.get()
        except TimeoutError:
            return None
        finally:
            self._room.set()
