"""configs/hotline.toml + environment → frozen settings. Unknown keys are refused with their place and the nearest right one.

Precedence: environment (HOTLINE_SECTION__KEY) over the file over the defaults. Every room owns its settings; this file nests them.
A relative path in the file counts from the file's folder, in a variable from the working directory.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_type_hints

from pydantic import TypeAdapter, ValidationError

from asr.types import HearingSettings
from hotline.config_places import Written, from_folder, from_here
from hotline.desk import ServerSettings
from hotline.errors import ConfigWrong
from hotline.handoff.types import MqttSettings
from hotline.http.types import HttpSettings
from hotline.parts import Phrases
from hotline.paths import configs_dir
from hotline.turns import TurnSettings
from hotline.zh.encoding import NotText, decoded
from llm.types import AnsweringSettings
from tts.types import SpeakingSettings

_PREFIX = "HOTLINE_"
_OTHER_VARIABLES = {"HOTLINE_MODELS__DIR", "HOTLINE_HUB", "HOTLINE_LOG_STRICT", "HOTLINE_CONFIG", "HOTLINE_CACHE_DIR"}
_LONGEST = {"ms": 3_600_000, "s": 43_200}  # an hour, half a day: more is a slip


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RecordSettings:
    """url: SQLAlchemy URL of the record; SQLite by default, relative to the working directory."""

    url: str = "sqlite+aiosqlite:///var/hotline.db"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSettings:
    """port: of the Prometheus page on loopback, 0 for none."""

    port: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """level: debug, info, warning, error; form: console or json."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    form: Literal["console", "json"] = "console"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HandoffSettings:
    """person_target: where `transfer` sends callers, a SIP URI or queue name."""

    person_target: str = "queue:general"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set."""

    server: ServerSettings = dataclasses.field(default_factory=ServerSettings)
    http: HttpSettings = dataclasses.field(default_factory=HttpSettings)
    turns: TurnSettings = dataclasses.field(default_factory=TurnSettings)
    phrases: Phrases = dataclasses.field(default_factory=Phrases)
    hearing: HearingSettings = dataclasses.field(default_factory=HearingSettings)
    answering: AnsweringSettings = dataclasses.field(default_factory=AnsweringSettings)
    speaking: SpeakingSettings = dataclasses.field(default_factory=SpeakingSettings)
    record: RecordSettings = dataclasses.field(default_factory=RecordSettings)
    handoff: HandoffSettings = dataclasses.field(default_factory=HandoffSettings)
    mqtt: MqttSettings = dataclasses.field(default_factory=MqttSettings)
    metrics: MetricsSettings = dataclasses.field(default_factory=MetricsSettings)
    log: LogSettings = dataclasses.field(default_factory=LogSettings)


def load(path: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings. path None: HOTLINE_CONFIG, else configs/hotline.toml. Raises ConfigWrong: it names place and mend."""
    return _loaded(path, environment)[0]


def settings_file(environment: Mapping[str, str] | None = None) -> Path:
    """The file in force when none is named: HOTLINE_CONFIG, else the shipped one."""
    named = (os.environ if environment is None else environment).get("HOTLINE_CONFIG")
    return Path(named) if named else configs_dir() / "hotline.toml"


def variable_of(place: str) -> str:
    """The environment variable of a setting, e.g. server.port → HOTLINE_SERVER__PORT."""
    return _PREFIX + place.upper().replace(".", "__")


def knowledge_folder(settings: Settings) -> Path:
    """Where the knowledge base lies: a default counts from the shipped configuration."""
    return configs_dir() / settings.answering.knowledge_dir


def variables_of(environment: Mapping[str, str] | None = None) -> list[str]:
    """The environment variables that are settings."""
    found = os.environ if environment is None else environment
    return sorted(name for name in found if name.startswith(_PREFIX) and name not in _OTHER_VARIABLES)


def check(path: Path, environment: Mapping[str, str] | None = None) -> Settings:
    """What would be used: the file and the environment, and what only shows when parts are put together. Raises ConfigWrong."""
    settings, written = _loaded(path, environment)
    folder = knowledge_folder(settings)
    if not folder.is_dir():
        told = written.told("answering.knowledge_dir", f"answering.knowledge_dir: no folder {folder}")
        raise ConfigWrong(told, what_to_do="name the folder of the knowledge base")
    ports = {"server.port": settings.server.port, "http.port": settings.http.port, "metrics.port": settings.metrics.port}
    if settings.mqtt.embedded:
        ports["mqtt.port"] = settings.mqtt.port
    seen: dict[int, str] = {}
    for place, port in ports.items():
        if port and port in seen:
            told = written.told(place, f"{place} and {seen[port]} are both {port}")
            raise ConfigWrong(told, what_to_do="give each a port of its own")
        seen[port] = place
    return settings


