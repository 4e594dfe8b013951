"""Skeleton → people's names that a cue word, a title or the bot's question announces, and how they are spelled. Knows no numbers.

Goes by a table of surnames and by the words around; a name without any cue is not found here.
"""

from __future__ import annotations

import re

from llm.privacy_items import Item, disjoint
from llm.privacy_tokens import BARRIER
from llm.types import Personal

_DOUBLE_TEXT = """
    欧阳 司马 上官 诸葛 东方 皇甫 尉迟 公孙 慕容 令狐 司徒 夏侯 长孙 宇文 端木 南宫 独孤 轩辕 百里 呼延
    申屠 太史 闻人 澹台 濮阳 淳于 单于 拓跋
"""
DOUBLE = frozenset(_DOUBLE_TEXT.split())
COMMON = frozenset(
    "王李张刘陈杨黄赵周吴徐孙朱马胡郭林何高梁郑罗宋谢唐韩曹许邓萧冯曾程蔡彭潘袁于董余苏叶吕魏蒋田杜丁沈姜范江傅钟卢汪戴崔任陆廖姚方金邱夏谭韦贾邹石熊孟秦阎"
    "薛侯雷白龙段郝孔邵史毛常万顾赖武康贺严尹钱施牛洪龚汤陶黎温莫易樊乔文安殷颜庄章鲁倪庞邢俞翟蓝聂齐向申葛柴伍覃骆关焦柳欧祝纪尚毕耿芦左季管符辛苗詹曲"
)
RARE = frozenset(
    "梅盛童阮冉裴涂祁霍翁窦饶鲍房路甘岳成车解米靳单艾闵臧卜凌桂卞宁费娄寇路盖宗喻柏屈包冷查蒲晏褚滕晋边舒穆项卓缪冼吉简佟敖宫栾荣封景闫燕仇郁班乐全戚隋原桑"
    "戈麦花楚沙丛苟冀华官谷邬国明池党连占宣苑扈巩应明时平相仲商初印慈战来"
)
_STRONG = re.compile(
    r"(?:名字|姓名|户名|开户名|真名|全名|称呼)(?:就?叫[做作]?|就?是|[:：，,]|\s)*|(?:我|他|她|名|本人|对方|老板|包工头|孩子|儿子|女儿|老公|老婆|爱人|邻居|人|方|头)就?叫(?:做|作)?|"
    r"(?:联系人|法人代表|法人|负责人|投诉人|当事人|经办人|申请人|被投诉人|收件人|户主)(?:就?叫|就?是)?(?:我本人|本人|我)?|(?:我|就)?是?(?:我本人|本人)"
)
_WEAK = re.compile(r"(?:我是|我就是|这里是|我妈是|我爸是|不是\S?[，,]?是|是|叫)")
_SURNAME = re.compile(
    r"(?:免贵|我|他|她|本人|也|老板|[，,。]\s?|^|对方|房东|邻居|医生|老师|经理|司机|师傅|同事|朋友|负责人|队长|主任|物业)姓"
)
_TITLE = re.compile(
    r"师傅|先生|女士|小姐|太太|老师(?!傅)|经理|主任|医生|大夫|律师|阿姨|大爷|大妈|大叔|大姐|大哥|叔叔|老板|队长|局长|科长|处长|所长|警官|法官|书记|院长|校长|教授|护士|同志"
)
_KIN_CUE = re.compile(
    r"(?:妈妈?|爸爸?|母亲|父亲|爱人|老公|老婆|丈夫|妻子|儿子|女儿|孩子|小孩|奶奶|爷爷|外婆|外公|弟弟|妹妹|姐姐|哥哥|"
    r"姐夫|妹夫|嫂子|舅舅|叔叔|阿姨|侄子|外甥|表[哥弟姐妹]|岳父|岳母|公公|婆婆|前妻|前夫|男朋友|女朋友|对象|班主任|护士长?|邻居|室友|同事|房东|租客|朋友|同学|"
    r"老板|司机|包工头|工头|患者|病人|学生|担保人|中介|伤者|死者|产妇|老人家?|户主|业主|店主|房客)"
)
_LEAD = re.compile(
    r"(?:^|[\s，,。、的]|投诉|举报|表扬|感谢|找|叫|是|和|跟|与|给|让|请|问|见|被|把|对|联系|医院|公司|学校|社区|单位|窗口|主任|护士)$"
)
_FAMILIAR = re.compile(r"(?:^|[\s，,。、的]|邻居|同事|找|叫|是|和|跟|那个|这个|被|让|给)(?P<form>[老小])(?=[\u4e00-\u9fff])")
_FAMILIAR_AFTER = re.compile(r"$|[\s，,。、]|[他她家说接打的]|天天|一直|老是|总|不(?![够到])|跟|和|把|给|在")
_FROM_ELSEWHERE = re.compile(
    r"(?:[\u4e00-\u9fff](?![，,。]))?[\u4e00-\u9fff·]{0,3}?(?:古丽|买买提|阿依|阿不|阿卜|艾力|吐尔|木拉提|别克|扎西|卓玛|才让|多吉|次仁|央金|格桑|巴特尔|其其格|乌云|"
    r"娜仁|斯琴|拉姆|丹增|尼玛|普布|达娃|白玛|旦增|阿迪力|艾合买提|努尔|热合曼|帕提|玛依)[\u4e00-\u9fff·]{0,4}?(?=$|[\s，,。、]|手机|电话|住|的|身份|今年)"
)
_NOT_TITLED_TEXT = """
    提高 最高 升高 主任 责任 信任 有关 相关 机关 无关 方向 一向 地方 对方 双方 官方 警方 各方 语文 中文
    非常 经常 正常 平常 主管 城管 保管
"""
_NOT_TITLED = frozenset(_NOT_TITLED_TEXT.split())
_SPELLED_TEXT = """
    木子李 口天吴 弓长张 立早章 耳东陈 双木林 草头黄 言午许 古月胡 双口吕 走肖赵 干勾于 三横王 三划王 人可何
    木易杨 西早覃 西早谭 禾呈程 双人徐 美女姜 羊女姜 文武斌 日月明 土也地 关耳郑 刀口邵 召耳邵 卯金刀刘
    文刀刘 子小孙 女又奴 马累骡 一横一竖丁 大写的丁 刂刘 木土杜 十八子李 工人江 水工江 三点水江 干钩于
"""
_SPELLED = _SPELLED_TEXT.split()
_SPELLED_WORD = re.compile("|".join(_SPELLED))
_ENDS = re.compile(
    r"[^\u4e00-\u9fff]|手机|电话|身份|住|的|我|你|他|她|是|在|想|要|来|家(?!人)|今年|欠|打|报|投诉|反映|这|那|和|跟|有|不|号|说|现|啊|呀|吧|呢|哈|了|男|女|地址|微信|联系|先生|女士|师傅|从|给|没|也|就|都|还|卡"
)
_NOT_NAMES = re.compile(
    r"一|什么|谁|何[时地处必况]|方[便法面案式向]|高[兴中三二一新铁速温考龄]|金[融额钱牛]|白[天领]|马[上路桶]|周[末一二三四五六日边围]|万[一元]|任[何务]|曾[经]|于是|成都|江[苏西北南汉]|安[徽全排]|"
    r"黄[石山冈河]|温[州度]|广|常[州德见]|苏州|徐州|郑州|贺州|施[工]|程[序度]|严[重]|关[于心注]|文[件化字]|白[云]|石[家油]|易[地]|时[间候]|路[边口上灯]|车[子位主库]|房[子东产租]|国[家企]|"
    r"平[时台]|和[平]|明[天年]|应该|全[部家]|乐[意]|原[来因]|解[决释]|包[括工]|单[位元]|成[年功立]|管[理]|符合|申[请报]|安置|向[你]|余[额]|尚未|毕[业竟]|纪[检委]|武[汉昌]|章程|康复|钱[款]|段时|牛奶|雷雨|"
    r"夏天|秦皇|左边|季度|许[多可]|查[询一]|边上|商[家场户品]|项目|简单|初[中三二一]|华[为侨]|花[钱了园]|米[饭]|官[网方]|连[续]|战[友]|宁[波夏]|史[上]|罗[列]|洪[水]|汤|龙[头岗华]|农|居民|业主|老[人师板]|残疾|低保|退休|本[地市]|外地|新[来区]|学生|家[长属]"
)
_WORDS_TEXT = """
    谢谢 周岁 辛苦 范围 毛病 顾客 颜色 齐全 石头 陆续 黄色 黄金 孙子 孙女 韩国 戴口 戴着 董事 杜绝 张贴 张口 张嘴 张罗 胡同
    胡说 胡乱 高考 高压 高血 高级 高层 高校 高等 高峰 高额 高价 高热 高烧 安排 安装 安心 安静 安检 安保 严格 温暖 温和 文凭
    文盲 文明 文字 文科 左右 右边 关系 关闭 关门 常常 常务 常年 方案 方言 方才 任课 任教 任职 管教 管家 程度 金牌 金属 金子
    林业 林场 马虎 马桶 牛肉 龙虾 钟头 钟表 季节 季末 向来 向着 尚且 章程 康健 武器 武术 易燃 莫名 莫非 毕业 强制 顾家 顾不
    白白 白血 白内 白癜 史料 于今 江湖 江边 田里 田地 叶子 夏季 秋季 梅雨 苏醒 余款 余下 余生 邻居 石材 段落 雷同 雷电 汤药
    艾滋 贺卡 施暴 施肥 盛大 沈阳 柳州 郑重 严厉 管道 管线 管网 万能 万分 温泉 谢绝 谢罪 焦急 焦虑 席位 车祸 时常 阳性 阴性
    任性 常用 常住 常见 常规 常去 常来 常在 高管 黄牛 陈旧 骨折 何必 何苦 何况 何时 何地 何处
"""
_WORDS = frozenset(_WORDS_TEXT.split())
_ALONE = 2  # a surname and a mark
_GIVEN = 2  # characters of a given name
_KIN = re.compile(r"的(?:[妈爸儿女老爱邻家父母妻丈姐哥弟妹]|手机|电话|身份|微信|朋友|同事|代理|律师|委托)")
_ROLE = re.compile(r".{0,2}(?:员|师|工人|户|者|区|市|县|村|镇|店|公司|局|所|院|站|厂|学|校|民|人|司机|生)")

