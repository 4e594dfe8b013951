"""What the converse task is told: an event for the turn machine, and what belongs to it. Masked words only."""

from __future__ import annotations

from dataclasses import dataclass

from asr.types import SpeechEnded
from hotline.playout import Played
from hotline.turn_events import TurnEvent
from llm.types import HandOver, MaskedText


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """words, ended: what the caller said, and when. played: of the reply that ended. handover: how the one in hand will end.

    reply_id: the reply that it is about, 0 for the call.
    """

    event: TurnEvent
    words: MaskedText | None = None
    ended: SpeechEnded | None = None
    played: Played | None = None
    handover: HandOver | None = None
    reply_id: int = 0
