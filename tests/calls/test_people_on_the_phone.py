"""Callers as they are, answered by the real mind over the sample knowledge: old, hurried, angry, of two languages, corrected."""

from __future__ import annotations

import datetime as dt
import functools

import pytest

from asr.types import Slot
from hotline.lines import HungUp, LineEvent, TransferResult
from hotline.paths import configs_dir
from hotline.turns import TurnSettings
from llm import knowledge
from llm.mind import AnsweringMind
from llm.types import AnsweringSettings
from tests.fakes import Say
from tests.script import Caller, Outcome

TODAY = dt.date(2026, 12, 1)
FIRST_MS, EVERY_MS = 15_000, 30_000  # the fake voice takes 200 ms a character: by then it has answered
PATIENT = TurnSettings(no_input_ms=60_000)
ACCEPTED = TransferResult(ticket="", outcome="accepted")


@functools.cache
def mind() -> AnsweringMind:
    """The real one, without an engine."""
    return AnsweringMind(knowledge.load(configs_dir() / "kb", today=TODAY), AnsweringSettings(), None)


def conversation(*turns: str | Say, does: tuple[tuple[int, LineEvent], ...] = ()) -> Caller:
    """Who says one thing after another, each when the bot has answered; a Say says when itself."""
    says = tuple(
        Say(at_ms=FIRST_MS + n * EVERY_MS, text=turn, ms=max(600, len(turn) * 150)) if isinstance(turn, str) else turn
        for n, turn in enumerate(turns)
    )
    return Caller(says=says, does=does, mind=mind(), turns=PATIENT, ends_at_ms=FIRST_MS + len(turns) * EVERY_MS)


def routes(call: Outcome) -> list[str]:
    """How each turn of the caller was answered."""
    return [turn.route for turn in call.record.turns if turn.turn]


def answers(call: Outcome) -> list[str]:
    return [turn.heard_reply for turn in call.record.turns if turn.turn]


# ---------------------------------------------------------------- old, and in no hurry


def test_an_old_caller_who_stops_in_the_middle_is_answered_once_to_the_whole() -> None:
    half = Say(at_ms=15_000, text="哎，那个居住证", ms=1_500, silence_ms=1_000)
    rest = Say(at_ms=17_520, text="到期了怎么续签呀", ms=1_600, silence_ms=1_000)  # begins as the first half is understood
    call = conversation(half, rest).call()
    assert "签注" in answers(call)[-1]
    assert [turn for turn in answers(call) if turn] == answers(call)[-1:]  # nothing of the first reply was heard


def test_an_old_caller_who_waits_longer_than_anyone_is_asked_and_then_understood() -> None:
    says = (Say(at_ms=26_500, text="喂，听得见吗", ms=1_200), Say(at_ms=38_000, text="居住证怎么办理呀", ms=2_000))
    call = Caller(says=says, mind=mind(), ends_at_ms=70_000).call()
    assert call.routes[3] == "reprompt"
    assert "听得到" in answers(call)[0]
    assert "派出所" in answers(call)[1]


def test_who_asks_twice_is_told_again() -> None:
    call = conversation("居住证怎么办理", "没听清，再说一遍").call()
    first, again = answers(call)
    assert routes(call) == ["hot", "repeat"]
    assert again.endswith(first)


def test_who_forgets_the_name_of_the_matter_asks_on() -> None:
    call = conversation("居住证怎么办理", "要多少钱").call()
    assert "clarify" not in routes(call)
    assert "不收费" in answers(call)[1]


# ---------------------------------------------------------------- angry


def test_an_angry_caller_gets_a_person_when_they_ask_for_one_however_they_put_it() -> None:
    call = conversation("你们什么破服务，我打了三次了都没人管", "少废话，叫你们领导来", does=((70_000, ACCEPTED),)).call()
    assert call.reason == "transferred"
    assert call.transfers[0].reason == "asked"
    assert "破服务" in call.transfers[0].summary