_BEFORE_NUMBER = re.compile(
    rf"(?:^|[,，。、\s])(?=[\u4e00-\u9fff]{{2,3}}的?(?:手机|电话|身份证|微信)号?码?(?:就?是)?[\s,:]?{BARRIER})"
)  # 罗小满电话〈…〉
_AND_NUMBER = re.compile(rf"^[\s嗯呃啊]*(?=[\u4e00-\u9fff]{{2,4}}[\s，,、]{{1,2}}{BARRIER})")  # 邵一鸣，〈…〉
_OWNED = re.compile(
    r"的(?:身份证|护照|通行证|医保|社保|居住证|暂住证|户口|户籍|驾照|驾驶证|行驶证|房产证|不动产|银行卡|工资卡|存折|病历|诊断书|准考证|学生证|毕业证|学历|档案|"
    r"出生证|结婚证|离婚证|残疾证|老年证|退休证|退役证|低保证|死亡证|名字|名义|签名|签字|户头|账户|账号|名下)|名下"
)
_OWNER_LEAD = re.compile(
    r"(?:[天后前了到着过在用拿持凭帮替代为办补查交看丢捡偷拍传带有以由从同或还但份填写签挂户所]|关于|以及|因为|登记)$"
)
_PLACES_TEXT = """
    张北 张掖 唐山 汤阴 黄山 黄石 黄冈 黄骅 金华 金昌 金门 金坛 江门 江阴 江津 江宁 江苏 江西 白山 白银 白城 文山 文昌 武汉
    武威 武昌 武夷山 常熟 常德 安阳 安庆 安顺 安康 安徽 安国 邢台 许昌 毕节 孟买 高邮 高雄 高密 康定 吕梁 侯马 曲靖 曲阜 鲁山
    万宁 龙岩 洪湖 石狮 石林 马鞍山 马来 莫斯科 钟祥 任丘 徐水 温岭 林芝 陆丰 陆良 韩国 韩城 蒙古 萧山 余姚 余杭 薛城 章丘
    乔木 向阳 常山 常宁 常平 孟加拉 吴江 吴中 郑东 程江 贾汪 谢通门
"""
_PLACES = frozenset(_PLACES_TEXT.split())
_PLACE_ENDS = "州市县省区镇村口庄港岛界色人"
_OWN = re.compile(r"(?:^|[，,。！!？?\s喂]|[您你]好)我(?=[\u4e00-\u9fff]{2,3}[啊呀哈嘛哦啦]?(?:$|[，,。！!？?\s]))")
_SAID_ALONE = re.compile(r"[啊呀哈嘛哦啦]?(?:$|[，,。！!？?\s])")
_OF = re.compile("的")
_PHRASE = re.compile(r"(?:(?![是就])[\u4e00-\u9fff])*$")
_PHRASE_CHARS = 6
_CLAUSE = re.compile(r"(?:^|[，,。、\s])")


