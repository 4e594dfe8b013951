"""A recogniser by script: passes the same contract as the real one."""

import threading
from dataclasses import dataclass, field

from asr.types import Decoded, DecodeHints, Pcm, RecogniserFailed


@dataclass
class ScriptedRecogniser:
    """Says the next text for each decode, the last one for ever. fails: raises instead; gate: decodes wait for it."""

    texts: tuple[str, ...] = ("社保卡丢了怎么办",)
    rate_hz: int = 16_000
    avg_logprob: float = -0.3
    no_speech_prob: float = 0.05
    fails: set[int] = field(default_factory=set)
    gate: threading.Event | None = None
    heard: list[Pcm] = field(default_factory=list)
    hints: list[DecodeHints] = field(default_factory=list)

    def decode(self, speech: Pcm, hints: DecodeHints, stop: threading.Event) -> Decoded:
        number = len(self.heard)
        self.heard.append(speech)
        self.hints.append(hints)
        if self.gate is not None:
            self.gate.wait(10)
        if number in self.fails:
            raise RecogniserFailed("killed")
        text = self.texts[min(number, len(self.texts) - 1)]
        return Decoded(text=text, avg_logprob=self.avg_logprob, no_speech_prob=self.no_speech_prob)
