"""Times of one call: when the caller spoke, when the bot fell silent, when it answered → stamps and metrics. Knows no words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from asr.types import SpeechEnded
from hotline import metrics
from hotline.stamps import Stamps


@dataclass(slots=True)
class Stopwatch:
    """caller: stamps of the caller's last turn, to which those of the answer are added."""

    caller: Stamps = field(default_factory=Stamps)
    _began_ms: int = 0

    def caller_began(self, start_ms: int) -> None:
        """First sample of a sound like speech."""
        self._began_ms = start_ms

    def caller_heard(self, at_ms: int, ended: SpeechEnded | None) -> None:
        """The words are there; ended None: typed."""
        self.caller = Stamps(
            caller_last_speech_ms=ended.last_speech_ms if ended is not None else at_ms,
            vad_end_ms=ended.vad_end_ms if ended is not None else None,
            turn_decided_ms=ended.at_ms if ended is not None else at_ms,
            asr_final_ms=at_ms,
        )

    def bot_paused(self, at_ms: int) -> None:
        """The bot fell silent for the caller."""
        metrics.BARGE_IN.of("pause").inc()
        metrics.BARGE_IN_STOP.observe(max(0, at_ms - self._began_ms) / 1000)

    @staticmethod
    def answered(stamps: Stamps, sent_ms: int | None) -> Stamps:
        """The answer's first frame left."""
        stamps = replace(stamps, first_frame_sent_ms=sent_ms)
        if stamps.voice_to_voice_ms is not None:
            metrics.VOICE_TO_VOICE.observe(stamps.voice_to_voice_ms / 1000)
        return stamps
