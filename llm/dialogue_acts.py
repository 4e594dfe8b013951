"""A caller's words → what they do to the dialogue: ask for a person, say goodbye, ask to repeat, agree, choose. Knows no topics.

Matched by sound, so that 专人工 and 在见 count; short words must be all that was said, so that a question is never taken for one.
"""

from __future__ import annotations

import enum
import functools
import re

from hotline.zh.skeleton import skeleton
from llm.sound import sound_of


class Act(enum.Enum):
    """What a turn does, when it is no question."""

    PERSON = "person"
    REPEAT = "repeat"
    GOODBYE = "goodbye"
    YES = "yes"
    NO = "no"
    WRONG = "wrong"  # 不对, 答非所问: what we said is not what was asked
    FIRST = "first"
    SECOND = "second"
    THERE = "there"  # 喂，听得到吗
    THANKS = "thanks"  # and nothing else: perhaps the end
    ROBOT = "robot"  # asks whether a machine speaks
    NO_PERSON = "no person"  # 不要转人工
    VERDICT = "verdict"  # asks us who would win
    MORE = "more"  # 我想问个事: the question comes next
    LEAVE = "leave"  # 退出


_FILLERS = (
    "嗯 呃 啊 哦 噢 呀 吧 哈 嘛 呢 了 的 那 那个 就 就是 我 你 您 喂 哎 唉 诶 好 好的 好吧 行 可以 知道了 明白了 清楚了 懂了 "
    "嗯嗯 麻烦 麻烦你 请 先 这个 给我 帮我 同志 师傅 好嘞 好咧 好哒 嘞 咯 啦 哟 哎呀 呗 那行 那好 那就 太 真 真的 非常 十分 "
    "很 都 小姑娘 姑娘 小伙子 小伙 小妹 美女 帅哥 大姐 大哥 老师 阿姨 叔叔 大爷 亲 小同志 了解了 收到 记住了 记下了 今天 "
    "暂时 目前 你们"
)
_GOODBYES = (
    "没有了 没了 没有别的了 没别的了 没有其他问题了 没什么了 没有什么了 没问题了 没事了 没事 不用了 不需要了 "
    "不问了 再见 拜拜 再会 就这样 就这样吧 就这些 就这些了 行了 好了 可以了 挂了 挂了吧 我挂了 先这样 "
    "先这样吧 没有问题了 打扰了 够了 先挂了 回头见 没别的事了 没别的事 没有别的事了 没有别的事 没其他事了 "
    "没其他的了 没有其他的了 没有其他事了 没啥了 没啥事了 没啥事 没啥问题了 没什么事了 没什么事 没什么问题了 "
    "没有事了 没别的问题了 没有别的问题了 没要问的了 没有要问的了 没什么要问的了 没有什么要问的了 没什么想问的了 "
    "问完了 不麻烦了 不麻烦你了 不麻烦您了 不打扰了 不打扰你了 不打扰您了 回头再说 下次再说 下次再聊 回头再打 "
    "就到这 就到这里 先到这 先到这里 到此为止 那就这样 我先挂 拜 祝你生活愉快 祝您生活愉快 祝你工作顺利 "
    "祝您工作顺利"
)
_COURTESIES = (
    "谢谢 谢谢你 谢谢您 感谢 多谢 辛苦了 麻烦了 辛苦 辛苦你了 辛苦您了 谢谢你了 谢了 多谢你 感谢你 感谢您 "
    "感谢了 谢谢你的帮助 谢谢您的帮助 谢谢你的解答 谢谢您的解答 谢谢你的耐心 谢谢您的耐心 帮大忙了 "
    "谢谢您了 太谢谢了"
)
_THANKS_ALONE = (
    "知道了 明白了 清楚了 懂了 了解了 晓得了 听懂了 听明白了 记住了 记下了 收到 我知道 原来这样 原来如此 原来是这样 这样啊 "
    "是这样啊 好嘞 好咧"
)
# What callers say in English, as they would in Mandarin; the rest of a turn decides as ever.
_ENGLISH = tuple(
    (re.compile(rf"(?<![a-z])(?:{english})(?![a-z])"), said)
    for english, said in (
        (
            (
                r"put\s*me\s*through(?:\s*to)?|"
                r"(?:talk|speak|transfer|connect|chat)(?:ing)?\s*(?:me\s*)?(?:to|with)\s*(?:a|an|the|your|some)?\s*(?:real|live|"
                r"actual|human)?\s*"
                r"(?:person|human|people|agent|operator|representative|someone|somebody|staff|manager|supervisor|being)|"
                r"(?:real|live|actual)\s*(?:person|human|people|agent|operator)|human\s*(?:being|agent|operator|please)|"
                r"(?:an?|the)\s*operator"
            ),
            "转人工",
        ),
        (r"no[\s,，]*(?:thanks?(?:\s*you)?)", "不用了谢谢"),
        (r"thank\s*you|thanks|thank|thx|appreciate\s*it", "谢谢"),
        (r"(?:very|so)\s*much|a\s*lot|my\s*friend|sir|miss|madam|for\s*your\s*help|for\s*(?:the\s*)?help", "啊"),
        (r"(?:good\s*)?bye(?:[\s\-,，]*bye)*|see\s*you(?:\s*(?:later|again|next\s*time))?|have\s*a\s*(?:nice|good)\s*day", "再见"),
        (r"that(?:'|’|\s+i)?s\s*(?:all|it)|nothing\s*else|no\s*more(?:\s*questions?)?", "就这样"),
        (r"ok|okay|okey|all\s*right|alright|fine|great|got\s*it|i\s*see", "好"),
        (r"yes|yeah|yep", "对"),
        (r"no|nope", "不"),
        (r"hello|hi", "你好"),
    )
)
_YESES = (
    "对 对的 对对 对对对 是 是的 是啊 没错 嗯 好 好的 好嘞 好咧 可以 行 行嘞 要 就是这个 就这个 正是 当然 对呀 对啊 是这个 "
    "嗯嗯 要的 需要 好啊"
)
_NOES = "不 不要 没有 没 不用 不需要"
_WRONGS = (
    "不是 不对 不是的 都不是 不行 不可以 不成 错了 不是这个 两个都不是 搞错了 弄错了 说错了 答错了 听错了 理解错了 回答错了 "
    "答非所问 所答非所问 牛头不对马嘴 驴唇不对马嘴 不是这个意思 不是那个意思 问的不是这个 说的不是这个 不是问这个 没问这个 "
    "不是说这个 不是这件事 不是这回事 没回答问题 没回答我的问题 没有回答问题 没答对 没回答到点上 不是我要问的 不是我问的"
)
_MORES = (
    "还有个事 还有一个事 还有件事 还有一件事 还有个事情 还有件事情 还有个问题 还有一个问题 还有问题 还有事 "
    "想问个事 想问件事 想问一件事 想问个事情 想问个问题 想问一个问题 问个事 问件事 问个问题 "
    "想咨询个事 想咨询个问题 想咨询一下 想问一下 请问一下 再问个事 "
    "再问一下 再问个问题 还想问个事 还想问一下 还想问 有个事 有件事 有个问题 有事想问 有问题想问 打听个事 想打听个事"
)
_LEAVES = "退出 结束 结束通话 退出通话 结束对话 不聊了 不想问了"
_FIRSTS = "第一个 前一个 前面那个 前面的 头一个 第一种 一 前者 第一"
_SECONDS = "第二个 后一个 后面那个 后面的 第二种 二 后者 第二"
_REPEATS = (
    "再说一遍 再说一次 再讲一遍 再讲一次 重复一遍 重复一下 重说一遍 没听清 没听清楚 没有听清 听不清 听不清楚 "
    "没听明白 没听懂 你说什么 您说什么 说的什么 说什么 刚才说什么 刚才说的什么 什么 啥 慢一点 慢点 说慢点 说慢一点 "
    "讲慢点 慢慢说 太快了 说太快了 大声点 大声一点 大点声 声音大点 声音大一点 声音太小了 听不见 没听见 没听到 听不到 "
    "能不能再说一遍 能再说一遍吗 可以再说一遍吗 再来一遍 刚才没听清 前面没听清 再念一遍 "
    "听不懂 听不明白 没明白 没懂 没听懂 慢点说 慢些 说慢些 什么意思 啥意思 "
    "说啥 说啥呢 说的啥 刚才说啥 讲啥 再说一下 再讲一下"
)
_THERES = "听得到吗 听得见吗 能听到吗 能听见吗 有人吗 在吗 还在吗 你在听吗 你好 您好 喂 喂喂 喂喂喂"
_BACKCHANNELS = (
    "嗯 嗯嗯 呃 啊 哦 噢 喔 对 对的 对对 对对对 是 是的 是啊 好 好的 好好 好好好 行 行行 明白 知道 知道了 明白了 "
    "懂了 这样啊 这样 哦哦 嗯好 哼 唉 诶 没错 可以 好嘞 好吧"
)

