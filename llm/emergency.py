"""Masked text → the emergency in it, if any, with the fixed words to speak. Waits for no model; knows nothing of answers or knowledge.

Three sieves: what is said (phrases, on the folded text without spaces), how it sounds (a few long phrases by fuzzy pinyin, because the
recogniser writes homophones), and what it is really about (fees, rules, last year's case): the last lets an ordinary question through
unless something in it says *now*.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from hotline.zh.pinyin import fuzzy, syllables
from hotline.zh.skeleton import skeleton
from llm.types import MaskedText


class EmergencyKind(enum.Enum):
    """What happens to somebody right now."""

    SELF_HARM = "self_harm"
    FIRE = "fire"
    GAS = "gas"
    CRIME = "crime"
    MEDICAL = "medical"
    RESCUE = "rescue"  # trapped, in the water, about to fall
    TRAFFIC = "traffic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Emergency:
    """An emergency. instruction: spoken at once, whole, not to be interrupted; a person is called in parallel."""

    kind: EmergencyKind
    instruction: str


INSTRUCTIONS = {
    EmergencyKind.SELF_HARM: "您先别急，我在听。有生命危险请马上拨打120或110，也可以拨打12356心理援助热线。我这就为您转接人工。",
    EmergencyKind.FIRE: "请立即离开危险的地方，马上拨打119，有人受伤同时拨打120。我这就为您转接人工。",
    EmergencyKind.GAS: "不要开灯和用火，请开窗、关阀门，到室外再拨打119，有人不舒服请拨打120。我这就为您转接人工。",
    EmergencyKind.CRIME: "请先到安全的地方，马上拨打110报警，有人受伤同时拨打120。我这就为您转接人工。",
    EmergencyKind.MEDICAL: "请马上拨打120急救电话，说清地点，不要随意移动病人。我这就为您转接人工。",
    EmergencyKind.RESCUE: "请马上拨打119救援电话，有人受伤或不舒服同时拨打120。我这就为您转接人工。",
    EmergencyKind.TRAFFIC: "请先到路边安全处，有人受伤马上拨打120，并拨打122报警。我这就为您转接人工。",
}

_SAID = {
    EmergencyKind.SELF_HARM: (
        r"[不唔没]想(?:再)?活|想(?:要)?(?:去)?(?:寻)?死(?!你|的|党|机)|要去死|去死算|活不下去|不想活|活腻|活够|自杀|自尽|(?:想|要|我|他|她)轻[生身]|轻生|割(?:了)?(?:手)?腕|"
        r"(?:要|想|去|正在|我|他|她)(?:往下)?跳(?:楼(?![价机])|河|江|桥|海|下去)|跳楼(?!价|机)|上吊(?![扇灯顶车装])|寻短见|一死了之|死了算了|不如死|结束(?:自己|我)?的?(?:生命|一切)|"
        r"活着(?:也|还|真|太)?(?:没|有什么|没有|没啥|没什么)(?:意思|意义|劲|用)|(?:吃|吞|喝)(?:了|下)?[^,。]{0,6}(?:安眠药|一瓶药|一把药|农药|百草枯|老鼠药)|遗书|烧炭|"
        r"药[^,。]{0,4}准备好|孩子[^,。]{0,4}(?:托|交)给你|[吃喝][^,。]{0,6}(?:会|能|才|可以)死|(?:站|坐|爬)(?:在|到|上)[^,。]{0,4}(?:楼顶|天台|窗台|桥栏|桥上|阳台外)|伤害自己|自残"
    ),
    EmergencyKind.GAS: (
        r"(?:煤气|燃气|天然气|液化气|瓦斯|煤气罐)[^,。]{0,8}(?:泄漏|泄露|漏(?!水)|爆|中毒|味(?:儿)?(?:很|好|特别|太|非常)|嘶)|(?:闻到|好大|很大|一股|好浓|都是|全是)[^,。]{0,4}(?:煤气|燃气|天然气|液化气)|"
        r"(?:漏|跑)(?:煤|燃|天然)?气了|一氧化碳中毒"
    ),
    EmergencyKind.FIRE: (
        r"[着起失]火|火灾|大火|冒(?:着|出|了|起|好大|很大|浓|黑|很多|好多)*(?:的)?(?:浓|黑|白)?烟|浓烟|烧(?:着了|起来)|火(?:很|好|太|特别)大|爆炸"
    ),
    EmergencyKind.CRIME: (
        r"救命|救救(?:我|她|他|孩子|人)|快来救|抢劫|(?:有人|正在|要)抢|[拿持提带](?:着|了|把)*(?:菜|砍|水果|匕)*[刀枪]|[砍捅](?:人|我|了|死|伤)|杀(?:了)?(?:人|我|你全家|他|她)|"
        r"(?:在|要|还|一直|又|往死里)[打揍](?:我(?!电话|手机|这个|的|号)|人|他|她|孩子|老人)|(?:老公|丈夫|他|男朋友|爸爸?|儿子|老婆|有人|前夫)[^,。]{0,4}打我(?!电话|手机|这个|的|号)|打起来|打群架|"
        r"被(?:人)?(?:[^,。]{0,3})(?:打伤|打得|砍|捅|绑架|绑|劫|非法拘禁|关起来|围殴|强奸|跟踪)|绑架|强奸|非礼|猥亵|撬(?:我|门|锁)|(?:小偷|贼|坏人|陌生人)[^,。]{0,6}(?:进|在)(?:了)?(?:我)?(?:家|屋|门)|"
        r"(?:跟踪|尾随)(?:着)?我|孩子[^,。]{0,4}(?:不见了|丢了|被拐|被抱走|走丢)|有炸弹|有人闯"
    ),
    EmergencyKind.MEDICAL: (
        r"(?:晕|昏)(?:倒|过去|死|厥)|昏迷|不省人事|没(?:有)?(?:了)?(?:呼吸|心跳|气了|意识)|(?:不能|没法)呼吸|呼吸(?:困难|不了|不上)|喘不[上过](?:来)?气|上不来气|"
        r"心脏(?:病)?(?:[^,。]{0,3})(?:发作|犯了|骤停|疼|停)|心梗|脑梗|脑溢血|中风|抽搐|抽风|口吐白沫|休克|大出血|[流淌吐](?:了|着)?(?:好多|很多|一地|不少|好些|满地|大量|那么多)(?:的)?血|"
        r"血(?:流不止|止不住|流了)|吐血|(?:吃|喝|误食|误服|误喝)[^,。]{0,8}中毒|中毒了|(?:误食|误服|误喝|喝了|吃了)[^,。]{0,4}(?:农药|老鼠药|毒|洗洁精|消毒液|清洁剂|蟑螂药)|噎(?:住|着|到)|"
        r"卡(?:住|在|到)[^,。]{0,3}(?:喉|嗓|气管)|触电|电(?:着|到|击)(?:人|了人|我|他)|羊水破|快?要生了|临产|快不行了|叫(?:个|辆|一辆)?救护车|(?:派|来)[^,。]{0,4}救护车|摔[^,。]{0,8}(?:动不了|起不来|不动)|没反应"
    ),
    EmergencyKind.RESCUE: (
        r"被困|困(?:人|住|在)|关在[^,。]{0,6}(?:里面|电梯|车里)|(?:掉|落|摔|坠)(?:进|到|在|入|下)(?:了)?[^,。]{0,4}(?:水|河|井|湖|江|池|坑|楼|沟|海|悬崖|去)|溺水|落水|坠楼|塌了|坍塌|倒塌|埋(?:在|住)|"
        r"洪水|山体滑坡|泥石流"
    ),
    EmergencyKind.TRAFFIC: r"车祸|撞(?:到|倒|死|伤|飞|了)(?:一?个?)?(?:人|老人|小孩|孩子|我|行人|骑车|电动车)|被(?:[^,。]{0,4})(?:车|货车|摩托)撞|翻车|车(?:辆|子)?翻|连环(?:追尾|相撞)|交通事故|追尾",
}  # fmt: skip
_SAID_BY_KIND = tuple((kind, re.compile(pattern)) for kind, pattern in _SAID.items())

# long enough that no ordinary words sound like them
_SOUNDS = {
    EmergencyKind.SELF_HARM: "不想活了 活不下去 我想自杀 我要自杀 想轻生",
    EmergencyKind.FIRE: "着火啦快来 家里着火 房子着火 起大火了",
    EmergencyKind.GAS: "煤气泄漏 燃气泄漏 天然气泄漏 煤气中毒",
    EmergencyKind.CRIME: "救命啊 有人抢劫 救救我们",
    EmergencyKind.MEDICAL: "喘不上气 呼吸困难 心脏病发作 流了好多血",
    EmergencyKind.RESCUE: "困在电梯里 电梯困人了",
    EmergencyKind.TRAFFIC: "出车祸了 发生车祸",
}


def _sound_of(text: str) -> str:
    return " " + " ".join(fuzzy(s) for s in syllables(text)) + " "


# ordinary matters that use the same words
_ABOUT = re.compile(
    r"赔|收费|费用|多少钱|标准|保险|理赔|责任|认定|演练|演习|预防|防范|隐患|培训|讲座|宣传|处罚|罚款|怎么罚|怎么判|判几年|判刑|犯法|违法|规定|条例|法律|报销|医保|门慢|慢病|特病|补贴|补助|鉴定|证明|"
    r"保护令|起诉|后遗症|康复|疫苗|筛查|改造|安检|报警器|灭火器|险种|报案回执|笔录|结案|材料|申请|手续|电影|小说|电视|新闻|历史|遗址|博物馆|申报|许可|资质|备案|检查|整改|易发|经常|总是|容易|"
    r"如果|假如|万一|打什么电话|打几|哪个电话|什么情况下|怎么避免|会不会|担心|怕|名称|公司|工程|手机|电脑|游戏|小区规定"
)
_PAST = re.compile(
    r"去年|前年|上个?月|上周|上个?星期|上次|以前|之前|从前|当时|昨天|前天|前几天|那次|那年|年前|月前|周前|天前|早就|曾经|过世|去世|已经(?:出院|处理|灭)|事后"
)
_NOW = re.compile(
    r"现在|正在|正(?=打|烧|要|站|拿)|马上|刚刚|刚才|快来|快点|快派|救命|救救|救我|来人|还在|赶紧|赶快|怎么办啊|怎么办呀|越来越|出不来|里面有人|有人在里|拿(?:着)?刀|流血|喘不|没呼吸"
)
_SMOKE = re.compile(r"烟囱|工厂|饭店|餐馆|餐厅|油烟|烧烤|秸秆|尾气|排烟|排气|锅炉|排放|化工|垃圾|纸钱|烟花|爆竹|鞭炮|放炮")
_STRUCTURE = re.compile(r"通道|栓|消防车道|堵|施工|装修|违建|漏水|安装|违章|改建|低洼|积水")
_IDIOM = re.compile(
    r"[笑热累忙气烦急吓饿困渴冷堵吵丑贵臭难]死|要人命|死机|跳楼价|死心|想死你|爆炸性|信息爆炸|火爆|火大(?=了?的)|被困扰|困扰|困难(?!.*呼吸)|打我电话|打我手机|救命(?:钱|稻草|恩人|药)|上火|"
    r"(?:投资|资金|钱)[^,。]{0,4}(?:被)?困|撞(?:了|到)?(?:车位|时间|衫|名)|杀价|秒杀|抢(?:票|号|购|修|不到|着|到)|要抢(?!劫)|心脏(?=支架|搭桥)|杀毒|杀虫|杀蟑"
)
# of these even last year's or somebody else's is worth the emergency's words
_ALWAYS = re.compile(
    r"[不唔没]想(?:再)?活|活不下去|寻短见|割(?:了)?(?:手)?腕|(?:我|我要|我想|想要?|要)(?:去)?(?:自杀|轻[生身]|跳楼|跳河)|(?:吃|吞|喝)(?:了|下)[^,。]{0,6}(?:安眠药|百草枯|农药|老鼠药|一瓶药)|"
    r"药[^,。]{0,4}准备好|(?:站|坐|爬)(?:在|到|上)[^,。]{0,4}(?:楼顶|天台|窗台)[^,。]{0,4}(?:打|不想|给你|想|要)|[吃喝][^,。]{0,6}(?:会|能|才|可以)死"
)
_SILENT = re.compile(r"[\s\u200b-\u200f\u2060\ufeff·]+")
_CLAUSE = re.compile(r"[,。;!?、]")


class EmergencyRule:
    """Finds emergencies in masked text. Stateless; the first call loads the pinyin table."""

    def check(self, text: MaskedText) -> Emergency | None:
        """The emergency in a turn, if any."""
        folded = _SILENT.sub("", skeleton(text.text).text)
        if not folded:
            return None
        kind = _said(folded) or _heard(folded)
        return Emergency(kind=kind, instruction=INSTRUCTIONS[kind]) if kind else None


def _said(folded: str) -> EmergencyKind | None:
    plain = _IDIOM.sub("、", folded)
    if _ALWAYS.search(plain) and not re.search(r"电影|小说|电视剧|保险", plain):
        return EmergencyKind.SELF_HARM
    now = _NOW.search(plain) is not None
    for kind, pattern in _SAID_BY_KIND:
        for found in pattern.finditer(plain):
            if now or not _ordinary(kind, plain, found):
                return kind
    return None


def _ordinary(kind: EmergencyKind, plain: str, found: re.Match[str]) -> bool:
    """The words are there, but it is about fees, rules, the past, or another thing of that name."""
    if _ABOUT.search(plain) or _PAST.search(plain):
        return True
    if kind is EmergencyKind.FIRE and _SMOKE.search(plain):
        return True
    return kind in {EmergencyKind.FIRE, EmergencyKind.RESCUE, EmergencyKind.SELF_HARM} and _STRUCTURE.search(plain) is not None


def _heard(folded: str) -> EmergencyKind | None:
    plain = _IDIOM.sub("、", folded)
    if (_ABOUT.search(plain) or _PAST.search(plain)) and not _NOW.search(plain):
        return None
    sound = _sound_of(_CLAUSE.sub("", plain))
    for kind, phrases in _SOUNDS.items():
        if any(_sound_of(phrase) in sound for phrase in phrases.split()):
            return kind
    return None
