"""Silence, unclear speech, failures, and the way to a person."""

import pytest

from hotline.lines import HungUp, Key, LineHeld, LineResumed, TransferResult, Trouble
from hotline.turns import TurnSettings
from llm.types import Clause, Route, Routed
from tests.fakes import MemoryRecord, Say, SilentVoice
from tests.script import ANSWERS, SOCIAL, Caller, stored

ASK = Say(at_ms=15_000, text="社保怎么交", ms=1_000)


def test_a_silent_caller_is_asked_twice_then_handed_over() -> None:
    call = Caller(does=((60_000, TransferResult(ticket="", outcome="accepted")),)).call()
    assert call.routes[3:] == ["reprompt", "reprompt", "hand_over"]
    assert call.texts[3] != call.texts[4]
    assert [transfer.reason for transfer in call.transfers] == ["silence"]
    assert call.reason == "transferred"


def test_a_person_is_had_by_asking() -> None:
    caller = Caller(says=(Say(at_ms=15_000, text="我要转人工"),), does=((25_000, TransferResult(ticket="", outcome="accepted")),))
    call = caller.call()
    assert call.reason == "transferred"
    assert call.transfers[0].ticket == "2612010001"
    assert "我要转人工" in call.transfers[0].summary
    assert call.record.offers[0].reason == "asked"


def test_a_person_asked_for_during_the_greeting_waits_only_for_the_legal_label() -> None:
    caller = Caller(says=(Say(at_ms=2_000, text="转人工"),), does=((30_000, TransferResult(ticket="", outcome="accepted")),))
    call = caller.call()
    heard = call.record.turns[0].heard_reply
    assert "人工智能" in heard
    assert "录音" in heard
    assert "请直接说出" not in heard
    assert [transfer.reason for transfer in call.transfers] == ["asked"]


def test_a_person_asked_for_while_the_bot_speaks() -> None:
    call = Caller(says=(ASK, Say(at_ms=19_000, text="别说了转人工", ms=1_200)), ends_at_ms=40_000).call()
    assert call.transfers[0].reason == "asked"


def test_key_0_is_a_person_at_any_moment() -> None:
    for at_ms in (1_000, 9_000, 14_500, 18_000):
        call = Caller(says=(ASK,), does=((at_ms, Key(digit="0")),), ends_at_ms=60_000).call()
        assert [transfer.reason for transfer in call.transfers] == ["asked"], at_ms


def test_a_thank_you_while_being_transferred_does_not_stop_the_transfer() -> None:
    says = (Say(at_ms=15_000, text="转人工"), Say(at_ms=17_200, text="那你快点转吧", ms=900))
    call = Caller(says=says, ends_at_ms=40_000).call()
    assert len(call.transfers) == 1
    assert len(call.mind.asked) == 1


def test_the_offer_is_published_before_the_words_are_over() -> None:
    call = Caller(says=(Say(at_ms=15_000, text="转人工", ms=800, silence_ms=500, decode_ms=100),), ends_at_ms=40_000).call()
    assert call.offered[0] - 15_800 <= 1_000


def test_an_emergency_speaks_at_once_is_not_interruptible_and_hands_over_urgently() -> None:
    says = (Say(at_ms=15_000, text="我家着火了"), Say(at_ms=16_900, text="快点啊怎么办", ms=900))
    call = Caller(says=says, ends_at_ms=40_000).call()
    answer = call.record.turns[1]
    assert answer.route == "emergency"
    assert answer.heard_reply == "请立即拨打119。"
    assert not answer.interrupted
    assert call.record.offers[0].urgent
    assert [transfer.reason for transfer in call.transfers] == ["emergency"]


def test_a_transfer_that_fails_brings_the_caller_back() -> None:
    caller = Caller(
        says=(Say(at_ms=15_000, text="转人工"), Say(at_ms=35_000, text="居住证怎么办")),
        does=((22_000, TransferResult(ticket="", outcome="no_answer")),),
        ends_at_ms=42_000,
    )
    call = caller.call()
    assert "notice" in call.routes
    assert call.texts[-1] == "到派出所办理。"


def test_a_transfer_that_nobody_reports_on_does_not_leave_the_caller_in_silence() -> None:
    call = Caller(says=(Say(at_ms=15_000, text="转人工"),), ends_at_ms=75_000).call()
    assert "notice" in call.routes


def test_unclear_speech_is_asked_again_twice_then_a_person() -> None:
    says = tuple(Say(at_ms=at_ms, text="", ms=1_000) for at_ms in (15_000, 22_000, 31_000))
    call = Caller(says=says, ends_at_ms=60_000).call()
    assert call.routes[3:6] == ["reprompt", "reprompt", "hand_over"]
    assert [transfer.reason for transfer in call.transfers] == ["unclear"]


def test_a_cough_in_the_silence_is_no_unclear_speech() -> None:
    call = Caller(says=(Say(at_ms=15_000, text="", ms=250),), ends_at_ms=20_000).call()
    assert call.routes == ["greeting"] * 3


def test_a_broken_recogniser_ends_with_a_person() -> None:
    says = tuple(Say(at_ms=at_ms, text="", ms=900, broken=True) for at_ms in (15_000, 22_000))
    call = Caller(says=says, ends_at_ms=60_000).call()
    assert [transfer.reason for transfer in call.transfers] == ["failure"]


