"""Knowledge files: what is taken, and what each refusal says."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from llm.clauses import FIRST_AT_MOST, clauses
from llm.knowledge import is_valid, load
from llm.types import Entry, KnowledgeWrong

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = ROOT / "configs" / "schema" / "kb.schema.json"
GOOD = """
region: 样例市
entries:
  - id: hall
    topic: 大厅
    question: 大厅几点上班
    paraphrases: [几点开门, 几点关门, 周末开吗, 中午休息吗]
    answer: 八点半上班。
    source: 样例，须由运营方替换
"""


def folder_with(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    return tmp_path


def complaint(folder: Path, **kwargs: dt.date) -> str:
    with pytest.raises(KnowledgeWrong) as refused:
        load(folder, schema=SCHEMA, **kwargs)
    return str(refused.value)


def test_a_file_becomes_entries_that_inherit_its_region(tmp_path: Path) -> None:
    (entry,) = load(folder_with(tmp_path, a=GOOD), schema=SCHEMA)
    assert entry == Entry(
        id="hall",
        topic="大厅",
        question="大厅几点上班",
        paraphrases=("几点开门", "几点关门", "周末开吗", "中午休息吗"),
        answer="八点半上班。",
        source="样例，须由运营方替换",
        region="样例市",
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("answer:", "anwser:"), ["a.yaml, line 8", "entry hall", "unknown field 'anwser'; write 'answer'"]),
        (("    source: 样例，须由运营方替换\n", ""), ["a.yaml", "entry hall", "'source'", "add the missing field"]),
        (("id: hall", "id: Hall Hours"), ["field id", "lower-case"]),
        (("八点半上班。", "八" * 121), ["field answer", "shorten"]),
        (("几点开门, 几点关门, 周末开吗, 中午休息吗", "几点开门"), ["field paraphrases", "add more"]),
        (("几点开门, 几点关门", "几点开门, 几点开门"), ["field paraphrases", "repeated"]),
        (("几点开门,", "几,"), ["field paraphrases item 1", "write it out"]),
        (("    source", "    next_step: sing\n    source"), ["field next_step", "listed values"]),
        (("    source", "    valid_from: yesterday\n    source"), ["field valid_from", "2026-01-31"]),
        (("    source", "    hot: maybe\n    source"), ["field hot", "kb.schema.json"]),
        (("region: 样例市", "regoin: 样例市"), ["a.yaml, line 2", "top of the file", "write 'region'"]),
        (("region: 样例市", "region: 7"), ["field region"]),
        (("  - id", "  id"), ["a.yaml, line", "not valid YAML"]),
    ],
)
def test_a_mistake_is_told_with_file_place_and_mend(tmp_path: Path, change: tuple[str, str], says: list[str]) -> None:
    told = complaint(folder_with(tmp_path, a=GOOD.replace(*change)))
    assert [word for word in says if word not in told] == []


def test_an_entry_that_is_no_mapping_is_named_by_its_number(tmp_path: Path) -> None:
    assert "entry number 1" in complaint(folder_with(tmp_path, a="entries: [7]"))


def test_an_id_used_twice_names_both_places(tmp_path: Path) -> None:
    told = complaint(folder_with(tmp_path, a=GOOD, b=GOOD))
    assert "b.yaml, line 4: entry hall, field id: the id is taken by a.yaml line 4; choose another" in told


def test_an_expired_entry_is_left_out_from_the_day_after_and_told(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, a=GOOD + "    valid_to: 2026-06-30\n")
    left_out: list[Entry] = []
    assert len(load(folder, schema=SCHEMA, today=dt.date(2026, 6, 30), left_out=left_out.append)) == 1
    assert left_out == []
    assert load(folder, schema=SCHEMA, today=dt.date(2026, 7, 1), left_out=left_out.append) == ()
    assert [entry.id for entry in left_out] == ["hall"]


def test_dates_in_the_wrong_order_are_refused(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, a=GOOD + "    valid_from: 2026-07-01\n    valid_to: 2026-06-30\n")
    assert "line 11: entry hall, field valid_to: valid_to 2026-06-30 lies before valid_from 2026-07-01" in complaint(folder)


def test_an_empty_folder_a_missing_schema_and_bad_bytes_are_told(tmp_path: Path) -> None:
    assert "no *.yaml file" in complaint(tmp_path)
    (tmp_path / "a.yaml").write_bytes(b"entries: \xff\xfe\xba")
    assert "UTF-8" in complaint(tmp_path)
    with pytest.raises(KnowledgeWrong, match="schema"):
        load(folder_with(tmp_path, a=GOOD), schema=tmp_path / "none.json")


def test_an_entry_is_spoken_only_within_its_dates() -> None:
    entry = next(entry for entry in load(ROOT / "configs" / "kb") if entry.id == "residence-permit-apply")
    assert is_valid(entry, None)
    assert is_valid(entry, dt.date(2026, 12, 1))
    assert not is_valid(entry, dt.date(2020, 1, 1))


def test_the_sample_knowledge_base_is_whole_and_each_answer_begins_short() -> None:
    entries = load(ROOT / "configs" / "kb", today=dt.date(2026, 12, 1))
    assert len(entries) >= 22
    assert len({entry.topic for entry in entries}) >= 15
    assert [entry.id for entry in entries if len(clauses(entry.answer)[0]) > FIRST_AT_MOST] == []
    assert [entry.id for entry in entries if "样例" not in entry.source and "条" not in entry.source] == []


LAW = "{law: 中华人民共和国劳动合同法, article: 第八十二条, version: 2012-12-28}"
OTHER = "{law: 中华人民共和国劳动法, article: 第五十条, version: 2018-12-29}"


def with_source(source: str) -> str:
    return GOOD.replace("样例，须由运营方替换", source)


@pytest.mark.parametrize(
    ("written", "reads", "articles"),
    [
        ("sample", "样例，须由运营方替换", 0),
        ("样例市养犬管理办法第七条", "样例市养犬管理办法第七条", 0),
        (LAW, "《中华人民共和国劳动合同法》第八十二条（2012-12-28版）", 1),
        (
            f"[{LAW}, {OTHER}]",
            "《中华人民共和国劳动合同法》第八十二条（2012-12-28版）；《中华人民共和国劳动法》第五十条（2018-12-29版）",
            2,
        ),
    ],
)
def test_a_source_is_a_sample_a_rule_or_articles(tmp_path: Path, written: str, reads: str, articles: int) -> None:
    (entry,) = load(folder_with(tmp_path, a=with_source(written)), schema=SCHEMA)
    assert entry.source == reads
    assert len(entry.laws) == articles
    assert all(law.version.year in {2012, 2018} for law in entry.laws)
