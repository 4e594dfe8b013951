"""Commands whose input or output is closed, full or left, and commands that are told to end: real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FULL = "hotline: the output can't be written: No space left on device [hotline.output_lost]\n"

Shell = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Run a line of bash, in which $H is `hotline`; the exit code is the line's."""

    def run(line: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {
            "H": f"{sys.executable} -m hotline.cli",
            "HOTLINE_RECORD__URL": f"sqlite+aiosqlite:///{tmp_path / 'record.db'}",
        }
        return subprocess.run(["bash", "-c", line], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603, S607

    return run


@pytest.mark.parametrize("command", ["--help", "config show", "kb export", "completion bash", "models list", "text </dev/null"])
def test_a_full_disk_is_told_in_one_line(shell: Shell, command: str) -> None:
    ran = shell(f"$H {command} >/dev/full")
    assert (ran.returncode, ran.stderr) == (1, FULL)


@pytest.mark.parametrize("command", ["config show", "kb export", "text </dev/null"])
def test_whoever_has_left_is_not_told(shell: Shell, command: str) -> None:
    ran = shell(f"$H {command} | true; exit ${{PIPESTATUS[0]}}")
    assert (ran.returncode, ran.stderr) == (130, "")


@pytest.mark.parametrize("command", ["config show >&-", "text <&- >&-", "eval pii <&-", "config show >&- 2>&-", "config show 2>&-"])
def test_streams_that_are_closed_disturb_nothing(shell: Shell, command: str) -> None:
    ran = shell(f"$H {command}")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_an_input_that_cannot_be_read_is_as_good_as_its_end(shell: Shell, tmp_path: Path) -> None:
    ran = shell(f"$H text 0>{tmp_path / 'only-written'}")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.endswith("  结束  hangup\n")


def test_errors_that_nobody_takes_change_no_exit_code(shell: Shell) -> None:
    assert shell("$H --config /nowhere.toml config show 2>/dev/full").returncode == 1


def test_what_the_encoding_has_no_sign_for_is_spelled_out(shell: Shell) -> None:
    ran = shell("PYTHONIOENCODING=ascii $H kb export --format jsonl")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "\\u" in ran.stdout


def ending(arguments: list[str], number: int, *, after: str, folder: Path, ignores_ctrl_c: bool = False) -> int:
    """The exit code of a command that gets a signal as soon as it has said something."""
    environment = os.environ | {"HOTLINE_RECORD__URL": f"sqlite+aiosqlite:///{folder / 'record.db'}", "TMPDIR": str(folder)}
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if ignores_ctrl_c else None
    try:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "hotline.cli", *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    with process:
        assert process.stdout is not None
        told = ""
        while after not in told:
            line = process.stdout.readline()
            assert line, told
            told += line
        process.send_signal(number)
        process.wait(30)
        assert "Traceback" not in process.stdout.read()
    return process.returncode


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_typed_call_that_is_told_to_end_hangs_up_and_leaves_nothing(number: int, tmp_path: Path) -> None:
    assert ending(["text"], number, after="请直接说出您的问题", folder=tmp_path) == 130
    assert not list(tmp_path.glob("hotline-text-*"))


def test_a_job_in_the_background_can_be_told_to_end(tmp_path: Path) -> None:
    assert ending(["text"], signal.SIGTERM, after="请直接说出您的问题", folder=tmp_path, ignores_ctrl_c=True) == 130
    assert not list(tmp_path.glob("hotline-text-*"))


TETHERED = """
import asyncio, sys
from pathlib import Path
from hotline.own_server import own_server

async def main():
    async with own_server(Path(sys.argv[1])) as server:
        print(server.pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def is_running(process_id: int) -> bool:
    """A process that has ended and waits for somebody to look at its exit code runs no more."""
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_ends_with_the_command_that_started_it(number: int, tmp_path: Path) -> None:
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", TETHERED, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as starter:
        assert starter.stdout is not None
        server_id = int(starter.stdout.readline())
        assert is_running(server_id)
        starter.send_signal(number)
    ends_by = time.monotonic() + 30
    while is_running(server_id) and time.monotonic() < ends_by:
        time.sleep(0.1)
    assert not is_running(server_id)
