"""`hotline kb`: check, build, search, test, export, as typed."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from pathlib import Path

import pytest

from hotline import kb
from hotline.cli import main
from hotline.kb_build import built_folder
from hotline.kb_trial import Limit, TrialWrong, read_cases

GOOD = """region: 样例市
entries:
  - id: hall-hours
    topic: 大厅
    question: 政务大厅几点上班
    paraphrases: [大厅几点开门, 大厅几点关门, 大厅周末开吗, 大厅中午休息吗]
    answer: 八点半上班。工作日下午五点半下班。
    detail: 周末和法定节假日不上班。
    source: sample
    hot: true
  - id: household-move-in
    topic: 户口
    question: 户口怎么迁入本市
    paraphrases: [户口怎么迁进来, 迁入户口要什么材料, 户口想迁入你们市, 迁入户口去哪里办]
    answer: 到派出所办。带身份证和户口簿。
    source: 样例市户口登记办法第三条
    valid_from: 2026-01-01
  - id: household-move-out
    topic: 户口
    question: 户口怎么迁出本市
    paraphrases: [户口怎么迁走, 迁出户口要什么材料, 户口想迁出去, 迁出户口去哪里办]
    answer: 先拿准迁证明。再到原派出所办迁出。
    source: sample
    valid_to: 2026-12-31
"""
CASES = """{"query": "大厅几点开门啊", "want": "hall-hours", "kind": "paraphrase"}
{"query": "户口怎么迁走", "want": ["household-move-out"], "kind": "minimal_pair", "not": ["household-move-in"]}

{"query": "火星上能买房吗", "want": null, "kind": "out_of_scope"}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOTLINE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(kb, "utc_now", lambda: dt.datetime(2026, 12, 2, tzinfo=dt.UTC))
    monkeypatch.setenv("HOTLINE_ANSWERING__DENSE_MODEL", "")  # its vectors take a minute
    own = tmp_path / "kb"
    (own / "tests").mkdir(parents=True)
    (own / "a.yaml").write_text(GOOD, "utf-8")
    (own / "tests" / "own.jsonl").write_text(CASES, "utf-8")
    return own


def typed(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    code = main(["kb", *map(str, words)])
    return code, capsys.readouterr().out


# ---------------------------------------------------------------- check


def test_a_sound_knowledge_base_is_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = typed(capsys, "check", folder, "--without-laws")
    assert code == 0
    assert f"3 entries, 2 topics, 1 file in {folder}: no faults, no notes" in out
    assert "sources were not looked up" in out


def test_every_fault_is_told_and_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD.replace("valid_to: 2026-12-31", "valid_to: 2026-11-30").replace("八点半上班。", "早上一般都是八点半开始上班的哦。")
    (folder / "a.yaml").write_text(text, "utf-8")
    (folder / "b.yaml").write_text("entries:\n  - id: x\n    answer: 好\n", "utf-8")
    code, out = typed(capsys, "check", folder, "--without-laws")
    assert code == 1
    assert out.splitlines()[:4] == [
        (
            "a.yaml, line 7: entry hall-hours, field answer: the first clause has 16 characters, at most 15: "
            "早上一般都是八点半开始上班的哦。; begin with a short clause that answers"
        ),
        "a.yaml, line 24: entry household-move-out, field valid_to: expired on 2026-11-30; renew it after a check, or remove it",
        "b.yaml, line 2: entry x: lacks 'topic', 'question', 'paraphrases', 'source'; add the missing fields",
        "b.yaml, line 3: entry x, field answer: has 1 characters, at least 4; write it out",
    ]
    assert "4 faults" in out


def test_faults_are_read_by_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.yaml").write_text(GOOD.replace("八点半上班。", "9am上班。"), "utf-8")
    code, out = typed(capsys, "check", folder, "--without-laws", "--json")
    assert code == 0
    assert json.loads(out) == {
        "file": "a.yaml",
        "line": 7,
        "where": "entry hall-hours, field answer",
        "problem": "'a' is hard to speak",
        "mend": "say it in words",
        "note": True,
    }


def test_intents_and_the_gates_words_are_checked_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file, text in (("intents/x.yaml", "axis: ["), ("gate/words.yaml", "nothing: true")):
        (folder / file).parent.mkdir()
        (folder / file).write_text(text, "utf-8")
    code, out = typed(capsys, "check", folder, "--without-laws")
    assert code == 1
    assert "intents: x.yaml, line 1: not valid YAML" in out
    assert "words.yaml: " in out
    assert "2 faults" in out


INTENTS = """axis: matter
intents:
  - name: household
    title: 户籍
    examples: [小孩上户口, 集体户口怎么弄, 改民族, 户口簿丢了, 落户政策是什么]
  - name: service_hall
    title: 大厅
    examples: [大厅在哪里, 大厅电话多少, 去大厅怎么坐车, 大厅排队久吗, 大厅能停车吗]
"""
KINDS = INTENTS.replace("matter", "kind").replace("household", "ask").replace("service_hall", "complain")


@pytest.fixture
def with_intents(folder: Path) -> Path:
    (folder / "intents").mkdir()
    (folder / "intents" / "matters.yaml").write_text(INTENTS, "utf-8")
    (folder / "intents" / "kinds.yaml").write_text(KINDS, "utf-8")
    return folder


def test_files_beside_the_entries_that_never_end_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    endless = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 30))
    for file in ("intents/x.yaml", "gate/words.yaml"):
        (folder / file).parent.mkdir()
        (folder / file).write_text(endless, "utf-8")
    code, out = typed(capsys, "check", folder, "--without-laws")
    assert (code, out.count("too often") + out.count("too deeply")) == (1, 2)


