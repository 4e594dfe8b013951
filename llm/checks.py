"""A generated clause and the passages it should rest on → findings; none: it may be spoken. Knows no models and no speech.

Each rule has a name and is a pure function of text. Stored answers are not put through these: they are reviewed words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hotline.zh.skeleton import skeleton
from llm.citation_scan import scan
from llm.conditions import misplaced, turned
from llm.figures import Figure, figures
from llm.grounding import Ungrounded, coverage, ungrounded
from llm.law_names import key_of
from llm.polarity import flips
from llm.types import MaskedText, Passage

__all__ = ["Finding", "check_clause", "check_reply"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One reason why a clause may not be spoken. rule: stable name; detail: the words of the clause that it is about."""

    rule: str
    detail: str


_Rule = tuple[str, Callable[[str, str, MaskedText], Sequence[str]]]

_EVERYBODYS = frozenset({"110", "119", "120", "122", "12345"})  # true without any passage
_GUESS = re.compile(  # 六七十万, 十七八岁: no figure, and a statement all the same
    "(?<![〇零一二两三四五六七八九幺])(?:一两|两三|三两|二三|三四|三五|四五|五六|六七|七八|八九)(?:[十百千万亿]+|工作日|[个天日年元块次份人岁倍周])"
)
_PLACEHOLDER = re.compile(r"〈[^〈〉]{1,12}〉")
_PROMISE = re.compile(
    r"一定(?:能|会|可以|给您|帮您|赔|赢|办|通过|批|解决|没问题|行)|保证(?:您|你|能|会|给|让|可以|赔|通过|解决|办)|"
    r"我们?保证|肯定(?:能|会|可以|赔|赢|没问题|给|行|通过|批|是您)|绝对(?:能|会|可以|没|不会|赔|赢)|"
    r"百分之?百(?:能|会|可以|赔|通过|没)|包您|包在我|必(?:赢|胜|赔)|稳赢|我们?(?:向您)?承诺|"
    r"您(?:就)?(?:能|会|可以)(?:打)?赢(?:的|了|官司)?|"
    r"(?:马上|立刻|今天)(?:就)?(?:给|帮|为)您(?:解决|办好|处理好|办成|办下来|办妥|搞定|批)|"
    r"(?:已经?|就)(?:给|帮|为|替)您(?:[^,。]{0,4})(?:办好|办完|办成|办妥|批了|批准|通过|发放|审批)(?!的|后|之后)|"
    r"我(?:亲自|来)?(?:给|帮|为|替)您(?:办好|办完|办成|办妥|批|搞定|通过)了?|"
    r"(?<!如果)(?<!若)(?<!果)您的[^,。]{0,10}已经?(?:被)?(?:通过了?|批准|批下来|审批通过|审核通过|通过审核|通过审批|到账|打到|"
    r"发到|批复)[^,。的后]{0,6}(?:$|[,。!])|我亲自(?:给|帮|为)?您?[^,。]{0,3}办|包(?:过|赢|成|办成|通过|批)(?:的|$)|打包票|"
    r"[铁必注]定(?:能|会|可以|赢|赔)|准能|赢定了?|"
    r"(?:对方|法院)[^,。]{0,4}(?:肯定|一定|必然|铁定|会判您|支持您)|(?:跟|和)领导(?:说|打)[一个]*(?:声|招呼)|走后门|"
    r"责任[^,。]{0,4}百分之?百|百分之?百[^,。]{0,3}(?:是|在)(?:他|她|对方)|"
    r"(?:全|都|百分之?百)[^,。]{0,2}是(?:对方|他们?|她)的?(?:责任|错)"
)
_RESIDUE = re.compile(
    r"(?:资料|市民问题|问题|回答|答案?|参考资料|来电人|用户|市民|客服|话务员|助手|注意|说明|提示|备注|要求|规则)\s?:|"
    r"<\|?|\|>|im_(?:start|end)|endoftext|作为(?:一个|一名|一款)?(?:ai|人工智能|语言模型|大模型|智能助手|语音助手)|"
    r"我是(?:一个|一名)?(?:ai|人工智能|语言模型|大模型)|"
    r"(?:根据|依据|按照|基于)(?:您)?(?:所)?(?:提供的|以上|上述|给定的|给出的|上面的)(?:资料|材料|内容|信息|文本|问题)|"
    r"(?:资料|材料|知识库|上下文)(?:中|里|内|显示|没有)|\[[A-Za-z_\d]|"
    r"【|```|#{2,}|\*\*|system|assistant|passage|\ufffd|提示词|https?:",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"(?:没有|未)(?:找到|查到|提到|提及|说明|相关|包含|涉及|给出)|"
    r"(?:无法|不能|没办法|没法)(?:回答|确定|提供|判断|给出|查询到|确认)|(?:我)?不(?:太)?(?:知道|清楚|了解|确定)|"
    r"很?抱歉|对不起"
)
_FOREIGN = re.compile(r"[\u3040-\u30ff\uac00-\ud7af\u0400-\u04ff]|(?:[A-Za-z]{2,}[\s,.']+){4,}")
_EDITION = re.compile("（[0-9-]{10}版）")  # the date of a law's text grounds no figure
_CITED = re.compile(r"《([^《》]{2,40})》")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\ue000-\uf8ff]")
_OURS = "转人工 工作人员 市民热线 紧急情况"  # named without any passage
_COVERED_FROM = 0.5
_DETAIL = 24


def check_clause(clause: str, passages: tuple[Passage, ...], question: MaskedText) -> tuple[Finding, ...]:
    """Every reason not to speak a generated clause. Empty: it may be spoken."""
    texts = ((p.entry.question, p.entry.answer, p.entry.detail, _EDITION.sub("", p.entry.source)) for p in passages)
    return _judged(clause, skeleton("\n".join(text for each in texts for text in each)).text, question, _RULES)