def find_names(text: str, asked_for: Personal | None, *, named: bool) -> list[Item]:
    """Names in order of place. named: the last turn gave a name, so that this one may spell it."""
    found = [_name_at(text, cue.end(), sure=True) for cue in _STRONG.finditer(text)]
    found += [_surname_at(text, cue.end()) for cue in _SURNAME.finditer(text)]
    if asked_for is Personal.NAME:
        at = len(text) - len(text.lstrip(" 嗯呃额啊哦我叫姓是，,"))
        found.append(_name_at(text, at, sure=True, alone=len(text) - at <= _ALONE))
    corrects = any(found)
    found += [_name_at(text, begin.end(), sure=False) for first in (_BEFORE_NUMBER, _AND_NUMBER) for begin in first.finditer(text)]
    found += [_name_at(text, cue.end(), sure=False) for cue in _WEAK.finditer(text) if corrects or cue.group() != "是"]
    found += [_titled(text, title.start()) for title in _TITLE.finditer(text)]
    found += [_name_at(text, cue.end(), sure=False, apart=True) for cue in _KIN_CUE.finditer(text)]
    found += [_full_titled(text, title.start()) for title in _TITLE.finditer(text)]
    found += [_owner(text, thing.start()) for thing in _OWNED.finditer(text)]
    found += [_alone(text, own.end()) for own in _OWN.finditer(text)]
    found += [_familiar(text, form.end()) for form in _FAMILIAR.finditer(text)]
    found += [_from_elsewhere(text, cue.end()) for cue in _STRONG.finditer(text)]
    names = _spelled_names(text) if not any(found) else []
    names += [item for item in found if item]
    if names or named or asked_for is Personal.NAME:
        names += _spellings(text)
    return disjoint(names)


