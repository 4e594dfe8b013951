"""File names, call ids and the like: a number of somebody's never stays in one, and people still find what it names."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.privacy_labels import is_mobile, keyed_name, masked_name, names_somebody

KEY = b"k" * 16


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("20261203-13912345678-out.wav", "20261203-139xxxx5678-out.wav"),
        ("in-139-1234-5678.wav", "in-139xxxx5678.wav"),
        ("139_1234_5678.wav", "139xxxx5678.wav"),
        ("(139)1234-5678", "(139xxxx5678"),
        ("139 123 45678", "139xxxx5678"),
        ("139 12 34 56 78", "139xxxx5678"),
        ("1-3-9-1-2-3-4-5-6-7-8", "139xxxx5678"),
        ("+86 139 1234 5678", "139xxxx5678"),
        ("008613912345678", "139xxxx5678"),
        ("calls/13912345678/1.wav", "calls/139xxxx5678/1.wav"),
        ("一三九一二三四五六七八.wav", "139xxxx5678.wav"),
        ("幺三九一二三四五六七八.wav", "139xxxx5678.wav"),
        ("１３９１２３４５６７８", "139xxxx5678"),
        ("33010619621119005X", "xxxxxxxxxxxxxxxxxx"),
        ("330106-19621119-005X.mp3", "xxxxxxxxxxxxxxxxxx.mp3"),
        ("6228480365917248061", "x" * 19),
        ("6228 4803 6591 7248 061", "x" * 19),
        ("0571-88001234", "057xxxx1234"),
        ("88001234.wav", "xxxxxxxx.wav"),
        ("out-13912345678-1001-20261203-141516-1764738123.45.wav", "out-139xxxx5678-1001-20261203-141516-1764738123.45.wav"),
        ("2026120313912345678.wav", "x" * 19 + ".wav"),
        ("13912345678abcdef", "139xxxx5678abcdef"),
        ("00000000-0000-4000-8000-013912345678", "00000000-0000-4000-8000-013xxxx5678"),
        ("sip-13912345678-a@10.0.0.1", "sip-139xxxx5678-a@10.0.0.1"),
    ],
)
def test_a_number_is_hidden(name: str, shown: str) -> None:
    assert masked_name(name) == shown
    assert names_somebody(name)


@pytest.mark.parametrize(
    "name",
    [
        "question.wav",
        "20261203.wav",
        "20261203-141516-1001.wav",
        "20261203141516",
        "20261203141516123",
        "2026-12-03-14-15-16_10001",
        "1764738123.45",
        "4401-20261203-141516",
        "03cbf555-5575-4c9c-b7cd-dac67fdff2c2",
        "4ebc3982c07e481f9609922692b402c8",
        "192.168.100.200",
        "call-000123",
        "trunk-12345",
        "",
    ],
)
def test_what_points_to_nobody_stays(name: str) -> None:
    assert masked_name(name) == keyed_name(name, KEY) == name
    assert not names_somebody(name)


def test_an_identifier_keeps_apart_what_was_apart() -> None:
    one, other = keyed_name("sip-13912345678-1", KEY), keyed_name("sip-13912345679-1", KEY)
    assert one == keyed_name("sip-139-1234-5678-1", KEY) != other
    assert one != keyed_name("sip-13912345678-1", b"other")
    assert one.startswith("sip-num-")
    assert one.isascii()


@pytest.mark.parametrize("number", ["13912345678", "+86 139 1234 5678", "008613912345678"])
def test_a_mobile_number_is_a_persons(number: str) -> None:
    assert is_mobile(number)


@pytest.mark.parametrize("number", ["12345", "057188001234", "4008123123", "95588", ""])
def test_other_lines_may_be_an_offices(number: str) -> None:
    assert not is_mobile(number)


@given(st.from_regex(r"1[3-9][0-9]{9}", fullmatch=True), st.text(max_size=12), st.text(max_size=12))
def test_a_mobile_number_comes_out_of_no_name(number: str, before: str, after: str) -> None:
    assert number not in masked_name(f"{before}{number}{after}")
    assert number not in keyed_name(f"{before}{number}{after}", KEY)


@given(st.text())
def test_any_name_can_be_masked_again_and_stays(name: str) -> None:
    once = keyed_name(name, KEY)
    assert keyed_name(once, KEY) == once
    assert masked_name(masked_name(name)) == masked_name(name)


@given(st.uuids(version=4))
def test_nearly_every_uuid_stays(identifier: uuid.UUID) -> None:
    shown = masked_name(str(identifier))
    assert shown == str(identifier) or "xxxx" in shown
