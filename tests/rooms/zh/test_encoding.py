"""What a file of another encoding looks like."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline.zh.encoding import NotText, decoded

TEXT = "region: 样例市\nquestion: 居住证到期怎么续签？\n"


def refusal(data: bytes) -> str:
    with pytest.raises(NotText) as told:
        decoded(data)
    return str(told.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_utf_8_is_read_with_and_without_its_mark(encoding: str) -> None:
    assert decoded(TEXT.encode(encoding)) == TEXT


@pytest.mark.parametrize(
    ("encoding", "looks_like"),
    [("gbk", "GBK"), ("gb18030", "GBK"), ("gb2312", "GBK"), ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16")],
)
def test_another_encoding_is_named(encoding: str, looks_like: str) -> None:
    assert refusal(TEXT.encode(encoding)) == f"is not UTF-8 text: it looks like {looks_like}"


@pytest.mark.parametrize("data", [b"# \xe9t\xe9\n", b"\x81\x40\xe9\xe9" * 4, b"\xff\xff"])
def test_other_bytes_are_only_refused(data: bytes) -> None:
    assert refusal(data) == "is not UTF-8 text"


@given(st.binary(max_size=64))
def test_any_bytes_are_text_or_refused(data: bytes) -> None:
    with contextlib.suppress(NotText):
        assert decoded(data).encode() in {data, data.removeprefix(b"\xef\xbb\xbf")}
