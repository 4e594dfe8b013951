"""Words that are likely now → what primes the recogniser. Knows no recogniser and no knowledge base."""

from __future__ import annotations

from asr.types import DecodeHints

MANDARIN_PROMPT = "以下是普通话的句子。"  # also makes the output simplified
MAX_HOT_WORDS = 10


def prompt_of(hints: DecodeHints) -> str:
    """The language's sentence, then the likely words; may be empty."""
    # 、 marks a list: after ， and at one beam the model took the words for speech and recited them
    words = "、".join(hints.hot_words[:MAX_HOT_WORDS])
    return (MANDARIN_PROMPT if hints.language == "zh" else "") + (words + "。" if words else "")
