"""A question and the entry that looks like it → why they may still not mean the same. Pure; knows nothing of scores or of speech.

Similar words with the opposite meaning are the danger of every stored answer (户口迁入 and 户口迁出 differ in one character). What
changes the meaning must be on both sides, else there is a doubt. A doubt never names the caller's words, only a word of our lists.
"""

from __future__ import annotations

import enum
import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from hotline.zh.numerals import DIGIT_OF, parse_number
from llm.amounts import answering_text, asks_amount
from llm.gate_words import Groups, Words, shipped
from llm.sound import sound_of, syllable_of
from llm.types import Entry
from llm.wording import content, plain


class About(enum.Enum):
    """What a doubt is about."""

    POLARITY = "polarity"
    WORD = "word"  # an entity or an action that the entry does not speak of
    REGION = "region"
    YEAR = "year"
    STRANGE = "strange"  # it asks about something that the entry has no word for
    AMOUNT = "amount"  # it asks for a fee or a sum, and the entry states none
    NUMBER = "number"
    DATE = "date"


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """hard: no stored answer either; otherwise only the hot pool abstains."""

    about: About
    hard: bool
    word: str = ""

    def __str__(self) -> str:
        """For `explain`."""
        return f"{self.about.value}:{self.word}" if self.word else self.about.value


_NEARLY_ALL = 0.8  # of the wordings
_ENOUGH_WORDINGS = 8
_REQUIRED_PART = 0.5  # of these sounds
_OF_AMOUNTS = frozenset("钱费收罚价格贵块元比例")
_LIGHT = re.compile("一[排堆群伙]|没法|[领办弄搞]法")
_WHERE = re.compile("在哪[里儿]?$|在什么地方$|(?<![改更换])地址(?:是|在|呢|$)|怎么走|位置")
_WHERE_KNOWN = re.compile("地址|位于|位置")
_MANY_SHARE = 0.2  # of what a question says: no chance of being right outweighs so much
_CONTENT_PER_STRANGE = 12  # a long story may hold one strange character for so many others

_ASKING = re.compile(r"(.)[不没]\1|(.{1,2})不\2|有没有|[不没]$|没有$|[不没](?:呢|啊|呀)$")
_HARMLESS = re.compile(
    "[弄丢搞]没了?|没了|不见|不够|别[的人处家]|[走进出用开动跑]不[了着动]|不好意思|不知道|不清楚|不大?懂|不明白|不太|不会[弄办]|"
    "差不多|不了解|要不|不然|没办?法|不管|不小心|没想到|不对吧?|睡不着|受不了"
)
_NEGATION = re.compile("(?:不|没有?|未|无|别|甭)(?:想|要|能|用|让|给|是|去|得|肯|愿意?)?(.)")
_NUMERAL = re.compile(r"[0-9]+(?:\.[0-9]+)?|[零〇一二三四五六七八九十百千万两]+")
_UNIT = re.compile("[年月日号天岁周个点元块倍度级楼次分%％]|小时|工作日")
_NEGATED = re.compile("(?:不|没有?|未|无)..")
_YEAR = re.compile(r"(?:[12][0-9]{3}|[一二][零〇一二三四五六七八九]{3})年")


def doubts(question: str, entry: Entry, *, region: str = "", words: Words | None = None) -> tuple[Doubt, ...]:
    """All that speaks against answering the question with the entry. region: ours, never a doubt. words: default the shipped."""
    words = words or shipped()
    asked, known = _read(question, words), _known(entry, words)
    denied = {syllable_of(char) for char in known.denied}
    found = [Doubt(about=About.POLARITY, hard=char in known.affirmed) for char in asked.denied if syllable_of(char) not in denied]
    found += [Doubt(about=About.WORD, hard=True, word=word) for word in _strange_actions(question, entry, words)]
    found += [Doubt(about=About.WORD, hard=True, word=word) for word in sorted(_strange_things(asked.things, entry, words))]
    found += _turned(question, entry, words)
    if not answering_text(question, entry):
        found.append(Doubt(about=About.AMOUNT, hard=True))
    strange = asked.regions - known.regions - {region.rstrip("市省")}
    found += [Doubt(about=About.REGION, hard=True, word=place) for place in sorted(strange)]
    found += _strange(question.replace(region, "") if region else question, entry, words)
    found += [Doubt(about=About.YEAR, hard=True) for _ in asked.years - known.years]
    found += [Doubt(about=About.NUMBER, hard=False) for _ in asked.numbers - known.numbers - asked.years]
    found += [Doubt(about=About.DATE, hard=False, word=word) for word in sorted(asked.dates - known.dates)]
    if not asked.denied and _nearest(question, entry, words).denied:
        found.append(Doubt(about=About.POLARITY, hard=False))
    return tuple(dict.fromkeys(found))


