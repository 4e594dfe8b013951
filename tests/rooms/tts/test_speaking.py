"""Clauses on their way to the line, with a voice that is a tone."""

import asyncio
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hotline.sound.level import active_level_dbov
from tts.cache import AudioCache
from tts.normalise import to_speech
from tts.speech import Speech, faded, pieces, trimmed
from tts.types import SpeakingSettings, VoiceFailed
from tts.worker import Worker


class Tone:
    """A voice: 100 ms of 1 kHz for each character, silence around it."""

    name, rate_hz = "tone", 24_000

    def __init__(self) -> None:
        self.said: list[str] = []
        self.trouble: VoiceFailed | None = None
        self.held: threading.Event | None = None
        self.speaking = threading.Event()
        self.closed = False

    def synthesise(self, spoken: str, *, slower: float = 1.0) -> NDArray[np.float32]:
        self.said.append(spoken)
        self.speaking.set()
        if self.trouble:
            raise self.trouble
        if self.held:
            self.held.wait(30)
        time_s = np.arange(round(2400 * len(spoken) * slower)) / self.rate_hz
        quiet = np.zeros(12_000, np.float32)
        return np.concatenate([quiet, (0.1 * np.sin(2 * np.pi * 1000 * time_s)).astype(np.float32), quiet])

    def close(self) -> None:
        self.closed = True


class Mute(Tone):
    name = "mute"

    def synthesise(self, spoken: str, *, slower: float = 1.0) -> NDArray[np.float32]:
        return np.zeros(100, np.float32)


def files(folder: Path) -> list[Path]:
    return list(folder.rglob("*.pcm"))


SETTINGS = SpeakingSettings(synthesis_deadline_ms=5000)


async def test_a_clause_is_levelled_trimmed_and_followed_by_a_gap() -> None:
    spoken = await Speech(Tone(), SETTINGS).speak("请说您的问题")
    assert spoken.rate_hz == 8000
    assert 600 + 120 <= spoken.duration_ms <= 600 + 120 + 80  # six characters, the gap, what is left of the silence
    assert abs(active_level_dbov(spoken.samples, 8000) + 20) < 1
    assert np.abs(spoken.samples).max() <= 10 ** (-3 / 20) + 1e-4
    assert spoken.samples[0] == spoken.samples[-1] == 0
    assert np.flatnonzero(np.abs(spoken.samples) > 0.05)[0] <= 30 * 8


async def test_a_long_text_is_said_piece_by_piece() -> None:
    voice = Tone()
    await Speech(voice, SETTINGS).speak("您好，这里是12345热线，请讲。")
    assert voice.said == ["您好，这里是幺二三四五热线，", "请讲。"]


async def test_a_text_without_any_pause_is_cut_all_the_same() -> None:
    voice = Tone()
    await Speech(voice, SETTINGS).speak("办" * 100)
    assert [len(piece) for piece in voice.said] == [40, 40, 20]


async def test_the_second_time_comes_from_the_cache(tmp_path: Path) -> None:
    voice = Tone()
    first = await Speech(voice, SETTINGS, cache=AudioCache(tmp_path)).speak("请稍等一下")
    speech = Speech(voice, SETTINGS, cache=AudioCache(tmp_path))
    from_disk, from_memory = await speech.speak("请稍等一下"), await speech.speak("请稍等一下")
    assert (first.cached, from_disk.cached, from_memory.cached) == (False, True, True)
    assert voice.said == ["请稍等一下"]
    assert np.allclose(first.samples, from_disk.samples, atol=1e-4)


@pytest.mark.parametrize("other", [SpeakingSettings(level_dbov=-23), SpeakingSettings(speed=1.3), SpeakingSettings(gap_ms=0)])
async def test_another_setting_is_another_sound(tmp_path: Path, other: SpeakingSettings) -> None:
    await Speech(Tone(), SETTINGS, cache=AudioCache(tmp_path)).speak("请稍等一下")
    assert not (await Speech(Tone(), other, cache=AudioCache(tmp_path)).speak("请稍等一下")).cached


async def test_personal_words_leave_nothing_on_disk(tmp_path: Path) -> None:
    speech = Speech(Tone(), SETTINGS, cache=AudioCache(tmp_path))
    await speech.speak("王先生您好", cacheable=False)
    await speech.speak("您说的是13800138000吗")
    await speech.speak("身份证号330102199003074512")
    await speech.speak("一三八零零一三八零零零")
    assert not files(tmp_path)
    await speech.speak("请拨打0571-88776655")  # an office's number is public
    assert len(files(tmp_path)) == 1


@pytest.mark.parametrize("nothing", ["", "  ", "……", "😊", "《》", "\x00"])
async def test_a_text_without_words_is_no_sound(nothing: str) -> None:
    voice = Tone()
    assert (await Speech(voice, SETTINGS).speak(nothing)).duration_ms == 0
    assert not voice.said


async def test_when_the_voice_fails_the_other_speaks(tmp_path: Path) -> None:
    voice, other = Tone(), Tone()
    voice.trouble = VoiceFailed("broken")
    speech = Speech(voice, SETTINGS, cache=AudioCache(tmp_path), fallback=other)
    assert (await speech.speak("请稍等一下")).duration_ms > 0
    assert (speech.counts.failed, speech.counts.by_fallback) == (1, 1)
    voice.trouble = None
    assert not (await speech.speak("请稍等一下")).cached  # the other voice's sound was not kept in this one's name
    assert speech.counts.by_fallback == 1


