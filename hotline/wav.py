"""WAV ↔ samples, by an own walk over RIFF: the head's layout, then blocks of samples, so that long files fit. Knows no call.

Python's `wave` knows no A-law, μ-law or EXTENSIBLE, and reads nothing from a file whose size field a pipe left at 0.
"""

from __future__ import annotations

import io
import os
import struct
import wave
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from hotline.recordings.types import BLOCK_FRAMES, MAX_CHANNELS, RATES_HZ, RecordingError, note
from hotline.sound.codec import Codec, decode

Samples = NDArray[np.float32]

PCM, FLOAT, ALAW, MULAW, EXTENSIBLE = 1, 3, 6, 7, 0xFFFE
PACKED: Mapping[int, str] = MappingProxyType({
    PCM: "PCM",
    FLOAT: "float",
    2: "ADPCM",
    0x10: "OKI ADPCM",
    0x11: "IMA ADPCM",
    0x17: "Dialogic ADPCM",
    0x20: "Yamaha ADPCM",
    0x22: "TrueSpeech",
    0x31: "GSM 6.10",
    0x42: "G.723.1",
    0x45: "G.726",
    0x50: "MP2",
    0x55: "MP3",
    0x64: "G.726",
    0x65: "G.722",
    0x83: "G.729",
    0xFF: "AAC",
    0x28E: "Siren",
    0x28F: "G.722",
    0x704F: "Opus",
    0xA109: "Speex",
})
_CONVERT = "convert it to 16-bit PCM: ffmpeg -i FILE -c:a pcm_s16le call.wav, or: sox FILE -e signed -b 16 call.wav"
MAX_FILE_BYTES = 1 << 30
HEAD_BYTES = 12
FORMAT_BYTES = 16
MAX_FORMAT_BYTES = 4096
SUBFORMAT_AT = 24
UNKNOWN_SIZE = 0xFFFFFFFF
WRAPS_AT = 1 << 32
_CHUNKS = frozenset(b"fmt |data|LIST|fact|bext|iXML|cue |smpl|id3 |ID3 |JUNK|PAD |FLLR".split(b"|"))
_WIDE_SIZES = struct.Struct("<QQ")  # of RIFF and of data, in an RF64's ds64


class WavError(RecordingError):
    """A file isn't a WAV that can be read. The message says what it is and what to do."""

    code = "wav.unreadable"


class WavPacked(WavError):
    """A WAV whose samples are packed in a way that only a codec library reads."""

    code = "wav.packed"


@dataclass(frozen=True, slots=True, kw_only=True)
class WavAudio:
    """A file's audio. samples: float32 in [-1, 1], shape (n, channels). codec: how it was stored, e.g. `pcm16`."""

    samples: Samples
    rate_hz: int
    codec: str

    @property
    def channels(self) -> int:
        """At least 1."""
        return int(self.samples.shape[1])

    @property
    def duration_ms(self) -> int:
        """Length, rounded down."""
        return len(self.samples) * 1000 // self.rate_hz

    def channel(self, index: int) -> Samples:
        """One channel, counted from 0. Raises WavError."""
        if not 0 <= index < self.channels:
            raise WavError(f"the file has {self.channels} channel(s)", what_to_do=f"choose a channel from 0 to {self.channels - 1}")
        return np.ascontiguousarray(self.samples[:, index])


@dataclass(frozen=True, slots=True, kw_only=True)
class WavLayout:
    """Where a file's samples lie and how they are written. notes: what was odd about the head, in words."""

    tag: int
    channels: int
    rate_hz: int
    bits: int
    data_at: int
    data_bytes: int
    big_endian: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def codec(self) -> str:
        """E.g. `pcm16`."""
        return _DECODERS[self.tag, self.bits][0]

    @property
    def frame_bytes(self) -> int:
        """Bytes of one sample of each channel."""
        return self.channels * self.bits // 8

    @property
    def frames(self) -> int:
        """Whole ones: a frame cut in the middle is dropped."""
        return self.data_bytes // self.frame_bytes


def read_wav(path: Path) -> WavAudio:
    """Read a file whole. Raises WavError; OSError where the file can't be opened."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise WavError(
            "the file is larger than 1 GiB", what_to_do="cut it: ffmpeg -i FILE -f segment -segment_time 3600 part%d.wav"
        )
    with path.open("rb") as file:
        return _whole(file)


def parse_wav(content: bytes) -> WavAudio:
    """Audio of a WAV file's bytes. A size of 0, of 0xFFFFFFFF or beyond the end means: to the end. Raises WavError."""
    return _whole(io.BytesIO(content))


