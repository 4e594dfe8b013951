"""Bytes of a file that people write → its text, or in words what they are instead. Knows no format."""

from __future__ import annotations

import codecs

_COMMON_SHARE = 0.9  # of the characters beyond ASCII, that GB 2312 has: rarely so by chance


class NotText(ValueError):
    """The file is not UTF-8 text; the message says what it looks like, behind the file's name."""


def decoded(data: bytes) -> str:
    """UTF-8, with or without a byte order mark. Raises NotText."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data:
        raise NotText("is not UTF-8 text: it looks like UTF-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotText("is not UTF-8 text" + (": it looks like GBK" if _is_gbk(data) else "")) from None


def _is_gbk(data: bytes) -> bool:
    try:
        beyond = [each for each in data.decode("gb18030") if not each.isascii()]
    except UnicodeDecodeError:
        return False
    return sum(map(_is_common, beyond)) >= _COMMON_SHARE * len(beyond)


def _is_common(character: str) -> bool:
    try:
        character.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True
