"""Patience and thresholds of a call: who speaks when, as numbers. Knows no events and no orders."""

from __future__ import annotations

from dataclasses import dataclass, fields

_MAY_BE_ZERO = {"edge_ms", "short_noise_ms", "reprompts", "unclear_limit", "satisfaction"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSettings:
    """Patience and thresholds of a call, in ms of call time. satisfaction: ask the caller for a grade before the goodbye."""

    pause_after_ms: int = 200
    cancel_after_ms: int = 350
    edge_ms: int = 1000
    edge_cancel_after_ms: int = 700
    short_noise_ms: int = 400
    no_input_ms: int = 7000
    reprompts: int = 2
    unclear_limit: int = 2
    filler_after_ms: int = 1200
    speaking_gap_ms: int = 1000
    thinking_limit_ms: int = 2500
    decode_limit_ms: int = 10_000
    transfer_limit_ms: int = 45_000
    max_call_ms: int = 1_800_000
    satisfaction: bool = True

    def __post_init__(self) -> None:
        """Refuse what can't work: a time of nothing would spin, and an order that is none would never interrupt."""
        for each in fields(self):
            least = 0 if each.name in _MAY_BE_ZERO else 1
            if getattr(self, each.name) < least:
                raise ValueError(f"{each.name} must be at least {least}")
        if not self.pause_after_ms < self.cancel_after_ms <= self.edge_cancel_after_ms:
            raise ValueError("pause_after_ms < cancel_after_ms ≤ edge_cancel_after_ms")
        if max(self.filler_after_ms, self.speaking_gap_ms) >= self.thinking_limit_ms:
            raise ValueError("filler_after_ms and speaking_gap_ms must lie below thinking_limit_ms")
