"""Is the caller done? Words so far in, a judgement for the endpointer out. Pure text: knows nothing of audio or of answers.

Mandarin says at the end of a sentence whether it is one: a question or final particle closes it, a conjunction, a filler or a
preposition leaves it open. Digits are their own case: people dictate them in groups, with pauses of up to 2.5 s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from asr.guard import SHORT_ANSWERS, bare
from asr.types import Slot
from hotline.zh.numerals import DIGIT_OF

SLOT_DIGITS = {Slot.MOBILE: 11, Slot.ID_CARD: 18}
DICTATION_DIGITS = 3  # so many digits at the end are a number being read out
PERSONAL_NUMBERS = (11, 18)  # a mobile, an identity card: once whole, no more waiting
SERVICE_NUMBERS = frozenset((
    "110", "114", "119", "120", "122", "12110", "12122", "12123", "12305", "12306", "12309", "12315", "12320", "12328", "12329",
    "12333", "12345", "12348", "12355", "12356", "12366", "12369", "12378", "12388", "12389", "12393", "12395", "96110",
))  # fmt: skip
NUMBER_LEADS = (
    "电话是", "号码是", "手机是", "手机号是", "证号是", "卡号是", "编号是", "单号是", "身份证是", "我的电话", "我的手机号",
    "手机号码", "我的身份证号", "身份证号码",
)  # fmt: skip
OPEN_ENDS = (
    "因为", "所以", "但是", "可是", "不过", "而且", "然后", "还有", "就是", "就是说", "那个", "这个", "如果", "要是", "虽然",
    "比如", "比如说", "或者", "以及", "关于", "对于", "的话", "的时候", "我想", "我想问", "我想问一下", "我要问", "想咨询",
    "想问一下", "请问", "请问一下", "你好", "您好", "我说", "那我", "我的", "他的", "我们的", "我现在", "我昨天", "我今天",
    "我这个", "我那个", "我这边", "一个", "是不是", "能不能", "可不可以", "有没有", "住在", "位于", "首先", "第一",
    "和", "跟", "在", "把", "被", "从", "向", "给", "比", "或", "与", "及", "而", "嗯", "呃", "额", "叫", "是", "我", "想", "要",
)  # fmt: skip
CLOSED_ENDS = (
    "吗", "呢", "吧", "了", "呀", "嘛", "怎么办", "多少", "多少钱", "谢谢", "再见", "什么", "是什么", "哪里", "在哪", "在哪里",
    "哪儿", "怎么样", "几点", "多久", "没有", "可以", "不可以", "不行", "不用", "不是", "不要", "人工", "人工服务", "热线", "投诉",
    "材料", "手续", "电话号码", "怎么弄", "怎么提取", "怎么办理", "怎么报", "怎么查", "怎么交", "怎么申请", "怎么投诉",
)  # fmt: skip
QUESTION = re.compile(r"怎么|如何|什么|哪|几|多少|多久|为什么|是否|能不能|可不可以|要不要|有没有|需要")
MIN_CLAUSE = 5  # a question word in fewer characters may still be a beginning


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """complete None: nothing speaks for either. dictating: a number is being read out and is not whole."""

    complete: bool | None
    dictating: bool = False


def judge(text: str, slot: Slot = Slot.NONE) -> Judgement:
    """How these words end. slot: what the caller was asked for."""
    words = bare(text)
    if not words:
        return Judgement(complete=None)
    return _judge_digits(words, slot) or _judge_sentence(words)


def _judge_digits(words: str, slot: Slot) -> Judgement | None:
    """The digits' verdict; None where digits say nothing."""
    if words.endswith(NUMBER_LEADS):
        return Judgement(complete=False, dictating=True)
    tail = _digits_at_end(words)
    wanted = SLOT_DIGITS.get(slot)
    if wanted is not None and (spoken := sum(map(_is_digit, words))):
        if spoken >= wanted:
            return Judgement(complete=True)
        return Judgement(complete=False, dictating=True) if tail else None
    if len(tail) < (1 if slot is Slot.NUMBER else DICTATION_DIGITS):
        return None
    if len(tail) in PERSONAL_NUMBERS or (slot is Slot.NONE and tail in SERVICE_NUMBERS):
        return Judgement(complete=True)
    return Judgement(complete=False, dictating=True)


def _judge_sentence(words: str) -> Judgement:
    if words in SHORT_ANSWERS:
        return Judgement(complete=True)
    opened, closed = _longest(OPEN_ENDS, words), _longest(CLOSED_ENDS, words)
    if opened > closed:  # 就是 stays open although 是 answers, 有没有 although 没有 does
        return Judgement(complete=False)
    if closed or (len(words) >= MIN_CLAUSE and QUESTION.search(words)):
        return Judgement(complete=True)
    return Judgement(complete=None)


def _longest(ends: tuple[str, ...], words: str) -> int:
    return max((len(end) for end in ends if words.endswith(end)), default=0)


def _digits_at_end(words: str) -> str:
    tail = ""
    for character in reversed(words):
        if not _is_digit(character):
            break
        tail = DIGIT_OF.get(character, character) + tail
    return tail


def _is_digit(character: str) -> bool:
    return character in DIGIT_OF or character == "x"
