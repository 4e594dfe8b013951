"""The order of candidates, and the chance that the first one is right."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.ranking import UNKNOWN_INTENT, Evidence, chance_of, log_share, scores_of
from llm.retrieve import Retriever
from llm.space import Meaning
from llm.types import Entry

FIELDS = [field.name for field in dataclasses.fields(Evidence)]
LITTLE = {"lexical": 0.2, "covered": 0.2, "detail": 0.1, "apart": 0.2, "intent": -3.0}


def evidence(rows: int = 3, **changes: list[float]) -> Evidence:
    """Candidates about which every voice says the same little, but for the changes."""
    plain = {field: [LITTLE.get(field, 0.82)] * rows for field in FIELDS}
    return Evidence(**{name: np.array(values, dtype=np.float64) for name, values in (plain | changes).items()})


@pytest.mark.parametrize("field", FIELDS)
def test_every_kind_of_evidence_speaks_for_its_entry(field: str) -> None:
    least = LITTLE.get(field, 0.82)
    scores = scores_of(evidence(**{field: [least, least + 0.1, least]}))
    assert scores.argmax() == 1
    assert scores[0] == scores[2]


def test_who_stands_out_is_surer_than_one_of_two_alike() -> None:
    alone = evidence(lexical=[0.9, 0.2, 0.2], nearest=[0.95, 0.82, 0.82], apart=[0.8, 0.2, 0.2])
    one_of_two = evidence(lexical=[0.9, 0.88, 0.2], nearest=[0.95, 0.95, 0.82], apart=[0.8, 0.8, 0.2])
    assert chance_of(scores_of(alone)) > 0.6 > chance_of(scores_of(one_of_two))


def test_nothing_alike_is_hardly_a_chance() -> None:
    far = evidence(lexical=[0.0] * 3, covered=[0.0] * 3, detail=[0.0] * 3, nearest=[0.78] * 3, apart=[0.0] * 3)
    assert chance_of(scores_of(far)) < 0.2


@given(st.integers(1, 40), st.randoms(use_true_random=False))
def test_a_chance_is_a_chance_whatever_is_said(rows: int, dice: object) -> None:
    drawn = np.random.default_rng(dice.randrange(2**32)).uniform(-10, 10, (len(FIELDS), rows))  # type: ignore[attr-defined]
    told = Evidence(**dict(zip(FIELDS, drawn, strict=True)))
    assert 0 <= chance_of(scores_of(told)) <= 1


def test_an_intent_of_which_nothing_is_known_is_the_same_for_all() -> None:
    entries = [
        Entry(id=name, topic=name, question=f"{name}怎么办", paraphrases=(), answer=f"办{name}。", source="s", intent=intent)
        for name, intent in (("护照", "travel"), ("户口", "household"), ("社保", ""))
    ]
    near = np.array([0.9, 0.9, 0.9], np.float32)
    meaning = Meaning(nearest=near, few=near, whole=near, apart=near, question=near, answer=near, detail=near)
    search = Retriever(entries)
    _, without = search.evidence("怎么办", meaning, None)
    assert without.intent.tolist() == [UNKNOWN_INTENT] * 3
    _, with_it = search.evidence("怎么办", meaning, {"travel": 0.9, "household": 0.1})
    assert with_it.intent.tolist() == [log_share(0.9), log_share(0.1), UNKNOWN_INTENT]
    found = search.with_meaning("怎么办", meaning, {"travel": 0.9, "household": 0.1}, at_most=2)
    assert [passage.entry.id for passage in found] == ["护照", "户口"]
    assert found[0].score > found[1].score
