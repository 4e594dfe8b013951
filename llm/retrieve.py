"""A question's text → the entries that may answer it, with a score. Knows nothing of calls, gates or engines.

Each character and each pair of characters counts twice: as written, and as it sounds (fuzzy pinyin), for a recogniser that writes
homophones. Rare grams count more (BM25's idf); words that only carry a question (怎么, 请问, 可以) count little. An entry's score
joins two views: how much of the question the whole entry covers, and how alike the question and its nearest wording are.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hotline.zh.skeleton import skeleton
from llm.sound import sound_of
from llm.types import Entry, Passage

_SOUND_SHARE = 0.6  # of a gram's weight; the rest needs the same characters
_PAIR, _SINGLE = 1.0, 0.5
_CARRIER = 0.15  # weight of a gram that only carries the question
_BACKGROUND = 12  # entries that every gram is taken to be absent from: small knowledge bases keep sane weights
_COVERAGE_SHARE = 0.5
_SCALE = 1.25  # a question that says an entry's wording with other carriers scores about 1

_CARRIERS = re.compile(
    "请问|麻烦|您好|你好|谢谢|打扰|咨询|了解|想问|问问|问|一下子?|那个|这个|就是|什么时候|什么|怎么样|怎么办|怎么|怎样|如何|咋|啥|哪里|哪儿|哪|"
    "多少|多久|多长时间|几天|我们|你们|咱们|咱|他们|我|你|您|他|她|的|了|吗|呢|啊|呀|吧|嘛|哦|哎|喂|得|要不要|要|想|可不可以|可以|能不能|能|"
    "需要|是不是|是|有没有|去|到|上|在|和|跟|给|把|让|就|还|也|都|应该|该|现在|这边|这里|那边|这样|事情|事|说|知道|听说|办理|办|弄|一个|个"
)
_DICTATED = re.compile(
    "(?:[我你您]的?)?(?:手机号?码?|电话号?码?|身份证号?码?|号码|姓名|名字|地址|住址|车牌号?码?|卡号|邮箱|微信号?)?(?:是|叫|为|在)?〈[^〉]*〉"
)
_DROPPED = re.compile(r"[\s，。！？；：、,.!?;:…“”\"'‘’（）()《》\-—]+")


@dataclass(frozen=True, slots=True)
class Grams:
    """A text's grams with their factors (place in the question, pair or single). A gram that occurs twice counts once."""

    factors: dict[str, float]


@functools.lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """The form in which texts are compared: folded, no punctuation; placeholders gone, and the words that lead to them."""
    return _DROPPED.sub("", skeleton(_DICTATED.sub("，", text)).text).lower()


def content(text: str) -> str:
    """The plain form without the words that only carry a question."""
    return _CARRIERS.sub("", plain(text))


def grams(text: str) -> Grams:
    """Single characters and pairs, as written (c…) and as they sound (s…)."""
    folded = plain(text)
    carrier = [False] * len(folded)
    for found in _CARRIERS.finditer(folded):
        carrier[found.start() : found.end()] = [True] * (found.end() - found.start())
    sounds = [sound_of(char) for char in folded]
    factors: dict[str, float] = {}

    def put(written: str, sounding: str, factor: float) -> None:
        for gram, share in (("c" + written, 1 - _SOUND_SHARE), ("s" + sounding, _SOUND_SHARE)):
            factors[gram] = max(factors.get(gram, 0.0), factor * share)

    for at, char in enumerate(folded):
        put(char, sounds[at], _SINGLE * (_CARRIER if carrier[at] else 1.0))
        if at + 1 < len(folded):
            both = carrier[at] + carrier[at + 1]
            put(char + folded[at + 1], f"{sounds[at]} {sounds[at + 1]}", _PAIR * (1.0, 0.4, _CARRIER)[both])
    return Grams(factors)


class Retriever:
    """Searches one set of entries. Built once; searching is pure and takes well under a millisecond."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        """Index every wording of every entry."""
        self.entries = tuple(entries)
        texts = [[grams(text) for text in (entry.question, *entry.paraphrases)] for entry in entries]
        wholes = [
            set(grams(entry.answer).factors).union(*(found.factors for found in own))
            for entry, own in zip(entries, texts, strict=True)
        ]
        wordings = [(number, found) for number, own in enumerate(texts) for found in own]
        self._idf = self._weigh(wholes)
        self._unseen = float(np.log(1 + (len(entries) + _BACKGROUND + 0.5) / 0.5)) * 0.6
        self._owner = np.array([number for number, _ in wordings], dtype=np.intp)
        self._mass = np.array([self._total(found) for _, found in wordings])
        self._in_wordings = _postings(found.factors for _, found in wordings)
        self._in_wholes = _postings(wholes)

    def search(self, question: str, at_most: int = 3) -> list[Passage]:
        """The best entries, best first; scores from 0, about 1 is sure. Entries that share nothing are left out."""
        scores = self.scores(question)
        best = np.argsort(-scores, kind="stable")[:at_most]
        return [Passage(entry=self.entries[i], score=round(float(scores[i]), 4)) for i in best if scores[i] > 0]

    def scores(self, question: str) -> NDArray[np.float64]:
        """One score an entry, in the entries' order."""
        asked = grams(question)
        total = self._total(asked)
        if not total or not self.entries:
            return np.zeros(len(self.entries))
        shared = self._sum(asked, self._in_wordings, len(self._owner))
        covered = self._sum(asked, self._in_wholes, len(self.entries)) / total
        alike = np.zeros(len(self.entries))
        np.maximum.at(alike, self._owner, 2 * shared / (total + self._mass))
        return _SCALE * (_COVERAGE_SHARE * covered + (1 - _COVERAGE_SHARE) * alike)

    def _weigh(self, wholes: Sequence[set[str]]) -> dict[str, float]:
        held = Counter(gram for whole in wholes for gram in whole)
        count = len(wholes) + _BACKGROUND
        return {gram: float(np.log(1 + (count - n + 0.5) / (n + 0.5))) for gram, n in held.items()}

    def _total(self, found: Grams) -> float:
        return sum(factor * self._idf.get(gram, self._unseen) for gram, factor in found.factors.items())

    def _sum(self, asked: Grams, postings: dict[str, NDArray[np.intp]], size: int) -> NDArray[np.float64]:
        """Weights of the shared grams, for each wording or entry."""
        hits = [(postings[gram], factor * self._idf[gram]) for gram, factor in asked.factors.items() if gram in postings]
        if not hits:
            return np.zeros(size)
        where = np.concatenate([places for places, _ in hits])
        weights = np.repeat([weight for _, weight in hits], [len(places) for places, _ in hits])
        return np.bincount(where, weights=weights, minlength=size).astype(np.float64)


def _postings(texts: Iterable[Iterable[str]]) -> dict[str, NDArray[np.intp]]:
    places: dict[str, list[int]] = {}
    for number, found in enumerate(texts):
        for gram in found:
            places.setdefault(gram, []).append(number)
    return {gram: np.array(found, dtype=np.intp) for gram, found in places.items()}
