"""What was really said, as files lay beside the recordings or as lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline.references import ReferenceWrong, load_references


def test_none_is_none() -> None:
    assert load_references(None, []).of(Path("a.wav")) is None


def test_a_text_lies_beside_the_recording(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\ufeff喂你好", "utf-8")
    (tmp_path / "b.wav.txt").write_text("再见", "utf-8")
    calls = [Path("calls") / name for name in ("a.wav", "b.wav", "c.wav", "长" * 85 + ".wav")]
    found = load_references(tmp_path, calls)
    assert [found.of(call) for call in calls] == ["喂你好", "再见", None, None]


def test_texts_that_are_broken_are_all_told_before_anything_is_played(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("你好".encode("gbk"))
    (tmp_path / "c.txt").write_text("好", "utf-8")
    with pytest.raises(ReferenceWrong, match=r"a\.txt isn't text in UTF-8"):
        load_references(tmp_path, [Path("a.wav"), Path("c.wav")])
    with (tmp_path / "b.txt").open("wb") as large:
        large.truncate(20_000_000)
    with pytest.raises(ReferenceWrong) as wrong:
        load_references(tmp_path, [Path("a.wav"), Path("b.wav"), Path("c.wav")])
    assert "a.txt isn't" in str(wrong.value)
    assert "b.txt is larger" in str(wrong.value)


def test_references_that_may_not_be_read_are_told(tmp_path: Path) -> None:
    with pytest.raises(ReferenceWrong, match="No such file"):
        load_references(tmp_path / "gone.jsonl", [])


def test_lines_name_recordings_by_path_name_or_stem(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    lines = [{"file": "calls/a.wav", "text": "一"}, {"file": "b.wav", "text": "二"}, {"file": "c", "text": "三"}]
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n", "utf-8")
    found = load_references(path, [])
    assert [found.of(Path("calls") / name) for name in ("a.wav", "b.wav", "c.flac", "d.wav")] == ["一", "二", "三", None]


@pytest.mark.parametrize("line", ["{", "5", "[]", '{"file": "a"}', '{"file": 1, "text": "x"}', "null"])
def test_a_line_that_is_no_reference_is_named_by_number_not_by_content(tmp_path: Path, line: str) -> None:
    path = tmp_path / "said.jsonl"
    path.write_text('{"file": "a", "text": "甲"}\n' + line, "utf-8")
    with pytest.raises(ReferenceWrong, match="line 2") as wrong:
        load_references(path, [])
    assert "file" in wrong.value.what_to_do


@given(st.binary(max_size=200))
def test_any_bytes_give_references_or_a_typed_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(content)
    try:
        load_references(path, [])
    except ReferenceWrong:
        return
    assert all(json.loads(line)["text"] is not None for line in content.decode("utf-8-sig").split("\n") if line.strip())
