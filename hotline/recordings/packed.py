"""FLAC, OGG, MP3 and the packed kinds of WAV → samples, through FFmpeg's libraries (PyAV). Knows no call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import av.audio
import av.container
import av.error
import numpy as np
from numpy.typing import NDArray

from hotline.recordings import detect
from hotline.recordings.types import (
    MAX_CHANNELS,
    RATES_HZ,
    NotARecording,
    RecordingBroken,
    RecordingEmpty,
    Samples,
    Stream,
    bounded,
    cut,
    note,
)

GATHER_FRAMES = 8192
_FORMATS = {detect.M4A: "mp4", detect.WEBM: "matroska"}  # as FFmpeg calls them, where it calls them otherwise
_LOSSLESS = ("flac", "alac", "pcm_")
_FLAC_24_BITS = "s32"
_EIGHT_BITS = ("pcm_mulaw", "pcm_alaw")
_REPAIR = "convert it: ffmpeg -i FILE -c:a pcm_s16le call.wav"

Input = av.container.InputContainer
AudioStream = av.audio.AudioStream


def open_packed(path: Path, kind: str) -> Stream:
    """Raises RecordingError, OSError."""
    notes: list[str] = []
    with _opened(path, kind) as container:
        track = _track(container, notes)
        context = track.codec_context
        if context is None:
            raise NotARecording(f"the codec of this {kind.upper()} is not known", what_to_do=_REPAIR)
        rate_hz, channels, codec = context.sample_rate, context.channels, context.name
        bits = _bits(context)
    if rate_hz not in RATES_HZ or not 1 <= channels <= MAX_CHANNELS:
        raise RecordingBroken(f"{channels} channels at {rate_hz} Hz make no sense", what_to_do=_REPAIR)

    def blocks() -> Iterator[Samples]:
        return bounded(_blocks(path, kind, channels, notes), rate_hz, notes)

    return Stream(
        kind=kind,
        codec=codec.removesuffix("float"),
        bits=bits,
        rate_hz=rate_hz,
        channels=channels,
        blocks=blocks,
        notes=notes,
    )


def _opened(path: Path, kind: str) -> Input:
    try:
        return av.open(str(path), "r", format=_FORMATS.get(kind, kind), metadata_errors="replace")
    except (av.error.FFmpegError, ValueError, MemoryError, IndexError) as error:
        raise _broken(kind, error) from None


def _broken(kind: str, error: BaseException) -> RecordingBroken:
    reason = getattr(error, "strerror", "") or type(error).__name__
    return RecordingBroken(f"the file begins like {kind.upper()} and can't be read: {reason}", what_to_do=_REPAIR)


def _track(container: Input, notes: list[str]) -> AudioStream:
    tracks = container.streams.audio
    if not tracks:
        raise RecordingEmpty("the file holds no audio track", what_to_do="name a file with sound")
    if len(tracks) > 1:
        note(notes, f"holds {len(tracks)} audio tracks: the first is used")
    return tracks[0]


def _bits(context: av.AudioCodecContext) -> int:
    """Of a stored sample; 0 for what is packed with losses."""
    if not context.name.startswith(_LOSSLESS):
        return 0
    if context.name in _EIGHT_BITS:
        return 8
    if context.name == "flac" and context.format.name.startswith(_FLAC_24_BITS):
        return 24
    return context.format.bytes * 8


def _blocks(path: Path, kind: str, channels: int, notes: list[str]) -> Iterator[Samples]:
    gathered: list[Samples] = []
    frames = 0
    for piece in _pieces(path, kind, channels, notes):
        gathered.append(piece)
        frames += len(piece)
        if frames >= GATHER_FRAMES:
            yield from cut(np.concatenate(gathered))
            gathered, frames = [], 0
    if frames:
        yield from cut(np.concatenate(gathered))


def _pieces(path: Path, kind: str, channels: int, notes: list[str]) -> Iterator[Samples]:
    """What each packet holds. A packet that can't be decoded is left out, a file that breaks off ends there; both are noted."""
    broken, is_empty = 0, True
    with _opened(path, kind) as container:
        packets = container.demux(_track(container, notes))
        while True:
            try:
                packet = next(packets)
            except StopIteration:
                break
            except (av.error.FFmpegError, ValueError):
                note(notes, "the file breaks off")
                break
            try:
                frames = packet.decode()
            except (av.error.FFmpegError, ValueError):
                broken += 1
                continue
            for frame in frames:
                is_empty = False
                if len(frame.layout.channels) != channels:
                    note(notes, "the number of channels changes: only what comes before is used")
                    return
                yield _samples(frame)
    if broken and is_empty:
        raise RecordingBroken(f"none of its {broken} packets can be decoded", what_to_do=_REPAIR)
    if broken:
        note(notes, f"{broken} packets can't be decoded: left out")


def _samples(frame: av.AudioFrame) -> Samples:
    """Float32, shape (n, channels), finite and within ±1."""
    stored: NDArray[Any] = frame.to_ndarray()
    shaped = stored.T if frame.format.is_planar else stored.reshape(-1, len(frame.layout.channels))
    if shaped.dtype.kind == "f":
        samples: Samples = np.clip(np.nan_to_num(shaped, nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0).astype(np.float32)
    elif shaped.dtype == np.uint8:
        samples = (shaped.astype(np.float32) - 128.0) / np.float32(128.0)
    else:
        samples = (shaped.astype(np.float64) / float(1 << 8 * shaped.dtype.itemsize - 1)).astype(np.float32)
    return samples
