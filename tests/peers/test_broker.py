"""The hand-over over real sockets: the embedded broker, brokers that go away and come back, and ones that misbehave."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hotline.clock import utc_now
from hotline.handoff.broker import MqttSettings, embedded_broker, running_broker
from hotline.handoff.listen import offers, parse_offer
from hotline.handoff.mqtt import connected
from hotline.handoff.offers import build_offer, message_of
from hotline.handoff.relay import Relay
from hotline.handoff.types import BrokerRefused, BrokerUnavailable
from hotline.record.store import Offer, OutboxRow, Store
from tests.processes import running_python

QUICK = MqttSettings(port=0, reconnect_min_ms=10, reconnect_max_ms=40, poll_ms=30_000, answer_timeout_ms=20_000)


def an_offer(tenant: str = "city", *, urgent: bool = False) -> Offer:
    return build_offer(
        call_id="call-1", tenant=tenant, reason="asked", urgent=urgent, exchanges=[("居住证怎么办", "请带身份证。")], now=utc_now()
    )


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Store, None]:
    store = await Store.connect(f"sqlite:///{tmp_path}/record.db")
    await store.migrate()
    yield store
    await store.close()


@pytest.fixture
async def broker() -> AsyncGenerator[MqttSettings, None]:
    async with running_broker(QUICK) as settings:
        yield settings


class Watched:
    """The store's outbox, which tells how many rows were sent."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._sent = asyncio.Semaphore(0)

    async def outbox_due(self, limit: int = 50) -> list[OutboxRow]:
        return await self.store.outbox_due(limit)

    async def outbox_sent(self, row_id: int) -> None:
        await self.store.outbox_sent(row_id)
        self._sent.release()

    async def outbox_failed(self, row_id: int, error_code: str) -> None:
        await self.store.outbox_failed(row_id, error_code)

    async def sent(self, rows: int) -> None:
        for _ in range(rows):
            await self._sent.acquire()


class Console:
    """An agent's console that counts what it gets, after de-duplication."""

    def __init__(self, settings: MqttSettings, tenant: str = "+") -> None:
        self.settings = settings
        self.tenant = tenant
        self.got: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.subscribed = asyncio.Event()

    async def run(self) -> None:
        async with aclosing(offers(self.settings, self.tenant, subscribed=self.subscribed)) as arriving:
            async for offer in arriving:
                self.got.put_nowait(offer)


@asynccontextmanager
async def running(*works: Callable[[], Awaitable[None]]) -> AsyncGenerator[None, None]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_coroutine(work)) for work in works]
        yield
        for task in tasks:
            task.cancel()


async def _coroutine(work: Callable[[], Awaitable[None]]) -> None:
    await work()


async def test_an_offer_reaches_the_console_as_soon_as_the_relay_is_told(store: Store, broker: MqttSettings) -> None:
    outbox, offer = Watched(store), an_offer()
    console, relay = Console(broker), Relay(outbox, broker)
    async with running(console.run, relay.run):
        await console.subscribed.wait()
        await store.hand_over(offer)
        relay.notify()  # the next look of its own would be in 30 s

        arrived = await console.got.get()
        await outbox.sent(2)

    assert await store.outbox_due() == []
    assert (arrived["id"], arrived["summary"]) == (offer.id, offer.summary)


async def test_without_a_word_the_relay_looks_by_itself(store: Store, broker: MqttSettings) -> None:
    console, relay, offer = Console(broker), Relay(store, replace(broker, poll_ms=5)), an_offer()
    async with running(console.run, relay.run):
        await console.subscribed.wait()
        await store.hand_over(offer)
        assert (await console.got.get())["id"] == offer.id


async def test_a_tenants_console_sees_its_own_offers_only(store: Store, broker: MqttSettings) -> None:
    outbox = Watched(store)
    console, relay = Console(broker, "county"), Relay(outbox, broker)
    for offer in (an_offer("city"), mine := an_offer("county")):
        await store.hand_over(offer)
    async with running(console.run):
        await console.subscribed.wait()
        async with running(relay.run):
            assert (await console.got.get())["id"] == mine.id
            await outbox.sent(4)
    assert console.got.empty()


