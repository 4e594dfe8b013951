"""JSON lines of the case sets → records; answers → JSON lines. Knows no room and no score.

A record is read into the fields that its set is given; anything else in the line, a right answer above all, is never looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from hotline.config import Settings
from hotline.errors import HotlineError

Answer = Mapping[str, object]


class EvaluationWrong(HotlineError):
    """A set can't be run: the message says which and why."""

    code = "eval.wrong"


class RecordWrong(HotlineError):
    """A record can't be answered: the message says what about it is wrong, without its text."""

    code = "eval.record_wrong"


class Record(Protocol):
    """What every record has."""

    @property
    def id(self) -> str:
        """Its name in the set."""
        ...


R = TypeVar("R", bound=Record)
R_contra = TypeVar("R_contra", bound=Record, contravariant=True)


class Solver(Protocol[R_contra]):
    """The product's own path from a record to its answer."""

    async def __call__(self, record: R_contra, /) -> Answer:
        """The answer without the id. Raises RecordWrong."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSet(Generic[R]):
    """One set. record: what is read of a line; open: loads what the solver needs, once."""

    record: type[R]
    open: Callable[[Settings], AbstractAsyncContextManager[Solver[R]]]


class HandOut(Protocol):
    """Takes what comes of each line."""

    def answer(self, line: str) -> None:
        """One JSON line."""
        ...

    def wrong(self, sentence: str) -> None:
        """Why a line has no answer, and what to do."""
        ...


async def solve(cases: CaseSet[R], settings: Settings, lines: Iterable[str], hand_out: HandOut) -> None:
    """Answer the lines in their order."""
    reader = TypeAdapter(cases.record)
    async with cases.open(settings) as solver:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                record = reader.validate_json(line)
                answer = await solver(record)
            except (ValidationError, RecordWrong) as wrong:
                hand_out.wrong(f"line {number}: {_mend(wrong)}")
            else:
                hand_out.answer(json.dumps({"id": record.id, **answer}, ensure_ascii=False))


def _mend(wrong: ValidationError | RecordWrong) -> str:
    if isinstance(wrong, RecordWrong):
        return f"{wrong}; {wrong.what_to_do}" if wrong.what_to_do else str(wrong)
    first = wrong.errors(include_url=False, include_input=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        return "no JSON object; write one record on one line"
    place = ".".join(str(part) for part in first["loc"])
    return f"field {place or 'id'}: {first['msg']}; correct it as the case set's README says"
