"""The sets that turn one text into another: itn, tn, rmb. Knows no calls."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from hotline.config import Settings
from hotline.evaluate.records import Answer, CaseSet, RecordWrong, Solver
from hotline.zh.numerals import rmb_capitals
from llm.itn import written
from tts.normalise import to_speech


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRecord:
    """A text to turn into another."""

    id: str
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRecord:
    """An amount in figures."""

    id: str
    figure: str


@asynccontextmanager
async def _itn(_: Settings) -> AsyncGenerator[Solver[TextRecord], None]:
    """Without the masker before it, which in a call hides the numbers that some records are about."""

    async def solve(record: TextRecord) -> Answer:
        return {"output": written(record.input)}

    yield solve


@asynccontextmanager
async def _tn(_: Settings) -> AsyncGenerator[Solver[TextRecord], None]:
    async def solve(record: TextRecord) -> Answer:
        return {"output": to_speech(record.input)}

    yield solve


@asynccontextmanager
async def _rmb(_: Settings) -> AsyncGenerator[Solver[FigureRecord], None]:
    async def solve(record: FigureRecord) -> Answer:
        try:
            return {"output": rmb_capitals(Decimal(record.figure.replace(",", "").strip()))}
        except (InvalidOperation, ValueError) as wrong:
            why = str(wrong) if isinstance(wrong, ValueError) else "not a figure"
            raise RecordWrong(f"field figure: {why}", what_to_do="write an amount such as 1003.07") from None

    yield solve


ITN = CaseSet(record=TextRecord, open=_itn)
TN = CaseSet(record=TextRecord, open=_tn)
RMB = CaseSet(record=FigureRecord, open=_rmb)
