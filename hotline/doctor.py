"""`hotline doctor`: this machine in, findings with what helps out. Changes nothing. Knows no call.

Each check is a function that gives one finding or a few; none raises for what it looks at.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import psutil

from hotline.catalogue import Model, load_catalogue
from hotline.clock import utc_now
from hotline.errors import OURS, explain
from hotline.fetch import is_good
from hotline.models import say, size
from hotline.paths import configs_dir, models_dir
from llm import knowledge
from llm.knowledge_file import SAMPLE_SOURCE
from llm.types import Entry

OLDEST_PYTHON = (3, 11)
FREE_DISK_BYTES = 1_000_000_000
FREE_MEMORY_BYTES = 1_500_000_000
CLOCK_MAY_LAG = dt.timedelta(days=1)
HERE = Path(__file__).resolve()
PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at. what_to_do: empty when it is right."""

    ok: bool
    what: str
    detail: str
    what_to_do: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to look at. models: needed ones, None for the defaults; ports: what for → number; load_config: raises when it can't.

    knowledge_dir: None, no knowledge base is looked at; certificates: each raises when its files can't serve, and tells of them.
    """

    models: Sequence[str] | None = None
    ports: Mapping[str, int] = field(default_factory=dict)
    load_config: Callable[[], object] | None = None
    knowledge_dir: Path | None = None
    certificates: Sequence[Callable[[], str]] = ()
    var_dir: Path = Path("var")
    deep: bool = False


def run(asked: Asked | None = None) -> list[Finding]:
    """Look at everything."""
    asked = asked or Asked()
    findings = [check_python(), check_espeak(), check_clock(utc_now())]
    findings += check_packages(HERE.parent.parent / "requirements.lock")
    findings += check_models(asked)
    findings += check_room(asked)
    findings += [check_port(use, port) for use, port in asked.ports.items()]
    if asked.load_config is not None:
        findings.append(check_config(asked.load_config))
    if asked.knowledge_dir is not None:
        findings.append(check_knowledge(asked.knowledge_dir, utc_now().date()))
    findings += [check_certificate(load) for load in asked.certificates]
    findings.append(check_licences(HERE.parent.parent))
    return findings


def doctor(asked: Asked | None = None) -> int:
    """Print the findings. Exit code 1 if one is not right."""
    findings = run(asked)
    for finding in findings:
        say(f"  {'✓' if finding.ok else '✗'} {finding.what}: {finding.detail}")
        if finding.what_to_do:
            say(f"      → {finding.what_to_do}")
    wrong = sum(not finding.ok for finding in findings)
    say(f"{wrong} of {len(findings)} need doing" if wrong else f"all {len(findings)} right")
    return 1 if wrong else 0


def check_python(version: tuple[int, ...] = sys.version_info[:3]) -> Finding:
    """Whether it is new enough."""
    ok = version[:2] >= OLDEST_PYTHON
    return Finding(
        ok=ok, what="Python", detail=".".join(map(str, version)), what_to_do="" if ok else "make setup PYTHON=python3.11 (or newer)"
    )


def check_espeak(library: str = "libespeak-ng.so.1") -> Finding:
    """The voice that always works is a library of the system."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return Finding(ok=False, what="eSpeak NG", detail=f"{library} does not load", what_to_do="apt-get install libespeak-ng1")
    return Finding(ok=True, what="eSpeak NG", detail=f"{library} loads")


def check_clock(now: dt.datetime) -> Finding:
    """A clock before our own files is wrong: certificates, validity dates and the record would be too."""
    written = dt.datetime.fromtimestamp(HERE.stat().st_mtime, tz=dt.UTC)
    ok = now + CLOCK_MAY_LAG >= written
    return Finding(
        ok=ok,
        what="clock",
        detail=f"{now:%Y-%m-%d %H:%M} UTC" + ("" if ok else f", but these files are of {written:%Y-%m-%d}"),
        what_to_do="" if ok else "set the clock (timedatectl set-ntp true)",
    )


def check_packages(lock: Path) -> Iterator[Finding]:
    """Installed versions against the lock, where there is one (a checkout)."""
    if not lock.is_file():
        return
    locked = dict(PINNED.findall(lock.read_text(encoding="utf-8")))
    other = [
        f"{name} is {found or 'missing'}, locked {version}"
        for name, version in locked.items()
        if (found := installed(name)) != version
    ]
    yield Finding(
        ok=not other,
        what="packages",
        detail=f"{len(locked)} as locked"
        if not other
        else "; ".join(other[:3]) + (f" and {len(other) - 3} more" if other[3:] else ""),
        what_to_do="make setup" if other else "",
    )


