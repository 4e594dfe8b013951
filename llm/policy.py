"""An engine's speed and a question's prompt → may it answer, or is the stored answer given? Pure.

Where a first clause can come within the deadline of the channel, a grounded model writes the answer; where it can't, the stored
answer is given whole and at once. Nobody is asked beforehand which machine this is: the engine has measured itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TypeVar

from llm.types import AnsweringSettings, Dialogue, Engine, EngineStalled, Prompt

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class InTime:
    """Whether a first clause can be there within_ms, by an estimate of expected_ms. str(): for `explain`."""

    expected_ms: int
    within_ms: int

    def __bool__(self) -> bool:
        """It can."""
        return self.expected_ms <= self.within_ms

    def __str__(self) -> str:
        """In words."""
        return f"first clause in about {self.expected_ms} ms, {'within' if self else 'later than'} {self.within_ms} ms"


def in_time(engine: Engine, prompt: Prompt, dialogue: Dialogue, settings: AnsweringSettings) -> InTime:
    """By what the engine measured of itself, now."""
    within_ms = settings.voice_first_clause_ms if dialogue.is_spoken else settings.text_first_clause_ms
    return InTime(expected_ms=engine.first_clause_ms(prompt), within_ms=within_ms)


async def next_clause(written: AsyncGenerator[T, None], within_ms: int | None) -> T | None:
    """None at the end. Raises EngineStalled when the first clause is not there by its deadline."""
    try:
        async with asyncio.timeout(None if within_ms is None else within_ms / 1000):
            return await anext(written, None)
    except TimeoutError:
        raise EngineStalled(f"no clause within {within_ms} ms; the stored answer is given") from None
