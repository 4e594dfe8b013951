"""Recorded calls → the server, in real time over gRPC → what was heard and said, as files and reports. Body of `hotline replay`.

First every recording is looked at; only then, and only if one can be played, a server is started. One that fails stops no other.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hotline import cer
from hotline.call_events import CallEvent, EventsWrong, turns_of
from hotline.caller_leg import CallerLeg, LegSettings, open_channel, until_bot_is_quiet
from hotline.certificates import ClientTls, channel_credentials
from hotline.errors import OURS, explain
from hotline.overview import write_overview
from hotline.own_server import own_server
from hotline.progress import Progress
from hotline.recordings.files import caller_of, open_recording
from hotline.recordings.folders import recordings_in
from hotline.recordings.names import folder_name, shown_name
from hotline.recordings.plain import RawFormat
from hotline.recordings.types import KeyPress, NotARecording
from hotline.references import References, load_references
from hotline.replay_report import CallReport, closing, table, write_reports
from hotline.sound.codec import Codec
from hotline.timeline import write_timeline
from hotline.v1 import hotline_pb2_grpc as pb_grpc

__all__ = ["CallReport", "ReplaySettings", "replay_file", "replay_files", "replay_here", "table"]

Samples = NDArray[np.float32]
Tell = Callable[[str], None]

LINE_HZ = 8000
STEERING_KEYS, HIDDEN_KEY = ("0", "*", "#"), "•"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySettings:
    """How to replay. target: a server, host:port; empty: one of our own (`replay_here`). tls: of the named server, None: in clear.

    channel: left, right or caller-guess: the caller's of two. raw: how files without a head are written. reference: what was
    really said, a folder or file as in references.py. jobs: calls at a time. tail_s: how long to wait for the bot after the file.
    after_greeting: hold the file until the bot has greeted, for clips that hold one question rather than a whole call.
    """

    target: str = ""
    token: str = ""
    tls: ClientTls | None = None
    codec: Codec = Codec.PCMA
    channel: str = ""
    raw: RawFormat | None = None
    reference: Path | None = None
    jobs: int = 1
    out_dir: Path = Path("out/replay")
    after_greeting: bool = False
    tail_s: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Booth:
    """Where calls are made. stub: of a server, or of what stands for one; how: at which speed and over what, for the report."""

    stub: pb_grpc.HotlineAsyncStub
    token: str = ""
    how: str = "at the speed of speech, over gRPC"
    on_event: Callable[[CallEvent], None] | None = None


async def replay_here(paths: Sequence[Path], settings: ReplaySettings, *, tell: Tell = print, on_terminal: bool = False) -> int:
    """Replay to the named server, or to one that runs as long as the replay. Raises ServerFailed, ReferenceWrong. The exit code."""
    if settings.target:
        return await replay_files(paths, settings, tell=tell, on_terminal=on_terminal)

    @asynccontextmanager
    async def own_booth() -> AsyncGenerator[Booth, None]:
        tell("starting a server for this replay (--target names a running one)")
        async with own_server(settings.out_dir) as server, open_channel(server.target) as channel:
            yield Booth(stub=pb_grpc.HotlineStub(channel), token=server.token)

    return await replay_at(own_booth(), paths, settings, tell=tell, on_terminal=on_terminal)


async def replay_files(
    paths: Sequence[Path],
    settings: ReplaySettings,
    *,
    tell: Tell = print,
    on_terminal: bool = False,
    on_event: Callable[[CallEvent], None] | None = None,
) -> int:
    """Replay to the server that the settings name. Raises ReferenceWrong. The exit code: 1 if a recording failed."""

    @asynccontextmanager
    async def booth() -> AsyncGenerator[Booth, None]:
        credentials = await asyncio.to_thread(channel_credentials, settings.tls) if settings.tls is not None else None
        async with open_channel(settings.target, credentials) as channel:
            yield Booth(stub=pb_grpc.HotlineStub(channel), token=settings.token, on_event=on_event)

    return await replay_at(booth(), paths, settings, tell=tell, on_terminal=on_terminal)


async def replay_at(
    booth: AbstractAsyncContextManager[Booth], paths: Sequence[Path], settings: ReplaySettings, *, tell: Tell, on_terminal: bool
) -> int:
    """Look at every recording; enter the booth if one can be played, and play. Raises ReferenceWrong. The exit code."""
    found = await asyncio.to_thread(recordings_in, paths)
    if found.left_out:
        tell(f"{found.left_out} files in the folders are no recordings: left out")
    if not found.files:
        raise NotARecording("no recording was found", what_to_do="name recordings, or folders that hold some")
    references = await asyncio.to_thread(load_references, settings.reference, found.files)
    reports = {path: await _in_words(path, asyncio.to_thread(_looked_at, path, settings)) for path in found.files}
    playable = [path for path, report in reports.items() if not report.error]
    for report in reports.values():
        if report.error:
            tell(f"▶ {report.name}\n  ✗ {report.error}")
    how = ""
    if playable:
        folders = _fresh_folders(settings.out_dir, playable)
        async with booth as open_booth:
            how, began_s = open_booth.how, time.perf_counter()  # not the loop's clock: it may jump
            with Progress(len(playable), tell, on_terminal=on_terminal) as progress:
                await _play_all(folders, reports, _Player(open_booth, settings, references), progress)
            tell(_speed(reports.values(), time.perf_counter() - began_s))
    ordered = [reports[path] for path in found.files]
    wrong = any(report.error for report in ordered)
    try:
        tell(f"report: {await asyncio.to_thread(_write_reports, ordered, settings.out_dir, how)}")
    except OSError as error:
        wrong = True
        tell(f"the report can't be written: {error.strerror}")
    for line in closing(ordered):
        tell(line)
    return 1 if wrong else 0


async def replay_file(path: Path, folder: Path, booth: Booth, settings: ReplaySettings) -> CallReport:
    """Replay one file; call.wav, events.jsonl, transcript.txt, timeline.html go to the folder. Raises RecordingError, OSError."""
    recording = await asyncio.to_thread(open_recording, path, raw=settings.raw)
    party = caller_of(recording, settings.channel)
    caller = await asyncio.to_thread(recording.samples, party, LINE_HZ)
    keys = [press for press in recording.keys if press.party == party]
    line = LegSettings(codec=settings.codec, noise_under_speech=False)
    leg = CallerLeg(booth.stub, line, token=booth.token, on_event=booth.on_event)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(leg.run(), name="leg")
        await _play(leg, caller, keys, settings)
    report = running.result()
    if not leg.recording.duration_ms:
        return CallReport(path=path, recording=recording, leg=report, error=report.error or "the call never began")
    await asyncio.to_thread(_write, leg, folder, shown_name(path.name))
    turns = tuple(turns_of(leg.recording.events))
    return CallReport(path=path, recording=recording, leg=report, turns=turns, folder=folder, error=report.error)


@dataclass(frozen=True, slots=True)
class _Player:
    """One recording → its report, compared with its reference if it has one."""

    booth: Booth
    settings: ReplaySettings
    references: References

    async def play(self, path: Path, folder: Path) -> CallReport:
        """Raises RecordingError, OSError."""
        report = await replay_file(path, folder, self.booth, self.settings)
        said = self.references.of(path)
        if said is None or report.error:
            return report
        return replace(report, errors=await asyncio.to_thread(_compared, said, report.heard))


def _compared(said: str, heard: str) -> cer.Errors:
    """What was said is masked before anything else, as what was heard has been."""
    from hotline.compose_mind import mask_turns  # noqa: PLC0415  brings the whole product with it

    return cer.errors("".join(mask_turns(said.split("\n"))), heard)


async def _play_all(folders: dict[Path, Path], reports: dict[Path, CallReport], player: _Player, progress: Progress) -> None:
    """As many at a time as the settings say, begun in order."""
    waiting = iter(folders.items())

    async def play_next() -> None:
        for path, folder in waiting:
            progress.begun(f"▶ {shown_name(str(path))}")
            report = reports[path] = await _in_words(path, player.play(path, folder))
            progress.done(
                f"  ✗ {report.name}: {report.error}" if report.error else f"  → {report.folder}", wrong=bool(report.error)
            )

    async with asyncio.TaskGroup() as tasks:
        for _ in range(player.settings.jobs):
            tasks.create_task(play_next(), name="replay")


async def _in_words(path: Path, work: Awaitable[CallReport]) -> CallReport:
    """What goes wrong with one recording is its report."""
    try:
        return await work
    except OURS as wrong:
        told = explain(wrong)
        words = f"{told.message} ({told.what_to_do})" if told.what_to_do else told.message
        return CallReport(path=path, error=shown_name(words))
    except OSError as wrong:
        return CallReport(path=path, error=wrong.strerror or "can't be read or written")


def _looked_at(path: Path, settings: ReplaySettings) -> CallReport:
    """Whether it can be played. What was read is let go: of a thousand recordings not one is held."""
    recording = open_recording(path, raw=settings.raw)
    caller_of(recording, settings.channel)
    return CallReport(path=path)


async def _play(leg: CallerLeg, caller: Samples, keys: Iterable[KeyPress], settings: ReplaySettings) -> None:
    if settings.after_greeting:
        await leg.until(lambda: leg.bot_is_speaking)
        await until_bot_is_quiet(leg)
    leg.say(caller)
    began_ms = leg.now_ms
    for press in keys:
        due_ms = began_ms + press.at_ms
        await leg.until(partial(_has_come, leg, due_ms))
        leg.press(press.digit)
    await leg.until(lambda: not leg.voice.is_saying)
    said_ms = leg.now_ms
    await leg.until(lambda: leg.now_ms - said_ms > settings.tail_s * 1000)
    leg.hang_up()


def _without_digits(event: CallEvent) -> CallEvent:
    """Keys of a real caller may spell a number that nobody has masked; 0, * and # only steer the call."""
    if event.kind != "key" or event.text("digit") in STEERING_KEYS:
        return event
    return replace(event, fields={**event.fields, "digit": HIDDEN_KEY})