def test_an_own_knowledge_base_needs_no_intents(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no faults, no notes" in typed(capsys, "check", folder, "--without-laws")[1]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            ("", ""),
            (
                "note: a.yaml, line 3: entry hall-hours: names no intent, and 2 more: agents are not told what such a call is "
                "about; write 'intent:' with a name of intents/ there, or once at the top of the file"
            ),
        ),
        (
            ("    topic: 户口\n", "    topic: 户口\n    intent: household\n"),
            (
                "note: a.yaml, line 3: entry hall-hours: names no intent: agents are not told what such a call is about; "
                "write 'intent:' with a name of intents/ there, or once at the top of the file"
            ),
        ),
        (
            ("region: 样例市\n", "region: 样例市\nintent: househld\n"),
            "a.yaml, line 2: field intent: no intent is called 'househld'; write 'household'",
        ),
        (
            ("    topic: 大厅\n", "    topic: 大厅\n    intent: sky\n"),
            (
                "a.yaml, line 5: entry hall-hours, field intent: no intent is called 'sky'; "
                "add it to intents/, or write one of household, service_hall"
            ),
        ),
    ],
)
def test_an_intent_that_lacks_or_is_unknown_is_told_with_its_line(
    with_intents: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], told: str
) -> None:
    (with_intents / "a.yaml").write_text(GOOD.replace(*change) if change[0] else GOOD, "utf-8")
    code, out = typed(capsys, "check", with_intents, "--without-laws")
    assert (told in out.splitlines(), code) == (True, 0 if told.startswith("note") else 1)
    assert out.count("no intent is called") == (not told.startswith("note"))


