"""One rule in two versions, one after the other: whatever turn of a call looks at it sees the one that holds that day."""

from __future__ import annotations

import dataclasses
import datetime as dt
from pathlib import Path

import pytest

from llm import phrases
from llm.correction import what_counts
from llm.gate_words import WORDS_AT, load_words
from llm.mind import AnsweringMind
from llm.types import AnsweringSettings, Entry, Exchange, Route
from tests.fakes import new_masker
from tests.rooms.llm.test_mind import ROOT, Talk

CHANGES = dt.date(2027, 1, 1)
BEFORE, AFTER = CHANGES - dt.timedelta(days=1), CHANGES
OLD = Entry(
    id="boat",
    topic="渔船",
    question="渔船登记怎么办理",
    paraphrases=("渔船怎么登记", "渔船登记要怎么弄", "给渔船办登记"),
    answer="带船舶证书到渔政窗口办理。",
    detail="收费五十元，三个工作日办结。",
    source="样例办事指南",
    valid_to=BEFORE,
)
NEW = dataclasses.replace(OLD, answer="在网上提交船舶证书办理。", detail="不收费，当天办结。", valid_from=CHANGES, valid_to=None)
FEE = dataclasses.replace(
    OLD,
    id="boat-fee",
    question="渔船年检收费吗",
    paraphrases=("渔船年检多少钱",),
    answer="渔船年检收费八十元。",
    detail="",
    valid_to=BEFORE,
)
SAID = {BEFORE: OLD, AFTER: NEW}


def talk_on(day: dt.date, *entries: Entry, words_file: Path | None = None) -> Talk:
    talk = Talk(entries=entries or (OLD, NEW))
    if words_file is not None:
        words = load_words(words_file, ROOT / "configs/schema/gate.schema.json")
        talk.mind = AnsweringMind(talk.mind.entries, AnsweringSettings(region="样例市"), words=words)
    talk.dialogue = dataclasses.replace(talk.dialogue, today=day)
    return talk


@pytest.mark.parametrize("day", [BEFORE, AFTER], ids=["before", "after"])
@pytest.mark.parametrize("entries", [(OLD, NEW), (NEW, OLD)], ids=["old first", "new first"])
async def test_answer_follow_up_repeat_and_objection_are_of_the_version_that_holds(
    day: dt.date, entries: tuple[Entry, ...]
) -> None:
    talk, holds = talk_on(day, *entries), SAID[day]
    assert (await talk.say("渔船登记怎么办理"))[1].startswith(holds.answer)
    assert (await talk.say("要多少钱"))[1] == holds.detail
    assert (await talk.say("再说一遍"))[1] == phrases.AGAIN + holds.detail
    for claim in ("不对吧，你刚才说要十天", "你刚才说收八十块", "你说的不对，当场就能拿"):
        assert (await talk.say(claim))[1].endswith(holds.detail), claim
    assert (await talk.say("你刚才说的不对"))[1].endswith(holds.answer)


async def test_a_neighbour_that_is_over_answers_no_follow_up() -> None:
    new = dataclasses.replace(NEW, detail="")
    before, after = talk_on(BEFORE, new, OLD, FEE), talk_on(AFTER, new, OLD, FEE)
    for talk in (before, after):
        await talk.say("渔船登记怎么办理")
    assert "五十元" in (await before.say("要多少钱"))[1]
    assert "元" not in (await after.say("要多少钱"))[1]


@pytest.mark.parametrize("day", [BEFORE, AFTER], ids=["before", "after"])
@pytest.mark.parametrize("yes", ["是的", "对", "第一个"])
async def test_two_versions_are_one_candidate_of_a_clarifying_question(day: dt.date, yes: str) -> None:
    talk = talk_on(day)
    asked = Exchange(
        caller=new_masker().mask("渔船"), said=phrases.did_you_mean([OLD.question], ""), route=Route.CLARIFY, topic_id=OLD.id
    )
    talk.dialogue = dataclasses.replace(talk.dialogue, history=(asked,), clarified=1)
    assert await talk.say(yes) == (Route.STORED, SAID[day].answer)


async def test_half_a_question_after_a_clarifying_one_is_answered_by_the_version_that_holds() -> None:
    other = dataclasses.replace(FEE, valid_to=None)
    for day, holds in SAID.items():
        talk = talk_on(day, NEW, OLD, other)
        asked = Exchange(
            caller=new_masker().mask("渔船"),
            said=phrases.did_you_mean([OLD.question, other.question], ""),
            route=Route.CLARIFY,
            topic_id=OLD.id,
        )
        talk.dialogue = dataclasses.replace(talk.dialogue, history=(asked,), clarified=1)
        assert (await talk.say("登记"))[1].startswith(holds.answer)


@pytest.fixture
def own_words(tmp_path: Path) -> Path:
    """The operator's: boats and nets are things here."""
    file = tmp_path / "words.yaml"
    shipped = (ROOT / "configs/kb" / WORDS_AT).read_text("utf-8")
    file.write_text(shipped.replace("- 彩票\n", "- 彩票\n  - 渔船\n  - 渔网\n"), "utf-8")
    return file


def test_a_correction_between_an_operators_own_things_is_one(own_words: Path) -> None:
    words = load_words(own_words, ROOT / "configs/schema/gate.schema.json")
    assert what_counts("渔网怎么登记不对是渔船怎么登记", words) == "渔船怎么登记"
    assert what_counts("渔网怎么登记不对是渔船怎么登记") == "渔网怎么登记不对是渔船怎么登记"


async def test_the_operators_words_tell_an_objection_from_another_matter(own_words: Path) -> None:
    own, shipped = talk_on(BEFORE, words_file=own_words), talk_on(BEFORE)
    for talk in (own, shipped):
        await talk.say("渔船登记怎么办理")
    assert phrases.CHECKED_AGAIN not in (await own.say("你搞错了，渔网丢了"))[1]
    assert phrases.CHECKED_AGAIN in (await shipped.say("你搞错了，渔网丢了"))[1]
