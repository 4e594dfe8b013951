"""A gateway's playout buffer: bot frames in as they come, one out every 20 ms, marks told when reached. Pure: time is steps."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkReached:
    """Everything before this mark was played."""

    reply_id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """20 ms of playout. payload: what the caller hears, None for silence. marks: those reached by the end of it."""

    payload: bytes | None = None
    marks: tuple[MarkReached, ...] = ()


class LegPlayout:
    """hold_steps: how many steps the first frame waits, so that jitter up to that length leaves no gap."""

    def __init__(self, *, hold_steps: int = 1) -> None:
        """Silent."""
        self._queue: deque[bytes | MarkReached] = deque()
        self._frames = 0
        self._hold_steps = hold_steps
        self._waited = 0
        self._is_playing = False

    @property
    def is_speaking(self) -> bool:
        """Something is being played, or waits to be."""
        return self._is_playing or self._frames > 0

    def add_frame(self, payload: bytes) -> None:
        """A frame of bot audio came."""
        self._queue.append(payload)
        self._frames += 1

    def add_mark(self, reply_id: int, name: str) -> None:
        """A mark came: it follows the frames that came before it."""
        self._queue.append(MarkReached(reply_id=reply_id, name=name))

    def clear(self) -> int:
        """Drop what isn't played yet, marks included: they are never reached. The number of dropped frames."""
        dropped = self._frames
        self._queue.clear()
        self._frames = 0
        self._is_playing = False
        self._waited = 0
        return dropped

    def step(self) -> Step:
        """Play the next 20 ms."""
        before = self._reached()
        payload = self._next_frame()
        return Step(payload=payload, marks=(*before, *self._reached()))

    def _next_frame(self) -> bytes | None:
        if not self._frames:
            self._is_playing = False
            self._waited = 0
            return None
        if not self._is_playing and self._waited < self._hold_steps:
            self._waited += 1
            return None
        self._is_playing = True
        self._frames -= 1
        head = self._queue.popleft()
        return head if isinstance(head, bytes) else None  # never a mark: `_reached` took those before it

    def _reached(self) -> tuple[MarkReached, ...]:
        marks = []
        while self._queue and isinstance(head := self._queue[0], MarkReached):
            marks.append(head)
            self._queue.popleft()
        return tuple(marks)
