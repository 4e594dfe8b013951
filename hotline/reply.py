"""One reply: steps of an answer → clauses → clips in the playout. Can be cut (making stops for real) and gone on with.

Knows nothing of who may interrupt it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import assert_never

from hotline.lines import Line, ReplyText, Why
from hotline.parts import Speaking
from hotline.playout import Clip, Playout
from hotline.stamps import Stamps
from llm.types import AskedFor, Clause, Close, Explained, HandOver, MaskedText, Routed, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Mouth:
    """What a reply speaks through. speech None: text only."""

    line: Line
    playout: Playout
    speech: Speaking | None
    now_ms: Callable[[], int]
    committed: Callable[[int, HandOver], None]


@dataclass(slots=True, kw_only=True)
class Reply:
    """What is said in one bot turn. turn: the caller's turn that it answers, 0 for what the bot says by itself."""

    reply_id: int
    turn: int
    route: str
    question: MaskedText | None = None
    routed: Routed | None = None
    ending: HandOver | Close | AskedFor | None = None
    stamps: Stamps = field(default_factory=Stamps)
    told: str = ""  # of the answer: what rests on an entry, or must be heard
    slow: bool = False
    cut: bool = False
    _pending: deque[Clause] = field(default_factory=deque)
    _complete: bool = False
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def unsaid(self) -> str:
        """Words that were found but never reached the playout."""
        return "".join(clause.text for clause in self._pending)

    async def make(self, steps: AsyncGenerator[Step, None] | None, mouth: Mouth) -> None:
        """Make the reply to its end. steps None: go on after a cut with what had been found by then.

        Raises AnsweringError or SpeakingError, in an ExceptionGroup. Cancelling stops generation and synthesis.
        """
        async with asyncio.TaskGroup() as tasks:
            if steps is None:
                self._complete = True
            else:
                tasks.create_task(self._collect(steps, mouth), name="think")
            tasks.create_task(self._say(mouth), name="say")

    async def _collect(self, steps: AsyncGenerator[Step, None], mouth: Mouth) -> None:
        async with aclosing(steps):
            async for step in steps:
                match step:
                    case Routed():
                        self.routed, self.route = step, step.route.value
                        self.stamps = replace(self.stamps, route_decided_ms=mouth.now_ms())
                    case Clause():
                        self._first_clause(mouth.now_ms())
                        self._pending.append(step)
                        self.told += step.text if step.source_ids or step.protected else ""
                    case HandOver():
                        self.ending = step
                        mouth.committed(self.reply_id, step)
                    case Close() | AskedFor():
                        self.ending = step
                    case Explained():
                        await mouth.line.send(Why(turn=self.turn, explained=step))
                    case _:
                        assert_never(step)
                self._more.set()
        self._complete = True
        self._more.set()

    def _first_clause(self, now_ms: int) -> None:
        if self.stamps.first_safe_clause_ms is None:
            token_ms = self.stamps.first_token_ms or now_ms
            self.stamps = replace(self.stamps, first_token_ms=token_ms, first_safe_clause_ms=now_ms)

    async def _say(self, mouth: Mouth) -> None:
        while True:
            while self._pending:
                await self._say_one(self._pending[0], mouth)
            if self._complete:
                break
            self._more.clear()
            await self._more.wait()
        mouth.playout.close(self.reply_id)

    async def _say_one(self, clause: Clause, mouth: Mouth) -> None:
        clip = Clip(reply_id=self.reply_id, text=clause.text, protected=clause.protected)
        if mouth.speech is not None:
            spoken = await mouth.speech.speak(clause.text, cacheable="〈" not in clause.text, slow=self.slow)
            clip = replace(clip, samples=spoken.samples)
        if self.stamps.first_tts_audio_ms is None:
            self.stamps = replace(self.stamps, first_tts_audio_ms=mouth.now_ms())
        await mouth.line.send(ReplyText(reply_id=self.reply_id, text=clause.text, route=self.route, source_ids=clause.source_ids))
        self._pending.popleft()  # before the wait for room: a cut must not say it twice
        await mouth.playout.add(clip)


async def canned(*clauses: Clause, ending: HandOver | Close | None = None) -> AsyncGenerator[Step, None]:
    """Steps of a fixed sentence."""
    for clause in clauses:
        yield clause
    if ending is not None:
        yield ending
