"""Hand-overs that other services lost or sent twice: a broker that is away, a restart, a connection that goes before its answer."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from hotline.handoff.broker import MqttSettings, running_broker
from hotline.handoff.mqtt import connected
from hotline.handoff.offers import offers_filter, payload_of, topic_of
from hotline.handoff.relay import Relay
from hotline.record.store import Offer, OutboxRow, Store
from tests.peers.test_broker import QUICK, Console, an_offer, running

PUBLISH = 3


class Gate:
    """The way to the broker. Closed: nobody listens there. cuts: so many connections go once their first message has passed."""

    def __init__(self, broker: MqttSettings, port: int, cuts: int = 0) -> None:
        self.broker, self.port, self.cuts = broker, port, cuts

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None, None]:
        server = await asyncio.start_server(self._pass, "127.0.0.1", self.port)
        async with server:
            yield

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(self.broker.host, self.broker.port)
        with suppress(ExceptionGroup):  # of a side that is gone
            async with asyncio.TaskGroup() as group:
                back = group.create_task(_copy(far_reader, writer))
                while chunk := await reader.read(65_536):
                    far_writer.write(chunk)
                    await far_writer.drain()
                    if self.cuts and chunk[0] >> 4 == PUBLISH:
                        self.cuts -= 1
                        break
                back.cancel()
        far_writer.close()
        writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65_536):
        writer.write(chunk)
        await writer.drain()
    writer.close()


class Outbox:
    """The record's, which tells when the relay has looked, and when a row was sent. A row that failed is due at once."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.sent = asyncio.Semaphore(0)

    async def outbox_due(self, limit: int = 50) -> list[OutboxRow]:
        return await self.store.outbox_due(limit)

    async def outbox_sent(self, row_id: int) -> None:
        await self.store.outbox_sent(row_id)
        self.sent.release()

    async def outbox_failed(self, row_id: int, error_code: str) -> None:
        """Left due: the waiting is tested with the record."""


class Wire:
    """Every offer that the broker gives out, each copy counted."""

    def __init__(self, broker: MqttSettings) -> None:
        self.broker = broker
        self.seen: Counter[str] = Counter()
        self.subscribed = asyncio.Event()
        self._more = asyncio.Condition()

    async def came(self, offer_id: str) -> None:
        async with self._more:
            await self._more.wait_for(lambda: offer_id in self.seen)

    async def run(self) -> None:
        async with connected(self.broker, role="wire") as connection:
            await connection.subscribe(offers_filter("+"), qos=1)
            self.subscribed.set()
            async for message in connection.messages:
                assert isinstance(message.payload, bytes)
                async with self._more:
                    self.seen[json.loads(message.payload)["id"]] += 1
                    self._more.notify_all()


@pytest.fixture
async def broker() -> AsyncGenerator[MqttSettings, None]:
    async with running_broker(QUICK) as settings:
        yield settings


@pytest.fixture
async def closed_port() -> int:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = int(server.sockets[0].getsockname()[1])
    server.close()
    await server.wait_closed()
    return port


async def life(path: Path, settings: MqttSettings, made: list[Offer], way: Gate | None) -> None:
    """One life of the bot: these callers ask for a person; way: by which all that waits is carried; None: none while it lives."""
    store = await Store.connect(f"sqlite:///{path}/record.db")
    try:
        await store.migrate()
        outbox = Outbox(store)
        relay = Relay(outbox, settings)
        async with running(relay.run):
            for offer in made:
                await store.hand_over(offer)
                relay.notify()
            if way is None:
                assert len(await store.outbox_due()) >= 2 * len(made)  # kept, not marked
                return
            waiting = len(await store.outbox_due())
            async with way.open():
                for _ in range(waiting):
                    await outbox.sent.acquire()
            assert await store.outbox_due() == []
    finally:
        await store.close()


@pytest.mark.parametrize("restarts", [0, 3])
@pytest.mark.parametrize("cuts", [0, 2], ids=["answered", "two answers lost"])
async def test_every_offer_made_while_the_broker_was_away_is_acted_on_exactly_once(
    tmp_path: Path, broker: MqttSettings, closed_port: int, restarts: int, cuts: int
) -> None:
    made, end = [an_offer(urgent=bool(number % 2)) for number in range(5)], an_offer()
    console, wire = Console(broker), Wire(broker)
    settings = replace(QUICK, embedded=False, port=closed_port, poll_ms=20, answer_timeout_ms=1000)
    async with running(console.run, wire.run):
        await console.subscribed.wait()
        await wire.subscribed.wait()
        for life_number in range(restarts):
            await life(tmp_path, settings, made[life_number : life_number + 1], None)
        await life(tmp_path, settings, made[restarts:], Gate(broker, closed_port, cuts))
        async with connected(broker, role="test") as last:
            await last.deliver(topic_of(end), payload_of(end))
        acted_on = []
        while (offer := await console.got.get())["id"] != end.id:
            acted_on.append(offer["id"])
        await wire.came(end.id)
    assert Counter(acted_on) == Counter(offer.id for offer in made)
    assert sum(wire.seen.values()) - 1 <= len(made) + cuts  # no more copies than answers that were lost
