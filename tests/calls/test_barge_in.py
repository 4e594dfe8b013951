"""The caller speaks while the bot does: silence at once, the right words kept, false alarms forgiven."""

from hotline.lines import BotAudio
from tests.fakes import EndlessMind, Say, SilentVoice
from tests.script import ANSWERS, SOCIAL, Caller, stored

ASK = Say(at_ms=15_000, text="社保怎么交", ms=1_000, silence_ms=500, decode_ms=100)
ANSWER_MS = 16_655  # first frame of the answer: 15,000 + 1,000 + 500 + 100 + 5 + 50


def test_the_bot_is_silent_a_fifth_of_a_second_after_the_caller_began() -> None:
    call = Caller(says=(ASK, Say(at_ms=19_000, text="居住证怎么办", ms=1_500)), ends_at_ms=33_000).call()
    paused_ms = call.cleared("pause")[0]
    assert 200 <= paused_ms - 19_000 <= 260
    assert call.audio_between(paused_ms + 20, 21_000) == 0


def test_words_cancel_the_reply_and_history_keeps_only_what_was_played() -> None:
    call = Caller(says=(ASK, Say(at_ms=19_000, text="等等，居住证怎么办", ms=1_500)), ends_at_ms=29_000).call()
    assert len(call.cleared("cancel")) == 1
    cut = call.record.turns[1]
    assert cut.interrupted
    assert SOCIAL.startswith(cut.heard_reply)
    assert cut.heard_reply + cut.unheard_reply == SOCIAL
    played_ms = call.cleared("pause")[0] - ANSWER_MS
    assert abs(len(cut.heard_reply) * 200 - played_ms) <= 400  # two characters
    _, dialogue = call.mind.asked[1]
    assert dialogue.history[0].said == cut.heard_reply
    assert call.texts[-1] == "到派出所办理。"


def test_synthesis_stops_for_real_when_the_caller_goes_on() -> None:
    voice = SilentVoice(synthesis_ms=900)  # slow: the second clause is being made while the first sounds
    says = (Say(at_ms=18_000, text="社保怎么交"), Say(at_ms=21_600, text="居住证怎么办", ms=1_200))
    call = Caller(says=says, answers=ANSWERS | {"社保": stored("一二三四五六七八九十。", *["甲乙丙丁。"] * 9)}, voice=voice).call()
    assert voice.cancelled == ["甲乙丙丁。"]
    assert voice.spoken.count("甲乙丙丁。") < 9
    assert "到派出所办理。" in call.texts


def test_generation_stops_for_real_when_the_caller_goes_on() -> None:
    endless = EndlessMind(clause="甲乙丙丁戊己庚辛。", every_ms=1_000)
    says = (Say(at_ms=15_000, text="讲个没完"), Say(at_ms=21_000, text="居住证怎么办", ms=1_200))
    Caller(says=says, mind=endless, ends_at_ms=40_000).call()
    assert endless.stopped_at_ms[0] - 21_000 <= 350 + 50


def test_a_cough_pauses_and_the_reply_goes_on_at_the_same_sample() -> None:
    call = Caller(says=(ASK, Say(at_ms=19_000, text="", ms=300, silence_ms=400)), ends_at_ms=33_000).call()
    paused_ms = call.cleared("pause")[0]
    resumed_ms = call.first_frame_after(paused_ms + 40)
    assert resumed_ms == 19_000 + 300 + 400 + 100
    answer = call.record.turns[1]
    assert not answer.interrupted
    assert answer.heard_reply == SOCIAL
    frames = sum(1 for _, event in call.of(BotAudio) if event.reply_id == 2)
    assert frames == 27 * 200 // 20  # every sample once


def test_a_long_noise_that_gives_no_words_does_not_cost_the_caller_the_answer() -> None:
    call = Caller(says=(ASK, Say(at_ms=19_000, text="", ms=900, silence_ms=400)), ends_at_ms=38_000).call()
    assert call.cleared("cancel")
    answer = call.record.turns[1]
    assert answer.heard_reply == SOCIAL
    assert not answer.interrupted


def test_uh_huh_in_the_middle_is_no_interruption() -> None:
    call = Caller(says=(ASK, Say(at_ms=19_000, text="嗯", ms=320, silence_ms=400)), ends_at_ms=33_000).call()
    assert call.record.turns[1].heard_reply == SOCIAL
    assert len(call.mind.asked) == 1


def test_uh_huh_within_a_second_of_the_first_frame_does_not_even_pause() -> None:
    call = Caller(says=(ASK, Say(at_ms=ANSWER_MS + 300, text="嗯", ms=320)), ends_at_ms=33_000).call()
    assert not call.cleared("pause")
    assert call.record.turns[1].heard_reply == SOCIAL


def test_the_reply_does_not_resume_while_words_are_still_being_decoded() -> None:
    slow = Say(at_ms=19_000, text="居住证怎么办", ms=1_000, silence_ms=500, decode_ms=4_000)
    call = Caller(says=(ASK, slow), ends_at_ms=30_000).call()
    paused_ms = call.cleared("pause")[0]
    assert call.audio_between(paused_ms + 20, 24_500) == 0
    assert call.texts[-1] == "到派出所办理。"


def test_a_noise_while_the_bot_thinks_never_discards_the_reply() -> None:
    call = Caller(says=(ASK, Say(at_ms=16_620, text="", ms=200, silence_ms=300)), think_ms=600, ends_at_ms=38_000).call()
    assert call.record.turns[1].heard_reply == SOCIAL
    assert len(call.mind.asked) == 1


def test_a_caller_who_goes_on_while_the_bot_thinks_gets_one_answer_to_the_whole() -> None:
    more = Say(at_ms=16_700, text="还有居住证", ms=700)
    call = Caller(says=(ASK, more), think_ms=900, ends_at_ms=30_000).call()
    assert [text for text, _ in call.mind.asked] == ["社保怎么交", "社保怎么交，还有居住证"]
    assert len({event.reply_id for _, event in call.of(BotAudio)}) == 2  # greeting and one answer