def things_in(text: str, words: Words | None = None) -> frozenset[str]:
    """The things (身份证, 护照…) that a text names, each by its group's first word."""
    return _read(text, words or shipped()).things


def _strange_actions(question: str, entry: Entry, words: Words) -> list[str]:
    """Actions that no wording speaks of. A word that is only heard where the entry has another one written (出国护照) is none."""
    strange = _read(question, words).actions - _known(entry, words).actions
    if not strange:
        return []
    folded, pairs = plain(question), _pairs_in(entry)
    written = {first for first, *_ in words.actions if first in strange and _says(folded, first, words)}
    return sorted(word for word in strange if word in written or not _is_across(folded, word, words, pairs))


def _says(folded: str, first: str, words: Words) -> bool:
    return any(word in folded for group in words.actions if group[0] == first for word in group)


def _is_across(folded: str, first: str, words: Words, pairs: frozenset[str]) -> bool:
    """Heard only across the border of two words of the entry."""
    sounds = [syllable_of(char) for char in folded]
    for word in (word for group in words.actions if group[0] == first for word in group):
        heard = [syllable_of(char) for char in word]
        for at in range(len(sounds) - len(heard) + 1):
            end = at + len(heard)
            if sounds[at:end] == heard and not ({folded[max(0, at - 1) : at + 1], folded[end - 1 : end + 1]} & pairs):
                return False
    return True


@functools.lru_cache(maxsize=2048)
def _pairs_in(entry: Entry) -> frozenset[str]:
    texts = map(plain, (entry.question, *entry.paraphrases, entry.answer, entry.detail))
    return frozenset(text[at : at + 2] for text in texts for at in range(len(text) - 1))


def _turned(question: str, entry: Entry, words: Words) -> list[Doubt]:
    """社保可以退吗 is no question about years, and 公积金怎么提取 is wider than what is known of tenants."""
    asked, wordings = plain(question), [plain(text) for text in (entry.question, *entry.paraphrases)]
    missing = [word for word, turn in words.turns if turn.search(asked) and not any(map(turn.search, wordings))]
    if words.elsewhere.search(asked) and not any(map(words.elsewhere.search, wordings)):
        missing.append("异地")
    said = [only for only in words.narrow if sum(1 for text in wordings if only.search(text)) >= _NEARLY_ALL * len(wordings)]
    required = _required(entry, words)
    heard = required & set(map(sound_of, asked))
    narrow = any(not _is_heard(only, asked) for only in said) or len(heard) < _REQUIRED_PART * len(required)
    missing += ["范围"] * narrow
    return [Doubt(about=About.STRANGE, hard=True, word=word) for word in missing]


@functools.lru_cache(maxsize=2048)
def _required(entry: Entry, words: Words) -> frozenset[str]:
    """Sounds that nearly every wording has: a question with few of them is about something else. Few wordings say nothing."""
    wordings = (entry.question, *entry.paraphrases)
    if len(wordings) < _ENOUGH_WORDINGS:
        return frozenset()
    held = Counter(sound for text in wordings for sound in {sound_of(char) for char in content(text) if char not in words.neutral})
    return frozenset(sound for sound, count in held.items() if count >= _NEARLY_ALL * len(wordings))


def _is_heard(only: re.Pattern[str], folded: str) -> bool:
    """By the characters, or by the sound of a word of two or more: 公基金 is 公积金."""
    heard = _heard(folded)
    words = (word for word in only.pattern.split("|") if len(word) > 1 and re.fullmatch("[\u4e00-\u9fff]+", word))
    return only.search(folded) is not None or any(_heard(word) in heard for word in words)


def _strange(question: str, entry: Entry, words: Words) -> list[Doubt]:
    """Same matter, another question: 养老金什么时候涨 is not answered by how many years one pays."""
    asked = content(question)
    neutral = (
        words.neutral | _OF_AMOUNTS if asks_amount(question) else words.neutral
    )  # a text that states the amount is looked for elsewhere
    uncovered = _uncovered(_LIGHT.sub("", plain(question)), entry)
    odd = {char for char in uncovered if char in asked and char not in neutral and not char.isascii()}
    word = "许多" if len(odd) >= _MANY_SHARE * len(asked) else ""
    found = [Doubt(about=About.STRANGE, hard=True, word=word)] if len(odd) > len(asked) // _CONTENT_PER_STRANGE else []
    if _WHERE.search(plain(question)) and not _WHERE_KNOWN.search(entry.answer + entry.detail):
        found.append(Doubt(about=About.STRANGE, hard=True, word="地址"))
    return found


def _uncovered(folded: str, entry: Entry) -> set[str]:
    """Characters that the entry doesn't hold, not even by the sound of a pair: 身分正 is 身份证, but 咬 is not 要."""
    known, sounds = _grams_in(entry), [sound_of(char) for char in folded]
    pairs = [(first, second) in known for first, second in itertools.pairwise(sounds)]
    heard = [before or after for before, after in zip([False, *pairs], [*pairs, False], strict=True)] if folded else []
    return {char for char, same in zip(folded, heard, strict=True) if not same and char not in known}


