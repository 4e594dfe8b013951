"""Orders that are a fixed sentence, and the sentences."""

from __future__ import annotations

import pytest

from hotline.parts import Phrases
from hotline.sentences import Sentence, sentence_of
from hotline.turn_events import Command, Finish, GiveUp, Order
from hotline.turns import TurnMachine, TurnSettings

PHRASES = Phrases(reprompts=("一", "二"), not_understood=("三", "四"))


@pytest.mark.parametrize(("silences", "text"), [(1, "一"), (2, "二"), (3, "二"), (0, "一")])
def test_the_second_reprompt_is_another_and_the_last_one_stays(silences: int, text: str) -> None:
    turns = TurnMachine(TurnSettings())
    turns.silences = silences
    assert sentence_of(Command.REPROMPT, PHRASES, turns) == Sentence(route="reprompt", text=text, slow=True)


@pytest.mark.parametrize(("unclears", "text"), [(1, "三"), (2, "四"), (9, "四")])
def test_so_is_the_second_time_that_nothing_was_understood(unclears: int, text: str) -> None:
    turns = TurnMachine(TurnSettings())
    turns.unclears = unclears
    assert sentence_of(Command.NOT_UNDERSTOOD, PHRASES, turns) == Sentence(route="reprompt", text=text)


def test_a_transfer_that_failed_makes_room_for_a_new_offer() -> None:
    sentence = sentence_of(Command.TRANSFER_FAILED, PHRASES, TurnMachine(TurnSettings()))
    assert sentence == Sentence(route="notice", text=PHRASES.transfer_failed, is_new_start=True)


@pytest.mark.parametrize("reason", [*Phrases().give_up, "something new"])
def test_every_reason_to_give_up_has_words_and_hands_over(reason: str) -> None:
    sentence = sentence_of(GiveUp(reason=reason), PHRASES, TurnMachine(TurnSettings()))
    assert sentence.route == "hand_over"
    assert sentence.hands_over == reason
    assert "人工" in sentence.text


@pytest.mark.parametrize("order", [Command.ANSWER, Command.PAUSE, Command.KEEP, Finish(reason="hangup")])
def test_an_order_that_is_no_sentence_is_refused(order: Order) -> None:
    with pytest.raises(ValueError, match="no sentence"):
        sentence_of(order, PHRASES, TurnMachine(TurnSettings()))


def test_one_sentence_may_be_changed_and_the_others_stay() -> None:
    phrases = Phrases(give_up={"asked": "这就给您转人工。"})
    assert phrases.give_up["asked"] == "这就给您转人工。"
    assert phrases.give_up["failure"] == Phrases().give_up["failure"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"label": ""}, "label must say something"),
        ({"filler": "  "}, "filler must say something"),
        ({"reprompts": ()}, "reprompts must say something"),
        ({"not_understood": ("再说一遍", "")}, "not_understood must say something"),
        ({"give_up": {"asked": ""}}, "give_up must say something"),
        ({"give_up": {"askd": "好的"}}, "askd: no such reason"),
    ],
)
def test_sentences_that_would_be_silence_are_refused(wrong: dict[str, str], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Phrases(**wrong)  # type: ignore[arg-type]


def test_the_greeting_says_that_a_machine_speaks_even_when_there_is_no_room() -> None:
    phrases = Phrases()
    assert "人工智能" in phrases.label
    assert "人工智能" in phrases.give_up["overload"]
