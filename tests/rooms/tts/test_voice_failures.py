"""Readings that other voice bots were reported for: quantities dictated like phones, phones read as dates, digits lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline.zh.numerals import parse_number
from tts.normalise import to_speech

SAID = {
    # three digits are no phone
    "补贴500元": "补贴五百元",
    "2350元": "两千三百五十元",
    "28,000元": "两万八千元",
    "超过200项": "超过两百项",
    # a phone with an area code is no date, and a date no phone
    "请拨打 0551-12345678 咨询；也可拨 010-12345 转 2；2026-03-01 前办结": (
        "请拨打零五五幺幺二三四五六七八咨询；也可拨零幺零幺二三四五转二；二零二六年三月一日前办结"
    ),
    "0755-8234567": "零七五五八二三四五六七",
    "021-1234567": "零二幺幺二三四五六七",
    # an amount is no hotline
    "奖励10000元": "奖励一万元",
    "发放10000份": "发放一万份",
    "10086人": "一万零八十六人",
    "95588元": "九万五千五百八十八元",
    "请拨打12345热线": "请拨打幺二三四五热线",
    # years and durations
    "2026年": "二零二六年",
    "1998年": "一九九八年",
    "民国38年": "民国三十八年",
    "缴费满15年": "缴费满十五年",
    "2026-2027": "二零二六到二零二七",
    "2025-2026学年": "二零二五到二零二六学年",
    "二〇二六年三月": "二零二六年三月",
    # letters with digits
    "A座1203室": "A座幺二零三室",
    "5G网": "五G网",
    "K12路公交": "K十二路公交",
    "G1234次": "G幺二三四次",
    "京A12345": "京A幺二三四五",
    # the hyphen's meanings
    "3比2": "三比二",
    "-5℃": "零下五摄氏度",
    "税率5%-12%，3-5个工作日，9:00-17:30，A-1窗口": "税率百分之五到百分之十二，三到五个工作日，九点到十七点三十分，A杠一窗口",
}

NAMES_NEAR_QUANTITIES = {
    "每天限号200个": "每天限号两百个",
    "限号200": "限号两百",
    "限号10000个": "限号一万个",
    "挂号15元": "挂号十五元",
    "请带身份证，15日内办理": "请带身份证，十五日内办理",
    "凭身份证，2026-03-01前办理": "凭身份证，二零二六年三月一日前办理",
    "持身份证，80周岁以上老人可申请": "持身份证，八十周岁以上老人可申请",
    "带身份证，12、13号窗口": "带身份证，十二、十三号窗口",
    "身份证10年换一次": "身份证十年换一次",
    "护照20本": "护照二十本",
    "银行卡10张": "银行卡十张",
    "网点10-20个": "网点十到二十个",
    "密码10次输错锁定": "密码十次输错锁定",
    "验证码60秒内有效": "验证码六十秒内有效",
    "3月12号15点开门": "三月十二号十五点开门",
    "编号2026-2027年度": "编号二零二六到二零二七年度",
    "编号2026-2027": "编号二零二六杠二零二七",
    "取件码12-3456": "取件码幺二杠三四五六",
    "验证码是，8086": "验证码是，八零八六",
    "尾号1234本人": "尾号幺二三四本人",
    "尾号1234次日到账": "尾号幺二三四次日到账",
    "尾号1234人工服务": "尾号幺二三四人工服务",
    "尾号1234月账单": "尾号幺二三四月账单",
    "尾号分别为1234、5678": "尾号分别为幺二三四、五六七八",
    "编号0012个": "编号零零幺二个",
    "密码是8位": "密码是八位",
}


@pytest.mark.parametrize(("shown", "said"), SAID.items(), ids=list(SAID))
def test_what_others_read_wrongly_is_read_rightly(shown: str, said: str) -> None:
    assert to_speech(shown) == said


@pytest.mark.parametrize(("shown", "said"), NAMES_NEAR_QUANTITIES.items(), ids=list(NAMES_NEAR_QUANTITIES))
def test_a_count_behind_the_word_for_a_number_is_a_count_and_a_number_is_dictated(shown: str, said: str) -> None:
    assert to_speech(shown) == said


@given(
    st.sampled_from(["身份证", "银行卡", "护照", "网点", "密码", "验证码", "每天限号", "微信群", "编号", "身份证，"]),
    st.integers(1, 99_999),
    st.sampled_from(["个", "元", "张", "次", "天", "分钟", "条", "工作日内"]),
)
def test_any_count_behind_the_word_for_a_number_keeps_its_value(word: str, count: int, unit: str) -> None:
    assert parse_number(to_speech(f"{word}{count}{unit}").removeprefix(word).removesuffix(unit)) == count


@given(st.from_regex(r"0(?:10|2[0-9]|[3-9][0-9]{2})-[1-9][0-9]{4,7}", fullmatch=True))
def test_any_phone_with_an_area_code_keeps_every_digit_and_holds_no_date(phone: str) -> None:
    said = to_speech(f"请拨打{phone}咨询").removeprefix("请拨打").removesuffix("咨询")
    assert not re.search("[年月日减负十百千万]", said)
    assert len(said) == len(phone) - 1


@pytest.mark.parametrize("shown", ["3号楼2单元501", "A座1203室", "G1234次", "京A12345", "请拨打10000号", "尾号0023"])
def test_no_digit_of_a_name_is_lost(shown: str) -> None:
    assert len(re.findall("[零一二三四五六七八九幺]", to_speech(shown))) == len(re.findall(r"\d", shown))


def test_only_the_cold_is_negative() -> None:
    for shown in ("5%-12%", "3-5个工作日", "9:00-17:30", "2026-2027", "010-12345", "第3-5条", "A-1窗口", "5～12万元"):
        assert not re.search("[负减]|零下", to_speech(shown))