# How whisper-base writes 转, 人 and 工 from a telephone line, by sound: measured on synthetic callers.
_MISHEARD = tuple(frozenset(map(sound_of, forms)) for forms in ("转专赚再在制只站装真传砖", "人仁任忍仍研眼", "工公共功"))
_AFTER_PERSON = frozenset(map(sound_of, "吧啊的呀了嘛好服务"))
_MISHEARD_AT_MOST = 8

_AROUND_CHOICE = "嗯 呃 啊 哦 呀 吧 那 我 问 问的 是 对 好 想问 想问的 要问 想问的是 要问的是 问的是 说的是 的"
# 你说的不对 doubts the answer: that is an objection
_AROUND_WRONG = f"{_AROUND_CHOICE} 你 您 你们 都 也 完全 根本 全 这 这个 那个 了 嘛 哎 不不 不 还是 又"
_PHRASES = ((Act.REPEAT, _REPEATS), (Act.THERE, _THERES), (Act.MORE, _MORES), (Act.LEAVE, _LEAVES))
_CHOICES = ((Act.FIRST, _FIRSTS), (Act.SECOND, _SECONDS), (Act.NO, _NOES), (Act.YES, _YESES))

# Said within a sentence, these alone ask for a person.
_PERSON_ANYWHERE = (
    "转人工 转接人工 接人工 要人工 找人工 人工服务 人工客服 人工坐席 人工台 人工接听 人工热线 人工来 叫人工 换人工 "
    "不要机器人 不跟机器人 别跟我机器人 不想跟机器人 不和机器人 换个人来 换人来 叫个人来 叫个人 接个人 "
    "找个人来 转个人 给我接人 转接客服 转客服 找客服 要客服 接客服 叫客服 联系客服 接线员 话务员 叫你们领导 "
    "找你们领导 让你们领导 叫工作人员 转工作人员 找工作人员 接工作人员 让工作人员 请工作人员"
)
# These only when nothing else is said.
_PERSON_ALONE = (
    "人工 我要找人 找人 找个人 要个人 有人吗 换个人 换人 转 转吧 转一下 转过去 转接 接过去 客服 工作人员 跟人说话 "
    "和人说话 跟人讲 人来 来个人 不要机器 说人话 接人 给我转 帮我转"
)
_NOT_PERSON = re.compile(
    "(?:叫|派|找|让|来|换|安排|喊|请)(?:一?个|一?位|点|几个)?(?:人|师傅)(?:过?来)?(?:给|"
    "帮)?(?:我们?)?(?:家)?(?:上门)?(?:修|看|处理|查|管|清|收|拖|拆|检|维|疏|抓|测|打扫|弄)|人工[费流智授湖林耳]|"
    "[找让请叫]工作人员[^,。]{0,3}(?:核实|上门|到家|到我)|"
    "(?:不要|不用|别|先别|不需要|不想)(?:再)?(?:给我)?(?:转|接|找|叫|换)"
)
_ROBOT = re.compile(
    "^(?=.*(?:[你您]|[吗么吧呢]$|还是|是不是))[^我]{0,3}?(?:[你您这]们?|跟我说话的|对面)?(?:到底|究竟|这)?(?:是不是|"
    "不是|是)(?:一?个)?(?:机器人?|真人客服|真的?人|人工智能|人工客服|人工|活人|人|电脑|智能客服|录音|ai)"
    "(?:(?:，?还是)(?:一?个)?(?:机器人?|真人|人工智能|人工|活人|人|电脑|录音|ai))?(?:在?(?:说话|讲话|回答|接电话|"
    "接的))?[吗么吧啊呀呢的]*$"
)
_NO_PERSON = re.compile(
    "^(?:我|先|请|你|那|就|嗯|好的?|暂时|还是|都|也)*(?:不要|不用|别|不需要|不想|不必)(?:再)?(?:给我|帮我)?(?:"
    "(?:转|接|找|叫|换)(?:接|到|给)?(?:人工|真人|客服|工作人员)|人工)(?:服务|客服|坐席)?[了啊吧呀嘛]*$"
)
_VERDICT = re.compile(
    "(?:能|会|可以|可能)(?:不[能会])?(?:打|告)?(?:得)?赢|赢不赢|[打告]得赢|赢(?:的)?(?:可能|机会|几率|概率|把握|面)|胜算|"
    "胜诉(?:的)?(?:可能|机会|几率|概率|把握|率)|(?:多大|几成|有没有|有)把握|(?:能|会)(?:不[能会])?(?:胜诉|败诉|判输)|"
    "你(?:说|看|觉得).{0,4}(?:谁对|谁有理|我有理|谁占理|我占理)"
)
_PRIVATE = re.compile("个人(?=[所信账缴身隐档参养住名征贷购医社公])")  # 交个人所得税 asks to 叫个人 by sound alone
_HIS_JOB = "(?:人|同志|领导|负责人|经理|主管|班长|专员|话务员?|坐席|接线员?|值班的?(?:人员?|同志|领导|员)?)"
_PERSON_SAID = re.compile(
    rf"[转接换][到接给]?(?:一下|下|给)?(?:你们?的?)?(?:值班的?|当班的?)?{_HIS_JOB}(?:$|[来接听跟和讲说吧呗]|[行好可]|谢谢)|"
    "(?:叫|找|换|喊|让|来|整|弄|搞|安排|请)(?:一?个|一?位|你们?的?|点|几个)?(?:能|会|可以|听得?|真|大活|喘气|明白|懂|"
    "管事|做主)[^,。修看查处]{0,5}(?:人(?:来|接|说|讲|跟|听|出来|$)|的(?:来(?:接)?|跟我[说讲])(?:$|[吧啊]))|"
    rf"(?:叫|找|换|喊|让|来|整|弄|搞|派|安排|请)(?:一?个|一?位|你们?的?|咱们?)?{_HIS_JOB}(?:过?来)?(?:接|听|"
    "跟我[说讲聊]|和我[说讲聊]|同我[说讲]|说话|讲话|回答)|"
    "(?:不|别|懒得|不愿意?|受不了)(?:想|要|再|愿意?|耐烦)?(?:再)?(?:跟|和|同|与|对着|听)(?:一?个|这|你这|"
    "你们?的?)?(?:破)?(?:机器|电脑|ai|智能客服|录音|自动)|"
    "[跟和同](?:你们?的?)?(?:活?人|工作人员|领导|值班的)(?:直接)?(?:说|讲|聊|谈|通话|沟通|对话)(?:话|几句|一下)?(?:$|"
    "吧|行)|(?:有没有|有)(?:个)?喘气的|[换叫找]个?懂的|[叫让换找喊]一?个?真?人来(?:$|[吧啊])|人工(?:呢|"
    "在哪)$|(?:安排|请|叫|让)[^,。]{0,3}工作人员[^,。]{0,3}(?:跟|和|与)我|有没有人能?(?:跟|和|陪)我[说讲聊]|"
    "(?<!当)真人(?!真事|秀|版)|活人(?!墓)|转[一个位]{0,2}[能会][^,。]{0,4}的$"
)
_LAWYER = re.compile("[转接找要].{0,4}(?:律师|专员|专家).{0,4}$")
_FAR_PERSON = re.compile("[转接找叫要换].{0,6}(?:人工|真人|活人|客服|工作人员|接线员|话务员)(?![^,。]{0,3}(?:核实|上门|到家|到我))")
_LONGEST_TURN = 24  # characters; a longer turn is no mere phrase
_LONGEST_PHRASE = 9
_NOISE = re.compile(r"[\s，。！？；：、,.!?;:…~～“”\"'‘’（）()]+")


