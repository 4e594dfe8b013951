"""The set intents: one utterance → what a call's mind takes it to be about, in the set's names. Knows no answers.

The set has fewer names than our matters; a matter that it has no name for keeps its own.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType

from hotline.config import Settings
from hotline.evaluate.desks import text_desk
from hotline.evaluate.records import Answer, CaseSet, RecordWrong, Solver
from hotline.evaluate.routes import Taken, UtteranceRecord, route_of
from llm.types import Route

_NAMES: Mapping[str, str] = MappingProxyType({
    "household": "household_residence",
    "residence_permit": "household_residence",
    "identity_card": "household_residence",
    "travel_documents": "household_residence",
    "marriage": "household_residence",
    "pension": "social_security",
    "unemployment": "social_security",
    "birth": "medical_insurance",  # the insurance pays the allowance
    "injury": "labor",
    "labour": "labor",
    "traffic": "traffic_vehicle",
    "parking": "traffic_vehicle",
    "noise": "noise_environment",
    "waste": "noise_environment",
    "heating": "utilities",
    "business_licence": "business_registration",
    "consumer": "consumer_complaint",
    "elderly": "elderly_social_welfare",
    "disability": "elderly_social_welfare",
    "social_assistance": "elderly_social_welfare",
    "veterans": "elderly_social_welfare",
    "funeral": "elderly_social_welfare",
})
_NO_MATTER = frozenset({Route.NOTED, Route.REPEAT, Route.GOODBYE})  # 喂，谢谢，再见


@asynccontextmanager
async def _open(settings: Settings) -> AsyncGenerator[Solver[UtteranceRecord], None]:
    async with text_desk(settings) as desk:

        async def solve(record: UtteranceRecord) -> Answer:
            taken = await route_of(desk.parts, record.text)
            return {"intent": _name(taken)}

        yield solve


def _name(taken: Taken) -> str:
    if taken.route is Route.PERSON:
        return "ask_human"
    if taken.route in _NO_MATTER:
        return "out_of_scope"
    if taken.intent is None:
        raise RecordWrong(
            "no intents are configured", what_to_do="put matters.yaml and kinds.yaml into the knowledge's intents folder"
        )
    name = taken.intent.matter.name
    return _NAMES.get(name, name)


INTENTS = CaseSet(record=UtteranceRecord, open=_open)