async def test_offers_wait_while_no_broker_runs_and_go_when_one_comes(store: Store, unused_port: int) -> None:
    settings = replace(QUICK, port=unused_port)
    outbox, made = Watched(store), [an_offer() for _ in range(5)]
    relay = Relay(outbox, settings)
    async with running(relay.run):
        for offer in made:
            await store.hand_over(offer)
        relay.notify()
        assert len(await store.outbox_due()) == 10  # nothing is lost, nothing is marked

        async with embedded_broker(port=unused_port):
            await outbox.sent(10)
    assert await store.outbox_due() == []


async def test_a_broker_that_restarts_is_found_again(store: Store, unused_port: int) -> None:
    settings = replace(QUICK, port=unused_port, poll_ms=10)
    async with running(Relay(store, settings).run):
        made: set[str] = set()  # what one broker did not acknowledge before it went comes again from the next
        for _ in range(2):
            await store.hand_over(offer := an_offer())
            async with embedded_broker(port=unused_port):
                console = Console(settings)
                async with running(console.run):
                    await console.subscribed.wait()
                    await store.hand_over(late := an_offer())
                    seen = {(await console.got.get())["id"]}
                    while late.id not in seen:
                        seen.add((await console.got.get())["id"])
            made |= {offer.id, late.id}
            assert seen <= made


async def test_a_bot_that_is_killed_with_no_broker_loses_no_offer(store: Store, broker: MqttSettings, tmp_path: Path) -> None:
    bot = """
import asyncio, os, signal, sys
from hotline.clock import utc_now
from hotline.handoff.offers import build_offer
from hotline.handoff.relay import Relay
from hotline.handoff.types import MqttSettings
from hotline.record.store import Store

async def call(url):
    store = await Store.connect(url)
    relay = asyncio.create_task(Relay(store, MqttSettings(port=1)).run())
    await store.hand_over(build_offer(call_id="killed", tenant="city", reason="asked", exchanges=[], now=utc_now()))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(call(sys.argv[1]))
"""
    async with running_python("-c", bot, f"sqlite:///{tmp_path}/record.db") as process:
        assert await process.wait() == -signal.SIGKILL

    console = Console(broker)
    async with running(console.run):
        await console.subscribed.wait()
        async with running(Relay(store, broker).run):
            assert (await console.got.get())["call_id"] == "killed"


async def test_an_offer_that_comes_twice_is_given_once_and_noise_is_skipped(broker: MqttSettings) -> None:
    console = Console(broker)
    first, second = (message_of(OutboxRow(row_id=1, what=an_offer())) for _ in range(2))
    async with running(console.run):
        await console.subscribed.wait()
        async with connected(broker, role="test") as connection:
            for payload in (b"\xff\x00", b"[]", b"{}", first.payload, first.payload, second.payload):
                await connection.deliver(first.topic, payload)
        got = [await console.got.get() for _ in range(2)]

    assert [offer["id"] for offer in got] == [parse["id"] for parse in map(parse_offer, (first.payload, second.payload)) if parse]
    assert console.got.empty()
    assert parse_offer("text") is None
    assert parse_offer(b"[" * 100_000) is None


async def test_a_listener_learns_that_the_broker_hung_up(unused_port: int) -> None:
    settings = replace(QUICK, port=unused_port)
    console = Console(settings)

    async def listen() -> None:
        with pytest.raises(BrokerUnavailable):
            await console.run()

    async with asyncio.TaskGroup() as group, embedded_broker(port=unused_port):
        group.create_task(listen())
        await console.subscribed.wait()


async def test_no_broker_is_told_with_what_to_do(unused_port: int) -> None:
    with pytest.raises(BrokerUnavailable) as away:
        async with connected(replace(QUICK, port=unused_port), role="test"):
            pass
    assert f"127.0.0.1:{unused_port}" in str(away.value)
    assert away.value.what_to_do


async def test_the_embedded_broker_stays_on_loopback_and_says_when_its_port_is_taken() -> None:
    with pytest.raises(BrokerRefused):
        async with embedded_broker("0.0.0.0"):  # noqa: S104  the point
            pass
    with pytest.raises(BrokerRefused):
        async with embedded_broker("example.org"):
            pass
    async with embedded_broker() as port:
        with pytest.raises(BrokerUnavailable) as taken:
            async with embedded_broker(port=port):
                pass
    assert str(port) in str(taken.value)


async def test_a_named_broker_is_left_as_it_is() -> None:
    settings = MqttSettings(embedded=False, host="mqtt.invalid")
    async with running_broker(settings) as same:
        assert same is settings


