"""Recordings that other readers misjudge: longer than a head can say, cut in the middle, one voice on two channels."""

from __future__ import annotations

import itertools
import os
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from hotline.recordings.files import caller_of, open_recording
from hotline.recordings.types import RecordingError
from hotline.sound.codec import Codec, encode
from hotline.wav import WavLayout, wav_blocks, wav_header_and_samples, wav_layout

TONE = (np.sin(2 * np.pi * 440 * np.arange(24_000) / 8000) * 0.3).astype(np.float32)  # three seconds
Samples = NDArray[np.float32]
GIB = 1 << 30
HEAD_BYTES = 44


def head(data_bytes: int, *, tag: int, bits: int, channels: int) -> bytes:
    """A head whose 32-bit size wrapped."""
    frame = channels * bits // 8
    size = data_bytes % (1 << 32)
    fmt = struct.pack("<HHIIHH", tag, channels, 8000, 8000 * frame, frame, bits)
    riff = b"RIFF" + struct.pack("<I", (size + 36) % (1 << 32)) + b"WAVEfmt " + struct.pack("<I", 16)
    return riff + fmt + b"data" + struct.pack("<I", size)


def sparse(path: Path, data_bytes: int, *, tag: int = 1, bits: int = 16, channels: int = 2, sound: bytes = b"") -> Path:
    """Such a file: it begins with the sound and takes no room on the disk."""
    path.write_bytes(head(data_bytes, tag=tag, bits=bits, channels=channels) + sound)
    os.truncate(path, HEAD_BYTES + data_bytes)
    return path


def layout_of(path: Path) -> WavLayout:
    with path.open("rb") as file:
        return wav_layout(file)


PCM16_STEREO = (np.repeat(TONE, 2) * 32767).astype("<i2").tobytes()


@pytest.mark.parametrize("data_bytes", [4 * GIB, 4 * GIB + 48_000, 8 * GIB + 4], ids=["4 GiB", "over 4 GiB", "over 8 GiB"])
def test_a_size_that_wrapped_is_not_believed_and_the_file_is_read_to_its_end(tmp_path: Path, data_bytes: int) -> None:
    path = sparse(tmp_path / "long.wav", data_bytes, sound=PCM16_STEREO)
    layout = layout_of(path)
    assert layout.frames == data_bytes // 4
    assert any("read to the end" in note for note in layout.notes)
    with path.open("rb") as file:
        first = next(wav_blocks(file, layout))
    assert np.abs(first[:24_000, 0] - TONE).max() < 0.001


def test_a_size_below_four_gib_is_believed_even_where_more_follows(tmp_path: Path) -> None:
    path = sparse(tmp_path / "call.wav", 48_000, sound=PCM16_STEREO)
    os.truncate(path, 3 * GIB)
    assert layout_of(path).data_bytes == 48_000


def test_a_large_file_that_is_cut_in_the_midst_of_a_sample_loses_that_sample_only(tmp_path: Path) -> None:
    path = sparse(tmp_path / "cut.wav", 3 * GIB, sound=PCM16_STEREO)
    os.truncate(path, path.stat().st_size - 3)
    layout = layout_of(path)
    assert layout.frames == 3 * GIB // 4 - 1
    assert set(layout.notes) == {"the file is shorter than its head says: cut off", "the last sample is cut in the middle: dropped"}


@pytest.mark.parametrize("missing", range(1, 9))
def test_wherever_a_file_is_cut_every_whole_sample_is_used(tmp_path: Path, missing: int) -> None:
    whole = wav_header_and_samples(np.stack([TONE, TONE[::-1]], axis=1), 8000)
    path = tmp_path / "cut.wav"
    path.write_bytes(whole[:-missing])
    call = open_recording(path)
    kept = 24_000 - -(-missing // 4)
    assert len(call.samples(0)) == kept
    assert np.abs(call.samples(0) - TONE[:kept]).max() < 0.001
    assert any("cut off" in note for note in call.notes)


@pytest.mark.parametrize(("tag", "bits", "channels"), [(6, 8, 1), (1, 16, 2)], ids=["A-law", "16-bit stereo"])
def test_nine_hours_are_told_whole_and_read_in_little_memory(tmp_path: Path, tag: int, bits: int, channels: int) -> None:
    data_bytes = 9 * 3600 * 8000 * channels * bits // 8
    sound = encode(TONE, Codec.PCMA) if tag == 6 else PCM16_STEREO
    path = sparse(tmp_path / "nine.wav", data_bytes, tag=tag, bits=bits, channels=channels, sound=sound)
    layout = layout_of(path)
    assert layout.frames // 8000 == 9 * 3600
    assert layout.notes == []
    tracemalloc.start()
    with path.open("rb") as file:
        frames = sum(len(block) for block in itertools.islice(wav_blocks(file, layout), 100))
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert frames == 100 * (1 << 16)
    assert peak_bytes < 50_000_000


@pytest.mark.parametrize("keeps", range(48))
def test_a_file_cut_within_its_head_is_a_clear_error_and_never_a_crash(tmp_path: Path, keeps: int) -> None:
    path = tmp_path / "call.wav"
    path.write_bytes(wav_header_and_samples(TONE, 8000)[:keeps])
    if keeps < HEAD_BYTES + 2:
        with pytest.raises(RecordingError) as refused:
            open_recording(path)
        assert refused.value.what_to_do
    else:
        assert len(open_recording(path).samples(0)) == (keeps - HEAD_BYTES) // 2


# ---------------------------------------------------------------- one voice, two channels


def two_channels(path: Path, left: Samples, right: Samples) -> Path:
    path.write_bytes(wav_header_and_samples(np.stack([left, right], axis=1), 8000))
    return path


def speech_like() -> Samples:
    """Noise in words: half a second of sound, then a pause."""
    noise = np.random.default_rng(3).normal(0, 0.1, 80_000)
    return (noise * (np.arange(80_000) // 4000 % 2)).astype(np.float32)


def test_a_call_saved_twice_is_one_party_and_said_so(tmp_path: Path) -> None:
    call = open_recording(two_channels(tmp_path / "call.wav", speech_like(), speech_like()))
    assert len(call.parties) == 1
    assert any("same" in note for note in call.notes)


@pytest.mark.parametrize("own", [0, 1], ids=["left speaks", "right speaks"])
def test_cross_talk_20_ms_late_and_40_db_down_has_no_words_of_its_own(tmp_path: Path, own: int) -> None:
    voice = speech_like()
    leak = np.concatenate((np.zeros(160, np.float32), voice[:-160])) * np.float32(0.01)
    sides = (voice, leak) if own == 0 else (leak, voice)
    call = open_recording(two_channels(tmp_path / "call.wav", *sides))
    assert caller_of(call) == own
    assert not call.samples(1 - own).any()
    assert call.samples(own).any()
