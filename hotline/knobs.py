"""Settings → a list of knobs: place, unit, default, value, where the value came from, what it is for.

What a knob is for is written once, beside it in configs/hotline.toml; `hotline config` and docs/configuration.md show it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_type_hints

from hotline.config import Settings, knowledge_folder, load, variable_of
from hotline.paths import configs_dir

SECRET = "(set, not shown)"  # noqa: S105  what stands for one
_SECRETS = {"token", "password"}
_UNITS = {
    "ms": "ms",
    "s": "s",
    "mb": "MB",
    "bytes": "bytes",
    "hz": "Hz",
    "dbov": "dBov",
    "dbfs": "dBFS",
    "tokens": "tokens",
    "minute": "a minute",
    "days": "days",
}
_ELSEWHERE = {"turns.max_call_ms"}  # set by server.max_call_s
_LINE = re.compile(r"^(?:# )?(?P<key>[a-z_0-9]+) = (?P<value>.*?)(?:\s+# (?P<told>.*))?$")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')


_PAGE_TOP = """\
# Configuration

<!-- made by `hotline config docs`; change configs/hotline.toml and run it again -->

Settings stand in `configs/hotline.toml`, or in the file that `--config` or `HOTLINE_CONFIG` names. An environment variable wins
over the file: `HOTLINE_SECTION__KEY`, with two underscores between section and key. Unknown keys are refused, with the nearest
right one. `hotline config show` prints what is in force and where each value came from; `hotline config check` says whether the
file and the environment are right. Units stand in the names; times may be an hour (`_ms`) or half a day (`_s`) at most.

Relative paths in a file (`knowledge_dir`, certificates, folders of models) count from that file's folder, in an environment
variable from the working directory. The record's `url` counts from the working directory."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One setting. place: section.key; source: default, file, or the environment variable; told: what it is for, may be empty."""

    place: str
    unit: str
    default: Any
    value: Any
    source: str
    told: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return variable_of(self.place)


def knobs(path: Path | None = None, environment: Mapping[str, str] | None = None) -> list[Knob]:
    """Every knob, in the file's order of sections. Raises ConfigWrong."""
    environment = os.environ if environment is None else environment
    settings = load(path, environment)
    told = _told()
    found = []
    for place, default in _values(Settings()):
        value = dict(_values(settings))[place]
        shown = str(knowledge_folder(settings)) if place == "answering.knowledge_dir" else value  # which one it really is
        found.append(
            Knob(
                place=place,
                unit=_unit(place),
                default=_safe(place, default),
                value=_safe(place, shown),
                source=_source(place, default, value, environment),
                told=told.get(place, ""),
            )
        )
    return found


def table(found: list[Knob]) -> str:
    """A page for people: one line a knob, sections apart."""
    lines, section = [], ""
    for knob in found:
        own, _, key = knob.place.rpartition(".")
        if own != section:
            section = own
            lines.append(f"\n[{section}]")
        unit = f" {knob.unit}" if knob.unit else ""
        came = "" if knob.source == "default" else f"   ← {knob.source}, default {_shown(knob.default)}"
        lines.append(f"  {key} = {_shown(knob.value)}{unit}{came}")
        if knob.told:
            lines.append(f"      {knob.told}")
    return "\n".join(lines).lstrip("\n")


def as_json(found: list[Knob]) -> str:
    """The same for programs: a list of objects."""
    rows = [{**dataclasses.asdict(knob), "variable": knob.variable} for knob in found]
    return json.dumps(rows, ensure_ascii=False, indent=1, default=str)


def as_page(found: list[Knob]) -> str:
    """docs/configuration.md: every knob with its unit, default, variable and purpose."""
    lines = [_PAGE_TOP]
    section = ""
    for knob in found:
        own, _, key = knob.place.rpartition(".")
        if own != section:
            section = own
            lines += ["", f"## {section}", "", "| knob | default | unit | what it is for |", "| --- | --- | --- | --- |"]
        told = knob.told.replace("|", "\\|")
        lines.append(f"| `{key}` | {_cell(knob.default)} | {knob.unit} | {told} |")
    return "\n".join(lines) + "\n"


def _values(settings: Any, where: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401  any settings dataclass
    hints = get_type_hints(type(settings))
    for field in dataclasses.fields(settings):
        place, value = f"{where}{field.name}", getattr(settings, field.name)
        if dataclasses.is_dataclass(hints[field.name]):
            yield from _values(value, f"{place}.")
        elif isinstance(value, Mapping):
            yield from ((f"{place}.{key}", each) for key, each in value.items())
        elif place not in _ELSEWHERE:
            yield place, value


def _source(place: str, default: Any, value: Any, environment: Mapping[str, str]) -> str:  # noqa: ANN401  any setting
    """A file that states the default is no news."""
    if variable_of(place) in environment:
        return variable_of(place)
    return "default" if value == default else "file"


def _unit(place: str) -> str:
    parts = place.rsplit(".", 1)[-1].split("_")
    if parts[-1] == "minute":
        return _UNITS["minute"]
    return _UNITS.get(parts[-1], "") if len(parts) > 1 else ""


def _safe(place: str, value: Any) -> Any:  # noqa: ANN401  any setting
    if place.rsplit(".", 1)[-1] in _SECRETS and value:
        return SECRET
    return re.sub(r"//[^/@]*:[^/@]*@", "//…@", value) if isinstance(value, str) else value  # a database's password


def _shown(value: Any) -> str:  # noqa: ANN401  any setting
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False, default=str)


def _cell(value: Any) -> str:  # noqa: ANN401  any setting
    return f"`{_shown(value)}`".replace("|", "\\|")


def _told() -> dict[str, str]:
    """The comments of the shipped file."""
    found, section = {}, ""
    for line in (configs_dir() / "hotline.toml").read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line[1 : line.index("]")]
        elif (read := _LINE.match(_TEXT.sub(lambda text: text[0].replace("#", "＃"), line))) and _is_value(read["value"]):
            found[f"{section}.{read['key']}"] = (read["told"] or "").strip()
    return found


def _is_value(text: str) -> bool:
    """Prose in a comment may hold an equals sign too."""
    try:
        tomllib.loads(f"key = {text}")
    except tomllib.TOMLDecodeError:
        return False
    return True