def act_of(text: str, *, answering: bool = False) -> Act | None:
    """The act, or None for a question or a statement. answering: a question of ours is open, so 好 is a yes and 不用了 a no."""
    said = folded(text)
    if not said:
        return None
    sounds = tuple(map(sound_of, said))
    if wish := _wish(said, sounds):
        return wish
    if answering and (choice := _choice(sounds)):
        return Act.NO if choice is Act.WRONG else choice
    return _first_of(_PHRASES, sounds, f"{_FILLERS} 你好 您好") or _parting(sounds) or _choice(sounds)


def _wish(said: str, sounds: tuple[str, ...]) -> Act | None:
    """What is wanted of us, wherever in the sentence it stands."""
    if _ROBOT.search(said):
        return Act.ROBOT
    if _NO_PERSON.search(said):
        return Act.NO_PERSON
    if _asks_for_person(said, sounds):
        return Act.PERSON
    return Act.VERDICT if _VERDICT.search(said) else None


def _parting(sounds: tuple[str, ...]) -> Act | None:
    """没有了谢谢 is a goodbye; 谢谢 alone may be one."""
    if spans(sounds, _GOODBYES, f"{_FILLERS} {_COURTESIES}"):
        return Act.GOODBYE
    return Act.THANKS if spans(sounds, _COURTESIES, _FILLERS) else None


