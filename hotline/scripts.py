"""Call scripts: YAML in, checked steps out. One format for text mode, the demo and simulated callers. Runs nothing."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from hotline.errors import HotlineError
from hotline.paths import configs_dir

_SEE_SCHEMA = "see configs/schema/script.schema.json and docs/scripts.md"
_KEYS = ("title", "outcome", "steps", "say", "key", "hang_up", "wait_ms", "interrupts_after_ms", "expect")
_LONGEST_TOLD = 200
_MOST_PARTS = 50_000  # repeated ones each time; a step has about ten
_EXPECTED = ("route", "includes", "excludes", "source", "masked", "not_heard")


class ScriptWrong(HotlineError):
    """A script can't be read: the message names file, place and mend."""

    code = "script.wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """What the bot must do. route: one of these; includes, excludes: parts of the answer; masked, not_heard: of what was heard."""

    route: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    source: str = ""
    masked: tuple[str, ...] = ()
    not_heard: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStep:
    """One thing that the caller does: says words, presses a key, or hangs up.

    interrupts_after_ms: into the bot's speech; None: when the bot has finished. wait_ms: after that.
    """

    say: str = ""
    key: str = ""
    hang_up: bool = False
    wait_ms: int = 600
    interrupts_after_ms: int | None = None
    expect: Expect = Expect()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallScript:
    """A whole call. outcome: how it must end (an End reason), empty: in any way."""

    title: str
    steps: tuple[ScriptStep, ...]
    outcome: str = ""


def load_script(path: Path) -> CallScript:
    """Read and check a script. Raises ScriptWrong."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptWrong(f"{path} can't be read: {type(error).__name__}", what_to_do="name a UTF-8 YAML file") from None
    try:
        root = yaml.compose(text, yaml.SafeLoader)
        if _is_endless(root):
            raise ScriptWrong(f"{path}: repeats itself too often", what_to_do="write out what & and * repeat")
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark is not None else ""
        raise ScriptWrong(f"{path}{place}: not YAML", what_to_do="mend the named line") from None
    except RecursionError:
        raise ScriptWrong(f"{path}: nested too deeply", what_to_do=_SEE_SCHEMA) from None
    if wrong := (_twice(root) or _against_schema(tree)):
        raise ScriptWrong(f"{path}, line {_line_of(root, wrong.path)}: {wrong}", what_to_do=wrong.what_to_do)
    return CallScript(
        title=tree.get("title", path.stem),
        steps=tuple(_step(step) for step in tree["steps"]),
        outcome=tree.get("outcome", ""),
    )


def find_scripts(paths: Sequence[Path]) -> list[Path]:
    """Files as named; of a folder every .yaml and .yml below it, by name. Raises ScriptWrong for a folder without any."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(each for each in path.rglob("*") if each.suffix in {".yaml", ".yml"}) if path.is_dir() else [path]
        if not inside:
            raise ScriptWrong(f"{path} holds no script", what_to_do="name a folder with .yaml files")
        found += inside
    return list(dict.fromkeys(found))


def load_scripts(paths: Sequence[Path]) -> list[tuple[Path, CallScript]]:
    """Every script, before anything starts. Raises ScriptWrong, which tells all that are wrong, each with its place."""
    loaded, wrong = [], []
    for path in find_scripts(paths):
        try:
            loaded.append((path, load_script(path)))
        except ScriptWrong as error:
            wrong.append(error)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        raise ScriptWrong("\n".join(map(str, wrong)), what_to_do=f"mend them; {_SEE_SCHEMA}")
    return loaded


def unmet(expect: Expect, *, route: str, answer: str, masked: str, sources: tuple[str, ...]) -> list[str]:
    """Which expectations don't hold, in words."""
    wrong = []
    if expect.route and route not in expect.route:
        wrong.append(f"route {route or 'none'}, expected {' or '.join(expect.route)}")
    if expect.source and expect.source not in sources:
        wrong.append(f"source {', '.join(sources) or 'none'}, expected {expect.source}")
    wrong += [f"answer lacks {part!r}" for part in expect.includes if part not in answer]
    wrong += [f"answer holds {part!r}" for part in expect.excludes if part in answer]
    wrong += [f"heard text lacks {part!r}" for part in expect.masked if part not in masked]
    wrong += [f"heard text holds {part!r}" for part in expect.not_heard if part in masked]
    return wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wrong:
    """One fault. path: keys and numbers that lead to it."""

    path: tuple[str | int, ...]
    told: str
    what_to_do: str = _SEE_SCHEMA

    def __str__(self) -> str:
        return f"{'/'.join(map(str, self.path)) or 'top'}: {self.told}"


