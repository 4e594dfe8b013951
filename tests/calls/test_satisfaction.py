"""At the end of a call: how did you find it? By key or by voice, once, and never in anybody's way."""

import pytest

from hotline.lines import HungUp, Key, LineHeld, LineResumed, TransferResult, Typed
from hotline.parts import Phrases
from hotline.turns import TurnSettings
from llm.types import Step
from tests.fakes import MemoryRecord, Say, SilentVoice
from tests.script import ANSWERS, Caller, Outcome

PHRASES = Phrases()
BYE = Say(at_ms=15_000, text="谢谢没有了")
ASKED_MS = 19_000  # the goodbye takes 1.6 s in the fake voice; then the question begins
QUESTION_ENDS_MS = ASKED_MS + 200 * len(PHRASES.rate)
ACCEPTED = TransferResult(ticket="", outcome="accepted")


def call(*acts: Say | tuple[int, object], ends_at_ms: int = 90_000, **changes: object) -> Outcome:
    """Who says goodbye, then does this."""
    says = tuple(act for act in acts if isinstance(act, Say))
    does = tuple(act for act in acts if not isinstance(act, Say))
    return Caller(says=(BYE, *says), does=does, ends_at_ms=ends_at_ms, **changes).call()  # type: ignore[arg-type]


def routes(done: Outcome) -> list[str]:
    """After the greeting."""
    return done.routes[3:]


@pytest.mark.parametrize("digit", "12345")
def test_a_key_is_a_grade(digit: str) -> None:
    done = call((QUESTION_ENDS_MS + 1_000, Key(digit=digit)))
    assert done.record.ratings == [("c-1", int(digit), "key")]
    assert done.reason == "goodbye"
    assert done.texts[-2:] == [PHRASES.rate, PHRASES.rated]


def test_a_key_in_the_middle_of_the_question_is_enough() -> None:
    done = call((ASKED_MS + 3_000, Key(digit="5")))
    assert done.record.ratings == [("c-1", 5, "key")]
    asked = next(turn for turn in done.record.turns if turn.route == "rating")
    assert asked.interrupted
    assert len(asked.heard_reply) < len(PHRASES.rate) / 2
    assert done.texts[-1] == PHRASES.rated


@pytest.mark.parametrize(
    ("words", "grade"), [("五分", 5), ("非常满意", 5), ("满意", 4), ("一般", 3), ("不满意", 2), ("非常不满意", 1), ("给五星", 5)]
)
@pytest.mark.parametrize("at_ms", [ASKED_MS + 4_000, QUESTION_ENDS_MS + 1_000], ids=["over the question", "after it"])
def test_a_word_is_a_grade(words: str, grade: int, at_ms: int) -> None:
    done = call(Say(at_ms=at_ms, text=words))
    assert done.record.ratings == [("c-1", grade, "voice")]
    assert done.reason == "goodbye"
    assert done.texts[-1] == PHRASES.rated


def test_the_words_of_a_grade_are_kept_nowhere() -> None:
    done = call(Say(at_ms=QUESTION_ENDS_MS + 1_000, text="非常满意"))
    assert not any("满意" in turn.masked_text for turn in done.record.turns)
    assert not any("满意" in exchange.caller.text for exchange in done.call.history)
    assert len(done.mind.asked) == 1


def test_who_says_nothing_is_let_go_politely() -> None:
    done = call()
    assert routes(done) == ["goodbye", "rating", "goodbye"]
    assert done.texts[-1] == PHRASES.farewell
    assert (done.reason, done.record.ratings) == ("goodbye", [])
    assert done.record.ended == [("c-1", "goodbye")]


@pytest.mark.parametrize("words", ["不评价了", "不用了", "再见"])
def test_who_would_rather_not_is_let_go_at_once(words: str) -> None:
    done = call(Say(at_ms=QUESTION_ENDS_MS + 1_000, text=words))
    assert routes(done) == ["goodbye", "rating", "goodbye"]
    assert (done.reason, done.record.ratings) == ("goodbye", [])


def test_a_new_question_goes_back_into_the_conversation() -> None:
    done = call(Say(at_ms=QUESTION_ENDS_MS + 1_000, text="等等，居住证怎么办", ms=1_200), ends_at_ms=QUESTION_ENDS_MS + 6_000)
    assert done.texts[-1] == "到派出所办理。"
    assert done.reason == "line_broken"
    assert done.record.ratings == []


def test_a_new_question_over_the_grading_is_answered_and_the_grade_asked_for_once_more() -> None:
    done = call(
        Say(at_ms=ASKED_MS + 3_000, text="等等，居住证怎么办", ms=1_200),
        Say(at_ms=29_000, text="谢谢没有了"),
        Say(at_ms=46_000, text="居住证怎么办", ms=1_200),
        Say(at_ms=53_000, text="谢谢没有了"),
        ends_at_ms=120_000,
    )
    assert routes(done) == ["goodbye", "rating", "hot", "goodbye", "rating", "hot", "goodbye", "goodbye"]
    assert (done.reason, done.texts[-1]) == ("goodbye", PHRASES.farewell)


@pytest.mark.parametrize("wrong", [(QUESTION_ENDS_MS + 1_000, Key(digit="9")), (ASKED_MS + 3_000, Key(digit="#"))])
def test_a_wrong_key_is_asked_again_once(wrong: tuple[int, Key]) -> None:
    again = call(wrong, (wrong[0] + 2_000, Key(digit="4")))
    assert routes(again) == ["goodbye", "rating", "rating", "goodbye"]
    assert again.record.ratings == [("c-1", 4, "key")]
    given_up = call(wrong, (wrong[0] + 2_000, Key(digit="8")))
    assert routes(given_up) == ["goodbye", "rating", "rating", "goodbye"]
    assert (given_up.reason, given_up.record.ratings) == ("goodbye", [])
    assert given_up.texts[-3:] == [PHRASES.rate, PHRASES.rate_again, PHRASES.farewell]


