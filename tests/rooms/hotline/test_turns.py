"""The turn machine by itself: tables of what happened and what it ordered, then any sequence at all."""

from __future__ import annotations

import pytest

from hotline.turn_events import (
    CallerBegan,
    CallerEnded,
    CallerGoes,
    Command,
    Committed,
    Failed,
    Finish,
    Finished,
    GiveUp,
    Gone,
    Guarded,
    HoldBegan,
    HoldEnded,
    Missed,
    Order,
    PersonAsked,
    ReplyBegan,
    Said,
    Sounding,
    Tick,
    TransferEnded,
    Transferring,
    TurnEvent,
)
from hotline.turns import State, TurnMachine, TurnSettings

PAUSE, RESUME, CUT, DISCARD, ANSWER, KEEP = (
    Command.PAUSE,
    Command.RESUME,
    Command.CUT,
    Command.DISCARD,
    Command.ANSWER,
    Command.KEEP,
)
REPROMPT, NOT_UNDERSTOOD, FILL = Command.REPROMPT, Command.NOT_UNDERSTOOD, Command.FILL


def machine(*events: TurnEvent, **settings: int) -> TurnMachine:
    """A machine to which this has happened."""
    turns = TurnMachine(TurnSettings(**settings))
    for event in events:
        turns.feed(event)
    return turns


def told(turns: TurnMachine, *events: TurnEvent) -> list[Order]:
    """What a machine orders when all this happens."""
    return [order for event in events for order in turns.feed(event)]


LISTENING = (ReplyBegan(at_ms=0), Sounding(at_ms=50), Finished(at_ms=1_000))
THINKING = (*LISTENING, Said(at_ms=2_000), ReplyBegan(at_ms=2_000))
SPEAKING = (*THINKING, Sounding(at_ms=2_100))
GUARDED = (*THINKING, Guarded(at_ms=2_050, on=True), Sounding(at_ms=2_100))
PAUSED = (*SPEAKING, CallerBegan(at_ms=4_000), CallerGoes(at_ms=4_200, voiced_ms=200))
GIVING_UP = (*LISTENING, PersonAsked(at_ms=2_000), ReplyBegan(at_ms=2_000), Committed(at_ms=2_010), Sounding(at_ms=2_100))
TRANSFERRING = (*GIVING_UP, Transferring(at_ms=4_000))
HELD = (*SPEAKING, HoldBegan(at_ms=3_000))
EVERY_STATE = {
    "listening": LISTENING,
    "thinking": THINKING,
    "speaking": SPEAKING,
    "guarded": GUARDED,
    "paused": PAUSED,
    "held": HELD,
    "giving up": GIVING_UP,
    "transferring": TRANSFERRING,
    "ended": (*LISTENING, Gone(at_ms=2_000, reason="hangup")),
}


def heard(at_ms: int, *, backchannel: bool = False) -> tuple[TurnEvent, ...]:
    """The caller stops, and words come."""
    return (CallerEnded(at_ms=at_ms), Said(at_ms=at_ms + 100, ended_ms=at_ms, backchannel=backchannel))


def noise(at_ms: int, voiced_ms: int = 300, *, broken: bool = False) -> tuple[TurnEvent, ...]:
    """The caller stops, and there were no words."""
    return (CallerEnded(at_ms=at_ms), Missed(at_ms=at_ms + 100, ended_ms=at_ms, voiced_ms=voiced_ms, broken=broken))


# ---------------------------------------------------------------- words, in each state


@pytest.mark.parametrize(
    ("before", "orders"),
    [
        ("listening", [ANSWER]),
        ("thinking", [DISCARD, ANSWER]),
        ("speaking", [DISCARD, ANSWER]),
        ("paused", [DISCARD, ANSWER]),
        ("guarded", [KEEP]),
        ("held", []),
        ("giving up", []),
        ("transferring", []),
        ("ended", []),
    ],
)
def test_words(before: str, orders: list[Order]) -> None:
    assert told(machine(*EVERY_STATE[before]), *heard(5_000)) == orders
    assert told(machine(*EVERY_STATE[before]), Said(at_ms=5_000)) == orders  # typed


