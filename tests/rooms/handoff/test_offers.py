"""What the agent gets to read of a call, and where it is published."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hotline.handoff.offers import REASONS, build_offer, level, message_of, offers_filter, payload_of, summarise, topic_of
from hotline.record.numbers import has_long_number
from hotline.record.types import CallEvent, Offer, OutboxRow

NOW = dt.datetime(2026, 3, 1, 4, 0, tzinfo=dt.UTC)
SCHEMA = json.loads((Path(__file__).parents[3] / "configs/schema/offer.schema.json").read_text(encoding="utf-8"))


def offer(**changes: object) -> Offer:
    fields: dict[str, object] = {
        "call_id": "call-1",
        "tenant": "city",
        "reason": "asked",
        "exchanges": [("居住证怎么办，电话〈手机号·1〉", "请带身份证到派出所。咨询电话055112345678。"), ("转人工。", "")],
        "now": NOW,
        "ticket": "2603010001",
    }
    return build_offer(**{**fields, **changes})  # type: ignore[arg-type]


def test_the_agent_reads_matter_answer_and_reason_in_one_paragraph() -> None:
    assert offer().summary == (
        "来电诉求：居住证怎么办，电话〈手机号·1〉；转人工。已答复：请带身份证到派出所。咨询电话〈号码〉。转人工原因：来电人要求人工服务。"
    )


def test_an_urgent_caller_who_said_nothing_yet() -> None:
    assert summarise([], reason="emergency", urgent=True) == "【紧急】来电诉求：来电人尚未说明。尚未答复。转人工原因：紧急情况。"


def test_one_who_asked_for_a_person_before_the_system_failed() -> None:
    assert summarise([], reason="failure", asked_for_person=True).endswith("转人工原因：系统故障，来电人要求人工服务。")


@pytest.mark.parametrize("reason", [*REASONS, "something new"])
def test_every_reason_is_told(reason: str) -> None:
    assert REASONS.get(reason, "其他（something new）") in summarise([], reason=reason)


def test_a_long_call_is_cut_but_never_inside_a_placeholder() -> None:
    for padding in range(150, 170):
        summary = summarise([("我" * padding + "〈身份证号·12〉的事", "好" * 500)], reason="asked")
        assert summary.count("〈") == summary.count("〉") == summary.count("〈身份证号·12〉")
        assert len(summary) < 400


def test_only_the_last_ten_turns_go_along() -> None:
    made = offer(exchanges=[(f"第{turn}句", "嗯") for turn in range(30)])

    assert [caller for caller, _ in made.turns] == [f"第{turn}句" for turn in range(20, 30)]


def test_a_number_that_the_masker_missed_goes_no_further() -> None:
    made = offer(exchanges=[("我的号是幺三八零零幺三八零零零", "好的")], reason="unclear 13800138000")

    assert not any(has_long_number(text) for text in (made.summary, *(caller for caller, _ in made.turns)))


@pytest.mark.parametrize("made", [offer(), offer(ticket="", urgent=True, exchanges=[]), offer(exchanges=[("好", "")] * 40)])
def test_the_payload_follows_the_schema(made: Offer) -> None:
    body = json.loads(payload_of(made).decode("utf-8"))

    jsonschema.Draft202012Validator(SCHEMA).validate(body)
    assert body["id"] == made.id
    assert body["created_at"] == "2026-03-01T04:00:00.000Z"
    assert body["expires_at"] == "2026-03-01T04:30:00.000Z"


def test_two_offers_of_one_call_have_two_ids() -> None:
    assert offer().id != offer().id


def test_an_offer_goes_to_its_queue_and_an_event_to_its_call() -> None:
    event = CallEvent(id=7, call_id="call/1", tenant="city", kind="offer_queued", at=NOW, body={"ticket": "2603010001"})

    message = message_of(OutboxRow(row_id=1, what=event))

    assert topic_of(offer(skill="社保")) == "hotline/v1/city/queues/社保/offers"
    assert message.topic == "hotline/v1/city/calls/call%2F1/events"
    assert json.loads(message.payload)["id"] == "call/1:7"
    assert (offers_filter(), offers_filter("city#")) == ("hotline/v1/+/queues/+/offers", "hotline/v1/city%23/queues/+/offers")


@given(st.text(st.characters(), max_size=80))
@example("")
@example("$SYS")
@example("a/+/#")
@example("\x00\ud800\uffff")
@example("久" * 100)
def test_any_name_is_one_level_of_a_topic(name: str) -> None:
    made = level(name)

    assert made
    assert not set(made) & set("/+#\x00")
    assert not made.startswith("$")
    assert len(made.encode("utf-8")) <= 128


@given(st.text(st.characters(), max_size=50), st.text(st.characters(), max_size=50))
@example("", "%")
@example("a/b", "a%2Fb")
def test_two_names_never_share_a_level(one: str, other: str) -> None:
    assert (level(one) == level(other)) == (one == other)


@given(
    st.lists(st.tuples(st.text(max_size=200), st.text(max_size=200)), max_size=12), st.sampled_from(sorted(REASONS)), st.booleans()
)
def test_any_call_makes_an_offer_that_the_record_takes(exchanges: list[tuple[str, str]], reason: str, urgent: bool) -> None:
    made = offer(exchanges=exchanges, reason=reason, urgent=urgent)

    assert not any(has_long_number(text) for text in (made.summary, *(caller for caller, _ in made.turns)))
    assert json.loads(payload_of(made).decode("utf-8"))["summary"] == made.summary
    assert len(made.summary) < 450
