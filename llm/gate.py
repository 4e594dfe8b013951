"""A question and the entry that looks like it → why they may still not mean the same. Pure; knows nothing of scores or of speech.

Similar words with the opposite meaning are the danger of every stored answer (户口迁入 and 户口迁出 differ in one character). What
changes the meaning must be on both sides, else there is a doubt. A doubt never names the caller's words, only a word of our lists.
"""

from __future__ import annotations

import enum
import functools
import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from hotline.zh.numerals import DIGIT_OF, parse_number
from llm.amounts import answering_text, asks_amount
from llm.sound import sound_of, syllable_of
from llm.types import Entry
from llm.wording import content, plain


class About(enum.Enum):
    """What a doubt is about."""

    POLARITY = "polarity"
    WORD = "word"  # an entity or an action that the entry does not speak of
    REGION = "region"
    YEAR = "year"
    STRANGE = "strange"  # it asks about something that the entry has no word for
    AMOUNT = "amount"  # it asks for a fee or a sum, and the entry states none
    NUMBER = "number"
    DATE = "date"


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """hard: no stored answer either; otherwise only the hot pool abstains."""

    about: About
    hard: bool
    word: str = ""

    def __str__(self) -> str:
        """For `explain`."""
        return f"{self.about.value}:{self.word}" if self.word else self.about.value