@pytest.mark.parametrize(
    ("before", "orders"),
    [
        ("listening", [ANSWER]),  # "对" answers a question
        ("thinking", []),
        ("speaking", []),
        ("paused", [RESUME]),
        ("guarded", []),
        ("held", []),
        ("giving up", []),
        ("transferring", []),
    ],
)
def test_uh_huh(before: str, orders: list[Order]) -> None:
    assert told(machine(*EVERY_STATE[before]), *heard(5_000, backchannel=True)) == orders


@pytest.mark.parametrize(
    ("before", "orders"),
    [
        ("listening", [GiveUp(reason="asked")]),
        ("thinking", [DISCARD, GiveUp(reason="asked")]),
        ("speaking", [DISCARD, GiveUp(reason="asked")]),
        ("paused", [DISCARD, GiveUp(reason="asked")]),
        ("guarded", []),  # the legal label first
        ("held", [DISCARD, GiveUp(reason="asked")]),
        ("giving up", []),
        ("transferring", []),
        ("ended", []),
    ],
)
def test_key_0(before: str, orders: list[Order]) -> None:
    turns = machine(*EVERY_STATE[before])
    state = turns.state
    assert told(turns, PersonAsked(at_ms=5_000)) == orders
    if not orders:
        assert turns.state is state


@pytest.mark.parametrize("before", [name for name in EVERY_STATE if name != "ended"])
def test_who_hangs_up_ends_the_call_in_any_state_and_nothing_follows(before: str) -> None:
    turns = machine(*EVERY_STATE[before])
    assert told(turns, Gone(at_ms=5_000, reason="hangup")) == [Finish(reason="hangup")]
    assert turns.state is State.ENDED
    assert told(turns, Said(at_ms=6_000), PersonAsked(at_ms=6_000), Tick(at_ms=9_999_999), Failed(at_ms=6_000)) == []


# ---------------------------------------------------------------- barge-in


@pytest.mark.parametrize(
    ("voiced_ms", "edge", "orders"),
    [
        (199, False, []),
        (200, False, [PAUSE]),
        (349, False, [PAUSE]),
        (350, False, [PAUSE, CUT]),
        (200, True, []),
        (699, True, []),
        (700, True, [PAUSE, CUT]),
    ],
)
def test_how_much_speech_interrupts_a_reply(voiced_ms: int, edge: bool, orders: list[Order]) -> None:
    speech = (CallerBegan(at_ms=4_000), CallerGoes(at_ms=4_000 + voiced_ms, voiced_ms=voiced_ms, edge=edge))
    assert told(machine(*SPEAKING), *speech) == orders


def test_a_reply_is_cut_once_and_may_be_cut_again_after_a_false_alarm() -> None:
    turns = machine(*PAUSED)
    assert told(turns, *(CallerGoes(at_ms=4_200 + ms, voiced_ms=ms) for ms in range(300, 800, 50))) == [CUT]
    assert told(turns, *noise(5_000)) == [RESUME]
    assert told(turns, CallerBegan(at_ms=6_000), CallerGoes(at_ms=6_400, voiced_ms=400)) == [PAUSE, CUT]


def test_a_reply_that_has_not_sounded_waits_and_is_never_cut() -> None:
    turns = machine(*THINKING)
    assert told(turns, CallerBegan(at_ms=2_100), CallerGoes(at_ms=3_000, voiced_ms=900)) == [PAUSE]
    assert told(turns, *noise(3_500)) == [RESUME]
    assert turns.state is State.THINKING


def test_a_reply_that_begins_while_the_caller_speaks_waits_for_them() -> None:
    turns = machine(*LISTENING, CallerBegan(at_ms=1_500), Said(at_ms=2_000))
    assert told(turns, ReplyBegan(at_ms=2_000)) == [PAUSE]
    assert turns.state is State.PAUSED
    assert told(turns, *noise(3_000)) == [RESUME]


def test_nothing_interrupts_where_nothing_is_said() -> None:
    assert told(machine(*LISTENING), CallerBegan(at_ms=2_000), CallerGoes(at_ms=3_000, voiced_ms=1_000)) == []


