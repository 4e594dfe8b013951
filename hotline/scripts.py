"""Call scripts: YAML in, checked steps out. One format for text mode, the demo and simulated callers. Runs nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from hotline.errors import HotlineError
from hotline.paths import configs_dir


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
        tree = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptWrong(f"{path} can't be read: {type(error).__name__}", what_to_do="name a UTF-8 YAML file") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark is not None else ""
        raise ScriptWrong(f"{path}{place}: not YAML", what_to_do="mend the named line") from None
    schema = json.loads((configs_dir() / "schema" / "script.schema.json").read_text("utf-8"))
    wrong = sorted(jsonschema.Draft202012Validator(schema).iter_errors(tree), key=lambda error: list(map(str, error.path)))
    if wrong:
        place = "/".join(map(str, wrong[0].path)) or "top"
        raise ScriptWrong(f"{path}: {place}: {wrong[0].message}", what_to_do="see configs/schema/script.schema.json")
    return CallScript(
        title=tree.get("title", path.stem),
        steps=tuple(_step(step) for step in tree["steps"]),
        outcome=tree.get("outcome", ""),
    )


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
