"""The bot's turn in hand: begins a reply, cuts it, goes on with it, drops it. Steps → reply → playout; news of it → the call.

Obeys; when to do what is the turn machine's to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

import structlog

from hotline.clock import CallClock
from hotline.errors import explain
from hotline.lines import Clear, Line, ReplyText
from hotline.news import News
from hotline.parts import Speaking
from hotline.playout import Clip, Played, Playout, PlayoutEvents
from hotline.reply import Mouth, Reply
from hotline.turn_events import Committed, Failed, Finished, Guarded, Sounding
from llm.types import AnsweringError, HandOver, MaskedText, Step
from tts.types import SpeakingError

log = structlog.get_logger()


class Speaker:
    """One call's mouth and what it is saying. speech None: text only."""

    def __init__(
        self, line: Line, clock: CallClock, speech: Speaking | None, post: Callable[[News], None], *, run_ahead_ms: int
    ) -> None:
        self._clock, self._post, self._line = clock, post, line
        events = PlayoutEvents(sounding=self._on_sounding, guarded=self._on_guarded, finished=self._on_finished)
        self.playout = Playout(line, clock, events, run_ahead_ms=run_ahead_ms)
        self.speech = speech
        self._mouth = Mouth(line=line, playout=self.playout, speech=speech, now_ms=clock.now_ms, committed=self._on_committed)
        self.reply: Reply | None = None
        self._making: asyncio.Task[None] | None = None
        self._replies = 0

    @property
    def sounding(self) -> MaskedText | None:
        """The question whose answer is being heard."""
        reply = self.reply
        return reply.question if reply is not None and reply.stamps.first_frame_sent_ms is not None else None

    def open(self, route: str, *, turn: int = 0, question: MaskedText | None = None, slow: bool = False) -> Reply:
        """A reply with its number, not begun."""
        self._replies += 1
        return Reply(reply_id=self._replies, turn=turn, route=route, question=question, slow=slow)

    def begin(self, reply: Reply, steps: AsyncGenerator[Step, None], tasks: asyncio.TaskGroup) -> None:
        """Make and play a reply; the one before must have been dropped or played out."""
        self.stop_making()
        self.reply = reply
        self.playout.open(reply.reply_id)
        self._making = tasks.create_task(self._make(reply, steps), name="reply")

    async def cut(self) -> None:
        """Stop generation and synthesis for real; what was made is kept for a false alarm."""
        if self.reply is None:
            return
        self.reply.cut = True
        self.stop_making()
        if self.speech is not None:
            await self._line.send(Clear(reply_id=self.reply.reply_id, reason="cancel"))

    def go_on(self, tasks: asyncio.TaskGroup) -> None:
        """Play on at the same sample; after a cut, with what had been found by then."""
        if self.reply is not None and self.reply.cut:
            self.reply.cut = False
            self._making = tasks.create_task(self._make(self.reply, None), name="reply")
        self.playout.resume()

    async def drop(self) -> Played:
        """Forget the reply; what of it was heard."""
        self.stop_making()
        return await self.playout.drop()

    def stop_making(self) -> None:
        """Cancel what is being generated or synthesised."""
        if self._making is not None:
            self._making.cancel()
            self._making = None

    async def fill(self, sentence: str) -> None:
        """Say that it takes a moment; no part of the answer."""
        reply = self.reply
        if reply is None:
            return
        clip = Clip(reply_id=reply.reply_id, text=sentence, filler=True)
        if self.speech is not None:
            try:
                clip = replace(clip, samples=(await self.speech.speak(sentence)).samples)
            except SpeakingError as error:
                log.warning("filler_failed", code=error.code)
                return
        if self.reply is reply and self.playout.is_dry:  # else the answer was faster
            await self.playout.add(clip)
            await self._line.send(ReplyText(reply_id=reply.reply_id, text=sentence, route="filler"))

    async def _make(self, reply: Reply, steps: AsyncGenerator[Step, None] | None) -> None:
        try:
            await reply.make(steps, self._mouth)
        except* (AnsweringError, SpeakingError) as group:
            log.warning("reply_failed", code=explain(group).code, route=reply.route)
            self._post(News(event=Failed(at_ms=self._clock.now_ms()), reply_id=reply.reply_id))

    # ------------------------------------------------------------ told by reply and playout, without waiting

    def _on_committed(self, reply_id: int, handover: HandOver) -> None:
        self._post(News(event=Committed(at_ms=self._clock.now_ms()), reply_id=reply_id, handover=handover))

    def _on_sounding(self, reply_id: int) -> None:
        self._post(News(event=Sounding(at_ms=self._clock.now_ms()), reply_id=reply_id))

    def _on_guarded(self, reply_id: int, on: bool) -> None:  # noqa: FBT001  what happened, not a switch
        self._post(News(event=Guarded(at_ms=self._clock.now_ms(), on=on), reply_id=reply_id))

    def _on_finished(self, reply_id: int, played: Played) -> None:
        self._post(News(event=Finished(at_ms=self._clock.now_ms()), reply_id=reply_id, played=played))
