"""What callers say when they are asked how they found the call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.grade import NO_GRADE, grade_of

GRADES = {
    5: "非常满意 很满意 五分 5分 五 5 给五星 五颗星 五星好评 我打五分 嗯非常满意谢谢 十分满意 很好 满分 我选五 按5 五分吧 午分",
    4: "满意 满意的 四分 4 四颗星 挺好的 挺好 不错 比较满意 挺满意的 我觉得满意 满意谢谢 慢意 服务挺好的",
    3: "基本满意 一般 一般般 三分 3 还行 还可以 还好 凑合 马马虎虎 三颗星",
    2: "不满意 不太满意 不怎么满意 二分 两分 2 不好 我不满意 不怎么样",
    1: "非常不满意 很不满意 一分 1 一星 一颗星 太差了 差评 一点都不满意 零分 我非常不满意",
    NO_GRADE: "不评价 不评价了 不用了 不用评价 算了 再见 没有了 谢谢 谢谢再见 不想评价 不用了谢谢 拜拜",
}


@pytest.mark.parametrize(("grade", "said"), [(grade, said) for grade, all_said in GRADES.items() for said in all_said.split()])
def test_a_grade_is_heard_as_people_say_it(grade: int, said: str) -> None:
    assert grade_of(said) == grade
    assert grade_of(f"嗯，{said}。") == grade


@pytest.mark.parametrize(
    "said",
    [
        *("居住证怎么办理", "满意，不过我还想问一下社保", "不满意，你根本没解决我的问题", "五分钟能办好吗", "好的", "嗯", "喂", ""),
        *("十分", "我家着火了", "转人工", "一会儿再说这个五的事", "我要投诉", "评价什么", "什么", "12345"),
    ],
)
def test_what_is_no_grade_is_none(said: str) -> None:
    assert grade_of(said) is None


@given(st.text(max_size=40))
def test_no_text_at_all_raises(said: str) -> None:
    assert grade_of(said) in {None, 0, 1, 2, 3, 4, 5}
