"""One call, from the greeting to the goodbye: line → ear → masker → turn machine → mind → voice → line. READ FIRST.

The verbs, in the order in which a call lives: run, greet, converse, obey, answer, settle, hand_over, end.
Knows contracts only: no recogniser, no engine, no voice, no wire. Who may interrupt whom is decided in turns.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import structlog

from hotline import metrics
from hotline.clock import CallClock, utc_now
from hotline.errors import explain
from hotline.intake import Intake
from hotline.line_voice import LineVoice
from hotline.lines import Ended, Line, Mark, Transcript, Transfer, TurnFigures
from hotline.news import Inbox, News
from hotline.paperwork import Paperwork
from hotline.parts import CallSettings, Parts
from hotline.playout import Played
from hotline.questions import Questions
from hotline.reply import Reply, canned
from hotline.sentences import Sentence, sentence_of
from hotline.speaker import Speaker
from hotline.stopwatch import Stopwatch
from hotline.timed_line import TimedLine
from hotline.turn_events import (
    CallerBegan,
    CallerDone,
    Command,
    Committed,
    Finish,
    Finished,
    GiveUp,
    Order,
    Rate,
    ReplyBegan,
    Said,
    Sounding,
    Tick,
    Transferring,
)
from hotline.turns import State, TurnMachine
from llm.types import AskedFor, Clause, Close, Dialogue, Exchange, HandOver, Route, Step

log = structlog.get_logger()


class Call:
    """One call on one line. overloaded: there is no room for it, so it goes straight to the people's queue."""

    def __init__(self, line: Line, parts: Parts, settings: CallSettings, *, overloaded: bool = False) -> None:
        line = TimedLine(line, settings.send_limit_ms)
        self.line, self.parts, self.settings, self.overloaded = line, parts, settings, overloaded
        self.clock = CallClock()
        self.inbox, self.watch = Inbox(self.clock), Stopwatch()
        self.turns = TurnMachine(settings.turns)
        self.history: list[Exchange] = []
        is_audible = line.start.codec is not None
        speech = LineVoice(voice=parts.speech, rate_hz=line.start.rate_hz) if is_audible and parts.speech is not None else None
        self.speaker = Speaker(line, self.clock, speech, self.inbox.post, run_ahead_ms=settings.run_ahead_ms)
        self.playout = self.speaker.playout
        hear = parts.hear if is_audible and not overloaded else None
        self.intake = Intake(
            line=line,
            clock=self.clock,
            inbox=self.inbox,
            ear=hear(line.start, self.clock.now_ms) if hear is not None else None,
            masker=parts.new_masker(),
            is_backchannel=parts.is_backchannel,
            grade_of=parts.grade_of,
            near_edge=lambda: self.playout.near_edge(settings.turns.edge_ms),
            mark_played=self.playout.mark_played,
        )
        self.paperwork = Paperwork(
            start=line.start,
            record=parts.record,
            offered=parts.offered,
            unrecorded=parts.unrecorded,
            limit_ms=settings.record_limit_ms,
        )
        self._asked = Questions(parts.join)
        self._clarified = 0
        self._turn = 0

    # ------------------------------------------------------------ the life of a call

    async def run(self) -> str:
        """Answer, converse, end. Returns the end's reason; whatever breaks inside ends with a person, never in dead air."""
        metrics.CALLS_STARTED.inc()
        ended = False
        with structlog.contextvars.bound_contextvars(call_id=self.line.start.call_id), metrics.CALLS_ACTIVE.track_inprogress():
            try:
                reason = await self._live()
                await self.end(reason)
                ended = True
            finally:
                if not ended:  # cancelled from outside: the record still learns that the call is over
                    await self.paperwork.ended("cancelled")
        return reason

    async def _live(self) -> str:
        reason = "failure"
        try:
            async with asyncio.TaskGroup() as self._tasks:
                background = [
                    self._tasks.create_task(self.intake.listen(), name="listen"),
                    self._tasks.create_task(self.intake.hear(), name="hear"),
                    self._tasks.create_task(self.playout.run(), name="speak"),
                ]
                self._tasks.create_task(self.paperwork.run(), name="record")
                self.paperwork.opened()
                await self.greet()
                reason = await self.converse()
                self.speaker.stop_making()
                self.paperwork.stop()
                for task in background:
                    task.cancel()
        except* Exception as group:  # the call's border: any failure of ours ends with a person
            log.exception("call_broke", code=explain(group).code)
        return reason

    async def greet(self) -> None:
        """Say what answers, that it records, and that a person can be had."""
        phrases = self.settings.phrases
        if self.overloaded:
            await self._say(sentence_of(GiveUp(reason="overload"), phrases, self.turns))
            return
        label, notice = Clause(text=phrases.label, protected=True), Clause(text=phrases.notice, protected=True)
        await self._begin(self.speaker.open("greeting"), canned(label, notice, Clause(text=phrases.offer)))

    async def converse(self) -> str:
        """Feed the turn machine and obey it, until the call is over. Returns why it ended."""
        while True:
            news = await self.inbox.next(self.turns.deadline_ms(self.playout.last_frame_ms))
            if news is None:
                news = News(event=Tick(at_ms=self.clock.now_ms(), last_frame_ms=self.playout.last_frame_ms))
            if news.reply_id and (self.speaker.reply is None or self.speaker.reply.reply_id != news.reply_id):
                continue  # late word of a reply that was dropped
            ending = await self._before(news)
            if isinstance(ending, Close):
                if self.overloaded:
                    return "overload"
                news = News(event=CallerDone(at_ms=self.clock.now_ms()))
            if isinstance(ending, HandOver):
                await self.hand_over(ending)
                continue
            orders = self.turns.feed(news.event)
            if news.words is not None and (Command.ANSWER in orders or Command.KEEP in orders):
                self._asked.add(news.words)
            for order in orders:
                if isinstance(order, Finish):
                    return order.reason
                await self.obey(order)

    async def _before(self, news: News) -> HandOver | Close | None:
        """What news means besides turns: shown, stamped, offered. Returns what a reply that was played out ends with."""
        match news.event:
            case Finished():
                return await self._played_out(news.played)
            case Sounding():
                await self._first_frame()
            case Committed() if news.handover is not None:
                waiting = self._asked.beside(self.speaker.sounding)
                await self.paperwork.make_offer(news.handover, self.history, waiting, self.speaker.reply)
            case Said():
                await self._show(news)
            case CallerBegan(start_ms=start_ms):
                self.watch.caller_began(start_ms)
            case _:
                pass
        return None

    async def obey(self, order: Order) -> None:
        """Carry out one order of the turn machine."""
        match order:
            case Command.PAUSE:
                held = self.turns.state is State.HOLDING
                await self.playout.pause("held" if held else "pause")
                if not held:
                    self.watch.bot_paused(self.clock.now_ms())
            case Command.RESUME:
                metrics.BARGE_IN.of("resume").inc()
                self.speaker.go_on(self._tasks)
            case Command.CUT:
                metrics.BARGE_IN.of("cancel").inc()
                await self.speaker.cut()
            case Command.DISCARD:
                self.settle(await self.speaker.drop(), interrupted=True)
            case Command.ANSWER:
                await self.answer()
            case Command.KEEP:
                pass  # kept with what was asked
            case Rate():
                self.paperwork.rated(order)
            case Command.FILL:
                metrics.FILLERS.inc()
                self._tasks.create_task(self.speaker.fill(self.settings.phrases.filler), name="fill")
            case _:
                await self._say(sentence_of(order, self.settings.phrases, self.turns))

    # ------------------------------------------------------------ replies

    async def answer(self) -> None:
        """Answer everything that the caller asked and has not heard an answer to."""
        self._turn += 1
        question, asked_for = self._asked.joined(), self.intake.asked_for
        dialogue = Dialogue(
            is_spoken=self.line.start.codec is not None,
            history=tuple(self.history),
            clarified=self._clarified,
            asked_for=asked_for,
            today=utc_now().date(),
        )
        self.intake.expect(None)
        reply = self.speaker.open("answer", turn=self._turn, question=question)
        reply.stamps = self.watch.caller
        await self._begin(reply, self.parts.mind.answer(question, dialogue))

    def settle(self, played: Played, *, interrupted: bool) -> None:
        """A reply is over: what was heard of it goes to history and record."""
        reply, self.speaker.reply = self.speaker.reply, None
        if reply is None:
            return
        metrics.TURNS.of(reply.route).inc()
        if reply.question is not None and reply.routed is not None and reply.stamps.first_frame_sent_ms is not None:
            self._clarified = self._clarified + 1 if reply.routed.route is Route.CLARIFY else 0
            topic_id = next(iter(reply.routed.source_ids), "")
            self.history.append(Exchange(caller=reply.question, said=played.heard, route=reply.routed.route, topic_id=topic_id))
            del self.history[: -self.settings.history_turns]
        self.paperwork.turn_done(reply, played, interrupted=interrupted)

    async def hand_over(self, handover: HandOver) -> None:
        """The words are spoken: move the caller to a person."""
        await self.paperwork.make_offer(handover, self.history, self._asked.beside(self.speaker.sounding))
        offer = self.paperwork.offer
        ticket, summary = (offer.ticket, offer.summary) if offer is not None else ("", "")
        await self.line.send(Transfer(target=self.settings.person_target, ticket=ticket, summary=summary, reason=handover.reason))
        self.turns.feed(Transferring(at_ms=self.clock.now_ms()))

    async def end(self, reason: str) -> None:
        """The last words on the wire and in the record. A call that broke is moved to a person without words."""
        if reason == "failure" and self.turns.state is not State.TRANSFERRING:
            await self.hand_over(HandOver(reason="failure"))
        if self.speaker.reply is not None:
            self.settle(await self.speaker.drop(), interrupted=True)
        if self.turns.grading.asked and self.turns.grading.grade is None:
            metrics.SATISFACTION.of("none").inc()
        await self.line.send(Ended(reason=reason))
        await self.paperwork.ended(reason)
        metrics.CALLS_ENDED.of(reason).inc()
        log.info("call_ended", why=reason, turns=self._turn)

    # ------------------------------------------------------------ the hands

    async def _say(self, sentence: Sentence) -> None:
        if sentence.route == "reprompt":
            metrics.REPROMPTS.inc()
        ticket = f"工单号是{self.paperwork.offer.ticket}，" if self.paperwork.offer and self.paperwork.offer.ticket else ""
        text = sentence.text.replace("{ticket}", ticket)
        if sentence.is_new_start:
            self.paperwork.offer = None
        ending: HandOver | Close | None = HandOver(reason=sentence.hands_over) if sentence.hands_over else None
        if sentence.closes:
            ending = Close()
        if self.overloaded and sentence.is_new_start:  # nobody here can listen to this caller: say so, and end
            text, ending = self.settings.phrases.overload_failed, Close()
        await self._begin(self.speaker.open(sentence.route, slow=sentence.slow), canned(Clause(text=text), ending=ending))

    async def _begin(self, reply: Reply, steps: AsyncGenerator[Step, None]) -> None:
        self.speaker.begin(reply, steps, self._tasks)
        for order in self.turns.feed(ReplyBegan(at_ms=self.clock.now_ms())):
            await self.obey(order)

    async def _played_out(self, played: Played | None) -> HandOver | Close | None:
        """A reply was played to its end: settle it; what it ends with is done by the caller of this."""
        reply = self.speaker.reply
        if reply is None or played is None:
            return None
        self.settle(played, interrupted=False)
        await self.line.send(Mark(reply_id=reply.reply_id, name="end"))
        if isinstance(reply.ending, AskedFor):
            self.intake.expect(reply.ending.kind)
            return None
        return reply.ending

    async def _first_frame(self) -> None:
        reply = self.speaker.reply
        if reply is None or reply.question is None:
            return
        self._asked.answered()
        if isinstance(reply.ending, AskedFor):
            self.intake.expect(reply.ending.kind)  # from now on: many begin to dictate before they have been asked to the end
        sent_ms = self.playout.last_frame_ms if self.speaker.speech is not None else self.clock.now_ms()
        reply.stamps = self.watch.answered(reply.stamps, sent_ms)
        await self.line.send(TurnFigures(turn=reply.turn, stamps=reply.stamps, route=reply.route))

    async def _show(self, news: News) -> None:
        if news.words is None:
            return
        at_ms, ended = news.event.at_ms, news.ended
        self.watch.caller_heard(at_ms, ended)
        start_ms, end_ms = (ended.start_ms, ended.last_speech_ms) if ended is not None else (at_ms, at_ms)
        await self.line.send(Transcript(turn=self._turn + 1, masked_text=news.words.text, start_ms=start_ms, end_ms=end_ms))
