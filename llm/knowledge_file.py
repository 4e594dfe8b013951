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
import yaml

from llm.knowledge_mends import told
from llm.types import Entry, KnowledgeWrong, LawRef

SAMPLE_SOURCE = "样例，须由运营方替换"

_Step = str | int


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
    """An entry and where it stands. lines: of its fields and, as paraphrases/0 or source/1, of their items."""

    entry: Entry
    file: str
    lines: Mapping[str, int]

    def fault(self, field: str, problem: str, mend: str, *, note: bool = False) -> Fault:
        """A fault of this entry. field: as in lines, empty for the entry itself."""
        where = f"entry {self.entry.id}{_named(field.split('/')) if field else ''}"
        line = self.lines.get(field) or self.lines.get(field.split("/", maxsplit=1)[0]) or self.lines["id"]
        return Fault(file=self.file, line=line, where=where, problem=problem, mend=mend, note=note)


def read_file(file: Path, schema: Path) -> tuple[list[Placed], list[Fault]]:
    """Everything in one file. A file with faults gives the entries that have none. Raises KnowledgeWrong for a broken schema."""
    rules = _validator(schema)
    try:
        loader = _TextDates(file.read_text("utf-8"))
        try:
            root = loader.get_single_node()
            document = loader.construct_document(root) if root else None
        finally:
            loader.dispose()
    except yaml.YAMLError as broken:
        mark = getattr(broken, "problem_mark", None)
        return [], [_file_fault(file, "not valid YAML", "check the indentation and the colons", mark.line + 1 if mark else 0)]
    except (OSError, UnicodeDecodeError):
        return [], [_file_fault(file, "cannot be read", "save it as UTF-8 text")]
    lines = _Lines(root)
    complaints = [fault for error in rules.iter_errors(document) for fault in _faults(file, document, lines, error)]
    faults = sorted(dict.fromkeys([*_twice(file, document, lines), *complaints]), key=lambda fault: fault.line)
    if not isinstance(document, dict) or not isinstance(document.get("entries"), list):
        return [], faults
    wrong = {fault.where.split(",")[0] for fault in faults}
    sound = [(n, each) for n, each in enumerate(document["entries"]) if _entry_name(document, n) not in wrong]
    shared = {key: str(document.get(key, "")) for key in ("region", "intent")}
    return [Placed(entry=_entry(each, shared), file=file.name, lines=lines.below("entries", n)) for n, each in sound], faults


@functools.cache
def _validator(schema: Path) -> jsonschema.Draft202012Validator:
    try:
        rules = json.loads(schema.read_text("utf-8"))
    except (OSError, ValueError):
        raise KnowledgeWrong(f"{schema}: the schema of knowledge files is missing or broken; restore it") from None
    return jsonschema.Draft202012Validator(rules, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)


class _TextDates(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the fast one where it is built
    """YAML without its idea of dates: the schema wants to see what was written."""

    yaml_implicit_resolvers = {  # noqa: RUF012  the loader's own way
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


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


class _Lines:
    """Where each part of a document stands."""

    def __init__(self, root: yaml.Node | None) -> None:
        self._lines: dict[tuple[_Step, ...], int] = {}
        self.twice: list[tuple[tuple[_Step, ...], int, int]] = []
        if root:
            self._walk(root, ())

    def _walk(self, node: yaml.Node, path: tuple[_Step, ...]) -> None:
        self._lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            for number, child in enumerate(node.value):
                self._walk(child, (*path, number))
        elif isinstance(node, yaml.MappingNode):
            for key, child in node.value:
                step, line = str(key.value), key.start_mark.line + 1
                if (*path, step) in self._lines:
                    self.twice.append(((*path, step), self._lines[*path, step], line))
                self._lines[*path, step] = line
                self._walk(child, (*path, step))

    def of(self, path: Sequence[_Step]) -> int:
        """The line of this part, or of the nearest around it. 0: of nothing."""
        return next((self._lines[tuple(path[:n])] for n in range(len(path), -1, -1) if tuple(path[:n]) in self._lines), 0)

    def below(self, *path: _Step) -> dict[str, int]:
        """The lines of the parts of one part, by their path from there."""
        deep = len(path)
        return {"/".join(map(str, at[deep:])): line for at, line in self._lines.items() if at[:deep] == path and len(at) > deep}


def _entry_name(document: Mapping[str, Any], number: int) -> str:
    fields = document["entries"][number]
    name = fields.get("id") if isinstance(fields, dict) else None
    return f"entry {name or f'number {number + 1}'}"


def _named(path: Sequence[_Step]) -> str:
    """, field paraphrases item 2."""
    return "".join(f" item {int(part) + 1}" if str(part).isdecimal() else f", field {part}" for part in path)


def _where(document: object, path: Sequence[_Step]) -> str:
    """Where in the file, by the entry's id where it has one."""
    if not isinstance(document, dict) or len(path) < 2 or path[0] != "entries":  # noqa: PLR2004  entries, index
        return f"field {path[0]}" if path else "top of the file"
    return _entry_name(document, int(path[1])) + _named(path[2:])


# ---------------------------------------------------------------- faults


def _file_fault(file: Path, problem: str, mend: str, line: int = 0) -> Fault:
    return Fault(file=file.name, line=line, where="", problem=problem, mend=mend)


def _twice(file: Path, document: object, lines: _Lines) -> Iterator[Fault]:
    """YAML takes the last of two equal fields and says nothing."""
    for path, first, second in lines.twice:
        yield Fault(
            file=file.name,
            line=second,
            where=_where(document, path),
            problem=f"the field stands there twice, first on line {first}",
            mend="remove one of them",
        )


def _faults(file: Path, document: object, lines: _Lines, error: jsonschema.ValidationError) -> Iterator[Fault]:
    path = list(error.absolute_path)
    for problem, mend, step in told(error):
        at = lines.of([*path, step] if step else path)
        yield Fault(file=file.name, line=at, where=_where(document, path), problem=problem, mend=mend)
