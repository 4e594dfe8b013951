"""The doctor names what is missing and how to get it, and changes nothing."""

from __future__ import annotations

import datetime as dt
import shutil
import socket
from collections import namedtuple
from pathlib import Path

import pytest

from hotline import cli, doctor
from hotline.catalogue import load_catalogue
from hotline.doctor import Asked, Finding, check_models
from hotline.errors import CatalogueWrong, ConfigWrong
from hotline.paths import configs_dir

ROOT = Path(doctor.__file__).resolve().parent.parent


def test_a_python_that_is_too_old_is_named() -> None:
    assert doctor.check_python((3, 11, 2)).ok
    old = doctor.check_python((3, 9, 18))
    assert (old.ok, old.detail) == (False, "3.9.18")
    assert "PYTHON=" in old.what_to_do


def test_a_missing_system_library_comes_with_its_package() -> None:
    missing = doctor.check_espeak("libnot-there.so.1")
    assert not missing.ok
    assert "apt-get install libespeak-ng1" in missing.what_to_do


def test_a_clock_before_our_own_files_is_wrong() -> None:
    assert doctor.check_clock(dt.datetime.now(dt.UTC)).ok
    assert "set the clock" in doctor.check_clock(dt.datetime(2001, 1, 1, tzinfo=dt.UTC)).what_to_do


def test_packages_are_held_against_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    assert list(doctor.check_packages(lock)) == []
    numpy = doctor.installed("numpy")
    lock.write_text(f"numpy=={numpy} \\\n    --hash=sha256:{'a' * 64}\n    # via hotline\n", encoding="utf-8")
    assert [finding.detail for finding in doctor.check_packages(lock)] == ["1 as locked"]
    lock.write_text("numpy==0.1\nnot-there==1\nnor-this==1\nnor-that==1\n", encoding="utf-8")
    [other] = doctor.check_packages(lock)
    assert (other.ok, other.what_to_do) == (False, "make setup")
    assert other.detail == f"numpy is {numpy}, locked 0.1; not-there is missing, locked 1; nor-this is missing, locked 1 and 1 more"


def test_missing_models_come_with_what_to_type(tmp_path: Path) -> None:
    findings = {finding.what: finding for finding in check_models(Asked(), tmp_path)}
    assert set(findings) == {f"model {model.name}" for model in load_catalogue().defaults()}
    assert findings["model silero-vad"].what_to_do == "hotline models pull silero-vad"
    assert "missing: silero_vad.onnx" in findings["model silero-vad"].detail


def test_with_another_voice_its_weights_are_not_asked_for(tmp_path: Path) -> None:
    findings = list(check_models(Asked(models=("whisper-base", "silero-vad")), tmp_path))
    assert [finding.what for finding in findings] == ["model whisper-base", "model silero-vad"]


def test_only_a_deep_look_sees_changed_bytes(tmp_path: Path) -> None:
    vad = load_catalogue().model("silero-vad")
    (tmp_path / "silero-vad").mkdir()
    (tmp_path / "silero-vad" / "silero_vad.onnx").write_bytes(bytes(vad.bytes))
    assert doctor.check_model(vad, tmp_path / "silero-vad", deep=False).ok
    deep = doctor.check_model(vad, tmp_path / "silero-vad", deep=True)
    assert (deep.ok, deep.detail) == (False, "not the catalogue's bytes: silero_vad.onnx")


def test_a_broken_catalogue_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise CatalogueWrong("line 3", what_to_do="mend it")

    monkeypatch.setattr(doctor, "load_catalogue", broken)
    [finding] = check_models(Asked(), tmp_path)
    assert finding == Finding(ok=False, what="models", detail="line 3", what_to_do="mend it")


def test_a_taken_port_is_named_with_its_use() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        finding = doctor.check_port("calls", port)
    assert (finding.ok, finding.what) == (False, f"port {port}")
    assert "for calls" in finding.detail
    assert doctor.check_port("calls", port).ok


def test_a_configuration_that_does_not_load_is_told() -> None:
    def unknown_key() -> None:
        raise ConfigWrong("hearing.pause_mss is unknown", what_to_do="did you mean pause_ms?")

    def unreadable() -> None:
        raise FileNotFoundError(2, "No such file", "hotline.toml")

    assert doctor.check_config(dict).ok
    assert doctor.check_config(unknown_key).what_to_do == "did you mean pause_ms?"
    assert "hotline.toml" in doctor.check_config(unreadable).detail


