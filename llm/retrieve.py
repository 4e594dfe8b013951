"""A question's text → the entries that may answer it, with a score. Knows nothing of calls, gates or engines.

Each character and each pair of characters counts twice: as written, and as it sounds (fuzzy pinyin), for a recogniser that writes
homophones. Rare grams count more (BM25's idf); words that only carry a question (怎么, 请问) count little. `index.py` does the
sums; here is what counts as a text, what carries a question, and which entries may be found.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from llm.index import GramIndex
from llm.knowledge import is_valid
from llm.ranking import UNKNOWN_INTENT, Evidence, chance_of, log_share, scores_of
from llm.space import Meaning
from llm.types import Entry, Passage
from llm.wording import carried, plain

_HEARD = 50  # candidates of each voice


class Retriever:
    """Searches one set of entries. Built once (7 s for 100,000); searching is pure and takes about a millisecond."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        """Index every wording of every entry."""
        self.entries = tuple(entries)
        owners = [([plain(text) for text in (entry.question, *entry.paraphrases)], plain(entry.answer)) for entry in entries]
        self._index = GramIndex(owners, carried)
        self._allowed: dict[tuple[dt.date | None, str], NDArray[np.bool_]] = {}
        self._spoken: dict[tuple[dt.date | None, str], tuple[Entry, ...]] = {}

    def search(self, question: str, at_most: int = 3, *, today: dt.date | None = None, region: str = "") -> list[Passage]:
        """The best entries, best first; scores from 0, about 1 is sure. Entries that share nothing are left out.

        today, region: only entries that may be spoken then and there, so that no other hides one.
        """
        allowed = self._may_be_spoken(today, region) if today or region else None
        found = self._index.search(plain(question), at_most, allowed)
        return [Passage(entry=self.entries[number], score=round(score, 4)) for number, score in found]

    def with_meaning(
        self,
        question: str,
        meaning: Meaning,
        intents: Mapping[str, float] | None = None,
        *,
        at_most: int,
        today: dt.date | None = None,
        region: str = "",
    ) -> list[Passage]:
        """As `search`, by both voices. intents: probability of each. The first score is the chance that its answer is right.

        The others' scores fall off from it as they are less likely.
        """
        allowed = self._may_be_spoken(today, region)
        numbers, evidence = self.evidence(question, meaning, intents, allowed)
        if not len(numbers):
            return []
        scores = scores_of(evidence)
        chance = chance_of(scores)
        best = np.argsort(-scores, kind="stable")[:at_most]
        falls = np.exp(scores[best] - scores[best[0]])
        return [
            Passage(entry=self.entries[int(numbers[i])], score=round(chance * float(fall), 4))
            for i, fall in zip(best, falls, strict=True)
        ]

    def evidence(
        self, question: str, meaning: Meaning, intents: Mapping[str, float] | None, allowed: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.intp], Evidence]:
        """Candidates of either voice, by their numbers, and what speaks for each."""
        folded = plain(question)
        lexical, detail = dict(self._index.search(folded, _HEARD, allowed)), dict(self._details.search(folded, _HEARD, allowed))
        heard = {*lexical, *detail, *np.argsort(-meaning.nearest)[:_HEARD].tolist()}
        numbers = np.array(sorted(n for n in heard if allowed is None or allowed[n]), dtype=np.intp)
        return numbers, Evidence(
            lexical=np.array([lexical.get(n, 0.0) for n in numbers.tolist()]),
            covered=self._index.covered(folded, numbers).astype(np.float64),
            detail=np.array([detail.get(n, 0.0) for n in numbers.tolist()]),
            nearest=meaning.nearest[numbers].astype(np.float64),
            few=meaning.few[numbers].astype(np.float64),
            whole=meaning.whole[numbers].astype(np.float64),
            apart=meaning.apart[numbers].astype(np.float64),
            answer=meaning.answer[numbers].astype(np.float64),
            details=meaning.detail[numbers].astype(np.float64),
            question=meaning.question[numbers].astype(np.float64),
            intent=np.array([_of_intent(self.entries[n].intent, intents) for n in numbers.tolist()]),
        )

    @functools.cached_property
    def _details(self) -> GramIndex:
        """What is told on request, and the answers: made for the first question that both voices are asked."""
        owners = [([plain(entry.detail or entry.answer)], plain(entry.answer)) for entry in self.entries]
        return GramIndex(owners, carried)

    @property
    def bytes(self) -> int:
        """Memory of the index."""
        return self._index.bytes

    def spoken(self, today: dt.date | None, region: str) -> tuple[Entry, ...]:
        """The entries that may be spoken then and there: of two versions of one rule, the one that holds."""
        if (today, region) not in self._spoken:
            allowed = self._may_be_spoken(today, region).tolist()
            self._spoken = {(today, region): tuple(itertools.compress(self.entries, allowed))}
        return self._spoken[today, region]

    def _may_be_spoken(self, today: dt.date | None, region: str) -> NDArray[np.bool_]:
        """A flag an entry, kept for the day."""
        if (today, region) not in self._allowed:
            here = {"", region}
            flags = [is_valid(entry, today) and (not region or entry.region in here) for entry in self.entries]
            self._allowed = {(today, region): np.array(flags, dtype=np.bool_)}
        return self._allowed[today, region]


def _of_intent(name: str, intents: Mapping[str, float] | None) -> float:
    return UNKNOWN_INTENT if intents is None or not name else log_share(intents.get(name, 0.0))
