"""Entries that are well formed → what a reviewer would object to: sources that don't stand, answers that don't speak well.

Knows the law table and the day, nothing of files.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence

from llm.citations import Verdict, check_citations, is_national, strange_figures, told_gone
from llm.clauses import FIRST_AT_MOST, clauses
from llm.knowledge_file import Fault, Placed
from llm.laws import Law, LawTable
from llm.types import LawRef

_UNSPOKEN = re.compile(r"[A-Za-z()（）\[\]【】<>/*#]")
_GRAVE = {
    Verdict.NO_SUCH_LAW: "correct the law's name",
    Verdict.NO_SUCH_ARTICLE: "look the article up again",
    Verdict.REPEALED: "look up what holds now, and cite that",
    Verdict.NOT_YET_IN_FORCE: "cite the text that is in force, or begin the entry later with valid_from",
}


def review(placed: Sequence[Placed], laws: LawTable | None, today: dt.date) -> Iterator[Fault]:
    """Faults and notes of every entry. laws None: sources are not looked at."""
    for each in placed:
        yield from _answer(each)
        if laws:
            yield from _sources(each, laws, today)
            yield from _texts(each, laws, today)


def articles_of(each: Placed, laws: LawTable, today: dt.date) -> list[tuple[LawRef, str]]:
    """What an entry rests on, as the law has it; an article that isn't found is left out."""
    found = []
    for ref in each.entry.laws:
        law = laws.on(ref.law, _day(each, today))
        if law and (text := laws.article(law, ref.article)):
            found.append((ref, text))
    return found


def _answer(each: Placed) -> Iterator[Fault]:
    first = clauses(each.entry.answer)[0]
    if len(first) > FIRST_AT_MOST:
        told = f"the first clause has {len(first)} characters, at most {FIRST_AT_MOST}: {first}"
        yield each.fault("answer", told, "begin with a short clause that answers")
    if odd := _UNSPOKEN.search(each.entry.answer):
        yield each.fault("answer", f"{odd[0]!r} is hard to speak", "say it in words", note=True)


def _day(each: Placed, today: dt.date) -> dt.date:
    """An entry for next year rests on next year's law."""
    return max(today, each.entry.valid_from or today)


def _sources(each: Placed, laws: LawTable, today: dt.date) -> Iterator[Fault]:
    day = _day(each, today)
    for number, ref in enumerate(each.entry.laws):
        field = f"source/{number}" if f"source/{number}" in each.lines else "source"
        law = laws.on(ref.law, day)
        wrong = _no_law(ref, laws, day) if law is None else _no_article(ref, law, laws)
        if wrong:
            yield each.fault(field, *wrong)
        elif law and each.entry.valid_from and each.entry.valid_from < law.since:
            told = f"valid_from {each.entry.valid_from} is before {law.since}, when that text came into force"
            yield each.fault("valid_from", told, "begin it then, or check that the older text said the same", note=True)


def _no_law(ref: LawRef, laws: LawTable, day: dt.date) -> tuple[str, str]:
    if gone := laws.gone(ref.law, day):
        heir = f"find the rule in {gone.by}" if gone.by else "find the rule that holds now"
        return told_gone(gone), f"{heir} and cite its article"
    if texts := laws.texts(ref.law):
        return f"{texts[0].name} is in force from {texts[0].since}", "begin the entry then with valid_from"
    near = laws.near(ref.law)
    if not is_national(ref.law):
        return (
            f"{ref.law} is not in the law table, which holds laws only",
            "write a regulation as plain text: its title and article",
        )
    return f"there is no {ref.law}", f"write {near!r} if that is meant" if near else "look up the law's full name"


def _no_article(ref: LawRef, law: Law, laws: LawTable) -> tuple[str, str] | None:
    if ref.law != law.name:
        return f"{ref.law} is not its full name", f"write {law.name!r}"
    if laws.article(law, ref.article) is None:
        return f"{law.name} has no {ref.article}; it ends with {laws.last_article(law)}", "look the article up again"
    if ref.version != law.version:
        told = f"{law.name} of {ref.version} is not the text in force, which is of {law.version}"
        return told, f"read {ref.article} of that text again, then write 'version: {law.version}'"
    return None


def _texts(each: Placed, laws: LawTable, today: dt.date) -> Iterator[Fault]:
    """Citations in words, and figures that the articles don't hold."""
    entry, day = each.entry, _day(each, today)
    named = {"answer": entry.answer, "detail": entry.detail} | ({} if entry.laws else {"source": entry.source})
    for field, text in named.items():
        for finding in check_citations(text, laws, day):
            if mend := _GRAVE.get(finding.verdict):
                cited = f"《{finding.citation.law}》{finding.citation.article}"
                yield each.fault(field, f"cites {cited}: {finding.why}", mend)
    articles = "\n".join(text for _, text in articles_of(each, laws, today))
    if articles and (strange := strange_figures(entry.answer, articles)):
        told = f"{'、'.join(strange)} is in none of its articles"
        yield each.fault("answer", told, "check it; what the operator decides needs no article", note=True)
