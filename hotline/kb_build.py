"""`hotline kb build`: everything that is derived from the knowledge base, beforehand, so that a server starts at once.

Each state of the content has a folder of its own, named by a hash of all files that it is made of: what a running service reads is
never written again, and a folder appears whole or not at all. Intents and vectors lie beside, by hashes of their own, where a
server looks for them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from hotline.clock import utc_now
from hotline.config import Settings
from hotline.errors import NoRoom
from hotline.kb import entries_of, say, schema_of
from hotline.kb_export import as_jsonl
from hotline.kb_search import mind_of
from hotline.paths import cache_dir
from llm.intents_build import built_intents
from llm.types import Entry

_LAYOUT = "1"  # of the built folder: a new one makes all of them anew
_MANIFEST = "manifest.json"

Make = Callable[[Path, Sequence[Entry], Settings, Path], str]
"""Knowledge folder, its entries, the settings, the state's own folder → what was made, for people."""


def _entries(_folder: Path, entries: Sequence[Entry], _settings: Settings, out: Path) -> str:
    (out / "entries.jsonl").write_text(as_jsonl(entries), "utf-8")
    return f"{len(entries)} entries"


def _intents(folder: Path, entries: Sequence[Entry], _settings: Settings, _out: Path) -> str:
    if not (folder / "intents").is_dir():
        return "none: the folder has no intents/"
    model = built_intents(folder / "intents", entries, _cache(), schema=schema_of().with_name("intents.schema.json"))
    return f"{len(model.matter.names)} matters, {len(model.kind.names)} kinds"


def _vectors(folder: Path, _entries: Sequence[Entry], settings: Settings, _out: Path) -> str:
    if not settings.answering.dense_model:
        return "none: answering.dense_model is empty"
    with mind_of(folder, settings):
        return f"of {settings.answering.dense_model}, for the search's second voice"


_PARTS: tuple[tuple[str, Make], ...] = (("entries", _entries), ("intents", _intents), ("vectors", _vectors))


def _cache() -> Path:
    return cache_dir() / "kb"


def digest_of(folder: Path) -> str:
    """Changes with every file that something is made of; tests and notes are none."""
    told = hashlib.sha256(_LAYOUT.encode())
    for file in sorted([schema_of(), *folder.glob("*.yaml"), *folder.glob("intents/*.yaml"), *folder.glob("gate/*.yaml")]):
        told.update(f"\0{file.name}\0".encode())
        told.update(file.read_bytes())
    return told.hexdigest()[:16]


def built_folder(folder: Path) -> Path | None:
    """What was built of the folder as it is now; None: nothing yet."""
    place = _place(folder)
    return place if (place / _MANIFEST).is_file() else None


def _place(folder: Path) -> Path:
    """Built for a day: an entry that ends or begins changes what is built."""
    return _cache() / f"{digest_of(folder)}-{utc_now().date():%Y%m%d}"


def build_kb(folder: Path, settings: Settings) -> int:
    """Make what is not there yet, and say what. Raises KnowledgeWrong, IntentsWrong, NoRoom. Exit code."""
    entries = entries_of(folder)
    place = _place(folder)
    if built_folder(folder):
        say(f"built already: {place}")
        return 0
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".building-") as work:
            fresh = Path(work) / place.name
            fresh.mkdir()
            made = {name: _made(name, partial(make, folder, entries, settings, fresh)) for name, make in _PARTS}
            manifest = {"made_of": folder.name, "digest": place.name, "entries": len(entries), "parts": made}
            (fresh / _MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", "utf-8")
            shutil.rmtree(place, ignore_errors=True)
            fresh.rename(place)
    except OSError as error:
        raise NoRoom(f"{place.parent} can't be used: {error.strerror}", what_to_do="set HOTLINE_CACHE_DIR to a folder") from None
    say(f"built: {place}")
    return 0


def _made(name: str, make: Callable[[], str]) -> str:
    began = time.monotonic()
    told = make()
    say(f"  {name:<10} {told} ({time.monotonic() - began:.1f} s)")
    return told
