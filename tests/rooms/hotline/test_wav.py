"""WAV files as they come from recorders, pipes and broken disks."""

from __future__ import annotations

import struct
import wave
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as np_st
from numpy.typing import NDArray

from hotline import wav
from hotline.sound.codec import Codec, encode
from hotline.wav import WavAudio, WavError, parse_wav, read_wav, wav_header_and_samples, write_wav

SECOND = np.sin(2 * np.pi * 440 * np.arange(8000) / 8000).astype(np.float32) * np.float32(0.1)


def chunk(name: bytes, body: bytes, *, size: int | None = None) -> bytes:
    return name + struct.pack("<I", len(body) if size is None else size) + body + (b"\0" if len(body) % 2 else b"")


def file_of(  # noqa: PLR0913  each is one field of the head
    data: bytes,
    *,
    tag: int = 1,
    bits: int = 16,
    channels: int = 1,
    size: int | None = None,
    before: bytes = b"",
    extensible: bool = False,
) -> bytes:
    frame = channels * bits // 8
    fmt = struct.pack("<HHIIHH", 0xFFFE if extensible else tag, channels, 8000, 8000 * frame, frame, bits)
    if extensible:
        fmt += struct.pack("<HHIH", 22, bits, 0, tag) + bytes.fromhex("000000001000800000aa00389b71")
    return b"RIFF" + struct.pack("<I", 0) + b"WAVE" + chunk(b"fmt ", fmt) + before + chunk(b"data", data, size=size)


def pcm16(samples: NDArray[np.float32]) -> bytes:
    return np.rint(samples * 32768).clip(-32768, 32767).astype("<i2").tobytes()


def pcm24(samples: NDArray[np.float32]) -> bytes:
    wide = np.rint(samples.astype(np.float64) * 2**23).astype("<i4")
    return wide.view(np.uint8).reshape(-1, 4)[:, :3].tobytes()


FORMATS = [
    (1, 8, (np.rint(SECOND * 128) + 128).astype(np.uint8).tobytes(), "pcm8", 0.005),
    (1, 16, pcm16(SECOND), "pcm16", 0.0001),
    (1, 24, pcm24(SECOND), "pcm24", 0.00001),
    (1, 32, np.rint(SECOND.astype(np.float64) * 2**31).astype("<i4").tobytes(), "pcm32", 0.00001),
    (3, 32, SECOND.astype("<f4").tobytes(), "float32", 0.0),
    (3, 64, SECOND.astype("<f8").tobytes(), "float64", 0.0),
    (6, 8, encode(SECOND, Codec.PCMA), "pcma", 0.005),
    (7, 8, encode(SECOND, Codec.PCMU), "pcmu", 0.005),
]


@pytest.mark.parametrize("extensible", [False, True], ids=["plain", "extensible"])
@pytest.mark.parametrize(("tag", "bits", "data", "name", "error"), FORMATS, ids=[row[3] for row in FORMATS])
def test_every_usual_encoding_is_read(tag: int, bits: int, data: bytes, name: str, error: float, extensible: bool) -> None:
    audio = parse_wav(file_of(data, tag=tag, bits=bits, extensible=extensible))

    assert (audio.codec, audio.rate_hz, audio.channels, audio.duration_ms) == (name, 8000, 1, 1000)
    assert audio.samples.dtype == np.float32
    assert np.max(np.abs(audio.channel(0) - SECOND)) <= error


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 16_000 + 1000], ids=["zero", "unknown", "beyond the end"])
def test_a_size_that_nobody_filled_in_means_to_the_end(size: int) -> None:
    assert parse_wav(file_of(pcm16(SECOND), size=size)).duration_ms == 1000


def test_a_file_cut_in_the_middle_of_a_frame_keeps_the_whole_frames() -> None:
    stereo = pcm16(np.repeat(SECOND, 2))
    assert len(parse_wav(file_of(stereo[:-3], channels=2)).samples) == 7999


def test_large_and_odd_chunks_before_the_samples_are_skipped() -> None:
    before = chunk(b"LIST", b"\1" * 3_000_001) + chunk(b"fact", b"\0" * 4)
    assert parse_wav(file_of(pcm16(SECOND), before=before)).duration_ms == 1000


def test_what_is_no_number_becomes_silence_and_what_is_too_loud_is_clipped() -> None:
    strange = np.array([np.nan, np.inf, -np.inf, 1e30, 1e-40], "<f4")
    assert parse_wav(file_of(strange.tobytes(), tag=3, bits=32)).channel(0).tolist() == pytest.approx([0, 1, -1, 1, 0])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"RIFF", "not a WAV"),
        (b"ID3\x04" + b"\0" * 60, "not a WAV"),
        (file_of(b""), "no samples"),
        (file_of(b"\0"), "no samples"),
        (file_of(b"")[:36], "no samples"),
        (file_of(b"\0" * 99, tag=0x55, bits=0), "MP3"),
        (file_of(b"\0" * 99, tag=0x1234, bits=16), "0x1234"),
        (file_of(b"\0" * 99, tag=1, bits=12), "12 bits"),
        (file_of(b"\0" * 99, channels=0), "no sense"),
        (b"RIFF\0\0\0\0WAVE" + chunk(b"fmt ", b"\1\0"), "cut off"),
        (b"RIFF\0\0\0\0WAVE" + chunk(b"data", b"\0" * 8), "before their format"),
    ],
)
def test_what_cannot_be_read_says_why_and_what_to_do(content: bytes, says: str) -> None:
    with pytest.raises(WavError, match=says) as refused:
        parse_wav(content)
    assert refused.value.what_to_do


@given(st.binary(max_size=200))
def test_any_bytes_give_audio_or_a_clear_error(tail: bytes) -> None:
    for content in (tail, b"RIFF\0\0\0\0WAVE" + tail, file_of(tail), file_of(b"\0" * 8)[:20] + tail):
        with suppress(WavError):
            audio = parse_wav(content)
            assert len(audio.samples) > 0
            assert np.all(np.abs(audio.samples) <= 1)


@given(np_st.arrays(np.float32, st.tuples(st.integers(1, 400), st.integers(1, 3)), elements=st.floats(-1, 1, width=32)))
def test_written_samples_come_back(samples: NDArray[np.float32]) -> None:
    audio = parse_wav(wav_header_and_samples(samples, 8000))
    assert audio.samples.shape == samples.shape
    assert np.max(np.abs(audio.samples - samples)) <= 1 / 32768


def test_written_files_are_read_by_others(tmp_path: Path) -> None:
    write_wav(tmp_path / "call.wav", np.stack([SECOND, -SECOND], axis=1), 8000)

    with wave.open(str(tmp_path / "call.wav"), "rb") as other:
        assert (other.getnchannels(), other.getframerate(), other.getnframes()) == (2, 8000, 8000)
    assert read_wav(tmp_path / "call.wav").channels == 2


def test_a_file_beyond_all_measure_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wav, "MAX_FILE_BYTES", 100)
    write_wav(tmp_path / "call.wav", SECOND, 8000)
    with pytest.raises(WavError, match="larger"):
        read_wav(tmp_path / "call.wav")


def test_the_channels_of_a_stereo_call() -> None:
    other = WavAudio(samples=np.stack([SECOND, -SECOND], axis=1), rate_hz=8000, codec="pcm16")

    assert np.array_equal(other.channel(1), -SECOND)
    with pytest.raises(WavError, match="2 channel"):
        other.channel(2)
