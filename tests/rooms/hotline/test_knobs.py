"""`hotline config`: every knob is explained, its source is named, secrets stay hidden, the page is fresh."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hotline import cli, knobs
from hotline.config import check
from hotline.errors import ConfigWrong

ROOT = Path(__file__).resolve().parents[3]


def config(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, output, complaints."""
    code = cli.main(["config", *arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_every_knob_is_explained() -> None:
    assert [knob.place for knob in knobs.knobs(environment={}) if not knob.told and not knob.place.startswith("phrases")] == []


def test_units_come_from_the_names() -> None:
    units = {knob.place: knob.unit for knob in knobs.knobs(environment={})}
    assert units["turns.pause_after_ms"] == "ms"
    assert units["server.drain_s"] == "s"
    assert units["speaking.level_dbov"] == "dBov"
    assert units["server.max_calls"] == ""


def test_a_value_comes_from_the_default_the_file_or_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text("[server]\nport = 50051\nmax_calls = 3\n", "utf-8")
    found = {knob.place: knob for knob in knobs.knobs(file, {"HOTLINE_SERVER__DRAIN_S": "9"})}
    assert found["server.port"].source == "default"  # stated, but the same
    assert (found["server.max_calls"].source, found["server.max_calls"].value) == ("file", 3)
    assert (found["server.drain_s"].source, found["server.drain_s"].value) == ("HOTLINE_SERVER__DRAIN_S", 9)
    assert found["server.max_calls"].variable == "HOTLINE_SERVER__MAX_CALLS"


@pytest.mark.parametrize("form", [[], ["--json"], ["--changed"]], ids=str)
def test_secrets_are_never_shown(form: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HOTLINE_SERVER__TOKEN", "sesame-1")
    monkeypatch.setenv("HOTLINE_MQTT__PASSWORD", "sesame-2")
    monkeypatch.setenv("HOTLINE_RECORD__URL", "postgresql+asyncpg://bot:sesame-3@127.0.0.1/hotline")
    code, out, _ = config(capsys, "show", *form)
    assert code == 0
    assert "sesame" not in out
    assert knobs.SECRET in out
    assert "127.0.0.1/hotline" in out


def test_json_holds_every_knob(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(config(capsys, "show", "--json")[1])
    assert {row["place"] for row in rows} == {knob.place for knob in knobs.knobs(environment={})}
    assert {"place", "unit", "default", "value", "source", "told", "variable"} == set(rows[0])


def test_what_is_changed_is_shown_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HOTLINE_TURNS__REPROMPTS", "3")
    out = config(capsys, "show", "--changed")[1]
    assert "reprompts = 3" in out
    assert "← HOTLINE_TURNS__REPROMPTS, default 2" in out
    assert "pause_after_ms" not in out


def test_the_shipped_file_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert config(capsys, "check")[0] == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[server]\nprot = 1\n", "did you mean port?"),
        ("[server]\nport = 'many'\n", "server.port"),
        ("[hearing]\nvad = 'silent'\n", "hearing.vad"),
        ("[speaking]\nvoice = 'sweet'\n", "speaking.voice"),
        ("[answering]\nknowledge_dir = 'nowhere'\n", "no folder"),
        ("[metrics]\nport = 50051\n", "are both 50051"),
        ("[mqtt]\nport = 50051\n", "are both 50051"),
        ("server = 3\n", "server must be a section"),
        ("[server\n", "not TOML"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_what_is_wrong_is_named(text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text, "utf-8")
    code, _, err = config(capsys, "check", str(file))
    assert code == 1
    assert told in err
    assert len(err.splitlines()) > 1  # and what to do


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HOTLINE_SERVER__PORT", "abc"),
        ("HOTLINE_SERVR__X", "1"),
        ("HOTLINE_LOG__FORM", "xml"),
        ("HOTLINE_ANSWERING__KNOWLEDGE_DIR", "/nope"),
        ("HOTLINE_METRICS__PORT", "50051"),
    ],
)
def test_a_variable_that_is_wrong_is_named(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, value)
    code, out, err = config(capsys, "check")
    assert (code, out) == (1, "")
    assert err.startswith(f"hotline: {name}: ")


def test_a_check_says_what_it_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kb").mkdir()
    file = tmp_path / "own.toml"
    file.write_text("[answering]\nknowledge_dir = 'kb'\n", "utf-8")
    monkeypatch.setenv("HOTLINE_LOG__LEVEL", "debug")
    told = f"{file} with HOTLINE_LOG__LEVEL: as it should be\nknowledge base: {tmp_path / 'kb'}\n"
    assert config(capsys, "check", str(file))[:2] == (0, told)


def test_the_knowledge_base_is_shown_where_it_lies(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text("[answering]\nknowledge_dir = 'kb'\n", "utf-8")
    for path, lies, source in ((file, tmp_path / "kb", "file"), (None, ROOT / "configs" / "kb", "default")):
        shown = next(knob for knob in knobs.knobs(path, {}) if knob.place == "answering.knowledge_dir")
        assert (shown.value, shown.default, shown.source) == (str(lies), "kb", source)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigWrong, match=r"no configuration at .*absent\.toml"):
        check(tmp_path / "absent.toml")


def test_the_page_is_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = config(capsys, "docs", "--check", str(ROOT / "docs" / "configuration.md"))
    assert code == 0, err


def test_a_stale_page_is_told_with_what_to_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "configuration.md"
    page.write_text("# Configuration\n", "utf-8")
    code, _, err = config(capsys, "docs", "--check", str(page))
    assert (code, "hotline config docs >" in err) == (1, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_the_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("replay", "doctor", "pull", "after-greeting"))
