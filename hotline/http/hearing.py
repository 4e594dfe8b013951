"""A short recording → what was said in it, by the ear that hears calls: its detector, its guards, the shared decodes.

Bytes stay in memory: nothing of a caller's voice is written to a disk.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from asr.types import AudioPacket, Heard, HearingError, SpeechEvent, Unclear
from hotline import metrics
from hotline.errors import explain
from hotline.http.problems import Problem, busy
from hotline.lines import CallStart
from hotline.parts import Hearing
from hotline.recordings import detect
from hotline.recordings.packed import open_packed
from hotline.recordings.plain import RawFormat, open_raw, open_wav
from hotline.recordings.types import RecordingError, Stream, near_rate_hz
from hotline.sound.codec import Codec, encode
from hotline.sound.resample import resample
from hotline.wav import WavPacked

Samples = NDArray[np.float32]

WIDE_HZ, NARROW_HZ = 16_000, 8000
_PACKET_MS = 20
_SEND = "send the bytes of a WAV, FLAC, OGG, WebM, M4A, AAC or MP3 recording as the body"
_RAW = {"audio/x-alaw-basic": Codec.PCMA, "audio/pcma": Codec.PCMA, "audio/basic": Codec.PCMU, "audio/pcmu": Codec.PCMU}


@dataclass(slots=True)
class Listened:
    """What was heard. text: raw, for the masker only. refused: rules by which parts of it were not believed."""

    texts: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of it."""
        return "，".join(self.texts)

    def __repr__(self) -> str:
        """Without the text."""
        return f"Listened(parts={len(self.texts)}, refused={self.refused})"


def read_recording(body: bytes, content_type: str, *, most_s: int) -> tuple[Samples, int]:
    """Mono samples, and their rate: 8 or 16 kHz. Blocks. Raises Problem."""
    if not body:
        raise Problem(422, "speech.empty", "there is no recording in the request", _SEND)
    try:
        with _in_memory(body) as path:
            stream = _stream(path, body, content_type)
            mono, most = [], most_s * stream.rate_hz
            for block in stream.blocks():
                mono.append(block.mean(axis=1, dtype=np.float32))
                most -= len(block)
                if most < 0:
                    raise Problem(413, "speech.too_long", f"the recording is longer than {most_s} s", "send a shorter one")
    except RecordingError as wrong:
        raise Problem(415, wrong.code, str(wrong), _SEND) from None
    samples = np.concatenate([np.zeros(0, np.float32), *mono])
    if not len(samples):
        raise Problem(422, "speech.empty", "the recording holds no samples", "was anything recorded?")
    rate_hz = WIDE_HZ if stream.rate_hz >= WIDE_HZ else NARROW_HZ
    return resample(samples, near_rate_hz(stream.rate_hz), rate_hz), rate_hz


def _stream(path: Path, body: bytes, content_type: str) -> Stream:
    """By content, not by name; only a codec without a head needs its content type."""
    kind = detect.kind_of(body[: detect.HEAD_BYTES])
    told = content_type.partition(";")[0].strip().lower()
    if not kind and told in _RAW:
        return open_raw(path, RawFormat(codec=_RAW[told]))
    if told.startswith("multipart/"):
        raise Problem(415, "speech.a_form", "the body is a form", f"{_SEND}, without a form around them")
    if kind in {"", detect.CAPTURE}:
        raise Problem(415, "speech.unknown_kind", "this is no recording that can be read", _SEND)
    if kind != detect.WAV:
        return open_packed(path, kind)
    try:
        return open_wav(path)
    except WavPacked:
        return open_packed(path, kind)


@contextmanager
def _in_memory(body: bytes) -> Iterator[Path]:
    """A path for the readers of files; what it leads to is no file on any disk."""
    descriptor = os.memfd_create("recording")
    try:
        os.write(descriptor, body)
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


async def listen(hear: Callable[[CallStart, Callable[[], int]], Hearing], samples: Samples, rate_hz: int) -> Listened:
    """As the ear of a call hears it, but as fast as it goes. Raises Problem when the recogniser is away or overloaded."""
    found, heard_ms = Listened(), 0
    start = CallStart(call_id="", codec=Codec.L16, rate_hz=rate_hz)
    ear = hear(start, lambda: heard_ms)

    async def packets() -> AsyncGenerator[AudioPacket, None]:
        nonlocal heard_ms
        size = rate_hz * _PACKET_MS // 1000
        padded = np.concatenate([samples, np.zeros(-len(samples) % size, np.float32)])
        for sequence, frame in enumerate(np.split(padded, len(padded) // size)):
            yield AudioPacket(sequence=sequence, payload=encode(frame, Codec.L16), capture_ms=heard_ms)
            heard_ms += _PACKET_MS
            await asyncio.sleep(0)  # calls are paced on this loop

    def on_speech(event: SpeechEvent) -> None:
        match event:
            case Heard():
                found.texts.append(event.text)
            case Unclear():
                metrics.REFUSED.of(event.reason).inc()
                found.refused.append(event.reason)
            case _:
                pass

    broken = ""
    try:
        await ear.run(packets(), on_speech)
    except* HearingError as group:
        broken = explain(group).code
    broken = broken or next((reason for reason in found.refused if reason.startswith("asr.")), "")
    if broken and not found.texts:
        raise _failed(broken)
    return found


def _failed(code: str) -> Problem:
    if code in {"asr.recogniser_busy", "asr.recogniser_stalled"}:
        return busy()
    return Problem(503, code, "the recogniser failed", "send the question as text, or hand it to a person", retry_s=5)
