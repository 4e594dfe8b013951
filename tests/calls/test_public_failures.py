"""Failures of other voice bots, as callers reported them, retold as calls: none of them may happen here."""

import functools
import itertools

import pytest

from hotline.lines import Key, LineEvent, TransferResult
from hotline.parts import Phrases
from hotline.paths import configs_dir
from hotline.turns import TurnSettings
from llm import knowledge
from llm.mind import AnsweringMind
from llm.types import AnsweringSettings
from tests.fakes import MemoryRecord, Say
from tests.script import ANSWERS, SOCIAL, Caller, Outcome, stored

PHRASES = Phrases()
NO_ANSWER = TransferResult(ticket="", outcome="no_answer")
ASK = Say(at_ms=15_000, text="社保怎么交", ms=1_000)
DECIDED_MS = 16_600  # it was understood
FILLER_MS = 200 * len(PHRASES.filler)


@functools.cache
def mind() -> AnsweringMind:
    """The real one."""
    entries = knowledge.load(configs_dir() / "kb", today=None)
    return AnsweringMind(entries, AnsweringSettings(dense_model=""), None)


# ---------------------------------------------------------------- a person, asked for again and again


def asks_again(times: int, *, by_key: bool, outcome: str = "no_answer", record: MemoryRecord | None = None) -> Outcome:
    """Asks for a person every 40 s; nobody answers 12 s later."""
    says: list[Say] = []
    does: list[tuple[int, LineEvent]] = []
    for number in range(times):
        at_ms = 15_000 + number * 40_000
        if by_key:
            does.append((at_ms, Key(digit="0")))
        else:
            says.append(Say(at_ms=at_ms, text=("转人工", "我要找人工客服", "给我接人工")[number % 3], ms=900))
        does.append((at_ms + 12_000, TransferResult(ticket="", outcome=outcome)))
    turns = TurnSettings(no_input_ms=60_000)
    caller = Caller(
        says=tuple(says),
        does=tuple(does),
        mind=mind(),
        turns=turns,
        record=record or MemoryRecord(),
        ends_at_ms=15_000 + times * 40_000,
    )
    return caller.call()


@pytest.mark.parametrize("by_key", [False, True], ids=["by voice", "by key 0"])
def test_who_asks_for_a_person_again_never_hears_the_same_sentence_twice_running(by_key: bool) -> None:
    call = asks_again(4, by_key=by_key)
    assert len(call.transfers) == 4
    promises = [turn.heard_reply for turn in call.record.turns if turn.route in {"person", "hand_over"}]
    refusals = [turn.heard_reply for turn in call.record.turns if turn.route == "notice"]
    assert (len(promises), len(refusals)) == (4, 4)
    for said in (promises, refusals):
        assert all(one != other for one, other in itertools.pairwise(said))


def test_who_asks_again_by_voice_and_then_by_key_hears_another_sentence_too() -> None:
    does = ((27_000, NO_ANSWER), (60_000, Key(digit="0")), (72_000, NO_ANSWER))
    call = Caller(says=(Say(at_ms=15_000, text="转人工"),), does=does, mind=mind(), ends_at_ms=76_000).call()
    promises = [turn.heard_reply for turn in call.record.turns if turn.route in {"person", "hand_over"}]
    assert len(set(promises)) == 2


def test_who_cannot_be_helped_by_a_person_is_given_the_number_of_the_work_order() -> None:
    call = asks_again(2, by_key=False)
    refusals = [turn.heard_reply for turn in call.record.turns if turn.route == "notice"]
    assert "2612010001" not in refusals[0]
    assert "工单号是2612010001" in refusals[1]
    lost = asks_again(2, by_key=False, record=MemoryRecord(broken=True))
    assert not any("{ticket}" in text or "工单号" in text for text in lost.texts)


def test_a_person_is_had_on_the_first_request_without_a_question_back() -> None:
    call = asks_again(1, by_key=False, outcome="accepted")
    assert call.reason == "transferred"
    assert [turn.route for turn in call.record.turns if turn.turn] == ["person"]


def test_between_two_requests_questions_are_answered() -> None:
    says = (Say(at_ms=15_000, text="转人工"), Say(at_ms=45_000, text="居住证怎么办理", ms=1_500))
    call = Caller(says=says, does=((27_000, NO_ANSWER),), mind=mind(), ends_at_ms=70_000).call()
    assert [turn.route for turn in call.record.turns if turn.turn][-1] in {"hot", "stored"}


# ---------------------------------------------------------------- old, slow, silent


