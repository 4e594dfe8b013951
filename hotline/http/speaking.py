"""Clauses → one WAV file that says, to ears and in its metadata, that a machine made it. Knows no question."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Sequence

import numpy as np

from hotline.http.problems import Problem
from hotline.parts import Speaking
from hotline.wav import wav_header_and_samples
from tts.types import SpeakingError

_HEAD_BYTES = 12  # RIFF, size, WAVE


async def spoken(speech: Speaking, clauses: Sequence[str], label: str, content_id: str) -> tuple[bytes, int, int]:
    """The file, its rate in Hz, its length in ms. label: said last, so that no emergency number waits for it. Raises Problem."""
    parts, rate_hz = [], 0
    try:
        for clause in (*clauses, label):
            said = await speech.speak(clause, cacheable="〈" not in clause)
            parts.append(said.samples)
            rate_hz = said.rate_hz
    except SpeakingError as error:
        raise Problem(
            503, error.code, "the voice failed", "show the text of the answer: POST /v1/ask gives it", retry_s=5
        ) from None
    samples = np.concatenate(parts)
    return await asyncio.to_thread(_labelled, samples, rate_hz, content_id), rate_hz, len(samples) * 1000 // rate_hz


def _labelled(samples: np.ndarray[tuple[int], np.dtype[np.float32]], rate_hz: int, content_id: str) -> bytes:
    """With the implicit label of GB 45438-2025 in a LIST/INFO comment, before the samples."""
    aigc = {"AIGC": {"Label": "1", "ContentProducer": "Hotline", "ProduceID": content_id}}
    entries = _chunk(b"ISFT", b"Hotline\0") + _chunk(b"ICMT", json.dumps(aigc).encode() + b"\0")
    plain = wav_header_and_samples(samples, rate_hz)
    body = _chunk(b"LIST", b"INFO" + entries)
    at = plain.index(b"data")
    content = plain[_HEAD_BYTES:at] + body + plain[at:]
    return b"RIFF" + struct.pack("<I", len(content) + 4) + b"WAVE" + content


def _chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)