def test_an_angry_caller_who_shouts_over_the_greeting_hears_the_label_and_then_a_person() -> None:
    shout = Say(at_ms=1_500, text="喂，别念了，转人工", ms=1_800)
    again = Say(at_ms=4_000, text="转人工，转人工", ms=1_200)
    call = Caller(says=(shout, again), mind=mind(), does=((40_000, ACCEPTED),)).call()
    assert "人工智能" in call.record.turns[0].heard_reply
    assert [transfer.reason for transfer in call.transfers] == ["asked"]
    assert len(call.record.offers) == 1


# ---------------------------------------------------------------- two languages


@pytest.mark.parametrize("question", ["hello，居住证怎么办理", "那个居住证，怎么办理，OK？"])
def test_a_word_of_english_does_not_cost_the_answer(question: str) -> None:
    assert routes(conversation(question).call()) in (["hot"], ["stored"])


# ---------------------------------------------------------------- corrections


def test_a_number_that_is_corrected_is_masked_both_times() -> None:
    call = conversation("我的手机号是13900005678，不对，是13900005679").call()
    assert "1390000" not in "".join(call.heard)
    assert routes(call) == ["noted"]
    assert "〈手机号" in call.record.turns[-1].masked_text


def test_who_takes_back_a_question_while_it_is_answered_gets_the_other_one() -> None:
    no = Say(at_ms=19_000, text="等一下，我是问居住证丢了怎么补办", ms=2_400)
    call = conversation("居住证怎么办理", no).call()
    first, second = [turn for turn in call.record.turns if turn.turn]
    assert first.interrupted
    assert "二十元" in second.heard_reply


# ---------------------------------------------------------------- numbers


def test_a_number_dictated_over_two_turns_is_one_number_and_is_listened_to_with_patience() -> None:
    caller = conversation("我的手机号是一三九零零零零", "一三九零零零零五六七八")
    call = caller.call()
    assert routes(call) == ["noted", "noted"]
    assert caller.expected_slots() == [Slot.NONE, Slot.MOBILE, Slot.MOBILE, Slot.NONE]  # as it is asked, and when it was
    assert not any(digits in "".join(call.heard) for digits in ("零零零零", "五六七八"))
    assert "会再和您核对手机号" in answers(call)[1]


def test_who_dictates_before_they_were_asked_to_the_end_is_masked_all_the_same() -> None:
    early = Say(at_ms=20_500, text="五六七八", ms=1_600, silence_ms=900)  # four digits: no number by themselves
    call = conversation("我的手机号是一三九零零零零", early).call()
    assert call.record.turns[1].interrupted
    assert call.heard[1].startswith("〈手机号")


# ---------------------------------------------------------------- goodbyes


@pytest.mark.parametrize("words", ["好的谢谢再见", "没有了，谢谢", "没事了", "挂了啊", "拜拜", "行，那先这样吧", "不用了，再见"])
def test_a_goodbye_is_a_goodbye(words: str) -> None:
    caller = conversation("居住证怎么办理", words)
    caller.ends_at_ms += 120_000
    call = caller.call()
    assert call.reason == "goodbye"
    assert routes(call)[-1] == "goodbye"
    assert "再见" in call.texts[-1]


def test_who_thinks_of_something_during_the_goodbye_is_answered() -> None:
    oh = Say(at_ms=47_600, text="哎等等，居住证丢了怎么补办", ms=2_000)
    call = conversation("居住证怎么办理", "好的谢谢再见", oh).call()
    assert "二十元" in answers(call)[-1]
    assert call.reason != "goodbye"


def test_who_just_hangs_up_after_the_answer_is_no_failure() -> None:
    call = conversation("居住证怎么办理", does=((40_000, HungUp()),)).call()
    assert call.reason == "hangup"
    assert not call.transfers


# ---------------------------------------------------------------- danger


def test_a_caller_in_danger_who_cannot_stop_talking_hears_the_instruction() -> None:
    fire = Say(at_ms=15_000, text="快来人啊我家着火了", ms=1_500)
    more = Say(at_ms=16_900, text="怎么办怎么办怎么办", ms=9_000)  # all through the instruction
    call = conversation(fire, more, does=((60_000, ACCEPTED),)).call()
    told = call.record.turns[1]
    assert told.route == "emergency"
    assert "119" in told.heard_reply
    assert not told.interrupted
    assert call.first_frame_after(16_900) - 16_900 <= 1_500  # not after they have calmed down
    assert call.record.offers[0].urgent
