"""The plain call: greeted, asked, answered, thanked."""

from hotline.lines import HungUp, Mark
from tests.fakes import Say
from tests.script import GREETING_MS, SOCIAL, Caller


def test_a_caller_asks_is_answered_and_says_goodbye() -> None:
    caller = Caller(says=(Say(at_ms=15_000, text="居住证怎么办"), Say(at_ms=23_000, text="谢谢没有了")))
    call = caller.call()
    assert call.reason == "goodbye"
    assert call.heard == ["居住证怎么办", "谢谢没有了"]
    assert call.routes == ["greeting", "greeting", "greeting", "hot", "goodbye", "rating", "goodbye"]
    assert [turn.heard_reply for turn in call.record.turns if turn.turn] == ["到派出所办理。", "感谢来电，再见。"]
    assert call.record.ended == [("c-1", "goodbye")]


def test_the_greeting_says_that_a_machine_speaks_and_records_and_offers_a_person() -> None:
    call = Caller(ends_at_ms=GREETING_MS + 500).call()
    greeting = "".join(call.texts)
    assert "人工智能" in greeting
    assert "录音" in greeting
    assert "转人工" in greeting


def test_the_nine_stamps_come_in_order_and_voice_to_voice_is_their_span() -> None:
    call = Caller(says=(Say(at_ms=15_000, text="居住证怎么办", silence_ms=500, decode_ms=100),), ends_at_ms=23_000).call()
    stamps = call.figures[0].stamps
    order = [
        stamps.caller_last_speech_ms,
        stamps.vad_end_ms,
        stamps.turn_decided_ms,
        stamps.asr_final_ms,
        stamps.route_decided_ms,
        stamps.first_token_ms,
        stamps.first_safe_clause_ms,
        stamps.first_tts_audio_ms,
        stamps.first_frame_sent_ms,
    ]
    assert None not in order
    assert order == sorted(order)
    assert stamps.voice_to_voice_ms == 500 + 100 + 5 + 50  # silence, decode, thinking, synthesis


def test_each_reply_ends_with_a_mark_that_says_so() -> None:
    call = Caller(says=(Say(at_ms=15_000, text="社保怎么交"),), ends_at_ms=25_000).call()
    marks = [(event.reply_id, event.name) for _, event in call.of(Mark)]
    assert marks == [(1, "0"), (1, "1"), (1, "2"), (1, "end"), (2, "0"), (2, "1"), (2, "2"), (2, "end")]


def test_frames_leave_20_ms_apart_on_the_clock() -> None:
    call = Caller(ends_at_ms=10_000).call()
    assert call.audio_between(1_000, 9_000) == 400


def test_a_caller_who_hangs_up_in_the_middle_ends_the_call_at_once() -> None:
    caller = Caller(says=(Say(at_ms=15_000, text="社保怎么交"),), does=((17_000, HungUp()),))
    call = caller.call()
    assert call.reason == "hangup"
    assert call.line.sent[-1][0] <= 17_100
    assert call.record.turns[-1].interrupted
    assert call.record.turns[-1].heard_reply != SOCIAL


def test_frames_that_end_without_a_hang_up_are_a_broken_line() -> None:
    assert Caller(ends_at_ms=5_000).call().reason == "line_broken"


def test_a_second_question_knows_the_first() -> None:
    call = Caller(says=(Say(at_ms=15_000, text="居住证怎么办"), Say(at_ms=23_000, text="社保呢")), ends_at_ms=38_000).call()
    _, dialogue = call.mind.asked[1]
    assert [(exchange.caller.text, exchange.said, exchange.topic_id) for exchange in dialogue.history] == [
        ("居住证怎么办", "到派出所办理。", "kb-2")
    ]
