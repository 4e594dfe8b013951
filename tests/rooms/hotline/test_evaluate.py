"""Case sets go through the product's own code paths: records in, answers out, a bad line told and passed over."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from hotline import cli
from hotline.config import Settings
from hotline.errors import explain
from hotline.evaluate.records import EvaluationWrong
from hotline.evaluate.report import report
from hotline.evaluate.run import SETS, case_set, evaluate

Json = dict[str, Any]


async def answers(name: str, *records: Json | str) -> tuple[list[Json], str, int]:
    """Answers, complaints and exit code."""
    lines = [record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records]
    out, errors = io.StringIO(), io.StringIO()
    code = await evaluate(Settings(), name, lines, out, errors)
    return [json.loads(line) for line in out.getvalue().splitlines()], errors.getvalue(), code


async def test_a_call_is_masked_turn_by_turn_and_the_bots_question_counts() -> None:
    turns = [
        {"role": "bot", "text": "请问您贵姓"},
        {"role": "caller", "text": "邵"},
        {"role": "bot", "text": "请留个电话"},
        {"role": "caller", "text": "幺三九零零零零"},
        {"role": "bot", "text": "您继续"},
        {"role": "caller", "text": "五六七八"},
    ]
    got, _, code = await answers("pii", {"id": "a", "turns": turns})
    assert code == 0
    assert got[0]["spans"] == [
        {"turn": 1, "start": 0, "end": 1, "type": "NAME"},
        {"turn": 3, "start": 0, "end": 7, "type": "PHONE"},
        {"turn": 5, "start": 0, "end": 4, "type": "PHONE"},
    ]


@pytest.mark.parametrize(
    ("name", "record", "output"),
    [
        ("itn", {"input": "三千五百块"}, "3500块"),
        ("tn", {"input": "每平方米3.5元"}, "每平方米三点五元"),
        ("rmb", {"figure": "1,250.60"}, "人民币壹仟贰佰伍拾元陆角整"),
    ],
)
async def test_a_text_becomes_another(name: str, record: Json, output: str) -> None:
    assert (await answers(name, {"id": "1", **record}))[0] == [{"id": "1", "output": output}]


async def test_right_answers_in_a_record_are_never_looked_at() -> None:
    plain, _, _ = await answers("itn", {"id": "1", "input": "二十元"})
    with_gold, _, _ = await answers("itn", {"id": "1", "input": "二十元", "accept": ["别的"], "category": "money"})
    assert plain == with_gold


async def test_the_route_is_the_one_that_a_call_takes() -> None:
    got, _, _ = await answers(
        "safety",
        {"id": "fire", "text": "厨房着火了", "direction": "inbound"},
        {"id": "crime", "text": "怎么伪造离婚证", "direction": "inbound"},
        {"id": "person", "text": "转人工", "direction": "inbound"},
        {"id": "plain", "text": "居住证怎么办", "direction": "inbound"},
        {"id": "reply", "text": "请带身份证到派出所办理，不收费。", "direction": "outbound"},
        {"id": "promise", "text": "您这个案子肯定赢。", "direction": "outbound"},
    )
    assert {str(each["id"]): each["action"] for each in got} == {
        "fire": "emergency",
        "crime": "refuse",
        "person": "transfer",
        "plain": "answer",
        "reply": "answer",
        "promise": "refuse",
    }


async def test_intents_have_the_sets_names() -> None:
    got, _, _ = await answers("intents", {"id": "1", "text": "公积金怎么提取"}, {"id": "2", "text": "我要人工"})
    assert [each["intent"] for each in got] == ["housing_fund", "ask_human"]


async def test_a_dialog_is_a_call_over_its_own_knowledge() -> None:
    kb = [{"id": "x1", "title": "样例证换领", "text": "样例证到期前到样例窗口换领，不收费。"}]
    others = [{"id": "x2", "title": "样例补贴", "text": "样例补贴每年发放一次。"}]
    turns = [{"role": "caller", "text": text} for text in ("样例证怎么换领", "没有了，谢谢")]
    got, _, _ = await answers("dialogs", {"id": "d", "kb": kb, "distractors": others, "turns": turns})
    first, second = got[0]["turns"]
    assert (first["action"], first["kb"], "不收费" in first["text"]) == ("answer", "x1", True)
    assert second["action"] == "close"
    assert got[0]["outcome"] == "answered"


async def test_a_caller_who_wants_a_person_is_transferred_with_a_summary() -> None:
    got, _, _ = await answers("dialogs", {"id": "d", "turns": [{"role": "caller", "text": "转人工"}]})
    assert got[0]["outcome"] == "transferred"
    assert got[0]["turns"][0]["handoff"]["summary"]


async def test_a_bad_line_is_told_with_its_number_and_the_rest_goes_on() -> None:
    got, told, code = await answers(
        "rmb", "{", {"id": "1", "figure": "1"}, {"id": "2"}, {"id": "3", "figure": "一百"}, "", {"id": "4", "figure": "0.001"}
    )
    assert ([each["id"] for each in got], code) == (["1"], 1)
    assert [line.split(":")[2].strip() for line in told.splitlines()] == ["line 1", "line 3", "line 4", "line 6"]
    assert "write one record on one line" in told
    assert "field figure: Field required" in told
    assert "write an amount such as 1003.07" in told


async def test_two_entries_with_one_id_are_no_knowledge() -> None:
    entry = {"id": "x", "title": "甲", "text": "乙"}
    _, told, code = await answers("dialogs", {"id": "d", "kb": [entry, entry], "turns": []})
    assert code == 1
    assert "same id" in told


def test_what_the_product_cannot_do_yet_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["eval", "legal"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "not part of the product yet" in said.err


@pytest.mark.parametrize("name", SETS)
def test_every_set_that_is_named_is_there(name: str) -> None:
    assert case_set(name).record


SCORER = """
import json, pathlib, sys
name = sys.argv[1]
gold = [json.loads(line) for line in (pathlib.Path(__file__).parent / f"{name}.jsonl").read_text("utf-8").splitlines()]
if "--print-input" in sys.argv:
    for record in gold:
        print(json.dumps({key: value for key, value in record.items() if key != "accept"}))
