"""Skeleton → number plates, e-mail addresses, chat accounts, dates of birth. Knows nothing of plain numbers, names or places.

Each scanner looks a bounded way left and right of a fixed mark (a province, an at sign, a cue word, 月), so that all are linear.
"""

from __future__ import annotations

import re

from hotline.zh.numerals import DIGIT_OF
from llm.privacy_items import Item, disjoint
from llm.privacy_tokens import digit_of
from llm.types import Personal

_DIGITS = re.escape("".join(sorted(c for c in DIGIT_OF if len(c) == 1)))
_PLATE_HEAD = re.compile(r"[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼][\s·.]?[A-Za-z](?![a-z]{2})")
_PLATE_CUE = re.compile(r"(?:车牌|车号|牌照|牌号)[^A-Za-z。]{0,8}([A-Za-z])(?![a-z]{2})")
_PLATE_TAIL = 6  # new-energy plates have six characters after the letter, others five
_AT = re.compile(r"@|艾特|埃特|爱特|圈[aA]|小老鼠|(?<![A-Za-z])at(?![A-Za-z])")
_MAIL_CUE = re.compile(r"邮箱|电子邮件|(?i:e-?mail)")
_DOT = r"(?:\.|。|点|(?i:dot))"
_TOP = re.compile(rf"{_DOT}\s?(?i:com|cn|net|org|edu|gov|kom)(?:\s?{_DOT}\s?(?i:cn))?(?![A-Za-z])")
_DOMAIN = re.compile(rf"[\sA-Za-z\-{_DIGITS}\d.点网易腾讯新浪]*")
_LOCAL = re.compile(rf"[\sA-Za-z_\-+{_DIGITS}\d.点下划线横杠]+$")
_LOCAL_REACH, _DOMAIN_REACH = 48, 32
_CHAT = re.compile(r"微信|威信|薇信|(?i:wechat|(?<![a-z])vx|(?<![a-z])qq)|扣扣|秋秋")
_CHAT_SKIP_TEXT = "号码 号 账号 名 ID id 也是 就是 是 叫 搜 加 为 我的 我 呃 嗯 那个 : , 你 一下 小写的 大写的 小写 大写 字母 拼音"
_CHAT_SKIP = (*_CHAT_SKIP_TEXT.split(), " ")
_ACCOUNT = re.compile(rf"(?:[A-Za-z_\-{_DIGITS}\d]|下划线|横杠|杠|\s(?=[A-Za-z_{_DIGITS}\d下杠]))+")
_ACCOUNT_CHARS = 5
_N = r"[\d〇零一二三四五六七八九十]"
_DATE = re.compile(
    rf"(?:{_N}{{2,4}}\s?年\s?)?(?:农历|阴历|阳历)?{_N}{{1,3}}\s?月(?:份)?(?:\s?初?{_N}{{1,3}}(?:\s?[日号])?)?|(?:19|20)\d\d[-./]\d{{1,2}}[-./]\d{{1,2}}"
)
_YEAR = re.compile(rf"(?:{_N}{{4}}|(?<!{_N}){_N}{{2}})\s?年(?!{_N}{{1,3}}\s?月)")
_BORN_IN = re.compile(r"(?:出生(?:日期|年份|年月)?|生|生日)(?:就?是|为|于|在|[:：])\s?$")
_BORN_AFTER = re.compile(r"\s?(?:我|他|她|才|就)?(?:出生|生的|生人|生日|的生日|生(?=$|[，,。、的]))")
_BORN_BEFORE = re.compile(r"(?:出生|生日|生于|生辰)[^，,。！!？?]{0,6}$")


def find_marks(text: str, asked_for: Personal | None) -> list[Item]:
    """Everything this module knows, in order of place."""
    return disjoint([*_emails(text), *_plates(text), *_accounts(text), *_births(text, asked_for)])


def _plates(text: str) -> list[Item]:
    found: list[Item] = []
    for head in [*_PLATE_HEAD.finditer(text), *_PLATE_CUE.finditer(text)]:
        cued = head.lastindex is not None
        end, tail = _alnum(text, head.end(), _PLATE_TAIL)
        if len(tail) >= 4 + (not cued) and any(map(str.isdigit, tail)):
            start = head.start(1) if cued else head.start()
            if cued and start and re.match(r"[\u4e00-\u9fff]", text[start - 1]) and text[start - 1] not in "是为叫号":
                start -= 1
            if text[end : end + 1] in {"挂", "学", "警", "港", "澳"}:
                end += 1
            value = head.group()[-1].upper() + tail
            found.append(Item(kind=Personal.PLATE, start=start, end=end, value=value, complete=len(tail) >= _PLATE_TAIL - 1))
    return found