def _against_schema(tree: Any) -> _Wrong | None:  # noqa: ANN401  whatever YAML holds
    schema = json.loads((configs_dir() / "schema" / "script.schema.json").read_text("utf-8"))
    errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(tree), key=lambda error: list(map(str, error.path)))
    if not errors:
        return None
    error = next((each for each in errors if each.validator == "additionalProperties"), errors[0])
    path = tuple(error.path)
    if error.validator == "additionalProperties":
        return _unknown_key(path, error)
    if error.validator == "oneOf" and len(path) == len(("steps", 0)):
        held = sorted(key for key in ("say", "key", "hang_up") if key in error.instance)
        told = f"holds {' and '.join(held)}: one step is one act" if held else "holds no act"
        return _Wrong(path=path, told=told, what_to_do="write one of say, key, hang_up in each step")
    if path and path[-1] == "route" and isinstance(error.instance, str):
        near = difflib.get_close_matches(error.instance, schema["$defs"]["route"]["enum"], n=1)
        return _Wrong(path=path, told=f"no such route: {error.instance}" + (f"; did you mean {near[0]!r}?" if near else ""))
    told = error.message if len(error.message) <= _LONGEST_TOLD else f"{error.message[:_LONGEST_TOLD]}…"
    if error.validator == "type" and error.validator_value == "string" and isinstance(error.instance, (int, float)):
        return _Wrong(path=path, told=told, what_to_do="put it in quotes: YAML takes it for a number or a yes or no")
    return _Wrong(path=path, told=told)


def _unknown_key(path: tuple[str | int, ...], error: Any) -> _Wrong:  # noqa: ANN401  jsonschema types its fields as perhaps unset
    unknown = next(str(key) for key in error.instance if key not in error.schema["properties"])
    near = difflib.get_close_matches(unknown, _EXPECTED if path and path[-1] == "expect" else _KEYS, n=1)
    return _Wrong(path=(*path, unknown), told="no such key" + (f"; did you mean {near[0]!r}?" if near else ""))


def _is_endless(root: yaml.Node | None) -> bool:
    """Anchors that multiply, or lead back: what reads the tree would not come to an end."""
    waiting, parts = [root], 0
    while waiting and parts < _MOST_PARTS:
        node, parts = waiting.pop(), parts + 1
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            waiting += [each for pair in node.value for each in pair]
    return bool(waiting)


def _twice(root: yaml.Node | None) -> _Wrong | None:
    """A key that stands twice in one place: YAML would silently take the last."""
    waiting: list[tuple[tuple[str | int, ...], yaml.Node | None]] = [((), root)]
    seen: set[int] = set()  # anchors may lead back
    while waiting:
        path, node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += [((*path, number), child) for number, child in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            names = [str(key.value) for key, _ in node.value]
            if again := next((name for at, name in enumerate(names) if name in names[:at]), None):
                return _Wrong(path=(*path, again), told="stands twice", what_to_do="keep one of them")
            waiting += [((*path, name), child) for name, (_, child) in zip(names, node.value, strict=True)]
    return None


def _line_of(root: yaml.Node | None, path: Sequence[str | int]) -> int:
    """The line of what the path leads to, or of the last thing on the way that is there."""
    node, line = root, 1
    for part in path:
        if isinstance(node, yaml.SequenceNode):
            node = node.value[int(part)]
            line = node.start_mark.line + 1
            continue
        inside = node.value if isinstance(node, yaml.MappingNode) else []
        found = [(key, child) for key, child in inside if str(key.value) == part]
        if not found:  # it came by a merge
            break
        line, node = found[-1][0].start_mark.line + 1, found[-1][1]
    return line


def _step(tree: dict[str, Any]) -> ScriptStep:
    expect = tree.get("expect", {})
    return ScriptStep(
        say=tree.get("say", ""),
        key=tree.get("key", ""),
        hang_up=tree.get("hang_up", False),
        wait_ms=tree.get("wait_ms", 600),
        interrupts_after_ms=tree.get("interrupts_after_ms"),
        expect=Expect(
            route=_several(expect.get("route")),
            includes=_several(expect.get("includes")),
            excludes=_several(expect.get("excludes")),
            source=expect.get("source", ""),
            masked=_several(expect.get("masked")),
            not_heard=_several(expect.get("not_heard")),
        ),
    )


def _several(value: str | list[str] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
