"""What other bots were reported to do: wrong figures, withdrawn rules, a caller's wrong belief confirmed, numerals torn apart."""

import dataclasses
import datetime as dt
import re
from pathlib import Path

import pytest

from llm.checks import check_clause
from llm.itn import written
from llm.knowledge import load
from llm.types import Entry, Passage, Route
from tests.fakes import new_masker
from tests.rooms.llm.test_generated import PLAIN, Scripted
from tests.rooms.llm.test_mind import ENTRIES, ROOT, Talk

LOAN = "最高贷款额度60万元，咨询电话010-12345，2026年7月1日起施行。"
LOAN_ENTRY = Entry(
    id="loan",
    topic="公积金贷款",
    question="公积金贷款额度最高多少",
    paraphrases=("公积金最高能贷多少", "公积金贷款最多能贷多少钱", "公积金贷款上限"),
    answer=LOAN,
    source="样例办事指南",
)
RIGHT = """
    60万元 六十万 六十万元 600000元 最高贷款额度是60万元。 最高可以贷六十万。 最多六十万元。
    010-12345 零幺零幺二三四五 7月1日起施行。 七月一日起施行。 2026年7月1日起施行。
"""
WRONG = """
    6万元 60元 600万元 六万 六百万 0.6万元 60.5万元 六七十万 五六十万元 几十万元 六十多万元 70万元以内 最低60万元 至少六十万
    010-12354 零幺零幺二三五四 010-1234 010-123456 0101-2345 7月11日起 七月十一日起 1月7日起 2025年7月1日起 二零二七年七月一日
"""


def rules(clause: str) -> set[str]:
    question = new_masker().mask("公积金贷款额度最高多少")
    return {finding.rule for finding in check_clause(clause, (Passage(entry=LOAN_ENTRY, score=1.0),), question)}


# ---------------------------------------------------------------- figures


@pytest.mark.parametrize("clause", RIGHT.split())
def test_a_figure_of_the_source_is_spoken_in_whatever_form(clause: str) -> None:
    assert rules(clause) == set()


@pytest.mark.parametrize("clause", WRONG.split())
def test_a_figure_one_digit_one_unit_or_a_guess_away_is_held_back(clause: str) -> None:
    assert rules(clause) & {"number", "condition"}


@pytest.mark.parametrize(
    "clause", ["最高贷款额度6万元。", "最高可以贷60元。", "咨询电话010-12354。", "最高六七十万元。", "最低60万元。"]
)
async def test_instead_of_a_wrong_figure_the_source_is_read(clause: str) -> None:
    talk = Talk(entries=(*ENTRIES, LOAN_ENTRY), engine=Scripted(clause), settings=PLAIN)
    assert await talk.say("公积金贷款额度最高是多少钱呢") == (Route.STORED, LOAN)


async def test_the_right_figure_is_spoken_as_the_model_puts_it() -> None:
    talk = Talk(entries=(*ENTRIES, LOAN_ENTRY), engine=Scripted("最高可以贷六十万元。"), settings=PLAIN)
    assert await talk.say("公积金贷款额度最高是多少钱呢") == (Route.GENERATED, "最高可以贷六十万元。")


def test_a_guess_that_the_source_makes_may_be_repeated() -> None:
    guess = dataclasses.replace(LOAN_ENTRY, answer="一般两三个工作日办结，十七八岁也可以申请。")
    question = new_masker().mask("多久办结")
    for clause, found in (
        ("一般两三个工作日办结。", set()),
        ("一般三四个工作日办结。", {"number"}),
        ("十五六岁也可以。", {"number"}),
    ):
        assert {each.rule for each in check_clause(clause, (Passage(entry=guess, score=1.0),), question)} == found


# ---------------------------------------------------------------- rules that changed or went


def entry_text(name: str, question: str, answer: str) -> str:
    return f"""  - id: {name}
    topic: {question[:2]}
    question: {question}
    paraphrases: [{question}呢, 请问{question}, 想问{question}, 麻烦问下{question}]
    answer: {answer}
    source: 样例，须由运营方替换
"""


