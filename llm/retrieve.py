"""A question's text → the entries that may answer it, with a score. Knows nothing of calls, gates or engines.

Each character and each pair of characters counts twice: as written, and as it sounds (fuzzy pinyin), for a recogniser that writes
homophones. Rare grams count more (BM25's idf); words that only carry a question (怎么, 请问) count little. `index.py` does the
sums; here is what counts as a text, what carries a question, and which entries may be found.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from llm.index import GramIndex
from llm.knowledge import is_valid
from llm.types import Entry, Passage
from llm.wording import carried, plain

_HEARD = 50  # candidates of each voice
_MEANING = 6.0  # what a cosine weighs beside a lexical score; halved, so that about 1 stays sure
_UNLIKE = 0.8  # the cosine of texts about different matters


class Retriever:
    """Searches one set of entries. Built once (7 s for 100,000); searching is pure and takes about a millisecond."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        """Index every wording of every entry."""
        self.entries = tuple(entries)
        owners = [([plain(text) for text in (entry.question, *entry.paraphrases)], plain(entry.answer)) for entry in entries]
        self._index = GramIndex(owners, carried)
        self._allowed: dict[tuple[dt.date | None, str], NDArray[np.bool_]] = {}

    def search(self, question: str, at_most: int = 3, *, today: dt.date | None = None, region: str = "") -> list[Passage]:
        """The best entries, best first; scores from 0, about 1 is sure. Entries that share nothing are left out.

        today, region: only entries that may be spoken then and there, so that no other hides one.
        """
        allowed = self._may_be_spoken(today, region) if today or region else None
        found = self._index.search(plain(question), at_most, allowed)
        return [Passage(entry=self.entries[number], score=round(score, 4)) for number, score in found]

    def with_meaning(
        self, question: str, nearness: NDArray[np.float32], at_most: int, *, today: dt.date | None = None, region: str = ""
    ) -> list[Passage]:
        """As `search`, with the second voice. nearness: a cosine for each entry."""
        lexical = dict(self._index.search(plain(question), _HEARD, None))
        allowed = self._may_be_spoken(today, region)
        candidates = {*lexical, *np.argsort(-nearness)[:_HEARD].tolist()}
        scores = {
            number: (lexical.get(number, 0.0) + _MEANING * (float(nearness[number]) - _UNLIKE)) / 2
            for number in candidates
            if allowed[number]
        }
        best = sorted(scores, key=lambda number: (-scores[number], number))[:at_most]
        return [Passage(entry=self.entries[number], score=round(scores[number], 4)) for number in best]

    @property
    def bytes(self) -> int:
        """Memory of the index."""
        return self._index.bytes

    def _may_be_spoken(self, today: dt.date | None, region: str) -> NDArray[np.bool_]:
        """A flag an entry, kept for the day."""
        if (today, region) not in self._allowed:
            here = {"", region}
            flags = [is_valid(entry, today) and (not region or entry.region in here) for entry in self.entries]
            self._allowed = {(today, region): np.array(flags, dtype=np.bool_)}
        return self._allowed[today, region]