def wav_layout(file: BinaryIO) -> WavLayout:
    """Walk the head. Raises WavPacked for what needs a codec library, WavError for what can't be read at all."""
    end = file.seek(0, os.SEEK_END)
    head = _at(file, 0, HEAD_BYTES)
    _check_head(head)
    order = ">" if head[:4] == b"RIFX" else "<"
    described: _Format | None = None
    wide_bytes = 0
    position = HEAD_BYTES
    while position + 8 <= end:
        name, size = struct.unpack(f"{order}4sI", _at(file, position, 8))
        body = position + 8
        if name == b"ds64" and len(sizes := _at(file, body, _WIDE_SIZES.size)) == _WIDE_SIZES.size:
            wide_bytes = _WIDE_SIZES.unpack(sizes)[1]
        elif name == b"fmt ":
            described = _format(_at(file, body, min(size, MAX_FORMAT_BYTES)), order)
        elif name == b"data":
            if described is None:
                raise WavError("the samples come before their format", what_to_do="write the file again with a usual tool")
            return _layout(file, described, body, wide_bytes if size == UNKNOWN_SIZE and wide_bytes else size)
        position = _after(file, body, size)
    raise WavError("the file holds no samples (no `data` chunk)", what_to_do="was the recording cut off in its head?")


def wav_blocks(file: BinaryIO, layout: WavLayout) -> Iterator[Samples]:
    """The samples, shape (n, channels), at most BLOCK_FRAMES at a time."""
    decoder = _DECODERS[layout.tag, layout.bits][1]
    left = layout.frames
    file.seek(layout.data_at)
    while left > 0:
        data = file.read(min(left, BLOCK_FRAMES) * layout.frame_bytes)
        frames = len(data) // layout.frame_bytes
        if not frames:
            return
        left -= frames
        whole = data[: frames * layout.frame_bytes]
        yield decoder(_swapped(whole, layout.bits) if layout.big_endian else whole).reshape(frames, layout.channels)


def write_wav(path: Path, samples: Samples, rate_hz: int) -> None:
    """Write 16-bit PCM; samples of shape (n,) or (n, channels), clipped. OSError passes."""
    path.write_bytes(wav_header_and_samples(samples, rate_hz))


def write_wav_blocks(path: Path, blocks: Iterable[Samples], rate_hz: int, *, channels: int) -> None:
    """The same, block by block. OSError passes."""
    with path.open("wb") as file, wave.open(file, "wb") as writer:
        _describe(writer, rate_hz, channels)
        for block in blocks:
            writer.writeframes(_pcm16(block))


def wav_header_and_samples(samples: Samples, rate_hz: int) -> bytes:
    """A WAV file's bytes, 16-bit PCM. What isn't a number becomes silence."""
    target = io.BytesIO()
    with wave.open(target, "wb") as writer:
        _describe(writer, rate_hz, 1 if samples.ndim == 1 else samples.shape[1])
        writer.writeframes(_pcm16(samples))
    return target.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    tag: int
    channels: int
    rate_hz: int
    bits: int
    big_endian: bool
    notes: list[str] = field(default_factory=list)


def _whole(file: BinaryIO) -> WavAudio:
    layout = wav_layout(file)
    samples = np.concatenate([np.zeros((0, layout.channels), np.float32), *wav_blocks(file, layout)])
    return WavAudio(samples=samples, rate_hz=layout.rate_hz, codec=layout.codec)


def _describe(writer: wave.Wave_write, rate_hz: int, channels: int) -> None:
    writer.setnchannels(channels)
    writer.setsampwidth(2)
    writer.setframerate(rate_hz)


def _pcm16(samples: Samples) -> bytes:
    finite = np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0)
    written: bytes = np.clip(np.rint(finite * 32768.0), -32768, 32767).astype("<i2").tobytes()
    return written


def _at(file: BinaryIO, place: int, size: int) -> bytes:
    file.seek(place)
    return file.read(size)


def _check_head(head: bytes) -> None:
    if len(head) < HEAD_BYTES or head[:4] not in {b"RIFF", b"RIFX", b"RF64", b"BW64"} or head[8:12] != b"WAVE":
        what = "empty" if not head else "not a WAV file (no RIFF/WAVE head)"
        raise WavError(f"the file is {what}", what_to_do="convert it: ffmpeg -i FILE -ar 8000 call.wav")


def _after(file: BinaryIO, body: int, size: int) -> int:
    """Chunks begin at even places; some writers forget the byte between."""
    end = body + size
    if size % 2 and _at(file, end, 4) in _CHUNKS:
        return end
    return end + size % 2


