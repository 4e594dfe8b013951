"""A text → the articles of laws that it cites, and what it claims of them. Linear; knows which names exist, no article's text.

《劳动合同法》第八十二条, 劳动合同法82条, 《民法典》第一千零七十六条、第一千零七十七条 (two articles of one law), 该法第五条 (the
law named before), 《物业管理条例》 (no article).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hotline.zh.skeleton import skeleton
from llm.law_names import COUNTRY, article_of, key_of

_NUMERAL = "[0-9零〇一二两三四五六七八九十百千]{1,8}"
_TOKEN = re.compile(
    r"《(?P<quoted>[^《》]{2,80})》"
    rf"|第? ?(?P<article>{_NUMERAL} ?条(?:之{_NUMERAL})?)(?![件例款约理])(?:第?{_NUMERAL}款)?(?:第?\(?{_NUMERAL}\)?项)?"
    r"|(?P<by>根据|依据|依照|按照|违反|适用)(?:我国|中国|国家|现行|最新的?|新的?)?(?=(?P<bare>[\u4e00-\u9fff]{2,30}?法典?)(?![\u4e00-\u9fff]{0,4}第|典))"
)
_LAWLIKE = re.compile(
    r"(?:法典?|通则|总则|条例|规定|办法|解释|细则|规则|决定|批复|意见|通知|公告|章程|规范|标准|规程|准则|制度)(?:\([^()]{1,12}\))*$"
)
_NO_LAW = re.compile("[办方做说看想用算写手书语魔疗]法$")
_ENDS_BARE = re.compile(r"(?:法典?|通则|总则|条例|规定|办法|解释|细则|规则)$")
_NOT_ITS = re.compile("(?:合同|协议|制度|章程|手册|规约|公约|条款|守则)$")  # whose article it is: no law's
_ITSELF = re.compile("(?<!基)本(?:法|条例|办法|规定)$")  # a law's words about itself, quoted
_ITS = re.compile("(?:[该此]|(?<!合)同|(?<!基)本|上述|前述)法(?:律|典)?$")
_SAME_LAW = re.compile(r"^[、,和及与以至到~\-—或并且同时还有()的 ]*$")
_BEFORE_NAME = re.compile(
    "(?:据|照|按|国|新|现行|的|是|看|在|和|与|及|或|违反|适用|对|如|说|过|查|由|因|为|于|了|有|从|到|以|叫|给|援引)$"
)
_LEADS_IN = re.compile(r".*(?:根据|依据|依照|按照|违反|适用|参照|我国|的|了|是|说|和|与)")
_SENTENCE = re.compile(r"[。!?;\n]")
_LONGEST_NAME = 40
_MADE_UP = re.compile("(?:保护|保障|管理|促进|防治|处罚|诉讼|合同|监督|安全|教育|保险|救助)法$")
_WORDS = re.compile(r"\w")
_ENOUGH = 4  # characters that make a claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """law: as written, without 《》; article: 第八十二条, empty where none is named; start, end: in the folded text."""

    law: str
    article: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """Articles that are cited together, and what is claimed of them (may be empty)."""

    citations: tuple[Citation, ...]
    claim: str


def folded(text: str) -> str:
    """The form that is scanned: width and script folded."""
    return skeleton(text).text


def scan(text: str, is_known: Callable[[str], bool]) -> tuple[Citation, ...]:
    """Every citation of a folded text, in order. is_known: whether a law of that name is, or was."""
    found: list[Citation] = []
    quoted_until = -1
    for token in _TOKEN.finditer(text):
        if (
            token["article"]
            and found
            and _quotes_itself(text[found[-1].end : token.start()], text[max(quoted_until, 0) : token.start()])
        ):
            quoted_until = token.end()
        elif token["quoted"]:
            if _LAWLIKE.search(token["quoted"]) and not _NO_LAW.search(token["quoted"].removesuffix("办法")):
                found.append(Citation(law=token["quoted"], article="", start=token.start(), end=token.end()))
        elif token["bare"]:
            if name := _bare_alone(token["bare"], is_known):
                start = token.end()
                found.append(Citation(law=name, article="", start=start, end=start + len(token["bare"])))
        elif (number := article_of(token["article"].replace(" ", ""))) and (law := _law_of(text, token.start(), found, is_known)):
            name, start, takes_over = law
            if takes_over:  # the name that stood there alone is this article's
                found.pop()
            found.append(Citation(law=name, article=number, start=start, end=token.end()))
    return tuple(found)


def _quotes_itself(since_cited: str, since_quoted: str) -> bool:
    """违反本法第八十四条、第八十五条 inside the words of a law that was cited: no citation of its own."""
    if _ITSELF.search(since_cited) and not _SENTENCE.search(since_cited):
        return True
    return len(since_quoted) < len(since_cited) and _SAME_LAW.match(since_quoted) is not None


def grouped(text: str, citations: Sequence[Citation]) -> tuple[Cited, ...]:
    """Citations side by side share their claim: the rest of their sentence, or what stands before where there is no rest."""
    groups: list[list[Citation]] = []
    for each in citations:
        if groups and _SAME_LAW.match(text[groups[-1][-1].end : each.start]):
            groups[-1].append(each)
        else:
            groups.append([each])
    found = []
    for number, group in enumerate(groups):
        begin = groups[number - 1][-1].end if number else 0
        end = groups[number + 1][0].start if number + 1 < len(groups) else len(text)
        claim = _after(text[group[-1].end : end]) or _before(text[begin : group[0].start])
        found.append(Cited(citations=tuple(group), claim=claim))
    return tuple(found)


def _after(rest: str) -> str:
    """The first sentence that says something."""
    return next((part for part in _SENTENCE.split(rest) if len(_WORDS.findall(part)) >= _ENOUGH), "")


def _before(lead: str) -> str:
    last = _SENTENCE.split(lead)[-1]
    return last if len(_WORDS.findall(last)) >= _ENOUGH else ""


def _law_of(text: str, at: int, found: Sequence[Citation], is_known: Callable[[str], bool]) -> tuple[str, int, bool] | None:
    """The law whose article stands at `at`, where the citation begins, and whether the last citation becomes part of it."""
    last = found[-1] if found else None
    gap_from = last.end if last else 0
    before = text[max(gap_from, at - _LONGEST_NAME) : at].rstrip(" ,的中里")
    if last and not before.strip("()"):
        return last.law, (last.start if not last.article else at), not last.article
    if name := _bare_before(before, is_known):
        return name, at - len(text[max(gap_from, at - _LONGEST_NAME) : at]) + before.rindex(name), False
    if last is None or _NOT_ITS.search(before):
        return None
    if _SENTENCE.search(text[gap_from:at]) and not _ITS.search(before):
        return None
    if "解释" in before:  # 《民法典》合同编通则司法解释第三条
        return f"{last.law}{before.rpartition(',')[2]}", last.start, not last.article
    return last.law, (last.start if not last.article else at), not last.article


def _bare_before(before: str, is_known: Callable[[str], bool]) -> str:
    """A name without 《》 that a text ends with."""
    if not _ENDS_BARE.search(before) or _ITS.search(before) or _NO_LAW.search(before.removesuffix("办法")):
        return ""
    run = re.search(r"[\u4e00-\u9fff]+$", before)
    name = run[0] if run else ""
    for start in range(len(name)):
        if is_known(name[start:]) and (start == 0 or _BEFORE_NAME.search(name[:start])):
            return name[start:]
    cut = _LEADS_IN.match(name[:-2])
    rest = name[cut.end() :] if cut else name
    return rest if len(rest) > len("某法") and rest not in {"规定", "办法", "条例"} else ""


def _bare_alone(name: str, is_known: Callable[[str], bool]) -> str:
    """根据劳动法: known; 根据劳动者保护法: no law, but it claims to be one; 根据这个方法: none."""
    key = key_of(name.removeprefix(COUNTRY))
    return name if is_known(key) or _MADE_UP.search(name) else ""