def test_little_room_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usage = namedtuple("usage", "total used free")  # noqa: PYI024  what shutil returns
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(10**9, 10**9 - 5000, 5000))
    monkeypatch.setattr(doctor, "FREE_MEMORY_BYTES", 10**18)
    findings = list(doctor.check_room(Asked(var_dir=tmp_path / "a" / "b")))
    assert [finding.ok for finding in findings] == [False, False, False]
    assert "5 kB free" in findings[1].detail


def test_a_checkout_without_its_licence_is_told(tmp_path: Path) -> None:
    assert doctor.check_licences(ROOT).ok
    assert doctor.check_licences(tmp_path).ok  # installed: the metadata has it
    (tmp_path / "pyproject.toml").touch()
    assert doctor.check_licences(tmp_path).detail == "missing: LICENSE, NOTICE"


def test_the_whole_look_prints_a_list_and_an_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOTLINE_MODELS__DIR", str(tmp_path / "none"))
    assert doctor.doctor(Asked(ports={"metrics": 0}, load_config=dict, models=())) in {0, 1}  # this machine decides
    assert doctor.doctor() == 1
    said = capsys.readouterr().out
    assert "✗ model whisper-base: missing: config.json, tokenizer.json, vocabulary.txt, model.bin" in said
    assert "→ hotline models pull whisper-base" in said
    assert "need doing" in said


def test_when_all_is_right_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(doctor, "run", lambda _asked: [Finding(ok=True, what="Python", detail="3.11.7")])
    assert doctor.doctor() == 0
    assert capsys.readouterr().out == "  ✓ Python: 3.11.7\nall 1 right\n"


# ---------------------------------------------------------------- knowledge and certificates


def test_the_shipped_knowledge_can_be_answered_from() -> None:
    finding = doctor.check_knowledge(configs_dir() / "kb", dt.date(2026, 12, 2))
    assert finding.ok
    assert "samples to be replaced" in finding.detail


def test_knowledge_that_is_over_or_broken_is_told_with_what_to_type(tmp_path: Path) -> None:
    over = doctor.check_knowledge(configs_dir() / "kb", dt.date(2999, 1, 1))
    assert (over.ok, over.what_to_do) == (False, "hotline kb check")
    assert "left out" in over.detail
    (tmp_path / "10-own.yaml").write_text("entries: [{id: A}]", "utf-8")
    broken = doctor.check_knowledge(tmp_path, dt.date(2026, 12, 2))
    assert (broken.ok, broken.what_to_do) == (False, "hotline kb check")
    assert "10-own.yaml" in broken.detail
    assert not doctor.check_knowledge(tmp_path / "absent", dt.date(2026, 12, 2)).ok


def test_certificates_that_cannot_serve_are_told() -> None:
    def expired() -> str:
        raise ConfigWrong("cert.pem ended on 2020-01-01", what_to_do="renew it")

    assert doctor.check_certificate(lambda: "cert.pem can serve").ok
    assert doctor.check_certificate(expired).what_to_do == "renew it"


def test_the_command_looks_at_the_settings_own_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOTLINE_SERVER__TLS_CERT", str(tmp_path / "absent.pem"))
    assert cli.main(["doctor"]) == 1
    told = capsys.readouterr().out
    assert "✗ TLS: server: TLS is half set, tls_key is missing" in told
    assert "✓ knowledge base" in told


def test_a_broken_configuration_leaves_no_tick_for_what_the_defaults_say(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOTLINE_SERVER__PORT", "abc")
    assert cli.main(["doctor"]) == 1
    told = capsys.readouterr().out
    assert "✗ configuration: HOTLINE_SERVER__PORT: server.port: " in told
    assert "certificates that it names are looked at after that" in told
    assert [word for word in ("port 50051", "knowledge base:", "TLS:") if word in told] == []


def test_what_only_shows_when_parts_are_put_together_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOTLINE_METRICS__PORT", "50051")
    assert cli.main(["doctor"]) == 1
    assert "✗ configuration: HOTLINE_METRICS__PORT: metrics.port and server.port are both 50051" in capsys.readouterr().out