def test_silence_is_asked_into_twice_each_time_in_other_words_and_never_hung_up_on() -> None:
    call = Caller(does=((70_000, TransferResult(ticket="", outcome="accepted")),)).call()
    asked = [turn.heard_reply for turn in call.record.turns if turn.turn == 0][1:]
    assert len(asked) == len(set(asked)) == 3
    assert "慢慢说" in asked[0]
    assert [transfer.reason for transfer in call.transfers] == ["silence"]


def test_who_is_silent_is_spoken_to_slowly_and_nobody_else_is() -> None:
    call = Caller(says=(ASK,), ends_at_ms=50_000).call()
    asked = [text for text, route in zip(call.texts, call.routes, strict=True) if route == "reprompt"]
    assert call.voice.slowly == asked
    assert asked


def test_who_is_silent_for_long_and_then_speaks_with_long_pauses_is_answered_to_the_whole() -> None:
    first = Say(at_ms=29_000, text="我想问一下那个", ms=1_200, silence_ms=1_000)
    second = Say(at_ms=32_250, text="居住证", ms=900, silence_ms=640)
    third = Say(at_ms=34_500, text="怎么办", ms=900, silence_ms=640)
    call = Caller(says=(first, second, third), think_ms=900, ends_at_ms=42_000).call()
    assert "reprompt" in call.routes
    assert call.texts[-1] == "到派出所办理。"
    assert not call.transfers


@pytest.mark.parametrize("at_ms", [2_000, 14_500, 21_500, 24_000, 30_000])
def test_key_0_works_in_every_silence(at_ms: int) -> None:
    call = Caller(does=((at_ms, Key(digit="0")),), ends_at_ms=60_000).call()
    assert [transfer.reason for transfer in call.transfers] == ["asked"]


# ---------------------------------------------------------------- the filler


def waits(think_ms: int, **changes: object) -> Outcome:
    turns = TurnSettings(filler_after_ms=1_000, thinking_limit_ms=4_000, speaking_gap_ms=900)
    return Caller(says=(ASK,), turns=turns, think_ms=think_ms, ends_at_ms=40_000, **changes).call()  # type: ignore[arg-type]


@pytest.mark.parametrize("think_ms", [300, 850])
def test_an_answer_in_time_needs_no_filler(think_ms: int) -> None:
    assert waits(think_ms).routes[3:] == ["hot"] * 3 + ["reprompt"] * (len(waits(think_ms).routes) - 6)


def test_a_filler_that_has_begun_is_heard_to_its_end_and_the_answer_follows_closely() -> None:
    call = waits(1_150)
    assert call.routes[3:5] == ["filler", "hot"]
    frames = [at_ms for at_ms, event in call.line.sent if type(event).__name__ == "BotAudio" and at_ms > DECIDED_MS]
    gaps = [after - before for before, after in itertools.pairwise(frames[: (FILLER_MS + 2_000) // 20])]
    assert max(gaps) <= 320
    assert min(gaps) >= 20  # never two at once
    assert call.record.turns[1].heard_reply == SOCIAL


def test_a_long_wait_has_one_filler_and_then_the_answer() -> None:
    call = waits(4_000)
    assert call.routes.count("filler") == 1
    assert call.record.turns[1].heard_reply == SOCIAL
    assert not call.transfers


def test_words_during_the_filler_stop_filler_and_answer() -> None:
    again = Say(at_ms=18_000, text="等等，居住证怎么办", ms=1_500)
    caller = Caller(says=(ASK, again), turns=TurnSettings(filler_after_ms=1_000), think_ms=2_300, ends_at_ms=40_000)
    call = caller.call()
    assert call.routes[3] == "filler"
    assert "一二三四五六七八。" not in [turn.heard_reply for turn in call.record.turns if turn.interrupted]
    answered = [turn for turn in call.record.turns if turn.turn and turn.heard_reply]
    assert len(answered) == 1


def test_an_answer_that_fails_behind_a_filler_is_apologised_for() -> None:
    call = waits(60_000)
    assert call.routes[3] == "filler"
    assert call.routes[4] == "hand_over"
    assert "抱歉" in call.texts[4]


# ---------------------------------------------------------------- what was heard is history


@pytest.mark.parametrize("at_ms", [17_600, 18_300, 19_000, 20_500, 21_400])
def test_what_was_heard_is_in_history_exactly_once_and_not_said_again(at_ms: int) -> None:
    answers = ANSWERS | {"居住证": stored("到派出所办理。", topic="kb-2")}
    says = (ASK, Say(at_ms=at_ms, text="等一下居住证怎么办", ms=1_500))
    call = Caller(says=says, answers=answers, ends_at_ms=at_ms + 8_000).call()
    heard = call.record.turns[1].heard_reply
    assert SOCIAL.startswith(heard)
    assert heard
    history = call.mind.asked[-1][1].history
    assert [exchange.said for exchange in history] == [heard]
    assert call.texts[-1] == "到派出所办理。"
