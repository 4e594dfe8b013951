"""Vectors of a knowledge base → how near a question lies to each entry. Pure arrays; knows no model and no text.

Cosines of such vectors are all alike. So the directions in which the wordings of one entry differ among themselves are made to
count less, and those in which entries differ more: linear discriminant analysis, shrunk where few wordings say little (as PLDA does
for voices). Only one number a wording is kept of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
_Matrix = NDArray[np.float64]

_FEW = 3  # wordings, of which the mean is told
_WITHIN_PRIOR, _BETWEEN_PRIOR = (
    2000,
    100,
)  # so many wordings, and entries, weigh as much as the assumption that no direction differs
_LEAST = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """How near a text lies to each entry, as cosines, shape (entries,).

    nearest, few, whole: to its nearest wording, its three nearest and all of them, in the mean; apart: to its nearest wording where
    what tells entries apart counts more; question, answer, detail: to these.
    """

    nearest: Vectors
    few: Vectors
    whole: Vectors
    apart: Vectors
    question: Vectors
    answer: Vectors
    detail: Vectors


class Space:
    """Made once from all vectors; asking is pure."""

    def __init__(self, vectors: Vectors, counts: Sequence[int]) -> None:
        """vectors: of every wording of every entry, then of their answers, then of their details. counts: wordings of each."""
        self._vectors = vectors
        self._counts = np.array(counts, dtype=np.intp)
        self._wordings = int(self._counts.sum())
        self._first = np.cumsum(self._counts) - self._counts
        wordings = vectors[: self._wordings].astype(np.float64)
        self._middle = wordings.mean(axis=0)
        self._lens = _lens(wordings - self._middle, self._first, self._counts)
        self._lengths = np.linalg.norm((wordings - self._middle) @ self._lens, axis=1) + _LEAST

    def meaning(self, asked: Vectors) -> Meaning:
        """asked: a unit vector."""
        cosines = self._vectors @ asked
        wordings, answers, details = np.split(cosines, [self._wordings, self._wordings + len(self._first)])
        nearest, few = self._nearest_and_few(wordings)
        return Meaning(
            nearest=nearest,
            few=few,
            whole=(np.add.reduceat(wordings, self._first) / self._counts).astype(np.float32),
            apart=np.maximum.reduceat(self._told_apart(asked), self._first).astype(np.float32),
            question=wordings[self._first],
            answer=answers,
            detail=details,
        )

    def _nearest_and_few(self, cosines: Vectors) -> tuple[Vectors, Vectors]:
        rest, best = cosines.copy(), np.full((_FEW, len(self._first)), np.nan, dtype=np.float32)
        for row in best:
            row[:] = np.maximum.reduceat(rest, self._first)
            rest[rest == np.repeat(row, self._counts)] = -np.inf
        there = np.isfinite(best)
        return best[0], np.where(there, best, 0).sum(axis=0, dtype=np.float32) / there.sum(axis=0, dtype=np.float32)

    def _told_apart(self, asked: Vectors) -> NDArray[np.float64]:
        """Cosines through the lens, without keeping what each wording looks like through it."""
        through = (asked - self._middle) @ self._lens
        back = (self._lens @ through).astype(np.float32)
        seen = self._vectors[: self._wordings] @ back - float(self._middle @ back)
        return np.asarray(seen / (self._lengths * (np.linalg.norm(through) + _LEAST)))


def _lens(wordings: _Matrix, first: NDArray[np.intp], counts: NDArray[np.intp]) -> _Matrix:
    """wordings: about their mean."""
    middles = np.add.reduceat(wordings, first) / counts[:, None]
    apart = wordings - np.repeat(middles, counts, axis=0)
    spare = len(wordings) - len(first)
    within = apart.T @ apart / max(spare, 1)
    spread = float((apart if spare else wordings).var(axis=0).mean()) + _LEAST
    shrunk = (spare * within + _WITHIN_PRIOR * spread * np.eye(len(within))) / (spare + _WITHIN_PRIOR)
    values, axes = np.linalg.eigh(shrunk)
    whitening = (axes / np.sqrt(values)) @ axes.T
    values, axes = np.linalg.eigh(whitening @ (middles.T @ middles / len(first)) @ whitening)
    values = np.maximum(values, 0) + _LEAST
    values = (len(first) * values + _BETWEEN_PRIOR * values.mean()) / (len(first) + _BETWEEN_PRIOR)
    return np.asarray(whitening @ (axes * np.sqrt(values / (values + 1))))
