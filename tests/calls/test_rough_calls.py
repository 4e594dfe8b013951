"""Calls in which a part is slow, breaks or is gone: the caller is never left in silence, and the record knows what happened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import pytest

from asr.types import Slot, SpeechStarted, WrongAudio
from hotline.lines import HungUp, Key, LineEvent, LineHeld, LineResumed, ReplyText, TransferResult, Typed
from hotline.record.types import TurnDone
from hotline.turns import State, TurnSettings
from llm.types import Clause, Close, Dialogue, HandOver, MaskedText, Route, Routed, Step
from tests.clock import run_virtually
from tests.fakes import FixedMind, MemoryRecord, Say, SilentVoice
from tests.script import ANSWERS, GREETING_MS, SOCIAL, Caller, goodbye, stored, to_person
from tts.types import Spoken

ASK = Say(at_ms=15_000, text="社保怎么交", ms=1_000)
ACCEPTED = TransferResult(ticket="", outcome="accepted")


# ---------------------------------------------------------------- the line


def test_a_hold_in_the_greeting_loses_none_of_the_label() -> None:
    call = Caller(does=((2_000, LineHeld()), (32_000, LineResumed())), ends_at_ms=50_000).call()
    greeting = call.record.turns[0]
    assert not greeting.interrupted
    assert "人工智能" in greeting.heard_reply
    assert call.audio_between(2_030, 31_990) == 0
    assert call.first_frame_after(2_040) in range(32_000, 32_040)


def test_a_call_held_until_nobody_comes_back_is_offered_to_people_when_its_time_is_up() -> None:
    settings = TurnSettings(max_call_ms=60_000, transfer_limit_ms=20_000)
    call = Caller(says=(ASK,), does=((18_000, LineHeld()),), turns=settings, ends_at_ms=200_000).call()
    assert call.reason == "time_up"
    assert call.record.offers[0].reason == "time_up"
    assert call.line.sent[-1][0] <= 81_000


def test_other_keys_than_0_change_nothing() -> None:
    keys = tuple((16_800 + n * 200, Key(digit=digit)) for n, digit in enumerate("123456789*#ABCD"))
    call = Caller(says=(ASK,), does=keys, ends_at_ms=23_000).call()
    assert call.record.turns[1].heard_reply == SOCIAL
    assert not call.transfers


def test_key_0_pressed_again_and_again_is_one_person() -> None:
    keys = tuple((at_ms, Key(digit="0")) for at_ms in range(500, 30_000, 400))
    call = Caller(says=(ASK,), does=(*keys, (31_000, ACCEPTED)), ends_at_ms=60_000).call()
    assert call.reason == "transferred"
    assert len(call.transfers) == len(call.record.offers) == 1
    assert "人工智能" in call.record.turns[0].heard_reply


def test_who_hangs_up_while_being_transferred_ends_the_call() -> None:
    call = Caller(says=(Say(at_ms=15_000, text="转人工"),), does=((22_000, HungUp()),)).call()
    assert call.reason == "hangup"
    assert len(call.transfers) == 1


# ---------------------------------------------------------------- no room


def test_a_caller_for_whom_there_is_no_room_hears_that_a_machine_speaks_and_waits_for_a_person() -> None:
    caller = Caller(overloaded=True, does=((20_000, ACCEPTED),))
    call = caller.call()
    assert "人工智能" in call.texts[0]
    assert [transfer.reason for transfer in call.transfers] == ["overload"]
    assert call.reason == "transferred"
    assert caller.ears == []  # no recogniser works for them
    assert call.line.sent[0][0] <= 200


def test_whatever_they_press_or_type_meanwhile_does_not_stop_that() -> None:
    does: tuple[tuple[int, LineEvent], ...] = ((0, Key(digit="0")), (1_000, Typed(text="喂")), (3_000, Key(digit="0")))
    call = Caller(overloaded=True, does=(*does, (40_000, ACCEPTED)), ends_at_ms=60_000).call()
    assert call.reason == "transferred"
    assert len(call.transfers) == 1


# ---------------------------------------------------------------- two at once


def test_two_calls_at_once_do_not_hear_of_each_other() -> None:
    async def both() -> tuple[list[str], list[str]]:
        mind, voice, record = FixedMind(answers=ANSWERS), SilentVoice(), MemoryRecord()
        one = Caller(says=(Say(at_ms=15_000, text="居住证怎么办"),), ends_at_ms=24_000, call_id="c-1")
        two = Caller(
            says=(Say(at_ms=15_000, text="社保怎么交"), Say(at_ms=25_000, text="转人工")), ends_at_ms=45_000, call_id="c-2"
        )
        for caller in (one, two):
            caller.mind, caller.voice, caller.record = mind, voice, record
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(caller.live()) for caller in (one, two)]
        first, second = (task.result() for task in running)
        assert [first.heard, second.heard] == [["居住证怎么办"], ["社保怎么交", "转人工"]]
        assert [offer.call_id for offer in record.offers] == ["c-2"]
        assert "居住证" not in record.offers[0].summary
        assert dict(record.ended) == {"c-1": "line_broken", "c-2": "line_broken"}
        return first.texts[3:], second.texts[3:]

    first, second = run_virtually(both())
    assert first == ["到派出所办理。"]
    assert second == ["一二三四五六七八。", "九十甲乙丙丁戊己。", "庚辛壬癸子丑寅卯。", "好的，正在为您转接。"]


# ---------------------------------------------------------------- our parts


@dataclass
class GoesDeaf:
    """Hears someone begin to speak, and then nothing more for ever."""

    at_ms: int
    slots: list[Slot] = field(default_factory=list)

    async def run(self, packets: object, emit: object) -> None:
        await asyncio.sleep(self.at_ms / 1_000)
        emit(SpeechStarted(at_ms=self.at_ms, start_ms=self.at_ms - 100))  # type: ignore[operator]
        await asyncio.sleep(0.3)
        raise WrongAudio("five payloads in a row do not fit")

    def expect(self, slot: Slot) -> None:
        self.slots.append(slot)


@pytest.mark.parametrize("at_ms", [1_000, 10_000, 15_000])
def test_a_line_that_goes_deaf_in_the_middle_of_a_word_still_gets_a_person(at_ms: int) -> None:
    call = Caller(ends_at_ms=60_000).call_with_ear(GoesDeaf(at_ms=at_ms))
    assert [transfer.reason for transfer in call.transfers] == ["failure"]
    assert "系统出了点问题" in "".join(call.texts)
    told_ms = next(sent_ms for sent_ms, event in call.of(ReplyText) if "系统出了点问题" in str(event))
    assert told_ms - at_ms <= 1_000


def test_a_filler_that_comes_after_the_answer_is_not_said() -> None:
    class SlowFiller(SilentVoice):
        async def speak(self, text: str, *, cacheable: bool = True, slow: bool = False) -> Spoken:
            if text.startswith("请稍等"):
                await asyncio.sleep(1)
            return await super().speak(text, cacheable=cacheable, slow=slow)

    call = Caller(says=(ASK,), think_ms=1_500, voice=SlowFiller(), ends_at_ms=30_000).call()
    assert "filler" not in call.routes
    assert call.record.turns[1].heard_reply == SOCIAL


def test_the_answer_goes_on_at_once_after_a_long_false_alarm() -> None:
    cough = Say(at_ms=19_000, text="", ms=900, silence_ms=400, decode_ms=3_500)
    call = Caller(says=(ASK, cough), ends_at_ms=40_000).call()
    assert "filler" not in call.routes
    assert call.record.turns[1].heard_reply == SOCIAL


@pytest.mark.parametrize("early_ms", [-2, -1, -0.0000005, 0, 0.0000005, 1, 2])  # half a nanosecond: in one turn of the loop
def test_words_that_come_just_as_an_answer_turns_out_to_be_a_person_leave_nobody_without_one(early_ms: float) -> None:
    """Either the first answer still hands over, or the second question is answered and the call goes on."""

    @dataclass
    class SlowPerson:
        async def answer(self, question: MaskedText, dialogue: Dialogue) -> AsyncGenerator[Step, None]:
            yield Routed(route=Route.STORED, confidence=1.0)
            if "居住证" in question.text:
                yield Clause(text="到派出所办理。")
                return
            await asyncio.sleep(1.1 + early_ms / 1_000)
            yield Clause(text="这个要转人工。")
            yield HandOver(reason="not_in_kb")

    second = Say(at_ms=16_600 + 500, text="不，居住证怎么办", ms=400, silence_ms=100, decode_ms=100)
    silence = TurnSettings(filler_after_ms=2_000, no_input_ms=5_000)
    call = Caller(says=(ASK, second), mind=SlowPerson(), turns=silence, ends_at_ms=90_000).call()
    assert len(call.transfers) >= 1  # at once, or after the silence that follows the answer
    assert call.transfers[0].reason in {"not_in_kb", "silence"}
    if call.transfers[0].reason == "silence":
        assert "到派出所办理。" in call.texts
        assert len(call.record.offers) == 1
        assert call.record.offers[0].reason == "silence"


def test_an_answer_nobody_heard_is_no_part_of_the_conversation_but_the_question_is() -> None:
    more = Say(at_ms=16_700, text="还有居住证", ms=700)
    call = Caller(says=(ASK, more, Say(at_ms=26_000, text="转人工")), think_ms=900, ends_at_ms=40_000).call()
    _, dialogue = call.mind.asked[1]
    assert dialogue.history == ()
    assert [turn.caller.text for turn in call.call.history] == ["社保怎么交，还有居住证", "转人工"]
    assert call.record.offers[0].summary.count("社保怎么交") == 1


def test_what_was_asked_and_never_answered_stands_in_the_offer() -> None:
    call = Caller(says=(ASK,), think_ms=60_000, does=((20_500, Key(digit="0")),), ends_at_ms=40_000).call()
    assert "社保怎么交" in call.record.offers[0].summary


def test_a_clarifying_question_that_nobody_heard_does_not_count() -> None:
    says = (Say(at_ms=15_000, text="那个什么"), Say(at_ms=16_500, text="就是那个什么", ms=700))
    call = Caller(says=says, think_ms=900, ends_at_ms=30_000).call()
    assert [dialogue.clarified for _, dialogue in call.mind.asked] == [0, 0]


# ---------------------------------------------------------------- the record


@dataclass
class SlowRecord(MemoryRecord):
    """Takes slow_ms over each turn."""

    slow_ms: int = 500
    writing: int = 0

    async def turn_done(self, turn: TurnDone) -> None:
        await asyncio.sleep(self.slow_ms / 1_000)
        await super().turn_done(turn)


@pytest.mark.parametrize("after_ms", [0, 100, 400, 700])
def test_the_last_answer_is_in_the_record_however_soon_the_caller_hangs_up(after_ms: int) -> None:
    said_ms = 15_800 + 500 + 100 + 5 + 50 + 7 * 200  # the answer has ended
    caller = Caller(
        says=(Say(at_ms=15_000, text="居住证怎么办"),), does=((said_ms + 20 + after_ms, HungUp()),), record=SlowRecord()
    )
    call = caller.call()
    assert [turn.heard_reply for turn in call.record.turns if turn.turn] == ["到派出所办理。"]
    assert call.record.ended == [("c-1", "hangup")]


@pytest.mark.parametrize("slow_ms", [100, 1_900, 60_000])
def test_a_call_that_is_broken_off_by_the_server_is_closed_in_the_record_in_bounded_time(slow_ms: int) -> None:
    async def broken_off() -> tuple[MemoryRecord, float]:
        caller = Caller(says=(ASK,), record=SlowRecord(slow_ms=slow_ms), ends_at_ms=200_000)
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(caller.live())
            await asyncio.sleep(18)
            running.cancel()
            began_s = loop.time()
        assert running.cancelled()
        return caller.record, loop.time() - began_s

    record, took_s = run_virtually(broken_off())
    assert took_s <= 8.1
    assert record.ended == [("c-1", "cancelled")]


def test_a_flood_of_entries_into_a_dead_record_does_not_flood_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    typed = tuple((14_500 + n, Typed(text=f"居住证{n}")) for n in range(300))
    Caller(typed=True, does=typed, record=SlowRecord(slow_ms=1_900), ends_at_ms=16_000).call()
    assert capsys.readouterr().out.count("record_entries_dropped") <= 1


# ---------------------------------------------------------------- many words


def test_who_talks_without_end_while_nothing_answers_has_their_last_words_answered() -> None:
    typed = tuple((14_500 + n * 2, Typed(text=f"第{n}句")) for n in range(200))
    call = Caller(typed=True, does=typed, think_ms=100, ends_at_ms=40_000).call()
    last = call.mind.asked[-1][0]
    assert last.endswith("第199句")
    assert last.count("句") <= 8


def test_a_flood_of_typed_words_is_held_up_and_the_bot_still_speaks() -> None:
    typed = tuple((1_000, Typed(text=f"居住证{n}")) for n in range(2_000))
    call = Caller(typed=True, does=(*typed, (15_000, HungUp()))).call()
    assert call.reason == "hangup"
    assert "到派出所办理。" in call.texts


def test_a_typed_nothing_is_asked_again() -> None:
    call = Caller(typed=True, does=((1_000, Typed(text="\u200b")), (1_500, Typed(text=" \n "))), ends_at_ms=3_000).call()
    assert call.routes[3:] == ["reprompt", "reprompt"]


# ---------------------------------------------------------------- ends


def test_a_guarded_answer_that_says_goodbye_keeps_the_words_that_came_over_it_for_nobody() -> None:
    answers: dict[str, tuple[Step, ...]] = {
        "停": (Routed(route=Route.REFUSED, confidence=1.0), Clause(text="这个不能办，再见。", protected=True), Close())
    }
    says = (Say(at_ms=15_000, text="停"), Say(at_ms=16_800, text="等等", ms=500))
    assert Caller(says=says, answers=answers, ends_at_ms=40_000).call().reason == "goodbye"


def test_words_over_a_guarded_answer_that_ends_with_a_person_are_told_to_that_person() -> None:
    answers = {"着火": to_person("请立即离开，拨打119。", "emergency", urgent=True)}
    says = (Say(at_ms=15_000, text="着火了"), Say(at_ms=17_000, text="在三楼", ms=600))
    call = Caller(says=says, answers=answers, does=((40_000, ACCEPTED),)).call()
    assert [transfer.reason for transfer in call.transfers] == ["emergency"]
    assert call.call.turns.state is State.ENDED


def test_a_goodbye_cut_short_by_a_hang_up_is_a_hang_up() -> None:
    answers = {"再见": goodbye(), "社保": stored("一二三。")}
    call = Caller(says=(Say(at_ms=15_000, text="再见"),), answers=answers, does=((17_000, HungUp()),)).call()
    assert call.reason == "hangup"
    assert call.record.turns[-1].interrupted


def test_a_greeting_that_is_over_leaves_the_caller_time() -> None:
    call = Caller(ends_at_ms=GREETING_MS + 6_000).call()
    assert call.routes == ["greeting"] * 3


def test_an_overloaded_caller_whom_nobody_takes_is_told_so_and_not_kept_on_a_deaf_line() -> None:
    call = Caller(overloaded=True, does=((20_000, TransferResult(ticket="", outcome="no_answer")),)).call()
    assert call.reason == "overload"
    assert call.routes == ["hand_over", "notice"]
    assert call.line.sent[-1][0] < 40_000


def test_an_offer_that_the_record_cannot_take_reaches_the_people_from_memory() -> None:
    caller = Caller(says=(Say(at_ms=15_000, text="转人工"),), record=MemoryRecord(broken=True), ends_at_ms=40_000)
    call = caller.call()
    assert [offer.reason for offer in caller.unrecorded] == ["asked"]
    assert "转人工" in caller.unrecorded[0].summary
    assert [transfer.reason for transfer in call.transfers] == ["asked"]