def check_reply(clause: str, question: MaskedText) -> tuple[Finding, ...]:
    """Every reason not to speak a clause whatever it rests on: what can be judged without its passages."""
    return _judged(clause, "", question, _OF_THE_CLAUSE)


def _judged(clause: str, source: str, question: MaskedText, rules: Sequence[_Rule]) -> tuple[Finding, ...]:
    if _CONTROL.search(clause):
        return (Finding(rule="control", detail="control character"),)
    said = skeleton(clause).text
    return tuple(Finding(rule=name, detail=found[:_DETAIL]) for name, rule in rules for found in rule(said, source, question))


def _nothing(said: str, _source: str, _question: MaskedText) -> Sequence[str]:
    return () if re.search(r"\w", said) else (said,)


def _placeholder_invented(said: str, _source: str, question: MaskedText) -> Sequence[str]:
    known = {span.placeholder for span in question.spans}
    return [m for m in _PLACEHOLDER.findall(said) if m not in known] or (["〈"] if "〈" in _PLACEHOLDER.sub("", said) else [])


def _masked_echoed(said: str, _source: str, question: MaskedText) -> Sequence[str]:
    """A placeholder is a label on the caller's data: it is read back from the vault, never by a model."""
    return [span.placeholder for span in question.spans if span.placeholder in said]


def _number(said: str, source: str, _question: MaskedText) -> Sequence[str]:
    known = figures(source)
    stated = figures(_PLACEHOLDER.sub("□", said))
    wrong = [figure.words for figure in stated if not _grounded(figure, known) and not _is_each(figure, source)]
    return wrong + [m.group() for m in _GUESS.finditer(said) if m.group() not in source]


def _is_each(figure: Figure, source: str) -> bool:
    """一年两万 where the source says 每年两万."""
    return figure.value == "1" and bool(figure.unit) and figure.words.startswith("一") and f"每{figure.words[1:]}" in source


def _grounded(figure: Figure, known: Sequence[Figure]) -> bool:
    if figure.value in _EVERYBODYS and not figure.unit and "十" not in figure.words:
        return True
    return any(figure.value == other.value and (not figure.unit or not other.unit or figure.unit == other.unit) for other in known)


def _citation(said: str, source: str, _question: MaskedText) -> Sequence[str]:
    """Only what the passages cite: these were looked up in the law table when the knowledge base was checked."""
    named = [f"《{name}》" for name in _CITED.findall(said) if name.removeprefix("中华人民共和国") not in source]
    known = {(key_of(each.law), each.article) for each in scan(source, lambda _: False)}
    laws = {law for law, _ in known}
    cited = [each for each in scan(said, lambda name: key_of(name) in laws) if (key_of(each.law), each.article) not in known]
    return named + [said[each.start : each.end] for each in cited if each.article or key_of(each.law) not in laws]


def _promise(said: str, source: str, _question: MaskedText) -> Sequence[str]:
    return [m.group() for m in _PROMISE.finditer(said) if m.group() not in source]


def _prompt_residue(said: str, source: str, _question: MaskedText) -> Sequence[str]:
    return [m.group() for m in _RESIDUE.finditer(said) if m.group() not in source]


def _polarity(said: str, source: str, _question: MaskedText) -> Sequence[str]:
    return flips(said, source)


def _condition(said: str, source: str, _question: MaskedText) -> Sequence[str]:
    return turned(said, source)


def _row(said: str, source: str, _question: MaskedText) -> Sequence[str]:
    return misplaced(said, source)


def _entity(said: str, source: str, _question: MaskedText) -> Sequence[str]:
    """Papers, offices, payments and the like that no passage names."""
    return [each.words for each in _strange(said, source) if each.has_head]


def _unsupported(said: str, source: str, _question: MaskedText) -> Sequence[str]:
    """Other words from nowhere; or so many that it speaks about another matter."""
    found = [each.words for each in _strange(said, source) if not each.has_head]
    return found or ([said] if coverage(_bare(said), source) < _COVERED_FROM else [])


def _strange(said: str, source: str) -> Sequence[Ungrounded]:
    return ungrounded(_bare(said), f"{source}\n{_OURS}")


def _bare(said: str) -> str:
    """What other rules judge is theirs: laws, placeholders, and words of the model about itself."""
    return _RESIDUE.sub("，", _REFUSAL.sub("，", _PROMISE.sub("，", _PLACEHOLDER.sub("，", _CITED.sub("，", said)))))


def _refusal(said: str, source: str, _question: MaskedText) -> Sequence[str]:
    return [m.group() for m in _REFUSAL.finditer(said) if m.group() not in source]


def _foreign(said: str, source: str, _question: MaskedText) -> Sequence[str]:
    return [m.group() for m in _FOREIGN.finditer(said) if m.group() not in source]


_OF_THE_CLAUSE: tuple[_Rule, ...] = (
    ("nothing", _nothing),
    ("placeholder_invented", _placeholder_invented),
    ("masked_echoed", _masked_echoed),
    ("promise", _promise),
    ("prompt_residue", _prompt_residue),
    ("foreign", _foreign),
)
_OF_THE_PASSAGES: tuple[_Rule, ...] = (
    ("number", _number),
    ("citation", _citation),
    ("polarity", _polarity),
    ("condition", _condition),
    ("row", _row),
    ("entity", _entity),
    ("unsupported", _unsupported),
    ("refusal", _refusal),
)
_RULES = (*_OF_THE_CLAUSE, *_OF_THE_PASSAGES)
