"""The law table: a law's name and a day → the text that is in force then, its articles, what became of a dead one. Knows no claims.

The table comes as an SQLite file (`laws`, `articles`). A copy of our own, with the index that it lacks, is made once and opened
read-only. It holds the constitution, laws and decisions of the National People's Congress; no regulations of the State Council, no
judicial interpretations, no local rules.

An amended law's `effective_date` is that of its first version, so a text is taken to hold from the later of that and of its own
date, or from the day that the amending decision names.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import difflib
import hashlib
import itertools
import os
import re
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from llm.law_names import COUNTRY, key_of
from llm.types import KnowledgeWrong

_LAYOUT = 1  # of our copy: a new number makes a new one
_DEAD = "已废止"
_DECISION = re.compile(r"关于修改《(?P<name>[^》]+)》的决定$")
_ENDS = re.compile(r"《([^《》]+)》(?=[^。]*废止)")
_BEGINS = re.compile(r"自\s*(\d{4})年(\d{1,2})月(\d{1,2})日起施行")


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """One text of a law. since: in force from; until: no longer from that day; replaced_by: the name of a law, if known."""

    id: str
    name: str
    version: dt.date
    since: dt.date
    until: dt.date | None = None
    replaced_by: str = ""

    def in_force(self, day: dt.date) -> bool:
        """Whether this text holds on that day."""
        return self.since <= day and (self.until is None or day < self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A law that no longer holds. by: the law that replaced it, may be empty; on: since when it doesn't, if known."""

    name: str
    by: str = ""
    on: dt.date | None = None


class LawTable:
    """Looks up laws. Safe to share between threads; close it at the end."""

    def __init__(self, db: sqlite3.Connection) -> None:
        """Over a copy as `open_laws` makes it."""
        self._db = db
        self._texts: dict[str, list[Law]] = defaultdict(list)
        for row in db.execute("SELECT id, key, name, version, since, until, replaced_by FROM texts ORDER BY since"):
            identity, key, name, version, since, until, by = row
            law = Law(
                id=identity,
                name=name,
                version=dt.date.fromisoformat(version),
                since=dt.date.fromisoformat(since),
                until=dt.date.fromisoformat(until) if until else None,
                replaced_by=by,
            )
            self._texts[key].append(law)
        self._gone = {
            key: Gone(name=name, by=by, on=dt.date.fromisoformat(on)) for key, name, by, on in db.execute("SELECT * FROM gone")
        }

    def close(self) -> None:
        """Let the file go."""
        self._db.close()

    @property
    def newest(self) -> dt.date:
        """Date of the newest text: the table knows nothing after it."""
        return max(law.version for texts in self._texts.values() for law in texts)

    def names(self) -> tuple[str, ...]:
        """Every name that it knows, without 中华人民共和国; those of dead laws too."""
        return (*self._texts, *self._gone)

    def texts(self, name: str) -> tuple[Law, ...]:
        """Every text of a law, oldest first; empty: there is no such law."""
        return tuple(self._texts.get(key_of(name), ()))

    def on(self, name: str, day: dt.date) -> Law | None:
        """The text that is in force on that day."""
        return next((law for law in reversed(self.texts(name)) if law.in_force(day)), None)

    def gone(self, name: str, day: dt.date) -> Gone | None:
        """What became of a law that held once and no longer does."""
        texts = self.texts(name)
        if not texts:
            return self._gone.get(key_of(name))
        last = texts[-1]
        if last.until is None or day < last.until:
            return None
        return Gone(name=last.name, by=last.replaced_by, on=last.until if last.until > last.since else None)

    def article(self, law: Law, number: str) -> str | None:
        """The text of an article: 第八十二条. None: it has none of that number."""
        row = self._db.execute("SELECT words FROM articles WHERE law = ? AND number = ?", (law.id, number)).fetchone()
        return row[0] if row else None

    def articles(self, law: Law) -> Iterator[tuple[str, str]]:
        """Number and text of each of its articles, in order."""
        yield from self._db.execute("SELECT number, words FROM articles WHERE law = ? ORDER BY rowid", (law.id,)).fetchall()

    def last_article(self, law: Law) -> str:
        """The number of its last article."""
        rows = self._db.execute(
            "SELECT number FROM articles WHERE law = ? AND number LIKE '第%条' ORDER BY rowid DESC LIMIT 1", (law.id,)
        )
        return next((str(number) for (number,) in rows), "")

    def near(self, name: str) -> str:
        """The name that was meant, if one is near."""
        close = difflib.get_close_matches(key_of(name), self._texts, n=1, cutoff=0.6)
        return self._texts[close[0]][-1].name if close else ""


