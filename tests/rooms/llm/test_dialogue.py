"""Turns that mean something only after what was said before: corrections, bare follow-ups, several questions, complaints."""

from __future__ import annotations

import dataclasses

import pytest

from llm import phrases
from llm.joints import asked_in
from llm.types import Close, Entry, HandOver, Route
from tests.rooms.llm.test_mind import ANSWER, ENTRIES, Talk


def entry(entry_id: str, **changes: object) -> Entry:
    found = next(entry for entry in ENTRIES if entry.id == entry_id)
    return dataclasses.replace(found, **changes)  # type: ignore[arg-type]


FERRY = entry(
    "passport-apply",
    id="ferry",
    topic="轮渡",
    question="轮渡几点开",
    paraphrases=("轮渡怎么坐", "江上的轮渡在哪坐"),
    answer="早上六点到晚上九点，票价两元，在样例码头上船。",
    detail="",
)


@pytest.mark.parametrize(
    "wrong",
    [
        "不对",
        "不是",
        "不行",
        "不可以",
        "错了",
        "不对不对",
        "你说错了",
        "答非所问",
        "我问的不是这个",
        "你没回答我的问题",
        "你答错了吧",
    ],
)
@pytest.mark.parametrize(
    "before", [["居住证怎么办理", "好的"], ["居住证怎么办理"], []], ids=["offered more", "answered", "at first"]
)
async def test_who_says_that_it_was_wrong_is_asked_again_and_never_sent_off(wrong: str, before: list[str]) -> None:
    talk = Talk()
    for said in before:
        await talk.say(said)
    assert await talk.say(wrong) == (Route.CLARIFY, phrases.ASK_AGAIN)
    assert await talk.say("护照怎么办理") == (Route.HOT, ANSWER["passport-apply"])


@pytest.mark.parametrize("done", ["没有", "没了", "没有了", "不用了", "不需要了", "就这些", "不用", "退出", "不需要"])
async def test_who_has_nothing_more_is_done(done: str) -> None:
    talk = Talk()
    await talk.say("居住证怎么办理")
    await talk.say("好的")
    assert (await talk.say(done))[0] is Route.GOODBYE
    assert talk.end == Close()


async def test_who_wants_to_leave_is_asked_first() -> None:
    talk = Talk()
    await talk.say("居住证怎么办理")
    assert await talk.say("退出") == (Route.NOTED, phrases.WHAT_ELSE)


@pytest.mark.parametrize("said", ["还有个事", "我想问个事", "你好，我想咨询一下", "还有一个问题", "我有件事想问一下"])
async def test_who_announces_a_question_is_let_ask_it(said: str) -> None:
    assert await Talk().say(said) == (Route.NOTED, phrases.GO_AHEAD)


@pytest.mark.parametrize("said", ["听不懂，再说一遍", "没听清", "再说一遍", "你说啥", "没听懂", "什么意思", "没明白，慢点说"])
async def test_what_was_not_understood_is_said_again(said: str) -> None:
    talk = Talk()
    await talk.say("居住证怎么办理")
    assert await talk.say(said) == (Route.REPEAT, phrases.AGAIN + ANSWER["residence-permit-apply"])


@pytest.mark.parametrize("fee", ["要钱吗", "收费吗", "要不要钱", "花钱吗", "贵不贵", "那要多少钱"])
async def test_a_bare_question_about_the_fee_is_about_what_was_answered(fee: str) -> None:
    others = tuple(e for e in ENTRIES if e.id != "passport-apply")
    free = entry("residence-permit-apply", answer="带身份证到派出所办，首次和换发都不收费。", detail="")
    talk = Talk(entries=[free, FERRY, *(e for e in others if e.topic != free.topic)])
    await talk.say("居住证怎么办理")
    assert await talk.say(fee) == (Route.STORED, free.answer)
    await talk.say("轮渡几点开")
    assert await talk.say(fee) == (Route.STORED, FERRY.answer)


async def test_no_penalty_is_a_fee() -> None:
    parking = entry("passport-apply", answer="违停处二百元罚款。", detail="")
    talk = Talk(entries=[parking])
    await talk.say("护照怎么办理")
    assert (await talk.say("要钱吗"))[0] is Route.CLARIFY


@pytest.mark.parametrize("said", ["周末呢", "那周末呢", "要是周末的话呢"])
async def test_another_case_is_one_of_the_same_matter(said: str) -> None:
    pay = entry(
        "passport-apply",
        id="overtime",
        topic="加班费",
        question="加班费怎么算",
        paraphrases=("周末加班给多少",),
        answer="看哪天。",
        detail="",
    )
    talk = Talk(entries=[pay, *ENTRIES])
    await talk.say("加班费怎么算")
    assert await talk.say(said) == (Route.STORED, "看哪天。")


async def test_a_case_that_only_the_detail_names_is_read_from_it() -> None:
    talk = Talk(entries=[entry("passport-apply", detail="去台湾要另办通行证。")])
    await talk.say("护照怎么办理")
    assert await talk.say("那台湾呢") == (Route.STORED, "去台湾要另办通行证。")
    assert (await talk.say("那月球呢"))[0] is Route.CLARIFY


async def test_another_thing_is_no_case_of_the_matter() -> None:
    talk = Talk()
    await talk.say("居住证怎么办理")
    assert (await talk.say("身份证呢"))[1] != ANSWER["residence-permit-apply"]


