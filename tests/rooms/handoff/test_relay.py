"""Wherever the relay dies, every offer arrives, and a consumer that goes by ids acts on it once. Real SQLite, no sockets."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotline.handoff.relay import Relay, backoff_ms, carry_due
from hotline.handoff.types import BrokerRefused, BrokerUnavailable, MqttSettings
from hotline.record.store import OutboxRow, RecordUnavailable, Store
from tests.rooms.handoff.conftest import an_offer


class Died(BaseException):
    """The process is gone: nothing catches this."""


class Wire:
    """A broker's far side: what was delivered, and faults in order: ok, lost, refused, died_before, died_after, away."""

    def __init__(self, faults: Iterator[str]) -> None:
        self.faults = faults
        self.delivered: Counter[str] = Counter()

    async def deliver(self, topic: str, payload: bytes) -> None:
        fault = next(self.faults, "ok")
        if fault == "died_before":
            raise Died
        if fault == "refused":
            raise BrokerRefused("no")
        if fault == "away":
            raise BrokerUnavailable("away")
        self.delivered[json.loads(payload)["id"]] += 1
        if fault == "lost":  # it arrived, the acknowledgement didn't
            raise BrokerUnavailable("no PUBACK")
        if fault == "died_after":
            raise Died


class Impatient:
    """The same record, to which a row that was put back is due at once."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def outbox_due(self, limit: int = 50) -> list[OutboxRow]:
        return await self.store.outbox_due(limit)

    async def outbox_sent(self, row_id: int) -> None:
        await self.store.outbox_sent(row_id)

    async def outbox_failed(self, row_id: int, error_code: str) -> None:
        """Left due: the waiting is tested with the record."""


@pytest.fixture(scope="module")
def empty_record() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:

        async def make() -> None:
            store = await Store.connect(f"sqlite:///{folder}/empty.db")
            await store.migrate()
            await store.close()

        asyncio.run(make())
        yield Path(folder) / "empty.db"


@asynccontextmanager
async def process(path: Path) -> AsyncGenerator[Impatient, None]:
    store = await Store.connect(f"sqlite:///{path}")
    try:
        yield Impatient(store)
    finally:
        await store.close()


FAULTS = st.lists(st.sampled_from(["ok", "lost", "refused", "died_before", "died_after", "away"]), max_size=12)


@given(offers=st.integers(1, 3), faults=FAULTS)
@settings(max_examples=25, deadline=None)
def test_any_crash_point_gives_each_offer_exactly_one_effect(empty_record: Path, offers: int, faults: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copy(empty_record, folder))
        wire = Wire(iter(faults))
        made = asyncio.run(_offer_and_carry(path, offers, wire))

    acted_on = set(wire.delivered)
    assert {offer for offer in acted_on if ":" not in offer} == made
    assert len(acted_on) == 2 * offers  # each offer, and its call's event
    assert sum(wire.delivered.values()) <= 2 * offers + faults.count("lost") + faults.count("died_after")


async def _offer_and_carry(path: Path, offers: int, wire: Wire) -> set[str]:
    made = [an_offer(urgent=bool(number % 2)) for number in range(offers)]
    async with process(path) as record:
        for offer in made:
            await record.store.hand_over(offer)
    for _life in range(20):
        async with process(path) as record:
            try:
                while await carry_due(record, wire.deliver):
                    pass
                return {offer.id for offer in made}
            except (Died, BrokerUnavailable):
                continue
    raise AssertionError("the outbox never became empty")


async def test_a_crash_between_acknowledgement_and_mark_sends_the_same_id_again(store: Store) -> None:
    offer = an_offer()
    await store.hand_over(offer)
    wire = Wire(iter(["died_after"]))

    with pytest.raises(Died):
        await carry_due(store, wire.deliver)
    await carry_due(store, wire.deliver)

    assert wire.delivered[offer.id] == 2
    assert await store.outbox_due() == []


async def test_a_refused_offer_does_not_hold_up_the_next(store: Store) -> None:
    refused, other = an_offer(urgent=True), an_offer()
    await store.hand_over(refused)
    await store.hand_over(other)
    wire = Wire(iter(["refused"]))

    assert await carry_due(store, wire.deliver) == 4

    assert refused.id not in wire.delivered
    assert wire.delivered[other.id] == 1


async def test_a_record_that_fails_stops_the_look_and_delivers_nothing_unmarked_in_silence(store: Store) -> None:
    class Broken(Impatient):
        async def outbox_sent(self, row_id: int) -> None:
            raise RecordUnavailable("locked")

    await store.hand_over(an_offer())
    wire = Wire(iter([]))

    with pytest.raises(RecordUnavailable):
        await carry_due(Broken(store), wire.deliver)
    assert len(await store.outbox_due()) == 2


@given(st.integers(0, 10_000), st.integers(1, 5_000), st.integers(0, 60_000))
def test_waits_between_connections_grow_and_stay_within_bounds(failures: int, shortest_ms: int, more_ms: int) -> None:
    chosen = MqttSettings(reconnect_min_ms=shortest_ms, reconnect_max_ms=shortest_ms + more_ms)

    assert shortest_ms // 2 <= backoff_ms(failures, chosen) <= shortest_ms + more_ms


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": "3.1"},
        {"version": "5"},
        {"username": "bot"},
        {"tls": True},
        {"port": 70_000},
        {"embedded": False, "port": 0},
        {"embedded": False, "tls": True, "cert_file": Path("x")},
        {"embedded": False, "ca_file": Path("x")},
        {"reconnect_min_ms": 0},
        {"reconnect_min_ms": 500, "reconnect_max_ms": 100},
        {"keepalive_s": 0},
        {"host": ""},
    ],
)
def test_settings_that_can_not_work_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"must|only|need|together|speaks"):
        MqttSettings(**wrong)  # type: ignore[arg-type]


def test_a_password_is_in_no_repr() -> None:
    assert "hunter2" not in repr(MqttSettings(embedded=False, username="bot", password="hunter2"))


class NoRecord:
    """A record that is away."""

    async def outbox_due(self, limit: int = 50) -> list[OutboxRow]:
        raise RecordUnavailable("no database")

    async def outbox_sent(self, row_id: int) -> None:
        raise RecordUnavailable("no database")

    async def outbox_failed(self, row_id: int, error_code: str) -> None:
        raise RecordUnavailable("no database")


@pytest.mark.parametrize("faults", [("ok", "ok"), ("away", "ok", "ok"), ("lost", "ok", "ok")])
async def test_offers_that_the_record_could_not_take_are_carried_from_memory(faults: tuple[str, ...]) -> None:
    relay, wire = Relay(NoRecord(), MqttSettings()), Wire(iter(faults))
    first, second = an_offer(), an_offer()
    relay.hand_in(first)
    relay.hand_in(second)
    for _ in faults:
        with suppress(BrokerUnavailable, RecordUnavailable):
            await relay._carry(wire.deliver)
    assert set(wire.delivered) == {first.id, second.id}
