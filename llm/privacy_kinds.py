"""What kinds of personal numbers look like, and which numbers are public. Pure functions of digits and of the words around them.

Knows nothing of calls or turns; privacy_numbers.py puts the two together.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from llm.privacy_tokens import BARRIER
from llm.types import Personal

CUE_REACH = 14  # characters before a number in which a cue word counts
SURE_DIGITS = 7  # this many digits are masked whatever they are
LENGTH = {  # longest form of each kind
    Personal.MOBILE: 11,
    Personal.LANDLINE: 12,
    Personal.ID_CARD: 18,
    Personal.BANK_CARD: 19,
    Personal.PASSPORT: 9,
    Personal.PLATE: 8,
    Personal.QQ: 11,
    Personal.WECHAT: 20,
    Personal.ACCOUNT: 20,
    Personal.CREDIT_CODE: 18,
    Personal.BIRTH_DATE: 8,
    Personal.NUMBER: 20,
}
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_MOBILE = re.compile(r"(?:00?86|86)?(1[3-9]\d{9})")
_LANDLINE = re.compile(r"0(?:10|2\d|[3-9]\d\d)[2-9]\d{6,7}")
_LOCAL = re.compile(r"[2-9]\d{6,7}")  # without its area code, which begins with 0
_FREEPHONE = re.compile(r"[48]00\d{7}")
_PASSPORT = re.compile(r"E[A-Z]\d{7}|[EGDPSHM]\d{8}")  # with passes to and from Hong Kong and Macao
_CREDIT_CODE = re.compile(r"[0-9A-HJ-NPQRTUWXY]{17,18}")
_QQ = re.compile(r"[1-9]\d{4,10}")
_PUBLIC = re.compile(
    r"110|119|120|122|100(?:00|10|50|60|86)|1008611|111(?:83|85)|12[0-9]{3}|123(?:15|33|45|48|56|66)|96\d{3,4}|95\d{3}"
)

_CUE_WORDS = {
    Personal.LANDLINE: "座机 固话 固定电话 区号 家里电话",
    Personal.MOBILE: "手机 电话 联系方式 打我 打这个 打给我 联系我 找我 回电 回我 拨我 打回来 phone call 短信",
    Personal.ID_CARD: "身份证 证件号 证件 证号 社会保障号 社保卡号 社保号 医保号 医保卡号 公民身份 居住证号",
    Personal.BANK_CARD: "银行卡 储蓄卡 信用卡 借记卡 工资卡 卡号 账户 帐户 账号 帐号 存折 那个卡 这个卡 卡是 卡里 打到卡 退到 开户",
    Personal.PASSPORT: "护照 通行证",
    Personal.PLATE: "车牌 车号 牌照 牌号",
    Personal.QQ: "qq 扣扣 秋秋 企鹅号 球球",
    Personal.WECHAT: "微信 威信 vx 薇信",
    Personal.CREDIT_CODE: "信用代码 税号 执照号 注册号 纳税人识别号",
    Personal.BIRTH_DATE: "出生 生日",
    Personal.NUMBER: "尾号 尾数 末四位 前四位 前六位 后四位 后六位 后几位 验证码 密码 号码 "
    "订单号 单号 编号 准考证 学号 工号 户号 表号 户头 我的号 我这个号",
}
_KIND_OF_CUE = {word: kind for kind, words in _CUE_WORDS.items() for word in words.split()}
_CUE = re.compile("|".join(sorted(map(re.escape, _KIND_OF_CUE), key=len, reverse=True)))
_ANNOUNCED = re.compile(
    rf"(?:{_CUE.pattern})(?P<said>号码?|码)?(?:的?(?:前面?|开头|打头))?(?P<leads>就是|是|为|[:：])?[\s，,、。.…嗯呃额啊哦那个就呢]{{0,12}}$"
)
_STOPS = re.compile(rf"[。！？!?；;{BARRIER}]")
CORRECTION = re.compile(r"不对|不是|错了|说错|报错|念错|更正|纠正|改成|应该是|重新说|重说|重来|搞错|记错|口误|sorry")

# what may follow a number that is nobody's: an amount, a count, a date, a floor
_AMOUNT = re.compile(
    r"\s*(?:元(?![旦宵月])|块(?!的?号)|毛|万|亿|%|个(?!人?号)|人(?!民)|户(?![名口])|吨|公里|平方|平米|度|千瓦|立方|美元|港币|人民币)"
)
_UNIT = re.compile(
    r"\s*(?:角|分(?!机)|年|月|日|天|名|次|倍|平|米|公[里斤顷]|斤|里|路|街|楼|层|栋|幢|座|单元|室|条|款|项|章|节|期|届|级|岁|点|时|秒|℃|家|台|辆|页|版|折|"
    r"[号]?(?:线|院|文|窗口|楼|门|航站)|号(?=[^码]|$)|小时|周|批|套|间|把|起|届|年级|班|款|式|型|环|国道|省道|高速|乘|x|×)"
)
_AMOUNT_BEFORE = re.compile(
    r"(?:转|付|花|交|充|收|扣|欠|退|借|赔|罚|补|拿|发|剩|贷|挣|赚|存|取|给|多|少|共|计|约|差|超过|不到|[¥￥$])(?:了|我|他|她|你|您|到|近)?\s*$"
)
_STAFF_BEFORE = re.compile(r"(?:工号|员工号|警号|胸牌号?|坐席号|座席号|内线|分机号?码?)(?:就?是|为|[:：,，])?\s*$")
_STAFF_AFTER = re.compile(r"号(?:的?)(?:话务|接线|坐席|座席|客服|工作人员|柜员|民警|警员|办事员)")
_ORDINAL_BEFORE = re.compile(r"第\s*$")
_DOCUMENT_BEFORE = re.compile(r"[发字办函令规通税综〔\[(（]\s*$")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DATE = r"(?:19|20)\d\d\s*[-./．]\s*(?:0?[1-9]|1[0-2])\s*[-./．]\s*(?:0?[1-9]|[12]\d|3[01])(?!\d)"
_DATES = re.compile(rf"{_DATE}(?:[\s,，、;；/|~～—–\-]{{1,5}}{_DATE})*")
_LIST_MARKS = (re.compile(r"\s*[/／;；、|｜:：]\s*"), re.compile(r"\s*[,，]\s*"))
_FIGURE = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,4}")
_FIGURES = 3
_MONEY_WORDS = re.compile(r"费|价|钱|标准|档|金额|工资|补贴|补助|津贴|押金|租金|罚款|额度|限额|余额|面积|分数|成绩")
_TRAIN = re.compile(r"[GDCZTKYSL]\d{1,4}")


def is_public(value: str) -> bool:
    """A number of the public's: emergency and service lines."""
    return _PUBLIC.fullmatch(value) is not None


