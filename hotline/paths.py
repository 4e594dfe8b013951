"""Where things lie: the shipped configuration and the pulled models. Knows no file inside them."""

from __future__ import annotations

import os
from pathlib import Path

MODELS_DIR_VARIABLE = "HOTLINE_MODELS__DIR"


def configs_dir() -> Path:
    """The shipped ``configs``: beside the packages in a checkout, inside ``hotline`` once installed."""
    here = Path(__file__).resolve().parent
    return here / "configs" if (here / "configs").is_dir() else here.parent / "configs"


def models_dir() -> Path:
    """Where models live: a folder for each."""
    return Path(os.environ.get(MODELS_DIR_VARIABLE) or "~/.cache/hotline/models").expanduser()


def cache_dir() -> Path:
    """Where what can be made again is kept: HOTLINE_CACHE_DIR, else ``~/.cache/hotline``."""
    return Path(os.environ.get("HOTLINE_CACHE_DIR") or "~/.cache/hotline").expanduser()
