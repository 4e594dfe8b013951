"""The nine stamps of a turn. All in milliseconds since the call's start, on the call's clock; None where the turn had none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamps:
    """From the caller's last sound to the bot's first frame, in the order in which they happen."""

    caller_last_speech_ms: int | None = None
    vad_end_ms: int | None = None
    turn_decided_ms: int | None = None
    asr_final_ms: int | None = None
    route_decided_ms: int | None = None
    first_token_ms: int | None = None
    first_safe_clause_ms: int | None = None
    first_tts_audio_ms: int | None = None
    first_frame_sent_ms: int | None = None

    @property
    def voice_to_voice_ms(self) -> int | None:
        """Caller's last speech to the bot's first frame."""
        if self.first_frame_sent_ms is None or self.caller_last_speech_ms is None:
            return None
        return self.first_frame_sent_ms - self.caller_last_speech_ms
