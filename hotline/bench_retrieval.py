"""Search over the law table's sentences: how long a question takes among 1,000 and 100,000 passages. Prints; asserts nothing.

One thread, by characters and sounds alone: the second voice is asked later, and about a knowledge base only.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from hotline.models import resolve
from llm.retrieve import Retriever
from llm.types import Entry

SIZES = (1_000, 100_000)
REACH_MS = {1_000: (5, 1), 100_000: (50, 10)}  # reach, aim
_SHORTEST, _LONGEST = 6, 120  # characters of a sentence
_SENTENCE_ENDS = re.compile("[。；\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalFigures:
    """One size's figures. p50_ms, p99_ms: of one question; cpu_p99_ms: of its processor time; index_mb: memory of the index."""

    passages: int
    questions: int
    p50_ms: float
    p99_ms: float
    cpu_p99_ms: float
    build_s: float
    index_mb: float


def bench_retrieval(
    questions: Sequence[str], *, laws: Path | None = None, sizes: Sequence[int] = SIZES, tell: Callable[[str], None] = print
) -> list[RetrievalFigures]:
    """Measure each size and print a line for it. laws: the law table, default the pulled one. Raises ModelMissing. Blocking."""
    sentences = _sentences(laws or resolve("china-laws") / "laws.db")
    figures = [_measure(sentences, size, questions) for size in sizes]
    for each in figures:
        reach, aim = REACH_MS.get(each.passages, ("–", "–"))
        tell(
            f"retrieval, {each.passages:,} passages: p50 {each.p50_ms:.2f} ms, p99 {each.p99_ms:.2f} ms (reach {reach}, aim {aim})"
        )
        tell(f"  processor time p99 {each.cpu_p99_ms:.2f} ms; built in {each.build_s:.1f} s; index {each.index_mb:.0f} MB")
    return figures


def _sentences(laws: Path) -> list[str]:
    with closing(sqlite3.connect(f"{laws.as_uri()}?mode=ro", uri=True)) as table:
        texts = [text for (text,) in table.execute("SELECT article_text FROM articles ORDER BY id")]
    return [part[:_LONGEST] for text in texts for part in _SENTENCE_ENDS.split(text) if len(part) >= _SHORTEST]


def _measure(sentences: Sequence[str], size: int, questions: Sequence[str]) -> RetrievalFigures:
    step = max(1, len(sentences) // size)
    passages = [
        Entry(id=f"p{number}", topic="法律", question=text, paraphrases=(), answer=text, source="law")
        for number, text in enumerate(islice(cycle(sentences[::step]), size))
    ]
    began = time.perf_counter()
    search = Retriever(passages)
    build_s = time.perf_counter() - began
    took = []
    for question in questions:
        began, worked = time.perf_counter(), time.thread_time()
        search.search(question)
        took.append(((time.perf_counter() - began) * 1000, (time.thread_time() - worked) * 1000))
    (p50, _), (p99, cpu_p99) = np.percentile(took, [50, 99], axis=0)
    return RetrievalFigures(
        passages=size,
        questions=len(questions),
        p50_ms=float(p50),
        p99_ms=float(p99),
        cpu_p99_ms=float(cpu_p99),
        build_s=build_s,
        index_mb=search.bytes / 1e6,
    )
