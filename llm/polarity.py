"""A clause against its source → words whose sense was turned round: 可以 / 不可以, 收费 / 免费. Knows only the two texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# (what is denied or said, the way it is denied, the way it is said)
_PAIRS = (
    (r"不可以|不能(?!够?不)|不得|不允许|不准|禁止|不可(?!抗|避)|严禁|无法", r"可以|能够|(?<!可)能(?![源力量耗])|允许|准许"),
    (
        r"不(?:用|需|需要|必|另|再)?(?:收费|要钱|交钱|缴费|付费|花钱|收取)|免费|免收|免缴|无需(?:缴费|付费|交费)|零收费",
        r"收费|要钱|要收|缴费|付费|交钱|收取",
    ),
    (r"不需要|无需|不用|不必|无须|不须|免提交", r"需要?|必须|应当|务必|须"),
    (r"不包括|不包含|不含", r"包括|包含"),
    (r"不符合", r"符合"),
    (r"不支持", r"支持"),
    (r"不(?:予|能|可以)?报销", r"报销"),
    (r"不(?:予)?受理", r"受理"),
    (r"无效|失效", r"有效(?!期)"),
    (r"不(?:得)?超过", r"超过"),
    (r"不(?:得)?(?:低于|少于)", r"低于|少于"),
    (r"以下", r"以上"),
    (r"减少|下调|降低", r"增加|上调|提高"),
    (r"不属于", r"属于"),
    (r"不(?:予)?补贴|没有补贴|取消补贴", r"有补贴|给予补贴|发放补贴"),
    (r"不(?:再)?(?:开放|办公|上班)", r"开放|办公|上班"),
    (r"未(?:满|达到)|不满", r"已满|年满|满"),
)
_COMPILED = tuple((re.compile(f"(?P<no>{no})|(?P<yes>{yes})")) for no, yes in _PAIRS)
_AROUND = 8
_QUESTION = re.compile(r"(?:能不能|可不可以|需不需要|是否|能否|可否|收不收费|要不要)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    words: str
    denied: bool
    around: frozenset[str]


def flips(said: str, source: str) -> Sequence[str]:
    """The words of a clause that the source has the other way round."""
    found: list[str] = []
    said, source = _QUESTION.sub("□", said), _QUESTION.sub("□", source)
    for pattern in _COMPILED:
        there = _claims(pattern, source)
        found.extend(claim.words for claim in _claims(pattern, said) if there and _contradicts(claim, there))
    return found


def _contradicts(claim: _Claim, there: Sequence[_Claim]) -> bool:
    """All say the opposite, or the one that speaks of the same thing does."""
    if all(other.denied != claim.denied for other in there):
        return True
    best = max(len(claim.around & other.around) for other in there)
    return best > 1 and all(other.denied != claim.denied for other in there if len(claim.around & other.around) == best)


def _claims(pattern: re.Pattern[str], text: str) -> list[_Claim]:
    claims = []
    for m in pattern.finditer(text):
        around = _bigrams(text[max(0, m.start() - _AROUND) : m.start()], text[m.end() : m.end() + _AROUND])
        claims.append(_Claim(words=m.group(), denied=m["no"] is not None, around=around))
    return claims


def _bigrams(*pieces: str) -> frozenset[str]:
    return frozenset(
        piece[at : at + 2]
        for piece in pieces
        for at in range(len(piece) - 1)
        if re.match(r"[\u4e00-\u9fff]{2}", piece[at : at + 2])
    )