def test_an_entrys_own_intent_goes_before_the_files(with_intents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD.replace("region: 样例市\n", "region: 样例市\nintent: household\n")
    (with_intents / "a.yaml").write_text(text.replace("    topic: 大厅\n", "    topic: 大厅\n    intent: service_hal\n"), "utf-8")
    (told, *_) = typed(capsys, "check", with_intents, "--without-laws")[1].splitlines()
    assert told == "a.yaml, line 6: entry hall-hours, field intent: no intent is called 'service_hal'; write 'service_hall'"


def test_a_file_that_is_broken_is_still_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.yaml").write_text("entries：\n", "utf-8")
    code, out = typed(capsys, "check", folder, "--without-laws")
    assert code == 1
    assert f"0 entries, 0 topics, 1 file in {folder}: 1 fault, no notes" in out


def test_without_the_law_table_it_says_what_to_pull(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOTLINE_MODELS__DIR", str(tmp_path / "no-models"))
    assert main(["kb", "check", str(folder)]) == 1
    assert "hotline models pull china-laws" in capsys.readouterr().err


# ---------------------------------------------------------------- search and test


def test_a_search_shows_what_would_be_spoken_and_why(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = typed(capsys, "search", "大厅几点开门", "--dir", folder)
    assert code == 0
    assert "hall-hours (hot)" in next(line for line in out.splitlines() if line.startswith("* "))
    assert "→ hot: " in out
    assert "答：八点半上班。工作日下午五点半下班。" in out


def test_a_searched_question_is_masked_as_in_a_call(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = typed(capsys, "search", "我的手机号是13900001234，大厅几点开门", "--dir", folder, "--json")
    assert code == 0
    assert "1390000" not in out
    found = json.loads(out)
    assert found["passages"][0]["id"] == "hall-hours"
    assert found["passages"][0]["margin"] > 0


def test_a_test_set_gives_figures_by_kind_and_a_limit_fails_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = typed(capsys, "test", "--dir", folder, "--json", "--min", "recall@1=0.9", "--max", "answered_wrong=0")
    report = json.loads(out)
    assert code == 0
    assert report["questions"] == {"paraphrase": 1, "minimal_pair": 1, "out_of_scope": 1}
    assert report["figures"]["all"]["recall@1"] == 1.0
    assert report["figures"]["out_of_scope"] == {
        "recall@1": None,
        "recall@3": None,
        "answered_right": None,
        "answered_wrong": 0.0,
        "asked_back": None,
        "abstained_right": 1.0,
    }
    wrong = folder / "wrong.jsonl"
    wrong.write_text('{"query": "户口怎么迁走", "want": "hall-hours", "kind": "rare_entity", "not": "household-move-out"}', "utf-8")
    code, out = typed(capsys, "test", "--dir", folder, "--set", wrong, "--min", "recall@1=0.9", "--min", "abstained_right=0.5")
    assert code == 1
    assert "wrong.jsonl line 1: 户口怎么迁走\n    wanted hall-hours; answered household-move-out, the opposite" in out
    assert "missed: recall@1 0.0000, at least 0.9 wanted" in out
    assert "missed: abstained_right no such question, at least 0.5 wanted" in out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "own.jsonl line 1: not JSON"),
        ('{"query": "a", "want": null}', "own.jsonl line 1: wrong fields"),
        ('{"query": "a", "want": null, "kind": "out_of_scope", "x": 1}', "own.jsonl line 1: wrong fields"),
        ('{"query": "a", "want": "nobody", "kind": "paraphrase"}', "own.jsonl line 1: there is no entry nobody"),
        ('{"query": "a", "want": 7, "kind": "paraphrase"}', "own.jsonl line 1: entries are named by their ids"),
        ('{"query": "a", "want": null, "kind": "paraphrase"}', "own.jsonl line 1: kind, want and not don't fit together"),
        ('{"query": " ", "want": "e", "kind": "paraphrase"}', "own.jsonl line 1: no query, or an unknown kind"),
        ("", "no question to ask"),
    ],
)
def test_a_broken_test_set_is_told_with_its_line(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / "own.jsonl").write_text(line, "utf-8")
    with pytest.raises(TrialWrong) as told:
        read_cases([tmp_path / "own.jsonl"], frozenset({"e"}))
    assert str(told.value) == says


@pytest.mark.parametrize("text", ["recall@1", "recall@1=much", "recall@9=0.5", "=1"])
def test_a_limit_that_is_none_is_told(text: str) -> None:
    with pytest.raises(TrialWrong, match="is no limit"):
        Limit.read(text, is_least=True)


# ---------------------------------------------------------------- build and export


def test_a_build_is_made_once_for_each_state_of_the_content(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert built_folder(folder) is None
    assert typed(capsys, "build", "--dir", folder)[0] == 0
    first = built_folder(folder)
    assert first
    assert len((first / "entries.jsonl").read_text("utf-8").splitlines()) == 3
    assert json.loads((first / "manifest.json").read_text("utf-8"))["entries"] == 3
    assert typed(capsys, "build", "--dir", folder) == (0, f"built already: {first}\n")
    (folder / "a.yaml").write_text(GOOD.replace("八点半", "九点"), "utf-8")
    assert built_folder(folder) is None
    typed(capsys, "build", "--dir", folder)
    assert built_folder(folder) not in {None, first}
    assert [path.name for path in first.parent.iterdir() if path.name.startswith(".")] == []


def test_a_broken_knowledge_base_is_not_built(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.yaml").write_text(GOOD.replace("answer", "anwser"), "utf-8")
    assert main(["kb", "build", "--dir", str(folder)]) == 1
    assert "unknown field 'anwser'; write 'answer'" in capsys.readouterr().err
    assert built_folder(folder) is None


def test_entries_are_exported_with_sources_and_validity(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, lines = typed(capsys, "export", "--dir", folder)
    rows = [json.loads(line) for line in lines.splitlines()]
    assert [row["id"] for row in rows] == ["hall-hours", "household-move-in", "household-move-out"]
    assert (rows[1]["source"], rows[1]["valid_from"], rows[2]["valid_to"]) == (
        "样例市户口登记办法第三条",
        "2026-01-01",
        "2026-12-31",
    )
    assert rows[0]["paraphrases"] == ["大厅几点开门", "大厅几点关门", "大厅周末开吗", "大厅中午休息吗"]
    _, table = typed(capsys, "export", "--dir", folder, "--format", "csv")
    first = next(csv.DictReader(io.StringIO(table)))
    assert (first["hot"], first["source"], first["region"]) == ("true", "样例，须由运营方替换", "样例市")
    _, book = typed(capsys, "export", "--dir", folder, "--format", "md")
    assert "## 大厅\n\n### 政务大厅几点上班\n\n八点半上班。" in book
    assert typed(capsys, "export", "--dir", folder, "--format", "csv", "--out", tmp_path / "kb.csv") == (0, "")
    assert (tmp_path / "kb.csv").read_bytes().startswith(b"\xef\xbb\xbfid,")
    assert typed(capsys, "export", "--dir", folder, "--out", tmp_path / "new" / "kb.jsonl")[0] == 0  # the folder is made
    assert (tmp_path / "new" / "kb.jsonl").read_text("utf-8") == lines


def test_a_spreadsheet_computes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.yaml").write_text(GOOD.replace("周末和法定节假日不上班。", '"=HYPERLINK(1)"'), "utf-8")
    _, table = typed(capsys, "export", "--dir", folder, "--format", "csv")
    assert next(csv.DictReader(io.StringIO(table)))["detail"] == "'=HYPERLINK(1)"
