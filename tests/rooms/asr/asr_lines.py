"""Lines and voices for the hearing tests: people through a telephone, sounds that are no speech, an ear to feed."""

import asyncio
import os
import wave
from collections.abc import AsyncGenerator, Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from asr.ear import Ear
from asr.pool import DecodePool
from asr.types import AudioPacket, HearingSettings, SpeechEvent, Vad
from hotline.sound.codec import Codec, decode, encode
from hotline.sound.level import active_level_dbov, band_limit
from hotline.sound.resample import resample
from tests.fakes_hearing import ScriptedRecogniser

__all__ = ["ScriptedRecogniser"]

LINE_HZ = 8000
PACKET_SAMPLES = 160
HUMAN_AUDIO = Path(__file__).parents[3].parent / "shared" / "audio"
AISHELL = "zh_aishell_BAC009S0724W0121.wav"  # 广州市房地产中介协会分析
FUNASR = "zh_funasr_example.wav"  # 欢迎大家来体验达摩院推出的语音识别模型
ENGLISH = "en_librivox_0880.wav"

Samples = NDArray[np.float32]


def model_folder(name: str) -> Path:
    folder = Path(os.environ.get("HOTLINE_MODELS__DIR", "~/.cache/hotline/models")).expanduser() / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not here: `hotline models pull`")
    return folder


def human(name: str, level_dbov: float | None = None) -> Samples:
    """A person on the telephone: 8 kHz, 300–3400 Hz, A-law; at an active level, if one is given."""
    path = HUMAN_AUDIO / name
    if not path.is_file():
        pytest.skip("the human clips (../shared/audio) are not here")
    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
        narrow = band_limit(resample(samples, file.getframerate(), LINE_HZ), LINE_HZ)
    if level_dbov is not None:
        narrow = (narrow * 10 ** ((level_dbov - active_level_dbov(narrow, LINE_HZ)) / 20)).astype(np.float32)
    return through_alaw(narrow)


def through_alaw(samples: Samples) -> Samples:
    return decode(encode(samples, Codec.PCMA), Codec.PCMA)


def silence(ms: int) -> Samples:
    return np.zeros(LINE_HZ * ms // 1000, dtype=np.float32)


def tones(*hz: float, ms: int, level: float = 0.1, on_ms: int = 0, off_ms: int = 0) -> Samples:
    """Sines together, in the cadence of on_ms and off_ms."""
    at = np.arange(LINE_HZ * ms // 1000) / LINE_HZ
    sound = sum(np.sin(2 * np.pi * f * at) for f in hz) * level
    if off_ms:
        sound = sound * (at * 1000 % (on_ms + off_ms) < on_ms)
    return np.asarray(sound, dtype=np.float32)


def noise(ms: int, level: float = 0.03) -> Samples:
    return np.random.default_rng(7).normal(0, level, LINE_HZ * ms // 1000).astype(np.float32)


def music(ms: int) -> Samples:
    """Chords with overtones and vibrato, a new one each half second."""
    at = np.arange(LINE_HZ * ms // 1000) / LINE_HZ
    roots = np.array([262.0, 220.0, 349.2, 392.0])[(at * 2).astype(int) % 4]
    phase = 2 * np.pi * np.cumsum(roots * (1 + 0.004 * np.sin(2 * np.pi * 5.5 * at))) / LINE_HZ
    sound = sum(np.sin(phase * ratio) / ratio for ratio in (1, 1.25, 1.5, 2, 3))
    return (np.asarray(sound) * 0.06 * (0.6 + 0.4 * np.cos(2 * np.pi * 2 * at))).astype(np.float32)


def talk(ms: int, level: float = 0.2) -> Samples:
    """What the loudness detector takes for speech."""
    return tones(300, 700, ms=ms, level=level)


def packets(*parts: Samples, codec: Codec = Codec.PCMA, size: int = PACKET_SAMPLES) -> list[AudioPacket]:
    sound = np.concatenate(parts)
    return [
        AudioPacket(sequence=number, payload=encode(sound[at : at + size], codec))
        for number, at in enumerate(range(0, len(sound) - size + 1, size))
    ]


class LoudnessVad:
    """A detector that needs no model: loud is speech."""

    rate_hz = LINE_HZ
    window_samples = 256

    def speech_probability(self, window: Samples) -> float:
        return 1.0 if float(np.sqrt(np.mean(window**2))) > 0.02 else 0.0


class LineClock:
    """The call's clock, moved by the packets: as if they came on time."""

    def __init__(self) -> None:
        self.ms = 0

    def __call__(self) -> int:
        return self.ms


async def line(
    frames: Iterable[AudioPacket], clock: LineClock, pool: DecodePool, *, patient: bool = True, packet_ms: int = 20
) -> AsyncGenerator[AudioPacket, None]:
    """The packets, the clock moved along. patient: no packet comes while a decode runs, as if decodes took no time."""
    for packet in frames:
        clock.ms += packet_ms
        yield packet
        await asyncio.sleep(0)
        while patient and pool.unfinished:  # noqa: ASYNC110  the decode's thread sets no event
            await asyncio.sleep(0)


async def hear(  # noqa: PLR0913  a call's circumstances, most of them as usual
    frames: Iterable[AudioPacket],
    recogniser: ScriptedRecogniser | None = None,
    *,
    vad: Vad | None = None,
    settings: HearingSettings | None = None,
    prepare: Callable[[Ear], None] | None = None,
    codec: Codec = Codec.PCMA,
    rate_hz: int = LINE_HZ,
    patient: bool = True,
) -> tuple[list[SpeechEvent], Ear]:
    """Everything that one call's ear says of these packets."""
    settings = settings or HearingSettings(workers=1)
    pool = DecodePool(recogniser or ScriptedRecogniser(), settings)
    clock, events = LineClock(), []
    ear = Ear(codec, rate_hz, vad or LoudnessVad(), pool, settings, clock)
    if prepare is not None:
        prepare(ear)
    try:
        await ear.run(line(frames, clock, pool, patient=patient), events.append)
    finally:
        await pool.close()
    return events, ear
