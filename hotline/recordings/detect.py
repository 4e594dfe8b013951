"""The first bytes of a file → what kind of recording it is. By content alone: PBXs name files as they please."""

from __future__ import annotations

HEAD_BYTES = 16

WAV, FLAC, OGG, MP3, AU, AIFF, AMR, M4A, CAPTURE = "wav", "flac", "ogg", "mp3", "au", "aiff", "amr", "m4a", "pcap"
W64, CAF, ASF = "w64", "caf", "asf"
WEBM, AAC = "webm", "aac"  # as browsers and mini-programs record

_STARTS = {
    b"fLaC": FLAC,
    b"OggS": OGG,
    b"ID3": MP3,
    b".snd": AU,
    b"#!AMR": AMR,
    b"riff\x2e\x91\xcf\x11": W64,
    b"caff": CAF,
    b"\x30\x26\xb2\x75\x8e\x66\xcf\x11": ASF,
    b"\x1a\x45\xdf\xa3": WEBM,
    b"\xa1\xb2\xc3\xd4": CAPTURE,
    b"\xd4\xc3\xb2\xa1": CAPTURE,
    b"\xa1\xb2\x3c\x4d": CAPTURE,
    b"\x4d\x3c\xb2\xa1": CAPTURE,
    b"\x0a\x0d\x0d\x0a": CAPTURE,
}
_RIFF = (b"RIFF", b"RIFX", b"RF64", b"BW64")
_MP3_BITRATES, _MP3_RATES, _AAC_RATES = range(1, 15), range(3), range(13)


def kind_of(head: bytes) -> str:
    """The kind, empty for one that isn't known. head: HEAD_BYTES of the file, or all that it has."""
    for start, kind in _STARTS.items():
        if head.startswith(start):
            return kind
    if head[:4] in _RIFF and head[8:12] == b"WAVE"[: max(0, len(head) - 8)]:  # a head that is cut off is told as a broken WAV
        return WAV
    if head[:4] == b"FORM" and head[8:12] in {b"AIFF", b"AIFC"}:
        return AIFF
    if head[4:8] == b"ftyp":
        return M4A
    if head[:1] == b"\xff" and len(head) > 3 and head[1] & 0xF6 == 0xF0 and head[2] >> 2 & 15 in _AAC_RATES:  # noqa: PLR2004  ADTS
        return AAC
    return MP3 if _begins_mpeg_frame(head) else ""


def _begins_mpeg_frame(head: bytes) -> bool:
    """Sync word, layer III, and a bit rate and sample rate that exist."""
    return (
        len(head) > 3  # noqa: PLR2004  the four bytes of a frame's head
        and head[0] == 0xFF  # noqa: PLR2004
        and head[1] & 0xE6 == 0xE2  # noqa: PLR2004
        and head[1] & 0x18 != 0x08  # noqa: PLR2004
        and head[2] >> 4 in _MP3_BITRATES
        and head[2] >> 2 & 3 in _MP3_RATES
    )
