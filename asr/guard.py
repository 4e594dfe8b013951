"""Refuses invented text: a decode in, a reason out. Knows nothing of audio; what it is told of the speech is its voiced length.

Whisper fills silence, noise and tones with sentences: video credits, loops, its own prompt. Every rule below has a name (the
reason in `Unclear` and in metrics) and a figure; the figures were measured on telephone audio, where real speech has an average
log-probability of -0.1 to -0.8, a no-speech probability below 0.45, and 2 to 6 characters a second.
"""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from asr.types import Decoded
from hotline.zh.numerals import DIGIT_OF
from hotline.zh.script import simplify

MAX_NO_SPEECH_PROB = 0.6
MIN_AVG_LOGPROB = -1.0
MIN_SHORT_ANSWER_LOGPROB = -1.6  # one syllable scores low (对 -1.03); a syllable invented for noise lies below -4
MAX_COMPRESSION_RATIO = 2.0
MAX_CHARACTERS_PER_S = 9.0
EDGE_S = 0.2  # the detector cuts up to this much from a word's edges: short answers would look too fast
MIN_VOICED_MS = 250
MAX_ECHO_DISTANCE = 0.3
MIN_ECHO_WORDS = 3  # one or two hot words alone are an answer; three or more and little else are the list recited
MIN_ECHO_SHARE = 0.8
LOOPS = {1: 8, 2: 5, 3: 4}  # length of the repeated piece: how often is too often
LOOPS_LONG = 3
MAX_LOOP_PIECE = 12
SHORT_ANSWERS = frozenset((
    "对", "好", "是", "行", "嗯", "喂", "有", "没", "不", "要", "能", "会", "可", "中", "哎", "啊", "哦", "诶", "在",
    "对对", "好的", "是的", "没有", "不是", "不用", "不要", "可以", "行吧", "好吧", "人工",
))  # fmt: skip
BOILERPLATE = (
    "字幕由", "字幕提供", "字幕制作", "字幕组", "字幕志愿者", "中文字幕", "提供的字幕", "作词", "作曲", "词曲",
    "请不吝点赞", "点赞订阅", "订阅转发", "打赏支持", "欢迎订阅", "订阅我的频道", "订阅频道",
    "明镜与点点", "明镜需要您的支持", "明镜火拍", "amaraorg", "mingpaocanada", "优优独播剧场", "yoyotelevision",
    "感谢观看", "谢谢观看", "感谢收看", "谢谢收看", "感谢您的观看", "谢谢大家观看", "谢谢大家收看",
    "下期视频", "下期节目", "我们下期再见", "下集再见", "subtitlesby", "thanksforwatching",
)  # fmt: skip
_NOT_WORDS = re.compile(r"[\W_]+")
_KANA_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af\u1100-\u11ff]")
_LETTERS = re.compile(r"[^\W\d_]")
_LATIN_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class _Case:
    """One decode as the rules see it. words: simplified, lower case, without punctuation; voiced_ms None: not known."""

    decoded: Decoded
    words: str
    voiced_ms: int | None
    prompts: tuple[str, ...]
    hot_words: tuple[str, ...]


def refusal(decoded: Decoded, *, voiced_ms: int | None, prompts: Sequence[str] = (), hot_words: Sequence[str] = ()) -> str | None:
    """The first rule that refuses this text, or None. voiced_ms None: not known yet; prompts, hot_words: what primed the model."""
    case = _Case(
        decoded, bare(decoded.text), voiced_ms, tuple(bare(prompt) for prompt in prompts), tuple(bare(word) for word in hot_words)
    )
    return next((name for name, refuses in RULES.items() if refuses(case)), None)


def bare(text: str) -> str:
    """Simplified, full-width folded, lower case, without punctuation or spaces."""
    return _NOT_WORDS.sub("", simplify(unicodedata.normalize("NFKC", text)).lower())