def one_offer(**changes: object) -> Talk:
    """Its one entry is offered, not spoken: the caller names another place."""
    return Talk(entries=[entry("residence-permit-renew", region="样例市", **changes)])


async def test_a_follow_up_after_an_offer_takes_it_up() -> None:
    talk = one_offer()
    route, said = await talk.say("上海的居住证到期怎么续签")
    assert (route, "居住证" in said) == (Route.CLARIFY, True)
    route, said = await talk.say("要钱吗")
    assert route is Route.STORED
    assert "不收费" in said


async def test_what_the_offered_entry_does_not_state_is_said_to_be_unknown() -> None:
    talk = one_offer(answer="请到派出所签注。", detail="")
    await talk.say("上海的居住证到期怎么续签")
    assert await talk.say("多少钱") == (Route.STORED, "请到派出所签注。" + phrases.NOT_STATED)


async def test_a_follow_up_after_two_offers_asks_which() -> None:
    talk = Talk()
    assert (await talk.say("身份证"))[0] is Route.CLARIFY
    if "还是" in talk.dialogue.history[-1].said:
        assert await talk.say("要钱吗") == (Route.CLARIFY, phrases.WHICH_OF_TWO)


RESIDENCE, PASSPORT = ANSWER["residence-permit-apply"], ANSWER["passport-apply"]


@pytest.mark.parametrize(
    "said",
    [
        "居住证怎么办理，还有就是护照怎么办理",
        "居住证怎么办理，另外护照怎么办理",
        "居住证怎么办理另外我想再问一下护照怎么办理",
        "居住证怎么办理，顺便问一下护照怎么办理",
        "居住证怎么办理，还有护照怎么办理",
        "居住证怎么办理，护照怎么办理",
    ],
)
async def test_two_questions_are_answered_in_their_order(said: str) -> None:
    talk = Talk()
    assert await talk.say(said) == (Route.HOT, RESIDENCE + phrases.AND_THEN + PASSPORT)


async def test_of_two_questions_the_unknown_one_is_asked_for_again() -> None:
    assert await Talk().say("居住证怎么办理，另外火星上怎么落户") == (Route.HOT, RESIDENCE + phrases.ONE_AT_A_TIME)


@pytest.mark.parametrize(("next_step", "last"), [("person", phrases.NEEDS_PERSON), ("work_order", phrases.REGISTER)])
async def test_what_comes_after_the_first_answer_comes_after_both(next_step: str, last: str) -> None:
    talk = Talk(entries=[entry("residence-permit-apply", next_step=next_step), entry("passport-apply")])
    assert (await talk.say("居住证怎么办理，另外护照怎么办理"))[1] == RESIDENCE + phrases.AND_THEN + PASSPORT + last


async def test_the_question_after_a_story_is_found() -> None:
    story = "我上个月刚搬过来，房东人挺好，单位就在旁边，走路十分钟就到，"
    assert (await Talk().say(story + "护照怎么办理"))[1] == PASSPORT


@pytest.mark.parametrize(
    "story",
    ["我在上海交了好多年的社保，房东人挺好，", "我一直没有户口簿，房东人挺好，单位就在旁边，", "我刚从老家搬过来，房东人挺好，"],
)
async def test_a_story_may_speak_against_the_answer(story: str) -> None:
    route, said = await Talk().say(story + "护照怎么办理")
    assert (route, PASSPORT in said) == (Route.CLARIFY, False)


@pytest.mark.parametrize(
    ("said", "questions"),
    [
        ("居住证丢了，怎么补办", ()),
        ("居住证怎么办", ()),
        ("身份证丢了怎么办，户口簿要不要带", ()),
        ("居住证怎么办，另外公积金怎么取", ("居住证怎么办", "公积金怎么取")),
        ("我刚来，居住证怎么办", ("居住证怎么办",)),
        ("另外一个小区也能办居住证吗", ()),
        ("", ()),
    ],
)
def test_questions_of_a_turn(said: str, questions: tuple[str, ...]) -> None:
    assert asked_in(said).questions == questions


@pytest.mark.parametrize(
    "said", ["我要投诉，他们态度太差了", "我叫张伟，我要举报隔壁", "我要反映一个情况，楼上老往下扔东西", "我想投诉那个窗口"]
)
async def test_a_complaint_that_no_entry_answers_can_be_registered(said: str) -> None:
    talk = Talk(entries=[entry("passport-apply")])
    assert await talk.say(said) == (Route.CLARIFY, phrases.CAN_BE_REGISTERED + phrases.REGISTER)
    assert await talk.say("好的") == (Route.PERSON, phrases.TO_REGISTER)
    assert talk.end == HandOver(reason="asked", skill="work_order")


@pytest.mark.parametrize("detail", ["就在人民路", "幸福小区三号楼门口", "我叫张伟，手机号13900005678"])
async def test_who_tells_where_it_is_wants_it_registered(detail: str) -> None:
    talk = Talk(entries=[entry("passport-apply", next_step="work_order")])
    await talk.say("护照怎么办理")
    assert await talk.say(detail) == (Route.PERSON, phrases.TO_REGISTER)


async def test_a_matter_chosen_after_an_offer_can_be_registered() -> None:
    talk = one_offer(next_step="work_order")
    await talk.say("上海的居住证到期怎么续签")
    assert (await talk.say("是的"))[1] == ANSWER["residence-permit-renew"] + phrases.REGISTER