# Words that change what is asked. A group's words mean the same: one of them in the question asks for one of them in the entry.
# An action must stand in one of the entry's wordings; a thing may stand in its answer, when another of its things is asked about.
_ACTIONS = (
    *("注销 销户 销掉", "取消 撤销 撤回", "变更 更改 修改", "迁出 迁走", "转出 转走 转出去", "离婚", "结婚 领证", "白天"),
    *("买房 购房 二套", "贷款 贷多少", "虚开 假发票", "起诉 打官司", "加急", "继承", "过户", "解除", "退款 退货 退钱"),
    *(
        "退保",
        "挂失",
        "外国人 外籍 港澳台",
        "停车费",
        "被举报 被投诉",
        "续签 到期 过期 延期 签注 有效期 换领 换证",
        "辞退 开除 解雇",
    ),
    *("抵税 个税 报税", "起名 改名", "一起拿 一起领 同时领", "进度 反映的 上次 上周 催一下"),
)
_THINGS = (
    *("驾驶证 驾照 行驶证", "房产证 不动产", "残疾证 残疾", "离婚证", "社保卡", "通行证", "准生证", "出生证"),
    *("毕业证 学历", "资格证 教师资格 职称", "电动车 电瓶车", "摩托车", "燃气 煤气 天然气", "路灯", "井盖", "低保"),
    *("廉租房 公租房 保障房", "失业金 失业保险", "工伤", "维修基金", "上学 小学 中学 入学 学区 幼儿园", "快递"),
    *("地铁 公交", "婴儿 新生儿 宝宝", "手机", "外卖", "机票 火车票", "天气", "发黄 水质", "急诊 门诊", "护照", "身份证"),
    *("居住证", "户口 落户", "公积金", "医保 医疗保险", "营业执照 个体户 个体 执照", "食品经营许可", "发票", "物业费"),
    *("养猫", "大厅 政务中心 服务中心"),
)
_REGIONS = re.compile(
    "北京|上海|天津|重庆|河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川|贵州|"
    "云南|陕西|甘肃|青海|台湾|内蒙古|广西|西藏|宁夏|新疆|香港|澳门|广州|深圳|杭州|南京|苏州|成都|武汉|西安|郑州|长沙|"
    "青岛|济南|大连|沈阳|哈尔滨|长春|石家庄|太原|合肥|福州|厦门|南昌|昆明|贵阳|南宁|海口|兰州|西宁|银川|乌鲁木齐|"
    "拉萨|呼和浩特|宁波|温州|无锡|常州|东莞|佛山|珠海"
)
# Another question about the same thing; the entry's wordings must ask it too.
_TURNS = (
    ("退", re.compile("退(?!休|役|伍)")),
    ("补缴", re.compile("补[缴交]|断[缴交保]|停[缴保]|漏缴")),
    ("输赢", re.compile("[打判]?输|败诉|胜诉|赢了|[打能]赢|怎么判|判[几决刑]|不服")),
    ("打人", re.compile("打(?:了|伤|死)?(?:我|人|他|她|邻居|老婆|孩子|架)(?!的?电话)|被.{0,3}打|揍|殴|动手")),
    ("伤害", re.compile("咬|抓伤|受伤|弄伤|砸[了伤到坏]")),
    ("漏水", re.compile("漏水|漏了|渗水|漏得")),
    ("违法吗", re.compile("犯法|犯罪|坐牢|违法吗|合法吗")),
    ("彩礼", re.compile("彩礼|礼金|嫁妆|聘礼")),
    ("坏了", re.compile("坏(?:了|掉)|故障|失灵")),
    ("开店花费", re.compile("开(?!发?票|证明|具).{1,5}?(?:要|得|需要|花)(?:花)?多少钱")),
    ("偷", re.compile("偷(?:东西|我|人)")),
)
_ELSEWHERE = re.compile("[异一]地|外地|跨省|省外|外省|别的省|别的城市|老家")
_NARROW = (re.compile("租"), re.compile("[狗犬]"), _ELSEWHERE)  # an entry that speaks of nothing else answers no wider question
_RELATIVE_DATES = ("去年", "前年", "明年", "后年", "今年", "上个月", "下个月", "以前的政策", "旧政策", "新政策")
# Said in any question, about anything: kin, numerals, time of day, directions, and verbs that mean little by themselves.
_NEUTRAL = frozenset(
    "我你您他她它咱们人家爸妈爷奶爹娘哥姐弟妹夫妻爱老公婆儿女孩子娃对象朋友同志先生零〇一二三四五六七八九十百千万亿两几多少半个位张次回遍些点天日月年号"
    "周星期早晚上下午今明昨刚才后前里外边头面中间左右来去过进出起到从向往在把被让给跟和与或及为因所以但而且就才都也还又再已经将曾正着了的地得吗呢吧啊呀嘛"
    "哦嗯唉哎喂这那哪谁什么怎样如何咋啥为何不没无别很太挺非常特更最好坏大小真有是要想能会可应该需必须做干搞弄办用找看听说讲问告诉知道觉得行成拿取领拉放"
    "带交收付花拖打帮忙请求麻烦谢操作处理解决管只每全各另其他之前比如东西事情忽突然马总老直常实其现立快慢急赶紧旧新开关吃住跑走坐站等完种样类肯愿具体详细"
)
_OF_AMOUNTS = frozenset("钱费收罚价格贵块元比例")
_LIGHT = re.compile("一[排堆群伙]|没法|[领办弄搞]法")
_WHERE = re.compile("在哪[里儿]?$|在什么地方$|地址|怎么走|位置")
_WHERE_KNOWN = re.compile("地址|位于|位置")
_CONTENT_PER_STRANGE = 12  # a long story may hold one strange character for so many others

_ASKING = re.compile(r"(.)[不没]\1|(.{1,2})不\2|有没有|[不没]$|没有$|[不没](?:呢|啊|呀)$")
_HARMLESS = re.compile(
    "[弄丢搞]没了?|没了|不见|不够|别[的人处家]|[走进出用开动跑]不[了着动]|不好意思|不知道|不清楚|不大?懂|不明白|不太|不会[弄办]|"
    "差不多|不了解|要不|不然|没办?法|不管|不小心|没想到|不对吧?|睡不着|受不了"
)
_NEGATION = re.compile("(?:不|没有?|未|无|别|甭)(?:想|要|能|用|让|给|是|去|得|肯|愿意?)?(.)")
_NUMERAL = re.compile(r"[0-9]+(?:\.[0-9]+)?|[零〇一二三四五六七八九十百千万两]+")
_UNIT = re.compile("[年月日号天岁周个点元块倍度级楼次分%％]|小时|工作日")
_NEGATED = re.compile("(?:不|没有?|未|无)..")
_YEAR = re.compile(r"(?:[12][0-9]{3}|[一二][零〇一二三四五六七八九]{3})年")


