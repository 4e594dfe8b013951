"""Spoken clauses that stay on disk."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tts.cache import AudioCache

KEY, OTHER = "ab" * 32, "cd" * 32


def tone(length: int = 8000, level: float = 0.5) -> np.ndarray:
    return (level * np.sin(np.arange(length) * 0.3)).astype(np.float32)


def test_what_was_stored_comes_back_after_a_restart(tmp_path: Path) -> None:
    AudioCache(tmp_path).store(KEY, tone())
    again = AudioCache(tmp_path)
    found = again.load(KEY)
    assert found is not None
    assert np.allclose(found, tone(), atol=1 / 32767)
    assert again.in_memory(KEY) is not None
    assert again.load(OTHER) is None
    assert (again.counts.hits, again.counts.misses) == (2, 1)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-2],
        lambda data: data[:-1],
        lambda data: b"x" * 3,
        lambda data: data[:20] + b"!" + data[21:],
    ],
)
def test_a_damaged_file_is_a_miss_and_goes(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    AudioCache(tmp_path).store(KEY, tone())
    (file,) = tmp_path.rglob("*.pcm")
    file.write_bytes(damage(file.read_bytes()))
    cache = AudioCache(tmp_path)
    assert cache.load(KEY) is None
    assert not file.exists()
    assert cache.counts.misses == 1


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = AudioCache(tmp_path / "file")
    cache.store(KEY, tone())
    assert cache.counts.not_written == 1
    assert cache.load(KEY) is not None  # from memory


def test_a_full_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    cache = AudioCache(tmp_path)
    cache.store(KEY, tone())
    assert cache.counts.not_written == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    cache = AudioCache(tmp_path, limit_mb=0.1, memory_mb=0)
    keys = [f"{n:02d}" + "0" * 62 for n in range(5)]
    for age, key in enumerate(keys):
        cache.store(key, tone(10_000))
        for file in tmp_path.rglob(f"{key[2:]}.pcm"):
            if file.parent.name == key[:2]:
                os.utime(file, (age, age))
        if age == 3:
            assert cache.load(keys[0]) is not None  # used again: now the youngest
    cache.store("99" + "0" * 62, tone(10_000))
    assert cache.load(keys[0]) is not None
    assert cache.load(keys[1]) is None
    assert cache.counts.evicted >= 1


def test_what_is_larger_than_the_limit_is_not_written(tmp_path: Path) -> None:
    AudioCache(tmp_path, limit_mb=0.001).store(KEY, tone())
    assert not list(tmp_path.rglob("*.pcm"))


@settings(max_examples=30)
@given(lengths=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4000)), max_size=30))
def test_neither_memory_nor_folder_outgrows_its_limit(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[tuple[int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    cache = AudioCache(folder, limit_mb=0.02, memory_mb=0.01)
    for name, length in lengths:
        cache.store(f"{name:02d}" * 32, tone(length))
    assert cache._memory_bytes == sum(map(len, cache._memory.values())) <= 0.01 * 2**20
    assert sum(file.stat().st_size for file in folder.rglob("*.pcm")) <= 0.02 * 2**20
