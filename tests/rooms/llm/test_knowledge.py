"""Knowledge files: what is taken, and what each refusal says."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from llm.clauses import FIRST_AT_MOST, clauses
from llm.knowledge import examine, expired, is_valid, load
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


# ---------------------------------------------------------------- every fault, with its exact words


def faults(folder: Path) -> list[str]:
    return [str(fault) for fault in examine(folder, schema=SCHEMA).faults]


def another(name: str = "park", **changes: str) -> str:
    """A second sound entry, to be put below GOOD's."""
    fields = {
        "question": "公园几点关门",
        "paraphrases": "[公园开到几点, 公园夜里开吗, 公园几点开, 公园要票吗]",
        "answer": "晚上十点关门。",
        "source": "sample",
    } | changes
    return f"  - id: {name}\n    topic: 公园\n" + "".join(f"    {key}: {value}\n" for key, value in fields.items())


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            {"a": with_source("{law: 劳动法, article: 50, version: 2018-12-29}")},
            ["a.yaml, line 9: entry hall, field source, field article: 50 is not text; write it as 第五十条"],
        ),
        (
            {"a": with_source("{law: 劳动法, article: 第50条, version: 2018-12-29}")},
            ["a.yaml, line 9: entry hall, field source, field article: '第50条' is no article; write it as 第五十条"],
        ),
        (
            {"a": with_source("{law: 劳动法, artikel: 第五十条, version: 2018}")},
            [
                "a.yaml, line 9: entry hall, field source: unknown field 'artikel'; write 'article'",
                "a.yaml, line 9: entry hall, field source: lacks 'article'; add the missing field",
                "a.yaml, line 9: entry hall, field source, field version: 2018 is not text; write the date as 2026-01-31",
            ],
        ),
        (
            {"a": with_source("[]")},
            [
                (
                    "a.yaml, line 9: entry hall, field source: has 0 items, at least 1; "
                    "write your rule's title and number, an article of a law, or: sample"
                )
            ],
        ),
        (
            {"a": GOOD + "    answer: 九点上班。\n"},
            ["a.yaml, line 10: entry hall, field answer: the field stands there twice, first on line 8; remove one of them"],
        ),
        (
            {"a": GOOD + another("hall")},
            ["a.yaml, line 10: entry hall, field id: the id is taken by a.yaml line 4; choose another"],
        ),
        (
            {"a": GOOD + another(paraphrases="[几点 开门？, 公园夜里开吗, 公园几点开, 公园要票吗]")},
            [
                (
                    "a.yaml, line 13: entry park, field paraphrases item 1: 几点 开门？: "
                    "the same words lead to entry hall, a.yaml line 7; "
                    "leave them to one of the two entries"
                )
            ],
        ),
        (
            {"a": GOOD, "b": "entries:\n" + another(question="请问大厅是几点上班呢")},
            [
                (
                    "b.yaml, line 4: entry park, field question: asks the same as entry hall, a.yaml line 6: 大厅几点上班; "
                    "merge the two entries, or ask for what sets them apart"
                )
            ],
        ),
        (
            {"a": GOOD + another(paraphrases="[公园几点关门, 公园夜里开吗, 公园几点开, 公园要票吗]")},
            ["a.yaml, line 13: entry park, field paraphrases item 1: says the same as line 12; remove the repeated line"],
        ),
        (
            {"a": GOOD + "    valid_from: 2026-07-01\n    valid_to: 2026-06-30\n"},
            [
                (
                    "a.yaml, line 11: entry hall, field valid_to: valid_to 2026-06-30 lies before valid_from 2026-07-01; "
                    "correct one of them"
                )
            ],
        ),
        (
            {"a": GOOD + "    valid_from: 2026-01-01\n" + another("hall", valid_from="2026-06-01")},
            [
                (
                    "a.yaml, line 17: entry hall, field valid_from: it holds while the version at a.yaml line 4 does "
                    "(from 2026-01-01 to further notice); "
                    "end the older version with valid_to before the newer one begins; another matter needs another id"
                )
            ],
        ),
        ({"a": "entries:\n - id: [\n"}, ["a.yaml, line 3: not valid YAML; check the indentation and the colons"]),
    ],
)
def test_each_fault_has_its_words(tmp_path: Path, files: dict[str, str], told: list[str]) -> None:
    assert faults(folder_with(tmp_path, **files)) == told


def test_all_faults_of_all_files_are_told_and_a_start_shows_the_first(tmp_path: Path) -> None:
    broken = GOOD.replace("八点半上班。", "八")
    folder = folder_with(tmp_path, **{name: broken.replace("hall", f"hall-{name}") for name in "abcd"})
    assert [told.split(",")[0] for told in faults(folder)] == ["a.yaml", "b.yaml", "c.yaml", "d.yaml"]
    told = complaint(folder)
    assert told.count("shorten") == 0
    assert told.count("write it out") == 3
    assert told.endswith("and 1 more; all of them: hotline kb check")


def test_a_rule_that_changes_next_year_is_two_versions_of_one_entry(tmp_path: Path) -> None:
    new = GOOD.replace("八点半上班", "九点上班").replace("entries:\n", "").replace("region: 样例市\n", "")
    folder = folder_with(tmp_path, a=GOOD + "    valid_to: 2026-12-31\n" + new + "    valid_from: 2027-01-01\n")
    assert faults(folder) == []
    assert [entry.answer for entry in load(folder, schema=SCHEMA, today=dt.date(2026, 12, 31))] == ["八点半上班。", "九点上班。"]
    assert [entry.answer for entry in load(folder, schema=SCHEMA, today=dt.date(2027, 1, 1))] == ["九点上班。"]


def test_two_regions_may_answer_the_same_words(tmp_path: Path) -> None:
    there = GOOD.replace("样例市", "样例县", 1).replace("id: hall", "id: hall-county")
    assert faults(folder_with(tmp_path, a=GOOD, b=there)) == []


def test_only_the_folders_own_files_are_read(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, a=GOOD)
    (folder / "intents").mkdir()
    (folder / "intents" / "x.yaml").write_text("not: knowledge", "utf-8")
    assert faults(folder) == []
    (folder / "b.yml").write_text(GOOD, "utf-8")
    assert faults(folder) == ["b.yml: is not read; name it b.yaml"]


def test_an_entry_outside_its_dates_is_found_among_the_expired(tmp_path: Path) -> None:
    placed = examine(folder_with(tmp_path, a=GOOD + "    valid_to: 2026-06-30\n"), schema=SCHEMA).placed
    assert [str(fault) for fault in expired(placed, dt.date(2026, 7, 1))] == [
        "a.yaml, line 10: entry hall, field valid_to: expired on 2026-06-30; renew it after a check, or remove it"
    ]
    assert list(expired(placed, dt.date(2026, 6, 30))) == []
