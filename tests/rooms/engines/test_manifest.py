"""An engine folder is taken for what its manifest says only if it still is that."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.manifest import (
    NAME,
    Builder,
    Calibration,
    Gate,
    Manifest,
    Profile,
    Source,
    read_manifest,
    verify_manifest,
    write_manifest,
)
from engines.types import ManifestWrong, ToolchainError

GATE = Gate(
    passed=True,
    baseline="qwen-fp16",
    accuracy=0.97,
    baseline_accuracy=0.975,
    agreement=0.94,
    kl_divergence=0.01,
    largest_logit_difference=0.8,
    first_token_ms=41.5,
    tokens_per_s=180.0,
    memory_bytes=3_000_000_000,
)
MANIFEST = Manifest(
    name="qwen-mixed",
    step="gate",
    source=Source(model="Qwen2.5-1.5B-Instruct", sha256="a" * 64, licence="Apache-2.0"),
    tokenizer_sha256="b" * 64,
    precision={"*": "int8", "model.layers.0.*": "fp16"},
    profiles=(Profile(input="input_ids", min=(1, 1), opt=(8, 512), max=(32, 2048)),),
    memory_limit_bytes=8_000_000_000,
    calibration=Calibration(sha256="c" * 64, topics={"社保": 40, "户籍": 38}),
    builder=Builder(name="builder", version="1.2", driver="570", gpu_architecture="sm_90"),
    gate=GATE,
    executed_on="one accelerator of 141 GB",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An engine folder of three files with its manifest."""
    (tmp_path / "rank0").mkdir()
    (tmp_path / "rank0" / "engine.bin").write_bytes(b"\x00\x01" * 500)
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "empty").touch()
    write_manifest(tmp_path, MANIFEST)
    return tmp_path


def test_a_folder_as_written_is_right(folder: Path) -> None:
    manifest = verify_manifest(folder)
    assert [file.path for file in manifest.files] == ["config.json", "empty", "rank0/engine.bin"]
    assert dataclasses.replace(manifest, files=()) == MANIFEST


def test_writing_again_gives_the_same_bytes(folder: Path) -> None:
    before = (folder / NAME).read_bytes()
    again = write_manifest(folder, MANIFEST)
    assert (folder / NAME).read_bytes() == before
    assert again.sha256 == verify_manifest(folder).sha256


def test_a_changed_file_is_named(folder: Path) -> None:
    with (folder / "rank0" / "engine.bin").open("r+b") as file:
        file.write(b"\x07")
    with pytest.raises(ManifestWrong, match=r"rank0/engine\.bin .*changed"):
        verify_manifest(folder)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "config.json").unlink()
    with pytest.raises(ManifestWrong, match=r"config\.json is missing"):
        verify_manifest(folder)


def test_an_extra_file_is_named(folder: Path) -> None:
    (folder / "rank0" / "notes.txt").touch()
    with pytest.raises(ManifestWrong, match=r"rank0/notes\.txt .*not in its manifest"):
        verify_manifest(folder)


def test_a_link_is_refused(folder: Path) -> None:
    (folder / "weights").symlink_to("/etc/hostname")
    with pytest.raises(ManifestWrong, match="weights is a link"):
        verify_manifest(folder)


def test_a_path_out_of_the_folder_is_refused(folder: Path) -> None:
    fields = json.loads((folder / NAME).read_text(encoding="utf-8"))
    fields["files"][0]["path"] = "../config.json"
    (folder / NAME).write_text(json.dumps(fields), encoding="utf-8")
    with pytest.raises(ManifestWrong, match="outside its folder"):
        verify_manifest(folder)


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestWrong, match="no readable"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("format", 2, "format"),
        ("step", "guess", "step"),
        ("precision", {"*": "fp3"}, r"precision/\*"),
        ("precision", {}, "precision"),
        ("calibration", {"sha256": "c" * 64, "topics": {"社保": 0}}, "calibration"),
        ("tokenizer_sha256", "short", "tokenizer_sha256"),
        ("executed_on", "", "executed_on"),
        ("surprise", 1, "the manifest"),
    ],
)
def test_a_manifest_that_breaks_the_schema_is_refused_with_its_place(key: str, value: object, place: str) -> None:
    fields = json.loads(MANIFEST.to_json()) | {key: value}
    with pytest.raises(ManifestWrong, match=place):
        Manifest.from_json(json.dumps(fields))


def test_a_wrong_manifest_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ManifestWrong):
        write_manifest(tmp_path, dataclasses.replace(MANIFEST, step="guess"))
    assert list(tmp_path.iterdir()) == []


def test_built_but_never_run_is_told_as_null() -> None:
    fresh = dataclasses.replace(MANIFEST, step="build", gate=None, executed_on=None, calibration=None, builder=None)
    assert Manifest.from_json(fresh.to_json()) == fresh
    assert json.loads(fresh.to_json())["executed_on"] is None


@given(st.text(max_size=200))
def test_any_text_is_a_manifest_or_a_typed_error(text: str) -> None:
    with pytest.raises(ToolchainError):
        Manifest.from_json(text)


@given(
    name=st.text(min_size=1, max_size=20),
    precision=st.dictionaries(st.text(min_size=1, max_size=8), st.sampled_from(["fp16", "int8"]), min_size=1, max_size=5),
    shapes=st.lists(st.tuples(st.integers(0, 4096), st.integers(0, 4096)), max_size=3),
)
def test_what_is_written_is_read_back(name: str, precision: dict[str, str], shapes: list[tuple[int, int]]) -> None:
    profiles = tuple(Profile(input="ids", min=shape, opt=shape, max=shape) for shape in shapes)
    manifest = dataclasses.replace(MANIFEST, name=name, precision=precision, profiles=profiles)
    assert Manifest.from_json(manifest.to_json()) == manifest