# Brokers that misbehave, byte by byte.
CONNACK_311 = bytes((0x20, 2, 0, 0))
NOT_AUTHORISED_311 = bytes((0x20, 2, 0, 5))
CONNACK_5 = bytes((0x20, 3, 0, 0, 0))


@asynccontextmanager
async def raw_broker(answer: Callable[[bytes], bytes | None]) -> AsyncGenerator[int, None]:
    """A socket that answers each chunk; None hangs up, b"" keeps silent."""
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        while chunk := await reader.read(65_536):
            reply = answer(chunk)
            if reply is None:
                break
            writer.write(reply)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])
        for writer in writers:
            writer.close()


def _publish_id(chunk: bytes, topic: str) -> bytes:
    after = chunk.index(topic.encode()) + len(topic.encode())
    return chunk[after : after + 2]


async def test_an_mqtt_5_broker_that_refuses_in_its_puback_is_not_taken_for_a_yes(store: Store) -> None:
    offer = an_offer()
    topic = message_of(OutboxRow(row_id=1, what=offer)).topic

    def answer(chunk: bytes) -> bytes:
        if chunk[0] >> 4 == 3:  # PUBLISH: PUBACK 0x87, not authorised
            return bytes((0x40, 4)) + _publish_id(chunk, topic) + bytes((0x87, 0))
        return CONNACK_5 if chunk[0] == 0x10 else b""

    async with raw_broker(answer) as port:
        settings = replace(QUICK, embedded=False, version="5", port=port)
        async with connected(settings, role="test") as connection:
            with pytest.raises(BrokerRefused) as refused:
                await connection.deliver(topic, b"{}")
    assert "authorized" in str(refused.value)


async def test_a_broker_that_never_acknowledges_leaves_the_offer_in_the_outbox(store: Store) -> None:
    asked = asyncio.Event()

    def answer(chunk: bytes) -> bytes:
        if chunk[0] >> 4 == 3:
            asked.set()
            return b""
        return CONNACK_311 if chunk[0] == 0x10 else b""

    await store.hand_over(an_offer())
    async with raw_broker(answer) as port:
        settings = replace(QUICK, embedded=False, port=port, answer_timeout_ms=100)
        async with running(Relay(store, settings).run):
            await asked.wait()
            asked.clear()
            await asked.wait()  # put back, it let the other row go first
    outbox = Watched(store)
    async with embedded_broker() as port, running(Relay(outbox, replace(QUICK, port=port, poll_ms=20)).run):
        await outbox.sent(2)  # nothing was marked before: no acknowledgement, no mark


async def test_a_wrong_password_is_told_as_a_refusal() -> None:
    async with raw_broker(lambda _: NOT_AUTHORISED_311) as port:
        with pytest.raises(BrokerRefused) as refused:
            async with connected(replace(QUICK, embedded=False, port=port), role="test"):
                pass
    assert "password" in refused.value.what_to_do


@pytest.mark.parametrize("reply", [b"", None])
async def test_a_broker_that_says_nothing_or_hangs_up_is_given_up_in_time(reply: bytes | None) -> None:
    async with raw_broker(lambda _: reply) as port:
        with pytest.raises(BrokerUnavailable):
            async with connected(replace(QUICK, embedded=False, port=port, answer_timeout_ms=50), role="test"):
                pass


async def test_a_relay_that_is_cancelled_while_connecting_leaves_nothing_behind(store: Store) -> None:
    asked = asyncio.Event()

    def answer(_chunk: bytes) -> bytes:
        asked.set()
        return b""

    async with raw_broker(answer) as port:
        async with running(Relay(store, replace(QUICK, embedded=False, port=port)).run):
            await asked.wait()
        left = {task.get_coro().__qualname__ for task in asyncio.all_tasks()}  # type: ignore[union-attr]
    assert not {name for name in left if "Client" in name}


async def test_certificates_that_are_not_there_are_told_before_connecting(tmp_path: Path) -> None:
    settings = MqttSettings(embedded=False, tls=True, port=8883, ca_file=tmp_path / "nowhere.pem")
    with pytest.raises(BrokerRefused) as refused:
        async with connected(settings, role="test"):
            pass
    assert "ca_file" in refused.value.what_to_do


@pytest.fixture
async def unused_port() -> int:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = int(server.sockets[0].getsockname()[1])
    server.close()
    await server.wait_closed()
    return port
