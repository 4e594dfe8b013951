"""The call's mouth: 20 ms frames on the clock, silence at the sample, and an honest account of what was heard."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotline.clock import CallClock
from hotline.lines import BotAudio, BotEvent, CallStart, Clear, LineEvent, Mark
from hotline.playout import Clip, Played, Playout, PlayoutEvents
from hotline.sound.codec import Codec, decode
from tests.clock import run_virtually

RATE_HZ = 8000
LOUDEST = 32_768
START = CallStart(call_id="c-1", codec=Codec.L16, rate_hz=RATE_HZ)
CLAUSES = ("您好，这里是热线。", "本次通话将被录音。", "请直接说出您的问题。")


@dataclass
class FarEnd:
    """Keeps what is sent, with its time. slow_ms: how long it takes over the n-th frame."""

    start: CallStart = START
    slow_ms: dict[int, int] = field(default_factory=dict)
    sent: list[tuple[int, BotEvent]] = field(default_factory=list)

    async def events(self) -> AsyncGenerator[LineEvent, None]:
        return
        yield

    async def send(self, event: BotEvent) -> None:
        if isinstance(event, BotAudio) and (ms := self.slow_ms.get(len(self.frames), 0)):
            await asyncio.sleep(ms / 1000)
        self.sent.append((round(asyncio.get_running_loop().time() * 1000), event))

    @property
    def frames(self) -> list[tuple[int, BotAudio]]:
        return [(at_ms, event) for at_ms, event in self.sent if isinstance(event, BotAudio)]

    @property
    def times(self) -> list[int]:
        return [at_ms for at_ms, _ in self.frames]

    @property
    def samples(self) -> list[int]:
        """Every sample that was sent, by its number; padding is left out."""
        sound = [decode(frame.payload, Codec.L16) for _, frame in self.frames]
        numbers = np.rint(np.concatenate(sound) * LOUDEST).astype(int) if sound else np.zeros(0, int)
        return [int(number) for number in numbers if number]

    def of(self, kind: type[BotEvent]) -> list[BotEvent]:
        return [event for _, event in self.sent if isinstance(event, kind)]


@dataclass
class Mouth:
    """A playout that runs, its far end, and what it told."""

    far: FarEnd
    playout: Playout
    news: list[tuple[str, object]]
    made: int = 0

    def clip(self, text: str, samples: int, reply_id: int = 1, *, protected: bool = False, filler: bool = False) -> Clip:
        """A clip whose samples are numbered on from the last one's."""
        numbers = (np.arange(self.made + 1, self.made + samples + 1) / LOUDEST).astype(np.float32)
        self.made += samples
        return Clip(reply_id=reply_id, text=text, samples=numbers, protected=protected, filler=filler)

    async def say(self, *clips: Clip, reply_id: int = 1) -> None:
        """A whole reply."""
        self.playout.open(reply_id)
        for clip in clips:
            await self.playout.add(clip)
        self.playout.close(reply_id)

    def finished(self) -> Played | None:
        return next((what for name, what in self.news if name == "finished" and isinstance(what, Played)), None)


def mouth(story: Callable[[Mouth], Awaitable[None]], *, far: FarEnd | None = None, run_ahead_ms: int = 6_000) -> Mouth:
    """Run a story on a playout, in virtual time."""

    async def tell() -> Mouth:
        line: FarEnd = far or FarEnd()
        news: list[tuple[str, object]] = []
        told = PlayoutEvents(
            sounding=lambda reply_id: news.append(("sounding", reply_id)),
            guarded=lambda reply_id, on: news.append(("guarded", (reply_id, on))),
            finished=lambda _reply_id, played: news.append(("finished", played)),
        )
        made = Mouth(far=line, playout=Playout(line, CallClock(), told, run_ahead_ms=run_ahead_ms), news=news)
        async with asyncio.TaskGroup() as tasks:
            pacing = tasks.create_task(made.playout.run())
            await asyncio.sleep(0)
            await story(made)
            pacing.cancel()
        return made

    return run_virtually(tell())


