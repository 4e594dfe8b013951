"""WAV bytes ↔ samples, by an own walk over RIFF. Knows no call.

Python's `wave` knows no A-law, μ-law or EXTENSIBLE, and reads nothing from a file whose size field a pipe left at 0.
"""

from __future__ import annotations

import io
import struct
import wave
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from hotline.errors import HotlineError
from hotline.sound.codec import Codec, decode

Samples = NDArray[np.float32]

PCM, FLOAT, ALAW, MULAW, EXTENSIBLE = 1, 3, 6, 7, 0xFFFE
_FORMAT_NAMES: Mapping[int, str] = MappingProxyType({2: "ADPCM", 0x11: "IMA ADPCM", 0x31: "GSM 6.10", 0x55: "MP3", 0xFF: "AAC"})
MAX_CHANNELS = 32
RATES_HZ = range(4000, 384_001)
MAX_FILE_BYTES = 1 << 30
HEAD_BYTES = 12
FORMAT_BYTES = 16
SUBFORMAT_AT = 24


class WavError(HotlineError):
    """A file isn't a WAV that can be read. The message says what it is and what to do."""

    code = "wav.unreadable"


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

    @property
    def is_doubled_mono(self) -> bool:
        """Two channels that hold the same sound: a mono call, saved as stereo."""
        return self.channels == 2 and bool(np.array_equal(self.samples[:, 0], self.samples[:, 1]))  # noqa: PLR2004  stereo


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    tag: int
    channels: int
    rate_hz: int
    bits: int

    @property
    def frame_bytes(self) -> int:
        return self.channels * self.bits // 8


def read_wav(path: Path) -> WavAudio:
    """Read a file whole. Raises WavError; OSError where the file can't be opened."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise WavError(
            "the file is larger than 1 GiB", what_to_do="cut it: ffmpeg -i FILE -f segment -segment_time 3600 part%d.wav"
        )
    return parse_wav(path.read_bytes())


def parse_wav(content: bytes) -> WavAudio:
    """Audio of a WAV file's bytes. A size of 0, of 0xFFFFFFFF or beyond the end means: to the end. Raises WavError."""
    described: _Format | None = None
    position = _after_head(content)
    while position + 8 <= len(content):
        name, size = struct.unpack_from("<4sI", content, position)
        body = position + 8
        if name == b"fmt ":
            described = _format(content[body : body + size])
        elif name == b"data":
            if described is None:
                raise WavError("the samples come before their format", what_to_do="write the file again with a usual tool")
            return _audio(described, _data(content, body, size))
        position = body + size + size % 2  # chunks begin at even places
    raise WavError("the file holds no samples (no `data` chunk)", what_to_do="was the recording cut off in its head?")


def write_wav(path: Path, samples: Samples, rate_hz: int) -> None:
    """Write 16-bit PCM; samples of shape (n,) or (n, channels), clipped. OSError passes."""
    path.write_bytes(wav_header_and_samples(samples, rate_hz))


def wav_header_and_samples(samples: Samples, rate_hz: int) -> bytes:
    """A WAV file's bytes, 16-bit PCM. What isn't a number becomes silence."""
    finite = np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0)
    pcm = np.clip(np.rint(finite * 32768.0), -32768, 32767).astype("<i2")
    target = io.BytesIO()
    with wave.open(target, "wb") as writer:
        writer.setnchannels(1 if samples.ndim == 1 else samples.shape[1])
        writer.setsampwidth(2)
        writer.setframerate(rate_hz)
        writer.writeframes(pcm.tobytes())
    return target.getvalue()


def _after_head(content: bytes) -> int:
    if len(content) < HEAD_BYTES or content[:4] not in {b"RIFF", b"RF64"} or content[8:12] != b"WAVE":
        what = "empty" if not content else "not a WAV file (no RIFF/WAVE head)"
        raise WavError(f"the file is {what}", what_to_do="convert it: ffmpeg -i FILE -ar 8000 call.wav")
    return HEAD_BYTES


def _format(body: bytes) -> _Format:
    if len(body) < FORMAT_BYTES:
        raise WavError("the format description is cut off", what_to_do="write the file again with a usual tool")
    tag, channels, rate_hz, _, _, bits = struct.unpack_from("<HHIIHH", body)
    if tag == EXTENSIBLE and len(body) >= SUBFORMAT_AT + 2:
        tag = struct.unpack_from("<H", body, SUBFORMAT_AT)[0]  # the sub-format's first two bytes are the plain tag
    if not 1 <= channels <= MAX_CHANNELS or rate_hz not in RATES_HZ:
        raise WavError(f"{channels} channels at {rate_hz} Hz make no sense", what_to_do="write the file again with a usual tool")
    if (tag, bits) not in _DECODERS:
        name = _FORMAT_NAMES.get(tag, f"format 0x{tag:04X}")
        what = f"{name} with {bits} bits can't be read"
        raise WavError(what, what_to_do="convert it to 16-bit PCM: ffmpeg -i FILE -c:a pcm_s16le call.wav")
    return _Format(tag=tag, channels=channels, rate_hz=rate_hz, bits=bits)


def _data(content: bytes, body: int, size: int) -> bytes:
    """A size that a pipe left open, or that wrapped at 4 GiB, or that a cut left too large: read to the end."""
    return content[body : body + size] if size else content[body:]  # a slice ends at the file's end


def _audio(described: _Format, data: bytes) -> WavAudio:
    frames = len(data) // described.frame_bytes  # a frame cut in the middle is dropped
    if not frames:
        raise WavError("the file holds no samples", what_to_do="was anything recorded?")
    name, decoder = _DECODERS[described.tag, described.bits]
    samples = decoder(data[: frames * described.frame_bytes])
    return WavAudio(samples=samples.reshape(frames, described.channels), rate_hz=described.rate_hz, codec=name)


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
