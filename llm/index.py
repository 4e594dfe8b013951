"""Many texts of many owners → for a question, the owners whose texts are nearest. Exact, without looking at most of them.

An owner's score joins two views: how much of the question all its texts together cover, and how alike the question and its nearest
wording are. The rare grams of a question find the candidates; what its frequent ones could add at most says who else must be looked
at. So no owner that belongs among the best is missed, and a hundred thousand are searched in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm.index_grams import Alphabet, TextGrams, carriers_in, distinct

Floats = NDArray[np.float32]
Numbers = NDArray[np.int32]

_WRITTEN, _SOUNDING = 0.4, 0.6  # of a gram's weight
_CARRIER = 0.15  # weight of a gram that only carries the question
_ALONE, _PAIR = (0.5, 0.5 * _CARRIER, 0.0, 0.0), (1.0, 0.4, _CARRIER, 0.0)  # by level
_FACTORS = np.array([_ALONE, _PAIR, _ALONE, _PAIR]) * np.array([[_WRITTEN], [_WRITTEN], [_SOUNDING], [_SOUNDING]])  # by kind, level
_BACKGROUND = 12  # owners that every gram is taken to be absent from: small sets keep sane weights
_UNSEEN = 0.6  # weight of a gram that nobody holds, of the rarest one's
_COVERAGE_SHARE = 0.5
_SCALE = 1.25  # a question that says a wording with other carriers scores about 1
_POSTINGS_FIRST = 60_000  # looked through before the first candidates are chosen
_FIRST_LOOK = 64  # candidates
_ROUNDED = np.float32(1.00001)  # a bound may have been rounded down
_AT_ONCE = 4096  # more than these are not looked at one by one while frequent grams can still tell them apart


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question's grams that the index holds, rarest first. weight: each one's; total: of all its grams."""

    gram: NDArray[np.int64]
    weight: Floats
    total: float


