"""The set pii: a call's turns → what the call's masker finds in them, as places in the raw turns. Knows no answers."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from hotline.config import Settings
from hotline.evaluate.records import Answer, CaseSet, Solver
from llm.privacy import CallMasker, kind_asked
from llm.types import Personal

_TYPES: Mapping[Personal, str] = MappingProxyType({
    Personal.MOBILE: "PHONE",
    Personal.LANDLINE: "PHONE",
    Personal.ID_CARD: "ID_CARD",
    Personal.PASSPORT: "PASSPORT",
    Personal.BANK_CARD: "BANK_CARD",
    Personal.PLATE: "PLATE",
    Personal.EMAIL: "EMAIL",
    Personal.ACCOUNT: "ACCOUNT",
    Personal.WECHAT: "WECHAT",
    Personal.QQ: "QQ",
    Personal.CREDIT_CODE: "USCC",
    Personal.NAME: "NAME",
    Personal.SPELLING: "NAME_SPELL",
    Personal.ADDRESS: "ADDRESS",
    Personal.BIRTH_DATE: "DOB",
    Personal.NUMBER: "NUMBER",
    Personal.UNSURE: "UNSURE",
})


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Who said what."""

    role: Literal["caller", "bot"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsRecord:
    """The turns of one call."""

    id: str
    turns: tuple[Turn, ...]


@asynccontextmanager
async def _open(settings: Settings) -> AsyncGenerator[Solver[TurnsRecord], None]:
    async def solve(record: TurnsRecord) -> Answer:
        masker = CallMasker(mask_budget_ms=settings.answering.mask_budget_ms, clock=time.thread_time)
        asked_for: Personal | None = None
        spans: list[dict[str, object]] = []
        masked_turns: list[str] = []
        for number, turn in enumerate(record.turns):
            if turn.role == "bot":
                asked_for = kind_asked(turn.text) or asked_for
                masked_turns.append(turn.text)
                continue
            masked = masker.mask(turn.text, asked_for=asked_for)
            asked_for = None
            masked_turns.append(masked.text)
            spans += [
                {"turn": number, "start": span.raw_start, "end": span.raw_end, "type": _TYPES[span.kind]} for span in masked.spans
            ]
        return {"spans": spans, "masked_turns": masked_turns}

    yield solve


PII = CaseSet(record=TurnsRecord, open=_open)