def _format(body: bytes, order: str) -> _Format:
    if len(body) < FORMAT_BYTES:
        raise WavError("the format description is cut off", what_to_do="write the file again with a usual tool")
    tag, channels, rate_hz, _, align, bits = struct.unpack_from(f"{order}HHIIHH", body)
    if tag == EXTENSIBLE and len(body) >= SUBFORMAT_AT + 2:
        tag = struct.unpack_from(f"{order}H", body, SUBFORMAT_AT)[0]  # the sub-format's first two bytes are the plain tag
    if not 1 <= channels <= MAX_CHANNELS or rate_hz not in RATES_HZ:
        raise WavError(f"{channels} channels at {rate_hz} Hz make no sense", what_to_do="write the file again with a usual tool")
    notes: list[str] = []
    if tag in {ALAW, MULAW} and bits != 8 and align in {0, channels}:  # noqa: PLR2004  G.711 has 8 bits, whatever the head says
        note(notes, f"the head says {bits} bits; G.711 has 8")
        bits = 8
    big_endian = order == ">"
    if (tag, bits) not in _DECODERS:
        name = PACKED.get(tag, f"format 0x{tag:04X}")
        kind = WavError if big_endian else WavPacked  # which no library reads in that order
        raise kind(f"{name} with {bits} bits can't be read", what_to_do=_CONVERT)
    return _Format(tag=tag, channels=channels, rate_hz=rate_hz, bits=bits, big_endian=big_endian, notes=notes)


def _layout(file: BinaryIO, described: _Format, body: int, size: int) -> WavLayout:
    """A size that a pipe left open, that wrapped at 4 GiB, or that a cut left too large: to the end."""
    there = file.seek(0, os.SEEK_END) - body
    notes = described.notes
    data_bytes = min(size, there)
    if size in {0, UNKNOWN_SIZE} and _at(file, body, 4) not in _CHUNKS:
        if there:
            note(notes, "the head has no length (written through a pipe): read to the end")
        data_bytes = there
    elif size > there:
        note(notes, "the file is shorter than its head says: cut off")
    elif there - size >= WRAPS_AT:
        note(notes, "longer than a WAV head can say: read to the end")
        data_bytes = there
    layout = WavLayout(
        tag=described.tag,
        channels=described.channels,
        rate_hz=described.rate_hz,
        bits=described.bits,
        big_endian=described.big_endian,
        data_at=body,
        data_bytes=data_bytes,
        notes=notes,
    )
    if not layout.frames:
        raise WavError("the file holds no samples", what_to_do="was anything recorded?")
    if data_bytes % layout.frame_bytes:
        note(notes, "the last sample is cut in the middle: dropped")
    return layout


def _swapped(data: bytes, bits: int) -> bytes:
    """Each sample's bytes the other way round."""
    return np.frombuffer(data, np.uint8).reshape(-1, bits // 8)[:, ::-1].tobytes()


def _unsigned_8(data: bytes) -> Samples:
    return (np.frombuffer(data, np.uint8).astype(np.float32) - 128.0) / np.float32(128.0)


def _signed_16(data: bytes) -> Samples:
    return np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32768.0)


def _signed_24(data: bytes) -> Samples:
    wide = np.zeros((len(data) // 3, 4), np.uint8)
    wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
    return _signed_32(wide.tobytes())


def _signed_32(data: bytes) -> Samples:
    samples: Samples = (np.frombuffer(data, "<i4").astype(np.float64) / 2.0**31).astype(np.float32)
    return samples


def _floats(width: str) -> Callable[[bytes], Samples]:
    def read(data: bytes) -> Samples:
        finite = np.nan_to_num(np.frombuffer(data, width), nan=0.0, posinf=1.0, neginf=-1.0)
        samples: Samples = np.clip(finite, -1.0, 1.0).astype(np.float32)
        return samples

    return read


_DECODERS: Mapping[tuple[int, int], tuple[str, Callable[[bytes], Samples]]] = MappingProxyType({
    (PCM, 8): ("pcm8", _unsigned_8),
    (PCM, 16): ("pcm16", _signed_16),
    (PCM, 24): ("pcm24", _signed_24),
    (PCM, 32): ("pcm32", _signed_32),
    (FLOAT, 32): ("float32", _floats("<f4")),
    (FLOAT, 64): ("float64", _floats("<f8")),
    (ALAW, 8): ("pcma", lambda data: decode(data, Codec.PCMA)),
    (MULAW, 8): ("pcmu", lambda data: decode(data, Codec.PCMU)),
})
