"""Paths on the command line, looked at before anything begins. Each function is an argparse type: what can't work is wrong usage.

A file must be a regular one: a pipe or a device may never end.
"""

from __future__ import annotations

import argparse
import os
import stat
from pathlib import Path


def file_to_read(told: str) -> Path:
    """A regular file that is there and may be read."""
    mode = _mode(told)
    if stat.S_ISDIR(mode):
        raise argparse.ArgumentTypeError(f"{told} is a folder: name a file")
    if not stat.S_ISREG(mode):
        raise argparse.ArgumentTypeError(f"{told} is no regular file: save its content to one first")
    return _readable(told)


def folder_to_read(told: str) -> Path:
    """A folder that is there and may be read."""
    if not stat.S_ISDIR(_mode(told)):
        raise argparse.ArgumentTypeError(f"{told} is no folder")
    return _readable(told)


def file_or_folder(told: str) -> Path:
    """Either of the two."""
    return folder_to_read(told) if stat.S_ISDIR(_mode(told)) else file_to_read(told)


def file_to_write(told: str) -> Path:
    """A file, there or not, that may be written; the folders on the way to it are made when it is."""
    place = _writable(told)
    if told.endswith(os.sep) or (place == Path(told) and place.is_dir()):
        raise argparse.ArgumentTypeError(f"{told} is a folder: name a file in it")
    return Path(told)


def folder_to_fill(told: str) -> Path:
    """A folder, there or not, that may be written into."""
    place = _writable(told)
    if place == Path(told) and not place.is_dir():
        raise argparse.ArgumentTypeError(f"{told} is a file: name a folder")
    return Path(told)


def _mode(told: str) -> int:
    try:
        return Path(told).stat().st_mode
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{told}: {error.strerror}") from None


def _readable(told: str) -> Path:
    if not os.access(told, os.R_OK):
        raise argparse.ArgumentTypeError(f"{told}: Permission denied")
    return Path(told)


def _writable(told: str) -> Path:
    """What is there of it: itself, or the nearest folder above."""
    place = Path(told)
    try:
        while not _is_there(place):
            place = place.parent
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{told}: {error.strerror}") from None
    if place != Path(told) and not place.is_dir():
        raise argparse.ArgumentTypeError(f"{told}: {place} is a file, not a folder")
    if not os.access(place, os.W_OK):
        raise argparse.ArgumentTypeError(f"{told}: {place} may not be written")
    return place


def _is_there(place: Path) -> bool:
    """Raises OSError where it can't be told: a name too long, links in a circle."""
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
