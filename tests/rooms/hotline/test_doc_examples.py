"""What the guides show in YAML is taken as it stands."""

from __future__ import annotations

import datetime as dt
import re
import shutil
from pathlib import Path

import pytest

from hotline import kb
from hotline.cli import main
from hotline.paths import configs_dir
from hotline.scripts import load_script

DOCS = configs_dir().parent / "docs"
BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[str]:
    return BLOCK.findall((DOCS / page).read_text("utf-8"))


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A knowledge base of the operator's guide's own file, with the sample's intents."""
    monkeypatch.setattr(kb, "utc_now", lambda: dt.datetime(2026, 12, 3, tzinfo=dt.UTC))
    folder = tmp_path / "kb"
    folder.mkdir()
    for number, block in enumerate(blocks("operator.md")):
        (folder / f"{number}.yaml").write_text(block, "utf-8")
    assert list(folder.iterdir())
    return folder


@pytest.mark.parametrize("with_intents", [False, True])
def test_the_knowledge_file_of_the_guide_is_sound(shown: Path, *, with_intents: bool, capsys: pytest.CaptureFixture[str]) -> None:
    if with_intents:
        shutil.copytree(configs_dir() / "kb" / "intents", shown / "intents")
    code = main(["kb", "check", str(shown), "--without-laws"])
    assert (code, "no faults, no notes" in (told := capsys.readouterr().out)) == (0, True), told


@pytest.mark.models
def test_the_laws_that_it_cites_say_so(shown: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["kb", "check", str(shown)])
    assert (code, "no faults, no notes" in (told := capsys.readouterr().out)) == (0, True), told


def test_it_asks_what_the_sample_does_not(shown: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So that it may be tried beside the sample."""
    for file in (configs_dir() / "kb").glob("*.yaml"):
        shutil.copy(file, shown)
    main(["kb", "check", str(shown), "--without-laws", "--json"])
    own = {file.name for file in shown.iterdir() if file.stem.isdecimal()}
    assert [line for line in capsys.readouterr().out.splitlines() if any(f'"{name}"' in line for name in own)] == []


def test_the_scripts_of_the_guide_are_sound(tmp_path: Path) -> None:
    shown = blocks("scripts.md")
    assert shown
    for block in shown:
        (tmp_path / "shown.yaml").write_text(block, "utf-8")
        assert load_script(tmp_path / "shown.yaml").steps
