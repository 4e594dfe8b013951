"""Why a turn was answered as it was, in words that a person reads. Pure; holds what `Explained` holds, no caller's words."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType

from llm.types import Considered, Explained, Guess, Route

_ROUTES = MappingProxyType({
    Route.EMERGENCY: "听到危险情形：先说该怎么做，再加急转人工",
    Route.PERSON: "来电者要人工",
    Route.HOT: "热门答案：分数够，领先够，没有疑点",
    Route.STORED: "知识库里的条目，照读",
    Route.GENERATED: "模型依据条目生成，逐句检查后才说",
    Route.CLARIFY: "不够有把握，先反问一句",
    Route.NOTED: "不是提问，应一声",
    Route.REPEAT: "来电者没听清，或在试音",
    Route.GOODBYE: "来电者问完了",
    Route.REFUSED: "安全规则：不照办",
    Route.UNKNOWN: "知识库里没有，交给人",
})
_DOUBTS = MappingProxyType({
    "polarity": "肯定与否定相反",
    "word": "条目没有说到",
    "region": "说的是别的地方",
    "year": "年份不同",
    "strange": "问的像是另一件事",
    "amount": "问金额，条目里没有",
    "number": "数字不同",
    "date": "日期不同",
})
_LIKELY = 3


def in_words(explained: Explained) -> list[str]:
    """A few lines, the reason first."""
    told = f"{_ROUTES[explained.route]}（{explained.why or '—'}；把握 {explained.confidence:.2f}）"
    lines = [f"  为何  {told}", f"    遮蔽  {_hidden(explained)}"]
    if explained.intent is not None:
        likely = "、".join(map(_guess, explained.intent.matters[:_LIKELY]))
        lines.append(f"    意图  {likely or _guess(explained.intent.matter)}；诉求 {_guess(explained.intent.kind)}")
    lines += [f"    候选  {_considered(each, is_best=not at)}" for at, each in enumerate(explained.considered)]
    lines += [f"    未过  {name}" for name in explained.failed]
    return lines


def _hidden(explained: Explained) -> str:
    counts = Counter(item.kind for item in explained.hidden)
    return "、".join(f"{kind}×{count}" for kind, count in counts.items()) or "没有个人信息"


def _guess(guess: Guess) -> str:
    return f"{guess.title} {guess.confidence:.2f}{'' if guess.is_sure else '?'}"


def _considered(each: Considered, *, is_best: bool) -> str:
    doubts = "、".join(map(_doubt, each.doubts))
    lead = f"，领先 {each.lead:.2f}" if is_best else ""
    return f"{each.entry_id}  {each.score:.2f}{lead}" + (f"；疑点：{doubts}" if doubts else "")


def _doubt(doubt: str) -> str:
    about, _, word = doubt.partition(":")
    told = _DOUBTS.get(about, about)
    return f"{told}（{word}）" if word else told
