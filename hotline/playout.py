"""Clips of bot audio → paced 20 ms frames on the line, with marks. Keeps the place over pauses and knows what was really played.

Knows nothing of turns or of where clips come from. A clip without samples (text mode) counts as played when its turn comes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hotline import metrics
from hotline.clock import CallClock
from hotline.lines import BotAudio, Clear, Line, Mark
from hotline.sound.codec import Codec, encode

FRAME_MS = 20
_CATCH_UP_MS = 100  # further behind than this, the schedule starts anew instead of bursting
_LONGEST_NAME = 9  # of a mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """One clause's audio. samples: float32 at the line's rate, empty in text mode. filler: not part of what the reply says."""

    reply_id: int
    text: str
    samples: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    protected: bool = False
    filler: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What became of a reply's words. cut_at_ms: position in its audio where it was stopped, None when it ran to its end."""

    heard: str
    unheard: str
    cut_at_ms: int | None = None


@dataclass(slots=True)
class _Track:
    """The reply that is being played."""

    reply_id: int
    clips: deque[Clip] = field(default_factory=deque)
    done: list[Clip] = field(default_factory=list)
    offset: int = 0  # samples of clips[0] that were sent
    sent_ms: int = 0
    closed: bool = False
    sounded: bool = False
    guarded: bool = False
    reported: int = 0  # marks that the far end reported

    def queued_ms(self, rate_hz: int) -> int:
        return (sum(len(clip.samples) for clip in self.clips) - self.offset) * 1000 // rate_hz

    def played(self, *, by_marks: bool, cut: bool) -> Played:
        """What was heard. by_marks: the far end reports marks, and may lag what was sent by one clip."""
        heard, unheard = "", ""
        for index, clip in enumerate([*self.done, *self.clips]):
            if clip.filler:
                continue
            here = 0 if by_marks and index > self.reported else round(len(clip.text) * self._share(index, clip))
            heard += clip.text[:here]
            unheard += clip.text[here:]
        return Played(heard=heard, unheard=unheard, cut_at_ms=self.sent_ms if cut else None)

    def _share(self, index: int, clip: Clip) -> float:
        """Share of a clip that was sent."""
        if index < len(self.done):
            return 1.0
        return self.offset / len(clip.samples) if index == len(self.done) and self.offset else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayoutEvents:
    """Whom to tell, at once and without waiting: reply ids first. A reply that has finished is guarded no more."""

    sounding: Callable[[int], None]
    guarded: Callable[[int, bool], None]
    finished: Callable[[int, Played], None]


