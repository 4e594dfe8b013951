"""WAV with samples that need no codec library, and files without any head whose codec is stated. Knows no call."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hotline.recordings.types import BLOCK_FRAMES, MAX_CHANNELS, RATES_HZ, RecordingEmpty, Samples, Stream, bounded, note
from hotline.sound.codec import Codec, decode
from hotline.wav import WavLayout, wav_blocks, wav_layout

_CODECS = {"pcma": Codec.PCMA, "pcmu": Codec.PCMU, "l16": Codec.L16, "l16le": Codec.L16, "l16be": Codec.L16}
_RAW_FORM = "CODEC[:RATE[:CHANNELS]], codec one of " + ", ".join(_CODECS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFormat:
    """How a file without a head is written. big_endian: of two-byte samples."""

    codec: Codec
    rate_hz: int = 8000
    channels: int = 1
    big_endian: bool = False

    @property
    def frame_bytes(self) -> int:
        """Bytes of one sample of each channel."""
        return self.codec.bytes_per_sample * self.channels


def raw_format(told: str) -> RawFormat:
    """`pcma:8000`, `l16be:16000:2`. Raises ValueError, in words."""
    name, *numbers = told.split(":")
    if name not in _CODECS or len(numbers) > 2 or not all(number.isdecimal() and len(number) < 7 for number in numbers):  # noqa: PLR2004
        raise ValueError(f"{told}: write {_RAW_FORM}")
    rate_hz, channels = [*map(int, numbers), *(8000, 1)[len(numbers) :]]
    if rate_hz not in RATES_HZ or not 1 <= channels <= MAX_CHANNELS:
        raise ValueError(f"{told}: a rate of {RATES_HZ.start} to {RATES_HZ.stop - 1} Hz, 1 to {MAX_CHANNELS} channels")
    return RawFormat(codec=_CODECS[name], rate_hz=rate_hz, channels=channels, big_endian=name == "l16be")


def open_wav(path: Path) -> Stream:
    """Raises WavPacked, WavError, OSError."""
    with path.open("rb") as file:
        layout = wav_layout(file)
    notes = list(layout.notes)

    def blocks() -> Iterator[Samples]:
        return bounded(_wav_blocks(path, layout), layout.rate_hz, notes)

    return Stream(
        kind="wav",
        codec=layout.codec,
        bits=layout.bits,
        rate_hz=layout.rate_hz,
        channels=layout.channels,
        blocks=blocks,
        notes=notes,
    )


def open_raw(path: Path, form: RawFormat) -> Stream:
    """Raises RecordingEmpty, OSError."""
    size = path.stat().st_size
    if size < form.frame_bytes:
        raise RecordingEmpty("the file holds no samples", what_to_do="was anything recorded?")
    notes: list[str] = []
    if size % form.frame_bytes:
        note(notes, "the last sample is cut in the middle: dropped")

    def blocks() -> Iterator[Samples]:
        return bounded(_raw_blocks(path, form), form.rate_hz, notes)

    return Stream(
        kind="raw",
        codec=form.codec.value,
        bits=8 * form.codec.bytes_per_sample,
        rate_hz=form.rate_hz,
        channels=form.channels,
        blocks=blocks,
        notes=notes,
    )


def _wav_blocks(path: Path, layout: WavLayout) -> Iterator[Samples]:
    with path.open("rb") as file:
        yield from wav_blocks(file, layout)


def _raw_blocks(path: Path, form: RawFormat) -> Iterator[Samples]:
    left = path.stat().st_size // form.frame_bytes
    with path.open("rb") as file:
        while left > 0 and (data := file.read(min(left, BLOCK_FRAMES) * form.frame_bytes)):
            whole = data[: len(data) // form.frame_bytes * form.frame_bytes]
            left -= len(whole) // form.frame_bytes
            if form.big_endian:
                whole = np.frombuffer(whole, ">i2").astype("<i2").tobytes()
            yield decode(whole, form.codec).reshape(-1, form.channels)
            if len(whole) < len(data):
                file.seek(len(whole) - len(data), os.SEEK_CUR)
