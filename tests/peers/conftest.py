"""What servers of different tests share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def voice_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first server fills it; the next ones start in half the time."""
    return tmp_path_factory.mktemp("cache")