def open_laws(source: Path, cache: Path) -> LawTable:
    """The table in source, through an indexed copy in cache that is made if it isn't there. Raises KnowledgeWrong."""
    try:
        with source.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        copy = cache / f"{digest[:24]}-{_LAYOUT}.db"
        if not copy.is_file():
            _make_copy(source, copy)
        return LawTable(sqlite3.connect(_read_only(copy), uri=True, check_same_thread=False))
    except (OSError, sqlite3.Error) as error:
        raise KnowledgeWrong(f"the law table cannot be used ({error}); run: hotline models verify china-laws") from None


def _read_only(path: Path) -> str:
    return f"{path.resolve().as_uri()}?mode=ro&immutable=1"


# ---------------------------------------------------------------- our copy


def _make_copy(source: Path, copy: Path) -> None:
    """Beside its place first, then renamed: two processes may do it at once."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=copy.parent, suffix=".partial")
    os.close(handle)
    partial = Path(name)
    try:
        with (
            contextlib.closing(sqlite3.connect(_read_only(source), uri=True)) as theirs,
            contextlib.closing(sqlite3.connect(partial)) as ours,
            ours,
        ):
            _fill(theirs, ours)
        partial.replace(copy)
    finally:
        partial.unlink(missing_ok=True)


def _fill(theirs: sqlite3.Connection, ours: sqlite3.Connection) -> None:
    ours.executescript(
        "CREATE TABLE texts (id, key, name, version, since, until, replaced_by);"
        "CREATE TABLE gone (key, name, replaced_by, since);"
        "CREATE TABLE articles (law, number, words);"
    )
    ours.executemany(
        "INSERT INTO articles VALUES (?, ?, ?)",
        theirs.execute(
            "SELECT law_id, article_no, group_concat(article_text, char(10)) FROM (SELECT * FROM articles ORDER BY id)"
            " GROUP BY law_id, article_no ORDER BY min(id)"
        ),
    )
    ours.execute("CREATE UNIQUE INDEX by_number ON articles (law, number)")
    rows = theirs.execute("SELECT law_id, law_name, effective_date, version_date, status FROM laws").fetchall()
    texts, dead = _texts(rows)
    gone = _gone(theirs)
    ours.executemany("INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?)", (_row(law, dead, gone) for law in texts))
    known = {key_of(law.name) for law in texts}
    ours.executemany(
        "INSERT INTO gone VALUES (?, ?, ?, ?)",
        ((key, each.name, each.by, str(each.on)) for key, each in gone.items() if key not in known),
    )


def _row(law: Law, dead: frozenset[str], gone: Mapping[str, Gone]) -> tuple[object, ...]:
    key = key_of(law.name)
    if law.id in dead:
        end = gone.get(key)
        law = replace(law, until=end.on if end else law.since, replaced_by=end.by if end else "")
    return (law.id, key, law.name, str(law.version), str(law.since), str(law.until) if law.until else None, law.replaced_by)


def _texts(rows: Sequence[tuple[str, str, str, str, str]]) -> tuple[list[Law], frozenset[str]]:
    """Each law's texts, one ending where the next begins; and the ids of the dead."""
    amended: dict[tuple[str, dt.date], dt.date] = {}
    for _, name, effective, version, _ in rows:
        if found := _DECISION.search(name):
            amended[key_of(found["name"]), dt.date.fromisoformat(version)] = dt.date.fromisoformat(effective)
    by_key: dict[str, list[Law]] = defaultdict(list)
    for identity, name, effective, version, _ in rows:
        day = dt.date.fromisoformat(version)
        since = amended.get((key_of(name), day)) or max(day, dt.date.fromisoformat(effective))
        by_key[key_of(name)].append(Law(id=identity, name=name, version=day, since=since))
    texts: list[Law] = []
    for each in by_key.values():
        each.sort(key=lambda law: law.version)
        texts += [replace(law, until=later.since) for law, later in itertools.pairwise(each)] + each[-1:]
    return texts, frozenset(identity for identity, _, _, _, status in rows if status == _DEAD)


def _gone(theirs: sqlite3.Connection) -> dict[str, Gone]:
    """What a law's last article ends: 《噪声污染防治法》同时废止."""
    found: dict[str, Gone] = {}
    for law, effective, words in theirs.execute(
        "SELECT laws.law_name, effective_date, article_text FROM articles JOIN laws USING (law_id)"
        " WHERE article_text LIKE '%》%废止%'"
    ):
        begins = _BEGINS.search(words)
        on = dt.date(*map(int, begins.groups())) if begins else dt.date.fromisoformat(effective)
        for name in _ENDS.findall(words):
            key = key_of(name)
            if key != key_of(law) and (key not in found or on > (found[key].on or on)):
                full = name if re.match("中国人民|中华人民|全国人民", name) else COUNTRY + name
                found[key] = Gone(name=full, by=law, on=on)
    return found
