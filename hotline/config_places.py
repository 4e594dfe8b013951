"""Where a setting was written: its line in the file, or its environment variable; and the paths that count from the file's folder.

Knows no setting's meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hotline.paths import configs_dir

_KNOWLEDGE = "answering.knowledge_dir"
_FILES = (
    *(f"{section}.{name}" for section in ("server", "http") for name in ("tls_cert", "tls_key", "tls_client_ca")),
    *("mqtt.ca_file", "mqtt.cert_file", "mqtt.key_file"),
)
_NAMES_OR_FOLDERS = ("hearing.model", "answering.engine_model", "answering.dense_model")  # a folder's path holds a slash
_HEADER = re.compile(r"^\s*\[\s*([\w.\- ]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(r"^\s*([\w.\-]+)\s*=(.*)$")
_LONG_TEXTS = ('"""', "'''")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was read. text: of the file; variables: the environment's, by the place that each sets."""

    file: Path
    text: str
    variables: Mapping[str, str] = field(default_factory=dict)

    def told(self, place: str, problem: str) -> str:
        """The problem with where it comes from. place: of a setting or a section; the problem may name settings of it."""
        return f"{self._origin(place, problem)}: {problem}"

    def _origin(self, place: str, problem: str) -> str:
        lines, named = _lines(self.text), [f"{place}.{word}" for word in re.findall(r"\w+", problem.lower())]
        inside = [each for each in self.variables if each.startswith(f"{place}.")]
        if variables := [self.variables[each] for each in inside if each in named]:
            return ", ".join(dict.fromkeys(variables))
        parts = place.split(".")
        for at in (*named, *(".".join(parts[:n]) for n in range(len(parts), 0, -1))):
            if at in self.variables:
                return self.variables[at]
            if at in lines:
                return f"{self.file}, line {lines[at]}"
        return ", ".join(self.variables[each] for each in inside) or str(self.file)


def _lines(text: str) -> dict[str, int]:
    """The first line of every section and key, as far as they are written plainly."""
    found: dict[str, int] = {}
    section, long_text = "", ""
    for number, line in enumerate(text.splitlines(), start=1):
        if long_text:
            long_text = "" if long_text in line else long_text
        elif header := _HEADER.match(line):
            section = f"{header[1]}."
            found.setdefault(header[1], number)
        elif key := _KEY.match(line):
            found.setdefault(section + key[1], number)
            long_text = next((mark for mark in _LONG_TEXTS if key[2].count(mark) == 1), "")
    return found


def from_folder(values: Mapping[str, Any], folder: Path) -> None:
    """Relative paths of a settings file count from its folder. The shipped knowledge base keeps its short name."""
    for place in (_KNOWLEDGE, *_FILES, *_NAMES_OR_FOLDERS):
        section, key = place.split(".")
        inside = values.get(section)
        told = inside.get(key) if isinstance(inside, dict) else None
        if not isinstance(inside, dict) or not isinstance(told, str) or not told:
            continue
        if place in _NAMES_OR_FOLDERS and ("/" not in told or told.startswith("~")):
            continue
        if place == _KNOWLEDGE and not told.startswith("~") and folder.resolve() == configs_dir().resolve():
            continue
        inside[key] = str(folder / _own(told))


def from_here(place: str, told: str) -> str:
    """Relative paths of an environment variable count from the working directory, as a shell's do."""
    return str(Path.cwd() / _own(told)) if place == _KNOWLEDGE and told else told


def _own(told: str) -> Path:
    """~ is the user's folder, where there is one."""
    try:
        return Path(told).expanduser()
    except (RuntimeError, ValueError):
        return Path(told)
