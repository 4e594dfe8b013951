"""What was really said on recorded calls: a folder of NAME.txt, or lines of {"file": …, "text": …}. Raw: for the masker only.

Read before the first call, so that a text which is broken is told then, not hours later.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from hotline.errors import HotlineError
from hotline.recordings.names import shown_name

MAX_BYTES = 10_000_000
_FORM = 'write lines of {"file": "call.wav", "text": "…"}'


class ReferenceWrong(HotlineError):
    """References can't be read. The message names the line, not its content."""

    code = "replay.reference_wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """texts: by a recording's path, name or stem."""

    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, recording: Path) -> str | None:
        """The raw text of one recording, None where there is none."""
        return next((self.texts[name] for name in (str(recording), recording.name, recording.stem) if name in self.texts), None)


def load_references(path: Path | None, recordings: Iterable[Path]) -> References:
    """Those of the recordings. None: none. Raises ReferenceWrong, which tells every text that is broken."""
    if path is None:
        return References()
    if path.is_dir():
        return References(texts=_beside(path, recordings))
    return References(
        texts=dict(_pair(line, number, path) for number, line in enumerate(_text(path).split("\n"), 1) if line.strip())
    )


def _beside(folder: Path, recordings: Iterable[Path]) -> dict[str, str]:
    """By a recording's path: NAME.txt or NAME.wav.txt of the folder."""
    texts: dict[str, str] = {}
    wrong: dict[str, ReferenceWrong] = {}
    for recording in recordings:
        for beside in (folder / f"{recording.stem}.txt", folder / f"{recording.name}.txt"):
            try:
                if beside.is_file():
                    texts[str(recording)] = _text(beside)
                    break
            except ReferenceWrong as error:
                wrong[beside.name] = error
                break
            except OSError:  # no file can have this name
                continue
    if len(wrong) > 1:
        raise ReferenceWrong("\n".join(map(str, wrong.values())), what_to_do="mend them, or take them out of the folder")
    for only in wrong.values():
        raise only
    return texts


def _text(path: Path) -> str:
    name = shown_name(path.name)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ReferenceWrong(f"{name} is larger than {MAX_BYTES // 1_000_000} MB", what_to_do="is this a text?")
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ReferenceWrong(f"{name} isn't text in UTF-8", what_to_do="save it as UTF-8") from None
    except OSError as error:
        raise ReferenceWrong(f"{name}: {error.strerror}", what_to_do="let it be read") from None


def _pair(line: str, number: int, path: Path) -> tuple[str, str]:
    try:
        told = json.loads(line)
        file, text = told["file"], told["text"]
    except (ValueError, KeyError, TypeError, RecursionError):
        file, text = None, None
    if not isinstance(file, str) or not isinstance(text, str):
        raise ReferenceWrong(f"{shown_name(path.name)}, line {number}: no reference", what_to_do=_FORM)
    return file, text