async def test_an_entry_that_was_deleted_or_changed_is_gone_with_the_next_look_at_the_folder(tmp_path: Path) -> None:
    """No answer outlives its text: there is no store of answers beside the knowledge base."""
    schema = ROOT / "configs" / "schema" / "kb.schema.json"
    boat = entry_text("boat", "渔船登记怎么办理", "带船舶证书到渔政窗口办理。")
    subsidy = entry_text("subsidy", "奶牛补贴一头多少钱", "每头五百元。")
    file = tmp_path / "kb.yaml"

    async def said_of(question: str, text: str) -> tuple[Route, str]:
        file.write_text("sample: true\nregion: 样例市\nentries:\n" + text, "utf-8")
        return await Talk(entries=load(tmp_path, schema=schema)).say(question)

    assert (await said_of("渔船登记怎么办理", boat + subsidy))[1] == "带船舶证书到渔政窗口办理。"
    route, said = await said_of("渔船登记怎么办理", subsidy)
    assert route in {Route.CLARIFY, Route.UNKNOWN}
    assert "渔政" not in said
    assert (await said_of("奶牛补贴一头多少钱", subsidy))[1] == "每头五百元。"
    assert (await said_of("奶牛补贴一头多少钱", subsidy.replace("五百元", "八百元")))[1] == "每头八百元。"


async def test_an_entry_ends_and_its_successor_begins_on_its_day() -> None:
    day = dt.date(2027, 1, 1)
    old = dataclasses.replace(LOAN_ENTRY, answer="最高贷款额度五百元。", valid_to=day - dt.timedelta(days=1))
    new = dataclasses.replace(LOAN_ENTRY, answer="最高贷款额度八百元。", valid_from=day)
    for today, said in ((day - dt.timedelta(days=1), old.answer), (day, new.answer)):
        talk = Talk(entries=(*ENTRIES, old, new))
        talk.dialogue = dataclasses.replace(talk.dialogue, today=today)
        assert (await talk.say(LOAN_ENTRY.question))[1] == said


# ---------------------------------------------------------------- a wrong belief


@pytest.mark.parametrize("folder", [ROOT / "tests" / "rooms" / "llm" / "kb31", ROOT / "configs" / "kb"], ids=["small", "shipped"])
@pytest.mark.parametrize(
    "belief",
    [
        "网上说可以交钱加急",
        "我听说交两百块钱可以加急",
        "人家说花钱就能当天拿",
        "那我多交点钱加急行不行",
        "交钱加急对吧",
        "你刚才说可以加急的",
    ],
)
async def test_a_paid_short_cut_that_nobody_wrote_is_not_confirmed(folder: Path, belief: str) -> None:
    talk = Talk(load(folder, schema=ROOT / "configs" / "schema" / "kb.schema.json"))
    await talk.say("居住证办理要几个工作日")
    _, corrected = await talk.say("不对吧，你刚才说是3个工作日，那我后天来拿")
    assert "十五个工作日" in corrected
    route, said = await talk.say(belief)
    assert route is Route.CLARIFY or "十五个工作日" in said
    assert not re.search("可以加急|能加急[^吗]|交钱|两百|当天", said)


# ---------------------------------------------------------------- numerals


@pytest.mark.parametrize(
    ("said", "figures"),
    [
        ("明天上午十一点开门", "明天上午11点开门"),
        ("十一分", "11分"),
        ("十乘二十毫米", "10乘20毫米"),
        ("二十一点三十分", "21点30分"),
        ("二十二点十一分", "22点11分"),
        ("十二乘以二十五厘米", "12乘以25厘米"),
        ("十一点到二十一点", "11点到21点"),
        ("十点十一分", "10点11分"),
    ],
)
def test_an_hour_or_a_measure_is_one_number(said: str, figures: str) -> None:
    assert written(said) == figures
    assert not re.search(r"10 ?一|10210|210", figures)
