"""Calls out of network captures: what is lost, doubled, out of order; who called; which keys were pressed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hotline.recordings.files import caller_of, open_recording
from hotline.recordings.types import PartyUnclear, Recording, RecordingBroken, RecordingEmpty, RecordingError
from hotline.sound.codec import Codec
from tests.captures import CALLER, HOTLINE, LINKS, Sent, invite, key, pcap, pcapng, rtp, spoken


def tone(ms: int, hz: int = 440) -> NDArray[np.float32]:
    return (np.sin(2 * np.pi * hz * np.arange(ms * 8) / 8000) * 0.3).astype(np.float32)


@pytest.fixture
def opened(tmp_path: Path):  # noqa: ANN201  a function
    def open_it(content: bytes) -> Recording:
        path = tmp_path / "call.bin"  # the name tells nothing
        path.write_bytes(content)
        return open_recording(path)

    return open_it


@pytest.mark.parametrize("link", LINKS)
def test_both_directions_are_two_parties_whatever_the_link(opened, link: str) -> None:  # noqa: ANN001
    there, back = tone(1000), tone(600, 800)
    call = opened(pcap([*spoken(there), *spoken(back, back=True, at_s=0.2, codec=Codec.PCMU)], link=link))

    assert (call.kind, call.codec, call.rate_hz, call.duration_ms) == ("pcap", "pcma/pcmu", 8000, 1000)
    assert [party.name for party in call.parties] == ["10.0.0.7:40000", "10.0.0.9:12000"]
    assert np.max(np.abs(call.samples(0) - there)) < 0.02
    assert np.max(np.abs(call.samples(1)[1600:6400] - back)) < 0.02
    assert call.notes == ()


def test_pcapng_and_nanoseconds_are_read_too(opened) -> None:  # noqa: ANN001
    packets = spoken(tone(400))
    for content in (pcapng(packets), pcap(packets, nano=True)):
        assert opened(content).duration_ms == 400


def test_ipv6_is_read(opened) -> None:  # noqa: ANN001
    packets = [
        Sent(at_s=sent.at_s, payload=sent.payload, source=("fd00::7", 4000), target=("fd00::9", 5000)) for sent in spoken(tone(400))
    ]
    assert opened(pcap(packets)).parties[0].name == "[fd00::7]:4000"


def test_disorder_is_put_right_doubles_are_dropped_and_losses_are_filled(opened) -> None:  # noqa: ANN001
    there = tone(2000)
    packets = spoken(there)
    lost = packets[20:22] + packets[50:60]
    swapped = [packets[1], packets[0], packets[2]]
    rest = [*swapped, *packets[3:], packets[70], packets[71]]
    call = opened(pcap([sent for sent in rest if sent not in lost]))
    heard = call.samples(0)

    assert call.duration_ms == 2000
    assert np.max(np.abs(heard[:3200] - there[:3200])) < 0.02
    assert 0.05 < np.max(np.abs(heard[3200:3520])) < 0.31  # concealed
    assert np.max(np.abs(heard[8500:9600])) < 0.001  # three packets long, then silence
    told = " ".join(call.notes)
    assert "12 packets lost" in told
    assert "2 packets doubled" in told
    assert "1 packets out of order" in told


def test_what_the_sender_left_out_on_purpose_is_silence_not_loss(opened) -> None:  # noqa: ANN001
    first, second = spoken(tone(400)), spoken(tone(400), at_s=3.0)
    resumed = [
        Sent(at_s=sent.at_s, payload=rtp(65_550 + index, 2**32 - 800 + 24_000 + index * 160, sent.payload[12:]))
        for index, sent in enumerate(second)
    ]
    call = opened(pcap([*first, *resumed]))
    assert call.duration_ms == 3400
    assert call.notes == ("the capture holds one direction only",)


def test_a_new_source_and_time_stamps_that_begin_anew_lie_where_they_arrived(opened) -> None:  # noqa: ANN001
    first = spoken(tone(400))
    other = [
        Sent(at_s=1.0 + index * 0.02, payload=rtp(7 + index, 123_456 + index * 160, sent.payload[12:], source=99))
        for index, sent in enumerate(spoken(tone(400)))
    ]
    jumped = [
        Sent(at_s=2.0 + index * 0.02, payload=rtp(27 + index, 9_000_000 + index * 160, sent.payload[12:], source=99))
        for index, sent in enumerate(spoken(tone(400)))
    ]
    call = opened(pcap([*first, *other, *jumped]))
    assert call.duration_ms == 2400
    assert any("1 changes of the stream's source" in words for words in call.notes)
    assert any("1 jumps" in words for words in call.notes)


def test_who_invites_is_the_caller_even_if_the_hotline_is_heard_first(opened) -> None:  # noqa: ANN001
    call = opened(pcap([*invite(), *spoken(tone(600), back=True, at_s=0.1), *spoken(tone(600), at_s=0.8)]))
    assert caller_of(call) == 0
    assert call.parties[0].name == f"{CALLER[0]}:{CALLER[1]}"
    assert call.parties[0].role.value == "caller"


def test_an_offer_without_ports_still_tells_the_caller_by_host(opened) -> None:  # noqa: ANN001
    call = opened(pcap([*invite(sdp=False)[:1], *spoken(tone(600), back=True), *spoken(tone(600), at_s=0.8)]))
    assert call.parties[caller_of(call)].name.startswith(CALLER[0])


def test_without_signalling_it_is_asked_who_calls(opened) -> None:  # noqa: ANN001
    call = opened(pcap([*spoken(tone(600), back=True), *spoken(tone(600), at_s=0.8)]))
    with pytest.raises(PartyUnclear, match=r"left is 10.0.0.9:12000") as unclear:
        caller_of(call)
    assert "--channel" in unclear.value.what_to_do
    assert caller_of(call, "left") == 0
    assert caller_of(call, "caller-guess") == 1  # who greets is the hotline


def test_keys_are_told_once_each_with_their_place(opened) -> None:  # noqa: ANN001
    packets = spoken(tone(2000))
    pressed = key(5, number=65_630, stamp=2**32 - 800 + 8000, at_s=1.0) + key(
        11, number=65_640, stamp=2**32 - 800 + 12_000, at_s=1.5
    )
    call = opened(pcap([*invite(), *packets, *pressed]))
    assert [(press.at_ms, press.digit, press.party) for press in call.keys] == [(1000, "5", 0), (1500, "#", 0)]


def test_of_several_calls_the_longest_is_taken(opened) -> None:  # noqa: ANN001
    other = [
        Sent(at_s=sent.at_s, payload=sent.payload, source=("10.1.1.1", 9), target=("10.1.1.2", 9)) for sent in spoken(tone(5000))
    ]
    call = opened(pcap([*other, *spoken(tone(3000)), *spoken(tone(3000), back=True)]))
    assert {party.name for party in call.parties} == {"10.0.0.7:40000", "10.0.0.9:12000"}
    assert any("1 more streams" in words for words in call.notes)


@pytest.mark.parametrize(
    ("content", "kind", "says"),
    [
        (pcap([]), RecordingEmpty, "no sound"),
        (pcap(spoken(tone(100))), RecordingEmpty, "no sound"),
        (pcap([Sent(at_s=n / 50, payload=rtp(n, n * 160, bytes(20), kind=18)) for n in range(50)]), RecordingEmpty, "G.729"),
        (pcap([])[:10], RecordingBroken, "can't be read"),
        (b"\x0a\x0d\x0d\x0a" + b"\xff" * 40, RecordingBroken, "can't be read"),
        (pcap([])[:20] + b"\x69\0\0\0", RecordingBroken, "link type 105"),
    ],
)
def test_a_capture_without_a_call_says_why(opened, content: bytes, kind: type[RecordingError], says: str) -> None:  # noqa: ANN001
    with pytest.raises(kind, match=says) as wrong:
        opened(content)
    assert wrong.value.what_to_do


def test_a_capture_that_breaks_off_keeps_what_it_has(opened) -> None:  # noqa: ANN001
    call = opened(pcap(spoken(tone(1000)))[:-300])
    assert 900 <= call.duration_ms < 1000


def test_a_length_beyond_all_measure_is_not_read(opened) -> None:  # noqa: ANN001
    call = opened(pcap(spoken(tone(400))) + b"\0" * 8 + b"\xff\xff\xff\x7f" * 2 + bytes(40))
    assert call.notes[0] == "the capture breaks off"


WHOLE = pcap([*invite(), *spoken(tone(400)), *key(1, number=65_560, stamp=0, at_s=0.3), *spoken(tone(300), back=True)])


@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=40), st.booleans())
def test_a_capture_with_broken_bytes_gives_a_call_or_a_typed_error(
    tmp_path_factory: pytest.TempPathFactory, at: int, junk: bytes, ng: bool
) -> None:
    whole = pcapng(spoken(tone(300))) if ng else WHOLE
    path = tmp_path_factory.getbasetemp() / "broken.pcap"
    path.write_bytes(whole[: at % len(whole)] + junk + whole[at % len(whole) + len(junk) :])
    with suppress(RecordingError):
        assert np.all(np.isfinite(open_recording(path).samples(0)))


def test_a_capture_in_any_order_is_the_same_call(opened) -> None:  # noqa: ANN001
    packets = spoken(tone(1000))
    shuffled = [packets[index] for index in np.random.default_rng(3).permutation(len(packets))]
    disordered = [Sent(at_s=sent.at_s, payload=other.payload) for sent, other in zip(packets, shuffled, strict=True)]
    assert opened(pcap(disordered)).duration_ms >= 1000
    assert HOTLINE[0] in opened(pcap(spoken(tone(400), back=True))).parties[0].name
