"""What goes into the record comes out of it, whole or not at all."""

from __future__ import annotations

import asyncio
import datetime as dt
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline.clock import utc_now
from hotline.record.numbers import BLOT, blot_long_numbers, has_long_number
from hotline.record.store import CallEvent, CallOpened, Offer, RecordError, RecordUnmasked, Store, TurnDone


def _file(tmp_path: Path) -> Path:
    return tmp_path / "var" / "record.db"


def _count(tmp_path: Path, table: str) -> int:
    with closing(sqlite3.connect(_file(tmp_path))) as database:
        return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608  our own table names


async def test_a_call_comes_back_as_it_went_in(store: Store, opened: CallOpened, turn: TurnDone, offer: Offer) -> None:
    await store.call_opened(opened)
    await store.turn_done(turn)
    await store.turn_done(replace(turn, turn=2, reply_id=3, masked_text="我要找人工", interrupted=False))
    await store.hand_over(offer)
    await store.call_ended("call-1", "transferred", opened.started_at + dt.timedelta(minutes=2))

    stored = await store.call("call-1")

    assert stored is not None
    assert stored.opened == opened
    assert stored.turns[0] == turn
    assert [each.masked_text for each in stored.turns] == [turn.masked_text, "我要找人工"]
    assert stored.turns[0].stamps.voice_to_voice_ms == 900
    assert stored.turns[0].stamps.vad_end_ms is None
    assert stored.offers == (offer,)
    assert (stored.end_reason, stored.ended_at) == ("transferred", opened.started_at + dt.timedelta(minutes=2))
    assert [event.kind for event in stored.events] == ["opened", "offer_queued", "ended"]
    assert await store.recent_calls(10) == [stored]


async def test_a_callers_grade_is_kept_once(store: Store, opened: CallOpened) -> None:
    await store.call_opened(opened)
    before = await store.call("call-1")
    assert before is not None
    assert (before.satisfaction, before.satisfaction_by) == (None, None)
    await store.call_rated("call-1", 4, "voice")
    await store.call_rated("call-1", 1, "key")
    await store.call_rated("lost-to-a-full-disk", 5, "key")
    stored = await store.call("call-1")
    assert stored is not None
    assert (stored.satisfaction, stored.satisfaction_by) == (4, "voice")
    assert [(event.kind, event.body) for event in stored.events[1:]] == [("rated", {"grade": "4", "how": "voice"})]


async def test_an_unknown_call_is_none_and_its_end_is_let_by(store: Store) -> None:
    await store.call_ended("lost-to-a-full-disk", "hangup", utc_now())

    assert await store.call("lost-to-a-full-disk") is None
    assert await store.recent_calls() == []


async def test_the_newest_calls_come_first(store: Store, opened: CallOpened) -> None:
    for minute in range(3):
        await store.call_opened(
            replace(opened, call_id=f"call-{minute}", started_at=opened.started_at + dt.timedelta(minutes=minute))
        )

    assert [call.opened.call_id for call in await store.recent_calls(2)] == ["call-2", "call-1"]


async def test_a_call_that_moves_to_another_server_is_opened_and_ended_once(store: Store, opened: CallOpened) -> None:
    await store.call_opened(opened)
    await store.call_opened(replace(opened, trunk="sip-2"))
    await store.call_ended("call-1", "goodbye", opened.started_at)
    await store.call_ended("call-1", "failure", opened.started_at + dt.timedelta(hours=1))

    stored = await store.call("call-1")

    assert stored is not None
    assert (stored.opened.trunk, stored.end_reason) == ("sip-1", "goodbye")
    assert [event.kind for event in stored.events] == ["opened", "ended"]


async def test_a_turn_written_again_replaces_the_first_writing(store: Store, opened: CallOpened, turn: TurnDone) -> None:
    await store.call_opened(opened)
    await store.turn_done(turn)
    await store.turn_done(replace(turn, heard_reply="请带身份证。", unheard_reply=""))

    stored = await store.call("call-1")

    assert stored is not None
    assert [each.heard_reply for each in stored.turns] == ["请带身份证。"]


async def test_times_come_back_in_utc_and_a_time_without_a_zone_is_refused(store: Store, opened: CallOpened) -> None:
    china = dt.timezone(dt.timedelta(hours=8))
    await store.call_opened(replace(opened, started_at=opened.started_at.astimezone(china)))

    stored = await store.call("call-1")
    assert stored is not None
    assert stored.opened.started_at == opened.started_at
    assert stored.opened.started_at.utcoffset() == dt.timedelta(0)
    with pytest.raises(RecordError):
        await store.call_opened(replace(opened, call_id="call-2", started_at=dt.datetime(2026, 3, 1, 12, 0)))  # noqa: DTZ001  the point


async def test_a_value_that_no_database_takes_is_a_record_error_without_it(store: Store, turn: TurnDone) -> None:
    with pytest.raises(RecordError) as refused:
        await store.turn_done(replace(turn, masked_text="半个字\ud800"))
    with pytest.raises(RecordError):
        await store.turn_done(replace(turn, turn=2**80))

    assert "半个字" not in repr(refused.value)


async def test_an_offer_and_its_outbox_rows_are_kept_together(store: Store, offer: Offer) -> None:
    await store.hand_over(offer)
    await store.hand_over(offer)  # the caller of hand_over wasn't sure

    due = await store.outbox_due()

    assert due[0].what == offer
    event = due[1].what
    assert isinstance(event, CallEvent)
    assert (event.kind, event.body["ticket"], event.body["offer"]) == ("offer_queued", "2603010001", offer.id)
    assert len(due) == 2


