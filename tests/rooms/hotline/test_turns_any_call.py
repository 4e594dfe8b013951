"""The turn machine under any sequence of events: it never raises, hangs or spins, and loses no words of a caller."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from hotline.turn_events import (
    CallerBegan,
    CallerDone,
    CallerEnded,
    CallerGoes,
    Command,
    Committed,
    Failed,
    Finished,
    GiveUp,
    Gone,
    Guarded,
    HoldBegan,
    HoldEnded,
    KeyPressed,
    Missed,
    PersonAsked,
    Rate,
    ReplyBegan,
    Said,
    Sounding,
    Tick,
    TransferEnded,
    Transferring,
    TurnEvent,
)
from hotline.turns import State, TurnMachine, TurnSettings

AT_ONCE = 6  # timers that may be due at the same moment

# ---------------------------------------------------------------- events that no call would send

step_ms = st.integers(0, 20_000)
pending = st.one_of(st.none(), st.integers(0, 20_000))
events = st.one_of(
    st.builds(CallerBegan, at_ms=step_ms),
    st.builds(CallerGoes, at_ms=step_ms, voiced_ms=st.integers(0, 2_000), edge=st.booleans()),
    st.builds(CallerEnded, at_ms=step_ms),
    st.builds(Said, at_ms=step_ms, backchannel=st.booleans(), ended_ms=pending, grade=st.none() | st.integers(0, 5)),
    st.builds(KeyPressed, at_ms=step_ms, digit=st.sampled_from("123456789*#")),
    st.builds(Missed, at_ms=step_ms, voiced_ms=st.integers(0, 2_000), broken=st.booleans(), ended_ms=pending),
    *(st.builds(kind, at_ms=step_ms) for kind in (ReplyBegan, Committed, PersonAsked, Sounding, Finished, Transferring)),
    *(st.builds(kind, at_ms=step_ms) for kind in (CallerDone, HoldBegan, HoldEnded)),
    st.builds(Failed, at_ms=step_ms, deaf=st.booleans()),
    st.builds(Guarded, at_ms=step_ms, on=st.booleans()),
    st.builds(TransferEnded, at_ms=step_ms, accepted=st.booleans()),
    st.builds(Tick, at_ms=step_ms, last_frame_ms=st.one_of(st.none(), step_ms)),
)


def moved(event: TurnEvent, now_ms: int) -> TurnEvent:
    """The same event, as long after now as it was after nothing."""
    return type(event)(**{name: getattr(event, name) for name in event.__slots__} | {"at_ms": now_ms + event.at_ms})


@given(st.lists(events, max_size=60))
def test_no_sequence_of_events_raises_or_makes_the_clock_spin(sequence: list[TurnEvent]) -> None:
    turns, now_ms = TurnMachine(TurnSettings()), 0
    for each in sequence:
        event = moved(each, now_ms)
        now_ms = event.at_ms
        turns.feed(event)
        due_ms = max(now_ms, turns.deadline_ms())
        ahead = TurnMachine(turns.settings)
        ahead.__dict__.update(turns.__dict__)  # look ahead without touching what is under test
        ahead._reply = None
        ahead.grading = replace(turns.grading)
        ahead._decodes_since_ms = list(turns._decodes_since_ms)
        for _ in range(AT_ONCE + len(ahead._decodes_since_ms)):
            if ahead.state is State.ENDED or ahead.deadline_ms() > due_ms:
                break
            ahead.feed(Tick(at_ms=due_ms))
        else:
            raise AssertionError(f"{ahead.state} is due again and again")


@given(st.lists(events, max_size=30), st.lists(events, max_size=30))
def test_what_has_ended_stays_so(before: list[TurnEvent], after: list[TurnEvent]) -> None:
    turns = TurnMachine(TurnSettings())
    for event in before:
        turns.feed(event)
    turns.feed(Gone(at_ms=20_000, reason="hangup"))
    assert [turns.feed(event) for event in after] == [[]] * len(after)
    assert turns.state is State.ENDED


# ---------------------------------------------------------------- a call that obeys


@dataclass
class ObedientCall:
    """Does what the machine orders, and only what a call can do; checks it at every step."""

    turns: TurnMachine = field(default_factory=lambda: TurnMachine(TurnSettings(max_call_ms=600_000)))
    now_ms: int = 0
    last_frame_ms: int | None = None
    reply: str = ""  # "", or what it ends with: "talk", "person", "goodbye"
    grades: list[int] = field(default_factory=list)
    sounding: bool = False
    guarded: bool = False
    paused: bool = False
    held: bool = False
    speaks: bool = False
    deaf: bool = False
    decoding: list[int] = field(default_factory=list)
    open_words: int = 0
    said_now: int = 0
    given_up: int = 0
    ended: bool = False

    def feed(self, event: TurnEvent) -> None:
        """One event, and obedience."""
        if self.ended:
            return
        for order in self.turns.feed(event):
            if isinstance(order, Command):
                self.obey(order)
            elif isinstance(order, GiveUp):
                self.given_up += 1
                assert self.given_up <= 1, "gave up twice"
                self.open_words = self.said_now = 0
                self.begin("person")
            elif isinstance(order, Rate):
                self.grades.append(order.grade)
                assert len(self.grades) == 1, "graded twice"
            else:
                self.ended = True
        if self.reply and not self.ended:
            assert self.paused == (self.turns.state in {State.PAUSED, State.HOLDING}), (self.paused, self.turns.state)

    def obey(self, order: Command) -> None:
        match order:
            case Command.PAUSE | Command.RESUME:
                self.paused = order is Command.PAUSE
            case Command.DISCARD:
                self.drop()
            case Command.ANSWER:
                assert self.open_words + self.said_now > 0, "answers what nobody said"
                self.open_words = self.said_now = 0
                self.begin("talk")
            case Command.KEEP:
                assert self.guarded
            case Command.CUT:
                assert self.paused
            case Command.FILL:
                self.last_frame_ms = self.now_ms
            case _:
                assert order is not Command.REPROMPT or not (self.speaks or self.held), "asks who speaks whether they are there"
                self.begin("goodbye" if order is Command.FAREWELL else "talk")

    def begin(self, ends_with: str) -> None:
        assert not self.reply, "a reply over a reply"
        self.reply, self.sounding, self.guarded, self.paused = ends_with, False, False, False
        self.feed(ReplyBegan(at_ms=self.now_ms))

    def drop(self) -> None:
        self.reply, self.sounding, self.guarded, self.paused = "", False, False, False

    # ------------------------------------------------------------ what may happen

    def speak(self) -> None:
        if not self.speaks and not self.deaf:
            self.speaks = True
            self.feed(CallerBegan(at_ms=self.now_ms))

    def go_on(self) -> None:
        if self.speaks:
            self.feed(CallerGoes(at_ms=self.now_ms, voiced_ms=300))
            self.feed(CallerGoes(at_ms=self.now_ms, voiced_ms=800))

    def stop(self) -> None:
        if self.speaks:
            self.speaks = False
            self.decoding.append(self.now_ms)
            self.feed(CallerEnded(at_ms=self.now_ms))

    def words(self, *, backchannel: bool = False) -> None:
        if self.decoding:
            self.say(self.decoding.pop(0), backchannel=backchannel)

    def uh_huh(self) -> None:
        self.words(backchannel=True)

    def typed(self) -> None:
        self.say(None)

    def graded(self) -> None:
        if not self.turns.grading.is_open:
            return
        self.feed(Said(at_ms=self.now_ms, grade=4))

    def key_5(self) -> None:
        self.feed(KeyPressed(at_ms=self.now_ms, digit="5"))

    def key_9(self) -> None:
        self.feed(KeyPressed(at_ms=self.now_ms, digit="9"))

    def take_leave(self) -> None:
        """What is being said turns out to be a goodbye."""
        if self.reply == "talk":
            self.reply = "goodbye"

    def say(self, ended_ms: int | None, *, backchannel: bool = False) -> None:
        counts = not self.turns._giving_up and not self.held
        counts = counts and (not backchannel or self.turns.state is State.LISTENING)
        self.said_now = int(counts)
        self.feed(Said(at_ms=self.now_ms, ended_ms=ended_ms, backchannel=backchannel))
        self.open_words += self.said_now
        self.said_now = 0

    def nothing(self) -> None:
        if self.decoding:
            self.feed(Missed(at_ms=self.now_ms, ended_ms=self.decoding.pop(), voiced_ms=900))

    def broken(self) -> None:
        if self.decoding:
            self.feed(Missed(at_ms=self.now_ms, ended_ms=self.decoding.pop(0), broken=True))

    def go_deaf(self) -> None:
        self.deaf, self.speaks = True, False
        self.decoding.clear()
        self.feed(Failed(at_ms=self.now_ms, deaf=True))

    def sound(self) -> None:
        if self.reply and not self.paused and not self.sounding:
            self.sounding, self.last_frame_ms = True, self.now_ms
            if self.reply == "person":
                self.feed(Committed(at_ms=self.now_ms))
            self.feed(Sounding(at_ms=self.now_ms))

    def guard(self) -> None:
        if self.reply and not self.paused:
            self.guarded = not self.guarded
            self.feed(Guarded(at_ms=self.now_ms, on=self.guarded))

    def commit(self) -> None:
        if self.reply == "talk":
            self.reply, self.open_words = "person", 0
            self.feed(Committed(at_ms=self.now_ms))

    def finish(self) -> None:
        if self.reply and not self.paused:
            self.sound()
            happened = {"person": Transferring, "goodbye": CallerDone}.get(self.reply, Finished)
            if self.reply == "goodbye":
                self.open_words = 0  # said over a goodbye
            self.drop()
            self.feed(happened(at_ms=self.now_ms))

    def fail(self) -> None:
        if self.reply:
            self.feed(Failed(at_ms=self.now_ms))

    def hold(self) -> None:
        self.held = self.turns.state is not State.TRANSFERRING
        self.feed(HoldBegan(at_ms=self.now_ms))

    def unhold(self) -> None:
        self.held = False
        self.feed(HoldEnded(at_ms=self.now_ms))

    def key_0(self) -> None:
        self.feed(PersonAsked(at_ms=self.now_ms))

    def no_person(self) -> None:
        if self.turns.state is State.TRANSFERRING:
            self.given_up = 0
            self.feed(TransferEnded(at_ms=self.now_ms, accepted=False))

    def wait(self, ms: int) -> None:
        """Time passes; due timers act, once each."""
        until_ms = self.now_ms + ms
        while not self.ended and (due_ms := self.turns.deadline_ms(self.last_frame_ms)) <= until_ms:
            assert due_ms >= self.now_ms, "a deadline in the past"
            self.now_ms = due_ms
            if self.turns.state is State.TRANSFERRING:
                self.given_up = 0  # this tick may be the transfer's own
            self.feed(Tick(at_ms=due_ms, last_frame_ms=self.last_frame_ms))
        self.now_ms = until_ms

    def settle(self) -> None:
        """Everything that is under way comes to its end."""
        self.unhold()
        self.stop()
        while self.decoding:
            self.nothing()


# single acts, and those that often come together: what a caller and a bot do in most calls
MOVES = (
    *("speak", "go_on", "stop", "words", "uh_huh", "typed", "nothing", "broken", "go_deaf"),
    *("sound", "guard", "commit", "finish", "fail", "hold", "unhold", "key_0", "no_person"),
    *("speak go_on", "speak go_on stop words", "speak go_on stop nothing", "speak stop uh_huh", "guard sound", "sound finish"),
    *("take_leave finish", "take_leave finish key_5", "take_leave finish graded", "take_leave finish key_9", "key_5", "graded"),
    *("key_0 sound", "commit speak", "guard typed", "guard key_0", "finish no_person", "hold key_0", "speak stop speak"),
)
moves = st.lists(st.tuples(st.sampled_from(MOVES), st.sampled_from((0, 0, 20, 400, 1_500, 9_000))), max_size=30)


def played(script: list[tuple[str, int]]) -> ObedientCall:
    """A greeted call in which this has happened."""
    call = ObedientCall()
    call.begin("talk")
    for acts, then_ms in script:
        for act in acts.split():
            getattr(call, act)()
        call.wait(then_ms)
    return call


@settings(max_examples=600)
@given(moves)
def test_a_call_that_obeys_never_hangs_and_answers_what_was_said(script: list[tuple[str, int]]) -> None:
    call = played(script)
    call.settle()
    if call.ended:
        return
    assert call.turns.state is not State.PAUSED
    call.finish()  # of whatever reply was in hand
    assert call.open_words == 0, "words were lost"


@settings(max_examples=200)
@given(moves)
def test_an_abandoned_call_ends_by_itself(script: list[tuple[str, int]]) -> None:
    call = played(script)
    call.wait(1_300_000)
    assert call.ended
