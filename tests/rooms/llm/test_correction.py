"""What callers take back in the middle of a turn, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.correction import what_counts


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ("居住证丢了，不对，是身份证丢了怎么办", "身份证丢了怎么办"),
        ("居住证丢了不对是身份证丢了怎么办", "身份证丢了怎么办"),
        ("居住证丢了，哦不，身份证丢了怎么办", "身份证丢了怎么办"),
        ("居住证丢了，错了错了，身份证丢了怎么补办", "身份证丢了怎么补办"),
        ("我要办护照，哦不是，是居住证怎么办理", "居住证怎么办理"),
        ("护照怎么办，我说错了我问的是居住证怎么办", "居住证怎么办"),
        ("护照怎么办。口误，应该是居住证怎么办", "居住证怎么办"),
        ("我问的不是居住证，是身份证丢了怎么办", "身份证丢了怎么办"),
        ("我丢的不是身份证是居住证怎么补", "居住证怎么补"),
        ("停水了，不是停水，是停电了怎么办", "停电了怎么办"),
        ("老人津贴，呃不对，生育津贴怎么领", "生育津贴怎么领"),
        ("我的护照，啊不，居住证，不是，身份证过期了怎么换", "身份证过期了怎么换"),
        ("居住證丟了，不對，是身份證丟了怎麼辦", "身份證丟了怎麼辦"),
        ("不对不对，我问的是居住证丢了怎么补办", "居住证丢了怎么补办"),
        ("你搞错了，我说的是身份证丢了", "身份证丢了"),
        ("我没问这个，我问的是医保怎么报销", "医保怎么报销"),
        ("不是这个，我要问医保怎么报销", "医保怎么报销"),
        ("不，我是想问公积金怎么提取", "公积金怎么提取"),
        ("不是不是，高龄津贴怎么申请", "高龄津贴怎么申请"),
        ("不对，我问的是光伏补贴", "光伏补贴"),
    ],
)
def test_what_follows_the_last_correction_counts(said: str, counts: str) -> None:
    assert what_counts(said) == counts


@pytest.mark.parametrize(
    "said",
    [
        "居住证怎么办理",
        "不对吧，你刚才说是3个工作日，那我后天来拿",
        "不对吧我觉得你搞错了",
        "不对吧，护照不是三天吗",
        "你搞错了，我朋友三天就拿到了",
        "不对，要多少钱",
        "居住证怎么办，不对，要多少钱",
        "老板不发工资不是违法的吗",
        "工资发得不对怎么投诉",
        "工资不对，是公司少发了怎么办",
        "身份证号码不对是不是要换",
        "户口本上名字错了怎么改",
        "我不是本地人，是外地户口能办居住证吗",
        "请问不是本地户口能办居住证吗",
        "是不是身份证丢了是要去派出所",
        "",
    ],
)
def test_what_is_no_correction_stays_whole(said: str) -> None:
    assert what_counts(said) == said


@given(st.lists(st.sampled_from([*"不是对错了，我问说的哦呃吧居住证护照怎么办。x〈〉"]), max_size=60).map("".join))
def test_it_gives_an_end_of_what_was_said(said: str) -> None:
    assert said.endswith(what_counts(said))


@pytest.mark.parametrize("piece", ["不", "不不，", "哦", "说错了", "不对是", "我问的是", "不是居，", "居住证，不对，"])
def test_hostile_repetition_ends(piece: str) -> None:
    said = (piece * 2000)[:2000]
    assert said.endswith(what_counts(said))
