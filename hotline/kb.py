"""`hotline kb check`: a folder of knowledge → everything that is wrong with it, each with file, line and mend.

Its siblings: `kb_search.py`, `kb_trial.py` (test sets), `kb_build.py` (everything that is derived), `kb_export.py`.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hotline.clock import utc_now
from hotline.config import Settings, knowledge_folder
from hotline.models import resolve
from hotline.paths import cache_dir, configs_dir
from llm import knowledge
from llm.gate_words import WORDS_AT, load_words
from llm.intents import IntentsWrong
from llm.intents_build import read_intents
from llm.knowledge_file import Fault, Placed
from llm.knowledge_review import articles_of, review
from llm.laws import LawTable, open_laws
from llm.types import Entry, KnowledgeWrong

LAWS = "china-laws"


def folder_of(settings: Settings, named: Path | None) -> Path:
    """The folder that a command is about: the named one, else the settings' own."""
    return named or knowledge_folder(settings)


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
        faults += _side_faults(folder, found.placed)
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
        counted = f"{len(found.placed)} entries, {len(topics)} topics, {_count(found.files, 'file')} in {folder}"
        say(f"{counted}: {_count(wrong, 'fault')}, {_count(len(faults) - wrong, 'note')}")
        if without_laws:
            say("sources were not looked up in the law table")
    return 1 if wrong else 0


def _side_faults(folder: Path, placed: Sequence[Placed]) -> Iterator[Fault]:
    """Of what lies beside the entries: intents and the gate's words. An own knowledge base needs neither."""
    if (words := folder / WORDS_AT).exists():
        try:
            load_words(words, schema_of().with_name("gate.schema.json"))
        except KnowledgeWrong as wrong:
            yield Fault(file=words.name, line=0, where="", problem=str(wrong), mend="mend it there, then check again")
    if (intents := folder / "intents").exists():
        try:
            known = read_intents(intents, (), schema=schema_of().with_name("intents.schema.json")).titles["matter"]
        except IntentsWrong as wrong:
            yield Fault(file=intents.name, line=0, where="", problem=str(wrong), mend="mend it there, then check again")
        else:
            yield from _unknown_intents(placed, list(known))
            yield from _no_intents(placed)


def _unknown_intents(placed: Sequence[Placed], known: Sequence[str]) -> Iterator[Fault]:
    """One that a file names for all its entries is told once."""
    told = set()
    for each in placed:
        name, is_files = each.entry.intent, "intent" in each.above
        if not name or name in known or (is_files and each.file in told):
            continue
        if is_files:
            told.add(each.file)
        near = difflib.get_close_matches(name, known, n=1)
        mend = f"write {near[0]!r}" if near else f"add it to intents/, or write one of {', '.join(known)}"
        fault = each.fault("intent", f"no intent is called {name!r}", mend)
        yield replace(fault, where="field intent") if is_files else fault


def _no_intents(placed: Sequence[Placed]) -> Iterator[Fault]:
    """Told once for each file."""
    lacking: dict[str, list[Placed]] = defaultdict(list)
    for each in placed:
        if not each.entry.intent:
            lacking[each.file].append(each)
    for entries in lacking.values():
        more = f", and {len(entries) - 1} more" if entries[1:] else ""
        mend = "write 'intent:' with a name of intents/ there, or once at the top of the file"
        yield entries[0].fault("", f"names no intent{more}: agents are not told what such a call is about", mend, note=True)


def _row(fault: Fault) -> dict[str, object]:
    row: dict[str, object] = {"file": fault.file, "line": fault.line, "where": fault.where}
    return row | {"problem": fault.problem, "mend": fault.mend, "note": fault.note}


def _count(number: int, thing: str) -> str:
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"


def say(line: str) -> None:
    """One line for people, or for programs."""
    sys.stdout.write(line + "\n")
