"""A recorded call played against a real server with a scripted desk, and the gateway's playout that the player imitates."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from desk_for_tests import ScriptedDesk
from numpy.typing import NDArray

from asr.types import AudioPacket
from hotline.call_events import CallEvent, EventsWrong, read_events, transcript_of, turns_of
from hotline.caller_leg import CallerLeg, LegReport, LegSettings, open_channel, until_bot_is_quiet
from hotline.leg_playout import LegPlayout, MarkReached
from hotline.lines import (
    BotAudio,
    Clear,
    HungUp,
    Line,
    Mark,
    MarkPlayed,
    ReplyText,
    Transcript,
    Transfer,
    TransferResult,
    TurnFigures,
)
from hotline.replay import Booth, CallReport, ReplaySettings, replay_file, replay_files, table
from hotline.server import HotlineServer, ServerSettings
from hotline.sound.codec import Codec, encode
from hotline.stamps import Stamps
from hotline.v1 import hotline_pb2_grpc as pb_grpc
from hotline.wav import read_wav, write_wav

TONE = (np.sin(2 * np.pi * 440 * np.arange(1600) / 8000) * 0.3).astype(np.float32)  # 200 ms
TONE_FRAMES = [encode(TONE[i : i + 160], Codec.PCMA) for i in range(0, 1600, 160)]


class TalkingDesk(ScriptedDesk):
    """Counts the caller's audio, says a tone, is interrupted once, then hands over."""

    def __init__(self) -> None:
        super().__init__()
        self.packets: list[int] = []
        self.transfer_after_ms = 600

    async def _talk(self, line: Line) -> str:
        await line.send(ReplyText(reply_id=1, text="您好。", route="greeting"))
        for payload in TONE_FRAMES:
            await line.send(BotAudio(reply_id=1, payload=payload))
        await line.send(Mark(reply_id=1, name="end"))
        async with aclosing(line.events()) as events:
            async for event in events:
                match event:
                    case AudioPacket():
                        self.packets.append(event.sequence)
                        if event.sequence * 20 == self.transfer_after_ms:
                            await self._hand_over(line)
                    case MarkPlayed() | TransferResult():
                        self.seen.append(event)
                        if isinstance(event, TransferResult):
                            return "transferred"
                    case HungUp():
                        self.seen.append(event)
                        return "hangup"
        return "line_broken"

    async def _hand_over(self, line: Line) -> None:
        await line.send(Transcript(turn=1, masked_text="我的手机号是〈手机号·1〉", start_ms=100, end_ms=400))
        await line.send(ReplyText(reply_id=2, text="马上为您转人工。", route="hand_over"))
        for payload in TONE_FRAMES:
            await line.send(BotAudio(reply_id=2, payload=payload))
        await line.send(Mark(reply_id=2, name="half"))
        await line.send(Clear(reply_id=2, reason="cancel"))
        stamps = Stamps(caller_last_speech_ms=400, first_frame_sent_ms=620)
        await line.send(TurnFigures(turn=1, stamps=stamps, route="hand_over"))
        await line.send(Transfer(target="queue:general", ticket="T-9", summary="", reason="asked"))


@asynccontextmanager
async def serving(desk: ScriptedDesk, token: str = "") -> AsyncGenerator[str, None]:
    async with HotlineServer(desk, ServerSettings(port=0, token=token)) as server:
        await server.set_ready(is_ready=True)
        yield f"127.0.0.1:{server.port}"


def clip(path: Path, *channels: NDArray[np.float32], rate_hz: int = 8000) -> Path:
    write_wav(path, np.stack(channels, axis=1), rate_hz)
    return path


async def replayed(path: Path, settings: ReplaySettings, on_event: Callable[[CallEvent], None] | None = None) -> CallReport:
    async with open_channel(settings.target) as channel:
        booth = Booth(stub=pb_grpc.HotlineStub(channel), token=settings.token, on_event=on_event)
        return await replay_file(path, settings.out_dir / "call", booth, settings)


# ---------------------------------------------------------------- replay


