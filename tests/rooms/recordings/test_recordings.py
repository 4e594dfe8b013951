"""Recorded calls as files: by content, in bounded memory, with what is odd told in words; anything else is a typed error."""

from __future__ import annotations

import io
import os
import struct
import tracemalloc
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hotline.recordings import types
from hotline.recordings.files import caller_of, is_recording, open_recording
from hotline.recordings.folders import recordings_in
from hotline.recordings.plain import RawFormat, raw_format
from hotline.recordings.types import NotARecording, PartyUnclear, RecordingBroken, RecordingEmpty, RecordingError
from hotline.sound.codec import Codec, encode
from hotline.wav import wav_header_and_samples, wav_layout

TONE = (np.sin(2 * np.pi * 440 * np.arange(24_000) / 8000) * 0.3).astype(np.float32)  # three seconds
NOISE = np.random.default_rng(1).normal(0, 0.1, 24_000).astype(np.float32)


def saved(folder: Path, content: bytes, name: str = "call.dat") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def stereo(left: NDArray[np.float32], right: NDArray[np.float32]) -> bytes:
    return wav_header_and_samples(np.stack([left, right], axis=1), 8000)


def packed(form: str, codec: str, rate_hz: int = 8000, layout: str = "mono") -> bytes:
    """What FFmpeg makes of the tone."""
    target = io.BytesIO()
    with av.open(target, "w", format=form) as container:
        track = container.add_stream(codec, rate=rate_hz)
        track.layout = layout
        channels = 2 if layout == "stereo" else 1
        frame = av.AudioFrame.from_ndarray(np.repeat((TONE * 32767).astype("<i2"), channels)[None, :], format="s16", layout=layout)
        frame.sample_rate = 8000
        resampler = av.AudioResampler(
            format=track.format, layout=layout, rate=rate_hz, frame_size=track.codec_context.frame_size or None
        )
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(track.encode(piece))
        container.mux(track.encode(None))
    return target.getvalue()


# ---------------------------------------------------------------- WAV through pipes, cut, too long


def streamed(size: int, riff: int = 0, before: bytes = b"", data: bytes | None = None) -> bytes:
    """A WAV whose sizes nobody filled in."""
    fmt = b"fmt " + struct.pack("<IHHIIHHH", 18, 1, 1, 8000, 16_000, 2, 16, 0)
    body = (TONE * 32767).astype("<i2").tobytes() if data is None else data
    return b"RIFF" + struct.pack("<I", riff) + b"WAVE" + fmt + before + b"data" + struct.pack("<I", size) + body


@pytest.mark.parametrize("riff", [0, 0xFFFFFFFF, 36], ids=["riff 0", "riff unknown", "riff short"])
@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 49_000], ids=["data 0", "data unknown", "data beyond the end"])
def test_sizes_that_nobody_filled_in_mean_to_the_end(tmp_path: Path, size: int, riff: int) -> None:
    call = open_recording(saved(tmp_path, streamed(size, riff)))
    assert (call.kind, call.codec, call.bits, call.duration_ms) == ("wav", "pcm16", 16, 3000)
    assert len(call.notes) == 1
    assert np.max(np.abs(call.samples(0) - TONE)) < 0.001


@pytest.mark.parametrize("pad", [b"", b"\0"], ids=["no pad byte", "padded"])
@pytest.mark.parametrize("length", [3, 3_000_001])
def test_chunks_before_the_samples_are_skipped(tmp_path: Path, length: int, pad: bytes) -> None:
    before = b"LIST" + struct.pack("<I", length) + b"x" * length + pad
    before += b"fact" + struct.pack("<II", 4, 24_000) + b"bext" + struct.pack("<I", 10) + bytes(10)
    assert open_recording(saved(tmp_path, streamed(48_000, before=before))).duration_ms == 3000