def doubts(question: str, entry: Entry, *, region: str = "") -> tuple[Doubt, ...]:
    """Everything that speaks against answering the question with the entry. region: ours, never a doubt."""
    asked, known = _read(question), _known(entry)
    found = [Doubt(about=About.POLARITY, hard=True) for said in asked.denied if said not in known.denied]
    found += [Doubt(about=About.WORD, hard=True, word=word) for word in sorted(asked.actions - known.actions)]
    found += [Doubt(about=About.WORD, hard=True, word=word) for word in sorted(_strange_things(asked.things, entry))]
    found += _turned(question, entry)
    if not answering_text(question, entry):
        found.append(Doubt(about=About.AMOUNT, hard=True))
    strange = asked.regions - known.regions - {region.rstrip("市省")}
    found += [Doubt(about=About.REGION, hard=True, word=place) for place in sorted(strange)]
    found += _strange(question.replace(region, "") if region else question, entry)
    found += [Doubt(about=About.YEAR, hard=True) for _ in asked.years - known.years]
    found += [Doubt(about=About.NUMBER, hard=False) for _ in asked.numbers - known.numbers - asked.years]
    found += [Doubt(about=About.DATE, hard=False, word=word) for word in sorted(asked.dates - known.dates)]
    if not asked.denied and _nearest(question, entry).denied:
        found.append(Doubt(about=About.POLARITY, hard=False))
    return tuple(dict.fromkeys(found))


def things_in(text: str) -> frozenset[str]:
    """The things (身份证, 护照…) that a text names, each by its group's first word."""
    return _read(text).things


def _turned(question: str, entry: Entry) -> list[Doubt]:
    """社保可以退吗 is no question about years, and 公积金怎么提取 is wider than what is known of tenants."""
    asked, wordings = plain(question), [plain(text) for text in (entry.question, *entry.paraphrases)]
    texts = [*wordings, plain(entry.answer), plain(entry.detail)]
    missing = [word for word, turn in _TURNS if turn.search(asked) and not any(map(turn.search, wordings))]
    if _ELSEWHERE.search(asked) and not any(map(_ELSEWHERE.search, texts)):
        missing.append("异地")
    narrow = any(all(map(only.search, wordings)) and not only.search(asked) for only in _NARROW)
    missing += ["范围"] * narrow
    return [Doubt(about=About.STRANGE, hard=True, word=word) for word in missing]


def _strange(question: str, entry: Entry) -> list[Doubt]:
    """Same matter, another question: 养老金什么时候涨 is not answered by how many years one pays."""
    asked = content(question)
    neutral = _NEUTRAL | _OF_AMOUNTS if asks_amount(question) else _NEUTRAL  # a text that states the amount is looked for elsewhere
    uncovered = _uncovered(_LIGHT.sub("", plain(question)), entry)
    odd = {char for char in uncovered if char in asked and char not in neutral and not char.isascii()}
    found = [Doubt(about=About.STRANGE, hard=True)] if len(odd) > len(asked) // _CONTENT_PER_STRANGE else []
    if _WHERE.search(plain(question)) and not _WHERE_KNOWN.search(entry.answer + entry.detail):
        found.append(Doubt(about=About.STRANGE, hard=True, word="地址"))
    return found


def _uncovered(folded: str, entry: Entry) -> set[str]:
    """Characters that the entry doesn't hold, not even by the sound of a pair: 身分正 is 身份证, but 咬 is not 要."""
    known, sounds = _grams_in(entry), [sound_of(char) for char in folded]
    pairs = [(first, second) in known for first, second in itertools.pairwise(sounds)]
    heard = [before or after for before, after in zip([False, *pairs], [*pairs, False], strict=True)] if folded else []
    return {char for char, same in zip(folded, heard, strict=True) if not same and char not in known}


