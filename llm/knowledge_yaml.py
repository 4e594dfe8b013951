"""One YAML file → its document and where each part stands, or what is wrong with it as YAML, in an operator's words.

Knows no fields. A file may be any bytes: it is refused within moments if it is too large, too deep or repeats itself without end.
"""

from __future__ import annotations

import re
import stat
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from hotline.zh.encoding import NotText, decoded

MOST_BYTES = 2_000_000  # an entry has about two thousand
MOST_PARTS = 50_000  # of a file, repeated ones each time; an entry has about thirty
_DEEPEST = 16
_ENTRY = 2  # steps to one: entries, number
_NEAR = 2  # lines before the one where YAML gives up
_STRANGE = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what YAML forbids
_SPACES = "\t\u3000\xa0"
_TYPED: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        re.compile(r"^[ \t\u3000\xa0]*(?:- *)?(?P<key>[A-Za-z_]+)[ \u3000]*："),
        "a full-width colon stands after {key}",
        "write '{key}: ', with a half-width colon and a space",
    ),
    (
        re.compile(rf"^ *[{_SPACES}]"),
        "a tab or a wide space indents the line",
        "indent with spaces",
    ),
    (re.compile(r"^ *(?:- +)?(?P<key>[A-Za-z_]+):[^\s/]"), "no space stands after '{key}:'", "write '{key}: ', with a space"),
    (re.compile(r"^ *-[^\s-]"), "no space stands after the dash", "write '- ', with a space"),
)
_SAID: tuple[tuple[str, str, str], ...] = (
    ("unexpected end of stream", "a quote is opened and never closed", "close it, or remove it"),
    ("undefined alias", "a text begins with * or &", "put the text in quotes"),
    ("alphabetic or numeric character", "a text begins with * or &", "put the text in quotes"),
    ("but found another document", "a second document begins (---)", "make it a file of its own, or remove the ---"),
    ("mapping values are not allowed", "not valid YAML", "put a text that holds a colon in quotes; else check the indentation"),
    ("cannot start any token", "not valid YAML", "put a text that begins with @, % or ` in quotes"),
)
_TAG = re.compile(r"constructor for the tag '(?:tag:yaml\.org,2002:(?P<common>[^']*)|(?P<own>[^']*))'")
_WRITTEN_TAG = re.compile(r"(?:^|\s)!\S*")

Step = str | int


class NotYaml(Exception):
    """The file can't be read. line: 0 for none."""

    def __init__(self, problem: str, mend: str, line: int = 0) -> None:
        super().__init__(f"{f', line {line}' if line else ''}: {problem}; {mend}")  # behind a file's name
        self.problem = problem
        self.mend = mend
        self.line = line


def read_yaml(file: Path) -> tuple[Any, Lines, str]:
    """What the file holds, where its parts stand, and its text. Raises NotYaml."""
    text = _text(file)
    try:
        loader = _TextDates(text)
        try:
            root = loader.get_single_node()
            lines = Lines(root)
            return loader.construct_document(root) if root else None, lines, text
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise _explained(error, text) from None
    except RecursionError:
        raise NotYaml("is nested too deeply", "write entries one below the other") from None
    except (ValueError, LookupError):  # of a value that is not what its tag says, or of a number of thousands of digits
        line = next((n for n, row in enumerate(text.split("\n"), start=1) if _WRITTEN_TAG.search(row)), 0)
        raise NotYaml("a value is not what its tag says", "remove the tag (!…), and put the text in quotes", line) from None


def typed_wrong(text: str, last: int = 0) -> NotYaml | None:
    """A slip that other keyboards make, near that line; a full-width colon anywhere before it. last 0: the whole text."""
    rows = list(enumerate(text.split("\n")[: last or None], start=1))
    for near, (pattern, problem, mend) in zip((0, _NEAR, _NEAR, _NEAR), _TYPED, strict=True):
        for line, row in rows[-near - 1 :] if near else rows:
            if slip := pattern.match(row):
                return NotYaml(problem.format(**slip.groupdict()), mend.format(**slip.groupdict()), line)
    return None


