"""Protobuf to events and back: what a gateway may send, what is refused, and that no caller data leaks."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.types import AudioPacket
from hotline import wire
from hotline.desk import AskClause, AskDone, MaskedQuestion
from hotline.lines import (
    BotAudio,
    BotEvent,
    Clear,
    Ended,
    HungUp,
    Key,
    LineEvent,
    LineHeld,
    LineResumed,
    Mark,
    MarkPlayed,
    MediaStats,
    ReplyText,
    Transcript,
    Transfer,
    TransferResult,
    Trouble,
    TurnFigures,
    Typed,
)
from hotline.sound.codec import Codec
from hotline.stamps import Stamps
from hotline.v1 import hotline_pb2 as pb
from hotline.wire import WireError, ask_frame, bot_frame, caller_event, start_of


def opening(**fields: object) -> pb.CallerFrame:
    return pb.CallerFrame(start=pb.Start(**({"codec": pb.CODEC_PCMA, "sample_rate_hz": 8000} | fields)))


# ---------------------------------------------------------------- start


def test_a_start_becomes_a_call_with_its_defaults() -> None:
    start = start_of(opening(reports_marks=True), call_id_if_empty="made-here")

    assert (start.call_id, start.codec, start.rate_hz) == ("made-here", Codec.PCMA, 8000)
    assert (start.locale, start.tenant, start.masked_caller) == ("zh-CN", "default", "")
    assert start.reports_marks


def test_the_callers_number_is_masked_and_not_kept() -> None:
    start = start_of(opening(caller_number="13800138000", dialled_number="12345"), call_id_if_empty="1")

    assert start.masked_caller == "138****8000"
    assert "13800138000" not in repr(start)
    assert start.dialled_number == "12345"


NUMBERS = ["13912345678", "139-1234-5678", "+8613912345678", "11010519491231002X", "6222 0212 3456 7890 123"]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", ["call_id", "trunk"])
def test_a_personal_number_in_an_identifier_becomes_the_same_mask_each_time(name: str, number: str) -> None:
    marked, again, other = (
        getattr(start_of(opening(**{name: f"in-{each}-7"}), call_id_if_empty="1"), name) for each in (number, number, "15812345678")
    )
    assert marked.startswith("in-num-")
    assert marked.endswith("-7")
    assert marked == again != other
    assert not re.search(r"\d{5}", marked)


@pytest.mark.parametrize("name", ["call_id", "trunk"])
@pytest.mark.parametrize("value", ["1764738123.45", "trunk-12345", "03cbf555-5575-4c9c-b7cd-dac67fdff2c2"])
def test_an_identifier_without_a_personal_number_stays(name: str, value: str) -> None:
    assert getattr(start_of(opening(**{name: value}), call_id_if_empty="1"), name) == value


@pytest.mark.parametrize("size", [wire.MAX_NAME_CHARACTERS, wire.MAX_CALL_ID_CHARACTERS])
def test_a_mask_never_makes_an_identifier_too_long(size: int) -> None:
    name = "call_id" if size == wire.MAX_CALL_ID_CHARACTERS else "trunk"
    marked = getattr(start_of(opening(**{name: "1234567 " * (size // 8)}), call_id_if_empty="1"), name)
    assert len(marked) == size
    assert "1234567" not in marked


@pytest.mark.parametrize(
    ("dialled", "kept"),
    [("13912345678", "139****5678"), ("+86 139 1234 5678", "139****5678"), ("057188001234", "057188001234"), ("12345", "12345")],
)
def test_the_dialled_number_is_masked_if_it_is_a_mobile_one(dialled: str, kept: str) -> None:
    assert start_of(opening(dialled_number=dialled), call_id_if_empty="1").dialled_number == kept


@pytest.mark.parametrize("tenant", ["13912345678", "office-13912345678", "139-1234-5678", "11010519491231002X"])
def test_a_tenant_that_is_somebodys_number_is_refused_without_it(tenant: str) -> None:
    with pytest.raises(WireError) as refused:
        start_of(opening(tenant=tenant), call_id_if_empty="1")
    assert refused.value.code == "call.wrong_tenant"
    assert "1" not in f"{refused.value} {refused.value.what_to_do}"


@pytest.mark.parametrize("number", NUMBERS)
def test_the_reason_of_a_hang_up_holds_no_number(number: str) -> None:
    event = caller_event(pb.CallerFrame(hangup=pb.Hangup(reason=f"busy {number} 4")))
    assert isinstance(event, HungUp)
    assert event.reason.startswith("busy ")
    assert event.reason.endswith(" 4")
    assert not re.search(r"\d{5}", event.reason)
    cut = caller_event(pb.CallerFrame(hangup=pb.Hangup(reason="x" * 58 + number)))
    assert isinstance(cut, HungUp)
    assert len(cut.reason) <= wire.MAX_NAME_CHARACTERS
    assert not re.search(r"\d{4}", cut.reason)


@pytest.mark.parametrize(
    ("codec", "rate_hz", "expected"),
    [
        (pb.CODEC_PCMA, 8000, (Codec.PCMA, 8000)),
        (pb.CODEC_PCMU, 8000, (Codec.PCMU, 8000)),
        (pb.CODEC_L16, 8000, (Codec.L16, 8000)),
        (pb.CODEC_L16, 16000, (Codec.L16, 16000)),
        (pb.CODEC_UNSPECIFIED, 0, (None, 8000)),
    ],
)
def test_codecs_and_their_rates(codec: pb.Codec, rate_hz: int, expected: tuple[Codec | None, int]) -> None:
    start = start_of(opening(codec=codec, sample_rate_hz=rate_hz), call_id_if_empty="1")
    assert (start.codec, start.rate_hz) == expected


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"codec": 99}, "call.wrong_codec"),
        ({"sample_rate_hz": 16000}, "call.wrong_rate"),
        ({"codec": pb.CODEC_L16, "sample_rate_hz": 44100}, "call.wrong_rate"),
        ({"call_id": "x" * 129}, "call.wrong_call_id"),
        ({"call_id": "a\nb"}, "call.wrong_call_id"),
        ({"call_id": "呼叫"}, "call.wrong_call_id"),
        ({"caller_number": "1" * 65}, "call.wrong_number"),
        ({"dialled_number": "\x00"}, "call.wrong_dialled_number"),
        ({"trunk": "t" * 65}, "call.wrong_trunk"),
        ({"tenant": "a/b"}, "call.wrong_tenant"),
        ({"tenant": "#"}, "call.wrong_tenant"),
        ({"locale": "中文"}, "call.wrong_locale"),
    ],
)
def test_a_start_that_breaks_the_contract_is_refused_with_what_to_do(fields: dict[str, object], code: str) -> None:
    with pytest.raises(WireError) as refused:
        start_of(opening(**fields), call_id_if_empty="1")
    assert refused.value.code == code
    assert refused.value.what_to_do


def test_anything_else_first_is_refused() -> None:
    with pytest.raises(WireError) as refused:
        start_of(pb.CallerFrame(hangup=pb.Hangup()), call_id_if_empty="1")
    assert refused.value.code == "call.no_start"


# ---------------------------------------------------------------- caller's frames


@pytest.mark.parametrize(
    ("frame", "event"),
    [
        (
            {"audio": pb.Audio(sequence=7, capture_ms=140, payload=b"\xd5" * 160, lost_before=True)},
            AudioPacket(sequence=7, payload=b"\xd5" * 160, lost_before=True, capture_ms=140),
        ),
        ({"text": pb.Text(text="几点\x00开门\x1b")}, Typed(text="几点开门")),
        ({"dtmf": pb.Dtmf(digit="a", duration_ms=80)}, Key(digit="A")),
        ({"mark_played": pb.MarkPlayed(reply_id=3, name="end")}, MarkPlayed(reply_id=3, name="end")),
        ({"held": pb.Held()}, LineHeld()),
        ({"resumed": pb.Resumed()}, LineResumed()),
        (
            {"transfer_result": pb.TransferResult(ticket="T", outcome=pb.TRANSFER_OUTCOME_NO_ANSWER, sip_code=480)},
            TransferResult(ticket="T", outcome="no_answer", sip_code=480),
        ),
        (
            {"media_stats": pb.MediaStats(packets_received=9, packets_lost=1, jitter_us=2, round_trip_us=3)},
            MediaStats(packets_received=9, packets_lost=1, jitter_us=2, round_trip_us=3),
        ),
        ({"hangup": pb.Hangup(reason="carrier")}, HungUp(reason="carrier")),
        ({"hangup": pb.Hangup()}, HungUp(reason="caller")),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_a_frame_means(frame: dict[str, object], event: LineEvent) -> None:
    assert caller_event(pb.CallerFrame(**frame)) == event


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({}, "frame.unknown"),
        ({"start": pb.Start()}, "call.second_start"),
        ({"audio": pb.Audio()}, "audio.empty"),
        ({"audio": pb.Audio(payload=b"\0" * 1921)}, "audio.too_large"),
        ({"text": pb.Text(text="长" * 4001)}, "text.too_long"),
        ({"text": pb.Text(text="\x00\x07 ")}, "text.empty"),
        ({"dtmf": pb.Dtmf(digit="")}, "dtmf.wrong_digit"),
        ({"dtmf": pb.Dtmf(digit="12")}, "dtmf.wrong_digit"),
        ({"mark_played": pb.MarkPlayed(name="m" * 129)}, "mark.wrong_name"),
        ({"transfer_result": pb.TransferResult(ticket="T")}, "transfer.wrong_result"),
        ({"transfer_result": pb.TransferResult(ticket="T" * 129, outcome=1)}, "transfer.wrong_result"),
    ],
)
def test_frames_that_are_dropped(frame: dict[str, object], code: str) -> None:
    with pytest.raises(WireError) as dropped:
        caller_event(pb.CallerFrame(**frame))
    assert dropped.value.code == code


@given(st.binary(max_size=400))
def test_any_bytes_that_are_a_frame_become_an_event_or_a_clear_error(content: bytes) -> None:
    frame = pb.CallerFrame()
    try:
        frame.ParseFromString(content)
    except Exception:  # noqa: BLE001  not a frame: gRPC refuses it before us
        return
    for translate in (caller_event, lambda it: start_of(it, call_id_if_empty="1")):
        with suppress(WireError):
            translate(frame)


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=4100))
def test_typed_words_never_reach_an_error(words: str) -> None:
    frame = pb.CallerFrame(text=pb.Text(text=words))
    if len(words) > 4000:
        with pytest.raises(WireError) as dropped:
            caller_event(frame)
        assert words not in str(dropped.value)
    else:
        with suppress(WireError):
            assert words not in repr(caller_event(frame)) or len(words) < 30


# ---------------------------------------------------------------- bot's frames


@pytest.mark.parametrize(
    ("event", "kind", "reply_id"),
    [
        (BotAudio(reply_id=2, payload=b"\xd5" * 160), "audio", 2),
        (Mark(reply_id=2, name="end"), "mark", 2),
        (Clear(reply_id=2, reason="pause"), "clear", 2),
        (Transcript(turn=1, masked_text="〈手机号·1〉", start_ms=10, end_ms=90), "transcript", 0),
        (ReplyText(reply_id=2, text="九点", route="hot", source_ids=("kb-1",)), "reply_text", 2),
        (Transfer(target="queue:general", ticket="T", summary="问社保", reason="asked"), "transfer", 0),
        (Ended(reason="goodbye"), "end", 0),
        (TurnFigures(turn=1, stamps=Stamps(), route="hot"), "turn_metrics", 0),
        (Trouble(code="asr.error", message="m", what_to_do="w"), "error", 0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_event_has_its_frame(event: BotEvent, kind: str, reply_id: int) -> None:
    frame = bot_frame(event, sequence=5)

    assert frame.WhichOneof("frame") == kind
    assert frame.reply_id == reply_id
    assert pb.BotFrame.FromString(frame.SerializeToString()) == frame
    assert kind != "audio" or frame.audio.sequence == 5


def test_the_nine_stamps_travel_and_missing_ones_are_zero() -> None:
    stamps = Stamps(caller_last_speech_ms=1000, vad_end_ms=1030, first_frame_sent_ms=2100)
    metrics = bot_frame(TurnFigures(turn=3, stamps=stamps, route="hot")).turn_metrics

    assert (metrics.caller_last_speech_ms, metrics.vad_end_ms, metrics.first_token_ms) == (1000, 1030, 0)
    assert metrics.voice_to_voice_ms == 1100


def test_a_turn_that_answered_before_the_caller_was_done_has_no_negative_delay() -> None:
    early = Stamps(caller_last_speech_ms=1000, first_frame_sent_ms=900)
    assert bot_frame(TurnFigures(turn=1, stamps=early, route="hot")).turn_metrics.voice_to_voice_ms == 0


def test_half_a_character_from_a_model_does_not_break_the_line() -> None:
    assert bot_frame(ReplyText(reply_id=1, text="好\ud83d", route="generated")).reply_text.text == "好?"


def test_pieces_of_an_answer() -> None:
    assert ask_frame(MaskedQuestion(text="几点")).masked_question == "几点"
    assert ask_frame(AskClause(text="九点", route="hot", source_ids=("kb-1",))).clause.source_ids == ["kb-1"]
    done = ask_frame(AskDone(route="unknown", needs_person=True, reason="not_in_kb")).done
    assert (done.needs_person, done.reason) == (True, "not_in_kb")


def test_limits_are_those_of_the_contract() -> None:
    assert (wire.MAX_PAYLOAD_BYTES, wire.MAX_TEXT_CHARACTERS) == (1920, 4000)
