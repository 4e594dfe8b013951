"""What the caller asked and has not begun to hear an answer to: masked turns in, one question out. Knows no answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from llm.types import MaskedText

_KEPT = 8  # turns; who says more while nothing answers has their last words answered


@dataclass(slots=True)
class Questions:
    """One call's open turns. join: several as one."""

    join: Callable[[list[MaskedText]], MaskedText]
    _open: list[MaskedText] = field(default_factory=list)

    def add(self, words: MaskedText) -> None:
        """The caller said this."""
        self._open.append(words)
        del self._open[:-_KEPT]

    def joined(self) -> MaskedText:
        """All of it. There must be some."""
        return self.join(self._open)

    def answered(self) -> None:
        """An answer sounds."""
        self._open.clear()

    def beside(self, sounding: MaskedText | None) -> list[MaskedText]:
        """What a person should know besides the finished turns: the question whose answer sounds, and what is open."""
        return [*([sounding] if sounding is not None else []), *([self.joined()] if self._open else [])]
