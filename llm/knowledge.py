"""Knowledge files → checked entries. Knows nothing of questions, of search or of speech.

A file is YAML as `configs/schema/kb.schema.json` says. Every complaint names the file, the entry and the mend; one broken file
refuses the whole knowledge base, so that no call is answered from half of it.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from llm.types import Entry, KnowledgeWrong

_SCHEMA_AT = "schema/kb.schema.json"
_MENDS = {
    "additionalProperties": "remove the unknown field or correct its name",
    "required": "add the missing field",
    "pattern": "use lower-case letters, digits and hyphens",
    "maxLength": "shorten it",
    "minLength": "write it out",
    "minItems": "add more, as callers say it",
    "uniqueItems": "remove the repeated line",
    "enum": "use one of the listed values",
    "format": "write the date as 2026-01-31",
}


def load(folder: Path, *, today: dt.date | None = None, schema: Path | None = None) -> tuple[Entry, ...]:
    """Every entry of every *.yaml file in the folder, in the files' order. Raises KnowledgeWrong.

    today: an entry that ends before it is refused. schema: default `schema/kb.schema.json` beside the knowledge folder.
    """
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise KnowledgeWrong(f"{folder}: no *.yaml file there; point knowledge_dir at the folder of the knowledge base")
    check = _validator(schema or folder.parent / _SCHEMA_AT)
    entries: list[Entry] = []
    seen: dict[str, str] = {}
    for file in files:
        for entry in _read(file, check):
            if entry.id in seen:
                raise KnowledgeWrong(f"{file.name}: entry {entry.id}: the id is taken in {seen[entry.id]}; choose another")
            _check_dates(entry, file.name, today)
            seen[entry.id] = file.name
            entries.append(entry)
    return tuple(entries)


@functools.cache
def _validator(schema: Path) -> jsonschema.Draft202012Validator:
    try:
        rules = json.loads(schema.read_text("utf-8"))
    except (OSError, ValueError):
        raise KnowledgeWrong(f"{schema}: the schema of knowledge files is missing or broken; restore it") from None
    return jsonschema.Draft202012Validator(rules, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)


def _read(file: Path, check: jsonschema.Draft202012Validator) -> list[Entry]:
    try:
        document = yaml.load(file.read_text("utf-8"), Loader=_TextDates)  # noqa: S506  a SafeLoader that leaves dates as text
    except yaml.YAMLError as broken:
        mark = getattr(broken, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise KnowledgeWrong(f"{file.name}{line}: not valid YAML; check the indentation and the colons") from None
    except (OSError, UnicodeDecodeError):
        raise KnowledgeWrong(f"{file.name}: cannot be read; save it as UTF-8 text") from None
    for error in sorted(check.iter_errors(document), key=lambda error: list(map(str, error.absolute_path))):
        raise KnowledgeWrong(f"{file.name}: {_place(document, list(error.absolute_path))}: {_mend(error)}")
    region = document.get("region", "")
    return [_entry(fields, region) for fields in document["entries"]]


class _TextDates(yaml.SafeLoader):
    """YAML without its idea of dates: the schema wants to see what was written."""

    yaml_implicit_resolvers = {  # noqa: RUF012  the loader's own way
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _entry(fields: Mapping[str, Any], region: str) -> Entry:
    dates = {key: dt.date.fromisoformat(fields[key]) for key in ("valid_from", "valid_to") if key in fields}
    return Entry(**{"region": region, **fields, **dates, "paraphrases": tuple(fields["paraphrases"])})


def _check_dates(entry: Entry, file: str, today: dt.date | None) -> None:
    if entry.valid_from and entry.valid_to and entry.valid_to < entry.valid_from:
        raise KnowledgeWrong(f"{file}: entry {entry.id}: valid_to lies before valid_from; correct one of them")
    if today and entry.valid_to and entry.valid_to < today:
        raise KnowledgeWrong(f"{file}: entry {entry.id}: expired on {entry.valid_to}; renew it after a check, or remove it")


def _place(document: object, path: list[str | int]) -> str:
    """Where in the file, by the entry's id where it has one."""
    if not isinstance(document, dict) or len(path) < 2 or path[0] != "entries":  # noqa: PLR2004  entries, index
        return f"field {path[0]}" if path else "top of the file"
    number = int(path[1])
    fields = document["entries"][number]
    name = fields.get("id") if isinstance(fields, dict) else None
    field = "".join(f", field {part}" if isinstance(part, str) else f" item {part + 1}" for part in path[2:])
    return f"entry {name or f'number {number + 1}'}{field}"


def _mend(error: jsonschema.ValidationError) -> str:
    return f"{error.message[:160]}; {_MENDS.get(str(error.validator), 'correct it as configs/schema/kb.schema.json says')}"


def is_valid(entry: Entry, today: dt.date | None) -> bool:
    """May be spoken on that day (None: dates are not looked at)."""
    if today is None:
        return True
    return (entry.valid_from is None or entry.valid_from <= today) and (entry.valid_to is None or today <= entry.valid_to)