def test_what_is_guarded_is_not_interrupted_and_what_follows_it_is() -> None:
    turns = machine(*GUARDED)
    assert told(turns, CallerBegan(at_ms=2_500), CallerGoes(at_ms=3_200, voiced_ms=600)) == []
    assert told(turns, Guarded(at_ms=3_300, on=False), CallerGoes(at_ms=3_300, voiced_ms=700)) == [PAUSE, CUT]


def test_after_a_false_alarm_the_bot_goes_on_only_when_all_is_quiet_and_decoded() -> None:
    turns = machine(*PAUSED, CallerEnded(at_ms=4_500), CallerBegan(at_ms=4_600))
    assert told(turns, Missed(at_ms=4_700, ended_ms=4_500)) == []  # they speak again
    assert told(turns, CallerEnded(at_ms=5_000), CallerBegan(at_ms=5_050), CallerEnded(at_ms=5_200)) == []
    assert told(turns, Missed(at_ms=5_300, ended_ms=5_000)) == []  # one is still being decoded
    assert told(turns, Missed(at_ms=5_400, ended_ms=5_200)) == [RESUME]


def test_a_long_pause_is_no_gap_of_the_reply_once_it_goes_on() -> None:
    turns = machine(*PAUSED)
    assert told(turns, *noise(9_000)) == [RESUME]
    assert turns.deadline_ms(last_frame_ms=4_200) == 9_100 + turns.settings.speaking_gap_ms


# ---------------------------------------------------------------- guarded words


@pytest.mark.parametrize(
    ("end", "orders"),
    [(Guarded(at_ms=4_000, on=False), [DISCARD, ANSWER]), (Finished(at_ms=4_000), [ANSWER])],
    ids=["more follows", "the reply is over"],
)
def test_words_during_the_label_are_answered_once_after_it(end: TurnEvent, orders: list[Order]) -> None:
    turns = machine(*GUARDED)
    assert told(turns, *heard(3_000), *heard(3_500)) == [KEEP, KEEP]
    assert told(turns, end) == orders
    assert told(turns, ReplyBegan(at_ms=4_000), Sounding(at_ms=4_100), Finished(at_ms=6_000)) == []


@pytest.mark.parametrize(
    ("end", "orders"),
    [
        (Guarded(at_ms=4_000, on=False), [DISCARD, GiveUp(reason="asked")]),
        (Finished(at_ms=4_000), [GiveUp(reason="asked")]),
    ],
    ids=["more follows", "the reply is over"],
)
def test_key_0_during_the_label_is_a_person_after_it(end: TurnEvent, orders: list[Order]) -> None:
    turns = machine(*GUARDED)
    assert told(turns, PersonAsked(at_ms=3_000), Said(at_ms=3_100), PersonAsked(at_ms=3_200)) == [KEEP]
    assert told(turns, end) == orders


@pytest.mark.parametrize("then", [Committed(at_ms=3_200), Transferring(at_ms=3_200)])
def test_words_during_a_guarded_reply_that_ends_with_a_person_do_not_stop_it(then: TurnEvent) -> None:
    assert told(machine(*GUARDED, PersonAsked(at_ms=3_000), then), Guarded(at_ms=4_000, on=False)) == []
    turns = machine(*GUARDED)
    assert told(turns, Said(at_ms=3_000)) == [KEEP]
    assert told(turns, then, Guarded(at_ms=4_000, on=False), Transferring(at_ms=4_000)) == []
    failed = told(turns, TransferEnded(at_ms=9_000, accepted=False), ReplyBegan(at_ms=9_000), Finished(at_ms=12_000))
    assert failed == [Command.TRANSFER_FAILED]  # and the old words stay where they are: with the offer


def test_a_reply_paused_just_before_its_label_goes_on_with_it() -> None:
    turns = machine(*PAUSED, Guarded(at_ms=4_200, on=True))
    assert told(turns, *heard(4_500)) == [KEEP, RESUME]


def test_a_guard_is_nobodys_when_its_reply_is_gone() -> None:
    assert told(machine(*LISTENING), Guarded(at_ms=2_000, on=True), CallerBegan(at_ms=2_100)) == []
    assert told(machine(*GUARDED), Guarded(at_ms=4_000, on=False)) == []  # nothing had come


# ---------------------------------------------------------------- a person


