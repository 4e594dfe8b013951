"""Numbers on the command line, within their bounds. Each function gives an argparse type. Imports nothing heavy."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def whole(least: int, most: int) -> Callable[[str], int]:
    """A whole number from least to most."""

    def read(told: str) -> int:
        if not (told.isdecimal() and len(told) <= len(str(most)) and least <= int(told) <= most):
            raise argparse.ArgumentTypeError(f"{told}: write a whole number from {least} to {most}")
        return int(told)

    return read


def seconds(most: int) -> Callable[[str], float]:
    """0 to most seconds, also in parts."""

    def read(told: str) -> float:
        try:
            number = float(told)
        except ValueError:
            number = -1.0
        if not 0 <= number <= most:
            raise argparse.ArgumentTypeError(f"{told}: write 0 to {most} seconds")
        return number

    return read
