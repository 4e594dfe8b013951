"""The gate's word file: read, checked, and an operator's own; and kinds of questions that only look like an entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm.gate import About, doubts
from llm.gate_words import load_words, shipped
from llm.types import Entry, KnowledgeWrong

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "configs" / "kb" / "gate" / "words.yaml"
SCHEMA = ROOT / "configs" / "schema" / "gate.schema.json"


def entry(question: str, *paraphrases: str, answer: str = "可以办理。") -> Entry:
    return Entry(id="e", topic="样例", question=question, paraphrases=paraphrases, answer=answer, source="样例")


PASSPORT = entry("护照怎么办理", "我想办护照", "办护照要什么材料", answer="要本人办理。请带身份证和近期免冠照片。")
SITE = entry("工地夜间施工太吵怎么投诉", "半夜工地还在施工", answer="可以投诉。要登记地点，请说转人工。")
VETERANS = entry("退役军人怎么找工作", "退伍了想考公务员", "当兵回来怎么就业", answer="可以报名。考公务员有定向岗位。")
TRIP = entry("给孩子办护照要带什么", "小孩出国护照怎么办", answer="请带户口簿。")

CARD = entry(
    "社保卡丢了怎么办",
    *(
        "社保卡不见了",
        "社保卡掉了怎么补",
        "补社保卡",
        "社保卡找不到了",
        "社保卡被偷了",
        "社保卡挂失",
        "我的社保卡丢了",
        "新社保卡怎么补",
    ),
    "那张卡丢了去哪补",  # one wording without the word does not make it needless
)


def hard(question: str, about: Entry) -> set[About]:
    return {doubt.about for doubt in doubts(question, about) if doubt.hard}


@pytest.mark.parametrize(
    ("question", "about"),
    [
        *(("工地招工吗", SITE), ("你们工地还招人不", SITE), ("工地有兼职吗", SITE)),
        *(("护照照片有什么要求", PASSPORT), ("护照相片多大尺寸", PASSPORT), ("护照的格式", PASSPORT)),
        *(("异地护照怎么办", PASSPORT), ("在外地怎么办护照", PASSPORT), ("老家的护照怎么办", PASSPORT)),
        *(("考公务员怎么报名", VETERANS), ("怎么找工作", VETERANS)),
        *(("不办护照行吗", PASSPORT), ("没有办护照怎么出国", PASSPORT)),
        *(("员工卡丢了怎么办", CARD), ("门禁卡丢了怎么补", CARD), ("钥匙丢了怎么办", CARD)),
    ],
)
def test_another_question_about_the_same_words_is_a_doubt(question: str, about: Entry) -> None:
    assert hard(question, about)


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("退伍军人找工作", VETERANS),
        ("护照怎么办", PASSPORT),
        ("社保卡丢了去哪补", CARD),
        ("设保卡掉了怎么办", CARD),  # as a recogniser writes it
        ("带小孩出国护照怎么办", TRIP),  # 国护 sounds like 过户, across two words
        ("办护照要带身份证吗", PASSPORT),
    ],
)
def test_the_entrys_own_question_is_none(question: str, about: Entry) -> None:
    assert hard(question, about) == set()


def test_a_negation_of_what_the_entry_never_says_is_a_soft_doubt() -> None:
    charger = entry("小区里怎么装充电桩", "充电桩物业不同意", answer="先申请。")
    found = [doubt for doubt in doubts("小区装充电桩物业不让", charger) if doubt.about is About.POLARITY]
    assert [doubt.hard for doubt in found] == [False]


def test_an_operators_own_words_need_no_code(tmp_path: Path) -> None:
    own = tmp_path / "words.yaml"
    own.write_text(FILE.read_text("utf-8").replace("- 彩票\n", "- 彩票\n  - 渔船 渔民\n"), "utf-8")
    boats = entry("渔民补贴怎么申请")
    words = load_words(own, SCHEMA)
    assert [str(doubt) for doubt in doubts("渔船证怎么申请", PASSPORT, words=words) if doubt.about is About.WORD] == ["word:渔船"]
    assert not [doubt for doubt in doubts("渔船补贴怎么申请", boats, words=words) if doubt.about is About.WORD]
    assert not [doubt for doubt in doubts("渔船证怎么申请", PASSPORT) if doubt.about is About.WORD]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("things: ", "stuff: ", "stuff"),
        ("  - 路灯\n", "  - 12\n", "things"),
        ("  偷: 偷(?:东西|我|人)", "  偷: '偷(?:'", "turns"),
        ("actions:  ", "actions: [\n", "not valid YAML"),
    ],
)
def test_a_wrong_file_names_the_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    wrong = tmp_path / "words.yaml"
    text = FILE.read_text("utf-8")
    assert old in text
    wrong.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(KnowledgeWrong, match=told):
        load_words(wrong, SCHEMA)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeWrong, match="cannot be read"):
        load_words(tmp_path / "words.yaml", SCHEMA)


def test_the_shipped_words_are_the_samples() -> None:
    assert shipped().things == load_words(FILE, SCHEMA).things