def test_words_that_hand_over_are_not_held_up_by_the_caller() -> None:
    turns = machine(*GIVING_UP)
    assert told(turns, CallerBegan(at_ms=2_500), CallerGoes(at_ms=3_500, voiced_ms=900), *heard(3_800)) == []
    assert turns.state is State.SPEAKING
    turns = machine(*LISTENING, CallerBegan(at_ms=1_500), PersonAsked(at_ms=2_000))
    assert told(turns, ReplyBegan(at_ms=2_000), CallerEnded(at_ms=2_200), CallerBegan(at_ms=2_300)) == []
    assert turns.state is State.THINKING


def test_a_reply_that_waits_for_the_caller_and_turns_out_to_hand_over_waits_no_more() -> None:
    turns = machine(*THINKING, CallerBegan(at_ms=2_100))
    assert turns.state is State.PAUSED
    assert told(turns, Committed(at_ms=2_300)) == [RESUME]


def test_a_transfer_that_is_accepted_ends_the_call() -> None:
    assert told(machine(*TRANSFERRING), TransferEnded(at_ms=9_000, accepted=True)) == [Finish(reason="transferred")]


def test_a_transfer_that_fails_starts_anew_with_all_patience() -> None:
    turns = machine(*TRANSFERRING, TransferEnded(at_ms=9_000, accepted=False), ReplyBegan(at_ms=9_000))
    assert told(turns, Said(at_ms=9_500)) == [DISCARD, ANSWER]
    turns = machine(*TRANSFERRING)
    turns.silences, turns.unclears = 2, 2
    assert told(turns, TransferEnded(at_ms=9_000, accepted=False)) == [Command.TRANSFER_FAILED]
    assert told(turns, ReplyBegan(at_ms=9_000), Sounding(at_ms=9_100), Finished(at_ms=15_000)) == []
    assert told(turns, Tick(at_ms=22_000)) == [REPROMPT]
    assert told(turns, PersonAsked(at_ms=22_100)) == [GiveUp(reason="asked")]


def test_a_transfer_that_nobody_reports_on_has_failed() -> None:
    turns = machine(*TRANSFERRING)
    assert turns.deadline_ms() == 4_000 + 45_000
    assert told(turns, Tick(at_ms=49_000)) == [Command.TRANSFER_FAILED]


def test_news_of_a_transfer_that_is_not_under_way_is_nothing() -> None:
    for accepted in (True, False):
        assert told(machine(*SPEAKING), TransferEnded(at_ms=3_000, accepted=accepted)) == []


def test_nothing_that_breaks_while_a_person_is_called_stops_that() -> None:
    turns = machine(*TRANSFERRING)
    broken = [event for at_ms in (5_000, 6_000, 7_000) for event in noise(at_ms, 900, broken=True)]
    assert told(turns, *broken, Failed(at_ms=8_000), Failed(at_ms=8_000, deaf=True), Finished(at_ms=8_500)) == []
    assert turns.state is State.TRANSFERRING


def test_a_hand_over_that_never_came_leaves_the_call_alive() -> None:
    turns = machine(*GIVING_UP, Finished(at_ms=4_000))
    assert told(turns, *heard(5_000)) == [ANSWER]


# ---------------------------------------------------------------- our failures


@pytest.mark.parametrize("before", ["thinking", "speaking", "guarded", "paused", "held"])
def test_a_reply_that_breaks_is_a_person(before: str) -> None:
    assert told(machine(*EVERY_STATE[before]), Failed(at_ms=5_000)) == [DISCARD, GiveUp(reason="failure")]


def test_even_the_words_of_the_hand_over_break() -> None:
    assert told(machine(*GIVING_UP), Failed(at_ms=2_500)) == [Finish(reason="failure")]


def test_a_line_that_goes_deaf_does_not_cut_the_words_of_the_hand_over() -> None:
    assert told(machine(*GIVING_UP), Failed(at_ms=2_500, deaf=True)) == []