def _speed(reports: Iterable[CallReport], took_s: float) -> str:
    calls_s = sum(report.leg.duration_ms for report in reports if report.leg is not None) / 1000
    return f"{calls_s:.0f} s of calls in {took_s:.1f} s: {calls_s / max(took_s, 0.001):.1f} times the speed of speech"


def _has_come(leg: CallerLeg, due_ms: int) -> bool:
    return leg.now_ms >= due_ms


def _write(leg: CallerLeg, folder: Path, title: str) -> None:
    leg.recording.events[:] = map(_without_digits, leg.recording.events)
    leg.recording.write(folder)
    write_timeline(folder, title=title)


def _write_reports(reports: Sequence[CallReport], out_dir: Path, how: str) -> Path:
    page = write_reports(reports, out_dir, how=how)
    if any(report.folder is not None for report in reports):
        with suppress(EventsWrong):  # of another run's call in this folder: no reason to fail this one
            write_overview(out_dir)
    return page


def _fresh_folders(out_dir: Path, paths: Iterable[Path]) -> dict[Path, Path]:
    """A folder for each, by name; a second of one name, or of a run before, gets -2."""
    folders: dict[Path, Path] = {}
    for path in paths:
        stem = folder_name(path.stem)
        folder, number = out_dir / stem, 1
        while folder.exists() or folder in folders.values():
            number += 1
            folder = out_dir / f"{stem}-{number}"
        folders[path] = folder
    return folders
