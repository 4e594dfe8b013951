"""Protobuf frames ↔ the call's own events, both ways. Pure: no gRPC, no state, no clock. Doesn't know what a call does with them.

The raw caller number is masked here and kept nowhere; no error holds caller content.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import assert_never

from asr.types import AudioPacket
from hotline.desk import AskClause, AskDone, MaskedQuestion
from hotline.errors import HotlineError
from hotline.lines import (
    BotAudio,
    CallStart,
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
    WireEvent,
)
from hotline.sound.codec import Codec
from hotline.stamps import Stamps
from hotline.v1 import hotline_pb2 as pb
from llm.privacy import mask_phone_number
from llm.privacy_labels import is_mobile, keyed_name, masked_name, names_somebody

MAX_PAYLOAD_BYTES = 1920
MAX_TEXT_CHARACTERS = 4000
MAX_NAME_CHARACTERS = 64
MAX_CALL_ID_CHARACTERS = 128
KEYS = frozenset("0123456789*#ABCD")
UNKNOWN_FRAME = "frame.unknown"

_LOCALE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}")
_TENANT = re.compile(r"[A-Za-z0-9._-]{1,64}")  # it becomes part of MQTT topics and file names
_LABEL_KEY = secrets.token_bytes(16)  # of this process: nobody can try all numbers against what is kept
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_RATES: Mapping[int, tuple[Codec, tuple[int, ...]]] = MappingProxyType({
    pb.CODEC_PCMA: (Codec.PCMA, (8000,)),
    pb.CODEC_PCMU: (Codec.PCMU, (8000,)),
    pb.CODEC_L16: (Codec.L16, (8000, 16000)),
})
_OUTCOMES: Mapping[int, str] = MappingProxyType({
    pb.TRANSFER_OUTCOME_ACCEPTED: "accepted",
    pb.TRANSFER_OUTCOME_REFUSED: "refused",
    pb.TRANSFER_OUTCOME_NO_ANSWER: "no_answer",
    pb.TRANSFER_OUTCOME_FAILED: "failed",
})


class WireError(HotlineError):
    """A frame breaks the contract. code: stable; what_to_do: for the other side. Neither holds what the caller said."""

    code = "wire.error"

    def __init__(self, code: str, message: str, what_to_do: str) -> None:
        """All three go on the wire as they are."""
        super().__init__(message, what_to_do=what_to_do)
        self.code = code


# ---------------------------------------------------------------- caller → bot


def start_of(frame: pb.CallerFrame, *, call_id_if_empty: str) -> CallStart:
    """The opening of a call, checked, with the caller's number masked. Raises WireError."""
    if frame.WhichOneof("frame") != "start":
        raise WireError("call.no_start", "the first frame is not `start`", "send `start` as the first frame of the stream")
    start = frame.start
    codec, rate_hz = _codec_and_rate(start)
    if len(start.caller_number) > MAX_NAME_CHARACTERS:
        raise WireError("call.wrong_number", "caller_number is longer than 64 characters", "send the number as the trunk gave it")
    return CallStart(
        call_id=_identifier("call_id", start.call_id or call_id_if_empty, MAX_CALL_ID_CHARACTERS),
        masked_caller=mask_phone_number(start.caller_number) if start.caller_number else "",
        dialled_number=_dialled(start.dialled_number),
        codec=codec,
        rate_hz=rate_hz,
        locale=_matching("locale", start.locale or "zh-CN", _LOCALE, "a BCP 47 tag such as zh-CN"),
        trunk=_identifier("trunk", start.trunk, MAX_NAME_CHARACTERS),
        tenant=_tenant(start.tenant or "default"),
        reports_marks=start.reports_marks,
    )


def caller_event(frame: pb.CallerFrame) -> LineEvent:
    """What a frame after `start` means. Raises WireError; for a frame of a newer contract its code is UNKNOWN_FRAME."""
    kind = frame.WhichOneof("frame")
    translate = _TRANSLATE.get(kind or "")
    if translate is None:
        raise WireError(UNKNOWN_FRAME, "a frame without known content was ignored", "see the contract's CallerFrame")
    return translate(frame)


def _codec_and_rate(start: pb.Start) -> tuple[Codec | None, int]:
    if start.codec == pb.CODEC_UNSPECIFIED:
        return None, 8000
    if start.codec not in _RATES:
        raise WireError("call.wrong_codec", f"codec {start.codec} is not known", "use CODEC_PCMA, CODEC_PCMU or CODEC_L16")
    codec, rates = _RATES[start.codec]
    if start.sample_rate_hz not in rates:
        allowed = " or ".join(str(rate) for rate in rates)
        raise WireError(
            "call.wrong_rate",
            f"{start.sample_rate_hz} Hz doesn't go with {codec.value}",
            f"send {codec.value} at {allowed} Hz and say so in sample_rate_hz",
        )
    return codec, start.sample_rate_hz


