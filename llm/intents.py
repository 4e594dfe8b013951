"""A masked question → what the call is about, and what the caller wants, each with a calibrated probability. Pure; in microseconds.

A linear classifier over characters and fuzzy pinyin: a recogniser's homophone sounds the same. Trained by llm/intents_build.py;
here only the product of a few sparse features and a matrix. Temperature scaling after Guo et al. 2017, On Calibration of Modern
Neural Networks.
"""

from __future__ import annotations

import itertools
import math
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from llm.sound import sound_of
from llm.types import AnsweringError, Guess, Intent, MaskedText
from llm.wording import content, plain

Floats = NDArray[np.float32]

ASK_HUMAN = "ask_human"
AXES = ("matter", "kind")
_NAMED = 3  # scores that are told


class IntentsWrong(AnsweringError):
    """Intent files or a trained model can't be used: the message names place and mend."""

    code = "llm.intents_wrong"


def features(text: str) -> Counter[str]:
    """Grams of a text, whole and without the words that only carry a question: one to three characters, one and two sounds."""
    found = Counter(_grams(plain(text)))
    found.update("k" + gram for gram in _grams(content(text)))
    return found


def _grams(folded: str) -> Iterator[str]:
    sounds = [sound_of(char) for char in folded]
    for size in (1, 2, 3):
        yield from ("c" + folded[at : at + size] for at in range(len(folded) - size + 1))
    yield from ("s" + sound for sound in sounds)
    yield from (f"s{one} {two}" for one, two in itertools.pairwise(sounds))


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One trained classifier. weights: shape (terms, intents), bias: (intents,); sure_from: probability that makes a guess sure."""

    names: tuple[str, ...]
    titles: tuple[str, ...]
    terms: dict[str, int]
    idf: Floats
    weights: Floats
    bias: Floats
    temperature: float
    sure_from: float

    def probabilities(self, found: Counter[str]) -> Floats:
        """Calibrated, one for each intent."""
        known = [(self.terms[gram], count) for gram, count in found.items() if gram in self.terms]
        logits: NDArray[np.floating] = self.bias
        if known:
            at = [place for place, _ in known]
            values = np.array([1 + math.log(count) for _, count in known], np.float32) * self.idf[at]
            logits = logits + (values / np.linalg.norm(values)) @ self.weights[at]
        scaled = logits / self.temperature
        raised = np.exp(scaled - scaled.max())
        return np.asarray(raised / raised.sum(), np.float32)

    def guesses(self, found: Counter[str]) -> tuple[Guess, ...]:
        """The likeliest intents, best first."""
        shares = self.probabilities(found)
        best = np.argsort(-shares, kind="stable")[:_NAMED]
        return tuple(
            Guess(
                name=self.names[i],
                title=self.titles[i],
                confidence=round(float(shares[i]), 4),
                is_sure=bool(shares[i] >= self.sure_from),
            )
            for i in best
        )


class IntentModel:
    """Both axes. Made by training or `read`; classifying is pure."""

    def __init__(self, matter: Axis, kind: Axis) -> None:
        """Hold two trained axes."""
        self.matter, self.kind = matter, kind

    def classify(self, question: MaskedText) -> Intent:
        """About 0.1 ms. A question of which nothing is known gets the likeliest intents, and none is sure."""
        found = features(question.text)
        matters, kinds = self.matter.guesses(found), self.kind.guesses(found)
        return Intent(matter=matters[0], kind=kinds[0], matters=matters)

    def shares(self, masked: str) -> dict[str, float]:
        """The probability of each matter."""
        return dict(zip(self.matter.names, map(float, self.matter.probabilities(features(masked))), strict=True))

    def write(self, path: Path) -> None:
        """As one .npz file."""
        arrays: dict[str, NDArray[np.generic]] = {}
        for name, axis in zip(AXES, (self.matter, self.kind), strict=True):
            arrays |= {
                f"{name}_names": np.array(axis.names),
                f"{name}_titles": np.array(axis.titles),
                f"{name}_terms": np.array(sorted(axis.terms, key=lambda term: axis.terms[term])),
                f"{name}_idf": axis.idf,
                f"{name}_weights": axis.weights.astype(np.float16),
                f"{name}_bias": axis.bias,
                f"{name}_levels": np.array([axis.temperature, axis.sure_from]),
            }
        with path.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # its stubs take a flag's name for ours

    @classmethod
    def read(cls, path: Path) -> IntentModel:
        """Raises IntentsWrong."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return cls(*(_axis(arrays, name) for name in AXES))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            raise IntentsWrong(f"{path.name} is no intent model; build it again: hotline kb build") from None


def _axis(arrays: np.lib.npyio.NpzFile, name: str) -> Axis:
    temperature, sure_from = map(float, arrays[f"{name}_levels"])
    return Axis(
        names=tuple(map(str, arrays[f"{name}_names"])),
        titles=tuple(map(str, arrays[f"{name}_titles"])),
        terms={str(term): at for at, term in enumerate(arrays[f"{name}_terms"])},
        idf=arrays[f"{name}_idf"],
        weights=arrays[f"{name}_weights"].astype(np.float32),
        bias=arrays[f"{name}_bias"],
        temperature=temperature,
        sure_from=sure_from,
    )