def id_card_fits(value: str) -> bool:
    """18 characters, a date that can be, and the right check character (GB 11643)."""
    if len(value) != LENGTH[Personal.ID_CARD] or not value[:17].isdigit() or not _can_be_born(value[6:14]):
        return False
    return "10X98765432"[sum(w * int(d) for w, d in zip(_ID_WEIGHTS, value, strict=False)) % 11] == value[17]


def _can_be_born(date: str) -> bool:
    return date.isdigit() and _YEAR.match(date) is not None and 1 <= int(date[4:6]) <= 12 and 1 <= int(date[6:8]) <= 31  # noqa: PLR2004  months, days


def bank_card_fits(value: str) -> bool:
    """13 to 19 digits of an issuer's range with the right Luhn digit."""
    if not 13 <= len(value) <= LENGTH[Personal.BANK_CARD] or not value.isdigit() or value[0] not in "34569":  # noqa: PLR2004  ISO/IEC 7812
        return False
    doubled = [int(d) * (2 if at % 2 else 1) for at, d in enumerate(reversed(value))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0  # noqa: PLR2004  a digit sum


_FITS: dict[Personal, Callable[[str], bool]] = {
    Personal.MOBILE: lambda value: _MOBILE.fullmatch(value) is not None,
    Personal.LANDLINE: lambda value: any(p.fullmatch(value) for p in (_LANDLINE, _FREEPHONE, _LOCAL)),
    Personal.ID_CARD: id_card_fits,
    Personal.BANK_CARD: bank_card_fits,
    Personal.PASSPORT: lambda value: _PASSPORT.fullmatch(value) is not None,
    Personal.QQ: lambda value: _QQ.fullmatch(value) is not None,
    Personal.CREDIT_CODE: lambda value: len(value) == LENGTH[Personal.CREDIT_CODE],
    Personal.BIRTH_DATE: lambda value: len(value) == LENGTH[Personal.BIRTH_DATE] and _can_be_born(value),
}


def fits(kind: Personal, value: str) -> bool:
    """The value has the length and check digit of its kind; false for a kind that has none."""
    check = _FITS.get(kind)
    return check is not None and check(value)


def kind_by_form(value: str) -> Personal | None:
    """The kind that the number's own form makes sure, if any."""
    for kind in (Personal.MOBILE, Personal.ID_CARD):
        if fits(kind, value):
            return kind
    if _LANDLINE.fullmatch(value) or _FREEPHONE.fullmatch(value):
        return Personal.LANDLINE
    if not value.isdigit() and _PASSPORT.fullmatch(value):
        return Personal.PASSPORT
    if not value[:17].isdigit() and len(value) >= 17 and _CREDIT_CODE.fullmatch(value):  # noqa: PLR2004  one letter may be lost
        return Personal.CREDIT_CODE
    if len(value) >= 15 and bank_card_fits(value):  # noqa: PLR2004  shorter ones pass Luhn by chance
        return Personal.BANK_CARD
    return None


def cue_before(text: str, start: int) -> Personal | None:
    """The kind that the words before a number announce: the nearest cue wins, 尾号 and 后四位 being about what is named before."""
    window = text[max(0, start - CUE_REACH) : start].lower()
    for stop in _STOPS.finditer(window):
        window = " " * stop.end() + window[stop.end() :]
    found = [_KIND_OF_CUE[m.group()] for m in _CUE.finditer(window)]
    sure = [kind for kind in found if kind is not Personal.NUMBER]
    return (sure or found or [None])[-1]


def announced(text: str, end: int, *, digits: int) -> Personal | None:
    """The kind of number that the words right before `end` begin: 我的手机号是… fewer digits (or none yet) need plainer words."""
    found = _ANNOUNCED.search(text[max(0, end - 2 * CUE_REACH) : end].lower())
    if found is None or not (found["leads"] or found["said"] or digits > 2):  # noqa: PLR2004  身份证一 may be a choice
        return None
    return _KIND_OF_CUE[_CUE.findall(found.group())[0]]


def cue_after(text: str, end: int) -> Personal | None:
    """The kind that the words right after a number name: …是我手机, …这个账户."""
    found = _CUE.search(re.split(r"[，,。！!？?]", text[end : end + 8].lower(), maxsplit=1)[0])
    return _KIND_OF_CUE[found.group()] if found else None


def kind_asked(words: str) -> Personal | None:
    """The kind of personal data that the bot's words ask for, if they ask for any."""
    if not re.search(r"请|报|说|提供|多少|什么|告诉|核对|留|哪|几|谁|是[？?]?$", words):
        return None
    found = [_KIND_OF_CUE[m.group()] for m in _CUE.finditer(words.lower())]
    if found:
        return found[-1]
    for kind, pattern in (
        (Personal.NAME, r"姓名|名字|贵姓|怎么称呼|叫什么|联系人是谁|您是谁|哪位"),
        (Personal.ADDRESS, r"地址|住址|住在哪|门牌|具体位置|哪个小区"),
    ):
        if re.search(pattern, words):
            return kind
    return None


def amount_follows(text: str, end: int) -> bool:
    """An amount or count: the number is nobody's, however long."""
    return _AMOUNT.match(text, end) is not None


def unit_follows(text: str, end: int) -> bool:
    """Any unit that makes a short number nobody's."""
    return amount_follows(text, end) or _UNIT.match(text, end) is not None


def amount_precedes(text: str, start: int) -> bool:
    """花了, 欠我, ¥: what comes is money."""
    return _AMOUNT_BEFORE.search(text[max(0, start - 6) : start]) is not None


def is_staff(text: str, start: int, end: int) -> bool:
    """工号零三七, 幺零二三号话务员: who serves is somebody too."""
    return _STAFF_BEFORE.search(text[max(0, start - 8) : start]) is not None or _STAFF_AFTER.match(text, end) is not None


def ordinal_precedes(text: str, start: int) -> bool:
    """第: an article, a place in a queue."""
    return _ORDINAL_BEFORE.search(text[max(0, start - 2) : start]) is not None


def is_document(text: str, start: int, end: int, value: str) -> bool:
    """国发2023 5号, 鲁政办字2023第105号: a year after an office's word, and 号."""
    after_office = _DOCUMENT_BEFORE.search(text[max(0, start - 2) : start]) is not None
    return after_office and len(value) <= 8 and is_year(value[:4]) and text[end : end + 1] == "号"  # noqa: PLR2004  a year and a count


def are_plain_dates(text: str, start: int, end: int) -> bool:
    """2023-05-01 as written, or several."""
    found = _DATES.match(text, start)
    return found is not None and found.end() == end


def are_figures(text: str, start: int, end: int) -> bool:
    """费用100/200/300: a list of sums as written, round ones or after a word for money, that no cue announces."""
    words, before = text[start:end], text[max(0, start - CUE_REACH) : start]
    pieces = next((mark.split(words) for mark in _LIST_MARKS if mark.search(words)), [])
    if not pieces or not all(map(_FIGURE.fullmatch, pieces)) or cue_before(text, start) is not None:
        return False
    if all(piece.endswith("0") for piece in pieces):
        return True
    like_a_line, like_a_card = len(pieces) < _FIGURES, len(pieces) > _FIGURES and {len(piece) for piece in pieces} == {4}
    return _MONEY_WORDS.search(before) is not None and not (like_a_line or like_a_card)


def is_year(value: str) -> bool:
    """1900 to 2099."""
    return _YEAR.fullmatch(value) is not None


def is_train(value: str) -> bool:
    """G7501."""
    return _TRAIN.fullmatch(value) is not None
