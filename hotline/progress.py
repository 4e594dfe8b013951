"""How far many things are: a bar on a terminal, a line for each elsewhere. Knows nothing of the things."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from tqdm import tqdm

LEAST_FOR_A_BAR = 2


class Progress:
    """Use as `with`. tell: prints a line where there is no bar, or above it. on_terminal: somebody watches."""

    def __init__(self, total: int, tell: Callable[[str], None], *, on_terminal: bool) -> None:
        self._tell = tell
        self._bar = tqdm(total=total, unit="call", dynamic_ncols=True) if on_terminal and total >= LEAST_FOR_A_BAR else None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()

    def begun(self, line: str) -> None:
        """One has begun: told where there is no bar."""
        if self._bar is None:
            self._tell(line)

    def done(self, line: str, *, wrong: bool) -> None:
        """One is done. Above a bar only what went wrong is told."""
        if self._bar is None:
            self._tell(line)
            return
        if wrong:
            self._bar.write(line)
        self._bar.update()