async def test_a_replayed_call_leaves_its_sound_its_events_its_words_and_its_page(tmp_path: Path) -> None:
    desk = TalkingDesk()
    wide = np.sin(2 * np.pi * 440 * np.arange(4800) / 16000).astype(np.float32) * np.float32(0.3)
    path = clip(tmp_path / "caller.wav", np.zeros(4800, np.float32), wide, rate_hz=16000)
    async with serving(desk) as target:
        report = await replayed(path, ReplaySettings(target=target, channel="right", out_dir=tmp_path / "out", tail_s=5))

    assert report.error == ""
    assert report.leg is not None
    assert report.folder is not None
    assert report.leg.reason == "transferred"
    assert [(turn.number, turn.heard, turn.route) for turn in report.turns] == [
        (0, "", "greeting"),
        (1, "我的手机号是〈手机号·1〉", "hand_over"),
    ]
    assert report.turns[1].voice_to_voice_ms == 220

    # the caller's frames: without gaps, silence included
    assert desk.packets == list(range(len(desk.packets)))
    # the first mark was played; the one behind `clear` never
    assert desk.seen[0] == MarkPlayed(reply_id=1, name="end")
    assert desk.seen[-1] == TransferResult(ticket="T-9", outcome="accepted", sip_code=200)
    assert MarkPlayed(reply_id=2, name="half") not in desk.seen

    sound = read_wav(report.folder / "call.wav")
    caller, bot = sound.channel(0), sound.channel(1)
    assert np.max(np.abs(caller[400:2000])) > 0.2
    assert np.sum(np.abs(bot) > 0.01) == pytest.approx(1600, rel=0.1)  # the greeting; what was cleared is not heard

    kinds = [json.loads(line)["kind"] for line in (report.folder / "events.jsonl").read_text("utf-8").splitlines()]
    assert kinds[0] == "accepted"
    assert kinds[-1] == "end"
    assert "audio" not in kinds
    assert {"sound_began", "sound_stopped", "mark_played", "dropped", "transfer_result"} <= set(kinds)
    assert "来电：我的手机号是〈手机号·1〉" in (report.folder / "transcript.txt").read_text("utf-8")
    assert "resume_token" not in (report.folder / "events.jsonl").read_text("utf-8")
    assert (report.folder / "timeline.html").stat().st_size > 10_000


async def test_after_the_file_the_caller_waits_for_the_tail_and_hangs_up(tmp_path: Path) -> None:
    desk = TalkingDesk()
    desk.transfer_after_ms = -1
    path = clip(tmp_path / "caller.wav", TONE)
    told: list[CallEvent] = []
    settings = ReplaySettings(out_dir=tmp_path, tail_s=0.2, after_greeting=True, token="s3cret")
    async with serving(desk, token="s3cret") as target:
        report = await replayed(path, replace(settings, target=target), told.append)

    assert report.leg is not None
    assert report.leg.reason == "hangup"
    assert desk.seen[-1] == HungUp(reason="caller")
    began_ms = next(event.at_ms for event in told if event.kind == "sound_began" and event.side == "caller")
    assert began_ms > 400  # the greeting and its silence were over


async def test_broken_files_are_told_and_do_not_stop_the_rest(tmp_path: Path) -> None:
    desk = TalkingDesk()
    (tmp_path / "broken.wav").write_bytes(b"ID3" + b"\0" * 50)
    stereo = clip(tmp_path / "stereo.wav", TONE, -TONE)
    good = clip(tmp_path / "good.wav", TONE, TONE)  # a mono call saved as stereo needs no channel
    told: list[str] = []
    async with serving(desk) as target:
        settings = ReplaySettings(target=target, out_dir=tmp_path / "out", tail_s=2)
        code = await replay_files([tmp_path / "none.wav", tmp_path / "broken.wav", stereo, good], settings, tell=told.append)

    assert code == 1
    shown = next(line for line in told if line.startswith("file "))
    assert "good.wav    1     我的手机号是〈手机号·1〉" in shown
    assert "220 ms" in shown
    below = "\n".join(told[told.index(shown) + 1 :])
    assert "begins like MP3" in below
    assert "--channel left" in below
    assert f"{good}: both channels hold the same sound" in below


async def test_without_a_server_the_replay_says_so(tmp_path: Path) -> None:
    path = clip(tmp_path / "caller.wav", TONE)
    told: list[str] = []
    code = await replay_files([path, path], ReplaySettings(target="127.0.0.1:1", out_dir=tmp_path / "out"), tell=told.append)

    assert code == 1
    assert "UNAVAILABLE" in told[-1]


async def test_a_wrong_token_ends_in_a_report_not_a_crash(tmp_path: Path) -> None:
    async with serving(ScriptedDesk(), token="right") as target, open_channel(target) as channel:
        report = await CallerLeg(pb_grpc.HotlineStub(channel), LegSettings(), token="wrong").run()
    assert report.reason == "broken"
    assert "UNAUTHENTICATED" in report.error


def test_the_table_lines_up_with_wide_characters_and_cuts_long_ones() -> None:
    leg = LegReport(call_id="1", reason="goodbye", duration_ms=12_300)
    turns = turns_of([CallEvent(at_ms=1, side="bot", kind="transcript", fields={"turn": 1, "masked_text": "长" * 60})])
    rows = table([CallReport(path=Path("a.wav"), leg=leg, turns=tuple(turns))]).splitlines()

    assert rows[1].count("长") == 21
    assert "…" in rows[1]
    assert rows[2].endswith("12.3 s")


