"""Citations: found in a text, and each judged against the law table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.citation_scan import folded, grouped, scan
from llm.citations import Verdict, check_citations, verdict_of
from llm.laws import LawTable
from tests.rooms.llm.laws_for_tests import real_table, small_table

TODAY = dt.date(2026, 12, 2)


@pytest.fixture
def laws(tmp_path: Path) -> Iterator[LawTable]:
    with small_table(tmp_path) as table:
        yield table


@pytest.fixture(scope="module")
def real_laws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LawTable]:
    with real_table(tmp_path_factory.mktemp("laws")) as table:
        yield table


def found(text: str) -> list[tuple[str, str]]:
    known = {"劳动合同法", "劳动法", "民法典", "刑法", "婚姻法", "香港特别行政区基本法"}
    return [(each.law, each.article) for each in scan(folded(text), lambda name: name in known)]


@pytest.mark.parametrize(
    ("text", "citations"),
    [
        ("《劳动合同法》第八十二条第一款", [("劳动合同法", "第八十二条")]),
        ("劳动合同法82条", [("劳动合同法", "第八十二条")]),
        ("根据我国劳动合同法的第８２条", [("劳动合同法", "第八十二条")]),
        ("《民法典》第一千零七十六条、第一千零七十七条", [("民法典", "第一千零七十六条"), ("民法典", "第一千零七十七条")]),
        ("《劳动法》第三十六条和《劳动合同法》第三十一条", [("劳动法", "第三十六条"), ("劳动合同法", "第三十一条")]),
        ("《劳动合同法》第三十条要求付工资，该法第八十五条规定加付", [("劳动合同法", "第三十条"), ("劳动合同法", "第八十五条")]),
        ("《劳动合同法》第九十条规定，违反本法第三十条、第三十一条的要赔", [("劳动合同法", "第九十条")]),
        ("《民法典》婚姻家庭编第一千零七十六条", [("民法典", "第一千零七十六条")]),
        ("刑法第一百三十三条之一", [("刑法", "第一百三十三条之一")]),
        ("（香港特别行政区基本法第六十条）", [("香港特别行政区基本法", "第六十条")]),
        ("根据婚姻法，感情破裂就能离", [("婚姻法", "")]),
        ("根据劳动者保护法的规定", [("劳动者保护法", "")]),
        ("《物业管理条例》怎么说", [("物业管理条例", "")]),
        ("根据这个方法，第三条路最近，办法总比困难多", []),
        ("劳动合同第五条写的是试用期", []),
        ("我看了《红楼梦》第三回，要带三条毛巾", []),
        ("违法的事不能做", []),
    ],
)
def test_citations_are_found_in_every_way_of_writing_them(text: str, citations: list[tuple[str, str]]) -> None:
    assert found(text) == citations


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("《劳动法》第三十六条规定每天八小时。另外还要休息。", ["规定每天八小时"]),
        ("每天八小时（《劳动法》第三十六条）。", ["每天八小时("]),
        ("《劳动法》第三十六条、《劳动合同法》第三十一条都规定每天八小时", ["都规定每天八小时"]),
        ("《劳动法》第三十六条说每天八小时，《刑法》第一百三十三条说醉驾要罚", ["说每天八小时,", "说醉驾要罚"]),
        ("《劳动法》第三十六条", [""]),
    ],
)
def test_a_claim_is_the_rest_of_the_sentence_or_what_stands_before(text: str, claims: list[str]) -> None:
    plain = folded(text)
    assert [each.claim for each in grouped(plain, scan(plain, lambda name: name.endswith("法")))] == claims


@given(st.text(alphabet="《》第一二三百条之法典根据劳动合同、，。（）本该款项 1", max_size=300))
def test_any_text_is_scanned_and_what_is_found_stands_in_it(text: str) -> None:
    plain = folded(text)
    for each in scan(plain, lambda name: name == "劳动合同法"):
        assert 0 <= each.start < each.end <= len(plain)


def test_a_finding_says_what_helps(laws: LawTable) -> None:
    def why(text: str) -> str:
        (finding,) = check_citations(text, laws, TODAY)
        return f"{finding.verdict.value}: {finding.why}"

    assert why("《噪声污染防治法》第六十四条") == (
        "repealed: 中华人民共和国噪声污染防治法 is repealed since 2026-08-15, replaced by 中华人民共和国生态环境法典"
    )
    assert why("《劳动合同法》第九十九条") == "no_such_article: 中华人民共和国劳动合同法 ends with 第八十二条"
    assert why("《医疗保障法》第三条") == "not_yet_in_force: 中华人民共和国医疗保障法 is in force from 2027-01-01"
    assert why("《劳动合同保护法》第三条") == "no_such_law: no law is called so; near it is 中华人民共和国劳动合同法"
    assert why("《劳动合同法》第八十二条，每月支付三倍工资") == "text_mismatch: not in the article: 三倍"
    assert why("《劳动合同法》第三十七条，每满一年支付经济补偿") == "text_mismatch: not in the article: 一年"
    assert why("《劳动合同法》第八十二条，提前以书面形式通知用人单位可以解除劳动合同") == (
        "text_mismatch: it is 第三十七条 that says so"
    )
    assert why("《物业管理条例》第四十一条").startswith("unverified: ")


def test_the_day_decides(laws: LawTable) -> None:
    said = "《商标法》第三十九条，注册商标的有效期为十年。"
    assert verdict_of(said, laws, TODAY) is Verdict.OK
    assert verdict_of(said, laws, dt.date(2027, 1, 1)) is Verdict.NO_SUCH_ARTICLE
    noise = "《噪声污染防治法》第六十四条，禁止使用高音广播喇叭。"
    assert verdict_of(noise, laws, dt.date(2026, 8, 1)) is Verdict.OK
    assert verdict_of(noise, laws, TODAY) is Verdict.REPEALED


@pytest.mark.models
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("根据《劳动合同法》第三十七条，劳动者提前三十日以书面形式通知用人单位，可以解除劳动合同。", "ok"),
        ("劳动合同法第三十七条规定，辞职要提前三十天书面通知公司。", "ok"),
        ("《中华人民共和国劳动合同法》第四十七条：每满一年支付一个月工资的经济补偿，六个月以上不满一年的按一年计算。", "ok"),
        ("《劳动合同法》第四十七条，工作不满半年的，支付半个月工资作为经济补偿。", "ok"),
        ("劳动合同法第87条，违法解除要按经济补偿标准的二倍支付赔偿金。", "ok"),
        ("违法辞退的，按经济补偿标准的两倍赔，见《劳动合同法》第八十七条。", "ok"),
        ("《民法典》第一千零七十七条规定，离婚登记申请后有三十日的冷静期，任何一方可以撤回申请。", "ok"),
        ("《民法典》第一〇七六条，夫妻双方自愿离婚的，应当签订书面离婚协议，亲自到婚姻登记机关申请。", "ok"),
        ("《民法典》第1042条禁止借婚姻索取财物。", "ok"),
        ("依《民法典》第一百八十八条，普通诉讼时效为三年。", "ok"),
        ("根据民法典第六百八十条，禁止高利放贷。", "ok"),
        ("《劳动争议调解仲裁法》第二十七条，申请仲裁的时效期间为一年。", "ok"),
        ("劳动争议仲裁不收费，依据是《劳动争议调解仲裁法》第五十三条。", "ok"),
        ("《行政诉讼法》第四十六条：直接起诉的，应当自知道行政行为之日起六个月内提出。", "ok"),
        ("《道路交通安全法》第九十一条，醉酒驾驶机动车的，吊销驾驶证，五年内不得重新取得。", "ok"),
        ("《治安管理处罚法》第八十八条，违反社会生活噪声规定，经劝阻不改的，可以处罚。", "ok"),
        ("个人信息保护法第四十七条，处理目的已实现的，应当主动删除个人信息。", "ok"),
        ("消法第五十五条规定的是退一赔三，增加赔偿的金额不足五百元的按五百元算。", "ok"),
        ("《食品安全法》第一百四十八条，可以要求支付价款十倍或者损失三倍的赔偿金，不足一千元的为一千元。", "ok"),
        ("《网络安全法》第二十三条要求网络日志留存不少于六个月。", "ok"),
        ("《刑法》第一百三十三条之一，醉酒驾驶机动车的处拘役，并处罚金。", "ok"),
        ("《居民身份证法》第五条，十六周岁至二十五周岁的，发给有效期十年的身份证。", "ok"),
        ("《社会保险法》第四十五条规定领取失业保险金要缴费满一年、非因本人意愿中断就业、已办失业登记。", "ok"),
        ("《老年人权益保障法》第二条，老年人是指六十周岁以上的公民。", "ok"),
        ("《未成年人保护法》第二条所称未成年人是指未满十八周岁的公民。", "ok"),
        ("《义务教育法》第十一条，年满六周岁的儿童应当入学。", "ok"),
        ("《商标法》第三十九条，注册商标的有效期为十年。", "ok"),
        ("《民法典》第七百零五条，租赁期限不得超过二十年。", "ok"),
        ("《反家庭暴力法》第二十三条，遭受家庭暴力可以向人民法院申请人身安全保护令。", "ok"),
        ("《仲裁法》第三条", "ok"),
        ("《行政处罚法》第三十六条，违法行为在二年内未被发现的，不再给予行政处罚。", "ok"),
        ("《劳动法》第三十六条 每日工作时间不超过八小时、平均每周不超过四十四小时。", "ok"),
        ("《劳动法》第四十四条，休息日加班又不能补休的，支付不低于工资的百分之二百的报酬，法定休假日不低于300%。", "ok"),
        ("依照《民事诉讼法》第一百二十二条和第一百二十四条，起诉要有明确的被告，起诉状要写明原告的姓名、性别、年龄。", "ok"),
        ("《劳动合同法》第三十八条、第四十六条：单位不及时足额支付劳动报酬，劳动者可以解除合同并得到经济补偿。", "ok"),
        ("《民法典》第一千一百二十七条，第一顺序继承人是配偶、子女、父母。", "ok"),
        ("《劳动合同法》第十九条，三年以上固定期限的合同，试用期不得超过六个月。", "ok"),
        ("《劳动合同法》第一百二十条", "no_such_article"),
        ("劳动合同法第一百二十条规定了加班费。", "no_such_article"),
        ("《民法典》第一千三百条，违约应当赔偿。", "no_such_article"),
        ("《刑法》第一百三十三条之九", "no_such_article"),
        ("依据《消费者权益保护法》第99条可以退货。", "no_such_article"),
        ("治安管理处罚法第二百条，可以拘留。", "no_such_article"),
        ("《居民身份证法》第三十条第二款", "no_such_article"),
        ("《劳动者权益保护法》第十条规定工资不得拖欠。", "no_such_law"),
        ("《网络购物法》第五条，七天无理由退货。", "no_such_law"),
        ("根据物业管理法第三条，业主可以不交物业费。", "no_such_law"),
        ("依据《中华人民共和国租房保护法》，房东必须退押金。", "no_such_law"),
        ("根据养老保障法的规定，满六十岁就能领。", "no_such_law"),
        ("《中华人民共和国宠物管理法》第二十一条", "no_such_law"),
        ("《噪声污染防治法》第六十四条禁止噪声扰民。", "repealed"),
        ("根据环境噪声污染防治法第三十条，夜间禁止施工。", "repealed"),
        ("《水污染防治法》第八十五条", "repealed"),
        ("《中华人民共和国固体废物污染环境防治法》第四十九条要求垃圾分类。", "repealed"),
        ("《婚姻法》第三十二条，感情破裂应当准予离婚。", "repealed"),
        ("按合同法第五十二条合同无效。", "repealed"),
        ("根据《继承法》，遗嘱优先。", "repealed"),
        ("《物权法》第七十条", "repealed"),
        ("环保法第四十二条", "repealed"),
        ("《海洋环境保护法》第十二条", "repealed"),
        ("《医疗保障法》第三条", "not_yet_in_force"),
        ("《劳动合同法》第八十二条，应当支付三倍工资。", "text_mismatch"),
        ("《劳动合同法》第三十七条，辞职要提前六十日书面通知。", "text_mismatch"),
        ("劳动合同法第87条，违法解除按经济补偿标准的三倍支付。", "text_mismatch"),
        ("《劳动争议调解仲裁法》第二十七条，仲裁时效为两年。", "text_mismatch"),
        ("《行政复议法》第二十条，应当在九十日内申请行政复议。", "text_mismatch"),
        ("《劳动法》第四十四条规定国庆加班要支付五倍工资。", "text_mismatch"),
        ("《民法典》第一百八十八条，诉讼时效期间是两年。", "text_mismatch"),
        ("《民法典》第七百零五条，租赁期限最长三十年。", "text_mismatch"),
        ("《劳动合同法》第三十九条，每满一年支付一个月工资的经济补偿。", "text_mismatch"),
        ("《个人信息保护法》第六条，醉酒驾驶吊销驾驶证。", "text_mismatch"),
        ("《民法典》第一千零七十七条规定了遗产由第一顺序继承人继承。", "text_mismatch"),
        ("《老年人权益保障法》第二条，老年人是指六十五周岁以上的公民。", "text_mismatch"),
        ("《劳动法》第三十六条，每天工作不超过十小时。", "text_mismatch"),
        ("《物业管理条例》第四十一条，业主应当交纳物业服务费用。", "unverified"),
        ("《最高人民法院关于审理劳动争议案件适用法律问题的解释（一）》第四十四条", "unverified"),
        ("《民法典》合同编通则司法解释第六十三条", "unverified"),
        ("《样例市养犬管理办法》第七条", "unverified"),
        ("办法第三条说了，这个方法不行。", "unverified"),
        ("劳动合同第五条写的是试用期三个月。", "unverified"),
        ("我看了《红楼梦》第三回。", "unverified"),
        ("《民法典》已经施行，《婚姻法》第二十条还有效吗", "repealed"),
        (
            "《劳动合同法》第三十条要求及时足额支付劳动报酬，该法第八十五条规定逾期不付的按应付金额百分之五十以上百分之一百以下加付赔偿金。",
            "ok",
        ),
        ("《劳动合同法》第三十条要求及时足额支付劳动报酬，该法第一百八十五条规定要加付。", "no_such_article"),
        ("根据《劳动合同法》，劳动合同第五条约定的违约金过高。", "ok"),
    ],
)
def test_a_sentence_is_judged_by_the_real_table(real_laws: LawTable, text: str, verdict: str) -> None:
    assert verdict_of(text, real_laws, TODAY).value == verdict