def installed(name: str) -> str:
    """A package's version here; empty if it is not here."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def check_models(asked: Asked, root: Path | None = None) -> Iterator[Finding]:
    """The models that a call needs; others only if they are here and broken."""
    root = root or models_dir()
    try:
        catalogue = load_catalogue()
        needed = catalogue.defaults() if asked.models is None else catalogue.named(asked.models)
    except OURS as error:
        told = explain(error)
        yield Finding(ok=False, what="models", detail=told.message, what_to_do=told.what_to_do)
        return
    for model in catalogue.models.values():
        if model in needed or (root / model.name).is_dir():
            yield check_model(model, root / model.name, deep=asked.deep)


def check_model(model: Model, folder: Path, *, deep: bool) -> Finding:
    """Sizes, or hashes if deep."""
    wrong = [file.path for file in model.files if not is_good(folder / file.path, file, deep=deep)]
    lacking = [path for path in wrong if not (folder / path).exists()]
    if wrong:
        detail = f"missing: {', '.join(lacking)}" if lacking else f"not the catalogue's bytes: {', '.join(wrong)}"
        return Finding(ok=False, what=f"model {model.name}", detail=detail, what_to_do=f"hotline models pull {model.name}")
    checked = "hashes right" if deep else "sizes right"
    terms = f"; {model.licence}" if model.notice else ""
    return Finding(ok=True, what=f"model {model.name}", detail=f"{size(model.bytes)}, {checked}{terms}")


def check_room(asked: Asked) -> Iterator[Finding]:
    """Disk where things are written, and memory."""
    for what, place in (("disk for models", models_dir()), ("disk for records", asked.var_dir)):
        free = shutil.disk_usage(existing_parent(place)).free
        ok = free >= FREE_DISK_BYTES
        yield Finding(ok=ok, what=what, detail=f"{size(free)} free at {place}", what_to_do="" if ok else "free some space")
    available = psutil.virtual_memory().available
    ok = available >= FREE_MEMORY_BYTES
    yield Finding(
        ok=ok,
        what="memory",
        detail=f"{size(available)} available, {psutil.cpu_count()} cores",
        what_to_do="" if ok else f"the server wants about {size(FREE_MEMORY_BYTES)} with all default models",
    )


def existing_parent(path: Path) -> Path:
    """The nearest folder above that is there."""
    path = path.expanduser().absolute()
    return next(each for each in (path, *path.parents) if each.exists())


def check_port(use: str, port: int, host: str = "127.0.0.1") -> Finding:
    """Whether we could listen there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            why = error.strerror or "it can't be bound"
            return Finding(
                ok=False, what=f"port {port}", detail=f"for {use}: {why}", what_to_do="stop what listens there, or set another port"
            )
    return Finding(ok=True, what=f"port {port}", detail=f"free, for {use}")


def check_config(load_config: Callable[[], object]) -> Finding:
    """Whether the configuration loads."""
    try:
        load_config()
    except (*OURS, OSError, ValueError) as error:
        told = explain(error)
        message = told.message if isinstance(error, OURS) else str(error)
        return Finding(
            ok=False, what="configuration", detail=message, what_to_do=told.what_to_do if isinstance(error, OURS) else "mend it"
        )
    return Finding(ok=True, what="configuration", detail="loads")


def check_knowledge(folder: Path, today: dt.date) -> Finding:
    """Whether it can be answered from, and whether some of it is over."""
    what = "knowledge base"
    over: list[Entry] = []
    try:
        entries = knowledge.load(folder, today=today, schema=configs_dir() / "schema" / "kb.schema.json", left_out=over.append)
    except OURS as error:
        first, _, more = explain(error).message.partition("\n")
        detail = f"{first} …" if more else first
        return Finding(ok=False, what=what, detail=detail, what_to_do="hotline kb check")
    samples = sum(entry.source == SAMPLE_SOURCE for entry in entries)
    told = f"{len(entries)} entries, {samples} of them samples to be replaced"
    if over:
        return Finding(ok=False, what=what, detail=f"{told}; {len(over)} left out, they are over", what_to_do="hotline kb check")
    return Finding(ok=True, what=what, detail=told)


def check_certificate(load: Callable[[], str]) -> Finding:
    """Whether TLS files can serve."""
    try:
        return Finding(ok=True, what="TLS", detail=load())
    except OURS as error:
        told = explain(error)
        return Finding(ok=False, what="TLS", detail=told.message, what_to_do=told.what_to_do)


def check_licences(root: Path) -> Finding:
    """A checkout holds its licence and notice; an installed package has them in its metadata."""
    if not (root / "pyproject.toml").is_file():
        return Finding(ok=True, what="licence", detail="Apache-2.0, with the installed package")
    lacking = [name for name in ("LICENSE", "NOTICE") if not (root / name).is_file()]
    return Finding(
        ok=not lacking,
        what="licence",
        detail="LICENSE and NOTICE are here" if not lacking else f"missing: {', '.join(lacking)}",
        what_to_do="restore them from the release" if lacking else "",
    )
