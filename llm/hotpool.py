"""A question and the passages found for it → the entry whose answer may be spoken as it stands, or none. Knows no engine, no call.

Three things must agree: the score, the distance to the next entry, and the gate's doubts. When one of them doesn't, it abstains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llm.gate import About, Doubt, doubts
from llm.gate_words import Words
from llm.types import AnsweringSettings, Entry, Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """entry: the one that answers, None = abstained. why: for `explain`, without caller content."""

    entry: Entry | None
    score: float
    margin: float
    doubts: tuple[Doubt, ...]
    why: str


class HotPool:
    """The reviewed answers. Accepts only what is sure by score, margin and gate."""

    def __init__(self, settings: AnsweringSettings, words: Words | None = None) -> None:
        """Thresholds from the settings. words: of the gate, default the shipped."""
        self._settings = settings
        self._words = words

    def match(self, question: str, passages: Sequence[Passage]) -> Verdict:
        """A hot entry, spoken at once. Any doubt makes it abstain."""
        verdict = self._judge(question, passages, self._settings.hot_score, self._settings.hot_margin)
        if verdict.entry is None:
            return verdict
        if not verdict.entry.hot:
            return _abstain(verdict, "entry is not marked hot")
        if verdict.doubts:
            return _abstain(verdict, "gate " + " ".join(map(str, verdict.doubts)))
        return verdict

    def match_stored(self, question: str, passages: Sequence[Passage]) -> Verdict:
        """Any entry, read whole: a number or a date that is not in it is no obstacle, since the caller hears the rule itself."""
        verdict = self._judge(question, passages, self._settings.stored_score, self._settings.stored_margin)
        hard = [doubt for doubt in verdict.doubts if doubt.hard]
        return _abstain(verdict, "gate " + " ".join(map(str, hard))) if verdict.entry and hard else verdict

    def match_meant(self, question: str, passages: Sequence[Passage]) -> Verdict:
        """As `match_stored`, for scores with the second voice. When it is sure, unfamiliar characters alone are no obstacle."""
        verdict = self._judge(question, passages, self._settings.meant_score, self._settings.meant_margin)
        hard = [doubt for doubt in verdict.doubts if doubt.hard]
        sure = verdict.score >= self._settings.meant_sure_score and verdict.margin >= self._settings.meant_sure_margin
        if sure:
            hard = [doubt for doubt in hard if doubt.about is not About.STRANGE or doubt.word]
        return _abstain(verdict, "gate " + " ".join(map(str, hard))) if verdict.entry and hard else verdict

    def _judge(self, question: str, passages: Sequence[Passage], at_least: float, margin_at_least: float) -> Verdict:
        if not passages:
            return Verdict(entry=None, score=0.0, margin=0.0, doubts=(), why="nothing alike in the knowledge base")
        best, rest = passages[0], passages[1:]
        margin = best.score - (rest[0].score if rest else 0.0)
        figures = f"{best.entry.id} score {best.score:.2f} margin {margin:.2f}"
        verdict = Verdict(
            entry=best.entry,
            score=best.score,
            margin=margin,
            doubts=doubts(question, best.entry, region=self._settings.region, words=self._words),
            why=figures,
        )
        if best.score < at_least:
            return _abstain(verdict, f"score below {at_least}")
        if margin < margin_at_least:
            return _abstain(verdict, f"margin below {margin_at_least}")
        return verdict


def _abstain(verdict: Verdict, reason: str) -> Verdict:
    return Verdict(entry=None, score=verdict.score, margin=verdict.margin, doubts=verdict.doubts, why=f"{verdict.why}, {reason}")
