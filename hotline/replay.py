"""Recorded calls → the server, in real time over gRPC → what was heard and said, as files and a table. Body of `hotline replay`."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hotline.call_events import CallEvent, Turn, turns_of
from hotline.caller_leg import CallerLeg, LegReport, LegSettings, open_channel, until_bot_is_quiet
from hotline.errors import HotlineError
from hotline.own_server import own_server
from hotline.recordings.files import caller_of, open_recording
from hotline.recordings.plain import RawFormat
from hotline.sound.codec import Codec
from hotline.timeline import write_timeline
from hotline.v1 import hotline_pb2_grpc as pb_grpc

Samples = NDArray[np.float32]

LINE_HZ = 8000
HEARD_COLUMNS = 44


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySettings:
    """How to replay. target: a server, host:port; empty: one of our own (`replay_here`).

    channel: left, right or caller-guess, the caller's of two. raw: how files without a head are written. tail_s: how long to wait for the bot after the file.
    after_greeting: hold the file until the bot has greeted, for clips that hold one question rather than a whole call.
    """

    target: str = ""
    token: str = ""
    codec: Codec = Codec.PCMA
    channel: str = ""
    raw: RawFormat | None = None
    out_dir: Path = Path("out/replay")
    is_realtime: bool = True
    after_greeting: bool = False
    tail_s: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReport:
    """One replayed call. error: why it failed, else empty. folder: where its files are."""

    path: Path
    leg: LegReport | None = None
    turns: tuple[Turn, ...] = ()
    folder: Path | None = None
    error: str = ""


async def replay_file(path: Path, settings: ReplaySettings, *, on_event: Callable[[CallEvent], None] | None = None) -> CallReport:
    """Replay one file and write call.wav, events.jsonl, transcript.txt and timeline.html. Raises RecordingError, OSError."""
    recording = await asyncio.to_thread(open_recording, path, raw=settings.raw)
    caller = await asyncio.to_thread(recording.samples, caller_of(recording, settings.channel), LINE_HZ)
    line = LegSettings(codec=settings.codec, is_realtime=settings.is_realtime, noise_under_speech=False)
    async with open_channel(settings.target) as channel:
        leg = CallerLeg(pb_grpc.HotlineStub(channel), line, token=settings.token, on_event=on_event)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(leg.run(), name="leg")
            await _play(leg, caller, settings)
    report = running.result()
    if not leg.recording.duration_ms:
        return CallReport(path=path, leg=report, error=report.error or "the call never began")
    folder = _fresh_folder(settings.out_dir, path.stem)
    await asyncio.to_thread(_write, leg, folder, path.name)
    return CallReport(path=path, leg=report, turns=tuple(turns_of(leg.recording.events)), folder=folder, error=report.error)


async def _play(leg: CallerLeg, caller: Samples, settings: ReplaySettings) -> None:
    if settings.after_greeting:
        await leg.until(lambda: leg.bot_is_speaking)
        await until_bot_is_quiet(leg)
    leg.say(caller)
    await leg.until(lambda: not leg.voice.is_saying)
    said_ms = leg.now_ms
    await leg.until(lambda: leg.now_ms - said_ms > settings.tail_s * 1000)
    leg.hang_up()


def _write(leg: CallerLeg, folder: Path, title: str) -> None:
    leg.recording.write(folder)
    write_timeline(folder, title=title)


def _fresh_folder(out_dir: Path, stem: str) -> Path:
    """Two files of one name don't overwrite each other within a run; a later run starts with -2."""
    folder, number = out_dir / stem, 1
    while folder.exists():
        number += 1
        folder = out_dir / f"{stem}-{number}"
    return folder


async def replay_here(paths: Sequence[Path], settings: ReplaySettings, *, tell: Callable[[str], None] = print) -> int:
    """Replay to the named server, or to one that runs as long as the replay. Raises ServerFailed. The exit code."""
    if settings.target:
        return await replay_files(paths, settings, tell=tell)
    tell("starting a server for this replay (--target names a running one)")
    async with own_server(settings.out_dir) as server:
        return await replay_files(paths, replace(settings, target=server.target, token=server.token), tell=tell)


async def replay_files(
    paths: Sequence[Path],
    settings: ReplaySettings,
    *,
    tell: Callable[[str], None] = print,
    on_event: Callable[[CallEvent], None] | None = None,
) -> int:
    """Replay files one after the other; a broken one doesn't stop the rest. The exit code: 1 if any failed."""
    reports = []
    for path in paths:
        tell(f"▶ {path}")
        reports.append(report := await _one(path, settings, on_event))
        tell(f"  ✗ {report.error}" if report.error else f"  → {report.folder}")
    tell(table(reports))
    return 1 if any(report.error for report in reports) else 0


async def _one(path: Path, settings: ReplaySettings, on_event: Callable[[CallEvent], None] | None) -> CallReport:
    try:
        return await replay_file(path, settings, on_event=on_event)
    except HotlineError as wrong:
        return CallReport(path=path, error=f"{wrong} ({wrong.what_to_do})" if wrong.what_to_do else str(wrong))
    except OSError as wrong:
        return CallReport(path=path, error=wrong.strerror or "can't be read or written")


def table(reports: Sequence[CallReport]) -> str:
    """Each turn of each call: heard (masked), route, voice to voice."""
    rows = [("file", "turn", "heard", "route", "voice to voice")]
    for report in reports:
        if report.error:
            rows.append((report.path.name, "-", report.error, "failed", "-"))
        for turn in report.turns:
            if turn.number:
                delay = f"{turn.voice_to_voice_ms} ms" if turn.voice_to_voice_ms else "-"
                rows.append((report.path.name, str(turn.number), turn.heard, turn.route or "-", delay))
        if report.leg is not None and not report.error:
            rows.append((report.path.name, "end", report.leg.reason, "", f"{report.leg.duration_ms / 1000:.1f} s"))
    cut = [tuple(_fit(cell, HEARD_COLUMNS) for cell in row) for row in rows]
    widths = [max(_columns(row[column]) for row in cut) for column in range(len(cut[0]))]
    return "\n".join(
        "  ".join(cell + " " * (width - _columns(cell)) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cut
    )


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _fit(text: str, columns: int) -> str:
    if _columns(text) <= columns:
        return text
    kept = ""
    while _columns(kept) + _columns(text[len(kept)]) < columns:
        kept += text[len(kept)]
    return kept + "…"
