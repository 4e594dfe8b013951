"""A template of hotline/pages and its parts → one page that loads nothing. Parts are HTML already: whoever makes them escapes.

A part whose name ends in .css is a style sheet that several pages share, and lies beside them.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping


def fill(template: str, parts: Mapping[str, str]) -> str:
    """Put each part where its {{name}} stands. Raises KeyError for a name without a part."""
    head, *rest = _read(template).split("{{")
    # split, not replaced one by one: a part that holds {{…}} must not be filled in again
    pieces = (piece.partition("}}") for piece in rest)
    return head + "".join((_read(name) if name.endswith(".css") else parts[name.strip()]) + tail for name, _, tail in pieces)


def _read(name: str) -> str:
    return (importlib.resources.files("hotline") / "pages" / name).read_text(encoding="utf-8")