def _name_at(text: str, at: int, *, sure: bool, alone: bool = False, apart: bool = False) -> Item | None:
    """A surname and one or two characters. sure: the cue leaves no doubt: rare surnames count too; alone: a surname will do.

    apart: the cue is said before many other words too.
    """
    if _NOT_NAMES.match(text, at) or (apart and text[at : at + 2] in _WORDS):
        return None
    double = text[at : at + 2] in DOUBLE
    if not double and text[at : at + 1] not in COMMON and not (sure and text[at : at + 1] in RARE):
        return None
    size = 2 if double else 1
    if _TITLE.match(text, at + size):
        return None
    end = at + size
    while end < at + size + 2 and end < len(text) and not _ENDS.match(text, end):
        end += 1
    given = end - at - size
    closed = end == len(text) or _ENDS.match(text, end) is not None
    if (given == 0 and not alone) or (
        not sure
        and (not closed or (text[end : end + 1] == "的" and not _KIN.match(text, end)) or _ROLE.fullmatch(text, at + 1, end))
    ):
        return None
    return Item(kind=Personal.NAME, start=at, end=end, value=text[at:end])


def _surname_at(text: str, at: int) -> Item | None:
    size = 2 if text[at : at + 2] in DOUBLE else 1
    surname = text[at : at + size]
    if size == 1 and surname not in COMMON and surname not in RARE:
        return None
    return Item(kind=Personal.NAME, start=at, end=at + size, value=surname)


def _titled(text: str, at: int) -> Item | None:
    """王师傅: the surname before a title."""
    start = at - 2 if text[max(0, at - 2) : at] in DOUBLE else at - 1
    surname = text[max(0, start) : at]
    if start < 0 or (len(surname) == 1 and surname not in COMMON) or text[start - 1 : at] in _NOT_TITLED:
        return None
    return Item(kind=Personal.NAME, start=start, end=at, value=surname)