@functools.lru_cache(maxsize=2048)
def _grams_in(entry: Entry) -> frozenset[str | tuple[str, str]]:
    """Characters as written, and the sounds of each pair."""
    found: set[str | tuple[str, str]] = set()
    for text in map(plain, (entry.question, *entry.paraphrases, entry.answer, entry.detail)):
        found.update(text, itertools.pairwise(map(sound_of, text)))
    return frozenset(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meaning:
    """What must agree. denied: characters that are negated; affirmed: all others; actions, things: the first word of each group."""

    denied: frozenset[str]
    affirmed: frozenset[str]
    actions: frozenset[str]
    things: frozenset[str]
    regions: frozenset[str]
    dates: frozenset[str]
    numbers: frozenset[float]
    years: frozenset[float]


@functools.lru_cache(maxsize=2048)
def _read(text: str, words: Words) -> _Meaning:
    folded = plain(text)
    years = frozenset(_value(found[0][:-1], digits=True) for found in _YEAR.finditer(folded))
    return _Meaning(
        denied=_denied(folded),
        affirmed=frozenset(_NEGATION.sub("", folded)),
        actions=_first_words(words.actions, _heard(_NEGATED.sub("|", folded))),
        things=_first_words(words.things, _heard(folded)),
        regions=frozenset(words.regions.findall(folded)),
        dates=frozenset(word for word in words.relative_dates if word in folded),
        numbers=_numbers(folded),
        years=years,
    )


@functools.lru_cache(maxsize=2048)
def _known(entry: Entry, words: Words) -> _Meaning:
    """What the entry speaks of: actions in its wordings, negations in these and the answer, the rest in any of its texts."""
    wordings = [_read(text, words) for text in (entry.question, *entry.paraphrases)]
    parts = [*wordings, _read(entry.answer, words), _read(entry.detail, words)]
    return _Meaning(
        denied=frozenset().union(*(part.denied for part in parts[:-1])),
        affirmed=frozenset().union(*(part.affirmed for part in wordings)),
        actions=frozenset().union(*(part.actions for part in wordings)),
        things=frozenset().union(*(part.things for part in wordings)),
        regions=frozenset().union(*(part.regions for part in parts)),
        dates=frozenset().union(*(part.dates for part in parts)),
        numbers=frozenset().union(*(part.numbers for part in parts)),
        years=frozenset().union(*(part.years for part in parts)),
    )


def _strange_things(asked: frozenset[str], entry: Entry, words: Words) -> frozenset[str]:
    """Things that the entry does not speak of. 办居住证要身份证吗 is about it; 房产证怎么办 is not, though it asks for 房产证明."""
    known = _known(entry, words).things
    if asked & known:
        known |= _read(entry.answer, words).things | _read(entry.detail, words).things
    return asked - known


def _nearest(question: str, entry: Entry, words: Words) -> _Meaning:
    """The wording that shares most characters with the question."""
    asked = set(plain(question))
    wordings = (entry.question, *entry.paraphrases)
    return _read(max(wordings, key=lambda text: len(asked & set(plain(text))) / (len(asked) + len(text))), words)


def _heard(folded: str) -> str:
    return " " + " ".join(map(syllable_of, folded)) + " "


@functools.cache
def _sounds(groups: Groups) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """By sound: a recogniser's homophone means the same word."""
    return tuple((group[0], tuple(_heard(word) for word in group)) for group in groups)


def _first_words(groups: Groups, heard: str) -> frozenset[str]:
    return frozenset(first for first, sounds in _sounds(groups) if any(sound in heard for sound in sounds))


def _denied(folded: str) -> frozenset[str]:
    """The character after each negation that is one (能不能 and 睡不着 are not)."""
    rest = _HARMLESS.sub("|", _ASKING.sub("|", folded))
    return frozenset(found[1] for found in _NEGATION.finditer(rest))


def _numbers(folded: str) -> frozenset[float]:
    """Figures with a unit; 一个 and 一下 are no figures."""
    return frozenset(_values(folded))


def _values(folded: str) -> Iterable[float]:
    for found in _NUMERAL.finditer(folded):
        if found[0] in {"一", "两"} or not _UNIT.match(folded, found.end()):
            continue
        yield _value(found[0], digits=False)


def _value(written: str, *, digits: bool) -> float:
    """-1 where the numeral makes no sense: it then agrees with nothing."""
    if written[0].isdigit():
        return float(written)
    if digits or not re.search("[十百千万]", written):
        return float("".join(DIGIT_OF[char] for char in written))
    value = parse_number(written)
    return -1.0 if value is None else float(value)
