"""An engine folder's manifest.json: a folder and facts in, a checked manifest out. Knows no builder and no GPU.

Every step of the toolchain reads and writes one folder. The manifest says what it is and holds the hash of every other file, so
that a folder changed by hand, cut short or mixed with another is not taken for the one that passed the gate.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import jsonschema

from engines.types import ManifestWrong

NAME = "manifest.json"
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What the engine was made from. sha256: over the source model's own listing of files."""

    model: str
    sha256: str
    licence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Shapes of one input that the engine is built for."""

    input: str
    min: tuple[int, ...]
    opt: tuple[int, ...]
    max: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The calibration set. topics: how many samples of each topic of the knowledge base."""

    sha256: str
    topics: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """What built it. gpu_architecture: as the builder names it, e.g. sm_90; empty where none is needed."""

    name: str
    version: str
    driver: str = ""
    gpu_architecture: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Figures at the gate. accuracy and agreement in [0, 1] on the answer set; baseline: the engine that it was held against."""

    passed: bool
    baseline: str
    accuracy: float
    baseline_accuracy: float
    agreement: float
    kl_divergence: float
    largest_logit_difference: float
    first_token_ms: float
    tokens_per_s: float
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedFile:
    """A file of the folder. path: relative, with forward slashes."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What an engine folder is. executed_on: the machine that ran it; None: built, never run."""

    name: str
    step: str
    source: Source
    tokenizer_sha256: str
    precision: Mapping[str, str]
    profiles: tuple[Profile, ...] = ()
    memory_limit_bytes: int | None = None
    calibration: Calibration | None = None
    builder: Builder | None = None
    gate: Gate | None = None
    executed_on: str | None = None
    files: tuple[HashedFile, ...] = ()

    def to_json(self) -> str:
        """Canonical: sorted keys, no spaces, so that equal manifests are equal bytes."""
        fields = {"format": FORMAT, **dataclasses.asdict(self)}
        return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"

    @property
    def sha256(self) -> str:
        """The folder's identity: hash of the canonical manifest, which holds the hash of every file."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Read and check. Raises ManifestWrong with the place."""
        try:
            fields = json.loads(text)
        except ValueError as error:
            raise ManifestWrong(f"{NAME} is not JSON ({error}); build the folder again") from None
        problem = jsonschema.exceptions.best_match(_schema().iter_errors(fields))
        if problem is not None:
            place = "/".join(str(step) for step in problem.absolute_path) or "the manifest"
            raise ManifestWrong(f"{NAME}: {place}: {problem.message[:200]}; build the folder again with this version")
        return _manifest(fields)


def _manifest(fields: dict[str, Any]) -> Manifest:
    """Fields that satisfy the schema, typed."""
    made = {key: value for key, value in fields.items() if key != "format"}
    made["source"] = Source(**fields["source"])
    made["profiles"] = tuple(
        Profile(input=row["input"], min=tuple(row["min"]), opt=tuple(row["opt"]), max=tuple(row["max"]))
        for row in fields["profiles"]
    )
    made["files"] = tuple(HashedFile(**row) for row in fields["files"])
    for key, kind in (("calibration", Calibration), ("builder", Builder), ("gate", Gate)):
        made[key] = None if fields[key] is None else kind(**fields[key])
    return Manifest(**made)


@functools.cache
def _schema() -> jsonschema.Draft202012Validator:
    """The schema that the product checks against too: beside the packages in a checkout, inside hotline once installed."""
    root = Path(__file__).resolve().parent.parent
    configs = next(path for path in (root / "configs", root / "hotline" / "configs") if path.is_dir())
    return jsonschema.Draft202012Validator(json.loads((configs / "schema" / "manifest.schema.json").read_text(encoding="utf-8")))


def hash_files(folder: Path) -> tuple[HashedFile, ...]:
    """Every file below folder but the manifest, by path. Links are refused: they may point anywhere. Raises ManifestWrong."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            raise ManifestWrong(f"{name} is a link; copy the file itself into {folder}")
        if path.is_file() and name != NAME:
            with path.open("rb") as file:
                found.append(
                    HashedFile(path=name, bytes=path.stat().st_size, sha256=hashlib.file_digest(file, "sha256").hexdigest())
                )
    return tuple(found)


def write_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Hash the folder's files into the manifest and write it, in one step. Raises ManifestWrong if it breaks the schema."""
    full = dataclasses.replace(manifest, files=hash_files(folder))
    Manifest.from_json(full.to_json())
    partial = folder / f".{NAME}.partial"
    partial.write_text(full.to_json(), encoding="utf-8")
    partial.replace(folder / NAME)
    return full


def read_manifest(folder: Path) -> Manifest:
    """The folder's manifest; its files are not looked at. Raises ManifestWrong."""
    try:
        return Manifest.from_json((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise ManifestWrong(f"{folder} has no readable {NAME}; build it again") from None


def verify_manifest(folder: Path) -> Manifest:
    """Check that the folder is what its manifest says. Raises ManifestWrong naming the first missing, changed or extra file."""
    manifest = read_manifest(folder)
    told = {file.path: file for file in manifest.files}
    here = {file.path: file for file in hash_files(folder)}
    for path, file in told.items():
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise ManifestWrong(f"{NAME} names {path}, outside its folder; build the folder again")
        if path not in here:
            raise ManifestWrong(f"{path} is missing from {folder}; copy the folder whole or build it again")
        if here[path] != file:
            raise ManifestWrong(f"{path} in {folder} was changed since the manifest was written; build the folder again")
    for path in here.keys() - told.keys():
        raise ManifestWrong(f"{path} in {folder} is not in its manifest; take it out or build the folder again")
    return manifest
