"""Spoken clauses in → files by content hash, and back. Knows nothing of text: keys are hashes that `speech` makes.

A file is a header (magic, CRC-32 of the samples) and int16 samples at the line's rate. The folder is bounded: what was not
used for longest goes first. A full disk or a damaged file costs a synthesis and is counted; it is never an error.
"""

import contextlib
import os
import struct
import tempfile
import threading
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_HEADER = struct.Struct("<4sI")
_MAGIC = b"HLS1"
_SUFFIX = ".pcm"
_KEEP_SHARE = 0.9  # evict down to this, so that not every write evicts


@dataclass(slots=True, kw_only=True)
class CacheCounts:
    """What happened since the start."""

    hits: int = 0
    misses: int = 0
    damaged: int = 0
    not_written: int = 0
    evicted: int = 0


class AudioCache:
    """A bounded folder with a small bounded memory in front. Safe from several threads; several processes may share the folder."""

    def __init__(self, folder: Path, *, limit_mb: float = 256, memory_mb: float = 8) -> None:
        self.counts = CacheCounts()
        self._folder = folder
        self._limit_bytes = int(limit_mb * 2**20)
        self._memory_limit_bytes = int(memory_mb * 2**20)
        self._memory: OrderedDict[str, bytes] = OrderedDict()
        self._memory_bytes = 0
        self._disk_bytes: int | None = None  # counted at the first write
        self._lock = threading.Lock()  # memory and counts: never held while the disk works, since the event loop takes it
        self._eviction = threading.Lock()

    def in_memory(self, key: str) -> NDArray[np.float32] | None:
        """The samples if they are at hand without touching the disk."""
        with self._lock:
            pcm = self._memory.get(key)
            if pcm is None:
                return None
            self._memory.move_to_end(key)
            self.counts.hits += 1
        return _samples(pcm)

    def load(self, key: str) -> NDArray[np.float32] | None:
        """The samples, or None. Reads a file: not for the event loop."""
        if (found := self.in_memory(key)) is not None:
            return found
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            content = b""
        pcm = content[_HEADER.size :]
        whole = len(content) >= _HEADER.size and len(pcm) % 2 == 0 and _HEADER.unpack_from(content) == (_MAGIC, zlib.crc32(pcm))
        with self._lock:
            if not whole:
                self.counts.misses += 1
                self.counts.damaged += bool(content)
            else:
                self.counts.hits += 1
                self._remember(key, pcm)
        if not whole:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return _samples(pcm)

    def store(self, key: str, samples: NDArray[np.float32]) -> None:
        """Keep samples. Writes a file: not for the event loop."""
        pcm = np.round(np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes()
        with self._lock:
            self._remember(key, pcm)
        content = _HEADER.pack(_MAGIC, zlib.crc32(pcm)) + pcm
        if len(content) > self._limit_bytes:
            return
        try:
            self._write(self._path(key), content)
        except OSError:
            with self._lock:
                self.counts.not_written += 1
            return
        with self._eviction:
            self._make_room(len(content))

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / (key[2:] + _SUFFIX)

    def _write(self, path: Path, content: bytes) -> None:
        """Whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(name).replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise

    def _remember(self, key: str, pcm: bytes) -> None:
        if len(pcm) > self._memory_limit_bytes:
            return
        self._memory_bytes += len(pcm) - len(self._memory.pop(key, b""))
        self._memory[key] = pcm
        while self._memory_bytes > self._memory_limit_bytes:
            _, gone = self._memory.popitem(last=False)
            self._memory_bytes -= len(gone)

    def _make_room(self, written_bytes: int) -> None:
        """Evict the least recently used when the folder has outgrown its limit."""
        if self._disk_bytes is not None:
            self._disk_bytes += written_bytes
            if self._disk_bytes <= self._limit_bytes:
                return
        files: list[tuple[float, int, Path]] = []
        for path in self._folder.glob(f"*/*{_SUFFIX}"):
            with contextlib.suppress(OSError):
                status = path.stat()
                files.append((status.st_mtime, status.st_size, path))
        self._disk_bytes = sum(size for _, size, _ in files)
        if self._disk_bytes <= self._limit_bytes:
            return
        for _, size, path in sorted(files):
            if self._disk_bytes <= self._limit_bytes * _KEEP_SHARE:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                self._disk_bytes -= size
                self.counts.evicted += 1


def _samples(pcm: bytes) -> NDArray[np.float32]:
    return np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(32767)
