"""Both sides of one call, sample by sample on one clock, and its events → call.wav, events.jsonl, transcript.txt. Knows no wire."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hotline.call_events import CallEvent, Field, transcript_of, write_events
from hotline.sound.codec import Codec, decode, encode
from hotline.sound.level import rms_dbov
from hotline.wav import write_wav_blocks

Samples = NDArray[np.float32]

SPEECH_DBOV = -42.0
ONSET_FRAMES = 2
SILENT_FRAMES = 15
BLOCK_SAMPLES = 1 << 16


class Recording:
    """Grows by one frame of each side at a time; marks where either side begins and stops to sound."""

    def __init__(self, rate_hz: int, on_event: Callable[[CallEvent], None] | None = None) -> None:
        """Empty. on_event: told each event as it is written down."""
        self.rate_hz = rate_hz
        self._on_event = on_event
        self.events: list[CallEvent] = []
        self._sides = {"caller": bytearray(), "bot": bytearray()}  # 16 bits a sample: an hour is 115 MB
        self._speech = {"caller": _Speech(), "bot": _Speech(threshold_dbov=-70.0, onset_frames=1)}

    @property
    def duration_ms(self) -> int:
        """Length so far."""
        return len(self._sides["caller"]) // 2 * 1000 // self.rate_hz

    def note(self, at_ms: int, side: str, kind: str, **fields: Field) -> CallEvent:
        """Write an event down."""
        event = CallEvent(at_ms=at_ms, side=side, kind=kind, fields=fields)
        self.events.append(event)
        if self._on_event is not None:
            self._on_event(event)
        return event

    def add(self, caller: Samples, bot: Samples) -> None:
        """One frame of both sides, equally long."""
        for side, samples in (("caller", caller), ("bot", bot)):
            begins_ms = self.duration_ms if side == "caller" else self.duration_ms - len(bot) * 1000 // self.rate_hz
            self._sides[side] += encode(samples, Codec.L16)
            frame_ms = len(samples) * 1000 // self.rate_hz
            if (change := self._speech[side].feed(samples)) is not None:
                kind, frames_ago = change
                self.note(max(0, begins_ms - frames_ago * frame_ms), side, kind)

    def stereo(self) -> Samples:
        """Shape (n, 2): caller left, bot right."""
        return np.concatenate([np.zeros((0, 2), np.float32), *self._blocks()])

    def write(self, folder: Path) -> None:
        """The three files. OSError passes."""
        folder.mkdir(parents=True, exist_ok=True)
        ordered = sorted(self.events, key=lambda event: event.at_ms)
        write_events(folder / "events.jsonl", ordered)
        (folder / "transcript.txt").write_text(transcript_of(ordered), encoding="utf-8")
        write_wav_blocks(folder / "call.wav", self._blocks(), self.rate_hz, channels=2)

    def _blocks(self) -> Iterator[Samples]:
        step = 2 * BLOCK_SAMPLES
        for begin in range(0, len(self._sides["caller"]), step):
            both = [decode(bytes(side[begin : begin + step]), Codec.L16) for side in self._sides.values()]
            yield np.stack(both, axis=1)


class _Speech:
    """Loud for a moment: sound has begun. Quiet for a while: it has stopped. Only for the timeline, never for the call."""

    def __init__(self, *, threshold_dbov: float = SPEECH_DBOV, onset_frames: int = ONSET_FRAMES) -> None:
        self._threshold_dbov = threshold_dbov
        self._onset_frames = onset_frames
        self._loud = 0
        self._quiet = 0
        self._sounds = False

    def feed(self, samples: Samples) -> tuple[str, int] | None:
        """What changed, and how many frames ago."""
        is_loud = rms_dbov(samples) > self._threshold_dbov
        self._loud = self._loud + 1 if is_loud else 0
        self._quiet = 0 if is_loud else self._quiet + 1
        if not self._sounds and self._loud >= self._onset_frames:
            self._sounds = True
            return "sound_began", self._onset_frames - 1
        if self._sounds and self._quiet >= SILENT_FRAMES:
            self._sounds = False
            return "sound_stopped", SILENT_FRAMES - 1
        return None
