"""A stream of text → the same stream up to the first stop string. Pure; knows no engine.

A stop string may come in pieces: what could be its beginning is held back until it is known.
"""

from __future__ import annotations

from collections.abc import Iterable


class StopGuard:
    """Feed pieces in order; nothing of a stop string is ever given out."""

    def __init__(self, stops: Iterable[str]) -> None:
        """Empty stop strings are ignored."""
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self.stopped = False

    def feed(self, piece: str) -> str:
        """What is sure by now."""
        if self.stopped:
            return ""
        text = self._held + piece
        found = [at for stop in self._stops if (at := text.find(stop)) >= 0]
        if found:
            self.stopped, self._held = True, ""
            return text[: min(found)]
        keep = max((self._overlap(text, stop) for stop in self._stops), default=0)
        sure, self._held = text[: len(text) - keep], text[len(text) - keep :]
        return sure

    def flush(self) -> str:
        """The stream ended: what was held back is text after all."""
        rest, self._held = self._held, ""
        return rest

    @staticmethod
    def _overlap(text: str, stop: str) -> int:
        """How many last characters of the text begin the stop string."""
        return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