def _printable(name: str, value: str, at_most: int) -> str:
    if len(value) > at_most or not (value.isascii() and value.isprintable()):
        raise WireError(f"call.wrong_{name}", f"{name} is not acceptable", f"at most {at_most} printable ASCII characters")
    return value


def _identifier(name: str, value: str, at_most: int) -> str:
    """A PBX may have put the caller's number into it; the mask may be longer."""
    return keyed_name(_printable(name, value, at_most), _LABEL_KEY)[:at_most]


def _dialled(number: str) -> str:
    """The hotline's own number; a mobile one is some person's."""
    number = _printable("dialled_number", number, MAX_NAME_CHARACTERS)
    return mask_phone_number(number) if is_mobile(number) else number


def _tenant(name: str) -> str:
    """It names topics and files, where a mask would not be found again: with a personal number it is refused."""
    name = _matching("tenant", name, _TENANT, "1–64 of A-Z a-z 0-9 . _ -")
    if names_somebody(name):
        raise WireError("call.wrong_tenant", "tenant holds a personal number", "name the tenant by a word, without a number")
    return name


def _matching(name: str, value: str, pattern: re.Pattern[str], wanted: str) -> str:
    if not pattern.fullmatch(value):
        raise WireError(f"call.wrong_{name}", f"{name} is not acceptable", f"send {wanted}, or leave it empty")
    return value


def _audio(frame: pb.CallerFrame) -> LineEvent:
    audio = frame.audio
    if not audio.payload:
        raise WireError("audio.empty", "an audio frame without samples was dropped", "send 10–60 ms of samples in each frame")
    if len(audio.payload) > MAX_PAYLOAD_BYTES:
        raise WireError(
            "audio.too_large", f"{len(audio.payload)} bytes of audio were dropped", f"at most {MAX_PAYLOAD_BYTES} bytes a frame"
        )
    return AudioPacket(sequence=audio.sequence, payload=audio.payload, lost_before=audio.lost_before, capture_ms=audio.capture_ms)


def _text(frame: pb.CallerFrame) -> LineEvent:
    if len(frame.text.text) > MAX_TEXT_CHARACTERS:
        raise WireError(
            "text.too_long", f"{len(frame.text.text)} characters were dropped", f"at most {MAX_TEXT_CHARACTERS} characters a frame"
        )
    text = _CONTROL.sub("", frame.text.text)
    if not text.strip():
        raise WireError("text.empty", "a text frame without readable characters was dropped", "send words")
    return Typed(text=text)


def _key(frame: pb.CallerFrame) -> LineEvent:
    digit = frame.dtmf.digit.upper()
    if digit not in KEYS:
        raise WireError("dtmf.wrong_digit", "an unknown key was dropped", "send one of 0-9 * # A-D")
    return Key(digit=digit)


def _mark_played(frame: pb.CallerFrame) -> LineEvent:
    if len(frame.mark_played.name) > MAX_CALL_ID_CHARACTERS:
        raise WireError("mark.wrong_name", "a mark with an overlong name was dropped", "send the name from the bot's `mark` back")
    return MarkPlayed(reply_id=frame.mark_played.reply_id, name=frame.mark_played.name)


def _transfer_result(frame: pb.CallerFrame) -> LineEvent:
    result = frame.transfer_result
    outcome = _OUTCOMES.get(result.outcome)
    if outcome is None or len(result.ticket) > MAX_CALL_ID_CHARACTERS:
        raise WireError(
            "transfer.wrong_result",
            "a transfer result that is not in the contract was dropped",
            "send ticket and outcome as in TransferResult",
        )
    return TransferResult(ticket=result.ticket, outcome=outcome, sip_code=result.sip_code)


def _media_stats(frame: pb.CallerFrame) -> LineEvent:
    stats = frame.media_stats
    return MediaStats(
        packets_received=stats.packets_received,
        packets_lost=stats.packets_lost,
        jitter_us=stats.jitter_us,
        round_trip_us=stats.round_trip_us,
    )


def _hangup(frame: pb.CallerFrame) -> LineEvent:
    reason = masked_name(_CONTROL.sub("", frame.hangup.reason[: 4 * MAX_NAME_CHARACTERS]))  # half a number would not be found
    return HungUp(reason=reason[:MAX_NAME_CHARACTERS] or "caller")


