"""What operators' editors and habits make of a knowledge file: each slip with its line and its mend, and no file hangs a check."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llm import knowledge_yaml
from llm.knowledge import examine, load
from llm.knowledge_yaml import MOST_BYTES, NotYaml, read_yaml

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = ROOT / "configs" / "schema" / "kb.schema.json"
GOOD = """region: 样例市
entries:
  - id: hall
    topic: 大厅
    question: 大厅几点上班
    paraphrases: [几点开门, 几点关门, 周末开吗, 中午休息吗]
    answer: 八点半上班。
    source: sample
"""


def faults(folder: Path, written: str | bytes) -> list[str]:
    (folder / "a.yaml").write_bytes(written if isinstance(written, bytes) else written.encode())
    return [str(fault).removeprefix("a.yaml") for fault in examine(folder, schema=SCHEMA).faults]


def bomb(levels: int, each: str) -> str:
    return "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} {each.format(n - 1)}\n" for n in range(1, levels))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("    topic", "\ttopic"), ", line 4: a tab or a wide space indents the line; indent with spaces"),
        (("    topic", "  \ttopic"), ", line 4: a tab or a wide space indents the line; indent with spaces"),
        (
            ("topic: ", "topic："),
            ", line 4: a full-width colon stands after topic; write 'topic: ', with a half-width colon and a space",
        ),
        (
            ("entries:", "entries："),
            ", line 2: a full-width colon stands after entries; write 'entries: ', with a half-width colon and a space",
        ),
        (
            ("- id: ", "- id："),
            ", line 3: a full-width colon stands after id; write 'id: ', with a half-width colon and a space",
        ),
        (("topic: ", "topic:"), ", line 4: no space stands after 'topic:'; write 'topic: ', with a space"),
        (("- id: hall", "-id: hall"), ", line 3: no space stands after the dash; write '- ', with a space"),
        (
            ("大厅几点上班", "大厅: 几点上班"),
            (", line 5: not valid YAML; put a text that holds a colon in quotes; else check the indentation"),
        ),
        (("八点半上班。", "@八点半"), ", line 7: not valid YAML; put a text that begins with @, % or ` in quotes"),
        (("八点半上班。", "*八点半"), ", line 7: a text begins with * or &; put the text in quotes"),
        (("八点半上班。", '"八点半'), ", line 7: a quote is opened and never closed; close it, or remove it"),
        (("    topic", "   topic"), ", line 4: not valid YAML; check the indentation and the colons"),
        (
            ("region", "---\nregion: x\n---\nregion"),
            (", line 3: a second document begins (---); make it a file of its own, or remove the ---"),
        ),
        (
            ("八点半上班。", "!!python/object/apply:os.system [ls]"),
            (", line 7: the tag !!python/object/apply:os.system is not allowed; remove it: a text needs none"),
        ),
        (("八点半上班。", "!own 八点半"), ", line 7: the tag !own is not allowed; remove it: a text needs none"),
        (
            ("八点半上班。", "!!int 八点半"),
            (", line 7: a value is not what its tag says; remove the tag (!…), and put the text in quotes"),
        ),
        (("八点半上班。", "9" * 5000), ": a value is not what its tag says; remove the tag (!…), and put the text in quotes"),
        (("八点半", "八点\x07半"), ", line 7: holds the character U+0007, which nobody sees; remove it"),
        (("region", "? [a]\n: b\nregion"), ", line 1: a field has no name; name it with a plain word"),
        (("八点半上班。", "[" * 500 + "]" * 500), ", line 7: is nested too deeply; write entries one below the other"),
    ],
)
def test_a_slip_is_told_in_words_with_its_line(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    assert faults(tmp_path, GOOD.replace(*change, 1)) == [told]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("", ": holds no entries; write 'entries:' and the first one below it, or remove the file"),
        ("# later\n\n", ": holds no entries; write 'entries:' and the first one below it, or remove the file"),
        ("entries: []\n", ", line 1: field entries: has 0 items, at least 1; add an entry, or remove the file"),
        ("entries:\n", ", line 1: field entries: is empty; write its items below it, one a line, each after '- '"),
        ("- id: hall\n", ", line 1: a list stands there alone; write 'entries:' above the entries, and indent them"),
        ("later\n", ", line 1: a text stands there alone; write 'entries:' above the entries, and indent them"),
        (
            "entries：\n",
            (", line 1: a full-width colon stands after entries; write 'entries: ', with a half-width colon and a space"),
        ),
        (GOOD.encode("gbk"), ": is not UTF-8 text: it looks like GBK; save it as UTF-8"),
        (GOOD.encode("utf-16"), ": is not UTF-8 text: it looks like UTF-16; save it as UTF-8"),
        (b"\xff\xfa", ": is not UTF-8 text; save it as UTF-8"),
        (b"#" * (MOST_BYTES + 1), f": has more than {MOST_BYTES} bytes; make a file of each topic"),
    ],
)
def test_a_file_that_holds_no_entries_says_what_it_is(tmp_path: Path, written: str | bytes, told: str) -> None:
    assert faults(tmp_path, written) == [told]


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    assert faults(tmp_path, GOOD.encode("utf-8-sig")) == []


@pytest.mark.parametrize(
    "written",
    [
        bomb(30, "[*a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}]"),
        "a0: &a0 {x: y}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 40)),
        bomb(30, "[*a{0}, *a{0}]") + "? *a29\n: x\n",
        "entries: &all [*all, *all]\n",
        "entries: &all\n  again: *all\n",
        "entries: [" + "x, " * knowledge_yaml.MOST_PARTS + "]\n",
    ],
    ids=["lists", "merges", "names", "itself", "itself, in a field", "many"],
)
def test_a_file_without_end_is_refused(tmp_path: Path, written: str) -> None:
    (told,) = faults(tmp_path, written)
    assert "nested too deeply" in told or "repeats itself too often" in told or "a field has no name" in told


def test_what_entries_share_may_be_written_once(tmp_path: Path) -> None:
    shared = GOOD.replace("source: sample", "source: &law {law: 中华人民共和国劳动法, article: 第五十条, version: 2018-12-29}")
    more = "  - <<: &park {id: park, topic: 公园}\n    question: 公园几点关门\n    answer: 十点关门。\n    source: *law\n"
    wordings = "    paraphrases: [公园开到几点, 公园夜里开吗, 公园几点开, 公园要票吗]\n"
    assert faults(tmp_path, shared + more + wordings) == []
    assert [entry.source for entry in load(tmp_path, schema=SCHEMA)] == ["《中华人民共和国劳动法》第五十条（2018-12-29版）"] * 2
    late = "    valid_from: 2026-02-01\n    valid_to: 2026-01-01\n" + wordings
    assert "line 14: entry park, field valid_to: valid_to 2026-01-01 lies before" in faults(tmp_path, shared + more + late)[0]


def test_what_is_no_file_or_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "a.yaml")
    (tmp_path / "b.yaml").mkdir()
    told = [str(fault) for fault in examine(tmp_path, schema=SCHEMA).faults]
    assert told == [f"{name}.yaml: is no regular file; put the file itself there" for name in "ab"]

    def refuse(_file: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)  # tests may run as root, who may read anything
    (tmp_path / "c.yaml").touch()
    with pytest.raises(NotYaml, match="cannot be read: Permission denied"):
        read_yaml(tmp_path / "c.yaml")


def test_a_loader_that_recurses_is_told_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the fast loader was not built, the other one meets Python's limit first."""

    def recurse(_text: str) -> None:
        raise RecursionError

    monkeypatch.setattr(knowledge_yaml, "_TextDates", recurse)
    assert faults(tmp_path, GOOD) == [": is nested too deeply; write entries one below the other"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            ("sample", "{title: 样例市养犬管理办法, number: 第七条}"),
            (
                "field source: names no law; write a rule of your own as one text, source: 样例市养犬管理办法第七条; "
                "an article of a law has law, article and version"
            ),
        ),
        (("sample", "{name: 样例市养犬管理办法, article: 第七条}"), "one text, source: 样例市养犬管理办法第七条;"),
        (("sample", "{title: 样例市养犬管理办法, no: 7}"), "one text, source: 样例市养犬管理办法7;"),
        (("sample", "{title: [7]}"), "one text, source: 样例市养犬管理办法第七条;"),
        (
            ("sample", "[{title: 样例市养犬管理办法, number: 第七条}]"),
            "field source item 1: names no law; write a rule of your own",
        ),
        (
            ("sample", "[样例市养犬管理办法第七条, 样例市市容条例]"),
            ("'样例市养犬管理办法第七条' is not a group of fields; write rules of your own as one text"),
        ),
        (("sample", "7"), "field source: 7 is not text or a group of fields or a list; write your rule's title and number"),
        (("sample", ""), "field source: is empty; write your rule's title and number"),
        (("sample", "{laws: 劳动法, article: 第五十条, version: 2018-12-29}"), "unknown field 'laws'; write 'law'"),
        (("sample", "{article: 第五十条, version: 2018-12-29}"), "lacks 'law'; add the missing field"),
        (("sample", "{law: 民法典, article: 1047, version: 2020-05-28}"), "1047 is not text; write it as 第一千零四十七条"),
        (("sample", "{law: 民法典, article: '1047', version: 2020-05-28}"), "'1047' is no article; write it as 第一千零四十七条"),
        (("sample", "{law: 刑法, article: 第120条之一, version: 2020-12-26}"), "write it as 第一百二十条之一"),
        (("sample", "{law: 民法典, article: 总则, version: 2020-05-28}"), "write it as 第八十二条 or 第一百二十条之一"),
        (("sample", "{law: 民法典, article: , version: 2020-05-28}"), "field article: is empty; write what belongs there"),
        (("sample", "{law: 民法典, article: 第一条, version: 2020}"), "2020 is not text; write the date as 2026-01-31"),
        (("topic: 大厅", "topic: 12345"), "12345 is not text; put it in quotes"),
        (("topic: 大厅", "topic: [大厅]"), "['大厅'] is not text; correct it as configs/schema/kb.schema.json says"),
        (("topic: 大厅", "topic:"), "field topic: is empty; write what belongs there, or remove the field"),
        (
            ("[几点开门, 几点关门, 周末开吗, 中午休息吗]", "几点开门"),
            "is not a list; write its items below it, one a line, each after '- '",
        ),
        (
            ("几点开门, 几点关门, 周末开吗, 中午休息吗", "几点开门，几点关门，周末开吗、中午休息吗"),
            "has 1 items, at least 4; put half-width commas between them",
        ),
        (
            ("[几点开门, 几点关门, 周末开吗, 中午休息吗]", "\n  - 几点开门"),
            ("'几点开门' is not a group of fields; an entry begins with '- id:'; indent the line further"),
        ),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_with_the_right_one(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    text = GOOD.replace(*change)
    if change[1].startswith("\n"):  # the fields behind a list that slipped out become the next entry's
        text = text.split("    answer")[0]
    assert told in "\n".join(faults(tmp_path, text))


def test_a_rule_of_ones_own_is_told_once(tmp_path: Path) -> None:
    assert len(faults(tmp_path, GOOD.replace("sample", "{title: 样例市养犬管理办法, number: 第七条}"))) == 1


@given(st.text(alphabet="ab:：-[]{}*&!|>'\"#?,\n\t 　%@`~=<0x1", max_size=40) | st.text(max_size=20))
@example("a: !!bool x")
@example("a: !!int ''")
@example("%YAML 9\n---\na")
@example("\ufeff\ufeffa")
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_bytes(text.encode("utf-8", "replace"))
    examine_one(file)


@given(st.data())
def test_a_good_file_with_a_piece_of_anything_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(GOOD)))
    piece = data.draw(st.text(alphabet="a:：-[]{}*&!|>'\"#?,\n\t 12", max_size=6))
    cut = data.draw(st.integers(0, 12))
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_text(GOOD[:at] + piece + GOOD[at + cut :], "utf-8")
    examine_one(file)


def examine_one(file: Path) -> None:
    from llm.knowledge_file import read_file  # noqa: PLC0415

    placed, found = read_file(file, SCHEMA)
    assert placed or found
    for fault in found:
        assert fault.problem and fault.mend  # noqa: PT018
        assert fault.line <= file.read_text("utf-8").count("\n") + 2
