"""How near a question lies to each entry, from vectors alone."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.space import Meaning, Space, Vectors

SIZE = 16


def unit(rows: np.ndarray) -> Vectors:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), dtype=np.float32)


def drawn(counts: list[int], seed: int) -> Vectors:
    """Wordings, then answers and details, all over the place."""
    return unit(np.random.default_rng(seed).normal(size=(sum(counts) + 2 * len(counts), SIZE)))


def test_each_cosine_is_to_what_it_says() -> None:
    vectors, asked = drawn([4, 1, 2], 1), drawn([1], 2)[0]
    told = Space(vectors, [4, 1, 2]).meaning(asked)
    cosines = vectors @ asked
    first, alone, two = cosines[:4], cosines[4:5], cosines[5:7]
    assert told.nearest == pytest.approx([first.max(), alone[0], two.max()])
    assert told.few == pytest.approx([np.sort(first)[1:].mean(), alone[0], two.mean()], abs=1e-6)
    assert told.whole == pytest.approx([first.mean(), alone[0], two.mean()], abs=1e-6)
    assert told.question == pytest.approx([first[0], alone[0], two[0]])
    assert told.answer == pytest.approx(cosines[7:10])
    assert told.detail == pytest.approx(cosines[10:])


def test_what_varies_within_an_entry_counts_less() -> None:
    """Forty entries lie apart in some directions, and each one's wordings in others, much farther: manners, which say nothing."""
    dice, entries, each = np.random.default_rng(3), 40, 60
    matters = np.repeat(dice.normal(size=(entries, SIZE)) * (np.arange(SIZE) < SIZE // 2), each + 5, axis=0)
    manners = 3 * dice.normal(size=matters.shape) * (np.arange(SIZE) >= SIZE // 2)
    said = unit(matters + manners).reshape(entries, each + 5, SIZE)
    known, asked = said[:, :each].reshape(-1, SIZE), said[:, each:].reshape(-1, SIZE)
    space = Space(np.concatenate([known, drawn([1], 4)[:2].repeat(entries, axis=0)]), [each] * entries)
    told, wanted = [space.meaning(question) for question in asked], np.arange(entries).repeat(5)
    plainly = np.mean([meaning.nearest.argmax() for meaning in told] == wanted)
    assert np.mean([meaning.apart.argmax() for meaning in told] == wanted) > plainly + 0.2


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(0, 2**31))
def test_any_knowledge_base_has_finite_cosines(counts: list[int], seed: int) -> None:
    vectors = drawn(counts, seed)
    told = Space(vectors, counts).meaning(vectors[0])
    for field in dataclasses.fields(Meaning):
        cosines = getattr(told, field.name)
        assert cosines.shape == (len(counts),)
        assert np.isfinite(cosines).all()
        assert (np.abs(cosines) <= 1.001).all()


def test_two_wordings_alike_leave_the_others_to_be_told() -> None:
    same = unit(np.ones((4, SIZE)))
    told = Space(np.concatenate([same, same[:2]]), [4]).meaning(same[0])
    assert told.few == pytest.approx([1.0])
