"""G.711 and L16: exact against the standard, quiet lines included, and quick to notice the wrong law."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hotline.sound.codec import Codec, CodecError, decode, detect_wrong_law, encode
from hotline.sound.level import active_level_dbov, band_limit, rms_dbov

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import audioop

ALL_VALUES = np.arange(65536, dtype=np.uint16).view(np.int16)
ALL_CODES = bytes(range(256))
LAWS = [Codec.PCMA, Codec.PCMU]


def samples_of(values: NDArray[np.int16]) -> NDArray[np.float32]:
    return values.astype(np.float32) / np.float32(32768)


def sine(level_dbfs: float, hz: float = 440.0, seconds: float = 2.0) -> NDArray[np.float32]:
    at = np.arange(int(8000 * seconds)) / 8000
    return (10 ** (level_dbfs / 20) * np.sin(2 * np.pi * hz * at)).astype(np.float32)


def snr_db(wanted: NDArray[np.float32], got: NDArray[np.float32]) -> float:
    return rms_dbov(wanted) - rms_dbov(got - wanted)


@pytest.mark.parametrize(
    ("codec", "value", "code"),
    [
        (Codec.PCMA, 0, 0xD5),
        (Codec.PCMA, -1, 0x55),
        (Codec.PCMA, 32767, 0xAA),
        (Codec.PCMA, -32768, 0x2A),
        (Codec.PCMU, 0, 0xFF),
        (Codec.PCMU, -4, 0x7F),
        (Codec.PCMU, 32767, 0x80),
        (Codec.PCMU, -32768, 0x00),
    ],
)
def test_the_standards_corner_characters(codec: Codec, value: int, code: int) -> None:
    assert encode(samples_of(np.array([value], dtype=np.int16)), codec) == bytes([code])


@pytest.mark.parametrize(
    ("codec", "milliwatt", "below_overload_db"),
    [(Codec.PCMA, "34212134b4a1a1b4", 3.14), (Codec.PCMU, "1e0b0b1e9e8b8b9e", 3.17)],
)
def test_the_digital_milliwatt_of_g711_is_0_dbm0(codec: Codec, milliwatt: str, below_overload_db: float) -> None:
    """Tables 5 and 6: eight characters of 1 kHz whose level is 0 dBm0; the largest sine is 3.14 (A) or 3.17 (μ) dBm0."""
    tone = decode(bytes.fromhex(milliwatt) * 100, codec)
    largest_sine_dbov = -3.01 + 20 * np.log10(decode(encode(np.ones(1, np.float32), codec), codec)[0])
    assert rms_dbov(tone) == pytest.approx(largest_sine_dbov - below_overload_db, abs=0.3)
    assert encode(tone, codec) == bytes.fromhex(milliwatt) * 100


def test_decoding_is_the_standards_for_every_character() -> None:
    for codec, reference in ((Codec.PCMA, audioop.alaw2lin), (Codec.PCMU, audioop.ulaw2lin)):
        assert np.array_equal(decode(ALL_CODES, codec) * 32768, np.frombuffer(reference(ALL_CODES, 2), dtype="<i2"))


def test_a_law_encoding_is_the_standards_for_every_value() -> None:
    assert encode(samples_of(ALL_VALUES), Codec.PCMA) == audioop.lin2alaw(ALL_VALUES.tobytes(), 2)


def test_mu_law_encoding_is_the_standards_for_every_value() -> None:
    """Python's audioop rounds negative values away from zero by one step of 14 bits (-1 becomes -8); G.711 doesn't."""
    ours = np.frombuffer(encode(samples_of(ALL_VALUES), Codec.PCMU), dtype=np.uint8)
    theirs = np.frombuffer(audioop.lin2ulaw(ALL_VALUES.tobytes(), 2), dtype=np.uint8)
    assert np.array_equal(ours[:32768], theirs[:32768])
    negative = ALL_VALUES.astype(np.int32) < 0
    one_step_lower = np.maximum(ALL_VALUES[negative].astype(np.int32) - 4, -32768).astype(np.int16)
    assert np.array_equal(ours[one_step_lower.view(np.uint16)], theirs[negative])


def test_mu_law_is_symmetric_where_the_standard_leaves_no_choice() -> None:
    inside = np.arange(1, 32768, dtype=np.int16)
    inside = inside[inside % 4 != 0]  # multiples of 4 may lie on a decision border
    positive, negative = (np.frombuffer(encode(samples_of(v), Codec.PCMU), dtype=np.uint8) for v in (inside, -inside))
    assert np.array_equal(positive ^ 0x80, negative)


@pytest.mark.parametrize("codec", LAWS)
def test_a_character_survives_the_way_there_and_back(codec: Codec) -> None:
    again = encode(decode(ALL_CODES, codec), codec)
    negative_zero = {0x7F} if codec is Codec.PCMU else set()
    assert {code for code in range(256) if again[code] != code} == negative_zero


@given(st.binary(max_size=400))
def test_l16_survives_the_way_there_and_back(payload: bytes) -> None:
    whole = payload[: len(payload) // 2 * 2]
    assert encode(decode(whole, Codec.L16), Codec.L16) == whole


@given(st.lists(st.floats(-4, 4, width=32), max_size=200), st.sampled_from(Codec))
def test_any_samples_make_a_payload_of_their_length(values: list[float], codec: Codec) -> None:
    payload = encode(np.array(values, dtype=np.float32), codec)
    assert len(payload) == len(values) * codec.bytes_per_sample
    assert np.all(np.abs(decode(payload, codec)) <= 1)


def test_what_is_too_loud_clips_and_does_not_wrap() -> None:
    for codec in Codec:
        loud = decode(encode(np.array([1.0, 7.5, -7.5], dtype=np.float32), codec), codec)
        assert loud[0] == loud[1] > 0.98
        assert loud[2] < -0.98


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(CodecError, match="3 bytes"):
        decode(b"\0\0\0", Codec.L16)


@pytest.mark.parametrize("codec", list(Codec))
def test_a_nan_is_refused_and_not_made_a_click(codec: Codec) -> None:
    with pytest.raises(CodecError, match="NaN"):
        encode(np.array([0.0, np.nan], dtype=np.float32), codec)


def test_an_empty_payload_is_no_samples() -> None:
    for codec in Codec:
        assert len(decode(b"", codec)) == 0
        assert encode(np.zeros(0, dtype=np.float32), codec) == b""


@pytest.mark.parametrize("codec", LAWS)
@pytest.mark.parametrize("level_dbfs", [-12, -30])
def test_the_noise_of_companding_is_the_laws_own(codec: Codec, level_dbfs: int) -> None:
    """At -30 dBFS: the mistake of dropping to 8 bits before the law hardly shows at -12 dBFS and costs 18 dB here."""
    tone = sine(level_dbfs)
    assert snr_db(tone, decode(encode(tone, codec), codec)) > 32


# ---------------------------------------------------------------- the wrong law


def speech(seed: int) -> NDArray[np.float32]:
    """Two seconds of something voiced: pulses through two formants, in syllables."""
    rng = np.random.default_rng(seed)
    pulses = np.zeros(16000, dtype=np.float32)
    pulses[np.cumsum(rng.integers(55, 75, size=200))] = 1
    at = np.arange(200) / 8000
    ring = np.exp(-at * 400) * (np.sin(2 * np.pi * 600 * at) + 0.4 * np.sin(2 * np.pi * 1500 * at))
    syllables = np.clip(np.sin(2 * np.pi * 2.5 * np.arange(16000) / 8000), 0, None)
    voiced = np.convolve(pulses, ring)[:16000] * syllables + rng.standard_normal(16000) * 0.002
    return band_limit(voiced.astype(np.float32), 8000)


@pytest.mark.parametrize("codec", LAWS)
@pytest.mark.parametrize("level_dbov", [-12, -20, -30, -40])
def test_speech_in_the_wrong_law_is_noticed(codec: Codec, level_dbov: int) -> None:
    voice = speech(level_dbov & 7)
    payload = encode(voice * np.float32(10 ** ((level_dbov - active_level_dbov(voice, 8000)) / 20)), codec)
    other = Codec.PCMU if codec is Codec.PCMA else Codec.PCMA
    assert detect_wrong_law(payload, other)
    assert not detect_wrong_law(payload, codec)


@pytest.mark.parametrize("codec", LAWS)
def test_what_is_no_speech_raises_no_alarm(codec: Codec) -> None:
    noise = np.random.default_rng(3).standard_normal(16000).astype(np.float32) * np.float32(0.1)
    for sound in (np.zeros(16000, dtype=np.float32), noise, sine(-10, hz=3000)):
        assert not detect_wrong_law(encode(sound, codec), codec)
    assert not detect_wrong_law(ALL_CODES[:1] * 16000, codec)


def test_the_wrong_law_is_not_guessed_from_too_little_or_from_l16() -> None:
    assert not detect_wrong_law(encode(speech(1), Codec.PCMA)[:8000], Codec.PCMU)
    assert not detect_wrong_law(encode(speech(1), Codec.L16), Codec.L16)