def test_a_decode_that_never_comes_back_does_not_freeze_the_call() -> None:
    says = (Say(at_ms=15_000, text="社保怎么交", decode_ms=80_000),)
    call = Caller(says=says, turns=TurnSettings(decode_limit_ms=4_000), ends_at_ms=60_000).call()
    assert call.routes[3] == "reprompt"


def test_a_slow_answer_is_announced_by_a_filler_that_is_no_part_of_it() -> None:
    call = Caller(says=(ASK,), think_ms=2_500, ends_at_ms=30_000).call()
    assert call.routes[3:5] == ["filler", "hot"]
    assert call.record.turns[1].heard_reply == SOCIAL


def test_an_answer_that_never_comes_ends_with_a_person() -> None:
    call = Caller(says=(ASK,), think_ms=60_000, ends_at_ms=60_000).call()
    assert [transfer.reason for transfer in call.transfers] == ["failure"]
    assert call.transfers[0].summary
    assert call.offered[0] < 25_000


def test_speech_that_stops_halfway_is_noticed_within_seconds() -> None:
    slow = SilentVoice(synthesis_ms=50)
    answers = ANSWERS | {"社保": stored("一二三四。", "五六七八。")}

    class Stuck(SilentVoice):
        async def speak(self, text: str, *, cacheable: bool = True, slow: bool = False):  # noqa: ANN202
            if text.startswith("五六"):
                self.synthesis_ms = 100_000
            return await super().speak(text, cacheable=cacheable, slow=slow)

    stuck = Stuck(synthesis_ms=slow.synthesis_ms)
    call = Caller(says=(ASK,), answers=answers, voice=stuck, ends_at_ms=60_000).call()
    assert [transfer.reason for transfer in call.transfers] == ["failure"]


def test_a_broken_voice_still_hands_the_caller_over() -> None:
    call = Caller(says=(ASK,), voice=SilentVoice(breaks=3), ends_at_ms=60_000).call()
    assert call.reason == "failure"
    assert [transfer.reason for transfer in call.transfers] == ["failure"]


def test_a_mind_that_breaks_still_hands_the_caller_over() -> None:
    class Broken:
        async def answer(self, question: object, dialogue: object):  # noqa: ANN202
            yield Routed(route=Route.HOT, confidence=1.0)
            raise ZeroDivisionError("社保怎么交")

    call = Caller(says=(ASK,), mind=Broken(), ends_at_ms=60_000).call()
    assert call.reason == "failure"
    assert [transfer.reason for transfer in call.transfers] == ["failure"]


def test_a_record_that_is_away_never_silences_the_call() -> None:
    says = (Say(at_ms=15_000, text="居住证怎么办"), Say(at_ms=22_000, text="转人工"))
    caller = Caller(says=says, record=MemoryRecord(broken=True), does=((35_000, TransferResult(ticket="", outcome="accepted")),))
    call = caller.call()
    assert "到派出所办理。" in call.texts
    assert call.reason == "transferred"


def test_a_held_line_pauses_the_bot_at_the_sample() -> None:
    caller = Caller(says=(ASK,), does=((18_500, LineHeld()), (28_500, LineResumed())), ends_at_ms=45_000)
    call = caller.call()
    assert call.cleared("held") == [18_500]
    assert call.audio_between(18_530, 28_490) == 0
    assert call.record.turns[1].heard_reply == SOCIAL
    assert call.routes.count("reprompt") <= 1


def test_the_call_ends_with_a_person_when_its_time_is_up() -> None:
    caller = Caller(turns=TurnSettings(max_call_ms=10_000), does=((30_000, TransferResult(ticket="", outcome="accepted")),))
    assert caller.call().transfers[0].reason == "time_up"


def test_what_breaks_in_the_ear_is_told_to_the_line_and_ends_with_a_person() -> None:
    from asr.types import WrongAudio  # noqa: PLC0415

    class DeafEar:
        async def run(self, packets: object, emit: object) -> None:
            raise WrongAudio("five payloads in a row do not fit")

        def expect(self, slot: object) -> None:
            pass

    caller = Caller(ends_at_ms=60_000)
    call = caller.call_with_ear(DeafEar())
    assert [event.code for _, event in call.of(Trouble)] == ["asr.wrong_audio"]
    assert [transfer.reason for transfer in call.transfers] == ["failure"]


@pytest.mark.parametrize("at_ms", [10, 3_000, 13_900, 16_550, 17_000, 22_500])
def test_a_hang_up_at_any_moment_leaves_no_task_and_a_closed_record(at_ms: int) -> None:
    call = Caller(says=(ASK,), does=((at_ms, HungUp()),)).call()
    assert call.reason == "hangup"
    assert call.record.ended == [("c-1", "hangup")]


def test_words_of_the_mind_are_never_spoken_twice() -> None:
    answers = ANSWERS | {"社保": (Routed(route=Route.HOT, confidence=1.0), *(Clause(text=f"第{n}句。") for n in "一二三四五六"))}
    says = (ASK, Say(at_ms=18_200, text="", ms=900, silence_ms=300), Say(at_ms=20_800, text="", ms=900, silence_ms=300))
    call = Caller(says=says, answers=answers, ends_at_ms=40_000).call()
    assert call.record.turns[1].heard_reply == "第一句。第二句。第三句。第四句。第五句。第六句。"
