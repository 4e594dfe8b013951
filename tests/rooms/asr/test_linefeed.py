"""Packets as the network brings them: doubled, late, missing, empty, huge. What comes out is an unbroken stream, and counted."""

import numpy as np
import pytest
from asr_lines import packets, talk
from hypothesis import given
from hypothesis import strategies as st

from asr.linefeed import LATE_IN_A_ROW, MOST_MISSING, WRONG_PACE_IN_A_ROW, LineFeed
from asr.types import AudioPacket, WrongAudio
from hotline.sound.codec import Codec


def feed() -> LineFeed:
    return LineFeed(Codec.PCMA, 8000)


def packet(sequence: int, payload: bytes = b"\x10" * 160, *, lost_before: bool = False) -> AudioPacket:
    return AudioPacket(sequence=sequence, payload=payload, lost_before=lost_before)


def test_packets_in_order_come_out_as_they_are() -> None:
    line = feed()
    out = [line.take(each) for each in packets(talk(200))]
    assert [len(samples) for samples in out] == [160] * 10
    assert line.stats.packets == 10
    assert line.stats.lost == line.stats.doubled == line.stats.late == line.stats.bad == 0


def test_a_doubled_packet_is_heard_once() -> None:
    line = feed()
    assert [len(line.take(packet(number))) for number in (0, 1, 1, 2)] == [160, 160, 0, 160]
    assert line.stats.doubled == 1


def test_a_late_packet_is_dropped_since_its_place_is_filled() -> None:
    line = feed()
    assert [len(line.take(packet(number))) for number in (0, 2, 1, 3)] == [160, 320, 0, 160]
    assert (line.stats.lost, line.stats.late) == (1, 1)


def test_a_gap_is_filled_by_what_came_before_fading_out() -> None:
    line = feed()
    line.take(packet(0))
    filled = line.take(packet(6))[:-160]
    assert len(filled) == 5 * 160
    loudness = [float(np.abs(filled[at : at + 160]).max()) for at in range(0, 800, 160)]
    assert loudness == sorted(loudness, reverse=True)
    assert loudness[3:] == [0.0, 0.0]
    assert (line.stats.lost, line.stats.filled_ms) == (5, 100)


def test_a_gap_of_minutes_does_not_become_minutes_of_silence() -> None:
    line = feed()
    line.take(packet(0))
    assert len(line.take(packet(10_000))) == 4000 + 160
    assert line.stats.lost == 9999


def test_a_loss_that_only_the_gateway_knows_of_is_filled_too() -> None:
    line = feed()
    assert len(line.take(packet(0, lost_before=True))) == 160
    assert len(line.take(packet(1, lost_before=True))) == 320
    assert line.stats.lost == 1


def test_a_far_end_that_counts_anew_is_heard_again_after_a_second() -> None:
    line = feed()
    line.take(packet(1000))
    heard = [len(line.take(packet(number))) for number in range(LATE_IN_A_ROW + 2)]
    assert heard == [0] * LATE_IN_A_ROW + [160, 160]
    assert line.stats.renumbered == 1


@pytest.mark.parametrize("wild", [2**31, 2**32 - 1, MOST_MISSING + 2])
def test_one_wild_number_loses_nothing(wild: int) -> None:
    line = feed()
    assert [len(line.take(packet(number))) for number in (0, wild, 1, 2)] == [160] * 4
    assert (line.stats.renumbered, line.stats.lost, line.stats.late) == (2, 0, 0)


def test_numbers_that_begin_again_at_nought_go_on_at_once() -> None:
    line = feed()
    assert [len(line.take(packet(number))) for number in (2**32 - 2, 2**32 - 1, 0, 1)] == [160] * 4


@pytest.mark.parametrize(
    ("codec", "rate_hz", "payload"),
    [
        (Codec.PCMA, 8000, b"\x10" * 320),  # L16 at 8 kHz under the name of PCMA
        (Codec.L16, 8000, b"\x10" * 160),  # PCMA under the name of L16
        (Codec.L16, 8000, b"\x10" * 640),  # L16 at 16 kHz said to be 8
        (Codec.L16, 16_000, b"\x10" * 320),  # and the other way round
    ],
)
def test_sound_of_another_codec_or_rate_is_told_by_its_pace(codec: Codec, rate_hz: int, payload: bytes) -> None:
    line = LineFeed(codec, rate_hz)
    sent = [AudioPacket(sequence=number, payload=payload, capture_ms=number * 20) for number in range(WRONG_PACE_IN_A_ROW + 1)]
    for each in sent[:-1]:
        line.take(each)
    with pytest.raises(WrongAudio, match="another codec or rate"):
        line.take(sent[-1])


def test_a_media_clock_with_jitter_losses_or_none_at_all_accuses_nobody() -> None:
    jittery, lossy, clockless = feed(), feed(), feed()
    for number in range(200):
        jittery.take(AudioPacket(sequence=number, payload=b"\x10" * 160, capture_ms=number * 20 + number % 3 * 7))
        clockless.take(AudioPacket(sequence=number, payload=b"\x10" * 320))
        if number % 2:
            lossy.take(AudioPacket(sequence=number, payload=b"\x10" * 160, capture_ms=number * 20))
    assert lossy.stats.lost == 99


@pytest.mark.parametrize("payload", [b"", b"\x10" * 481, b"\x10" * 100_000])
def test_the_fifth_bad_packet_in_a_row_is_wrong_audio(payload: bytes) -> None:
    line = feed()
    for number in range(4):
        assert not len(line.take(packet(number, payload)))
    with pytest.raises(WrongAudio, match="PCMA at 8000 Hz"):
        line.take(packet(4, payload))
    assert line.stats.bad == 5


def test_a_good_packet_between_forgives() -> None:
    line = feed()
    for number in range(20):
        line.take(packet(number, b"" if number % 5 else b"\x10" * 160))
    assert line.stats.bad == 16


def test_half_a_linear_sample_is_bad() -> None:
    line = LineFeed(Codec.L16, 16_000)
    assert not len(line.take(packet(0, b"\x00" * 321)))
    assert line.stats.bad == 1


@pytest.mark.parametrize(("codec", "rate_hz"), [(Codec.PCMA, 16_000), (Codec.PCMU, 44_100), (Codec.L16, 48_000)])
def test_a_codec_at_a_rate_that_no_line_has_is_refused_at_once(codec: Codec, rate_hz: int) -> None:
    with pytest.raises(WrongAudio, match="not a telephone line"):
        LineFeed(codec, rate_hz)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.binary(max_size=500), st.booleans()), max_size=60),
    st.sampled_from([(Codec.PCMA, 8000), (Codec.PCMU, 8000), (Codec.L16, 8000), (Codec.L16, 16_000)]),
)
def test_whatever_comes_is_finite_samples_or_wrong_audio_and_every_packet_is_accounted_for(
    frames: list[tuple[int, bytes, bool]], kind: tuple[Codec, int]
) -> None:
    line = LineFeed(*kind)
    heard = 0
    try:
        for sequence, payload, lost in frames:
            samples = line.take(packet(sequence, payload, lost_before=lost))
            assert np.isfinite(samples).all()
            assert np.abs(samples).max(initial=0) <= 1
            heard += len(samples) > 0
    except WrongAudio:
        pass
    stats = line.stats
    assert heard + stats.doubled + stats.late + stats.bad == stats.packets