async def pass_ms(ms: int) -> None:
    await asyncio.sleep(ms / 1000)


# ---------------------------------------------------------------- pacing


def test_frames_leave_20_ms_apart_and_the_last_one_is_filled_up() -> None:
    async def story(m: Mouth) -> None:
        await m.say(m.clip("甲", 1_000))
        await pass_ms(500)

    m = mouth(story)
    assert m.far.times == [0, 20, 40, 60, 80, 100, 120]
    assert {len(frame.payload) for _, frame in m.far.frames} == {320}
    assert m.far.samples == list(range(1, 1_001))


def test_clips_follow_each_other_inside_a_frame() -> None:
    async def story(m: Mouth) -> None:
        await m.say(*(m.clip("甲", 100) for _ in range(8)))
        await pass_ms(200)

    m = mouth(story)
    assert m.far.times == [0, 20, 40, 60, 80]
    assert m.far.samples == list(range(1, 801))


@pytest.mark.parametrize(
    ("slow_ms", "times"),
    [
        ({2: 50}, [0, 20, 90, 90, 90, 100, 120]),  # two frames late: caught up
        ({2: 400}, [0, 20, 440, 440, 460, 480, 500]),  # too late: the schedule starts anew
        ({1: 19, 2: 19, 3: 19}, [0, 39, 59, 79, 80, 100, 120]),
    ],
)
def test_a_far_end_that_is_slow_is_caught_up_with_and_never_flooded(slow_ms: dict[int, int], times: list[int]) -> None:
    async def story(m: Mouth) -> None:
        await m.say(m.clip("甲", 7 * 160))
        await pass_ms(1_000)

    m = mouth(story, far=FarEnd(slow_ms=slow_ms))
    assert m.far.times == times
    assert m.far.samples == list(range(1, 7 * 160 + 1))


@pytest.mark.parametrize("gap_ms", [5, 19, 20, 55, 90, 300])
def test_a_clip_that_comes_late_is_neither_early_nor_a_burst(gap_ms: int) -> None:
    async def story(m: Mouth) -> None:
        m.playout.open(1)
        await m.playout.add(m.clip("甲", 160))
        await pass_ms(gap_ms)
        await m.playout.add(m.clip("乙", 480))
        await pass_ms(200)

    began_ms = max(20, gap_ms)
    assert mouth(story).far.times == [0, began_ms, began_ms + 20, began_ms + 40]


def test_a_new_reply_keeps_the_beat_of_the_one_that_was_dropped() -> None:
    async def story(m: Mouth) -> None:
        await m.say(m.clip("甲", 1_600))
        await pass_ms(65)
        await m.playout.drop()
        await m.say(m.clip("乙", 320, reply_id=2), reply_id=2)
        await pass_ms(200)

    assert mouth(story).far.times == [0, 20, 40, 60, 80, 100]


# ---------------------------------------------------------------- pause and drop


def test_a_pause_is_silence_at_once_and_goes_on_at_the_same_sample() -> None:
    async def story(m: Mouth) -> None:
        await m.say(m.clip("甲", 1_600))
        await pass_ms(50)
        await m.playout.pause()
        await m.playout.pause()  # once is enough
        await pass_ms(700)
        assert m.far.times[-1] == 40
        m.playout.resume()
        await pass_ms(300)

    m = mouth(story)
    assert m.far.times[3] == 750
    assert m.far.samples == list(range(1, 1_601))
    assert m.far.of(Clear) == [Clear(reply_id=1, reason="pause")]


def test_before_the_first_frame_there_is_nothing_to_clear() -> None:
    async def story(m: Mouth) -> None:
        await m.playout.pause()
        m.playout.open(1)
        await m.playout.pause()
        await m.playout.add(m.clip("甲", 320))
        await pass_ms(100)
        await m.playout.drop()

    m = mouth(story)
    assert m.far.sent == []
    assert m.news == []


