"""The guard: what a recogniser invents is refused, each rule by its name, and what people say stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.guard import RULES, bare, refusal
from asr.types import Decoded

PROMPT = "以下是普通话的句子。"


def judged(
    text: str, *, avg_logprob: float = -0.3, no_speech_prob: float = 0.05, voiced_ms: int = 3000, hot_words: tuple[str, ...] = ()
) -> str | None:
    decoded = Decoded(text=text, avg_logprob=avg_logprob, no_speech_prob=no_speech_prob)
    return refusal(decoded, voiced_ms=voiced_ms, prompts=(PROMPT,), hot_words=hot_words)


@pytest.mark.parametrize(
    ("text", "voiced_ms"),
    [
        ("社保卡丢了怎么办", 1600),
        ("喂喂喂", 700),
        ("对对对", 600),
        ("对对对对对", 900),
        ("88888888", 2000),
        ("八八八八八八八八八八八", 3000),
        ("12355588888", 3500),
        ("慢慢来慢慢来", 1500),
        ("好的好的好的", 1000),
        ("我要投诉我要投诉", 1800),
        ("我想问一下公积金，我想问一下公积金怎么提取。", 4500),
        ("APP登录不了", 1400),
        ("ETC怎么注销", 1500),
        ("OK thank you", 900),
        ("唔该我想问下社保", 1800),
        ("幺三八零零幺三八零零零", 4000),
        ("谢谢", 500),
        ("谢谢谢谢", 700),
        ("普通话考试在哪里报名", 2000),
    ],
)
def test_what_people_say_stays(text: str, voiced_ms: int) -> None:
    assert judged(text, voiced_ms=voiced_ms) is None


@pytest.mark.parametrize("text", ["对", "好", "是", "嗯", "好的", "对。", "喂？"])
def test_one_syllable_said_in_a_fifth_of_a_second_stays_though_its_score_is_low(text: str) -> None:
    assert judged(text, voiced_ms=192, avg_logprob=-1.1) is None


def test_one_syllable_invented_for_noise_does_not() -> None:
    assert judged("我", voiced_ms=300, avg_logprob=-4.6) == "unsure"
    assert judged("好", voiced_ms=300, avg_logprob=-4.6) == "unsure"


@pytest.mark.parametrize("text", ["", "。", "... ... ... ...", "？！", "\u200b", "♪"])
def test_no_words(text: str) -> None:
    assert judged(text) == "no_words"


@pytest.mark.parametrize(("avg_logprob", "no_speech_prob"), [(float("nan"), 0.0), (-0.1, float("nan")), (float("-inf"), 0.1)])
def test_nan_score(avg_logprob: float, no_speech_prob: float) -> None:
    assert judged("社保卡丢了怎么办", avg_logprob=avg_logprob, no_speech_prob=no_speech_prob) == "nan_score"


def test_no_speech_above_0_6() -> None:
    assert judged("社保卡丢了怎么办", no_speech_prob=0.61) == "no_speech"
    assert judged("社保卡丢了怎么办", no_speech_prob=0.6) is None


@pytest.mark.parametrize("text", ["的比赛", "这些人都不想说话。", "社保卡丢了怎么办"])
def test_unsure_below_minus_1(text: str) -> None:
    assert judged(text, avg_logprob=-1.01) == "unsure"


def test_too_short_below_250_ms_of_voice() -> None:
    assert judged("天气", voiced_ms=249) == "too_short"
    assert judged("天气", voiced_ms=250) is None


def test_too_fast_above_9_characters_a_second() -> None:
    assert judged("今天天气真的很不错啊大家", voiced_ms=1000) == "too_fast"
    assert judged("今天天气真的很不错", voiced_ms=1000) is None


@pytest.mark.parametrize(
    "text",
    [
        "字幕由Amara.org社区提供",
        "字幕由 Amara.org 社群提供",
        "請不吝點贊 訂閱 轉發 打賞支持明鏡與點點欄目",
        "请不吝点赞 订阅 转发 打赏支持明镜与点点栏目",
        "明鏡需要您的支持 歡迎訂閱明鏡",
        "中文字幕志愿者 杨茜茜",
        "優優獨播劇場——YoYo Television Series Exclusive",
        "谢谢观看",
        "感谢观看，下期再见",
        "作词：李宗盛 作曲：李宗盛",
    ],
)
def test_boilerplate_in_either_script(text: str) -> None:
    assert judged(text, voiced_ms=6000) == "boilerplate"


@pytest.mark.parametrize(
    "text", ["谢谢谢谢谢谢谢谢谢谢", "我们的我们的我们的我们的我们的", "试" * 34, "下降下降下降下降下降", "是不是啊" * 4]
)
def test_loop(text: str) -> None:
    assert judged(text, voiced_ms=9000) in {"loop", "compressible"}


def test_compressible_above_ratio_2() -> None:
    long_piece = "这个办事大厅的工作人员告诉我们说要先去那边取一个号再排队"  # longer than the loop rule looks
    assert judged(long_piece * 4, voiced_ms=30_000) == "compressible"


@pytest.mark.parametrize("text", ["はい", "ありがとうございました", "네 감사합니다", "はい好"])
def test_foreign_script(text: str) -> None:
    assert judged(text) == "foreign_script"


@pytest.mark.parametrize("text", ["以下是普通话的句子。", "这位是普通话的句子。", "这位置是普通话的句子。", "以下是普通話的句子"])
def test_prompt_echo(text: str) -> None:
    assert judged(text) == "prompt_echo"


def test_recited_hot_words_are_an_echo_and_a_question_with_them_is_not() -> None:
    words = ("社保卡", "公积金", "居住证", "医保报销")
    assert judged("社保卡、公积金、居住证、医保报销", hot_words=words) == "prompt_echo"
    assert judged("公积金，社保卡，居住证，公积金，社保", hot_words=words) == "prompt_echo"
    assert judged("公积金", hot_words=words) is None
    assert judged("社保卡和公积金怎么转到居住证上", hot_words=words) is None


def test_without_a_length_the_rules_that_need_one_are_silent() -> None:
    decoded = Decoded(text="今天天气真的很不错啊大家", avg_logprob=-0.3, no_speech_prob=0.0)
    assert refusal(decoded, voiced_ms=None) is None


def test_every_rule_has_a_test_of_its_name() -> None:
    tested = {"nan_score", "no_words", "no_speech", "unsure", "too_short", "too_fast", "boilerplate", "loop", "compressible"}
    assert set(RULES) == tested | {"foreign_script", "prompt_echo"}


@given(st.text(max_size=200), st.floats(), st.floats(), st.integers(0, 60_000))
def test_any_text_is_judged_by_a_known_name(text: str, avg_logprob: float, no_speech_prob: float, voiced_ms: int) -> None:
    assert judged(text, avg_logprob=avg_logprob, no_speech_prob=no_speech_prob, voiced_ms=voiced_ms) in {None, *RULES}


@given(st.text(alphabet="0123456789幺零一二三四五六七八九〇", min_size=1, max_size=18))
def test_no_dictated_number_is_ever_taken_for_a_loop(digits: str) -> None:
    assert judged(digits, voiced_ms=len(digits) * 300) is None


def test_bare_words_have_no_width_case_script_or_marks() -> None:
    assert bare("ＡＰＰ 登錄，不了！") == "app登录不了"
