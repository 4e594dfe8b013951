"""A template of hotline/pages and its parts → one page that loads nothing. Parts are HTML already: whoever makes them escapes."""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping


def fill(template: str, parts: Mapping[str, str]) -> str:
    """Put each part where its {{name}} stands. Raises KeyError for a name without a part."""
    page = (importlib.resources.files("hotline") / "pages" / template).read_text(encoding="utf-8")
    head, *rest = page.split("{{")
    # split, not replaced one by one: a part that holds {{…}} must not be filled in again
    return head + "".join(parts[name.strip()] + tail for name, _, tail in (piece.partition("}}") for piece in rest))