def test_a_line_that_goes_deaf_while_the_caller_speaks_never_waits_for_them() -> None:
    turns = machine(*PAUSED, CallerEnded(at_ms=4_500), CallerBegan(at_ms=4_600))
    assert told(turns, Failed(at_ms=5_000, deaf=True)) == [DISCARD, GiveUp(reason="failure")]
    assert told(turns, ReplyBegan(at_ms=5_000)) == []
    turns = machine(*LISTENING, CallerBegan(at_ms=1_500), Failed(at_ms=2_000, deaf=True))
    assert told(turns, ReplyBegan(at_ms=2_000), Transferring(at_ms=4_000), TransferEnded(at_ms=9_000, accepted=False)) == [
        Command.TRANSFER_FAILED
    ]
    assert told(turns, ReplyBegan(at_ms=9_000), Finished(at_ms=12_000), Tick(at_ms=19_000)) == [REPROMPT]


def test_a_recogniser_that_breaks_twice_is_a_person() -> None:
    turns = machine(*LISTENING)
    assert told(turns, *noise(2_000, broken=True)) == [NOT_UNDERSTOOD]
    told(turns, ReplyBegan(at_ms=2_100), Sounding(at_ms=2_200), Finished(at_ms=4_000))
    assert told(turns, *noise(6_000, broken=True)) == [GiveUp(reason="failure")]
    turns = machine(*SPEAKING)
    assert told(turns, *noise(3_000, broken=True)) == []  # nobody was asked anything
    assert told(turns, *noise(4_000, broken=True)) == [DISCARD, GiveUp(reason="failure")]


def test_words_forgive_what_was_unclear_before() -> None:
    turns = machine(*LISTENING, *noise(2_000, 900), *heard(4_000))
    assert (turns.unclears, turns.silences) == (0, 0)


def test_a_decode_that_never_comes_back_counts_as_broken_and_its_late_words_are_still_answered() -> None:
    turns = machine(*LISTENING, CallerEnded(at_ms=2_000), CallerEnded(at_ms=3_000))
    assert turns.deadline_ms() == 12_000
    assert told(turns, Tick(at_ms=12_000)) == [NOT_UNDERSTOOD]
    told(turns, ReplyBegan(at_ms=12_000))
    assert told(turns, Said(at_ms=12_500, ended_ms=2_000)) == [DISCARD, ANSWER]
    assert turns.deadline_ms() == 13_000  # the other one is still awaited


# ---------------------------------------------------------------- silence and unclear speech


def test_silence_is_asked_about_twice_and_then_a_person() -> None:
    turns, at_ms, orders = machine(*LISTENING), 1_000, []
    for _ in range(3):
        at_ms += 7_000
        orders += told(turns, Tick(at_ms=at_ms - 1), Tick(at_ms=at_ms), ReplyBegan(at_ms=at_ms))
        at_ms += 2_000
        told(turns, Sounding(at_ms=at_ms - 1_900), Finished(at_ms=at_ms))
    assert orders == [REPROMPT, REPROMPT, GiveUp(reason="silence")]


def test_who_speaks_or_is_being_decoded_is_not_silent() -> None:
    turns = machine(*LISTENING, CallerBegan(at_ms=7_900))
    assert told(turns, Tick(at_ms=8_000), Tick(at_ms=12_000)) == []
    assert told(turns, CallerEnded(at_ms=12_500), Tick(at_ms=13_000)) == []
    assert turns.deadline_ms() == 22_500


def test_a_cough_leaves_the_silence_running_and_unclear_speech_is_asked_again() -> None:
    turns = machine(*LISTENING)
    assert told(turns, CallerBegan(at_ms=3_000), *noise(3_500, 399)) == []
    assert turns.deadline_ms() == 8_000
    assert told(turns, *noise(4_000, 400)) == [NOT_UNDERSTOOD]


def test_unclear_speech_is_asked_again_twice_and_then_a_person() -> None:
    turns, orders = machine(*LISTENING), []
    for at_ms in (2_000, 6_000, 10_000):
        orders += told(turns, *noise(at_ms, 900))
        told(turns, ReplyBegan(at_ms=at_ms + 100), Sounding(at_ms=at_ms + 200), Finished(at_ms=at_ms + 2_000))
    assert orders == [NOT_UNDERSTOOD, NOT_UNDERSTOOD, GiveUp(reason="unclear")]


