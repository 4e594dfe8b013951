"""A text that cites laws → whether each citation stands: law and article exist, are in force that day, and say so. Knows no speech.

A claim stands when every figure with a unit in it is in the article, and enough of its words are.
"""

from __future__ import annotations

import datetime as dt
import enum
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from llm.citation_scan import Citation, Cited, folded, grouped, scan
from llm.figures import Figure, figures
from llm.law_names import key_of, short_names
from llm.laws import Gone, Law, LawTable

_ALIKE_FROM = 0.3  # share of a claim's pairs of characters that stand in the article
_SURE, _BETTER = 0.7, 0.25  # another article says it: so much of the claim, and so much more than the cited one


class Verdict(enum.Enum):
    """What is found of a citation, the gravest first."""

    NO_SUCH_LAW = "no_such_law"
    REPEALED = "repealed"
    NO_SUCH_ARTICLE = "no_such_article"
    NOT_YET_IN_FORCE = "not_yet_in_force"
    TEXT_MISMATCH = "text_mismatch"
    UNVERIFIED = "unverified"  # a regulation, an interpretation, a local rule: the table has none; or nothing is cited at all
    OK = "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One citation and what is found of it. why: for people, without the claim."""

    citation: Citation
    verdict: Verdict
    why: str


def verdict_of(text: str, laws: LawTable, today: dt.date) -> Verdict:
    """The gravest of what is found in a text."""
    found = {finding.verdict for finding in check_citations(text, laws, today)}
    return next((verdict for verdict in Verdict if verdict in found), Verdict.UNVERIFIED)


def check_citations(text: str, laws: LawTable, today: dt.date) -> tuple[Finding, ...]:
    """Every citation of a text, in order."""
    plain = folded(text)
    names = frozenset((*laws.names(), *short_names()))
    found: list[Finding] = []
    for cited in grouped(plain, scan(plain, lambda name: key_of(name) in names)):
        own = [_standing(citation, laws, today) for citation in cited.citations]
        words = [text for _, text in own if text]
        why = ""
        if words and len(words) == len(own):
            why = _mismatch(cited.claim, "\n".join(words)) or _elsewhere(cited, "\n".join(words), laws, today)
        for finding, _ in own:
            wrong = Finding(citation=finding.citation, verdict=Verdict.TEXT_MISMATCH, why=why)
            found.append(wrong if why else finding)
    return tuple(found)


def _standing(citation: Citation, laws: LawTable, today: dt.date) -> tuple[Finding, str]:
    """Whether law and article are there and in force; and the article's text."""
    verdict, why, text = _look_up(citation.law, citation.article, laws, today)
    return Finding(citation=citation, verdict=verdict, why=why), text


def _look_up(name: str, article: str, laws: LawTable, today: dt.date) -> tuple[Verdict, str, str]:
    law = laws.on(name, today)
    if law is None:
        return (*_why_not(name, laws, today), "")
    if not article:
        return Verdict.OK, f"{law.name}, text of {law.version}", ""
    text = laws.article(law, article)
    if text is None:
        return Verdict.NO_SUCH_ARTICLE, f"{law.name} ends with {laws.last_article(law)}", ""
    return Verdict.OK, f"{law.name} {article}, text of {law.version}", text


def _why_not(name: str, laws: LawTable, today: dt.date) -> tuple[Verdict, str]:
    if gone := laws.gone(name, today):
        return Verdict.REPEALED, told_gone(gone)
    if texts := laws.texts(name):
        return Verdict.NOT_YET_IN_FORCE, f"{texts[0].name} is in force from {texts[0].since}"
    if is_national(name):
        near = laws.near(name)
        return Verdict.NO_SUCH_LAW, f"no law is called so{f'; near it is {near}' if near else ''}"
    return Verdict.UNVERIFIED, "no law of the People's Congress: the table does not hold it"


def is_national(name: str) -> bool:
    """Only the People's Congress makes a 法; regulations and interpretations have other names."""
    return re.search(r"(?<![办方])法典?(?:\([^()]*\))?$|^民法[通总]则$", key_of(name)) is not None


def told_gone(gone: Gone) -> str:
    """What became of it, for people."""
    return f"{gone.name} is repealed{f' since {gone.on}' if gone.on else ''}{f', replaced by {gone.by}' if gone.by else ''}"


# ---------------------------------------------------------------- what it says