else:
    folder = pathlib.Path(sys.argv[sys.argv.index("--predictions-dir") + 1])
    made = {row["id"]: row["output"] for row in map(json.loads, (folder / f"{name}.jsonl").read_text("utf-8").splitlines())}
    right = sum(made.get(record["id"]) in record["accept"] for record in gold)
    print(json.dumps({"scores": {name: {"records": len(gold), "answered": len(made), "accuracy": right / len(gold)}}}))
"""


def test_the_report_runs_the_sets_that_are_there_through_their_own_scorer(tmp_path: Path) -> None:
    (tmp_path / "score.py").write_text(SCORER, encoding="utf-8")
    records = [{"id": "1", "input": "二十元", "accept": ["20元"]}, {"id": "2", "input": "万一", "accept": ["别的"]}]
    (tmp_path / "itn.jsonl").write_text("\n".join(json.dumps(each) for each in records), encoding="utf-8")
    page = tmp_path / "quality.md"
    assert report(Settings(), tmp_path, out=page) == 0
    text = page.read_text("utf-8")
    assert "| itn | 2 | accuracy 0.5 |" in text
    assert "unseen cases of the same kinds are" in text
    assert "legal (drafting legal documents)" in text


@pytest.mark.parametrize("cases", [None, Path("nowhere")])
def test_a_report_without_a_scorer_says_what_to_name(cases: Path | None) -> None:
    with pytest.raises(EvaluationWrong) as wrong:
        report(Settings(), cases, out=None)
    assert "--cases DIR" in explain(wrong.value).what_to_do