def _choice(sounds: tuple[str, ...]) -> Act | None:
    """不是 is never taken apart into 不 and 是."""
    return Act.WRONG if spans(sounds, _WRONGS, _AROUND_WRONG) else _first_of(_CHOICES, sounds, _AROUND_CHOICE)


def is_backchannel(text: str) -> bool:
    """嗯, 对, 好的: the caller listens and takes no turn."""
    sounds = tuple(map(sound_of, _NOISE.sub("", skeleton(text).text)))
    return bool(sounds) and spans(sounds, _BACKCHANNELS, "")


def is_thanks(text: str) -> bool:
    """知道了, 明白了 and nothing else: understood, perhaps the end."""
    return spans(tuple(map(sound_of, folded(text))), _THANKS_ALONE, _FILLERS)


def folded(text: str) -> str:
    """Without noise, English courtesies in Mandarin."""
    folded = skeleton(text).text.lower()
    for english, said in _ENGLISH:
        folded = english.sub(said, folded)
    return _NOISE.sub("", folded)


def _first_of(table: tuple[tuple[Act, str], ...], sounds: tuple[str, ...], fillers: str) -> Act | None:
    return next((act for act, words in table if spans(sounds, words, fillers)), None)


def _asks_for_person(folded: str, sounds: tuple[str, ...]) -> bool:
    if _NOT_PERSON.search(folded):
        return False
    if _FAR_PERSON.search(folded) or _PERSON_SAID.search(folded) or _LAWYER.search(folded):
        return True
    joined = f" {' '.join(map(sound_of, _PRIVATE.sub('本人', folded)))} "
    if any(f" {' '.join(phrase)} " in joined for phrase in _phrases(_PERSON_ANYWHERE)) or _sounds_like_person(sounds):
        return True
    return spans(sounds, _PERSON_ALONE, _FILLERS + " 要 想 我要 我想 快 赶紧 马上 直接 帮忙 给 让 个")


