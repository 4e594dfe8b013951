"""`hotline kb search`: a question → the entries nearest to it, what the gate doubts, and what a caller would hear."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hotline.clock import utc_now
from hotline.compose_mind import new_mind
from hotline.config import Settings
from hotline.kb import entries_of, say
from llm.mind import AnsweringMind
from llm.privacy import CallMasker
from llm.types import Clause, Dialogue, MaskedText, Passage, Route, Routed

SPOKEN = frozenset({Route.HOT, Route.STORED, Route.GENERATED})
_MASK_BUDGET_MS = 10_000  # nobody waits on the line


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A question as it was seen, the entries nearest to it, what would be done, and how long that took from text to text."""

    question: MaskedText
    asked: str
    passages: tuple[Passage, ...]
    route: Route
    why: str
    source_ids: tuple[str, ...]
    spoken: str
    took_ms: float


@contextlib.contextmanager
def mind_of(folder: Path, settings: Settings) -> Iterator[AnsweringMind]:
    """What answers from this folder as it would in a call; without intents, which choose no entry. Blocking."""
    answering = replace(settings.answering, knowledge_dir=str(folder.resolve()))
    with contextlib.closing(new_mind(entries_of(folder), answering)) as mind:
        yield mind


async def look(mind: AnsweringMind, query: str) -> Looked:
    """A call's first question, masked as in a call."""
    began = time.perf_counter()
    question = CallMasker(mask_budget_ms=_MASK_BUDGET_MS).mask(query)
    dialogue = Dialogue(today=utc_now().date())
    routed, spoken = Routed(route=Route.UNKNOWN, confidence=0.0), []
    async with aclosing(mind.answer(question, dialogue)) as steps:
        async for step in steps:
            match step:
                case Routed():
                    routed = step
                case Clause():
                    spoken.append(step.text)
                case _:
                    pass
    took_ms = (time.perf_counter() - began) * 1000
    return Looked(
        question=question,
        asked=mind.counting(question),
        passages=await mind.looked_up(question, dialogue),
        route=routed.route,
        why=routed.explain,
        source_ids=routed.source_ids,
        spoken="".join(spoken),
        took_ms=took_ms,
    )


def search_kb(folder: Path, settings: Settings, query: str, *, at_most: int, as_json: bool = False) -> int:
    """Print the nearest entries with scores, margins and doubts, and what would be spoken. Exit code 1 when none is near."""
    with mind_of(folder, settings) as mind:
        looked = asyncio.run(look(mind, query))
    passages = looked.passages[:at_most]
    rows = [_passage_row(passage, looked, mind) for passage in passages]
    if as_json:
        done = {"route": looked.route.value, "why": looked.why, "entries": looked.source_ids, "spoken": looked.spoken}
        say(json.dumps({"question": looked.question.text, "passages": rows, **done}, ensure_ascii=False))
        return 0 if rows else 1
    say(f"问：{looked.question.text}")
    for row in rows:
        gate = f"  doubts: {', '.join(row['doubts'])}" if row["doubts"] else ""
        mark = "*" if row["id"] in looked.source_ids else " "
        say(f"{mark} {row['score']:.3f} {row['margin']:+.3f}  {row['id']}{' (hot)' if row['hot'] else ''}  {row['question']}{gate}")
    if not rows:
        say("  nothing in the knowledge base shares a word with it")
    say(f"→ {looked.route.value}: {looked.why}\n答：{looked.spoken}")
    return 0 if rows else 1


def _passage_row(passage: Passage, looked: Looked, mind: AnsweringMind) -> dict[str, Any]:
    """margin: to the best of the others; below 0 for all but the first."""
    others = [other.score for other in looked.passages if other is not passage]
    found = mind.doubts_of(looked.asked, passage.entry)
    return {
        "id": passage.entry.id,
        "question": passage.entry.question,
        "hot": passage.entry.hot,
        "score": passage.score,
        "margin": round(passage.score - max(others, default=0.0), 4),
        "doubts": [f"{doubt}{' (hard)' if doubt.hard else ''}" for doubt in found],
    }
