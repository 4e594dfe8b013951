"""One knowledge file → its entries and every fault in it, each with its line. Knows nothing of other files and of today.

A file is YAML as `configs/schema/kb.schema.json` says.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from llm.knowledge_mends import told
from llm.knowledge_yaml import Lines, NotYaml, Step, read_yaml, typed_wrong
from llm.types import Entry, KnowledgeWrong, LawRef

SAMPLE_SOURCE = "样例，须由运营方替换"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something to mend. where: the entry and the field, may be empty; note: worth a look, but no reason to refuse the file."""

    file: str
    line: int
    where: str
    problem: str
    mend: str
    note: bool = False

    def __str__(self) -> str:
        """On one line: file, line, place, problem, mend."""
        line = f", line {self.line}" if self.line else ""
        return f"{self.file}{line}: {f'{self.where}: ' if self.where else ''}{self.problem}; {self.mend}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An entry and where it stands. lines: of its fields and, as paraphrases/0 or source/1, of their items.

    above: fields that it has from the top of the file, with their lines there.
    """

    entry: Entry
    file: str
    lines: Mapping[str, int]
    above: frozenset[str] = frozenset()

    def fault(self, field: str, problem: str, mend: str, *, note: bool = False) -> Fault:
        """A fault of this entry. field: as in lines, empty for the entry itself."""
        where = f"entry {self.entry.id}{_named(field.split('/')) if field else ''}"
        line = self.lines.get(field) or self.lines.get(field.split("/", maxsplit=1)[0]) or self.lines["id"]
        return Fault(file=self.file, line=line, where=where, problem=problem, mend=mend, note=note)


def read_file(file: Path, schema: Path) -> tuple[list[Placed], list[Fault]]:
    """Everything in one file. A file with faults gives the entries that have none. Raises KnowledgeWrong for a broken schema."""
    rules = _validator(schema)
    try:
        document, lines, text = read_yaml(file)
    except NotYaml as broken:
        return [], [_file_fault(file, broken.problem, broken.mend, broken.line)]
    if not isinstance(document, dict):
        return [], [_no_fields(file, document, text, lines)]
    complaints = [fault for error in rules.iter_errors(document) for fault in _faults(file, document, lines, error)]
    faults = sorted(dict.fromkeys([*_twice(file, document, lines), *complaints]), key=lambda fault: fault.line)
    if not isinstance(document.get("entries"), list):
        return [], faults
    wrong = {fault.where.split(",")[0] for fault in faults}
    sound = [(n, each) for n, each in enumerate(document["entries"]) if _entry_name(document, n) not in wrong]
    shared = {key: str(document.get(key, "")) for key in ("region", "intent")}
    above = {key: lines.of([key]) for key in shared if key in document}
    placed = []
    for n, each in sound:
        own = {"id": lines.of(["entries", n])} | lines.below("entries", n)  # an id may be taken over with <<
        placed.append(Placed(entry=_entry(each, shared), file=file.name, lines=above | own, above=frozenset(above) - set(each)))
    return placed, faults


@functools.cache
def _validator(schema: Path) -> jsonschema.Draft202012Validator:
    try:
        rules = json.loads(schema.read_text("utf-8"))
    except (OSError, ValueError):
        raise KnowledgeWrong(f"{schema}: the schema of knowledge files is missing or broken; restore it") from None
    return jsonschema.Draft202012Validator(rules, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)


def _entry(fields: Mapping[str, Any], shared: Mapping[str, str]) -> Entry:
    dates = {key: dt.date.fromisoformat(fields[key]) for key in ("valid_from", "valid_to") if key in fields}
    source = fields["source"]
    laws: tuple[LawRef, ...] = ()
    if not isinstance(source, str):
        laws = tuple(
            LawRef(law=each["law"], article=each["article"], version=dt.date.fromisoformat(each["version"]))
            for each in (source if isinstance(source, list) else [source])
        )
        source = "；".join(map(str, laws))
    elif source == "sample":
        source = SAMPLE_SOURCE
    own = {"source": source, "laws": laws, "paraphrases": tuple(fields["paraphrases"])}
    return Entry(**{**shared, **fields, **dates, **own})


# ---------------------------------------------------------------- places


def _entry_name(document: Mapping[str, Any], number: int) -> str:
    fields = document["entries"][number]
    name = fields.get("id") if isinstance(fields, dict) else None
    return f"entry {name or f'number {number + 1}'}"


def _named(path: Sequence[Step]) -> str:
    """, field paraphrases item 2."""
    return "".join(f" item {int(part) + 1}" if str(part).isdecimal() else f", field {part}" for part in path)


def _where(document: object, path: Sequence[Step]) -> str:
    """Where in the file, by the entry's id where it has one."""
    if not isinstance(document, dict) or len(path) < 2 or path[0] != "entries":  # noqa: PLR2004  entries, index
        return f"field {path[0]}" if path else "top of the file"
    return _entry_name(document, int(path[1])) + _named(path[2:])


# ---------------------------------------------------------------- faults


def _file_fault(file: Path, problem: str, mend: str, line: int = 0) -> Fault:
    return Fault(file=file.name, line=line, where="", problem=problem, mend=mend)


def _no_fields(file: Path, document: object, text: str, lines: Lines) -> Fault:
    if document is None:
        return _file_fault(file, "holds no entries", "write 'entries:' and the first one below it, or remove the file")
    if slip := typed_wrong(text):
        return _file_fault(file, slip.problem, slip.mend, slip.line)
    what = "a list" if isinstance(document, list) else "a text"
    return _file_fault(file, f"{what} stands there alone", "write 'entries:' above the entries, and indent them", lines.of([]))


def _twice(file: Path, document: object, lines: Lines) -> Iterator[Fault]:
    """YAML takes the last of two equal fields and says nothing."""
    for path, first, second in lines.twice:
        yield Fault(
            file=file.name,
            line=second,
            where=_where(document, path),
            problem=f"the field stands there twice, first on line {first}",
            mend="remove one of them",
        )


def _faults(file: Path, document: object, lines: Lines, error: jsonschema.ValidationError) -> Iterator[Fault]:
    path = list(error.absolute_path)
    for problem, mend, step in told(error):
        at = lines.of([*path, step] if step else path)
        yield Fault(file=file.name, line=at, where=_where(document, path), problem=problem, mend=mend)
