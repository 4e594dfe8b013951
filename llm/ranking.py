"""What the voices and the intents say of each entry → one order, and the chance that the first one is the right answer. Pure.

An entry's score is a weighted sum of evidence. The weights and the chance are fitted by scripts/fit_ranking.py on wordings of the
sample knowledge base that were held out, and on those of entries that were taken away: questions that look answerable and are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

UNKNOWN_INTENT = math.log(1e-2)  # where no classifier is at hand, for every entry alike
_LEAST_SHARE = 1e-4
_UNLIKE, _SPREAD = 0.8, 0.1  # cosines of texts about different matters, and how far they reach
_CERTAIN_MARGIN = 5.0

# Fitted; see scripts/fit_ranking.py.
_WEIGHTS = np.array([1.35, 2.919, 3.044, 1.716, 2.624, 3.204, 2.356, 2.332, 1.967, 3.91, 0.374])
_CHANCE = np.array([0.5064, 0.0835, 0.6015])
_CHANCE_BIAS = -1.9273


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for each entry, arrays of shape (n,).

    lexical, detail: scores of its wordings and of its details; covered: the share of the question that its texts hold; nearest to
    question: cosines, as `Meaning` has them; intent: log probability of its intent.
    """

    lexical: Floats
    covered: Floats
    detail: Floats
    nearest: Floats
    few: Floats
    whole: Floats
    apart: Floats
    answer: Floats
    details: Floats
    question: Floats
    intent: Floats

    @property
    def table(self) -> Floats:
        """Shape (n, 11)."""
        cosines = (self.nearest, self.few, self.whole, self.answer, self.details, self.question)
        scaled = ((cosine - _UNLIKE) / _SPREAD for cosine in cosines)
        return np.stack([self.lexical, self.covered, self.detail, *scaled, self.apart, self.intent], axis=1)


def log_share(share: float) -> float:
    """Of an intent's probability."""
    return math.log(share + _LEAST_SHARE)


def scores_of(evidence: Evidence) -> Floats:
    """One score an entry; higher is better."""
    return np.asarray(evidence.table @ _WEIGHTS)


def signs_of(scores: Floats) -> Floats:
    """What the chance of the best entry is judged by: its lead, its score, and how few others come near; shape (3,)."""
    best = int(scores.argmax())
    second = float(np.partition(scores, -2)[-2]) if len(scores) > 1 else -np.inf
    raised = np.exp(scores - scores[best])
    margin = min(float(scores[best]) - second, _CERTAIN_MARGIN)
    return np.array([margin, scores[best], -math.log(raised.sum())])


def chance_of(scores: Floats) -> float:
    """That the best entry's answer is right, 0 to 1."""
    return float(1 / (1 + np.exp(-(signs_of(scores) @ _CHANCE + _CHANCE_BIAS))))
