"""`hotline kb check`: a folder of knowledge → everything that is wrong with it, each with file, line and mend.

Its siblings: `kb_search.py`, `kb_trial.py` (test sets), `kb_build.py` (everything that is derived), `kb_export.py`.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hotline.clock import utc_now
from hotline.config import Settings
from hotline.models import resolve
from hotline.paths import cache_dir, configs_dir
from llm import knowledge
from llm.gate_words import WORDS_AT, load_words
from llm.intents import IntentsWrong
from llm.intents_build import read_intents
from llm.knowledge_file import Fault
from llm.knowledge_review import articles_of, review
from llm.laws import LawTable, open_laws
from llm.types import Entry, KnowledgeWrong

LAWS = "china-laws"


def folder_of(settings: Settings, named: Path | None) -> Path:
    """The folder that a command is about: the named one, else the settings' own."""
    return named or configs_dir() / settings.answering.knowledge_dir


def schema_of() -> Path:
    """The shipped schema of knowledge files."""
    return configs_dir() / "schema" / "kb.schema.json"


def entries_of(folder: Path) -> tuple[Entry, ...]:
    """What would be answered from today. Raises KnowledgeWrong."""
    return knowledge.load(folder, today=utc_now().date(), schema=schema_of())


@contextlib.contextmanager
def the_laws() -> Iterator[LawTable]:
    """The law table. Raises ModelMissing, KnowledgeWrong."""
    with contextlib.closing(open_laws(resolve(LAWS) / "laws.db", cache_dir() / "laws")) as laws:
        yield laws


# ---------------------------------------------------------------- check


def check_kb(folder: Path, *, as_json: bool = False, articles: bool = False, without_laws: bool = False) -> int:
    """Print every fault and note. articles: print what each entry rests on. Exit code 1 when there is a fault."""
    today = utc_now().date()
    found = knowledge.examine(folder, schema=schema_of())
    with contextlib.nullcontext() if without_laws else the_laws() as laws:
        faults = [*found.faults, *knowledge.expired(found.placed, today), *review(found.placed, laws, today)]
        faults += _side_faults(folder, [each.entry for each in found.placed])
        if articles and laws:
            for each in found.placed:
                for ref, text in articles_of(each, laws, today):
                    say(f"{each.entry.id}: {ref}\n    {text.replace(chr(10), chr(10) + '    ')}")
    faults.sort(key=lambda fault: (fault.note, fault.file, fault.line))
    wrong = sum(not fault.note for fault in faults)
    if as_json:
        for fault in faults:
            say(json.dumps(_row(fault), ensure_ascii=False))
    else:
        for fault in faults:
            say(f"{'note: ' if fault.note else ''}{fault}")
        topics = {each.entry.topic for each in found.placed}
        files = {each.file for each in found.placed}
        counted = f"{len(found.placed)} entries, {len(topics)} topics, {_count(len(files), 'file')} in {folder}"
        say(f"{counted}: {_count(wrong, 'fault')}, {_count(len(faults) - wrong, 'note')}")
        if without_laws:
            say("sources were not looked up in the law table")
    return 1 if wrong else 0


def _side_faults(folder: Path, entries: Sequence[Entry]) -> Iterator[Fault]:
    """Of what lies beside the entries: intents and the gate's words."""
    checks: list[tuple[Path, Callable[[Path], object]]] = [
        (folder / "intents", lambda place: read_intents(place, entries, schema=schema_of().with_name("intents.schema.json"))),
        (folder / WORDS_AT, lambda place: load_words(place, schema_of().with_name("gate.schema.json"))),
    ]
    for place, check in checks:
        try:
            if place.exists():
                check(place)
        except (IntentsWrong, KnowledgeWrong) as wrong:
            yield Fault(file=place.name, line=0, where="", problem=str(wrong), mend="mend it there, then check again")


def _row(fault: Fault) -> dict[str, object]:
    row: dict[str, object] = {"file": fault.file, "line": fault.line, "where": fault.where}
    return row | {"problem": fault.problem, "mend": fault.mend, "note": fault.note}


def _count(number: int, thing: str) -> str:
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"


def say(line: str) -> None:
    """One line for people, or for programs."""
    sys.stdout.write(line + "\n")
