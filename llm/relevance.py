"""A question and what a model has said so far → whether it says what was asked for, and whether it only says it again. Pure.

Only kinds of questions that ask for one thing are judged: how long, how much, where, what to bring. A true sentence that leaves
this open (毕业生可以落户, when asked how) is worse than the stored answer, which is whole.
"""

from __future__ import annotations

import re

from llm.figures import figures
from llm.wording import plain

_NUMBER = re.compile(
    "多少|几[天日年月岁个次号点时块元倍成位]|多[久长大高]|多长时间|什么时候|何时|百分之几|几分之几|期限|比例|额度|年龄|"
    "最[多少长晚早迟高低]"
)
_NUMBER_TOLD = re.compile(
    "当[天场日]|次日|第二天|即时|立即|马上|随时|免费|不收|不要钱|全额|[一二三四]月|每季度|每[年月天]|期满|终身|长期|半"
)
_PLACE = re.compile(
    "[去到在上找从]哪|哪[里儿]|哪个?(?:部门|单位|机构|地方|窗口)|什么(?:地方|部门|单位|机构)|找谁|向谁|归谁管|"
    "谁(?:来)?(?:办|管|负责)"
)
_PLACE_TOLD = re.compile(
    "[局所处院校站店厅网]|中心|窗口|社区|街道|银行|公司|部门|机关|居委|村委|物业|应用|小程序|平台|热线|[打拨].{0,6}\\d|委员会|"
    "残联|转人工|公安|机构|登记点|由[^，。]{1,8}(?:负责|承担|修|赔)"
)
_PAPERS = re.compile(
    "(?:带|准备|交|提交|拿|要|需要)(?:些|点|好)?(?:什么|哪些|啥)(?!条件|人|情况|时|样|地|部门|单位)|"
    "(?:什么|哪些|啥)(?:材料|资料|证件|手续|证明|东西)"
)
_PAPERS_TOLD = re.compile("[证簿书本卡单表函病票状]|证明|材料|照片|合同|协议")
_HOW = re.compile("怎么(?!办(?!理)|处罚)|怎样|如何|咋(?!办)|流程|步骤")
_HOW_TOLD = re.compile(
    "[带持凭到向由找按打看从签交缴填说报登给用先]|提交|申请|联系|协商|网上|线上|应用|小程序|转人工|预约|参加|组成|征收|计算|举行"
)
_SUM = re.compile(
    "(?:[收交缴付扣领补贴赔罚报给贷退发]|[价租]金?|钱|费|元)[^，。]{0,6}多少(?![天日年月个次岁])|多少[钱元块]|几[元块倍成]|百分之几"
)
_SUM_TOLD = re.compile("免费|不收|不要钱|全额|一半")
_KINDS = (
    (_SUM, None, _SUM_TOLD),
    (_NUMBER, None, _NUMBER_TOLD),
    (_PLACE, _PLACE_TOLD, None),
    (_PAPERS, _PAPERS_TOLD, None),
)
_HANZI = re.compile("[\u4e00-\u9fff]")
_SENTENCE_FROM = 4  # characters
_TELLING_FROM = 8  # shorter ones come twice in good sentences, too
_MERELY = re.compile("^.{0,6}?(?:可以|能|应当|应该|需要|要|必须)[^，。！？；]{0,8}[。！？；，]?$")


def answers(question: str, said: str) -> bool:
    """Whether the words hold the kind of thing that was asked for; more than a bare figure. True where no kind is recognised."""
    asked = plain(question)
    if len(_HANZI.findall(said)) < _SENTENCE_FROM:
        return False
    for asks, told, number_told in _KINDS:
        if not asks.search(asked):
            continue
        if told is not None and not told.search(said):
            return False
        if number_told is not None and not (figures(said) or number_told.search(said)):
            return False
    return not (_HOW.search(asked) and (_MERELY.fullmatch(said.strip()) or not _HOW_TOLD.search(said)))


def repeats(clause: str, before: str) -> bool:
    """Word for word said already: just now, or some length of it at any time."""
    again, said = plain(clause), plain(before)
    return bool(again) and (said.endswith(again) or (len(again) >= _TELLING_FROM and again in said))