def _nan_score(case: _Case) -> bool:
    # comparisons with NaN are all false: it would pass every limit
    return not (math.isfinite(case.decoded.avg_logprob) and math.isfinite(case.decoded.no_speech_prob))


def _no_words(case: _Case) -> bool:
    return not case.words


def _no_speech(case: _Case) -> bool:
    return case.decoded.no_speech_prob > MAX_NO_SPEECH_PROB


def _unsure(case: _Case) -> bool:
    return case.decoded.avg_logprob < (MIN_SHORT_ANSWER_LOGPROB if case.words in SHORT_ANSWERS else MIN_AVG_LOGPROB)


def _too_short(case: _Case) -> bool:
    return case.voiced_ms is not None and case.voiced_ms < MIN_VOICED_MS and case.words not in SHORT_ANSWERS


def _too_fast(case: _Case) -> bool:
    if case.voiced_ms is None:
        return False
    spoken = _LATIN_WORD.sub(lambda word: "x" * math.ceil(len(word[0]) / 3), case.words)  # a syllable has about three letters
    return len(spoken) > MAX_CHARACTERS_PER_S * (case.voiced_ms / 1000 + EDGE_S)


def _compressible(case: _Case) -> bool:
    text = "".join(character for character in case.words if not _is_digit(character)).encode()
    return bool(text) and len(text) / len(zlib.compress(text)) > MAX_COMPRESSION_RATIO


def _loop(case: _Case) -> bool:
    return any(_repeats(case.words, size, LOOPS.get(size, LOOPS_LONG)) for size in range(1, MAX_LOOP_PIECE + 1))


def _repeats(words: str, size: int, limit: int) -> bool:
    """Whether a piece of this size stands `limit` times in a row. Digits may: 88888888 is a number."""
    same = 0
    for at in range(size, len(words)):
        same = same + 1 if words[at] == words[at - size] else 0
        if same >= size * (limit - 1):
            piece = words[at - size + 1 : at + 1]
            uniform = size > 1 and len(set(piece)) == 1  # 对对对对 is the rule for single characters' business
            if not uniform and not all(map(_is_digit, piece)):
                return True
    return False


def _boilerplate(case: _Case) -> bool:
    return any(phrase in case.words for phrase in BOILERPLATE)


def _foreign_script(case: _Case) -> bool:
    letters = len(_LETTERS.findall(case.words))
    return letters > 0 and len(_KANA_HANGUL.findall(case.words)) * 2 >= letters


def _prompt_echo(case: _Case) -> bool:
    return any(_near(case.words, prompt) for prompt in case.prompts if prompt) or _recited(case.words, case.hot_words)


def _recited(words: str, hot_words: tuple[str, ...]) -> bool:
    """Whether the text is little else than hot words: real questions ask something about them."""
    found = [word for word in sorted(hot_words, key=len, reverse=True) for _ in range(words.count(word)) if word]
    return len(found) >= MIN_ECHO_WORDS and sum(map(len, found)) >= MIN_ECHO_SHARE * len(words)


def _near(words: str, prompt: str) -> bool:
    longest = max(len(words), len(prompt))
    if abs(len(words) - len(prompt)) > MAX_ECHO_DISTANCE * longest:
        return False
    return _distance(words, prompt) <= MAX_ECHO_DISTANCE * longest


def _distance(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for i, mine in enumerate(left, 1):
        diagonal, row[0] = row[0], i
        for j, yours in enumerate(right, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (mine != yours))
    return row[-1]


def _is_digit(character: str) -> bool:
    return character.isdigit() or character in DIGIT_OF


RULES: dict[str, Callable[[_Case], bool]] = {
    "nan_score": _nan_score,
    "no_words": _no_words,
    "no_speech": _no_speech,
    "unsure": _unsure,
    "too_short": _too_short,
    "too_fast": _too_fast,
    "boilerplate": _boilerplate,
    "loop": _loop,
    "compressible": _compressible,
    "foreign_script": _foreign_script,
    "prompt_echo": _prompt_echo,
}
