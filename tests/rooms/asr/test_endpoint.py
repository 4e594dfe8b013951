"""Endpointing, as windows of probability: when a turn opens, how long it waits, and that every opening has one end."""

import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.endpoint import Closed, Decision, Endpointer, Going, Opened, Paused, Resumed
from asr.types import EndpointSettings, Slot

WINDOW_MS = 32
SETTINGS = EndpointSettings()


class Caller:
    """Speaks and is silent, window by window."""

    def __init__(self, settings: EndpointSettings = SETTINGS) -> None:
        self.ends = Endpointer(settings)
        self.at_ms = 0

    def feed(self, probabilities: Iterable[float]) -> list[Decision]:
        said = []
        for probability in probabilities:
            self.at_ms += WINDOW_MS
            said += self.ends.feed(probability, self.at_ms, WINDOW_MS)
        return said

    def speaks(self, ms: int) -> list[Decision]:
        return self.feed([0.9] * (ms // WINDOW_MS))

    def is_silent(self, ms: int) -> list[Decision]:
        return self.feed([0.05] * (ms // WINDOW_MS))

    def silence_until_closed(self) -> int:
        """How long a silence this turn allows."""
        for windows in range(1, 200):
            if any(isinstance(decision, Closed) for decision in self.is_silent(WINDOW_MS)):
                return windows * WINDOW_MS
        raise AssertionError("never closed")


def about(ms: int) -> set[int]:
    """The first window's end at or after this."""
    return {-(-ms // WINDOW_MS) * WINDOW_MS}


def kinds(decisions: list[Decision]) -> list[type]:
    return [type(decision) for decision in decisions if not isinstance(decision, Going)]


def test_a_sentence_opens_pauses_and_closes() -> None:
    caller = Caller()
    caller.is_silent(320)
    assert caller.speaks(960)[0] == Opened(start_ms=320)
    assert not caller.is_silent(160)
    assert caller.is_silent(64) == [Paused(speech_end_ms=1280, voiced_ms=960)]
    assert caller.ends.is_open
    assert caller.is_silent(640) == [Closed(start_ms=320, speech_end_ms=1280, vad_end_ms=1312, voiced_ms=960)]
    assert not caller.ends.is_open


def test_a_click_opens_nothing() -> None:
    caller = Caller()
    assert not caller.feed([0.9, 0.9, 0.1, 0.9, 0.1])


def test_a_drop_above_the_lower_threshold_is_still_the_same_word() -> None:
    caller = Caller()
    assert kinds(caller.feed([0.6, 0.4, 0.4])) == [Opened]
    assert kinds(Caller().feed([0.4] * 20)) == []


def test_a_short_pause_does_not_end_the_turn() -> None:
    caller = Caller()
    caller.speaks(640)
    assert kinds(caller.is_silent(320)) == [Paused]
    assert kinds(caller.speaks(640)) == [Resumed]
    closed = [decision for decision in caller.is_silent(800) if isinstance(decision, Closed)]
    assert [(turn.start_ms, turn.voiced_ms) for turn in closed] == [(0, 1280)]


def test_clicks_in_the_pause_do_not_keep_the_turn_open() -> None:
    caller = Caller()
    caller.speaks(640)
    decisions = caller.feed([0.05] * 8 + [0.9] + [0.05] * 8 + [0.9] + [0.05] * 8)
    assert kinds(decisions) == [Paused, Closed]


def test_the_turn_may_close_on_a_click() -> None:
    caller = Caller()
    caller.speaks(640)
    assert kinds(caller.feed([0.05] * 19 + [0.9])) == [Paused, Closed]


@pytest.mark.parametrize(
    ("complete", "dictating", "slot", "wait_ms"),
    [
        (True, False, Slot.NONE, SETTINGS.complete_silence_ms),
        (None, False, Slot.NONE, SETTINGS.silence_ms),
        (False, False, Slot.NONE, SETTINGS.incomplete_silence_ms),
        (False, True, Slot.NONE, SETTINGS.dictation_silence_ms),
        (False, True, Slot.MOBILE, SETTINGS.slot_silence_ms),
        (True, False, Slot.MOBILE, SETTINGS.complete_silence_ms),
        (None, False, Slot.ID_CARD, SETTINGS.silence_ms),
    ],
)
def test_the_wait_follows_the_words(complete: bool | None, dictating: bool, slot: Slot, wait_ms: int) -> None:
    caller = Caller()
    caller.ends.expect(slot)
    caller.speaks(640)
    caller.is_silent(224)
    assert caller.ends.note_text(complete=complete, dictating=dictating) == []
    assert {caller.silence_until_closed() + 224} == about(wait_ms)


def test_words_that_come_late_close_a_turn_that_was_silent_long_enough() -> None:
    caller = Caller()
    caller.speaks(640)
    caller.is_silent(224)
    caller.ends.await_text()
    assert not caller.is_silent(608)  # longer than without words under way
    assert kinds(caller.ends.note_text(complete=True, dictating=False)) == [Closed]


def test_words_that_never_come_are_not_waited_for_for_ever() -> None:
    caller = Caller()
    caller.speaks(640)
    caller.is_silent(224)
    caller.ends.await_text()
    assert {caller.silence_until_closed() + 224} == about(SETTINGS.incomplete_silence_ms)


def test_while_a_number_is_asked_for_silence_waits_for_the_words() -> None:
    caller = Caller()
    caller.ends.expect(Slot.MOBILE)
    caller.speaks(640)
    assert {caller.silence_until_closed()} == about(SETTINGS.slot_silence_ms)


def test_what_was_said_before_the_pause_does_not_judge_what_came_after() -> None:
    caller = Caller()
    caller.speaks(640)
    caller.is_silent(224)
    caller.ends.note_text(complete=True, dictating=False)
    caller.speaks(320)
    assert {caller.silence_until_closed()} == about(SETTINGS.silence_ms)


def test_a_turn_without_end_is_cut() -> None:
    caller = Caller(EndpointSettings(max_turn_ms=2000))
    decisions = caller.speaks(5000)
    assert kinds(decisions) == [Opened, Closed, Opened, Closed, Opened]
    cut = next(decision for decision in decisions if isinstance(decision, Closed))
    assert cut.forced
    assert cut.speech_end_ms == cut.vad_end_ms == 2016


def test_the_calls_end_closes_a_running_turn_once() -> None:
    caller = Caller()
    assert caller.ends.finish() == []
    caller.speaks(640)
    assert kinds(caller.ends.finish()) == [Closed]
    assert caller.ends.finish() == []


def test_words_for_a_turn_that_is_over_change_nothing() -> None:
    caller = Caller()
    caller.ends.await_text()
    assert caller.ends.note_text(complete=True, dictating=False) == []


def test_a_probability_that_is_no_number_is_silence() -> None:
    assert not Caller().feed([float("nan")] * 20)


SPOKEN = st.one_of(st.floats(0, 1), st.sampled_from([0.9, 0.9, 0.9, 0.05, 0.05, 0.05]))
KNOWN = st.sampled_from(["complete", "open", "digits", "await", Slot.MOBILE, Slot.NONE])


@given(st.lists(st.one_of(SPOKEN, SPOKEN, KNOWN), max_size=400))
def test_every_opening_has_exactly_one_end_and_positions_never_run_back(windows: list[float | str | Slot]) -> None:
    caller = Caller(EndpointSettings(max_turn_ms=4000))
    decisions: list[Decision] = []
    for window in windows:
        match window:
            case Slot():
                caller.ends.expect(window)
            case "await":
                caller.ends.await_text()
            case str():
                decisions += caller.ends.note_text(complete=window == "complete", dictating=window == "digits")
            case _:
                decisions += caller.feed([window])
    decisions += caller.ends.finish()
    order = {Opened: "o", Going: "g", Paused: "p", Resumed: "r", Closed: "c"}
    assert re.fullmatch(r"(og*(prg*)*p?c)*", "".join(order[type(decision)] for decision in decisions))
    last_end_ms = 0
    for turn in (decision for decision in decisions if isinstance(decision, Closed)):
        assert last_end_ms <= turn.start_ms < turn.speech_end_ms <= caller.at_ms
        assert 0 < turn.voiced_ms <= turn.speech_end_ms - turn.start_ms
        last_end_ms = turn.speech_end_ms
