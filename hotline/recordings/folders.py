"""Names of files and folders → the recordings among them, in order. Looks at first bytes only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hotline.recordings.files import is_recording

_ENDINGS = frozenset({
    *(".wav", ".wave", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".amr", ".au", ".aif", ".aiff", ".m4a", ".mp4", ".gsm", ".wma"),
    *(".webm", ".aac"),
    *(".pcap", ".pcapng", ".cap", ".raw", ".pcm", ".al", ".alaw", ".ul", ".ulaw", ".sln", ".g711", ".l16"),
})


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """files: to be read; left_out: of the folders, what neither begins like a recording nor is named like one."""

    files: tuple[Path, ...]
    left_out: int = 0


def recordings_in(paths: Iterable[Path]) -> Found:
    """Folders are searched to their bottom, in order of names; hidden files are left out. A file that is named is always there."""
    files: dict[Path, None] = {}
    left_out = 0
    for path in paths:
        if not _is_folder(path):
            files[path] = None
            continue
        for inside in sorted(path.rglob("*")):
            if not inside.is_file() or any(part.startswith(".") for part in inside.relative_to(path).parts):
                continue
            if _looks_like_one(inside):
                files[inside] = None
            else:
                left_out += 1
    return Found(files=tuple(files), left_out=left_out)


def _is_folder(path: Path) -> bool:
    """What can't be told (a name too long, a folder that may not be entered) is told when it is opened, as a file."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _looks_like_one(path: Path) -> bool:
    """By its name, so that a broken one is told; else by its first bytes."""
    if path.suffix.lower() in _ENDINGS:
        return True
    try:
        return is_recording(path)
    except OSError:
        return False
