"""A text → the steps that speak it. Knows no search and no dialogue."""

from __future__ import annotations

from llm.clauses import clauses
from llm.types import Clause, Entry, HandOver, Route, Routed, Step


def speak(route: Route, text: str, confidence: float, why: str, *entries: Entry) -> tuple[Step, ...]:
    """The route, then the text clause by clause."""
    ids = tuple(entry.id for entry in entries)
    routed = Routed(route=route, confidence=sure(confidence), source_ids=ids, explain=why)
    return (routed, *(Clause(text=clause, source_ids=ids) for clause in clauses(text)))


def to_person(route: Route, text: str, reason: str, why: str) -> tuple[Step, ...]:
    """The same, and a person takes over."""
    return (*speak(route, text, 1.0, why), HandOver(reason=reason))


def sure(score: float) -> float:
    """A score as a confidence, 0 to 1."""
    return round(min(1.0, max(0.0, score)), 3)