def _loaded(path: Path | None, environment: Mapping[str, str] | None) -> tuple[Settings, Written]:
    environment = os.environ if environment is None else environment
    path = path or settings_file(environment)
    text = _read(path)
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigWrong(f"{path} is not TOML: {error}", what_to_do="mend the named line") from None
    from_folder(values, path.absolute().parent)
    variables = {_set(values, name, environment[name]): name for name in variables_of(environment)}
    written = Written(file=path, text=text, variables=variables)
    return _checked(values, written), written


def _read(path: Path) -> str:
    try:
        return decoded(path.read_bytes())
    except FileNotFoundError:
        raise ConfigWrong(f"no configuration at {path}", what_to_do="name a file with --config, or HOTLINE_CONFIG") from None
    except OSError as error:
        raise ConfigWrong(f"{path} can't be read: {error.strerror}", what_to_do="name a file with --config") from None
    except NotText as error:
        raise ConfigWrong(f"{path} {error}", what_to_do="save it as UTF-8") from None


def _set(values: dict[str, Any], name: str, text: str) -> str:
    """Put a variable's text where it belongs, and tell where that is."""
    keys = name.removeprefix(_PREFIX).lower().split("__")
    if not keys[1:] or not all(keys):
        raise ConfigWrong(f"environment variable {name} names no setting", what_to_do="write HOTLINE_SECTION__KEY")
    place = values
    for key in keys[:-1]:
        place = place.setdefault(key, {})
        if not isinstance(place, dict):
            raise ConfigWrong(f"environment variable {name}: {key} is no section", what_to_do="write HOTLINE_SECTION__KEY")
    place[keys[-1]] = from_here(".".join(keys), text)
    return ".".join(keys)


def _checked(values: dict[str, Any], written: Written) -> Settings:
    unknown = list(_unknown(values, Settings, ()))
    if "max_call_ms" in values.get("turns", {}):  # two knobs for one thing would be one that does nothing
        unknown.append(("turns.max_call_ms", "turns.max_call_ms is server.max_call_s"))
    if unknown:
        raise _wrong(written, unknown, "mend or remove the key")
    try:
        settings = TypeAdapter(Settings).validate_python(values)
    except ValidationError as error:
        each = ((".".join(map(str, one["loc"])), _in_words(one)) for one in error.errors(include_input=False, include_url=False))
        raise _wrong(written, [(place, f"{place}: {problem}") for place, problem in each], "mend the named values") from None
    if beyond := list(_beyond(settings)):
        raise _wrong(written, beyond, "mend the named values")
    return settings


def _wrong(written: Written, problems: Iterable[tuple[str, str]], what_to_do: str) -> ConfigWrong:
    return ConfigWrong("; ".join(written.told(place, problem) for place, problem in problems), what_to_do=what_to_do)


def _in_words(error: Mapping[str, Any]) -> str:
    if error["type"] == "tuple_type":
        return 'must be a list of texts, in the file: ["…", "…"]'
    return str(error["msg"]).removeprefix("Value error, ")


def _beyond(settings: Any, where: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401  any settings dataclass
    """Numbers that no one means: times without end, and what is no number."""
    for field in dataclasses.fields(settings):
        place, value, unit = f"{where}{field.name}", getattr(settings, field.name), field.name.rsplit("_", 1)[-1]
        if dataclasses.is_dataclass(value):
            yield from _beyond(value, f"{place}.")
        elif isinstance(value, float) and not math.isfinite(value):
            yield place, f"{place} must be a number"
        elif unit in _LONGEST and not 0 <= value <= _LONGEST[unit]:
            yield place, f"{place} must be 0 to {_LONGEST[unit]} {unit}"


def _unknown(values: Mapping[str, Any], kind: Any, where: tuple[str, ...]) -> Iterator[tuple[str, str]]:  # noqa: ANN401  any settings dataclass
    fields = {field.name: field for field in dataclasses.fields(kind)}
    hints = get_type_hints(kind)
    for key, value in values.items():
        place = ".".join((*where, key))
        if key not in fields:
            near = difflib.get_close_matches(key, fields, n=1)
            hint = f", did you mean {near[0]}?" if near else f" (known: {', '.join(sorted(fields))})"
            yield place, f"unknown setting {place}{hint}"
        elif dataclasses.is_dataclass(hints[key]):
            if isinstance(value, Mapping):
                yield from _unknown(value, hints[key], (*where, key))
            else:
                yield place, f"{place} must be a section"
