"""Recordings over HTTP: what is read, what is refused with what to send, and how they are heard beside calls."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Callable

import av
import numpy as np
import pytest

from asr.ear import Ear
from asr.pool import AsidePool, DecodeJob, DecodePool
from asr.types import Decoded, DecodeHints, HearingSettings, Pcm, Priority
from hotline.http.hearing import listen, read_recording
from hotline.http.problems import Problem
from hotline.lines import CallStart
from hotline.parts import Hearing

TONE = (np.sin(2 * np.pi * 440 * np.arange(32_000) / 16_000) * 0.3).astype(np.float32)  # two seconds


def packed(form: str, codec: str, rate_hz: int) -> bytes:
    """The tone, as a recorder on a page or in a mini-program packs it."""
    target = io.BytesIO()
    with av.open(target, "w", format=form) as container:
        track = container.add_stream(codec, rate=rate_hz)
        track.layout = "mono"
        frame = av.AudioFrame.from_ndarray((TONE * 32767).astype("<i2")[None, :], format="s16", layout="mono")
        frame.sample_rate = 16_000
        resampler = av.AudioResampler(
            format=track.format, layout="mono", rate=rate_hz, frame_size=track.codec_context.frame_size or None
        )
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(track.encode(piece))
        container.mux(track.encode(None))
    return target.getvalue()


@pytest.mark.parametrize(
    ("form", "codec", "rate_hz", "content_type"),
    [
        ("webm", "libopus", 48_000, "audio/webm;codecs=opus"),
        ("webm", "libopus", 48_000, "application/octet-stream"),  # known by its content, whatever is said of it
        ("ogg", "libopus", 48_000, "audio/ogg"),
        ("mp4", "aac", 44_100, "audio/mp4"),
        ("adts", "aac", 16_000, "audio/aac"),
        ("mp3", "libmp3lame", 16_000, "audio/mpeg"),
        ("wav", "pcm_s16le", 16_000, "audio/wav"),
    ],
)
def test_what_browsers_and_mini_programs_record_is_read(form: str, codec: str, rate_hz: int, content_type: str) -> None:
    samples, heard_hz = read_recording(packed(form, codec, rate_hz), content_type, most_s=60)
    assert heard_hz == 16_000
    assert len(samples) == pytest.approx(32_000, abs=2400)
    loudest_hz = np.argmax(np.abs(np.fft.rfft(samples[4000:20_000])))
    assert loudest_hz == pytest.approx(440, abs=2)


@pytest.mark.parametrize(
    ("body", "content_type", "code"),
    [
        (b"", "audio/wav", "speech.empty"),
        (b'{"question": "a"}', "application/json", "speech.unknown_kind"),
        (b'--x\r\ncontent-disposition: form-data; name="file"\r\n\r\nRIFF', "multipart/form-data; boundary=x", "speech.a_form"),
        (b"\x1a\x45\xdf\xa3" + bytes(99), "audio/webm", "recording.broken"),
        (b"\0\0\0\x18ftypisom" + bytes(99), "audio/mp4", "recording.broken"),
    ],
)
def test_what_is_no_recording_is_told_what_to_send(body: bytes, content_type: str, code: str) -> None:
    with pytest.raises(Problem) as wrong:
        read_recording(body, content_type, most_s=60)
    assert wrong.value.code == code
    assert "WebM" in wrong.value.what_to_do


class Scripted:
    """A recogniser that says which segments came, in order: ours by their length, a call's by name."""

    rate_hz = 16_000

    def __init__(self) -> None:
        self.order: list[str] = []
        self.begun, self.go_on = threading.Event(), threading.Event()

    def decode(self, speech: Pcm, hints: DecodeHints, stop: threading.Event) -> Decoded:
        """A call's are 10 ms long."""
        is_call = len(speech.samples) == 160
        self.order.append("call" if is_call else "recording")
        self.begun.set()
        self.go_on.wait(10)
        return Decoded(text="居住证怎么办理", avg_logprob=-0.1, no_speech_prob=0.0)


class LoudIsSpeech:
    """A detector for tones."""

    rate_hz, window_samples = 16_000, 512

    def speech_probability(self, window: np.ndarray[tuple[int], np.dtype[np.float32]]) -> float:
        return 1.0 if np.abs(window).max() > 0.01 else 0.0


async def test_a_recording_is_heard_after_every_call() -> None:
    recogniser, settings = Scripted(), HearingSettings(workers=1)
    pool = DecodePool(recogniser, settings)

    def hear(start: CallStart, now_ms: Callable[[], int]) -> Hearing:
        assert start.codec is not None
        return Ear(start.codec, start.rate_hz, LoudIsSpeech(), AsidePool(pool), settings, now_ms)

    two_turns = np.concatenate([TONE, np.zeros(32_000, np.float32), TONE, np.zeros(32_000, np.float32)])
    short = Pcm(samples=np.zeros(160, np.float32), rate_hz=16_000, start_ms=0)
    call = DecodeJob(speech=short, hints=DecodeHints(), priority=Priority.SPECULATIVE)
    try:
        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            heard = tasks.create_task(listen(hear, two_turns, 16_000))
            await asyncio.to_thread(recogniser.begun.wait, 10)
            while pool.queued < 1:  # noqa: ASYNC110  any state of the pool, not one event
                await asyncio.sleep(0.01)
            tasks.create_task(pool.run(call))
            while pool.queued < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            recogniser.go_on.set()
    finally:
        recogniser.go_on.set()
        await pool.close()
    assert recogniser.order[:2] == ["recording", "call"]
    assert recogniser.order.count("recording") == 2
    assert heard.result().texts == ["居住证怎么办理"] * 2
