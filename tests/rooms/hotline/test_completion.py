"""Shell completion, as a real bash does it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from hotline import cli

BASH = shutil.which("bash") or ""
COMPLETE = """
cd {folder}
source {script}
COMP_WORDS=({words})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
"$(complete -p hotline | sed 's/.*-F \\([^ ]*\\).*/\\1/')"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.skipif(not BASH, reason="no bash here")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["rep"], ["replay"]),
        (["replay", "--jo"], ["--jobs"]),
        (["replay", "--codec", "l"], ["l16"]),
        (["replay", "ca"], ["call.wav", "calls"]),
        (["replay", "--fast", "call.wav", "ca"], ["call.wav", "calls"]),
        (["replay", "--out", "ca"], ["calls"]),
        (["text", "--script", "ca"], ["call.wav", "calls"]),
        (["--config", "call."], ["call.wav"]),
        (["kb", "build", "--dir", "ca"], ["calls"]),
    ],
    ids=str,
)
def test_bash_offers_commands_options_files_and_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], typed: list[str], offered: list[str]
) -> None:
    assert cli.main(["completion", "bash"]) == 0
    script = tmp_path / "completion.bash"
    script.write_text(capsys.readouterr().out, "utf-8")
    here = tmp_path / "here"
    (here / "calls").mkdir(parents=True)
    (here / "call.wav").touch()
    words = COMPLETE.format(folder=here, script=script, words=shlex.join(["hotline", *typed]))
    done = subprocess.run([BASH, "--norc", "-c", words], capture_output=True, text=True, check=True, timeout=30)  # noqa: S603
    assert sorted(done.stdout.split()) == offered
    assert done.stderr == ""