async def test_slowly_said_it_is_longer_and_kept_beside_the_other(tmp_path: Path) -> None:
    speech = Speech(voice := Tone(), SETTINGS, cache=AudioCache(tmp_path))
    usual, slow, again = [await speech.speak("您慢慢说", slow=slow) for slow in (False, True, True)]
    assert slow.duration_ms > usual.duration_ms * 1.15
    assert (usual.cached, slow.cached, again.cached, len(voice.said)) == (False, False, True, 2)
    speech.close()


class Broken(Tone):
    """Samples that are no numbers."""

    def synthesise(self, spoken: str, *, slower: float = 1.0) -> NDArray[np.float32]:
        sound = super().synthesise(spoken, slower=slower)
        sound[20_000] = np.nan
        return sound


async def test_samples_that_are_no_numbers_never_leave_the_room(tmp_path: Path) -> None:
    speech = Speech(Broken(), SETTINGS, cache=AudioCache(tmp_path), fallback=Tone())
    spoken = await speech.speak("您好")
    assert np.isfinite(spoken.samples).all()
    assert (speech.counts.failed, speech.counts.by_fallback, files(tmp_path)) == (1, 1, [])
    speech.close()


async def test_a_mute_voice_has_failed() -> None:
    with pytest.raises(VoiceFailed):
        await Speech(Mute(), SETTINGS).speak("请稍等")


async def test_too_much_text_is_refused() -> None:
    with pytest.raises(VoiceFailed):
        await Speech(Tone(), SETTINGS).speak("字" * 100_000)


async def test_a_stalled_voice_is_given_up_and_the_next_clause_is_said() -> None:
    voice = Tone()
    held = voice.held = threading.Event()
    speech = Speech(voice, SpeakingSettings(synthesis_deadline_ms=30))
    with pytest.raises(VoiceFailed):
        await speech.speak("请稍等一下")
    voice.held = None
    patient = Speech(voice, SETTINGS)
    assert (await patient.speak("好的没问题")).duration_ms > 0
    speech._settings = SETTINGS
    assert (await speech.speak("好的没问题")).duration_ms > 0
    held.set()


async def test_what_a_cancelled_caller_waited_for_is_never_said() -> None:
    voice = Tone()
    held = voice.held = threading.Event()
    speech = Speech(voice, SETTINGS)
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(speech.speak("第一句话"))
        gone = tasks.create_task(speech.speak("第二句话"))
        third = tasks.create_task(speech.speak("第三句话"))
        await asyncio.to_thread(voice.speaking.wait, 30)
        gone.cancel()
        held.set()
    assert first.result().duration_ms > 0
    assert third.result().duration_ms > 0
    assert voice.said == ["第一句话", "第三句话"]


async def test_prompts_are_warmed_once(tmp_path: Path) -> None:
    speech = Speech(Tone(), SETTINGS, cache=AudioCache(tmp_path))
    assert await speech.warm(["请稍等一下", "请说您的问题"]) == 2
    assert await speech.warm(["请稍等一下", "请说您的问题"]) == 0
    assert (await speech.speak("请稍等一下")).cached


async def test_closing_closes_the_voices() -> None:
    voice, other = Tone(), Tone()
    speech = Speech(voice, SETTINGS, fallback=other)
    await speech.speak("请稍等")
    speech.close()
    assert voice.closed
    assert other.closed


async def test_a_queue_that_is_full_says_so() -> None:
    worker, held = Worker(max_waiting=2), threading.Event()
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(worker.run(lambda: held.wait(30), deadline_ms=5000))
        second = tasks.create_task(worker.run(lambda: "second", deadline_ms=5000))
        await asyncio.sleep(0)
        with pytest.raises(VoiceFailed):
            await worker.run(lambda: "third", deadline_ms=5000)
        held.set()
    assert (first.result(), second.result()) == (True, "second")
    worker.close()


def test_a_loop_that_is_gone_is_no_trouble_for_the_thread() -> None:
    worker, held, done = Worker(), threading.Event(), threading.Event()

    def work() -> None:
        held.wait(30)
        done.set()

    async def give_up() -> None:
        with pytest.raises(VoiceFailed):
            await worker.run(work, deadline_ms=10)

    asyncio.run(give_up())
    held.set()
    assert done.wait(30)


@given(st.text(alphabet="零一二三四五你好请在。，！、？；（）《》A ", max_size=300) | st.text(max_size=100).map(to_speech))
def test_pieces_lose_no_word(text: str) -> None:
    def words(of: str) -> str:
        return "".join(char for char in of if "\u3400" <= char <= "\u9fff" or (char.isascii() and char.isalpha()))

    found = pieces(text)
    assert words("".join(found)) == words(text)
    assert all(words(piece) and len(piece) <= 44 for piece in found)


def test_sounds_end_in_zero_and_silence_goes() -> None:
    sound = np.concatenate([np.zeros(4000), np.ones(1000), np.zeros(4000)]).astype(np.float32)
    assert len(trimmed(sound, 8000)) == 160 + 1000 + 319
    assert len(trimmed(np.zeros(100, np.float32), 8000)) == 0
    assert faded(np.ones(100, np.float32), 8000)[[0, -1]].tolist() == [0, 0]
    assert len(faded(np.ones(1, np.float32), 8000)) == 1