@functools.lru_cache(maxsize=2048)
def _grams_in(entry: Entry) -> frozenset[str | tuple[str, str]]:
    """Characters as written, and the sounds of each pair."""
    found: set[str | tuple[str, str]] = set()
    for text in map(plain, (entry.question, *entry.paraphrases, entry.answer, entry.detail)):
        found.update(text, itertools.pairwise(map(sound_of, text)))
    return frozenset(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meaning:
    """What must agree. denied: sounds of what is negated; actions, things: the first word of each group."""

    denied: frozenset[str]
    actions: frozenset[str]
    things: frozenset[str]
    regions: frozenset[str]
    dates: frozenset[str]
    numbers: frozenset[float]
    years: frozenset[float]


@functools.lru_cache(maxsize=2048)
def _read(text: str) -> _Meaning:
    folded = plain(text)
    years = frozenset(_value(found[0][:-1], digits=True) for found in _YEAR.finditer(folded))
    return _Meaning(
        denied=_denied(folded),
        actions=_first_words(_ACTIONS, _heard(_NEGATED.sub("|", folded))),
        things=_first_words(_THINGS, _heard(folded)),
        regions=frozenset(_REGIONS.findall(folded)),
        dates=frozenset(word for word in _RELATIVE_DATES if word in folded),
        numbers=_numbers(folded),
        years=years,
    )


@functools.lru_cache(maxsize=2048)
def _known(entry: Entry) -> _Meaning:
    """What the entry speaks of: actions in its wordings, negations in these and the answer, the rest in any of its texts."""
    wordings = [_read(text) for text in (entry.question, *entry.paraphrases)]
    parts = [*wordings, _read(entry.answer), _read(entry.detail)]
    return _Meaning(
        denied=frozenset().union(*(part.denied for part in parts[:-1])),
        actions=frozenset().union(*(part.actions for part in wordings)),
        things=frozenset().union(*(part.things for part in wordings)),
        regions=frozenset().union(*(part.regions for part in parts)),
        dates=frozenset().union(*(part.dates for part in parts)),
        numbers=frozenset().union(*(part.numbers for part in parts)),
        years=frozenset().union(*(part.years for part in parts)),
    )


def _strange_things(asked: frozenset[str], entry: Entry) -> frozenset[str]:
    """Things that the entry does not speak of. 办居住证要身份证吗 is about it; 房产证怎么办 is not, though it asks for 房产证明."""
    known = _known(entry).things
    if asked & known:
        known |= _read(entry.answer).things | _read(entry.detail).things
    return asked - known


def _nearest(question: str, entry: Entry) -> _Meaning:
    """The wording that shares most characters with the question."""
    asked = set(plain(question))
    wordings = (entry.question, *entry.paraphrases)
    return _read(max(wordings, key=lambda text: len(asked & set(plain(text))) / (len(asked) + len(text))))


def _heard(folded: str) -> str:
    return " " + " ".join(map(syllable_of, folded)) + " "


@functools.cache
def _sounds(groups: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """By sound: a recogniser's homophone means the same word."""
    return tuple((group.split()[0], tuple(_heard(word) for word in group.split())) for group in groups)


def _first_words(groups: tuple[str, ...], heard: str) -> frozenset[str]:
    return frozenset(first for first, sounds in _sounds(groups) if any(sound in heard for sound in sounds))


def _denied(folded: str) -> frozenset[str]:
    """The syllable after each negation that is one (能不能 and 睡不着 are not)."""
    rest = _HARMLESS.sub("|", _ASKING.sub("|", folded))
    return frozenset(syllable_of(found[1]) for found in _NEGATION.finditer(rest))


def _numbers(folded: str) -> frozenset[float]:
    """Figures with a unit; 一个 and 一下 are no figures."""
    return frozenset(_values(folded))


def _values(folded: str) -> Iterable[float]:
    for found in _NUMERAL.finditer(folded):
        if found[0] in {"一", "两"} or not _UNIT.match(folded, found.end()):
            continue
        yield _value(found[0], digits=False)


def _value(written: str, *, digits: bool) -> float:
    """-1 where the numeral makes no sense: it then agrees with nothing."""
    if written[0].isdigit():
        return float(written)
    if digits or not re.search("[十百千万]", written):
        return float("".join(DIGIT_OF[char] for char in written))
    value = parse_number(written)
    return -1.0 if value is None else float(value)