class Playout:
    """One call's mouth. `run` paces; everything else may be called while it runs."""

    def __init__(self, line: Line, clock: CallClock, events: PlayoutEvents, *, run_ahead_ms: int = 6000) -> None:
        self._line, self._clock, self._events = line, clock, events
        self._codec = line.start.codec or Codec.L16  # a text-only call has no samples to encode
        self._rate_hz = line.start.rate_hz
        self._run_ahead_ms = run_ahead_ms
        self._track: _Track | None = None
        self._paused = False
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self.last_frame_ms: int | None = None

    # ------------------------------------------------------------ for the reply

    def open(self, reply_id: int) -> None:
        """A new reply begins; the one before must be finished or dropped."""
        self._track, self._paused = _Track(reply_id=reply_id), False

    async def add(self, clip: Clip) -> None:
        """Queue a clip; waits while more than run_ahead_ms is queued. A clip of a dropped reply is ignored."""
        track = self._track
        if track is None or track.reply_id != clip.reply_id:
            return
        track.clips.append(clip)
        self._wake.set()
        while self._track is track and track.queued_ms(self._rate_hz) > self._run_ahead_ms:
            self._room.clear()
            await self._room.wait()

    def close(self, reply_id: int) -> None:
        """Nothing more will be added: `finished` is told after the last sample."""
        if self._track is not None and self._track.reply_id == reply_id:
            self._track.closed = True
            self._wake.set()

    @property
    def is_dry(self) -> bool:
        """A reply is open, and nothing of it is waiting to be sent."""
        return self._track is not None and not self._track.clips and not self._track.closed

    # ------------------------------------------------------------ for the turn machine

    async def pause(self, reason: str = "pause") -> None:
        """Silence now; the place is kept."""
        if self._paused:
            return
        self._paused = True
        if self._track is not None and self._track.sent_ms:
            await self._line.send(Clear(reply_id=self._track.reply_id, reason=reason))

    def resume(self) -> None:
        """Go on at the same sample."""
        self._paused = False
        self._wake.set()

    async def drop(self) -> Played:
        """Forget the reply; tells what of it was heard. What comes next is not paused."""
        track, self._track = self._track, None
        was_paused, self._paused = self._paused, False
        self._wake.set()
        self._room.set()
        if track is None:
            return Played(heard="", unheard="")
        if track.sent_ms and not was_paused:
            await self._line.send(Clear(reply_id=track.reply_id, reason="cancel"))
        return track.played(by_marks=self._line.start.reports_marks, cut=True)

    def mark_played(self, reply_id: int, name: str) -> None:
        """The far end reports a mark (named by the clip's index)."""
        is_ours = name.isdecimal() and len(name) <= _LONGEST_NAME
        if self._track is not None and self._track.reply_id == reply_id and is_ours:
            self._track.reported = max(self._track.reported, int(name) + 1)

    def near_edge(self, edge_ms: int) -> bool:
        """The reply is within edge_ms of its first or last frame."""
        track = self._track
        if track is None:
            return False
        return track.sent_ms < edge_ms or (track.closed and track.queued_ms(self._rate_hz) < edge_ms)

    # ------------------------------------------------------------ pacing

    async def run(self) -> None:
        """Send frames for ever, 20 ms apart by the monotonic clock; cancel to stop."""
        loop = asyncio.get_running_loop()
        due_s: float | None = None
        while True:
            track = self._current()
            if track is None:
                self._wake.clear()
                await self._wake.wait()
                due_s = max(due_s or 0.0, loop.time())  # silence is not made up for, and what follows it comes no sooner
                continue
            now_s = loop.time()
            if due_s is None or now_s - due_s > _CATCH_UP_MS / 1000:
                due_s = now_s
            if due_s > now_s:
                await asyncio.sleep(due_s - now_s)
                if self._current() is not track:
                    continue  # paused or dropped while waiting
            metrics.FRAME_SPACING.observe(abs(loop.time() - due_s))
            await self._send_frame(track)
            due_s += FRAME_MS / 1000

    def _current(self) -> _Track | None:
        """The reply whose samples go out next. Clips without samples are settled on the way."""
        track = self._track
        if track is None or self._paused:
            return None
        while track.clips:
            clip = track.clips[0]
            self._begin(track, clip)
            if len(clip.samples) > track.offset:
                return track
            track.clips.popleft()
            track.done.append(clip)
            track.offset = 0
        if track.closed:
            self._finish(track)
        return None

    def _begin(self, track: _Track, clip: Clip) -> None:
        if clip.protected != track.guarded:
            track.guarded = clip.protected
            self._events.guarded(track.reply_id, clip.protected)
        if not len(clip.samples):
            self._tell_sounding(track, clip)

    def _finish(self, track: _Track) -> None:
        self._track = None
        self._events.finished(track.reply_id, track.played(by_marks=False, cut=False))

    async def _send_frame(self, track: _Track) -> None:
        size = self._rate_hz * FRAME_MS // 1000
        frame = np.zeros(size, np.float32)
        filled, ended, sent = 0, [], []
        while filled < size and track.clips:
            clip = track.clips[0]
            if filled and clip.protected != track.guarded:
                break  # who may interrupt changes at a frame's border
            sent.append(clip)
            part = clip.samples[track.offset : track.offset + size - filled]
            frame[filled : filled + len(part)] = part
            filled += len(part)
            track.offset += len(part)
            if track.offset >= len(clip.samples):
                ended.append(len(track.done))
                track.clips.popleft()
                track.done.append(clip)
                track.offset = 0
        track.sent_ms += FRAME_MS  # before the wait: who pauses meanwhile must clear it
        await self._line.send(BotAudio(reply_id=track.reply_id, payload=encode(frame, self._codec)))
        self.last_frame_ms = self._clock.now_ms()
        for clip in sent:
            self._tell_sounding(track, clip)
        for index in ended:
            if self._track is not track:
                return  # dropped meanwhile: nothing of it may follow its `clear`
            await self._line.send(Mark(reply_id=track.reply_id, name=str(index)))
        if track.queued_ms(self._rate_hz) <= self._run_ahead_ms:
            self._room.set()

    def _tell_sounding(self, track: _Track, clip: Clip) -> None:
        if not track.sounded and not clip.filler:
            track.sounded = True
            self._events.sounding(track.reply_id)
