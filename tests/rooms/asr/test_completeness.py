"""Is the caller done? Mandarin sentences and numbers, as they stand at a pause."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.completeness import Judgement, judge
from asr.types import Slot

DONE = Judgement(complete=True)
OPEN = Judgement(complete=False)
UNKNOWN = Judgement(complete=None)
DICTATING = Judgement(complete=False, dictating=True)


@pytest.mark.parametrize(
    "text",
    [
        "社保卡丢了怎么办",
        "能帮我查一下吗？",
        "公积金怎么提取",
        "需要什么材料",
        "我已经交过了",
        "那就这样吧",
        "好的，谢谢。",
        "转人工",
        "对",
        "没有",
        "医保报销比例是多少",
        "请问有没有人上班",
        "居住证在哪里办",
        "公积金管理中心的电话号码是多少",
        "我打的是12345",
        "拨打幺二三四五",
    ],
)
def test_complete(text: str) -> None:
    assert judge(text) == DONE


@pytest.mark.parametrize(
    "text",
    [
        "我想问一下那个",
        "我没去，因为",
        "然后",
        "如果要办的话",
        "我的意思是",
        "我住在",
        "就是",
        "你好",
        "我想咨询一下，就是说",
        "我和",
        "嗯我想",
    ],
)
def test_incomplete(text: str) -> None:
    assert judge(text) == OPEN


@pytest.mark.parametrize("text", ["", "。。。", "楼下饭店油烟", "欢迎大家来体验"])
def test_nothing_speaks_for_either(text: str) -> None:
    assert judge(text) == UNKNOWN


@pytest.mark.parametrize("text", ["我的电话是", "我的手机号码是", "身份证号码", "我的电话是幺三八", "编号是123 5558", "幺三八零零"])
def test_dictating_without_being_asked(text: str) -> None:
    assert judge(text) == DICTATING


@pytest.mark.parametrize("text", ["幺三八零零幺三八零零零", "138 0013 8000", "我的电话是１３８００１３８０００"])
def test_a_whole_mobile_number_is_complete(text: str) -> None:
    assert judge(text) == DONE
    assert judge(text, Slot.MOBILE) == DONE


@pytest.mark.parametrize(
    ("text", "slot", "judgement"),
    [
        ("幺三八", Slot.MOBILE, DICTATING),
        ("12345", Slot.MOBILE, DICTATING),
        ("幺三八零零幺三八零零零", Slot.ID_CARD, DICTATING),
        ("一一零一零一一九零零零一零一一零五X", Slot.ID_CARD, DONE),
        ("5", Slot.NUMBER, DICTATING),
        ("我不想说", Slot.MOBILE, UNKNOWN),
        ("转人工", Slot.MOBILE, DONE),
        ("一三八那个", Slot.MOBILE, OPEN),
    ],
)
def test_in_a_slot_the_count_decides(text: str, slot: Slot, judgement: Judgement) -> None:
    assert judge(text, slot) == judgement


@given(st.text(max_size=100), st.sampled_from(Slot))
def test_any_text_gets_a_judgement_and_dictating_is_never_complete(text: str, slot: Slot) -> None:
    judgement = judge(text, slot)
    assert not (judgement.dictating and judgement.complete)