def _full_titled(text: str, at: int) -> Item | None:
    """张伟医生, 曹雪梅女士: a whole name before a title, where a name may begin."""
    for size in (3, 2):
        start = at - size
        name = text[max(0, start) : at]
        known = name[:2] in DOUBLE if size > 2 else False  # noqa: PLR2004  a double surname and one character
        if start < 0 or not (known or name[0] in COMMON) or not re.fullmatch("[\u4e00-\u9fff]+", name) or _ENDS.search(name[1:]):
            continue
        if name[:2] in _WORDS or _NOT_NAMES.match(name) or not _LEAD.search(text[max(0, start - 2) : start]):
            continue
        return Item(kind=Personal.NAME, start=start, end=at, value=name)
    return None


def _owner(text: str, at: int) -> Item | None:
    """刘洋的身份证: a name before a document or a signature, which a place or a word may be, too."""
    for size in (4, 3, 2):
        start = at - size
        name = text[max(0, start) : at]
        surname = 2 if name[:2] in DOUBLE else 1
        if start < 0 or not 0 < size - surname <= _GIVEN or (surname == 1 and name[0] not in COMMON):
            continue
        if name[-1] in _PLACE_ENDS or not _is_name(name) or not _may_begin(text, start):
            continue
        return Item(kind=Personal.NAME, start=start, end=at, value=name)
    return None


def _may_begin(text: str, start: int) -> bool:
    before = text[max(0, start - 2) : start]
    after_kin = any(kin.end() == start for kin in _KIN_CUE.finditer(text, max(0, start - 3), start))
    return after_kin or _LEAD.search(before) is not None or _OWNER_LEAD.search(before) is not None


def _is_name(name: str) -> bool:
    """Neither a place nor a word nor a trade."""
    if not re.fullmatch("[\u4e00-\u9fff]+", name) or name in _PLACES or name[:2] in _WORDS:
        return False
    return not (_NOT_NAMES.match(name) or _ENDS.search(name[1:]) or _ROLE.fullmatch(name[1:]))


def _alone(text: str, at: int) -> Item | None:
    """我刘洋啊: nothing else is said."""
    item = _name_at(text, at, sure=False, apart=True)
    return item if item and _SAID_ALONE.match(text, item.end) and _is_name(item.value) else None


def _familiar(text: str, at: int) -> Item | None:
    """老李, 小张 as people are called."""
    surname = text[at : at + 1]
    if surname not in COMMON or surname in "于高方金白毛石田钱马龙时江黄向文严关常安赖" or not _FAMILIAR_AFTER.match(text, at + 1):
        return None
    return Item(kind=Personal.NAME, start=at, end=at + 1, value=surname)


def _from_elsewhere(text: str, at: int) -> Item | None:
    """阿依古丽, 扎西多吉: names without a Han surname, after a cue that leaves no doubt."""
    name = _FROM_ELSEWHERE.match(text, at)
    return Item(kind=Personal.NAME, start=at, end=name.end(), value=name.group()) if name else None


def _spelled_names(text: str) -> list[Item]:
    """林可，双木林: a name that nothing announces, but whose surname is spelled."""
    surnames = {word.group()[-1] for word in _SPELLED_WORD.finditer(text)} & (COMMON | RARE)
    starts = (begin.end() for begin in _CLAUSE.finditer(text) if text[begin.end() : begin.end() + 1] in surnames)
    return [item for at in starts if (item := _name_at(text, at, sure=True))]


def _spellings(text: str) -> list[Item]:
    """木子李, 晴天的晴, 饮水思源的思源."""
    found = [Item(kind=Personal.SPELLING, start=m.start(), end=m.end(), value=m.group()) for m in _SPELLED_WORD.finditer(text)]
    for of in _OF.finditer(text):
        before = _PHRASE.search(text[max(0, of.start() - _PHRASE_CHARS) : of.start()])
        phrase = before.group() if before else ""
        for size in (2, 1):
            word = text[of.end() : of.end() + size]
            if len(phrase) > size == len(word) and word in phrase:
                found.append(Item(kind=Personal.SPELLING, start=of.start() - len(phrase), end=of.end() + size, value=phrase))
                break
    return found