def test_an_empty_data_chunk_before_others_is_empty(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no samples"):
        open_recording(saved(tmp_path, streamed(0, data=b"LIST" + struct.pack("<I", 4) + b"INFO")))


def test_wide_riff_tells_its_length_elsewhere(tmp_path: Path) -> None:
    content = streamed(0xFFFFFFFF)
    wide = b"RF64" + content[4:12] + b"ds64" + struct.pack("<IQQQI", 28, 0, 48_000, 24_000, 0) + content[12:]
    call = open_recording(saved(tmp_path, wide + b"LIST" + struct.pack("<I", 4) + b"INFO"))
    assert (call.duration_ms, call.notes) == (3000, ())


def test_a_length_that_wrapped_at_four_gibibytes_is_not_believed(tmp_path: Path) -> None:
    path = saved(tmp_path, streamed(48_000))
    os.truncate(path, 2**32 + path.stat().st_size)  # sparse
    with path.open("rb") as file:
        layout = wav_layout(file)
    assert layout.data_bytes == 2**32 + 48_000
    assert "longer than" in layout.notes[0]


def test_a_frame_that_is_cut_is_dropped(tmp_path: Path) -> None:
    call = open_recording(saved(tmp_path, stereo(TONE, NOISE)[:-3]))
    assert len(call.samples(1)) == 23_999
    assert {"the file is shorter than its head says: cut off", "the last sample is cut in the middle: dropped"} == set(call.notes)


def test_g711_with_a_head_that_says_otherwise_is_g711(tmp_path: Path) -> None:
    head = struct.pack("<HHIIHH", 6, 1, 8000, 8000, 1, 16)
    body = encode(TONE, Codec.PCMA)
    content = b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<I", 16) + head + b"data" + struct.pack("<I", len(body)) + body
    call = open_recording(saved(tmp_path, content))
    assert (call.codec, call.bits, call.duration_ms) == ("pcma", 8, 3000)
    assert call.notes == ("the head says 16 bits; G.711 has 8",)


def test_what_is_no_number_becomes_silence(tmp_path: Path) -> None:
    strange = np.array([np.nan, np.inf, -np.inf, 1e30, 1e-40] * 800, "<f4").tobytes()
    head = struct.pack("<HHIIHH", 3, 1, 8000, 32_000, 4, 32)
    call = open_recording(saved(tmp_path, b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<I", 16) + head + b"data\0\0\0\0" + strange))
    assert call.samples(0)[:5].tolist() == pytest.approx([0, 1, -1, 1, 0])


def test_an_hour_is_read_in_little_memory(tmp_path: Path) -> None:
    path = saved(tmp_path, streamed(0xFFFFFFFF, data=b""))
    with path.open("ab") as file:
        for _ in range(360):
            file.write((np.tile(TONE, 4)[:80_000] * 32767).astype("<i2").tobytes())
    tracemalloc.start()
    call = open_recording(path)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert call.duration_ms == 3_600_000
    assert peak_bytes < 20_000_000


def test_no_call_lasts_longer_than_half_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(types, "LONGEST_S", 1)
    call = open_recording(saved(tmp_path, streamed(48_000)))
    assert call.duration_ms == 1000
    assert call.notes[0].startswith("only the first")


# ---------------------------------------------------------------- what a codec library reads


@pytest.mark.parametrize(
    ("form", "codec", "rate_hz", "kind", "name", "bits"),
    [
        ("wav", "adpcm_ima_wav", 8000, "wav", "adpcm_ima_wav", 0),
        ("wav", "adpcm_ms", 8000, "wav", "adpcm_ms", 0),
        ("wav", "adpcm_yamaha", 8000, "wav", "adpcm_yamaha", 0),
        ("wav", "adpcm_g726", 8000, "wav", "g726", 0),
        ("wav", "g722", 16_000, "wav", "g722", 0),
        ("wav", "mp2", 16_000, "wav", "mp2", 0),
        ("w64", "pcm_s16le", 8000, "w64", "pcm_s16le", 16),
        ("caf", "pcm_alaw", 8000, "caf", "pcm_alaw", 8),
        ("asf", "pcm_s16le", 8000, "asf", "pcm_s16le", 16),
        ("flac", "flac", 8000, "flac", "flac", 16),
        ("ogg", "libopus", 48_000, "ogg", "opus", 0),
        ("webm", "libopus", 48_000, "webm", "opus", 0),
        ("adts", "aac", 16_000, "aac", "aac", 0),
        ("mp4", "aac", 44_100, "m4a", "aac", 0),
        ("mp3", "libmp3lame", 8000, "mp3", "mp3", 0),
        ("amr", "libopencore_amrnb", 8000, "amr", "amrnb", 0),
        ("au", "pcm_mulaw", 8000, "au", "pcm_mulaw", 8),
        ("aiff", "pcm_s16be", 8000, "aiff", "pcm_s16be", 16),
    ],
)
def test_packed_recordings_are_read(  # noqa: PLR0913  each is a column
    tmp_path: Path, form: str, codec: str, rate_hz: int, kind: str, name: str, bits: int
) -> None:
    try:
        content = packed(form, codec, rate_hz)
    except (av.error.FFmpegError, ValueError) as missing:
        pytest.skip(f"this FFmpeg writes no {codec}: {missing}")
    call = open_recording(saved(tmp_path, content))

    assert (call.kind, call.codec, call.rate_hz, call.bits) == (kind, name, rate_hz, bits)
    assert call.duration_ms == pytest.approx(3000, abs=150)
    heard = call.samples(0, 8000)
    loudest_hz = np.argmax(np.abs(np.fft.rfft(heard[4000:12_000])))
    assert loudest_hz == pytest.approx(440, abs=2)


@pytest.mark.parametrize(
    ("tag", "bits", "stored"),
    [
        (1, 16, (TONE * 32767).astype(">i2").tobytes()),
        (1, 24, (TONE * 8_388_607).astype(">i4").view(np.uint8).reshape(-1, 4)[:, 1:].tobytes()),
        (1, 32, (TONE * 2_147_483_520).astype(">i4").tobytes()),
        (3, 32, TONE.astype(">f4").tobytes()),
        (6, 8, encode(TONE, Codec.PCMA)),
    ],
)
def test_big_endian_wav_is_read(tmp_path: Path, tag: int, bits: int, stored: bytes) -> None:
    head = b"fmt " + struct.pack(">IHHIIHH", 16, tag, 1, 8000, 8000 * bits // 8, bits // 8, bits)
    content = b"RIFX" + struct.pack(">I", 36 + len(stored)) + b"WAVE" + head + b"data" + struct.pack(">I", len(stored)) + stored
    call = open_recording(saved(tmp_path, content))
    assert (call.kind, call.duration_ms) == ("wav", 3000)
    assert np.allclose(call.samples(0), TONE, atol=0.02)


def test_big_endian_wav_that_is_packed_is_refused(tmp_path: Path) -> None:
    head = b"fmt " + struct.pack(">IHHIIHH", 16, 2, 1, 8000, 4000, 256, 4) + b"data" + struct.pack(">I", 400)
    with pytest.raises(RecordingError, match=r"^ADPCM with 4 bits can't be read$"):
        open_recording(saved(tmp_path, b"RIFX\0\0\0\0WAVE" + head + bytes(400)))


@pytest.mark.parametrize(("tag", "name"), [(0x1234, "format 0x1234"), (0x704F, "Opus")])
def test_a_codec_that_no_library_reads_is_named_with_the_way_out(tmp_path: Path, tag: int, name: str) -> None:
    head = b"fmt " + struct.pack("<IHHIIHHH", 18, tag, 1, 8000, 4000, 10, 4, 0) + b"data" + struct.pack("<I", 4000)
    with pytest.raises(RecordingError, match=f"^{name} with 4 bits can't be read$") as wrong:
        open_recording(saved(tmp_path, b"RIFF\0\0\0\0WAVE" + head + bytes(4000)))
    assert "ffmpeg -i FILE" in wrong.value.what_to_do
    assert "sox FILE" in wrong.value.what_to_do


def test_a_file_of_which_nothing_can_be_decoded_is_broken_not_empty(tmp_path: Path) -> None:
    stored = packed("wav", "libmp3lame")
    data = stored.index(b"data") + 8
    with pytest.raises(RecordingBroken, match=r"none of its \d+ packets can be decoded"):
        open_recording(saved(tmp_path, stored[:data] + b"\xff\xfb\xff\xff" * 500))


def test_mp3_in_wav_is_read_with_its_encoders_padding(tmp_path: Path) -> None:
    call = open_recording(saved(tmp_path, packed("wav", "libmp3lame")))
    assert (call.kind, call.codec) == ("wav", "mp3")
    assert 3000 <= call.duration_ms < 3300


def test_what_is_no_regular_file_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for path, says in ((tmp_path, "a folder"), (tmp_path / "pipe", "a pipe"), (Path("/dev/zero"), "a device")):
        with pytest.raises(NotARecording, match=says):
            open_recording(path)
        assert not is_recording(path)
    with pytest.raises(OSError, match="symbolic links"):
        open_recording(tmp_path / "circle")


def test_a_folder_is_searched_without_waiting_for_pipes_or_running_in_circles(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "back").symlink_to(tmp_path)
    (tmp_path / "circle.wav").symlink_to("circle.wav")
    saved(tmp_path / "deep", wav_header_and_samples(TONE, 8000), "call.wav")
    assert recordings_in([tmp_path]).files == (tmp_path / "deep" / "call.wav",)


def test_of_many_channels_left_and_right_are_the_first_two(tmp_path: Path) -> None:
    call = open_recording(saved(tmp_path, wav_header_and_samples(np.stack([TONE, NOISE, TONE[::-1]], axis=1), 8000)))
    with pytest.raises(PartyUnclear, match=r"^the file has 3 channels: no telling who calls$") as wrong:
        caller_of(call)
    assert "ffmpeg -i FILE -af pan=mono" in wrong.value.what_to_do
    assert caller_of(call, "right") == 1


def test_gsm_in_wav_is_read(tmp_path: Path) -> None:
    head = struct.pack("<HHIIHHHH", 0x31, 1, 8000, 1625, 65, 0, 2, 320)
    frames = (bytes([0xD8, 0x20, 0xA2, 0xE1, 0x5A] + [0x50, 0, 0x49, 0x24, 0x92, 0x49, 0x24] * 4) + bytes(65))[:65] * 50
    content = b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<I", 20) + head + b"data" + struct.pack("<I", len(frames)) + frames
    call = open_recording(saved(tmp_path, content))
    assert (call.codec, call.duration_ms) == ("gsm_ms", 2000)


def test_an_mp3_without_tags_is_known_by_its_first_frame(tmp_path: Path) -> None:
    content = packed("mp3", "libmp3lame")
    begin = 10 + int.from_bytes(content[6:10], "big")
    assert open_recording(saved(tmp_path, content[begin:])).kind == "mp3"


def test_what_breaks_off_is_used_until_then(tmp_path: Path) -> None:
    content = packed("flac", "flac")
    call = open_recording(saved(tmp_path, content[: len(content) // 2]))
    assert 500 < call.duration_ms < 3000


def test_stereo_music_is_read_and_told(tmp_path: Path) -> None:
    call = open_recording(saved(tmp_path, packed("flac", "flac", 44_100, "stereo")))
    assert "44100 Hz: no telephone line's rate, resampled" in call.notes
    assert len(call.parties) == 1  # the same on both sides
    assert len(call.samples(0, 8000)) == pytest.approx(24_000, abs=20)


# ---------------------------------------------------------------- no head at all


@pytest.mark.parametrize(
    ("told", "content"),
    [
        ("pcma", encode(TONE, Codec.PCMA)),
        ("pcmu:8000", encode(TONE, Codec.PCMU)),
        ("l16:8000", encode(TONE, Codec.L16)),
        ("l16be:8000:1", np.frombuffer(encode(TONE, Codec.L16), "<i2").astype(">i2").tobytes()),
    ],
)
def test_samples_without_a_head_need_their_codec_told(tmp_path: Path, told: str, content: bytes) -> None:
    path = saved(tmp_path, content)
    call = open_recording(path, raw=raw_format(told))
    assert (call.kind, call.duration_ms) == ("raw", 3000)
    assert np.max(np.abs(call.samples(0) - TONE)) < 0.02
    with pytest.raises(NotARecording) as unknown:
        open_recording(path)
    assert "--raw" in unknown.value.what_to_do


@pytest.mark.parametrize("told", ["", "mp3", "pcma:8000:1:1", "pcma:x", "pcma:1", "l16:8000:0", "pcma:99999999"])
def test_a_raw_format_that_makes_no_sense_is_refused(told: str) -> None:
    with pytest.raises(ValueError, match=r"write CODEC|a rate of"):
        raw_format(told)


def test_what_has_a_head_is_read_by_it_all_the_same(tmp_path: Path) -> None:
    path = saved(tmp_path, streamed(48_000))
    assert open_recording(path, raw=RawFormat(codec=Codec.PCMA)).kind == "wav"
    assert is_recording(path)


@pytest.mark.parametrize("law", [Codec.PCMA, Codec.PCMU])
def test_speech_in_the_other_law_is_told(tmp_path: Path, law: Codec) -> None:
    clip = Path(__file__).parents[3].parent / "shared" / "audio" / "zh_aishell_BAC009S0724W0121.wav"
    if not clip.is_file():
        pytest.skip("the human clips (../shared/audio) are not here")
    said = open_recording(clip).samples(0, 8000)
    right, wrong = ("pcma", "pcmu") if law is Codec.PCMA else ("pcmu", "pcma")
    path = saved(tmp_path, encode(np.concatenate([np.zeros(40_000, np.float32), said]), law))
    assert open_recording(path, raw=raw_format(right)).notes == ()
    assert open_recording(path, raw=raw_format(wrong)).notes == (f"sounds as if it were not {wrong}, but the other law of G.711",)


# ---------------------------------------------------------------- who is who


def test_two_equal_channels_are_one_party(tmp_path: Path) -> None:
    call = open_recording(saved(tmp_path, stereo(TONE, TONE)))
    assert len(call.parties) == 1
    assert "saved as stereo" in call.notes[0]
    assert caller_of(call) == 0


@pytest.mark.parametrize("loud", [0, 1], ids=["left speaks", "right speaks"])
def test_what_leaked_over_from_the_other_side_is_no_party(tmp_path: Path, loud: int) -> None:
    leaked = np.concatenate([np.zeros(160, np.float32), NOISE[:-160]]) * np.float32(0.01)  # 20 ms later, 40 dB fainter
    sides = (NOISE, leaked) if loud == 0 else (leaked, NOISE)
    call = open_recording(saved(tmp_path, stereo(*sides)))
    assert [party.leak for party in call.parties] == [loud == 1, loud == 0]
    assert not np.any(call.samples(1 - loud))
    assert caller_of(call) == loud  # the only one there is


def test_two_voices_are_two_parties_and_the_second_to_speak_is_guessed_the_caller(tmp_path: Path) -> None:
    late = np.concatenate([np.zeros(8000, np.float32), NOISE[:16_000]])
    call = open_recording(saved(tmp_path, stereo(TONE, late)))
    assert [party.began_ms for party in call.parties] == [0, 1000]
    assert caller_of(call, "caller-guess") == 1
    assert caller_of(call, "left") == 0
    with pytest.raises(PartyUnclear) as unclear:
        caller_of(call)
    assert "--channel left" in unclear.value.what_to_do
    with pytest.raises(PartyUnclear, match="middle"):
        caller_of(call, "middle")


def test_one_voice_of_two_gives_no_guess(tmp_path: Path) -> None:
    call = open_recording(saved(tmp_path, stereo(TONE, np.zeros_like(TONE))))
    with pytest.raises(PartyUnclear, match="1 of 2"):
        caller_of(call, "caller-guess")


# ---------------------------------------------------------------- what is no recording


@pytest.mark.parametrize(
    ("content", "kind", "says"),
    [
        (b"", RecordingEmpty, "empty"),
        (b"RIFF", RecordingError, "not a WAV"),
        (b"RIFF\0\0\0\0WAVE", RecordingError, "no samples"),
        (streamed(0, data=b""), RecordingError, "no samples"),
        (b"%PDF-1.7 " + bytes(99), NotARecording, "known kind"),
        ("第一通电话".encode() * 40, NotARecording, "known kind"),
        (b"fLaC" + bytes(99), RecordingBroken, "FLAC"),
        (b"OggS" + bytes(99), RecordingError, "OGG|no audio"),
        (b"\x1a\x45\xdf\xa3" + bytes(99), RecordingError, "WEBM|no audio"),
        (b"\xff\xf1\x60\x40" + bytes(99), RecordingError, "AAC|no samples|no audio|makes? no sense"),
        (b"ID3\x04" + bytes(99), RecordingError, "MP3|no samples|no audio"),
        (b"\0\0\0\x18ftypisom" + bytes(99), RecordingError, "M4A|no audio"),
    ],
)
def test_what_is_no_recording_is_told_in_words(tmp_path: Path, content: bytes, kind: type[RecordingError], says: str) -> None:
    with pytest.raises(kind, match=says) as wrong:
        open_recording(saved(tmp_path, content))
    assert wrong.value.what_to_do


def test_silence_and_stumps_are_told(tmp_path: Path) -> None:
    silent = open_recording(saved(tmp_path, wav_header_and_samples(np.zeros(24_000, np.float32), 8000)))
    assert silent.notes == ("holds silence only",)
    assert "only 100 ms long" in open_recording(saved(tmp_path, wav_header_and_samples(TONE[:800], 8000))).notes


HEADS = {
    "wav": streamed(48_000),
    "adpcm": packed("wav", "adpcm_ima_wav"),
    "flac": packed("flac", "flac"),
    "ogg": packed("ogg", "libopus", 48_000),
    "webm": packed("webm", "libopus", 48_000),
    "aac": packed("adts", "aac", 16_000),
    "mp3": packed("mp3", "libmp3lame"),
}


@given(st.sampled_from(sorted(HEADS)), st.integers(0, 200), st.binary(min_size=1, max_size=60), st.integers(10, 6000))
def test_any_bytes_give_a_recording_or_a_typed_error(
    tmp_path_factory: pytest.TempPathFactory, kind: str, at: int, junk: bytes, length: int
) -> None:
    whole = HEADS[kind][:length]
    for content in (junk, whole[:at] + junk + whole[at + len(junk) :]):
        path = saved(tmp_path_factory.getbasetemp(), content, "any.bin")
        for raw in (None, RawFormat(codec=Codec.L16, channels=2)):
            try:
                call = open_recording(path, raw=raw)
                samples = call.samples(0, 8000)
            except RecordingError:
                continue
            assert np.all(np.isfinite(samples))
