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
_WEIGHTS = np.array([3.363, 1.849, 4.902, 2.75, 2.609, 3.103, 0.386])
_CHANCE = np.array([0.2972, 0.1984, -0.6139, 0.8523, 0.5215, -0.8116, -0.0512, 1.4555])
_CHANCE_BIAS = -2.6923


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for each entry, arrays of shape (n,).

    lexical, detail: scores of its wordings and of its details; nearest, answer, details, question: cosines to its nearest wording
    and to these; intent: log probability of its intent.
    """

    lexical: Floats
    detail: Floats
    nearest: Floats
    answer: Floats
    details: Floats
    question: Floats
    intent: Floats

    @property
    def table(self) -> Floats:
        """Shape (n, 7)."""
        cosines = (self.nearest, self.answer, self.details, self.question)
        scaled = ((cosine - _UNLIKE) / _SPREAD for cosine in cosines)
        return np.stack([self.lexical, self.detail, *scaled, self.intent], axis=1)


def log_share(share: float) -> float:
    """Of an intent's probability."""
    return math.log(share + _LEAST_SHARE)


def scores_of(evidence: Evidence) -> Floats:
    """One score an entry; higher is better."""
    return np.asarray(evidence.table @ _WEIGHTS)


def signs_of(evidence: Evidence, scores: Floats) -> Floats:
    """What the chance of the best entry is judged by, shape (8,)."""
    best = int(scores.argmax())
    second = float(np.partition(scores, -2)[-2]) if len(scores) > 1 else -np.inf
    raised = np.exp(scores - scores[best])
    told = evidence.table[best]
    margin = min(float(scores[best]) - second, _CERTAIN_MARGIN)
    return np.array([margin, scores[best], told[0], told[1], told[2], told[3], told[6], -math.log(raised.sum())])


def chance_of(evidence: Evidence, scores: Floats) -> float:
    """That the best entry's answer is right, 0 to 1."""
    return float(1 / (1 + np.exp(-(signs_of(evidence, scores) @ _CHANCE + _CHANCE_BIAS))))