_CARRIERS = re.compile(
    "根据|依据|依照|按照|规定|明确|要求|指出|写明|写得|当中|的话|您|你|我们?|咱们?|可以|能够|应当|应该|需要|必须|属于|的|了|是|就|也|都|会|要|如果|因此|所以|"
    "请|这|那|一条|条文|内容|讲|说|即|关于|对于|对|就是|有关|相关|法律|告诉|大家"
)
_HANZI = re.compile(r"[\u4e00-\u9fff]+")
_SAME = (
    (re.compile("双倍"), "二倍"),
    (re.compile("翻[一]?倍|加倍"), "二倍"),
    (re.compile("(?<![一二三四五六七八九十])半年"), "六个月"),
    (re.compile("一半"), "百分之五十"),
    (re.compile("([一二三四五六七八九])成(?![年人立])"), r"百分之\g<1>十"),
    (re.compile("个工作日"), "工作日"),
    (re.compile("周岁"), "岁"),
    (re.compile("个(?=[十百千万]*[元倍])"), ""),
    (re.compile("个自然日|自然日"), "日"),
)
_DATE = re.compile(
    r"(?:19|20)\d\d年(?:\d{1,2}月(?:\d{1,2}[日号])?)?|[一二][零〇九][零〇一二三四五六七八九]{2}年(?:[一二三四五六七八九十]{1,3}月(?:[一二三四五六七八九十]{1,3}[日号])?)?"
)
_OTHER_ARTICLE = re.compile(
    r"第[0-9零〇一二三四五六七八九十百千]{1,8}[条款项章编节](?:之[一二三四五六七八九十]{1,3})?|[(][一二三四五六七八九十\d]{1,3}[)]"
)
_COUNTS = frozenset({"个", "条", "款"})  # 三个条件 counts the claim's own words
_IN_MONTHS = {"年": 12, "月": 1}


def _mismatch(claim: str, article: str) -> str:
    """Why the article does not say what is claimed of it; empty: it does, or nothing is claimed."""
    if strange := strange_figures(claim, article):
        return f"not in the article: {', '.join(strange)}"
    if alike(claim, article) < _ALIKE_FROM:
        return "the article speaks of something else"
    return ""


def strange_figures(claim: str, article: str) -> list[str]:
    """The figures with a unit in a claim that the article doesn't hold."""
    known = _figures(article)
    told = [figure for figure in _figures(claim) if figure.unit and figure.unit not in _COUNTS]
    return [figure.words for figure in told if not any(_same(figure, other) for other in known)]


def _elsewhere(cited: Cited, article: str, laws: LawTable, today: dt.date) -> str:
    """Why another article of that law says it, and the cited ones hardly do."""
    here = alike(cited.claim, article)
    law = laws.on(cited.citations[0].law, today)
    if law is None or here >= _SURE:
        return ""
    said = _pairs(_OTHER_ARTICLE.sub("□", cited.claim))
    best, number = max((len(said & pairs) / len(said), number) for number, pairs in _law_pairs(laws, law))
    return f"it is {number} that says so" if best >= max(_SURE, here + _BETTER) else ""


@functools.lru_cache(maxsize=8)
def _law_pairs(laws: LawTable, law: Law) -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple((number, _pairs(folded(text))) for number, text in laws.articles(law))


def _figures(text: str) -> Sequence[Figure]:
    text = _OTHER_ARTICLE.sub("□", _DATE.sub("□", folded(text)))
    for pattern, other in _SAME:
        text = pattern.sub(other, text)
    return figures(text)


def _same(one: Figure, other: Figure) -> bool:
    if one.value == other.value and one.unit == other.unit:
        return True
    if {one.unit, other.unit} <= _IN_MONTHS.keys() and one.value.isdecimal() and other.value.isdecimal():
        return int(one.value) * _IN_MONTHS[one.unit] == int(other.value) * _IN_MONTHS[other.unit]
    return False


def alike(claim: str, article: str) -> float:
    """Share of the claim's pairs of characters that stand in the article; 1 for a claim of nothing."""
    pairs = _pairs(_OTHER_ARTICLE.sub("□", claim))
    return len(pairs & _pairs(folded(article))) / len(pairs) if pairs else 1.0


def _pairs(text: str) -> frozenset[str]:
    runs = _HANZI.findall(_CARRIERS.sub("", text))
    return frozenset(run[at : at + 2] for run in runs for at in range(len(run) - 1))
