"""A turn's stamps → where its time went, from the caller's last speech to the bot's first frame. Pure.

A stage begins where the one before it ended, or where its own work could begin, whichever is later: the recogniser works while
the silence is still being waited for, and only what it needs beyond that counts.
"""

from __future__ import annotations

from collections.abc import Mapping

STAGES = (
    ("silence", "turn_decided_ms"),  # waiting to be sure that the caller has finished
    ("hearing", "asr_final_ms"),
    ("finding", "route_decided_ms"),
    ("writing", "first_safe_clause_ms"),
    ("voice", "first_tts_audio_ms"),
    ("sending", "first_frame_sent_ms"),
)


def stages_of(stamps: Mapping[str, int]) -> dict[str, int]:
    """Milliseconds by stage; empty where a turn has no beginning or no end. The sum is voice to voice."""
    began_ms, sent_ms = stamps.get("caller_last_speech_ms"), stamps.get("first_frame_sent_ms")
    if not began_ms or not sent_ms or sent_ms < began_ms:
        return {}
    took, reached_ms = {}, began_ms
    for stage, stamp in STAGES:
        until_ms = min(max(reached_ms, stamps.get(stamp) or reached_ms), sent_ms)
        took[stage] = until_ms - reached_ms
        reached_ms = until_ms
    return took
