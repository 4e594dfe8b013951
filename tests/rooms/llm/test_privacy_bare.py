"""A number that nobody announced, dictated over turns: what follows its first group is masked, and answers stay."""

import pytest

from llm.privacy import CallMasker


def call(*turns: str) -> list[str]:
    masker = CallMasker(mask_budget_ms=60_000)
    return [masker.mask(turn).text for turn in turns]


@pytest.mark.parametrize(
    "turns",
    [
        ("139", "1234", "5678"),
        ("一三九", "一二三四", "五六七八"),
        ("１３９。", "１２３４。", "嗯，５６７８。"),
        ("139", "12", "34", "56", "78"),
        ("139", "12345", "678"),
        ("1391", "2345", "678"),
        ("1958", "1234", "567"),
        ("010", "8800", "1234"),
        ("零五七一", "八八零零", "一二三四"),
        ("330", "106", "1962", "1119", "005X"),
        ("6228", "4803", "6591", "7248", "061"),
    ],
)
def test_from_the_second_group_on_it_is_masked(turns: tuple[str, ...]) -> None:
    first, *then = call(*turns)
    assert first == turns[0]
    assert all("〈" in each for each in then)
    assert not any(each.isdigit() or each in "零一二三四五六七八九" for each in "".join(then).replace("·1", ""))


def test_the_last_group_makes_it_what_it_is_and_ends_it() -> None:
    assert call("139", "1234", "5678", "5") == ["139", "〈号码·1〉", "〈手机号·1〉", "5"]


def test_two_turns_may_come_between() -> None:
    assert call("139", "等一下", "我看看", "1234") == ["139", "等一下", "我看看", "〈号码·1〉"]
    assert call("139", "等一下", "我看看", "在哪呢", "1234")[4] == "1234"


def test_it_is_another_number_than_the_one_before() -> None:
    assert call("我电话是13900005678", "158", "0000", "1234") == ["我电话是〈手机号·1〉", "158", "〈号码·1〉", "〈手机号·2〉"]


@pytest.mark.parametrize(
    "turns",
    [
        ("三个月", "2024年", "12345", "5", "四分", "1", "2"),
        ("139", "5", "三个月", "2024年"),
        ("2", "3", "1"),
        ("2023", "2024"),
        ("1500", "2000"),
        ("150", "200"),
        ("350", "12345"),
        ("110", "120", "12345"),
        ("350", "不对，是 450"),
        ("三百五", "四百二"),
        ("房子有120平", "租金3200块", "租了350天"),
    ],
)
def test_answers_stay(turns: tuple[str, ...]) -> None:
    assert call(*turns) == list(turns)


def test_nothing_raw_shows_in_a_repr() -> None:
    masker = CallMasker(mask_budget_ms=60_000)
    masker.mask("139")
    assert "139" not in repr(vars(masker))
