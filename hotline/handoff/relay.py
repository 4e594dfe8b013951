"""The record's outbox in, acknowledged MQTT messages out. Knows no call: it finds what waits, also from before a crash.

At least once: a crash between the broker's acknowledgement and our mark sends the same id again. Consumers de-duplicate by id.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

import structlog

from hotline.handoff.mqtt import connected
from hotline.handoff.offers import Message, message_of, payload_of, topic_of
from hotline.handoff.types import BrokerRefused, HandoffError, MqttSettings
from hotline.record.types import Offer, OutboxRow, RecordError

_BATCH = 50
_IN_HAND = 200
_MOST_DOUBLINGS = 16

log = structlog.get_logger()


class Outbox(Protocol):
    """The part of the record that the relay needs."""

    async def outbox_due(self, limit: int = 50) -> list[OutboxRow]:
        """What waits, most urgent first."""
        ...

    async def outbox_sent(self, row_id: int) -> None:
        """It is acknowledged."""
        ...

    async def outbox_failed(self, row_id: int, error_code: str) -> None:
        """It isn't; others first."""
        ...


class Relay:
    """Carries the outbox to the broker for as long as `run` runs. A broker or a record that is away is waited for."""

    def __init__(self, outbox: Outbox, settings: MqttSettings) -> None:
        self._outbox = outbox
        self._settings = settings
        self._woken = asyncio.Event()
        self._in_hand: deque[Offer] = deque(maxlen=_IN_HAND)

    def hand_in(self, offer: Offer) -> None:
        """An offer that the record could not take: carried from memory, so that its caller isn't lost while the record is away."""
        self._in_hand.append(offer)
        self._woken.set()

    def notify(self) -> None:
        """Something was just put into the outbox: carry it now, not at the next look."""
        self._woken.set()

    async def run(self) -> None:
        """Until cancelled."""
        failures = 0
        while True:
            try:
                async with connected(self._settings, role="relay") as connection:
                    log.info("relay_connected", failures=failures)
                    failures = 0
                    await self._carry(connection.deliver)
            except (HandoffError, RecordError) as error:
                wait_ms = backoff_ms(failures, self._settings)
                failures += 1
                log.warning("relay_waits", code=error.code, failures=failures, wait_ms=wait_ms)
                await asyncio.sleep(wait_ms / 1000)

    async def _carry(self, deliver: Callable[[str, bytes], Awaitable[None]]) -> None:
        while True:
            self._woken.clear()  # before the look: what comes in during it wakes us again
            await self._carry_in_hand(deliver)
            if await carry_due(self._outbox, deliver) < _BATCH:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._settings.poll_ms / 1000):
                        await self._woken.wait()

    async def _carry_in_hand(self, deliver: Callable[[str, bytes], Awaitable[None]]) -> None:
        while self._in_hand:
            offer = self._in_hand[0]
            try:
                await deliver(topic_of(offer), payload_of(offer))
            except BrokerRefused as error:
                log.warning("relay_refused", code=error.code)
            self._in_hand.popleft()


async def carry_due(outbox: Outbox, deliver: Callable[[str, bytes], Awaitable[None]]) -> int:
    """One look: deliver what waits and mark what was acknowledged; the number of rows seen.

    A refused row is put back for a while; a broker that went away ends the look (HandoffError), and the row is put back too: it may
    be the one that makes the broker hang up.
    """
    rows = await outbox.outbox_due(limit=_BATCH)
    for row in rows:
        message: Message = message_of(row)
        try:
            await deliver(message.topic, message.payload)
        except BrokerRefused as error:
            log.warning("relay_refused", code=error.code, row=row.row_id, attempts=row.attempts + 1)
            await outbox.outbox_failed(row.row_id, error.code)
        except HandoffError as error:
            await outbox.outbox_failed(row.row_id, error.code)
            raise
        else:
            await outbox.outbox_sent(row.row_id)
            log.info("relay_delivered", row=row.row_id, attempts=row.attempts + 1)
    return len(rows)


def backoff_ms(failures: int, settings: MqttSettings) -> int:
    """How long to wait before the next connection: doubling, at most reconnect_max_ms, half of it by chance."""
    longest = min(settings.reconnect_max_ms, settings.reconnect_min_ms << min(failures, _MOST_DOUBLINGS))
    return round(longest * random.uniform(0.5, 1.0))  # noqa: S311  spreads servers out, no secret
