"""A call's entries in the record, and its offer to the people. Written beside the call: a slow or broken record never silences it.

Knows masked text only; people read its numerals as figures.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace

import structlog

from hotline import metrics
from hotline.clock import utc_now
from hotline.handoff.offers import build_offer
from hotline.lines import CallStart
from hotline.parts import Recorder
from hotline.playout import Played
from hotline.record.types import CallOpened, Offer, RecordError, TurnDone
from hotline.reply import Reply
from hotline.turn_events import Rate
from llm.itn import written
from llm.types import Exchange, HandOver, MaskedText, Route

log = structlog.get_logger()

_ANSWERS = {Route.HOT, Route.STORED, Route.GENERATED, Route.EMERGENCY}  # what counts as answered for the agent
_ENTRIES_KEPT = 200
_LAST_WORDS = 4  # limits


@dataclass(slots=True, kw_only=True)
class Paperwork:
    """One call's paperwork. offered: wakes the relay once an offer is committed; unrecorded: takes one that could not be."""

    start: CallStart
    record: Recorder
    offered: Callable[[], None]
    unrecorded: Callable[[Offer], None]
    limit_ms: int
    offer: Offer | None = None
    _entries: asyncio.Queue[Coroutine[None, None, None] | None] = field(
        default_factory=lambda: asyncio.Queue(maxsize=_ENTRIES_KEPT)
    )
    _stopped: bool = False
    _dropped: int = 0

    async def run(self) -> None:
        """Write entries in order, until `stop`."""
        while not self._stopped and (entry := await self._entries.get()) is not None:
            await self._write(entry)

    def stop(self) -> None:
        """Finish the entry in hand and no more: `ended` writes the rest."""
        self._stopped = True
        if self._entries.empty():
            self._entries.put_nowait(None)

    def opened(self) -> None:
        """The call is answered."""
        self._enter(
            self.record.call_opened(
                CallOpened(
                    call_id=self.start.call_id,
                    tenant=self.start.tenant,
                    trunk=self.start.trunk,
                    masked_caller=self.start.masked_caller,
                    dialled_number=self.start.dialled_number,
                    started_at=utc_now(),
                )
            )
        )

    def turn_done(self, reply: Reply, played: Played, *, interrupted: bool) -> None:
        """A reply is over."""
        routed = reply.routed
        self._enter(
            self.record.turn_done(
                TurnDone(
                    call_id=self.start.call_id,
                    turn=reply.turn,
                    reply_id=reply.reply_id,
                    masked_text=written(reply.question.text) if reply.question is not None else "",
                    route=reply.route,
                    confidence=routed.confidence if routed is not None else 1.0,
                    source_ids=routed.source_ids if routed is not None else (),
                    heard_reply=played.heard,
                    unheard_reply=played.unheard + reply.unsaid,
                    interrupted=interrupted,
                    stamps=reply.stamps,
                    explain=routed.explain if routed is not None else "",
                )
            )
        )

    def rated(self, rate: Rate) -> None:
        """The caller gave a grade."""
        metrics.SATISFACTION.of(str(rate.grade)).inc()
        self._enter(self.record.call_rated(self.start.call_id, rate.grade, rate.how))

    async def make_offer(
        self, handover: HandOver, history: list[Exchange], unanswered: list[MaskedText], reply: Reply | None = None
    ) -> None:
        """Offer the call to the people, once; committed before it returns, unless the record is broken.

        reply: the one that hands over and is played to its end. When it answers, the first of the unanswered is answered.
        """
        if self.offer is not None:
            return
        turns = [(written(exchange.caller.text), exchange.said) for exchange in history]
        told = reply.told if reply is not None and reply.routed is not None and reply.routed.route in _ANSWERS else ""
        turns += [(written(question.text), told if at == 0 else "") for at, question in enumerate(unanswered)]
        answered = [exchange.said for exchange in history if exchange.route in _ANSWERS]
        self.offer = build_offer(
            call_id=self.start.call_id,
            tenant=self.start.tenant,
            reason=handover.reason,
            exchanges=turns,
            answered=[*answered, told] if told else answered,
            now=utc_now(),
            skill=handover.skill,
            urgent=handover.urgent,
        )
        try:
            async with asyncio.timeout(self.limit_ms / 1000):
                self.offer = replace(self.offer, ticket=await self.record.next_ticket(self.start.tenant))
                await self.record.hand_over(self.offer)
        except (RecordError, TimeoutError) as error:
            metrics.RECORD_ERRORS.inc()
            metrics.OFFERS.of("failed").inc()
            log.warning("offer_not_recorded", code=getattr(error, "code", "record.timeout"))
            self.unrecorded(self.offer)
        else:
            metrics.OFFERS.of("made").inc()
            self.offered()

    async def ended(self, reason: str) -> None:
        """The call is over: write what is left, in four times the limit at most."""
        left = [self._entries.get_nowait() for _ in range(self._entries.qsize())]
        entries = [*filter(None, left), self.record.call_ended(self.start.call_id, reason, utc_now())]
        try:
            async with asyncio.timeout(_LAST_WORDS * self.limit_ms / 1000):
                for entry in entries:
                    await self._write(entry)
        except TimeoutError:
            log.warning("record_entries_lost", code="record.slow")
        finally:
            for entry in entries:
                entry.close()

    def _enter(self, entry: Coroutine[None, None, None]) -> None:
        if self._entries.full():
            entry.close()
            metrics.RECORD_ERRORS.inc()
            if not self._dropped:  # told once a call: who floods us must not flood the log
                log.error("record_entries_dropped", code="record.slow")
            self._dropped += 1
            return
        self._entries.put_nowait(entry)

    async def _write(self, entry: Coroutine[None, None, None]) -> None:
        try:
            async with asyncio.timeout(self.limit_ms / 1000):
                await entry
        except (RecordError, TimeoutError) as error:
            metrics.RECORD_ERRORS.inc()
            log.warning("record_entry_lost", code=getattr(error, "code", "record.timeout"))