@pytest.mark.parametrize("text", ["", "好的"], ids=["unclear speech", "a mere yes"])
def test_what_is_no_grade_is_asked_again_once(text: str) -> None:
    done = call(Say(at_ms=QUESTION_ENDS_MS + 500, text=text, ms=900), (QUESTION_ENDS_MS + 6_000, Key(digit="3")))
    assert routes(done) == ["goodbye", "rating", "rating", "goodbye"]
    assert done.record.ratings == [("c-1", 3, "key")]


def test_only_the_first_grade_counts() -> None:
    done = call((ASKED_MS + 3_000, Key(digit="5")), (ASKED_MS + 3_100, Key(digit="5")), (ASKED_MS + 3_200, Key(digit="1")))
    assert done.record.ratings == [("c-1", 5, "key")]
    assert routes(done) == ["goodbye", "rating", "goodbye"]


def test_a_grade_that_comes_into_the_last_words_still_counts() -> None:
    farewell_ms = QUESTION_ENDS_MS + TurnSettings().no_input_ms + 500
    done = call((farewell_ms, Key(digit="2")))
    assert done.record.ratings == [("c-1", 2, "key")]
    assert done.texts[-2:] == [PHRASES.farewell, PHRASES.rated]


@pytest.mark.parametrize("at_ms", [ASKED_MS + 2_000, QUESTION_ENDS_MS + 2_000])
def test_a_hang_up_at_the_question_is_a_goodbye(at_ms: int) -> None:
    done = call((at_ms, HungUp()))
    assert (done.reason, done.record.ratings) == ("goodbye", [])


def test_a_line_that_breaks_at_the_question_is_told_as_such() -> None:
    assert call(ends_at_ms=QUESTION_ENDS_MS + 1_000).reason == "line_broken"


def test_key_0_is_a_person_here_too() -> None:
    done = call((ASKED_MS + 3_000, Key(digit="0")), (40_000, ACCEPTED))
    assert done.reason == "transferred"
    assert [transfer.reason for transfer in done.transfers] == ["asked"]


def test_a_danger_is_never_taken_for_a_grade() -> None:
    done = call(Say(at_ms=QUESTION_ENDS_MS + 1_000, text="我家着火了"), (QUESTION_ENDS_MS + 12_000, ACCEPTED))
    assert [transfer.reason for transfer in done.transfers] == ["emergency"]


@pytest.mark.parametrize("words", ["转人工", "着火"])
def test_who_goes_to_a_person_is_not_asked(words: str) -> None:
    done = Caller(says=(Say(at_ms=15_000, text=words),), does=((30_000, ACCEPTED),)).call()
    assert done.reason == "transferred"
    assert "rating" not in done.routes


def test_who_could_not_get_a_person_is_not_asked_how_they_found_it() -> None:
    no_answer = (22_000, TransferResult(ticket="", outcome="no_answer"))
    done = Caller(says=(Say(at_ms=15_000, text="转人工"), Say(at_ms=45_000, text="谢谢没有了")), does=(no_answer,)).call()
    assert done.reason == "goodbye"
    assert "rating" not in done.routes
    assert done.texts[-1] == PHRASES.farewell


def test_whoever_hangs_up_in_the_conversation_is_not_asked() -> None:
    done = Caller(says=(Say(at_ms=15_000, text="居住证怎么办"),), does=((18_000, HungUp()),)).call()
    assert (done.reason, "rating" in done.routes) == ("hangup", False)


def test_an_operator_may_do_without() -> None:
    done = call(turns=TurnSettings(satisfaction=False))
    assert routes(done) == ["goodbye", "goodbye"]
    assert (done.reason, done.texts[-1]) == ("goodbye", PHRASES.farewell)


def test_a_voice_that_breaks_at_the_question_ends_the_call_without_a_person() -> None:
    done = call(voice=SilentVoice(breaks=4))
    assert (done.reason, done.transfers) == ("goodbye", [])


def test_a_record_that_is_away_never_keeps_the_caller() -> None:
    done = call((QUESTION_ENDS_MS + 1_000, Key(digit="5")), record=MemoryRecord(broken=True))
    assert (done.reason, done.texts[-1]) == ("goodbye", PHRASES.rated)


def test_a_held_line_keeps_the_question() -> None:
    held = ((ASKED_MS + 3_000, LineHeld()), (ASKED_MS + 3_500, Key(digit="1")), (ASKED_MS + 9_000, LineResumed()))
    done = call(*held, (QUESTION_ENDS_MS + 8_000, Key(digit="5")))
    assert done.record.ratings == [("c-1", 5, "key")]


def test_a_key_in_the_conversation_is_no_grade() -> None:
    done = Caller(says=(Say(at_ms=15_000, text="居住证怎么办"),), does=((14_500, Key(digit="5")),), ends_at_ms=20_000).call()
    assert done.record.ratings == []
    assert done.texts[-1] == "到派出所办理。"


def test_typed_calls_ask_the_same() -> None:
    answers: dict[str, tuple[Step, ...]] = ANSWERS
    does = ((1_000, Typed(text="谢谢没有了")), (1_500, Typed(text="挺满意的")))
    done = Caller(typed=True, does=does, answers=answers, ends_at_ms=5_000).call()
    assert done.record.ratings == [("c-1", 4, "voice")]
    assert done.reason == "goodbye"
