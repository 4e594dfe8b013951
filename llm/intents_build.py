"""Intent files and knowledge entries → a trained, calibrated classifier. Seconds; at `hotline kb build`, or at a first start.

Probabilities are fitted on texts that the classifier had not seen: wordings of one entry are alike, so they stay on one side of
every split. What is sure is what was right nineteen times in twenty there. What the answers say counts half: it holds the words of
a matter that no wording of it has.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
from numpy.typing import NDArray

from llm.intents import AXES, Axis, IntentModel, IntentsWrong, features
from llm.knowledge_yaml import NotYaml, read_yaml
from llm.types import Entry

_SCHEMA_AT = "schema/intents.schema.json"
_FOLDS = 5
_REGULARISATION = 0.3
_TOLD_WEIGHT = 0.5  # of an answer's sentence, beside a caller's
_SURE_SHARE = 0.95  # of sure guesses that were right
_FEWEST = _FOLDS  # examples of an intent
_MANY = 1000  # examples, among which a gram that occurs once says little
_SENTENCES = re.compile("[。；？！]")
_FORMAT = "2"  # of features and files: a change makes old models stale


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One text of an intent. group: texts that are alike share one."""

    text: str
    intent: str
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentSet:
    """What to train: names with titles, and examples, by axis. told: sentences of answers, about matters."""

    titles: dict[str, dict[str, str]]
    examples: dict[str, tuple[Example, ...]]
    told: tuple[Example, ...]

    @property
    def digest(self) -> str:
        """Changes whenever training would give another model."""
        texts = {axis: [(e.text, e.intent) for e in each] for axis, each in self.examples.items()}
        whole = [_FORMAT, self.titles, texts, [(e.text, e.intent) for e in self.told]]
        return hashlib.sha256(json.dumps(whole, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How an axis did on texts it had not seen. accuracy: of all; kept: share of sure guesses; right: share of them that was right.

    calibration_error: expected, over ten bins, after scaling.
    """

    axis: str
    intents: int
    examples: int
    accuracy: float
    kept: float
    right: float
    calibration_error: float


def read_intents(folder: Path, entries: Sequence[Entry], *, schema: Path | None = None) -> IntentSet:
    """Every *.yaml of the folder, and the entries' wordings. Raises IntentsWrong: file and mend.

    schema: default `schema/intents.schema.json` beside the knowledge folder.
    """
    titles: dict[str, dict[str, str]] = {axis: {} for axis in AXES}
    examples: dict[str, list[Example]] = {axis: [] for axis in AXES}
    files = sorted(folder.glob("*.yaml"))
    check = _validator(schema or folder.parent.parent / _SCHEMA_AT)
    for file in files:
        document = _document(file, check)
        axis = document["axis"]
        for intent in document["intents"]:
            if intent["name"] in titles[axis]:
                raise IntentsWrong(f"{file.name}: intent {intent['name']} is there twice; join the two")
            titles[axis][intent["name"]] = intent["title"]
            examples[axis] += [Example(text=text, intent=intent["name"], group=text) for text in intent["examples"]]
    if missing := [axis for axis in AXES if len(titles[axis]) < 2]:  # noqa: PLR2004  a choice needs two
        raise IntentsWrong(f"{folder}: no intents of axis {missing[0]}; add a file, or take configs/kb/intents as a start")
    examples["matter"] += _from_entries(entries, titles["matter"])
    return IntentSet(titles=titles, examples={axis: tuple(each) for axis, each in examples.items()}, told=_told_by(entries))


def _from_entries(entries: Sequence[Entry], known: dict[str, str]) -> list[Example]:
    if unknown := next((entry for entry in entries if entry.intent and entry.intent not in known), None):
        raise IntentsWrong(f"entry {unknown.id}: no intent is called {unknown.intent}; correct it, or add it to the intent files")
    return [
        Example(text=text, intent=entry.intent, group=entry.id)
        for entry in entries
        if entry.intent
        for text in (entry.question, *entry.paraphrases)
    ]


def _told_by(entries: Sequence[Entry]) -> tuple[Example, ...]:
    return tuple(
        Example(text=sentence, intent=entry.intent, group=entry.id)
        for entry in entries
        if entry.intent
        for text in (entry.answer, entry.detail, entry.topic)
        for sentence in _SENTENCES.split(text)
        if sentence
    )


@functools.cache
def _validator(schema: Path) -> jsonschema.Draft202012Validator:
    try:
        return jsonschema.Draft202012Validator(json.loads(schema.read_text("utf-8")))
    except (OSError, ValueError):
        raise IntentsWrong(f"{schema}: the schema of intent files is missing or broken; restore it") from None


def _document(file: Path, check: jsonschema.Draft202012Validator) -> dict[str, Any]:
    try:
        document, _, _ = read_yaml(file)
    except NotYaml as broken:
        raise IntentsWrong(f"{file.name}{broken}") from None
    for error in check.iter_errors(document):
        place = ".".join(str(part + 1 if isinstance(part, int) else part) for part in error.absolute_path)
        raise IntentsWrong(f"{file.name}: {place or 'top of the file'}: {error.message[:160]}")
    return dict(document)


def built_intents(
    folder: Path, entries: Sequence[Entry], cache: Path, *, schema: Path | None = None, tell: Callable[[str], None] = lambda _: None
) -> IntentModel:
    """The model of these files: read from the cache, or trained and put there. Blocking. Raises IntentsWrong, OSError."""
    intents = read_intents(folder, entries, schema=schema)
    target = cache / f"intents-{intents.digest}.npz"
    if target.is_file():
        with contextlib.suppress(IntentsWrong):  # half a file of a machine that lost power: made again
            return IntentModel.read(target)
    tell(f"意图分类训练中：{len(intents.examples['matter'])} 句")
    model, _ = train(intents)
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=cache, suffix=".npz", delete=False) as file:
        fresh = Path(file.name)
    model.write(fresh)
    fresh.replace(target)
    return model


def train(intents: IntentSet) -> tuple[IntentModel, tuple[Fit, ...]]:
    """A model, and how well it does. Seconds of one core. Raises IntentsWrong where an intent has too few examples."""
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    with threadpool_limits(limits=1):  # many small products: threads would only wait for each other
        matter, matter_fit = _train_axis("matter", intents)
        kind, kind_fit = _train_axis("kind", intents)
    return IntentModel(matter, kind), (matter_fit, kind_fit)


def _train_axis(axis: str, intents: IntentSet) -> tuple[Axis, Fit]:
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415  a second of imports, only for building
    from sklearn.model_selection import StratifiedGroupKFold  # noqa: PLC0415

    examples, told = intents.examples[axis], intents.told if axis == "matter" else ()
    names = tuple(sorted(intents.titles[axis]))
    wanted = np.array([names.index(example.intent) for example in (*examples, *told)])
    _check_counts(axis, names, wanted[: len(examples)])
    vectors = TfidfVectorizer(
        analyzer=lambda text: list(features(text).elements()),
        sublinear_tf=True,
        min_df=1 if len(examples) < _MANY else 2,
        dtype=np.float32,
    )
    table = vectors.fit_transform([example.text for example in (*examples, *told)])
    share = np.repeat((1.0, _TOLD_WEIGHT), (len(examples), len(told)))
    groups = np.array([example.group for example in (*examples, *told)])
    splits = StratifiedGroupKFold(n_splits=_FOLDS, shuffle=True, random_state=1)
    unseen = np.zeros((len(wanted), len(names)))
    for seen, held in splits.split(table, wanted, groups):
        weights, bias = _linear(table[seen], wanted[seen], share[seen])
        unseen[held] = table[held] @ weights + bias
    unseen, wanted_of = unseen[: len(examples)], wanted[: len(examples)]
    temperature = _temperature(unseen, wanted_of)
    shares = _softmax(unseen / temperature)
    sure_from = _sure_from(shares, wanted_of)
    weights, bias = _linear(table, wanted, share)
    fitted = Axis(
        names=names,
        titles=tuple(intents.titles[axis][name] for name in names),
        terms={str(term): int(at) for term, at in vectors.vocabulary_.items()},
        idf=vectors.idf_.astype(np.float32),
        weights=np.ascontiguousarray(weights, np.float32),
        bias=bias.astype(np.float32),
        temperature=temperature,
        sure_from=sure_from,
    )
    return fitted, _fit(axis, shares, wanted_of, sure_from)


def _linear(table: Any, wanted: NDArray[np.int64], share: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # noqa: ANN401
    """Weights of shape (terms, intents), and biases, of a support vector machine for each intent against the others."""
    from sklearn.svm import LinearSVC  # noqa: PLC0415

    classifier = LinearSVC(C=_REGULARISATION, class_weight="balanced", random_state=1).fit(table, wanted, sample_weight=share)
    weights, bias = classifier.coef_, classifier.intercept_
    if len(weights) == 1:  # of two intents scikit-learn scores the second one
        weights, bias = np.concatenate([-weights, weights]), np.concatenate([-bias, bias])
    return weights.T, bias


def _check_counts(axis: str, names: Sequence[str], wanted: NDArray[np.int64]) -> None:
    counts = np.bincount(wanted, minlength=len(names))
    if (least := int(counts.min())) < _FEWEST:
        name = names[int(counts.argmin())]
        raise IntentsWrong(f"intent {name} of axis {axis} has {least} examples; give it {_FEWEST} or more, as callers speak")


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _temperature(logits: NDArray[np.float64], wanted: NDArray[np.int64]) -> float:
    """The one that makes the unseen texts likeliest."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415

    rows = np.arange(len(wanted))
    found = minimize_scalar(
        lambda t: -np.log(_softmax(logits / t)[rows, wanted] + 1e-12).mean(), bounds=(0.05, 3.0), method="bounded"
    )
    return float(found.x)


def _sure_from(shares: NDArray[np.float64], wanted: NDArray[np.int64]) -> float:
    """The lowest probability from which guesses were right often enough; above 1 where none was."""
    order = np.argsort(-shares.max(axis=1))
    right = (shares.argmax(axis=1) == wanted)[order].cumsum() / np.arange(1, len(order) + 1)
    good = np.flatnonzero(right >= _SURE_SHARE)
    return float(shares.max(axis=1)[order[good[-1]]]) if len(good) else 1.1


def _fit(axis: str, shares: NDArray[np.float64], wanted: NDArray[np.int64], sure_from: float) -> Fit:
    best, right = shares.max(axis=1), shares.argmax(axis=1) == wanted
    sure = best >= sure_from
    bins = np.minimum((best * 10).astype(int), 9)
    error = sum(abs(best[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist()))
    return Fit(
        axis=axis,
        intents=shares.shape[1],
        examples=len(wanted),
        accuracy=round(float(right.mean()), 4),
        kept=round(float(sure.mean()), 4),
        right=round(float(right[sure].mean()), 4) if sure.any() else 0.0,
        calibration_error=round(float(error), 4),
    )