def test_unclear_speech_under_a_reply_is_nothing() -> None:
    assert told(machine(*SPEAKING), *noise(3_000, 300)) == []
    assert told(machine(*HELD), *noise(3_500, 900)) == []
    assert told(machine(*LISTENING), Missed(at_ms=2_000, voiced_ms=900)) == [NOT_UNDERSTOOD]  # whose start was lost


# ---------------------------------------------------------------- the bot is slow


def test_a_slow_reply_is_announced_once_and_then_given_up() -> None:
    turns = machine(*THINKING)
    assert turns.deadline_ms() == 3_200
    assert told(turns, Tick(at_ms=3_199), Tick(at_ms=3_200)) == [FILL]
    assert turns.deadline_ms(last_frame_ms=4_000) == 6_500  # the filler sounded until then
    assert told(turns, Tick(at_ms=6_500, last_frame_ms=4_000)) == [DISCARD, GiveUp(reason="failure")]


def test_a_gap_inside_a_reply_is_announced_too() -> None:
    turns = machine(*SPEAKING)
    assert told(turns, Tick(at_ms=4_000, last_frame_ms=3_500)) == []
    assert told(turns, Tick(at_ms=4_500, last_frame_ms=3_500)) == [FILL]


def test_without_sound_a_reply_is_given_its_time_from_its_first_words() -> None:
    turns = machine(*THINKING, Sounding(at_ms=3_100))
    assert turns.deadline_ms(last_frame_ms=None) == 4_100


def test_words_of_the_hand_over_that_never_sound_are_left_out() -> None:
    turns = machine(*GIVING_UP[:-1])
    assert told(turns, Tick(at_ms=3_200)) == [FILL]
    assert told(turns, Tick(at_ms=4_500)) == [Finish(reason="failure")]


def test_what_sounds_of_a_dropped_reply_is_nothing() -> None:
    turns = machine(*LISTENING)
    assert told(turns, Sounding(at_ms=2_000)) == []
    assert turns.state is State.LISTENING


# ---------------------------------------------------------------- hold


def test_a_held_line_stops_all_clocks_but_the_calls() -> None:
    turns = machine(*SPEAKING)
    assert told(turns, HoldBegan(at_ms=3_000), HoldBegan(at_ms=3_100)) == [PAUSE]
    assert turns.deadline_ms(last_frame_ms=3_000) == turns.settings.max_call_ms
    assert told(turns, HoldEnded(at_ms=63_000), HoldEnded(at_ms=63_100)) == [RESUME]
    assert turns.state is State.SPEAKING
    assert turns.deadline_ms(last_frame_ms=3_000) == 64_000


@pytest.mark.parametrize(
    ("before", "after"),
    [(LISTENING, State.LISTENING), (THINKING, State.THINKING), (SPEAKING, State.SPEAKING), (PAUSED, State.PAUSED)],
)
def test_what_was_going_on_goes_on_after_a_hold(before: tuple[TurnEvent, ...], after: State) -> None:
    turns = machine(*before, HoldBegan(at_ms=5_000), HoldEnded(at_ms=9_000))
    assert turns.state is after


def test_a_hold_during_the_label_does_not_make_it_interruptible() -> None:
    turns = machine(*GUARDED)
    assert told(turns, HoldBegan(at_ms=2_500), Said(at_ms=3_000), HoldEnded(at_ms=9_000)) == [PAUSE, RESUME]
    assert told(turns, *heard(9_500)) == [KEEP]


def test_a_reply_begun_on_hold_waits_for_its_end() -> None:
    turns = machine(*LISTENING, HoldBegan(at_ms=2_000))
    assert told(turns, PersonAsked(at_ms=2_500), ReplyBegan(at_ms=2_500)) == [GiveUp(reason="asked"), PAUSE]
    assert told(turns, HoldEnded(at_ms=60_000)) == [RESUME]
    assert turns.state is State.THINKING


def test_words_that_wait_are_not_lost_over_a_hold() -> None:
    waiting = (*GUARDED, Said(at_ms=2_900), HoldBegan(at_ms=3_000))
    turns = machine(*waiting, Guarded(at_ms=3_000, on=False))
    assert told(turns, HoldEnded(at_ms=9_000)) == [DISCARD, ANSWER]
    turns = machine(*waiting, Finished(at_ms=3_000))
    assert told(turns, HoldEnded(at_ms=9_000)) == [ANSWER]
    turns = machine(*GUARDED, PersonAsked(at_ms=2_900), HoldBegan(at_ms=3_000), Finished(at_ms=3_000))
    assert told(turns, HoldEnded(at_ms=9_000)) == [GiveUp(reason="asked")]


