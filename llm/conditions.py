"""A clause against its source → conditions turned round and figures put beside the wrong words. Pure; knows only the two texts.

本市户籍 for 外地户籍, 三十日后 for 三十日内, 八十周岁每月二百元 where two hundred is what one of ninety gets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from llm.figures import Figure, figures

# who or what a rule is for: one side said where the source knows only the other
_OPPOSITES = tuple(
    (re.compile(one), re.compile(other))
    for one, other in (
        (r"本市(?:户籍|户口|居民)|本地(?:户籍|户口|人)", r"(?:非本市|外地|外省|非本地)(?:户籍|户口|居民|人)?"),
        (r"(?<!非)农业户口|农村", r"非农业户口|城镇|城区"),
        (r"(?<!无)(?<!没)有自有住房|名下有房", r"无自有住房|没有(?:自有)?住房|名下无房"),
        (r"婚前", r"婚后"),
        (r"单方|一方", r"双方"),
        (r"在职", r"退休"),
        (r"由单位|单位缴|单位付", r"由个人|个人缴|个人付"),
        (r"房东|出租人", r"租客|承租人"),
        (r"买方|买家", r"卖方|卖家"),
        (r"未成年人?", r"(?<!未)成年人"),
        (r"首次", r"补办|补领|换领|再次"),
        (r"到期前|期满前|届满前", r"到期后|期满后|届满后"),
        (r"本人(?:亲自)?(?:办理|到场|申请)", r"(?:他人|别人)(?:代为)?(?:办理|申请)"),
        (r"男方|男性|丈夫|父亲", r"女方|女性|妻子|母亲"),
        (r"白天|日间", r"夜间|夜里|晚上"),
        (r"自愿|可以选择", r"强制|必须"),
        (r"最高|最多|至多|不超过|不高于", r"最低|最少|至少|不少于|不低于"),
    )
)
_WITHIN = re.compile(r"之?内|以内")
_AFTER = re.compile(r"(?:以|之)?后")
_BEFORE = re.compile(r"(?:以|之)?前")
_BORDERS = (_WITHIN, _AFTER, _BEFORE)
_TIMES = frozenset({"工作日", "月", "时", "分", "岁", "周", "年", "日", "点"})
_SEGMENT = re.compile("[^，。！？；,!?;\n]+")


def turned(said: str, source: str) -> Sequence[str]:
    """Conditions that the source has the other way round."""
    found = []
    for pair in _OPPOSITES:
        for here, there in (pair, pair[::-1]):
            found += [m.group() for m in here.finditer(said) if there.search(source) and not here.search(source)]
    return found + list(_borders_turned(said, source))


def _borders_turned(said: str, source: str) -> Iterator[str]:
    """三十日后 where the source has the same thirty days only with 内."""
    known = list(_bordered(source))
    for figure, border in _bordered(said):
        there = [other_border for other, other_border in known if _is_same(figure, other)]
        if border is not None and there and all(other is not None for other in there) and border not in there:
            yield figure.words


def _bordered(text: str) -> Iterator[tuple[Figure, int | None]]:
    """Each time figure, with which of the borders stands right behind it."""
    at = 0
    for figure in figures(text):
        at = max(text.find(figure.words, at), at)
        at += len(figure.words)
        behind = text[at:]
        if figure.unit in _TIMES:
            yield figure, next((number for number, border in enumerate(_BORDERS) if border.match(behind)), None)


def misplaced(said: str, source: str) -> Sequence[str]:
    """Two figures side by side in the clause, of which the source puts another one beside the second."""
    rows = [figures(segment) for segment in _SEGMENT.findall(source)]
    found = []
    for segment in _SEGMENT.findall(said):
        here = [figure for figure in figures(segment) if any(_is_same(figure, other) for row in rows for other in row)]
        for second in here:
            held = [row for row in rows if any(_is_same(second, other) for other in row)]
            found += [first.words for first in here if first is not second and held and _is_ousted(first, held)]
    return found


def _is_ousted(first: Figure, held: Sequence[Sequence[Figure]]) -> bool:
    """Every row that holds the second figure holds another one of the first's unit, and none holds the first."""
    if not first.unit or any(_is_same(first, other) for row in held for other in row):
        return False
    return all(any(other.unit == first.unit for other in row) for row in held)


def _is_same(one: Figure, other: Figure) -> bool:
    return one.value == other.value and (not one.unit or not other.unit or one.unit == other.unit)
