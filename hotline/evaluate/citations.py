"""The set citations: a sentence that cites a law → what the citation check finds of it, on this day. Knows no answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from hotline.clock import utc_now
from hotline.config import Settings
from hotline.evaluate.records import Answer, CaseSet, Solver
from hotline.kb import the_laws
from llm.citations import verdict_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceRecord:
    """A sentence."""

    id: str
    text: str


@asynccontextmanager
async def _open(_: Settings) -> AsyncGenerator[Solver[SentenceRecord], None]:
    with the_laws() as laws:

        async def solve(record: SentenceRecord) -> Answer:
            return {"verdict": verdict_of(record.text, laws, utc_now().date()).value}

        yield solve


CITATIONS = CaseSet(record=SentenceRecord, open=_open)