def _sounds_like_person(sounds: tuple[str, ...]) -> bool:
    """A short turn that ends as 转人工 does when the recogniser mishears it: 再研工, 制人工, 专仁公."""
    if len(sounds) > _MISHEARD_AT_MOST:
        return False
    while sounds and sounds[-1] in _AFTER_PERSON:
        sounds = sounds[:-1]
    last = sounds[-3:]
    return len(last) == len(_MISHEARD) and all(sound in heard for sound, heard in zip(last, _MISHEARD, strict=True))


@functools.cache
def _phrases(words: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(map(sound_of, word)) for word in words.split())


def spans(sounds: tuple[str, ...], words: str, fillers: str) -> bool:
    """The whole is made of these words and fillers, with at least one of the words."""
    if len(sounds) > _LONGEST_TURN:
        return False
    strong, weak, length = _phrases(words), _phrases(fillers), len(sounds)
    fits = [False] * (length + 1)  # sounds[:at] is made of words and fillers
    meant = [False] * (length + 1)  # …with one of the words among them
    fits[0] = True
    for start in range(length):
        if not fits[start]:
            continue
        for end in range(start + 1, min(length, start + _LONGEST_PHRASE) + 1):
            piece = sounds[start:end]
            if piece in strong:
                fits[end] = meant[end] = True
            elif piece in weak:
                fits[end], meant[end] = True, meant[end] or meant[start]
    return meant[length]
