"""What was really said on recorded calls: a folder of NAME.txt, or lines of {"file": …, "text": …}. Raw: for the masker only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from hotline.errors import HotlineError

MAX_BYTES = 10_000_000
_FORM = 'write lines of {"file": "call.wav", "text": "…"}'


class ReferenceWrong(HotlineError):
    """References can't be read. The message names the line, not its content."""

    code = "replay.reference_wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """folder: of NAME.txt files; texts: by a recording's path, name or stem, as the lines named it."""

    folder: Path | None = None
    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, recording: Path) -> str | None:
        """The raw text of one recording, None where there is none. Raises ReferenceWrong, OSError."""
        if self.folder is not None:
            for beside in (self.folder / f"{recording.stem}.txt", self.folder / f"{recording.name}.txt"):
                if beside.is_file():
                    return _text(beside)
            return None
        return next((self.texts[name] for name in (str(recording), recording.name, recording.stem) if name in self.texts), None)


def load_references(path: Path | None) -> References:
    """None: none. Raises ReferenceWrong, OSError."""
    if path is None:
        return References()
    if path.is_dir():
        return References(folder=path)
    return References(
        texts=dict(_pair(line, number, path) for number, line in enumerate(_text(path).split("\n"), 1) if line.strip())
    )


def _text(path: Path) -> str:
    if path.stat().st_size > MAX_BYTES:
        raise ReferenceWrong(f"{path.name} is larger than {MAX_BYTES // 1_000_000} MB", what_to_do="is this a text?")
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ReferenceWrong(f"{path.name} isn't text in UTF-8", what_to_do="save it as UTF-8") from None


def _pair(line: str, number: int, path: Path) -> tuple[str, str]:
    try:
        told = json.loads(line)
        file, text = told["file"], told["text"]
    except (ValueError, KeyError, TypeError, RecursionError):
        file, text = None, None
    if not isinstance(file, str) or not isinstance(text, str):
        raise ReferenceWrong(f"{path.name}, line {number}: no reference", what_to_do=_FORM)
    return file, text
