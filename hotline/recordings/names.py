"""Names of recordings as people and reports may see them: a PBX names them by who called, in whatever encoding it has."""

from __future__ import annotations

import unicodedata

from llm.privacy_labels import masked_name

MOST_BYTES = 200  # of a folder's name: file systems take 255, and a number may follow


def shown_name(name: str) -> str:
    """Masked; valid UTF-8 on one line: other bytes and control characters are spelled out."""
    told = masked_name(name).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(
        character.encode("unicode_escape").decode("ascii") if unicodedata.category(character) == "Cc" else character
        for character in told
    )


def folder_name(stem: str) -> str:
    """The same for a folder: no longer than file systems take, and without what a page's links can't hold."""
    return shown_name(stem).replace("\\", "_").encode()[:MOST_BYTES].decode("utf-8", "ignore")
