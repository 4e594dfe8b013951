"""A scripted desk: answers real gRPC calls without a recogniser, a mind or a voice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from asr.types import AudioPacket
from hotline.desk import AskClause, AskDone, AskEvent, MaskedQuestion
from hotline.lines import (
    BotAudio,
    Clear,
    HungUp,
    Key,
    Line,
    LineEvent,
    Mark,
    MarkPlayed,
    ReplyText,
    Transcript,
    Transfer,
    TransferResult,
    TurnFigures,
    Typed,
)
from hotline.stamps import Stamps

FRAME = b"\xd5" * 160  # 20 ms of A-law silence


class ScriptedDesk:
    """Greets, then does as it is told by typed words and keys. seen: every event of every call; endings: how calls ended."""

    def __init__(self) -> None:
        self.seen: list[LineEvent] = []
        self.endings: list[str] = []
        self.lines: list[Line] = []
        self.hold = asyncio.Event()

    async def answer(self, line: Line) -> str:
        self.lines.append(line)
        try:
            reason = await self._talk(line)
        except asyncio.CancelledError:
            self.endings.append("cancelled")
            raise
        self.endings.append(reason)
        return reason

    async def turn_away(self, line: Line) -> str:
        await line.send(ReplyText(reply_id=1, text="线路繁忙，马上为您转人工。", route="notice"))
        await line.send(Transfer(target="queue:general", ticket="T-1", summary="", reason="overload"))
        async with aclosing(line.events()) as events:
            await anext(events)
        self.endings.append("overload")
        return "overload"

    async def ask(self, question: str, conversation: object = None) -> AsyncGenerator[AskEvent, None]:
        if question == "坏":
            raise RuntimeError(f"breaks on {question}")
        yield MaskedQuestion(text=question.replace("13800138000", "〈手机号·1〉"))
        yield AskClause(text="工作日九点到十七点。", route="hot", source_ids=("kb-1",))
        yield AskDone(route="hot")

    async def _talk(self, line: Line) -> str:
        await line.send(ReplyText(reply_id=1, text="您好，这里是智能热线。", route="greeting"))
        async with aclosing(line.events()) as events:
            async for event in events:
                self.seen.append(event)
                match event:
                    case Typed(text=words):
                        if (ending := await self._do(line, words)) is not None:
                            return ending
                    case HungUp():
                        return "hangup"
                    case Key(digit="0"):
                        await line.send(Transfer(target="queue:general", ticket="T-7", summary="", reason="asked"))
                    case TransferResult(outcome="accepted"):
                        return "transferred"
                    case MarkPlayed() | AudioPacket() | _:
                        pass
        return "line_broken"

    async def _do(self, line: Line, words: str) -> str | None:
        match words:
            case "再见":
                return "goodbye"
            case "坏":
                raise ValueError("my number is 13800138000")
            case "等":
                await self.hold.wait()
            case "睡":
                await asyncio.sleep(3600)
            case "倾":
                for _ in range(1000):
                    await line.send(ReplyText(reply_id=2, text="长" * 20_000, route="hot"))
            case "说":
                await self._speak(line)
        return None

    async def _speak(self, line: Line) -> None:
        await line.send(Transcript(turn=1, masked_text="几点开门", start_ms=100, end_ms=700))
        await line.send(ReplyText(reply_id=2, text="九点开门。", route="hot", source_ids=("kb-1",)))
        for _ in range(5):
            await line.send(BotAudio(reply_id=2, payload=FRAME))
        await line.send(Mark(reply_id=2, name="end"))
        await line.send(TurnFigures(turn=1, stamps=Stamps(caller_last_speech_ms=700, first_frame_sent_ms=1500), route="hot"))
        await line.send(Clear(reply_id=2, reason="cancel"))