def _second_start(_frame: pb.CallerFrame) -> LineEvent:
    raise WireError("call.second_start", "a second `start` was ignored", "one stream is one call: open another stream")


_TRANSLATE: Mapping[str, Callable[[pb.CallerFrame], LineEvent]] = MappingProxyType({
    "start": _second_start,
    "audio": _audio,
    "text": _text,
    "dtmf": _key,
    "mark_played": _mark_played,
    "held": lambda _frame: LineHeld(),
    "resumed": lambda _frame: LineResumed(),
    "transfer_result": _transfer_result,
    "media_stats": _media_stats,
    "hangup": _hangup,
})


# ---------------------------------------------------------------- bot → caller


def bot_frame(event: WireEvent, *, sequence: int = 0) -> pb.BotFrame:  # noqa: PLR0911  one return a kind of event
    """The frame for an event. sequence: the number of an audio packet, counted over the call."""
    match event:
        case BotAudio():
            return pb.BotFrame(reply_id=event.reply_id, audio=pb.BotAudio(sequence=sequence, payload=event.payload))
        case Mark():
            return pb.BotFrame(reply_id=event.reply_id, mark=pb.Mark(name=event.name))
        case Clear():
            return pb.BotFrame(reply_id=event.reply_id, clear=pb.Clear(reason=event.reason))
        case Transcript():
            return pb.BotFrame(transcript=_transcript(event))
        case ReplyText():
            said = pb.ReplyText(text=_sendable(event.text), route=event.route, source_ids=event.source_ids)
            return pb.BotFrame(reply_id=event.reply_id, reply_text=said)
        case Transfer():
            summary = _sendable(event.summary)
            return pb.BotFrame(transfer=pb.Transfer(target=event.target, ticket=event.ticket, summary=summary, reason=event.reason))
        case Ended():
            return pb.BotFrame(end=pb.End(reason=event.reason))
        case TurnFigures():
            return pb.BotFrame(turn_metrics=_metrics(event.turn, event.stamps, event.route))
        case Trouble():
            return error_frame(event.code, event.message, event.what_to_do)
        case _:
            assert_never(event)


def refusal_frame(wrong: WireError) -> pb.BotFrame:
    """The `error` frame for a frame or stream that isn't taken."""
    return error_frame(wrong.code, str(wrong), wrong.what_to_do)


def error_frame(code: str, message: str, what_to_do: str) -> pb.BotFrame:
    """What went wrong, for the other side."""
    return pb.BotFrame(error=pb.Error(code=code, message=_sendable(message), what_to_do=_sendable(what_to_do)))


def ask_frame(event: MaskedQuestion | AskClause | AskDone) -> pb.AskEvent:
    """A piece of an answer to one question."""
    match event:
        case MaskedQuestion():
            return pb.AskEvent(masked_question=_sendable(event.text))
        case AskClause():
            return pb.AskEvent(clause=pb.ReplyText(text=_sendable(event.text), route=event.route, source_ids=event.source_ids))
        case AskDone():
            return pb.AskEvent(done=pb.AskDone(route=event.route, needs_person=event.needs_person, reason=event.reason))
        case _:
            assert_never(event)


def _transcript(event: Transcript) -> pb.Transcript:
    return pb.Transcript(
        masked_text=_sendable(event.masked_text),
        is_final=event.is_final,
        turn=event.turn,
        start_ms=max(0, event.start_ms),
        end_ms=max(0, event.end_ms),
    )


def _metrics(turn: int, stamps: Stamps, route: str) -> pb.TurnMetrics:
    return pb.TurnMetrics(
        turn=turn,
        caller_last_speech_ms=_stamp(stamps.caller_last_speech_ms),
        vad_end_ms=_stamp(stamps.vad_end_ms),
        turn_decided_ms=_stamp(stamps.turn_decided_ms),
        asr_final_ms=_stamp(stamps.asr_final_ms),
        route_decided_ms=_stamp(stamps.route_decided_ms),
        first_token_ms=_stamp(stamps.first_token_ms),
        first_safe_clause_ms=_stamp(stamps.first_safe_clause_ms),
        first_tts_audio_ms=_stamp(stamps.first_tts_audio_ms),
        first_frame_sent_ms=_stamp(stamps.first_frame_sent_ms),
        voice_to_voice_ms=_stamp(stamps.voice_to_voice_ms),
        route=route,
    )


def _stamp(at_ms: int | None) -> int:
    return max(0, at_ms or 0)


def _sendable(text: str) -> str:
    """Lone surrogates (a model can make them) would break the serialiser, with the text in its message."""
    return text.encode("utf-8", "replace").decode("utf-8")
