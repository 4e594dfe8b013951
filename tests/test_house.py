"""The house rules that no linter knows: sizes, one maker for masked text, no place names, fresh stubs."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("hotline", "asr", "llm", "tts", "engines")

FILE_LINES, FUNCTION_LINES, CLASS_METHODS = 400, 50, 15
# Files that may grow to 600 lines, each with the reason why splitting it would read worse.
LARGER_FILES: dict[str, str] = {}
# Classes that may have more methods (special methods are not counted), each with its reason.
LARGER_CLASSES = {
    "hotline/turns.py: TurnMachine": "every transition of a call stands in one place",
    "asr/pool.py: DecodePool": "queue, workers and their replacement share one state",
    "llm/mind.py: AnsweringMind": "the way of an answer is read from top to bottom in one place",
}
LARGEST_CLASS_METHODS = 30
# Functions that may have up to 60 lines, each with its reason.
LARGER_FUNCTIONS = {"hotline/turns.py: feed": "one flat table of events is what this file is for"}
LARGEST_FUNCTION_LINES = 60
LARGEST_FILE_LINES = 600

# Only these may make these; everyone else is handed one.
MAKERS = {"MaskedText": "llm/privacy.py", "Prompt": "llm/prompt.py"}

# What must not stand in a tracked file: places of one machine, registries.
PLACES = re.compile(
    r"/(?:home|root|Users)/[\w.-]+|/(?:work|tmp)/(?:main|shared)\b"
    r"|\b(?:pypi\.org|files\.pythonhosted\.org|pypi\.tuna|mirrors\.\w+)\b"
)
PLACES_ALLOWED = {"tests/test_house.py"}


def tracked() -> list[Path]:
    """Tracked files, and new ones that git doesn't ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],  # noqa: S607  the git of whoever runs this
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


def product() -> Iterator[tuple[str, ast.Module, int]]:
    """Each product module: its name, its tree, its number of lines."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith("hotline/v1/"):
                text = path.read_text(encoding="utf-8")
                yield name, ast.parse(text), len(text.splitlines())


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function, nested ones too."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def test_no_file_is_larger_than_one_can_hold_in_mind() -> None:
    over = {name: lines for name, _, lines in product() if lines > (LARGEST_FILE_LINES if name in LARGER_FILES else FILE_LINES)}
    assert over == {}


def test_exceptions_from_the_size_rule_are_still_needed() -> None:
    large = {name for name, _, lines in product() if lines > FILE_LINES}
    assert set(LARGER_FILES) <= large


def test_no_function_is_longer_than_a_screen() -> None:
    over = {
        f"{name}: {function.name}": (function.end_lineno or 0) - function.lineno + 1
        for name, tree, _ in product()
        for function in functions(tree)
        if "/migrations/" not in name  # a table's columns are a list
        and (function.end_lineno or 0) - function.lineno + 1
        > (LARGEST_FUNCTION_LINES if f"{name}: {function.name}" in LARGER_FUNCTIONS else FUNCTION_LINES)
    }
    assert over == {}


def test_no_class_does_too_much() -> None:
    over = {
        f"{name}: {node.name}": len(methods)
        for name, tree, _ in product()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and len(methods := [each for each in node.body if _is_method(each)])
        > (LARGEST_CLASS_METHODS if f"{name}: {node.name}" in LARGER_CLASSES else CLASS_METHODS)
    }
    assert over == {}


def _is_method(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("__")


def test_every_module_says_what_it_is() -> None:
    silent = [name for name, tree, lines in product() if lines and not ast.get_docstring(tree)]
    assert silent == []


@pytest.mark.parametrize("made", MAKERS)
def test_only_its_maker_makes_it(made: str) -> None:
    makers = {
        name
        for name, tree, _ in product()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and (getattr(node.func, "id", "") == made or getattr(node.func, "attr", "") == made)
    }
    assert makers <= {MAKERS[made]}


def test_the_contract_folder_holds_the_contract_only() -> None:
    assert [path.name for path in tracked() if path.is_relative_to(ROOT / "proto") and path.suffix != ".proto"] == []


def test_no_tracked_file_names_a_machine_or_a_registry() -> None:
    named = {}
    for path in tracked():
        name = path.relative_to(ROOT).as_posix()
        try:
            found = PLACES.search(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue
        if found and name not in PLACES_ALLOWED:
            named[name] = found[0]
    assert named == {}


def test_the_committed_stubs_are_fresh() -> None:
    if not (ROOT / ".venv" / "bin" / "python").exists():
        pytest.skip("no .venv here: make setup")
    script = ROOT / "scripts" / "stubs.sh"
    checked = subprocess.run([script, "--check"], capture_output=True, text=True, check=False)  # noqa: S603  our own script
    assert checked.returncode == 0, checked.stderr


def test_the_makefile_stays_short_and_explains_itself() -> None:
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    targets = [line for line in lines if re.match(r"[a-z]+:", line)]
    assert len(lines) <= 80
    assert [line for line in targets if "## " not in line] == []