def _alnum(text: str, at: int, most: int) -> tuple[int, str]:
    """Up to most letters and digits from a place on, single separators between them. Returns where they end, and them."""
    end, value = at, ""
    while at < len(text) and len(value) < most:
        char = text[at]
        if char in DIGIT_OF or char.isdecimal():
            value += digit_of(char)
        elif char.isascii() and char.isalpha():
            value += char.upper()
        elif char not in " ·.-,，" or at != end:
            break
        else:
            at += 1
            continue
        at += 1
        end = at
    return end, value


def _emails(text: str) -> list[Item]:
    found: list[Item] = []
    floor = 0
    for at in _AT.finditer(text):
        if at.start() < floor:
            continue
        end = _domain_end(text, at.end())
        left = _LOCAL.search(text[max(floor, at.start() - _LOCAL_REACH) : at.start()])
        if left is None or (end is None and at.group() in {"at", "小老鼠"}):
            continue
        local = _local_part(left.group(), cued=_MAIL_CUE.search(text[max(0, at.start() - _LOCAL_REACH) : at.start()]) is not None)
        if not local.strip():
            continue
        start = at.start() - len(local)
        floor = end if end is not None else at.end()
        found.append(Item(kind=Personal.EMAIL, start=start, end=floor, value=text[start:floor].lower(), complete=end is not None))
    for cue in _MAIL_CUE.finditer(text):
        top = _TOP.search(text, cue.end(), cue.end() + _LOCAL_REACH)
        head = re.compile(rf"[A-Za-z{_DIGITS}\d]").search(text, cue.end(), top.start()) if top else None
        if top and head and top.start() >= floor and "," not in text[head.start() : top.start()]:
            found.append(Item(kind=Personal.EMAIL, start=head.start(), end=top.end(), value=text[head.start() : top.end()].lower()))
    return found


def _domain_end(text: str, at: int) -> int | None:
    window = _DOMAIN.match(text, at, at + _DOMAIN_REACH)
    top = _TOP.search(text, at, at + _DOMAIN_REACH)
    return top.end() if top and window and window.end() >= top.start() else None


def _local_part(left: str, *, cued: bool) -> str:
    """The local part: the last word, and before it only what is spelled one by one; after a cue word all of it."""
    if cued:
        return left.lstrip()
    body = left.rstrip()
    pieces = re.split(r"(\s+)", body)
    kept = [pieces.pop()] if pieces else []
    while len(pieces) > 1 and (len(pieces[-2]) == 1 or kept[0][:1] in "_.点下" or pieces[-2].endswith(("_", ".", "点", "下划线"))):
        kept = [*pieces[-2:], *kept]
        pieces = pieces[:-2]
    return "".join(kept) + left[len(body) :]


def _accounts(text: str) -> list[Item]:
    found: list[Item] = []
    floor = 0
    for cue in _CHAT.finditer(text):
        at = max(cue.end(), floor)
        for _ in range(8):
            word = next((w for w in _CHAT_SKIP if text.startswith(w, at)), None)
            if word is None:
                break
            at += len(word)
        name = _ACCOUNT.match(text, at)
        if name is None:
            continue
        floor = name.end()
        letters = sum(c.isascii() and c.isalpha() for c in name.group())
        size = letters + sum(c in DIGIT_OF for c in name.group())
        if letters and size >= _ACCOUNT_CHARS:
            found.append(Item(kind=Personal.WECHAT, start=name.start(), end=name.end(), value=name.group().lower()))
    return found


def _births(text: str, asked_for: Personal | None) -> list[Item]:
    found: list[Item] = []
    for date in _DATE.finditer(text):
        before = _BORN_BEFORE.search(text[max(0, date.start() - 12) : date.start()])
        if asked_for is Personal.BIRTH_DATE or before or _BORN_AFTER.match(text, date.end()):
            found.append(Item(kind=Personal.BIRTH_DATE, start=date.start(), end=date.end(), value=date.group()))
    for year in _YEAR.finditer(text):
        before = _BORN_IN.search(text[max(0, year.start() - 8) : year.start()])
        if asked_for is Personal.BIRTH_DATE or before or _BORN_AFTER.match(text, year.end()):
            found.append(Item(kind=Personal.BIRTH_DATE, start=year.start(), end=year.end(), value=year.group()))
    return found
