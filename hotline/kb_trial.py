"""`hotline kb test`: questions with known right entries → how often the right one is found, spoken, or rightly withheld."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hotline.config import Settings
from hotline.errors import HotlineError
from hotline.kb import entries_of
from hotline.kb_search import SPOKEN, Looked, look, mind_of
from llm.mind import AnsweringMind

KINDS = ("paraphrase", "homophone", "out_of_scope", "minimal_pair", "rare_entity")
FIGURES = ("recall@1", "recall@3", "answered_right", "answered_wrong", "asked_back", "abstained_right")
_FIELDS = frozenset({"query", "want", "kind", "not"})
_TOP = 3
_MISSES_SHOWN = 40


class TrialWrong(HotlineError):
    """A test set, or what is asked of it, is wrong."""

    code = "kb.test_wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A bound of a figure over all questions."""

    name: str
    value: float
    is_least: bool

    @classmethod
    def read(cls, text: str, *, is_least: bool) -> Limit:
        """From recall@1=0.95. Raises TrialWrong."""
        name, _, value = text.partition("=")
        with contextlib.suppress(ValueError):
            if name in FIGURES:
                return cls(name=name, value=float(value), is_least=is_least)
        raise TrialWrong(f"{text!r} is no limit", what_to_do=f"write recall@1=0.95, with one of {', '.join(FIGURES)}")

    def missed_by(self, figure: float | None) -> str:
        """Why it is missed, empty: it is held. A figure of nothing misses every limit."""
        if figure is not None and (figure >= self.value if self.is_least else figure <= self.value):
            return ""
        found = "no such question" if figure is None else f"{figure:.4f}"
        return f"{self.name} {found}, {'at least' if self.is_least else 'at most'} {self.value:g} wanted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question. want: entries that answer it, none for out of scope; wrong: entries that say the opposite."""

    query: str
    want: frozenset[str]
    kind: str
    wrong: frozenset[str]
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one question."""

    case: Case
    looked: Looked

    @property
    def answered(self) -> str:
        """The entry that was spoken, empty: none."""
        return self.looked.source_ids[0] if self.looked.route in SPOKEN and self.looked.source_ids else ""

    def found_in(self, first: int) -> bool:
        """Whether a right entry is among the first so many."""
        return any(passage.entry.id in self.case.want for passage in self.looked.passages[:first])

    @property
    def is_right(self) -> bool:
        """The right entry was spoken, or none where none is right."""
        return self.answered in self.case.want if self.case.want else not self.answered

    def row(self) -> dict[str, object]:
        """For reports."""
        said = {"route": self.looked.route.value, "answered": self.answered, "why": self.looked.why}
        near = [[passage.entry.id, passage.score] for passage in self.looked.passages[:_TOP]]
        wanted = {"place": self.case.place, "query": self.case.query, "kind": self.case.kind, "want": sorted(self.case.want)}
        return wanted | said | {"opposite": self.answered in self.case.wrong, "nearest": near}


def read_cases(files: Sequence[Path], known: frozenset[str]) -> list[Case]:
    """Every line of the files. Raises TrialWrong with the line."""
    cases = []
    for file in files:
        try:
            lines = file.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise TrialWrong(f"{file} cannot be read", what_to_do="name a file of JSON lines in UTF-8") from None
        cases += [_case(line, f"{file.name} line {n}", known) for n, line in enumerate(lines, start=1) if line.strip()]
    if not cases:
        raise TrialWrong("no question to ask", what_to_do="put test sets into the folder's tests/*.jsonl, or name one with --set")
    return cases


def _case(line: str, place: str, known: frozenset[str]) -> Case:
    try:
        record = json.loads(line)
    except ValueError:
        raise TrialWrong(f"{place}: not JSON", what_to_do="write one object a line") from None
    if not isinstance(record, dict) or not {"query", "want", "kind"} <= record.keys() or record.keys() - _FIELDS:
        raise TrialWrong(f"{place}: wrong fields", what_to_do="it has query, want and kind, and may have not")
    query, kind = record["query"], record["kind"]
    want, wrong = (_ids(record.get(field), place, known) for field in ("want", "not"))
    if not isinstance(query, str) or not query.strip() or kind not in KINDS:
        raise TrialWrong(f"{place}: no query, or an unknown kind", what_to_do=f"kind is one of {', '.join(KINDS)}")
    if (kind == "out_of_scope") != (not want) or want & wrong:
        raise TrialWrong(f"{place}: kind, want and not don't fit together", what_to_do="want is null for out_of_scope only")
    return Case(query=query, want=want, kind=kind, wrong=wrong, place=place)


def _ids(value: object, place: str, known: frozenset[str]) -> frozenset[str]:
    ids = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
        raise TrialWrong(f"{place}: entries are named by their ids", what_to_do='write "id" or ["id", "other-id"]')
    if unknown := [each for each in ids if each not in known]:
        raise TrialWrong(f"{place}: there is no entry {unknown[0]}", what_to_do="correct the id, or remove the line")
    return frozenset(ids)


async def try_cases(cases: Iterable[Case], mind: AnsweringMind) -> list[Outcome]:
    """Ask each question as a call's first."""
    return [Outcome(case=case, looked=await look(mind, case.query)) for case in cases]


