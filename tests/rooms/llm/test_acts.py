"""What a caller's short words do: a person, goodbye, repeat, yes and no. And what is none of these."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.dialogue_acts import Act, act_of, is_backchannel, is_thanks

PERSON = (
    *(
        "转人工",
        "我要找人",
        "叫个活人来",
        "不要机器人",
        "专人工",
        "砖人工",
        "转人公",
        "我要人工服务",
        "给我转人工客服",
    ),
    *(
        "人工",
        "找个真人跟我说",
        "我要跟真人说话",
        "接工作人员",
        "帮我接个人",
        "换个人来",
        "我不想跟机器人说话",
    ),
    *(
        "别跟我机器人了，叫你们工作人员来",
        "你听不懂，给我接个人",
        "我要找真人说话",
        "那你给我转吧",
        "转给律师或者人工吧",
    ),
    *(
        "叫你们领导来",
        "有没有活人啊",
        "能不能转一下人工",
        "麻烦帮我转接人工坐席",
        "客服",
        "我要找客服",
        "给我找个人来",
    ),
    *(
        "快转人工",
        "请工作人员接听",
        "我要真人服务",
        "来个人",
        "让工作人员跟我说",
        "找你们接线员",
        "轉人工",
    ),
)
NO_PERSON = (
    *(
        "人工费多少钱",
        "人工流产能报销吗",
        "不要转人工",
        "先别转人工",
        "我找工作找不到",
        "社保怎么转移",
        "户口怎么转",
    ),
    *(
        "我要找人修水管",
        "工作人员态度不好",
        "我上次找人办的居住证",
        "机器人编程在哪学",
        "居住证",
        "医保能转给家人吗",
    ),
    *("人工智能补贴怎么申请",),
)
GOODBYE = (
    *(
        "没有了",
        "谢谢",
        "再见",
        "就这样",
        "行了",
        "好谢谢啊",
        "好的，谢谢",
        "没有了谢谢",
        "嗯好的没事了",
        "在见",
        "写写",
    ),
    *(
        "没有别的了",
        "不用了谢谢",
        "那行吧就这样",
        "知道了谢谢",
        "拜拜",
    ),
)
REPEAT = (
    *(
        "再说一遍",
        "没听清",
        "慢一点",
        "大声点",
        "你说什么",
        "啊？没听清",
        "请再说一次",
        "能不能再说一遍",
        "说慢点",
    ),
    *(
        "听不清楚",
        "什么？",
        "你刚才说什么",
        "声音太小了",
    ),
)
QUESTIONS = (
    *(
        "居住证怎么办",
        "没有身份证怎么办",
        "谢谢你们上次帮忙，我还想问公积金",
        "行了我知道了那要多少钱",
        "对了医保怎么报",
    ),
    *(
        "什么时候上班",
        "好的那户口怎么迁",
    ),
)


@pytest.mark.parametrize("said", PERSON)
def test_asks_for_a_person(said: str) -> None:
    assert act_of(said) is Act.PERSON


@pytest.mark.parametrize("said", NO_PERSON)
def test_asks_for_no_person(said: str) -> None:
    assert act_of(said) is not Act.PERSON


@pytest.mark.parametrize("said", GOODBYE)
def test_is_done(said: str) -> None:
    assert act_of(said) in {Act.GOODBYE, Act.THANKS}


@pytest.mark.parametrize("said", REPEAT)
def test_wants_it_again(said: str) -> None:
    assert act_of(said) is Act.REPEAT


@pytest.mark.parametrize("said", QUESTIONS)
def test_a_question_is_no_act(said: str) -> None:
    assert act_of(said) is None


@pytest.mark.parametrize(
    ("said", "act"),
    [
        *[(said, Act.YES) for said in ("对", "是的", "嗯", "好", "对对对", "没错")],
        *[(said, Act.NO) for said in ("不是", "都不是", "不对", "两个都不是")],
        *[(said, Act.FIRST) for said in ("第一个", "前面那个", "对，第一个", "我问的是第一个")],
        *[(said, Act.SECOND) for said in ("第二个", "后一个", "我想问的是第二个")],
        ("转人工", Act.PERSON),
        ("没听清", Act.REPEAT),
        ("不用了谢谢", Act.GOODBYE),
    ],
)
def test_answers_our_question(said: str, act: Act) -> None:
    assert act_of(said, answering=True) is act


def test_a_long_turn_is_no_phrase_but_may_ask_for_a_person() -> None:
    assert act_of("谢谢" * 20) is None
    assert act_of("我都说了好几遍了你们这个东西根本就听不懂我在说什么赶紧给我转人工") is Act.PERSON


def test_punctuation_alone_is_nothing() -> None:
    assert act_of("，。") is None


def test_asks_whether_we_listen() -> None:
    assert act_of("喂喂，听得到吗") is Act.THERE


@pytest.mark.parametrize("said", ["嗯", "对", "好的", "哦", "是的", "嗯嗯", "对对对", "好好好", "嗯，好的", "這樣啊"])
def test_is_a_backchannel(said: str) -> None:
    assert is_backchannel(said)


@pytest.mark.parametrize("said", ["等等", "不对", "喂", "停", "转人工", "居住证", "好的但是", "不是", "", "，。"])
def test_is_no_backchannel(said: str) -> None:
    assert not is_backchannel(said)


def test_understood_alone_is_thanks() -> None:
    assert is_thanks("我知道了")
    assert not is_thanks("我知道了那要多少钱")


@given(st.text(max_size=60))
def test_no_words_break_it(said: str) -> None:
    act_of(said)
    act_of(said, answering=True)
    is_backchannel(said)


@pytest.mark.parametrize("heard", ["再研工", "制人工", "在研工", "麻烦你再研工", "站人工"])
def test_a_person_is_understood_as_the_recogniser_writes_it(heard: str) -> None:
    assert act_of(heard) is Act.PERSON


@pytest.mark.parametrize("question", ["在职工", "再施工", "职工医保怎么报销", "我在人工智能公司上班"])
def test_words_that_only_sound_near_are_no_request_for_a_person(question: str) -> None:
    assert act_of(question) is not Act.PERSON


@pytest.mark.parametrize(
    "said",
    [
        *("Bye bye", "bye-bye", "Goodbye!", "OK thank you 拜拜", "thank you", "Thank you very much", "ok thanks bye", "no thanks"),
        *("That's all, thank you", "see you", "好的 thank you", "谢谢你啊小姑娘", "谢谢小伙子", "那行吧先这样啊", "没别的事了"),
        *(
            "没别的事了谢谢你啊",
            "没啥事了",
            "没其他的了",
            "好嘞谢谢",
            "好嘞拜拜",
            "辛苦你了啊",
            "太感谢您了",
            "真的非常感谢",
            "谢了啊大姐",
        ),
        *("不麻烦你了", "那就到这里吧", "好了问完了", "暂时没有了", "谢谢您的耐心", "行行行就这样吧", "谢谢啦再见", "多谢多谢"),
        *("祝您工作顺利再见", "我没什么要问的了谢谢"),
    ],
)
def test_a_goodbye_as_people_say_it(said: str) -> None:
    assert act_of(said) in {Act.GOODBYE, Act.THANKS}


@pytest.mark.parametrize(
    "said", ["好嘞知道了", "哦了解了", "OK 知道了", "好的我记下了", "哦原来是这样啊", "嗯听明白了", "哦这样啊", "行我晓得了"]
)
def test_understood_as_people_say_it(said: str) -> None:
    assert is_thanks(said) or act_of(said) in {Act.YES, Act.GOODBYE}


@pytest.mark.parametrize(
    "said",
    [
        *("谢谢，再问一下要带什么", "谢谢你，那居住证呢", "麻烦你了我还想问医保", "没别的事就是问居住证", "谢谢请问要多少钱"),
        *(
            "thank you 那 passport 怎么办",
            "ok 居住证丢了",
            "不用谢我就问一下要钱吗",
            "再见面礼金要交税吗",
            "老师的职称怎么评",
            "今天上班吗",
        ),
        *("姑娘多大能结婚", "小伙子没工作能领补贴吗", "好的那多少钱", "知道了那要多久"),
    ],
)
def test_thanks_before_a_question_is_no_goodbye(said: str) -> None:
    assert act_of(said) is None
    assert not is_thanks(said)


@pytest.mark.parametrize("said", ["谢谢", "好的谢谢", "谢谢您", "太感谢了", "辛苦了", "知道了谢谢", "thank you"])
def test_thanks_alone_are_no_goodbye(said: str) -> None:
    assert act_of(said) is Act.THANKS


@pytest.mark.parametrize("said", ["没有了谢谢", "行了谢谢", "谢谢再见", "不用了谢谢", "好了好了谢谢您"])
def test_thanks_with_a_goodbye_are_one(said: str) -> None:
    assert act_of(said) is Act.GOODBYE


@pytest.mark.parametrize(
    "said",
    ["你是机器人吗", "你是真人吗", "您是不是机器人", "你是人还是机器", "请问你是人工吗", "你到底是不是真人", "是机器人在说话吗"],
)
def test_who_asks_whether_a_machine_speaks_is_told(said: str) -> None:
    assert act_of(said) is Act.ROBOT


@pytest.mark.parametrize("said", ["不要转人工", "先别转人工", "不用转人工了", "我不想转人工", "不需要人工服务", "别给我转客服"])
def test_who_wants_no_person_stays(said: str) -> None:
    assert act_of(said) is Act.NO_PERSON


@pytest.mark.parametrize("said", ["喂", "喂喂", "喂，你好"])
def test_hello_is_heard(said: str) -> None:
    assert act_of(said) is Act.THERE


@pytest.mark.parametrize("said", ["我是人", "是人工", "找真人"])
def test_who_speaks_of_people_does_not_ask_what_we_are(said: str) -> None:
    assert act_of(said) is not Act.ROBOT
