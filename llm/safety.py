"""Masked text → what the bot won't go along with: instructions to itself, other people's data, help with a crime, abuse.

Knows nothing of knowledge or models. Goes by what is asked for, not by lists of bad words: reporting a crime and asking for its
penalty are ordinary business. The emergency rule comes first.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from hotline.zh.skeleton import skeleton
from llm.types import MaskedText


class SafetyKind(enum.Enum):
    """Why the bot doesn't answer."""

    INJECTION = "injection"
    OTHERS_DATA = "others_data"
    UNLAWFUL = "unlawful"
    ABUSE = "abuse"
    THREAT = "threat"


class SafetyAction(enum.Enum):
    """What it does instead."""

    REFUSE = "refuse"
    TRANSFER = "transfer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsafe:
    """The turn is not answered. reply: spoken words."""

    kind: SafetyKind
    action: SafetyAction
    reply: str


_REPLIES = {
    SafetyKind.INJECTION: "这个我做不到。您有政务服务方面的问题，请直接告诉我。",
    SafetyKind.OTHERS_DATA: "别人的个人信息我不能提供。您有其他问题，请直接告诉我。",
    SafetyKind.UNLAWFUL: "这件事违反法律规定，我不能提供帮助。您有其他问题，请直接告诉我。",
    SafetyKind.ABUSE: "我听出您很着急，这就为您转接人工。",
    SafetyKind.THREAT: "我听到了，请您先冷静，这就为您转接人工。",
}


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_INJECTION = _any(
    # set the rules aside
    r"(?:忽略|忘掉|忘记|抛开|不要管|别管)[^,。]{0,12}(?:指令|规定|规则|要求|设定|设置|提示|限制|以上|上面|之前说|约束)",
    r"(?:无视|跳过|绕过|违反|关闭|解除)[^,。]{0,8}(?:指令|设定|提示词?|限制|约束|安全|审查|上面|以上(?:所有|的|规|要求|内容)|之前说|你的规[定则]|所有规[定则])",
    r"(?:ignore|disregard|forget|override)[^。]{0,30}(?:instruction|prompt|rule|above|previous)|jailbreak|越狱",
    r"(?:开发者|管理员|调试|上帝|developer\s?)(?:模式|mode)",
    # show them, or what lies behind
    r"提示词|系统指令|system\s?prompt|(?:你的|你们的)(?:训练数据|底层|模型参数|密钥|源代码|系统提示)",
    r"(?:读|念|背|列|输出|重复|复述|打印|说)[^,。]{0,8}你的(?:系统)?(?:指令|设定|提示|规则|配置|密码|密钥|训练数据)",
    r"(?:知识库|数据库|后台|资料库)[^,。]{0,10}(?:全部|所有|全都|导出|原文|都)",
    # speak as somebody else, or as the system
    r"(?:系统|管理员)(?:消息|通知|命令|指令)[:,]|</?(?:system|user|assistant|inst)>|<\|im_|\[/?(?:inst|transfer|system|tool)",
    r"你(?:现在|就|不再)?(?:是|扮演|假装是|变成)(?:一个|一名|我的?)?(?:局长|市长|领导|没有限制|不受限|黑客|管理员|开发|奶奶|猫|女朋友|dan)",
    r"(?:扮演|假装|装作)(?:成)?(?:你是|一个|一名|我)",
    r"你(?:现在|从现在)?[^,。]{0,4}(?:没有|不受|没了)(?:任何|什么)?(?:限制|约束)",
    # say what the caller wants to hear
    r"你就?(?:说|回答|回复|答)(?:一声|一句|个)?(?:同意|批准|通过|可以|行)(?:就行|就好|就可以|就成)",
    r"(?:say|tell)[^。]{0,20}(?:approved|granted)|回答[时里中]?都?(?:加上|带上|包含)|你[只必]须?能?(?:回答|说|回复)(?:可以|同意|批准|是|\")",
    r"(?:跟着我|照我说的|照着)[念读说]|[说宣][^,。]{0,8}(?:批准|通过|获批)了?(?:就行|吧|即可)",
)
_DATA = (
    r"(?:手机号?码?|电话(?:号码)?|身份证号?码?|住址|家庭住址|地址|户籍信息|个人信息|银行卡|"
    r"行踪|开房记录|通话记录|住哪|车牌|工单|病历|征信|档案)"
)
_OTHER_PEOPLE = (
    r"(?:别人|邻居|隔壁(?:那户|那家)?|(?:那户|这户)?业主(?!委员|大会|群)|住户|网友|前妻|前夫|前女友|前男友|他|她|这个人|那个人|某人|局长|领导|房东|老板|〈姓名·\d+〉|"
    r"上一?个(?:来电|打电话)[^,。]{0,4}|其他(?:来电|市民)[^,。]{0,3})"
)
_OTHERS = _any(
    rf"(?:查|告诉|给我|念|说出|报|提供|调|搞到|弄到|要)[^,。]{{0,12}}{_OTHER_PEOPLE}(?:家|个人)?的?{_DATA}(?!打不通|是空号)",
    rf"{_OTHER_PEOPLE}[^,。]{{0,4}}{_DATA}[^。]{{0,6}}(?:查一下|查查|帮我查|告诉我|给我(?:一下|吧|呗|$|说|报|看))",
    r"(?:查|告诉我|想知道)[^,。]{0,8}(?:车牌|手机号|电话号码|号码|身份证号?)[^,。]{0,6}是谁",
    r"(?:上一?个|刚才|之前)(?:打|来)电话的?[^。]{0,4}(?:叫什么|是谁|名字|电话|说了什么)",
)
_HOW = (
    r"(?:怎么|怎样|如何|教我|有没有(?:什么)?(?:办法|方法|渠道|门路)|有什么(?:办法|方法|窍门)|"
    r"想(?:找人)?|帮我|哪里(?:能|可以)?|能不能|可不可以|我要)"
)
_CRIME = (
    r"[做办弄开搞买刻造伪][^,。]{0,4}假的?[^,。]{0,8}(?:材料|证|发票|合同|病历|学历|流水|章|票|签名|收入|离婚|户口|资料|条|病假|文凭|诊断|学位|驾照|工资|银行)|伪造|"
    r"(?:做|制作?|造|自制|买|弄)[^,。]{0,6}(?:炸药|炸弹|雷管|燃烧瓶|枪(?!证)|弹药|毒品|冰毒|大麻|迷药|毒药|假币|假钞)|"
    r"(?:不被|躲过|躲避|逃避|避开|躲|逃过|不会被|不让)[^,。]{0,6}(?:查|抓|拍|罚|发现|检测|监管|执法)|"
    r"[骗套][取到出]?[^,。]{0,4}(?:低保|医保|补贴|社保|保险|公积金|补偿|国家|贷款)|冒领|[逃偷漏]税|洗钱|偷[电水气]|"
    r"(?:破解|黑进|入侵|攻击)[^,。]{0,8}(?:系统|网站|账号|密码|摄像头|无线网|网络|wifi|路由|手机|电脑)|(?:跟踪|监听|定位|偷拍|监视)[^,。]{0,6}(?:手机|老婆|老公|别人|他|她|邻居)|装监听|"
    r"买[^,。]{0,3}(?:文凭|学历|学位|毕业证|驾照|驾驶证|资格证|病假条)|手机[^,。]{0,4}被我(?:监控|定位|监听)|监控[^,。]{0,4}(?:老婆|老公|女友|男友|妻子|丈夫|聊天)|"
    r"(?:报复|弄死|整死|打残|毒死)[^,。]{0,6}(?:他|她|邻居|老板|人|狗|猫)|[^,。]{0,8}毒死|贿赂|送礼|塞钱|代考|作弊|替考|代孕|(?:卖|出售)[^,。]{0,4}(?:肾|器官|卵子)"
)
_UNLAWFUL = _any(
    rf"{_HOW}[^。]{{0,16}}(?:{_CRIME})",
    rf"(?:{_CRIME})[^。]{{0,8}}(?:教教我|怎么弄|有办法吗)",
    r"(?:代考|替考|假证|套现)[^。]{0,6}(?:多少钱|找谁|哪里有)|假结婚[^。]{0,4}怎么[弄办骗]",
)
_ORDINARY = _any(
    r"举报|投诉|处罚|怎么罚|怎么判|判几年|被骗|有人|(?<!被)发现|[违犯]法吗|算不算|会怎么|怎么处理|后果|怎么办理|防止|预防|防范|识别|辨别",
    r"维权|(?<!不)(?<!不会)被(?:偷|盗|查|人|骗|跟踪|监听)|怀疑|真假|责任|算(?:偷税|作弊|违法)",
)
_ABUSE = _any(
    r"(?:你|你们|他)[妈娘](?:的|逼)|他妈的?|[操草]你|[傻煞沙]逼|傻[叉x]|王八蛋|狗(?:东西|日的|屁)|混蛋|去死吧|滚[蛋你]|废物(?!回收|利用|处理)|畜生|脑残|吃屎",
    r"你是?个?(?:白痴|蠢货|垃圾|智障)|贱人|婊子|陪我睡|约炮|裸聊|做爱|摸摸你|你穿什么",
)
_THREAT = _any(
    r"[要就去][炸砸烧][了掉死]?你们?(?:单位|局|大厅|全|那|这)|(?:弄死|砍|捅|杀)[了死]?你们?|[带拿]着?(?:刀|汽油)[^,。]{0,4}[去找]你们?",
    r"同归于尽|血债血偿|让你们?(?:陪葬|好看)",
)
_SILENT = re.compile(r"(?<![A-Za-z])\s+|\s+(?![A-Za-z])|[\u200b-\u200f\u2060\ufeff]")
_LONGEST = 2000


class SafetyRule:
    """Finds turns that are not to be answered. Stateless."""

    def check(self, text: MaskedText) -> Unsafe | None:
        """Why and how to turn this down, if it is to be."""
        folded = _SILENT.sub("", skeleton(text.text[:_LONGEST]).text)
        if _THREAT.search(folded):
            return _unsafe(SafetyKind.THREAT, SafetyAction.TRANSFER)
        if _INJECTION.search(folded):
            return _unsafe(SafetyKind.INJECTION, SafetyAction.REFUSE)
        if _OTHERS.search(folded):
            return _unsafe(SafetyKind.OTHERS_DATA, SafetyAction.REFUSE)
        if _UNLAWFUL.search(folded) and not _ORDINARY.search(folded):
            return _unsafe(SafetyKind.UNLAWFUL, SafetyAction.REFUSE)
        if _ABUSE.search(folded):
            return _unsafe(SafetyKind.ABUSE, SafetyAction.TRANSFER)
        return None


def _unsafe(kind: SafetyKind, action: SafetyAction) -> Unsafe:
    return Unsafe(kind=kind, action=action, reply=_REPLIES[kind])