def _text(file: Path) -> str:
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            raise NotYaml("is no regular file", "put the file itself there")
        if found.st_size > MOST_BYTES:
            raise NotYaml(f"has more than {MOST_BYTES} bytes", "make a file of each topic")
        text = decoded(file.read_bytes())
    except OSError as error:
        raise NotYaml(f"cannot be read: {error.strerror}", "see that it is there and may be read") from None
    except NotText as error:
        raise NotYaml(str(error), "save it as UTF-8") from None
    if strange := _STRANGE.search(text):
        line = text.count("\n", 0, strange.start()) + 1
        raise NotYaml(f"holds the character U+{ord(strange[0]):04X}, which nobody sees", "remove it", line)
    return text


class _TextDates(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the fast one where it is built
    """YAML without its idea of dates: the schema wants to see what was written."""

    yaml_implicit_resolvers = {  # noqa: RUF012  the loader's own way
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _explained(error: yaml.YAMLError, text: str) -> NotYaml:
    mark = getattr(error, "problem_mark", None)
    line, said = min(mark.line, text.count("\n")) + 1 if mark else 0, str(getattr(error, "problem", ""))
    if tag := _TAG.search(said):
        name = f"!!{tag['common']}" if tag["common"] else tag["own"]
        return NotYaml(f"the tag {name} is not allowed", "remove it: a text needs none", line)
    if "unexpected end of stream" not in said and (slip := typed_wrong(text, line)):
        return slip
    opened = getattr(error, "context_mark", None)
    for part, problem, mend in _SAID:
        if part in said:
            return NotYaml(problem, mend, opened.line + 1 if opened and "quote" in problem else line)
    return NotYaml("not valid YAML", "check the indentation and the colons", line)


class Lines:
    """Where each part of a document stands. Raises NotYaml for one that never ends."""

    def __init__(self, root: yaml.Node | None) -> None:
        self._lines: dict[tuple[Step, ...], int] = {}
        self._below: dict[tuple[Step, ...], dict[str, int]] = defaultdict(dict)
        self._parts = 0
        self.twice: list[tuple[tuple[Step, ...], int, int]] = []
        if root:
            self._walk(root, ())

    def _walk(self, node: yaml.Node, path: tuple[Step, ...]) -> None:
        line = node.start_mark.line + 1
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise NotYaml("repeats itself too often", "write out what & and * repeat, or make a file of each topic", line)
        if len(path) > _DEEPEST:
            raise NotYaml("is nested too deeply", "write entries one below the other", line)
        self._put(path, self._lines.get(path, line))
        if isinstance(node, yaml.SequenceNode):
            for number, child in enumerate(node.value):
                self._walk(child, (*path, number))
        elif isinstance(node, yaml.MappingNode):
            for key, child in node.value:
                line = key.start_mark.line + 1
                if not isinstance(key, yaml.ScalarNode):
                    raise NotYaml("a field has no name", "name it with a plain word", line)
                step = str(key.value)
                if (*path, step) in self._lines:
                    self.twice.append(((*path, step), self._lines[*path, step], line))
                self._put((*path, step), line)
                self._walk(child, (*path, step))

    def _put(self, path: tuple[Step, ...], line: int) -> None:
        self._lines[path] = line
        if len(path) > _ENTRY:
            self._below[path[:_ENTRY]]["/".join(map(str, path[_ENTRY:]))] = line

    def of(self, path: Sequence[Step]) -> int:
        """The line of this part, or of the nearest around it. 0: of nothing."""
        return next((self._lines[tuple(path[:n])] for n in range(len(path), -1, -1) if tuple(path[:n]) in self._lines), 0)

    def below(self, *entry: Step) -> dict[str, int]:
        """The lines of an entry's parts, by their path from there."""
        return self._below[entry]