# ---------------------------------------------------------------- a live script


async def test_a_script_can_listen_press_and_interrupt() -> None:
    desk = TalkingDesk()
    desk.transfer_after_ms = -1
    async with serving(desk) as target, open_channel(target) as channel, asyncio.TaskGroup() as tasks:
        leg = CallerLeg(pb_grpc.HotlineStub(channel), LegSettings(call_id="demo-1"))
        running = tasks.create_task(leg.run())
        await leg.until(lambda: leg.bot_is_speaking)
        assert leg.say(TONE) == 200
        await leg.until(lambda: not leg.voice.is_saying)
        leg.press("5")
        leg.type("我叫张三")
        await until_bot_is_quiet(leg, for_ms=60)
        leg.hang_up("done")
        report = await running

        assert report.call_id == "demo-1"
        heard = []
        while (received := leg.events.get_nowait()) is not None:
            heard.append(received.frame.WhichOneof("frame"))
        assert heard == ["accepted", "reply_text", "mark", "end"]
        assert desk.seen[-1] == HungUp(reason="done")
        assert "张三" not in str(leg.recording.events)


async def test_as_fast_as_it_goes_time_is_counted_in_frames() -> None:
    desk = TalkingDesk()
    async with serving(desk) as target, open_channel(target) as channel, asyncio.TaskGroup() as tasks:
        leg = CallerLeg(pb_grpc.HotlineStub(channel), LegSettings(is_realtime=False))
        running = tasks.create_task(leg.run())
        leg.say(np.tile(TONE, 50))  # ten seconds
        await leg.until(lambda: not leg.voice.is_saying)
        leg.hang_up()
        report = await running
    assert report.duration_ms <= 10_600


# ---------------------------------------------------------------- the gateway's playout


def test_the_first_frame_waits_one_step_for_jitter_and_marks_follow_their_frames() -> None:
    playout = LegPlayout()
    playout.add_frame(b"1")
    playout.add_frame(b"2")
    playout.add_mark(1, "end")

    steps = [playout.step() for _ in range(4)]
    assert [step.payload for step in steps] == [None, b"1", b"2", None]
    assert [step.marks for step in steps] == [(), (), (MarkReached(reply_id=1, name="end"),), ()]
    assert not playout.is_speaking


def test_a_mark_with_nothing_before_it_is_reached_at_once() -> None:
    playout = LegPlayout()
    playout.add_mark(1, "begin")
    assert playout.step().marks == (MarkReached(reply_id=1, name="begin"),)


def test_clear_drops_what_was_not_played_and_its_marks() -> None:
    playout = LegPlayout(hold_steps=0)
    for payload in (b"1", b"2", b"3"):
        playout.add_frame(payload)
    playout.add_mark(1, "end")
    assert playout.step().payload == b"1"
    assert playout.clear() == 2
    assert playout.step().marks == ()
    assert not playout.is_speaking


# ---------------------------------------------------------------- events


def test_events_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    event = CallEvent(at_ms=5, side="bot", kind="reply_text", fields={"text": "你好\n\u2028", "source_ids": ["a"]})
    path.write_text(event.to_json() + "\n\n", "utf-8")
    assert read_events(path)[0] == replace(event, fields=read_events(path)[0].fields)
    assert dict(read_events(path)[0].fields) == dict(event.fields)


@pytest.mark.parametrize("line", ["{", "[]", "5", '{"at_ms": "x", "from": "bot", "kind": "end"}', '{"kind": "end"}'])
def test_a_line_that_is_no_event_is_named_by_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"at_ms": 1, "from": "bot", "kind": "end"}\n' + line, "utf-8")
    with pytest.raises(EventsWrong, match="line 2"):
        read_events(path)


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(EventsWrong, match="text"):
        read_events(tmp_path / "events.jsonl")


def test_the_transcript_tells_interruptions_transfers_and_errors() -> None:
    def bot(at_ms: int, kind: str, **fields: str) -> CallEvent:
        return CallEvent(at_ms=at_ms, side="bot", kind=kind, fields=fields)

    text = transcript_of([
        bot(61_250, "clear", reason="cancel"),
        bot(62_000, "transfer", target="queue:general", reason="asked"),
        bot(63_000, "error", code="asr.error", message="broken"),
        bot(64_000, "end", reason="transferred"),
    ])
    assert text.splitlines()[0] == "[01:01.2] ——（cancel）"
    assert "转人工 queue:general（asked）" in text
    assert "asr.error: broken" in text
    assert text.endswith("结束（transferred）\n没有听懂来电者的话（no speech was understood）\n")
