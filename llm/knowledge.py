"""A folder of knowledge files → checked entries. Knows nothing of questions, of search or of speech.

Every fault names the file, the line, the entry and the mend; one broken file refuses the whole knowledge base, so that no call is
answered from half of it. An entry whose time is over is left out instead: a hotline must not stay away on New Year's Day.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from llm.knowledge_file import Fault, Placed, read_file
from llm.types import Entry, KnowledgeWrong
from llm.wording import content, plain

_SCHEMA_AT = "schema/kb.schema.json"
_TOLD_AT_MOST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A knowledge folder as it is: the entries without a fault of their own, in the files' order, and every fault.

    files: how many were read.
    """

    placed: tuple[Placed, ...]
    faults: tuple[Fault, ...]
    files: int


def load(
    folder: Path,
    *,
    today: dt.date | None = None,
    schema: Path | None = None,
    left_out: Callable[[Entry], None] = lambda _: None,
) -> tuple[Entry, ...]:
    """Every entry of every *.yaml file in the folder itself, in the files' order. Raises KnowledgeWrong with the first faults.

    today: an entry that ended before it is left out, and told to left_out. schema: default schema/kb.schema.json beside it.
    """
    found = examine(folder, schema=schema)
    if faults := [fault for fault in found.faults if not fault.note]:
        told = "\n".join(map(str, faults[:_TOLD_AT_MOST]))
        more = len(faults) - _TOLD_AT_MOST
        raise KnowledgeWrong(told + (f"\nand {more} more; all of them: hotline kb check" if more > 0 else ""))
    entries = []
    for each in found.placed:
        if is_over(each.entry, today):
            left_out(each.entry)
        else:
            entries.append(each.entry)
    return tuple(entries)


def examine(folder: Path, *, schema: Path | None = None) -> Examined:
    """Read the folder's own *.yaml files and tell every fault. Raises KnowledgeWrong if there is nothing to read."""
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise KnowledgeWrong(f"{folder}: no *.yaml file there; point knowledge_dir at the folder of the knowledge base")
    placed: list[Placed] = []
    faults = [_misnamed(file) for file in sorted(folder.glob("*.yml"))]
    for file in files:
        entries, wrong = read_file(file, schema or folder.parent / _SCHEMA_AT)
        placed += entries
        faults += wrong
    faults += [*_dates(placed), *_ids(placed), *_wordings(placed), *_questions(placed)]
    return Examined(placed=tuple(placed), faults=tuple(faults), files=len(files))


def is_valid(entry: Entry, today: dt.date | None) -> bool:
    """May be spoken on that day (None: dates are not looked at)."""
    return today is None or ((entry.valid_from is None or entry.valid_from <= today) and not is_over(entry, today))


def is_over(entry: Entry, today: dt.date | None) -> bool:
    """Ended before that day."""
    return today is not None and entry.valid_to is not None and entry.valid_to < today


def expired(placed: Sequence[Placed], today: dt.date) -> Iterator[Fault]:
    """What must be renewed."""
    for each in placed:
        if is_over(each.entry, today):
            yield each.fault("valid_to", f"expired on {each.entry.valid_to}", "renew it after a check, or remove it")


def _misnamed(file: Path) -> Fault:
    return Fault(file=file.name, line=0, where="", problem="is not read", mend=f"name it {file.stem}.yaml")


def _dates(placed: Sequence[Placed]) -> Iterator[Fault]:
    for each in placed:
        entry = each.entry
        if entry.valid_from and entry.valid_to and entry.valid_to < entry.valid_from:
            yield each.fault(
                "valid_to", f"valid_to {entry.valid_to} lies before valid_from {entry.valid_from}", "correct one of them"
            )


def _ids(placed: Sequence[Placed]) -> Iterator[Fault]:
    """The same id again is another version: it must hold for another time."""
    by_id: dict[str, list[Placed]] = defaultdict(list)
    for each in placed:
        entry = each.entry
        other = next((known for known in by_id[entry.id] if _overlap(entry, known.entry)), None)
        if other and entry.valid_from == other.entry.valid_from:
            yield each.fault("id", f"the id is taken by {_at(other, 'id')}", "choose another")
        elif other:
            yield each.fault(
                "valid_from" if entry.valid_from else "id",
                f"it holds while the version at {_at(other, 'id')} does ({_period(other.entry)})",
                "end the older version with valid_to before the newer one begins; another matter needs another id",
            )
        by_id[entry.id].append(each)


def _wordings(placed: Sequence[Placed]) -> Iterator[Fault]:
    """What two entries both claim to answer is answered by neither."""
    seen: dict[str, list[tuple[Placed, str]]] = defaultdict(list)
    for each in placed:
        for field, text in _texts(each.entry):
            key = plain(text)
            other, there = next(((o, f) for o, f in seen[key] if o is each or _both_speak(each.entry, o.entry)), (None, ""))
            seen[key].append((each, field))
            if other is each:
                yield each.fault(field, f"says the same as line {_line(each, there)}", "remove the repeated line", note=True)
            elif other:
                told = f"{text}: the same words lead to entry {other.entry.id}, {_at(other, there)}"
                yield each.fault(field, told, "leave them to one of the two entries")


def _questions(placed: Sequence[Placed]) -> Iterator[Fault]:
    """Two entries that ask the same in other words of asking: 居住证怎么续签, 请问如何续签居住证."""
    seen: dict[str, list[Placed]] = defaultdict(list)
    for each in placed:
        key = "".join(sorted(content(each.entry.question)))
        for other in seen[key] if key else ():
            if plain(other.entry.question) != plain(each.entry.question) and _both_speak(each.entry, other.entry):
                yield each.fault(
                    "question",
                    f"asks the same as entry {other.entry.id}, {_at(other, 'question')}: {other.entry.question}",
                    "merge the two entries, or ask for what sets them apart",
                )
                break
        seen[key].append(each)


def _texts(entry: Entry) -> Iterator[tuple[str, str]]:
    yield "question", entry.question
    yield from ((f"paraphrases/{n}", text) for n, text in enumerate(entry.paraphrases))


def _both_speak(one: Entry, other: Entry) -> bool:
    """At one time and in one region, as two entries."""
    return one.id != other.id and _overlap(one, other) and (one.region == other.region or not one.region or not other.region)


def _overlap(one: Entry, other: Entry) -> bool:
    first, last = dt.date.min, dt.date.max
    return (one.valid_from or first) <= (other.valid_to or last) and (other.valid_from or first) <= (one.valid_to or last)


def _period(entry: Entry) -> str:
    return f"from {entry.valid_from or 'ever'} to {entry.valid_to or 'further notice'}"


def _at(placed: Placed, field: str) -> str:
    return f"{placed.file} line {_line(placed, field)}"


def _line(placed: Placed, field: str) -> int:
    return placed.lines.get(field, placed.lines["id"])