def test_a_transfer_is_not_held() -> None:
    turns = machine(*TRANSFERRING)
    assert told(turns, HoldBegan(at_ms=5_000), HoldEnded(at_ms=9_000)) == []
    assert turns.state is State.TRANSFERRING


def test_a_caller_who_speaks_as_the_hold_ends_is_waited_for() -> None:
    turns = machine(*HELD, CallerBegan(at_ms=8_900))
    assert told(turns, HoldEnded(at_ms=9_000)) == []
    assert told(turns, *noise(9_500)) == [RESUME]


# ---------------------------------------------------------------- the call's length


@pytest.mark.parametrize(
    ("before", "orders"),
    [
        ("listening", [GiveUp(reason="time_up")]),
        ("speaking", [DISCARD, GiveUp(reason="time_up")]),
        ("held", [DISCARD, GiveUp(reason="time_up")]),
        ("giving up", []),
        ("transferring", []),
    ],
)
def test_a_call_whose_time_is_up_gets_a_person_or_the_time_to_reach_one(before: str, orders: list[Order]) -> None:
    turns = machine(*EVERY_STATE[before], max_call_ms=4_500)
    assert turns.deadline_ms(last_frame_ms=4_400) == 4_500
    assert told(turns, Tick(at_ms=4_500, last_frame_ms=4_400)) == orders
    assert turns.state is not State.ENDED
    late = told(turns, *[Tick(at_ms=49_500, last_frame_ms=49_400)] * 4)
    assert late[-1] == Finish(reason="time_up")


def test_a_slow_sentence_does_not_end_a_call_whose_time_is_up() -> None:
    turns = machine(*LISTENING, max_call_ms=4_000)
    assert told(turns, Tick(at_ms=4_000), ReplyBegan(at_ms=4_000)) == [GiveUp(reason="time_up")]
    assert told(turns, Tick(at_ms=5_200)) == [FILL]


def test_after_its_time_a_call_is_not_given_up_twice() -> None:
    turns = machine(*LISTENING, max_call_ms=4_000)
    told(turns, Tick(at_ms=4_000), ReplyBegan(at_ms=4_000), Transferring(at_ms=8_000))
    assert told(turns, TransferEnded(at_ms=20_000, accepted=False)) == [Command.TRANSFER_FAILED]
    told(turns, ReplyBegan(at_ms=20_000), Sounding(at_ms=20_100), Finished(at_ms=26_000))
    assert told(turns, Tick(at_ms=33_000), ReplyBegan(at_ms=33_000), Finished(at_ms=43_000)) == [REPROMPT]
    assert told(turns, Tick(at_ms=49_000)) == [Finish(reason="time_up")]


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("wrong", "told_as"),
    [
        ({"pause_after_ms": 0}, "pause_after_ms must be at least 1"),
        ({"no_input_ms": 0}, "no_input_ms must be at least 1"),
        ({"reprompts": -1}, "reprompts must be at least 0"),
        ({"cancel_after_ms": 200}, "pause_after_ms < cancel_after_ms"),
        ({"edge_cancel_after_ms": 300}, "cancel_after_ms ≤ edge_cancel_after_ms"),
        ({"filler_after_ms": 2_500}, "must lie below thinking_limit_ms"),
        ({"speaking_gap_ms": 3_000}, "must lie below thinking_limit_ms"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, int], told_as: str) -> None:
    with pytest.raises(ValueError, match=told_as):
        TurnSettings(**wrong)


def test_no_patience_at_all_is_allowed() -> None:
    turns = machine(*LISTENING, reprompts=0, unclear_limit=0)
    assert told(turns, *noise(2_000, 900)) == [GiveUp(reason="unclear")]
    assert told(machine(*LISTENING, reprompts=0), Tick(at_ms=8_000)) == [GiveUp(reason="silence")]
