"""What the agent reads when an answer itself ends with a person: what was answered, and the true reason."""

from __future__ import annotations

import functools

import pytest

from hotline.paths import configs_dir
from llm import knowledge, phrases
from llm.mind import AnsweringMind
from llm.types import AnsweringSettings, Entry
from tests.fakes import Say
from tests.script import Caller, Outcome


@functools.cache
def entries() -> tuple[Entry, ...]:
    return tuple(knowledge.load(configs_dir() / "kb", today=None))


def called(question: str) -> Outcome:
    mind = AnsweringMind(entries(), AnsweringSettings(dense_model=""), None)
    return Caller(says=(Say(at_ms=15_000, text=question, ms=1_500),), mind=mind, ends_at_ms=60_000).call()


@pytest.mark.parametrize(
    "question", [entry.question for entry in entries() if entry.next_step == "person" and "人工" not in entry.question][:5]
)
def test_what_needs_a_person_is_answered_announced_and_handed_over(question: str) -> None:
    call = called(question)
    answer = next(entry.answer for entry in entries() if entry.question == question)
    offer = call.record.offers[0]
    assert call.texts[-1] == phrases.NEEDS_PERSON
    assert call.transfers[0].reason == offer.reason == "needs_person"
    assert f"已答复：{answer[:20]}" in offer.summary
    assert offer.summary.endswith("转人工原因：此事需要工作人员接着办理。")
    assert offer.turns == ((question, answer),)


def test_an_emergency_says_what_the_caller_was_told() -> None:
    call = called("家里着火了")
    assert "马上拨打119" in call.record.offers[0].summary


def test_what_is_not_known_stays_unanswered_in_the_summary() -> None:
    call = called("转人工")
    assert "尚未答复。转人工原因：来电人要求人工服务。" in call.record.offers[0].summary