async def test_when_the_outbox_takes_nothing_the_offer_is_not_kept_either(store: Store, offer: Offer, tmp_path: Path) -> None:
    with closing(sqlite3.connect(_file(tmp_path))) as database:
        database.execute("CREATE TRIGGER full BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'no'); END")

    with pytest.raises(RecordError):
        await store.hand_over(offer)

    assert [_count(tmp_path, table) for table in ("offers", "call_events", "outbox")] == [0, 0, 0]


async def test_an_urgent_offer_goes_first_and_a_sent_one_goes_never_again(store: Store, opened: CallOpened, offer: Offer) -> None:
    await store.call_opened(opened)
    await store.hand_over(offer)
    await store.hand_over(replace(offer, id="urgent", ticket="2603010002", urgent=True))

    first, *_ = due = await store.outbox_due()
    assert isinstance(first.what, Offer)
    assert first.what.id == "urgent"
    for row in due:
        await store.outbox_sent(row.row_id)
        await store.outbox_sent(row.row_id)

    assert await store.outbox_due() == []
    stored = await store.call("call-1")
    assert stored is not None
    assert [event.kind for event in stored.events] == [
        "opened",
        "offer_queued",
        "offer_queued",
        "offer_delivered",
        "offer_delivered",
    ]


async def test_a_refused_row_waits_while_the_others_go(store: Store, offer: Offer, tmp_path: Path) -> None:
    await store.hand_over(offer)
    refused, other = await store.outbox_due()

    for _ in range(3):
        await store.outbox_failed(refused.row_id, "handoff.broker_refused")

    assert [row.row_id for row in await store.outbox_due()] == [other.row_id]
    with closing(sqlite3.connect(_file(tmp_path))) as database:
        attempts, error, wait_s = database.execute(
            "SELECT attempts, last_error, (julianday(due_at) - julianday(created_at)) * 86400 FROM outbox WHERE id = ?",
            (refused.row_id,),
        ).fetchone()
    assert (attempts, error) == (3, "handoff.broker_refused")
    assert 4 <= wait_s < 30
    await store.outbox_sent(refused.row_id)
    await store.outbox_failed(refused.row_id, "too_late")  # already sent: nothing happens
    assert await store.outbox_due(1) == [other]


async def test_tickets_can_be_read_over_a_phone_and_count_for_each_tenant(store: Store, tmp_path: Path) -> None:
    today = f"{utc_now().astimezone(dt.timezone(dt.timedelta(hours=8))):%y%m%d}"

    assert [await store.next_ticket("city") for _ in range(2)] == [f"{today}0001", f"{today}0002"]
    assert await store.next_ticket("county") == f"{today}0001"
    with closing(sqlite3.connect(_file(tmp_path))) as database, database:
        database.execute("UPDATE tickets SET last_number = 9999 WHERE tenant = 'city'")
    assert await store.next_ticket("city") == f"{today}10000"


async def test_two_servers_on_one_database_never_give_one_ticket_twice(store: Store, url: str, offer: Offer) -> None:
    other = await Store.connect(url)
    await other.migrate()
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each.next_ticket("city")) for each in (store, other) for _ in range(30)]
            group.create_task(store.hand_over(offer))
            group.create_task(other.hand_over(offer))
        tickets = [task.result() for task in tasks]
        assert len(set(tickets)) == 60
        assert max(tickets).endswith("0060")
        assert len(await other.outbox_due()) == 2
    finally:
        await other.close()


UNMASKED = [
    "13800138000",
    "我的电话是138 0013 8000",
    "幺三八零零幺三八零零零",
    "壹叁捌零零壹叁捌",
    "１３８００１３８０００",
    "身份证三四零一零二一九九零",
    "尾号1234567",
    "一三八0013八000元",  # too long for an amount
]
MASKED = [
    "我的手机是〈手机号·1〉",
    "请打12345或者96110",
    "二零二六年三月一日交了1500000元",
    "赔偿壹拾贰万元，2026-03-01前",
    "",
]


@pytest.mark.parametrize("text", UNMASKED)
async def test_a_long_number_is_never_written(store: Store, turn: TurnDone, offer: Offer, tmp_path: Path, text: str) -> None:
    with pytest.raises(RecordUnmasked) as refused:
        await store.turn_done(replace(turn, masked_text=text))
    with pytest.raises(RecordUnmasked):
        await store.hand_over(replace(offer, summary=text))
    with pytest.raises(RecordUnmasked):
        await store.hand_over(replace(offer, turns=((text, ""),)))

    assert refused.value.code == "record.unmasked"
    assert text not in f"{refused.value!r} {refused.value.what_to_do}"
    assert [_count(tmp_path, table) for table in ("turns", "offers", "outbox")] == [0, 0, 0]
    assert BLOT in blot_long_numbers(text)


@pytest.mark.parametrize("text", MASKED)
async def test_masked_text_is_written(store: Store, turn: TurnDone, text: str) -> None:
    await store.turn_done(replace(turn, masked_text=text))

    assert blot_long_numbers(text) == text


@given(st.text(alphabet="0１三幺〇 　，元万号a", max_size=60))
def test_nothing_long_is_left_after_blotting(text: str) -> None:
    assert not has_long_number(blot_long_numbers(text))