def test_a_frame_on_its_way_when_the_pause_comes_is_cleared_too() -> None:
    async def story(m: Mouth) -> None:
        await m.say(m.clip("甲", 320))
        await pass_ms(5)
        await m.playout.pause("held")

    assert mouth(story, far=FarEnd(slow_ms={0: 30})).far.of(Clear) == [Clear(reply_id=1, reason="held")]


def test_a_dropped_reply_is_cleared_and_nothing_of_it_follows() -> None:
    async def story(m: Mouth) -> None:
        await m.say(*(m.clip("甲乙丙丁", 160) for _ in range(4)))
        await pass_ms(25)
        played = await m.playout.drop()
        assert played == Played(heard="甲乙丙丁甲乙丙丁", unheard="甲乙丙丁甲乙丙丁", cut_at_ms=40)
        await m.playout.add(m.clip("戊", 160))  # of the dropped reply: ignored
        m.playout.close(1)
        await pass_ms(100)
        assert await m.playout.drop() == Played(heard="", unheard="")

    m = mouth(story)
    assert isinstance(m.far.sent[-1][1], Clear)
    assert m.finished() is None


def test_a_reply_that_is_dropped_while_its_frame_leaves_marks_nothing() -> None:
    async def story(m: Mouth) -> None:
        await m.say(m.clip("甲", 160), m.clip("乙", 160))
        await pass_ms(5)
        await m.playout.drop()
        await pass_ms(100)

    assert mouth(story, far=FarEnd(slow_ms={0: 30})).far.of(Mark) == []


def test_a_paused_reply_that_is_dropped_was_cleared_already() -> None:
    async def story(m: Mouth) -> None:
        await m.say(m.clip("甲", 1_600))
        await pass_ms(50)
        await m.playout.pause()
        await m.playout.drop()
        await m.say(m.clip("乙", 160, reply_id=2), reply_id=2)  # what comes next is not paused
        await pass_ms(100)

    m = mouth(story)
    assert len(m.far.of(Clear)) == 1
    assert m.far.frames[-1][1].reply_id == 2


# ---------------------------------------------------------------- run-ahead