class GramIndex:
    """Built once; searching changes nothing. allowed: a flag an owner, for those that may be found."""

    def __init__(self, owners: Sequence[tuple[Sequence[str], str]], spans: Callable[[str], Sequence[tuple[int, int]]]) -> None:
        """owners: each one's wordings and its other text, folded. spans: where a text only carries a question."""
        self._spans = spans
        self.size = len(owners)
        wordings = [text for own, _ in owners for text in own]
        texts = [*wordings, *(other for _, other in owners)]
        belongs = np.repeat(np.arange(self.size, dtype=np.int32), [len(own) for own, _ in owners])
        self._first_wording = np.searchsorted(belongs, np.arange(self.size + 1)).astype(np.int64)
        self._alphabet = Alphabet(texts)
        found = self._alphabet.of_texts(texts, carriers_in(texts, spans))
        self._hold(found, np.append(belongs, np.arange(self.size, dtype=np.int32)))
        self._describe(found, len(wordings))

    def _hold(self, found: TextGrams, owner_of_text: Numbers) -> None:
        """Which owners hold each gram, and so its weight."""
        keys = distinct(found.gram * max(self.size, 1) + owner_of_text[found.text])
        grams, self._owners = keys // max(self.size, 1), (keys % max(self.size, 1)).astype(np.int32)
        starts = np.flatnonzero(np.append(True, grams[1:] != grams[:-1])) if len(grams) else np.zeros(0, dtype=np.int64)
        self._grams = grams[starts]
        self._starts = np.append(starts, len(grams))
        held = np.diff(self._starts)
        count = self.size + _BACKGROUND
        self._idf = np.log(1 + (count - held + 0.5) / (held + 0.5)).astype(np.float32)
        self._unseen = float(np.log(1 + (count + 0.5) / 0.5)) * _UNSEEN

    def _describe(self, found: TextGrams, wordings: int) -> None:
        """Each wording's grams and what they weigh in all."""
        own = found.text < wordings
        gram = np.searchsorted(self._grams, found.gram[own]).astype(np.int32)
        kind = found.gram[own] // (self._alphabet.size**2)
        weight = _FACTORS[kind, found.level[own]].astype(np.float32) * self._idf[gram]
        self._wording_grams = gram
        self._wording_starts = np.searchsorted(found.text[own], np.arange(wordings + 1)).astype(np.int64)
        self._mass = np.append(np.zeros(1), np.cumsum(weight, dtype=np.float64))[self._wording_starts]
        self._mass = np.diff(self._mass).astype(np.float32)
        self._least_mass = np.zeros(self.size, dtype=np.float32)
        some = np.flatnonzero(np.diff(self._first_wording))
        if len(some):
            self._least_mass[some] = np.minimum.reduceat(self._mass, self._first_wording[:-1][some])

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        return sum(part.nbytes for part in vars(self).values() if isinstance(part, np.ndarray))

    def search(self, folded: str, at_most: int, allowed: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        """The best owners and their scores, best first. Who shares nothing with the question is left out."""
        asked = self._read(folded)
        if not len(asked.gram) or not self.size or at_most < 1:
            return []
        cost = np.cumsum(self._starts[asked.gram + 1] - self._starts[asked.gram])
        covered = np.zeros(self.size, dtype=np.float32)
        used, upto = 0, max(1, int(np.searchsorted(cost, _POSTINGS_FIRST)))
        while True:
            for at in range(used, upto):
                gram = asked.gram[at]
                covered[self._owners[self._starts[gram] : self._starts[gram + 1]]] += asked.weight[at]
            used = upto
            best = self._best(asked, covered, used, at_most, allowed)
            if best is not None:
                return best
            upto = max(used + 1, int(np.searchsorted(cost, 4 * cost[used - 1])))

    def covered(self, folded: str, owners: NDArray[np.intp]) -> Floats:
        """The share of a question, by weight, that each owner's texts hold."""
        asked, whole = self._read(folded), np.zeros(self.size, dtype=np.float32)
        for gram, weight in zip(asked.gram, asked.weight, strict=True):
            whole[self._owners[self._starts[gram] : self._starts[gram + 1]]] += weight
        return whole[owners] / np.float32(asked.total) if asked.total else whole[owners]

    def _read(self, folded: str) -> _Asked:
        carriers = [False] * len(folded)
        for start, end in self._spans(folded):
            carriers[start:end] = [True] * (end - start)
        found = self._alphabet.of_question(folded, carriers)
        codes = np.array([code for code, _ in found.values()], dtype=np.int64)
        factor = np.array([_FACTORS[kind, level] for (kind, _), (_, level) in zip(found, found.values(), strict=True)])
        at = np.searchsorted(self._grams, codes)
        known = at < len(self._grams)
        known[known] = self._grams[at[known]] == codes[known]
        gram, weight = at[known], factor[known] * self._idf[at[known]]
        total = float(weight.sum() + factor[~known].sum() * self._unseen)
        rare_first = np.argsort(self._starts[gram + 1] - self._starts[gram], kind="stable")
        return _Asked(gram[rare_first], weight[rare_first].astype(np.float32), total)

    def _best(
        self, asked: _Asked, covered: Floats, used: int, at_most: int, allowed: NDArray[np.bool_] | None
    ) -> list[tuple[int, float]] | None:
        """The best of all owners, or None: too many might still be among them, so more grams must be looked through."""
        rest = float(asked.weight[used:].sum())
        bound = self._bound(covered + np.float32(rest), asked.total)
        if allowed is not None:
            bound[~allowed] = 0.0
        if not rest:
            bound[covered <= 0] = 0.0
        look = min(max(_FIRST_LOOK, 2 * at_most), self.size)
        first = np.argpartition(-bound, look - 1)[:look]
        scores = self._scores(asked, covered, used, first)
        enough = np.partition(scores, -at_most)[-at_most] if len(scores) >= at_most else np.float32(0)
        bound[first] = 0.0
        more = np.flatnonzero(bound * _ROUNDED > enough) if look < self.size else np.zeros(0, dtype=np.int64)
        if len(more) > _AT_ONCE and used < len(asked.gram):
            return None
        owners, scores = np.append(first, more), np.append(scores, self._scores(asked, covered, used, more))
        if allowed is not None:
            scores[~allowed[owners]] = 0.0
        order = np.lexsort((owners, -scores))[:at_most]
        return [(int(owners[at]), float(scores[at])) for at in order if scores[at] > 0]

    def _bound(self, covered: Floats, total: float) -> Floats:
        """No score is above: nobody's wording shares more with the question than all its texts cover of it."""
        mass = np.maximum(self._least_mass, covered)
        return (_SCALE * (_COVERAGE_SHARE * covered / total + (1 - _COVERAGE_SHARE) * 2 * covered / (total + mass))).astype(
            np.float32
        )

    def _scores(self, asked: _Asked, covered: Floats, used: int, owners: NDArray[np.int64]) -> Floats:
        """Exact scores. covered: by the grams that were looked through."""
        if not len(owners):
            return np.zeros(0, dtype=np.float32)
        whole = covered[owners].astype(np.float64)
        for at in range(used, len(asked.gram)):
            holders = self._owners[self._starts[asked.gram[at]] : self._starts[asked.gram[at] + 1]]
            place = np.minimum(np.searchsorted(holders, owners), len(holders) - 1)
            whole += np.where(holders[place] == owners, asked.weight[at], 0.0)
        weights = np.zeros(len(self._grams), dtype=np.float32)
        weights[asked.gram] = asked.weight
        wordings, of = _ranges(self._first_wording[owners], self._first_wording[owners + 1])
        places, of_wording = _ranges(self._wording_starts[wordings], self._wording_starts[wordings + 1])
        shared = np.bincount(of_wording, weights=weights[self._wording_grams[places]], minlength=len(wordings))
        alike = np.zeros(len(owners))
        np.maximum.at(alike, of, 2 * shared / (asked.total + self._mass[wordings]))
        return (_SCALE * (_COVERAGE_SHARE * whole / asked.total + (1 - _COVERAGE_SHARE) * alike)).astype(np.float32)


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All numbers of all the ranges, one after the other, and which range each is of."""
    lengths = ends - starts
    of = np.repeat(np.arange(len(starts)), lengths)
    before = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - before[of] + starts[of], of
