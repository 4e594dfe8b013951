"""Generated words are spoken only if the passages carry them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.checks import check_clause
from llm.clauses import clauses
from llm.figures import figures
from llm.knowledge import load
from llm.privacy import CallMasker
from llm.relevance import answers, repeats
from llm.types import Entry, Passage

RESIDENCE = "居住证每年签注一次。持证人在届满前一个月内，带居住证和住所证明到居住地派出所办理签注，不收费。"
FUND = "连续足额缴存住房公积金满三个月，本人及配偶在本市无自有住房且租房的，可以提取公积金支付房租，每季度可提取一次。"
ALLOWANCE = (
    "本市户籍八十周岁以上老人可申请高龄津贴，八十至八十九周岁每人每月一百元，九十周岁以上每人每月二百元，向户籍所在街道申请。"
)
HOURS = "区政务服务大厅周一至周五上午八点半到十二点、下午一点半到五点半对外办公，周六上午九点到十二点办理个人事项。"
ARBITRATION = "劳动争议申请仲裁的时效期间为一年。劳动仲裁不收费。申请时提交仲裁申请书、身份证明和证据材料。"
NOISE = "夜间二十二点至次日六点禁止在居民区进行产生噪声的建筑施工作业，抢修抢险和经批准的除外。"
ABROAD = "参保人可在国家医保服务平台应用或参保地经办窗口办理异地就医备案，备案后持社保卡直接结算。"
INSURANCE = (
    "报销比例为百分之七十五，起付线800元，年度最高支付限额3.25万元。咨询电话0571-85000012，也可拨打12345。2026年3月1日起施行。"
)
QUESTION = CallMasker(mask_budget_ms=60_000).mask("我的手机号是13900005678，怎么办")


def passages(*answers: str) -> tuple[Passage, ...]:
    return tuple(
        Passage(entry=Entry(id="x", topic="", question="", paraphrases=(), answer=answer, source=""), score=1.0)
        for answer in answers
    )


def rules(clause: str, *answers: str) -> set[str]:
    return {finding.rule for finding in check_clause(clause, passages(*answers), QUESTION)}


@pytest.mark.parametrize(
    ("answer", "clause"),
    [
        (RESIDENCE, "居住证每年签注一次，带居住证和住所证明到居住地派出所办理。"),
        (RESIDENCE, "办理签注免费。"),
        (RESIDENCE, "不收取费用，到派出所办理就行。"),
        (FUND, "您可以提取公积金付房租，每个季度一次。"),
        (FUND, "需要连续缴满3个月。"),
        (ALLOWANCE, "80岁以上每月100元，90岁以上每月200元。"),
        (HOURS, "周六上午9点到12点可以办个人事项。"),
        (HOURS, "上午八点半到十二点，下午1:30到5:30。"),
        (HOURS, "8:30到12:00办公"),
        (ARBITRATION, "时效是一年，仲裁不收费。"),
        (ARBITRATION, "请准备申请书、身份证明和证据材料。"),
        (NOISE, "晚上22点到第二天6点不能施工。"),
        (NOISE, "居民区夜间禁止施工，抢险除外。"),
        (ABROAD, "一般先备案，再持社保卡直接结算。"),
        (INSURANCE, "报销75%，起付线八百元。"),
        (INSURANCE, "最高32500元。"),
        (INSURANCE, "请拨打零五七一八五零零零零一二，或者幺二三四五。"),
        (INSURANCE, "最高三万二千五百元。"),
        (INSURANCE, "二零二六年三月一日起施行。"),
        (INSURANCE, "一般来说，您一次就能办好，万一不行再来一趟。"),
        (RESIDENCE, "在到期前1个月内办。"),
    ],
)
def test_what_the_passage_says_is_spoken(answer: str, clause: str) -> None:
    assert rules(clause, answer) == set()


@pytest.mark.parametrize(
    ("answer", "clause", "broken"),
    [
        (RESIDENCE, "居住证每两年签注一次。", {"number"}),
        (RESIDENCE, "办理签注要收费。", {"polarity"}),
        (RESIDENCE, "工本费二十元。", {"number"}),
        (FUND, "不可以提取公积金付房租。", {"polarity"}),
        (FUND, "连续缴满六个月就行。", {"number"}),
        (ALLOWANCE, "每月三百元。", {"number"}),
        (ALLOWANCE, "每人每月一百二十元。", {"number"}),
        (HOURS, "周六上午九点到十一点。", {"number"}),
        (HOURS, "早上七点半开门", {"number"}),
        (ARBITRATION, "仲裁时效是两年。", {"number"}),
        (ARBITRATION, "您一定能赢。", {"promise"}),
        (ARBITRATION, "我们保证给您解决。", {"promise"}),
        (NOISE, "夜间可以施工。", {"polarity"}),
        (ABROAD, "资料：参保人可在…", {"prompt_residue"}),
        (ABROAD, "作为AI语言模型，我无法回答。", {"prompt_residue", "refusal"}),
        (ABROAD, "<|im_end|>", {"prompt_residue"}),
        (ABROAD, "根据提供的资料，备案即可。", {"prompt_residue"}),
        (ABROAD, "您的〈手机号·1〉已登记", {"masked_echoed"}),
        (ABROAD, "您的〈手机号·2〉已登记", {"placeholder_invented"}),
        (ABROAD, "资料中没有提到这个问题。", {"prompt_residue", "refusal"}),
        (ABROAD, "很抱歉，我不知道。", {"refusal"}),
        (ABROAD, "依据《社会保险法》办理。", {"citation"}),
        (INSURANCE, "报销百分之八十五。", {"number"}),
        (INSURANCE, "最高3.25元。", {"number"}),
        (INSURANCE, "最高三十二万五千元。", {"number"}),
        (INSURANCE, "电话0571-85000013", {"number"}),
        (INSURANCE, "3月11日起施行", {"number"}),
        (INSURANCE, "肯定赔您八百元。", {"promise"}),
        (RESIDENCE, "You should go to the police station now", {"foreign"}),
        (RESIDENCE, "。", {"nothing"}),
        (RESIDENCE, "这个要带户口本的复印件3份", {"number"}),
        (NOISE, "二十一点后禁止施工", {"number"}),
    ],
)
def test_what_it_does_not_say_is_held_back(answer: str, clause: str, broken: set[str]) -> None:
    assert rules(clause, answer) - {"entity", "unsupported"} == broken  # these speak up beside others


@pytest.mark.parametrize(
    "reply",
    [
        "需要自杀危机干预可以拨打幺二三五六心理援助热线，也可以立即拨打幺二零。",
        "殴打他人的，公安机关可以依法处以拘留并处罚款，请您尽快到辖区派出所报案。",
        "如发现赌博窝点，您可以匿名举报，我们会为您保密。",
        "对信访答复不服的，可以在三十日内申请复查。",
        "依据《中华人民共和国社会保险法》，缴费满十五年的，可以按月领取。",
        "请保证材料真实，提供虚假材料的，一定期限内不得再次申请。",
        RESIDENCE,
        FUND,
        ALLOWANCE,
        HOURS,
        NOISE,
        INSURANCE,
    ],
)
def test_official_words_pass_their_own_check(reply: str) -> None:
    assert rules(reply, reply) == set()


def test_the_passage_that_speaks_of_it_decides() -> None:
    answer = "本人可以到窗口办理。委托他人办理的，不可以网上提交。"
    assert rules("委托他人可以网上提交。", answer) == {"polarity"}
    assert rules("本人可以到窗口办理。", answer) == set()


def test_everybodys_numbers_need_no_passage_but_amounts_do() -> None:
    assert rules("紧急情况请拨打110。", RESIDENCE) == set()
    assert rules("请拨打幺二零。", RESIDENCE) == set()
    assert rules("每月一百二十元。", RESIDENCE) == {"number"}
    assert rules("要带110份材料。", RESIDENCE) == {"number"}


def test_a_broken_placeholder_is_an_invention() -> None:
    assert "placeholder_invented" in rules("您的〈手机号", RESIDENCE)


def test_control_characters_are_not_spoken() -> None:
    assert "control" in rules("办理签注\x07免费。", RESIDENCE)


def test_without_passages_no_figure_is_spoken() -> None:
    assert rules("需要三个工作日。") == {"number"}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("百分之七十五", [("75", "%")]),
        ("百分之三点五", [("3.5", "%")]),
        ("百分之3.50", [("3.5", "%")]),
        ("12.50%", [("12.5", "%")]),
        ("三万二", [("32000", "")]),
        ("3万2", [("32000", "")]),
        ("3万2500元", [("32500", "元")]),
        ("3.25万元", [("32500", "元")]),
        ("12,000元", [("12000", "元")]),
        ("八点半", [("8", "点"), ("30", "分")]),
        ("8:05", [("8", "点"), ("5", "分")]),
        ("八点三十分", [("8", "点"), ("30", "分")]),
        ("二点五倍", [("2.5", "倍")]),
        ("二零二六年", [("2026", "年")]),
        ("0571-8500 0012", [("057185000012", "")]),
        ("13900005678", [("13900005678", "")]),
        ("三点十分", [("3", "点"), ("10", "分")]),
        ("第二天一般十分方便，万一不行", []),
        ("十分钟", [("10", "分")]),
        ("一份", []),
    ],
)
def test_figures_have_one_form(text: str, values: list[tuple[str, str]]) -> None:
    assert [(figure.value, figure.unit) for figure in figures(text)] == values


@given(st.text(max_size=120), st.text(max_size=120))
def test_it_never_raises(clause: str, answer: str) -> None:
    rules(clause, answer)


@given(st.text("零一二三十百千万亿点两幺0123456789.,:%年月元分之", max_size=40))
def test_any_heap_of_numerals_is_read(text: str) -> None:
    figures(text)


@given(st.text("可以不能收费免需要无报销超过以上下满已，。", min_size=1, max_size=40))
def test_a_text_never_contradicts_itself(text: str) -> None:
    assert not rules(text, text) & {"number", "polarity", "refusal", "promise"}


WAGES = "可以向劳动监察投诉。"
SOURCE = "《中华人民共和国劳动合同法》第三十条（2012-12-28版）；《中华人民共和国劳动合同法》第八十五条（2012-12-28版）"


@pytest.mark.parametrize(
    ("clause", "found"),
    [
        ("按照《劳动合同法》第三十条，可以向劳动监察投诉。", set()),
        ("按照劳动合同法第85条，可以投诉。", set()),
        ("按照劳动合同法，可以投诉。", set()),
        ("按照《劳动合同法》第三十一条，可以投诉。", {"number", "citation"}),
        ("按照劳动法第三十条，可以投诉。", {"citation"}),
        ("按照《劳动者保护法》第三十条，可以投诉。", {"citation"}),
        ("二十八日内投诉。", {"number"}),
    ],
)
def test_a_clause_cites_only_the_articles_that_its_passage_rests_on(clause: str, found: set[str]) -> None:
    entry = Entry(id="x", topic="", question="", paraphrases=(), answer=WAGES, source=SOURCE)
    assert {each.rule for each in check_clause(clause, (Passage(entry=entry, score=1.0),), QUESTION)} == found


@pytest.mark.parametrize(
    ("answer", "clause", "broken"),
    [
        (ALLOWANCE, "带老年证到街道申请。", "entity"),
        (ALLOWANCE, "每月打到老年卡上。", "entity"),
        (ALLOWANCE, "到社区服务中心申请。", "entity"),
        (ALLOWANCE, "可以领取养老金。", "entity"),
        (ALLOWANCE, "向民政局申请。", "entity"),
        (RESIDENCE, "带身份证到派出所办理。", "entity"),
        (RESIDENCE, "到出入境管理局办理签注。", "entity"),
        (RESIDENCE, "带房产证到派出所办理。", "entity"),
        (RESIDENCE, "带电子居住证办理。", "entity"),
        (FUND, "可以提取公积金交物业费。", "entity"),
        (ARBITRATION, "到法院提交仲裁申请书。", "entity"),
        (ABROAD, "拨打医保热线备案。", "entity"),
        (ABROAD, "在支付宝小程序上备案。", "unsupported"),
        (ABROAD, "低保人员不用备案。", "unsupported"),
        (ALLOWANCE, "残疾人可以申请高龄津贴。", "unsupported"),
        (ALLOWANCE, "外地户籍老人可以申请。", "condition"),
        (RESIDENCE, "在届满后一个月内办理签注。", "condition"),
        (FUND, "本人及配偶有自有住房的，可以提取公积金。", "condition"),
        (ALLOWANCE, "八十至八十九周岁每人每月二百元。", "row"),
    ],
)
def test_a_paper_an_office_a_group_or_a_condition_from_nowhere_is_held_back(answer: str, clause: str, broken: str) -> None:
    assert broken in rules(clause, answer)


def test_what_only_the_caller_named_is_nothing_to_rest_on() -> None:
    asked = CallMasker(mask_budget_ms=60_000).mask("我只有老年证，高龄津贴怎么领")
    found = check_clause("带老年证到街道申请。", passages(ALLOWANCE), asked)
    assert {finding.rule for finding in found} == {"entity"}
    asked = CallMasker(mask_budget_ms=60_000).mask("经营性公墓一个多少钱")
    found = check_clause("经营性公墓每个三千元起。", passages("公益性公墓每个三千元起。"), asked)
    assert {finding.rule for finding in found} == {"unsupported"}


@pytest.mark.parametrize(
    ("answer", "clause"),
    [
        ("持居民身份证到户籍所在地办理。", "带身份证去办。"),
        ("停发失业保险金。", "失业金停发。"),
        ("带户口簿办理。", "带上户口本就行。"),
        ("每年最高两万元。", "一年最高两万元。"),
    ],
)
def test_short_forms_and_other_names_of_the_same_thing_are_spoken(answer: str, clause: str) -> None:
    assert rules(clause, answer) == set()


def test_every_sentence_of_the_knowledge_base_passes_with_its_own_entry() -> None:
    held_back = []
    for entry in load(Path(__file__).resolve().parents[3] / "configs" / "kb"):
        for text in (entry.answer, entry.detail):
            before = ""
            for clause in clauses(text):
                found = check_clause(clause, (Passage(entry=entry, score=1.0),), QUESTION)
                held_back += [f"{entry.id}: {clause} {found}"] if found or repeats(clause, before) else []
                before += clause
    assert held_back == []


def test_most_stored_answers_say_what_their_own_question_asks_for() -> None:
    entries = load(Path(__file__).resolve().parents[3] / "configs" / "kb")
    beside_the_point = [entry.id for entry in entries if not answers(entry.question, entry.answer + entry.detail)]
    assert beside_the_point == []
