"""Paths and numbers on the command line that can't work: told in one line before anything begins, exit code 2."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from hotline import cli

FILES_READ = (
    *(["text", "--script"], ["demo", "--script"], ["kb", "test", "--set"], ["config", "docs", "--check"]),
    *(["replay", "a.wav", "--reference"], ["replay", "a.wav", "--target", "h:1", "--ca"]),
    *(["replay", "a.wav", "--cert"], ["replay", "a.wav", "--key"]),
)
FOLDERS_READ = (
    *(["overview"], ["engine", "verify"], ["eval", "report", "--cases"], ["kb", "check"]),
    *(["kb", action, "--dir"] for action in ("build", "test", "export")),
    ["kb", "search", "q", "--dir"],
)
FILES_WRITTEN = (["text", "--record"], ["overview", "here", "--out"], ["kb", "export", "--out"], ["eval", "report", "--out"])
FOLDERS_FILLED = (
    *(["replay", "a.wav", "--out"], ["demo", "--out"], ["demo", "--full", "--out"]),
    *(["bench", "call", "--out"], ["bench", "answers", "--out"]),
)
BOTH = (["text", "--script"], ["replay", "a.wav", "--reference"])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder with one of everything."""
    monkeypatch.chdir(tmp_path)
    Path("here").mkdir()
    Path("file").write_text("x")
    Path("circle").symlink_to("circle")
    Path("dangling").symlink_to("nowhere")
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        yield


def exit_code(*arguments: str) -> int:
    """What a shell would get."""
    try:
        return cli.main(list(arguments))
    except SystemExit as left:
        return int(left.code or 0)


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that says why."""
    assert exit_code(*arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "Traceback" not in told.err
    line = told.err.splitlines()[-1]
    assert ": error: argument " in line
    return line


@pytest.mark.parametrize("command", [*FILES_READ, *FOLDERS_READ], ids=" ".join)
@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("nowhere", "No such file or directory"),
        ("nowhere/deep", "No such file or directory"),
        ("dangling", "No such file or directory"),
        ("file/inside", "Not a directory"),
        ("circle", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
        ("pipe", "no regular file|no folder"),
        ("socket", "no regular file|no folder"),
        ("/dev/zero", "no regular file|no folder"),
    ],
)
def test_what_should_be_read_must_be_there(command: list[str], path: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused([*command, path], capsys)
    assert path in line
    assert any(each in line for each in says.split("|"))


@pytest.mark.parametrize("command", [each for each in FILES_READ if each not in BOTH], ids=" ".join)
def test_a_folder_is_no_file(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "here is a folder" in refused([*command, "here"], capsys)


@pytest.mark.parametrize("command", FOLDERS_READ, ids=" ".join)
def test_a_file_is_no_folder(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "file is no folder" in refused([*command, "file"], capsys)


@pytest.mark.parametrize("command", [*FILES_WRITTEN, *FOLDERS_FILLED], ids=" ".join)
@pytest.mark.parametrize(
    ("path", "says"),
    [("file/inside", "file is a file"), ("circle/deep", "symbolic links"), ("x" * 300, "too long")],
)
def test_what_should_be_written_must_be_possible(
    command: list[str], path: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert says in refused([*command, path], capsys)


@pytest.mark.parametrize("command", FILES_WRITTEN, ids=" ".join)
@pytest.mark.parametrize("path", ["here", "new/"])
def test_a_folder_is_no_place_for_a_files_words(command: list[str], path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "name a file" in refused([*command, path], capsys)


@pytest.mark.parametrize("command", FOLDERS_FILLED, ids=" ".join)
def test_a_file_is_no_place_for_files(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "file is a file: name a folder" in refused([*command, "file"], capsys)


def test_who_may_not_read_or_write_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # tests may run as root, who may do anything
    assert "file: Permission denied" in refused(["kb", "test", "--set", "file"], capsys)
    assert "here may not be written" in refused(["demo", "--out", "here/new"], capsys)


@pytest.mark.parametrize(
    "wrong",
    [
        *(["replay", "a.wav", "--tail", told] for told in ("nan", "-1", "1e9", "soon")),
        *(["replay", "a.wav", "--jobs", told] for told in ("0", "65", "1.5", "many", "9" * 5000)),
        *(["kb", "search", "q", "-n", told] for told in ("0", "9", "²")),
        *(["bench", "answers", "--rate", "0"], ["bench", "answers", "--seconds", "-1"], ["bench", "call", "--turns", "0"]),
    ],
    ids=lambda wrong: " ".join(wrong)[:40],
)
def test_a_number_out_of_bounds_is_told_with_its_bounds(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(wrong, capsys)
    assert "write a whole number from " in line or "seconds" in line


def test_who_has_no_script_yet_is_told_how_to_write_one(capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(["text", "--script", "my-scripts/"], capsys)
    assert "my-scripts/: No such file or directory; to write a first script: hotline text --record FILE" in line
    assert "--record" not in refused(["text", "--script", "pipe"], capsys)


def test_a_folder_without_engine_files_is_named_as_it_was_typed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("engine", "verify", str(tmp_path / "here")) == 1
    assert f"hotline: {tmp_path / 'here'} has no readable manifest.json" in capsys.readouterr().err


def test_a_file_of_another_encoding_is_stale_not_a_crash(capsys: pytest.CaptureFixture[str]) -> None:
    Path("latin").write_bytes(b"\xff\xfe\x00")
    assert exit_code("config", "docs", "--check", "latin") == 1
    assert "latin is stale" in capsys.readouterr().err
