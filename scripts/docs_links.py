"""For mkdocs: links to files outside docs/ become their names, since the site holds no source; README.md is the first page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./(?!#)[^)]*\)")
_INSIDE = re.compile(r"\]\(docs/([^)]*)\)")
_TO_ROOT = re.compile(r"\[([^\]]+)\]\((?!https?:|docs/|#|[a-z]+\.md)[^)]*\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:  # noqa: ANN401  mkdocs's page
    """Called by mkdocs for each page."""
    if page.file.src_uri == "index.md":
        readme = Path("README.md").read_text("utf-8")
        return _INSIDE.sub(r"](\1)", _TO_ROOT.sub(r"\1", readme))
    return _OUTSIDE.sub(r"\1", markdown)