def figures_of(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Shares by name; None where nothing counts: recall of questions that nothing answers."""
    inside = [each for each in outcomes if each.case.want]
    outside = [each for each in outcomes if not each.case.want]

    def share(of: Sequence[Outcome], holds: Callable[[Outcome], bool]) -> float | None:
        return round(sum(map(holds, of)) / len(of), 4) if of else None

    return {
        "recall@1": share(inside, lambda each: each.found_in(1)),
        "recall@3": share(inside, lambda each: each.found_in(_TOP)),
        "answered_right": share(inside, lambda each: each.is_right),
        "answered_wrong": share(outcomes, lambda each: bool(each.answered) and not each.is_right),
        "asked_back": share(inside, lambda each: not each.answered),
        "abstained_right": share(outside, lambda each: each.is_right),
    }


def try_kb(
    folder: Path, settings: Settings, *, sets: Sequence[Path] = (), limits: Sequence[Limit] = (), as_json: bool = False
) -> int:
    """Run the sets and print figures by kind, times and misses. Exit code 1 when a limit is missed."""
    known = frozenset(entry.id for entry in entries_of(folder))
    cases = read_cases(sets or sorted((folder / "tests").glob("*.jsonl")), known)
    with mind_of(folder, settings) as mind:
        outcomes = asyncio.run(try_cases(cases, mind))
    by_kind: dict[str, list[Outcome]] = defaultdict(list)
    for each in outcomes:
        by_kind[each.case.kind].append(each)
    found = {kind: figures_of(by_kind[kind]) for kind in KINDS if by_kind[kind]} | {"all": figures_of(outcomes)}
    times = [each.looked.took_ms for each in outcomes]
    took = {f"p{p}": round(float(np.percentile(times, p)), 2) for p in (50, 99)}
    misses = [each.row() for each in outcomes if not each.is_right]
    missed = [told for limit in limits if (told := limit.missed_by(found["all"][limit.name]))]
    if as_json:
        counts = {kind: len(each) for kind, each in by_kind.items() if each}
        report = {"questions": counts, "figures": found, "ms_a_query": took, "missed": missed, "misses": misses}
        sys.stdout.write(json.dumps(report, ensure_ascii=False) + "\n")
    else:
        _tell(by_kind, found, took, misses)
        sys.stdout.writelines(f"missed: {told}\n" for told in missed)
    return 1 if missed else 0


def _tell(
    by_kind: Mapping[str, Sequence[Outcome]],
    found: Mapping[str, Mapping[str, float | None]],
    took: Mapping[str, float],
    misses: Sequence[Mapping[str, object]],
) -> None:
    for miss in misses[:_MISSES_SHOWN]:
        nearest = " ".join(f"{name} {score:.2f}" for name, score in miss["nearest"])  # type: ignore[attr-defined]
        outcome = f"answered {miss['answered']}" if miss["answered"] else f"{miss['route']}"
        wanted = " or ".join(miss["want"]) or "no answer"  # type: ignore[arg-type]
        opposite = ", the opposite" if miss["opposite"] else ""
        sys.stdout.write(f"{miss['place']}: {miss['query']}\n    wanted {wanted}; {outcome}{opposite} ({miss['why']}); {nearest}\n")
    if len(misses) > _MISSES_SHOWN:
        sys.stdout.write(f"and {len(misses) - _MISSES_SHOWN} more; all of them: --json\n")
    head = f"{'kind':<14}{'n':>5}" + "".join(f"{name:>17}" for name in FIGURES)
    sys.stdout.write(f"{head}\n")
    for kind, figures in found.items():
        count = len(by_kind[kind]) if kind in by_kind else sum(map(len, by_kind.values()))
        cells = "".join(f"{'–' if figures[name] is None else f'{figures[name]:.3f}':>17}" for name in FIGURES)
        sys.stdout.write(f"{kind:<14}{count:>5}{cells}\n")
    sys.stdout.write(f"a query: p50 {took['p50']} ms, p99 {took['p99']} ms\n")
