"""A file → a recorded call, by its content; and which of its parties is the caller. The door of this room."""

from __future__ import annotations

import stat
from pathlib import Path

from hotline.recordings import detect
from hotline.recordings.capture import open_capture
from hotline.recordings.listen import listened
from hotline.recordings.packed import open_packed
from hotline.recordings.plain import RawFormat, open_raw, open_wav
from hotline.recordings.types import NotARecording, PartyUnclear, Recording, RecordingEmpty, Role, Stream
from hotline.wav import WavPacked

_NO_FILES = (
    *((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket")),
    *((stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device")),
)
CHANNELS = ("left", "right", "caller-guess")
KINDS = "WAV, FLAC, OGG, MP3, AMR, AU, AIFF, M4A, AAC, WMA, WebM, CAF, pcap"


def open_recording(path: Path, *, raw: RawFormat | None = None) -> Recording:
    """Read it through once, in bounded memory. raw: how a file of no known kind is written. Raises RecordingError, OSError."""
    return listened(path, _stream(path, raw))


def is_recording(path: Path) -> bool:
    """Whether it begins like one. Raises OSError."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return bool(detect.kind_of(file.read(detect.HEAD_BYTES)))


def caller_of(recording: Recording, channel: str = "") -> int:
    """The caller's party. channel: one of CHANNELS, empty: only if the file itself tells. Raises PartyUnclear."""
    parties = recording.parties
    if channel and channel not in CHANNELS:
        raise PartyUnclear(f"no channel is called {channel}", what_to_do=f"use {', '.join(CHANNELS)}")
    if len(parties) == 1:
        return 0
    if channel in CHANNELS[:2]:
        return CHANNELS.index(channel)
    told = [index for index, party in enumerate(parties) if party.role is Role.CALLER]
    own = [index for index, party in enumerate(parties) if not party.leak]
    for only in (told, own):
        if len(only) == 1:
            return only[0]
    if channel:
        return _guess(recording)
    sides = zip(CHANNELS[:2], parties, strict=False)
    names = ", ".join(f"{name} is {party.name}" for name, party in sides if name != party.name)
    if len(parties) > 2:  # noqa: PLR2004  two sides
        raise PartyUnclear(
            f"the file has {len(parties)} channels: no telling who calls",
            what_to_do="name the first or the second: --channel left or right; or cut the caller's out, here the third: "
            "ffmpeg -i FILE -af pan=mono|c0=c2 caller.wav",
        )
    raise PartyUnclear(
        f"the file has {len(parties)} channels{f' ({names})' if names else ''}",
        what_to_do="name the caller's: --channel left or --channel right; or --channel caller-guess: whoever does not speak first",
    )


def _guess(recording: Recording) -> int:
    """A hotline greets: whoever is heard second is the caller. Raises PartyUnclear where only one or none is heard."""
    began = {index: party.began_ms for index, party in enumerate(recording.parties) if party.began_ms is not None}
    if len(began) != 2 or len(set(began.values())) == 1:  # noqa: PLR2004  two sides
        raise PartyUnclear(
            f"{len(began)} of {len(recording.parties)} channels can be heard: no telling who calls",
            what_to_do="name the caller's: --channel left or --channel right",
        )
    return max(began, key=lambda index: began[index])


def _check_regular(path: Path) -> None:
    """A pipe or a device may never end. Raises NotARecording, OSError."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        what = next((name for is_one, name in _NO_FILES if is_one(mode)), "no file")
        raise NotARecording(f"this is {what}, no file with a recording", what_to_do="save the recording to a file, and name that")


def _stream(path: Path, raw: RawFormat | None) -> Stream:
    _check_regular(path)
    with path.open("rb") as file:
        head = file.read(detect.HEAD_BYTES)
    kind = detect.kind_of(head)
    if not head:
        raise RecordingEmpty("the file is empty", what_to_do="was anything recorded?")
    if not kind and raw is not None:
        return open_raw(path, raw)
    match kind:
        case detect.WAV:
            try:
                return open_wav(path)
            except WavPacked as packed:
                try:
                    return open_packed(path, kind)
                except NotARecording:  # this one names the codec
                    raise packed from None
        case detect.CAPTURE:
            return open_capture(path)
        case "":
            raise NotARecording(
                f"not a recording of a known kind ({KINDS})",
                what_to_do="convert it: ffmpeg -i FILE -ar 8000 call.wav; samples without a head: state them, --raw pcma:8000",
            )
        case _:
            return open_packed(path, kind)