def test_making_runs_ahead_of_playing_by_a_bounded_time() -> None:
    added_ms: list[int] = []

    async def story(m: Mouth) -> None:
        m.playout.open(1)
        for _ in range(6):
            await m.playout.add(m.clip("甲", RATE_HZ // 2))
            added_ms.append(round(asyncio.get_running_loop().time() * 1000))
        await pass_ms(4_000)

    mouth(story, run_ahead_ms=1_000)
    assert added_ms == [0, 0, 480, 980, 1480, 1980]  # half a second each, one ahead of what sounds


def test_who_waits_for_room_is_let_go_when_the_reply_is_dropped() -> None:
    async def story(m: Mouth) -> None:
        m.playout.open(1)
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(m.playout.add(m.clip("甲", RATE_HZ)))
            await pass_ms(100)
            assert not waiting.done()
            await m.playout.drop()

    mouth(story, run_ahead_ms=200)


# ---------------------------------------------------------------- news


def test_each_clip_is_marked_when_it_is_over_and_the_reply_when_it_is() -> None:
    async def story(m: Mouth) -> None:
        await m.say(m.clip("甲", 200), m.clip("乙", 200))
        await pass_ms(100)

    m = mouth(story)
    kinds = ["mark " + event.name if isinstance(event, Mark) else "frame" for _, event in m.far.sent]
    assert kinds == ["frame", "frame", "mark 0", "frame", "mark 1"]
    assert m.news == [("sounding", 1), ("finished", Played(heard="甲乙", unheard=""))]


def test_nobody_is_told_that_a_reply_sounds_before_a_frame_of_it_left() -> None:
    async def story(m: Mouth) -> None:
        await m.say(m.clip("甲", 160))
        await pass_ms(5)
        assert m.news == []
        await pass_ms(100)

    assert mouth(story, far=FarEnd(slow_ms={0: 30})).news[0] == ("sounding", 1)


def test_who_may_interrupt_changes_at_the_border_of_a_frame() -> None:
    async def story(m: Mouth) -> None:
        await m.say(m.clip("甲", 200, protected=True), m.clip("乙", 100, protected=True), m.clip("丙", 100), m.clip("丁", 100))
        await pass_ms(200)

    m = mouth(story)
    assert m.news == [
        ("guarded", (1, True)),
        ("sounding", 1),
        ("guarded", (1, False)),
        ("finished", Played(heard="甲乙丙丁", unheard="")),
    ]
    assert m.far.times == [0, 20, 40, 60]  # 300 samples, filled up; then 200
    assert m.far.samples == list(range(1, 501))


def test_a_filler_is_no_part_of_the_reply() -> None:
    async def story(m: Mouth) -> None:
        m.playout.open(1)
        assert m.playout.is_dry
        await m.playout.add(m.clip("请稍等。", 320, filler=True))
        assert not m.playout.is_dry
        await pass_ms(100)
        assert m.news == []  # it doesn't sound yet
        assert m.playout.is_dry
        await m.playout.add(m.clip("甲乙", 320))
        m.playout.close(1)
        assert not m.playout.is_dry
        await pass_ms(100)

    m = mouth(story)
    assert m.finished() == Played(heard="甲乙", unheard="")
    assert not m.playout.is_dry


def test_without_sound_words_count_as_played_when_their_turn_comes() -> None:
    async def story(m: Mouth) -> None:
        m.playout.open(1)
        await m.playout.add(Clip(reply_id=1, text="甲。", protected=True))
        await m.playout.add(Clip(reply_id=1, text="乙。"))
        await pass_ms(1)
        assert m.news == [("guarded", (1, True)), ("sounding", 1), ("guarded", (1, False))]
        await m.playout.pause()
        await m.playout.add(Clip(reply_id=1, text="丙。"))
        await pass_ms(1)
        assert m.finished() is None
        m.playout.close(1)
        m.playout.resume()
        await pass_ms(1)

    m = mouth(story, far=FarEnd(start=CallStart(call_id="c-1")))
    assert m.finished() == Played(heard="甲。乙。丙。", unheard="")
    assert m.far.sent == []


def test_without_sound_a_dropped_reply_was_heard_as_far_as_it_was_shown() -> None:
    async def story(m: Mouth) -> None:
        m.playout.open(1)
        await m.playout.add(Clip(reply_id=1, text="甲。"))
        await pass_ms(1)
        await m.playout.pause()
        await m.playout.add(Clip(reply_id=1, text="乙。"))
        assert await m.playout.drop() == Played(heard="甲。", unheard="乙。", cut_at_ms=0)

    mouth(story)


def test_a_reply_without_words_is_over_at_once() -> None:
    async def story(m: Mouth) -> None:
        await m.say()
        await pass_ms(1)

    assert mouth(story).news == [("finished", Played(heard="", unheard=""))]


@pytest.mark.parametrize(("at_ms", "near"), [(0, True), (100, False), (250, False), (350, True)])
def test_near_the_edges_of_a_reply(at_ms: int, near: bool) -> None:
    async def story(m: Mouth) -> None:
        assert not m.playout.near_edge(60)
        await m.say(m.clip("甲", 3_200))
        await pass_ms(at_ms + 1)
        assert m.playout.near_edge(60) is near

    mouth(story)


def test_a_reply_whose_end_is_not_known_has_no_last_edge() -> None:
    async def story(m: Mouth) -> None:
        m.playout.open(1)
        await m.playout.add(m.clip("甲", 1_600))
        await pass_ms(190)
        assert not m.playout.near_edge(60)

    mouth(story)


# ---------------------------------------------------------------- marks from the far end


def lagging() -> FarEnd:
    """A far end that reports marks."""
    return FarEnd(start=replace(START, reports_marks=True))


@pytest.mark.parametrize(
    ("reported", "heard"),
    [
        ((), CLAUSES[0]),  # at most the clip that it must be playing now
        (("0",), CLAUSES[0] + CLAUSES[1]),
        (("0", "1"), CLAUSES[0] + CLAUSES[1] + "请直接说出"),
        (("1", "0"), CLAUSES[0] + CLAUSES[1] + "请直接说出"),
    ],
)
def test_a_far_end_that_lags_is_believed(reported: tuple[str, ...], heard: str) -> None:
    async def story(m: Mouth) -> None:
        await m.say(*(m.clip(text, 1_600) for text in CLAUSES))
        await pass_ms(490)  # two clips and half of the third were sent
        for name in reported:
            m.playout.mark_played(1, name)
        played = await m.playout.drop()
        assert played.heard == heard
        assert played.heard + played.unheard == "".join(CLAUSES)

    mouth(story, far=lagging())


@pytest.mark.parametrize("name", ["", "end", "-1", "1.5", "²", "9" * 5_000, "\x00"])
def test_a_mark_that_is_none_of_ours_is_nothing(name: str) -> None:
    async def story(m: Mouth) -> None:
        m.playout.mark_played(1, "0")  # nothing is being played
        await m.say(*(m.clip(text, 1_600) for text in CLAUSES))
        await pass_ms(490)
        m.playout.mark_played(2, "1")  # of another reply
        m.playout.mark_played(1, name)
        assert (await m.playout.drop()).heard == CLAUSES[0]

    mouth(story, far=lagging())


# ---------------------------------------------------------------- any reply, stopped anywhere

clips = st.lists(
    st.tuples(st.text(st.sampled_from("甲乙丙丁。"), max_size=9), st.integers(0, 900), st.booleans(), st.booleans()), max_size=6
)
acts = st.lists(st.tuples(st.sampled_from(("pause", "resume")), st.integers(0, 90)), max_size=12)


def queued(m: Mouth, what: list[tuple[str, int, bool, bool]]) -> list[Clip]:
    return [m.clip(text, samples, protected=protected, filler=filler) for text, samples, protected, filler in what]


@settings(max_examples=150)
@given(clips, acts)
def test_every_sample_is_sent_once_and_in_order_whatever_the_pauses(
    what: list[tuple[str, int, bool, bool]], pauses: list[tuple[str, int]]
) -> None:
    async def story(m: Mouth) -> None:
        await m.say(*queued(m, what))
        for act, then_ms in pauses:
            await (m.playout.pause() if act == "pause" else asyncio.sleep(0))
            if act == "resume":
                m.playout.resume()
            await pass_ms(then_ms)
        m.playout.resume()
        await pass_ms(2_000)

    m = mouth(story)
    assert m.far.samples == list(range(1, m.made + 1))
    assert m.finished() == Played(heard="".join(text for text, _, _, filler in what if not filler), unheard="")
    assert all(later - earlier >= 20 for earlier, later in itertools.pairwise(m.far.times))
    guards = [what for name, what in m.news if name == "guarded"]
    assert all(earlier != later for earlier, later in itertools.pairwise(guards))


@settings(max_examples=150)
@given(clips, st.integers(0, 700), st.booleans(), st.lists(st.integers(0, 6), max_size=4))
def test_what_was_heard_and_what_was_not_are_all_that_there_was(
    what: list[tuple[str, int, bool, bool]], cut_at_ms: int, reports_marks: bool, reported: list[int]
) -> None:
    async def story(m: Mouth) -> None:
        m.playout.open(1)
        for clip in queued(m, what):
            await m.playout.add(clip)
        await pass_ms(cut_at_ms)
        for index in reported:
            m.playout.mark_played(1, str(index))
        played = await m.playout.drop()
        assert played.heard + played.unheard == "".join(text for text, _, _, filler in what if not filler)
        assert m.finished() is None

    mouth(story, far=lagging() if reports_marks else None)
