"""A caller who follows a script on a real leg: waits, interrupts, listens, checks. Script → sound → leg → verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hotline.caller_leg import CallerLeg
from hotline.scripts import CallScript, ScriptStep, unmet
from hotline.v1 import hotline_pb2 as pb

PATIENCE_MS = 60_000


@dataclass(slots=True, kw_only=True)
class StepResult:
    """What one step led to."""

    said: str
    heard: str = ""
    route: str = ""
    answer: str = ""
    sources: tuple[str, ...] = ()
    voice_to_voice_ms: int | None = None
    missed: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class ScriptedCaller:
    """Runs a script. voices: sound for each line at the line's rate; a line without is typed. on_step: told of each answer."""

    leg: CallerLeg
    script: CallScript
    voices: Mapping[str, NDArray[np.float32]]
    on_step: Callable[[StepResult], None] = lambda _: None
    results: list[StepResult] = field(default_factory=list)
    ending: str = ""
    _ended_replies: set[int] = field(default_factory=set)
    _answering: set[int] = field(default_factory=set)
    _replies_before: int = 0  # what belongs to these is no answer to the step
    _last_reply: int = 0
    _goodbyes: set[int] = field(default_factory=set)
    _grade_is_asked: bool = False

    async def run(self) -> list[str]:
        """Play the whole script; what did not come as expected, in words. The leg must be running."""
        async with asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(self._listen(), name="listen")
            await self._leg_until(lambda: bool(self._ended_replies) or self._interrupts(0))
            for number, step in enumerate(self.script.steps):
                if self.leg.is_over:
                    break
                await self._take(number, step)
            await self._leg_until(lambda: bool(self.ending))
            self.leg.hang_up()
            await listening
        return self._verdict()

    async def _take(self, number: int, step: ScriptStep) -> None:
        if step.interrupts_after_ms is not None:
            await self._leg_until(lambda: self.leg.bot_is_speaking)
            await self._pause(step.interrupts_after_ms)
        else:
            await self._pause(step.wait_ms)
        self.results.append(StepResult(said=step.say or f"（按键 {step.key}）"))
        self._ended_replies.clear()
        self._answering.clear()
        self._replies_before = self._last_reply
        if step.hang_up:
            self.leg.hang_up()
            return
        self._utter(step)
        await self._leg_until(lambda: not self.leg.voice.is_saying)
        await self._leg_until(lambda: self._answered(number + 1))
        result = self.results[-1]
        result.missed = unmet(step.expect, route=result.route, answer=result.answer, masked=result.heard, sources=result.sources)
        self.on_step(result)

    def _utter(self, step: ScriptStep) -> None:
        voice = self.voices.get(step.say)
        if step.key:
            self.leg.press(step.key)
        elif voice is None:
            self.leg.type(step.say)
        else:
            self.leg.say(voice)

    def _answered(self, next_number: int) -> bool:
        """The reply was sent and played to its end; or it sounds, and the next step interrupts it."""
        if self.ending:
            return True
        step = self.script.steps[next_number - 1]
        if step.key not in {"", "0"} and not self._grade_is_asked:
            return True  # means nothing here
        if self._interrupts(next_number):
            return bool(self._answering) and self.leg.bot_is_speaking and self.results[-1].voice_to_voice_ms is not None
        answered = self._answering & self._ended_replies - self._goodbyes  # behind a goodbye more is said
        return bool(answered) and not self.leg.bot_is_speaking

    def _interrupts(self, number: int) -> bool:
        steps = self.script.steps
        return number < len(steps) and steps[number].interrupts_after_ms is not None

    async def _listen(self) -> None:
        while (received := await self.leg.events.get()) is not None:
            self._take_frame(received.frame)

    def _take_frame(self, frame: pb.BotFrame) -> None:
        kind = frame.WhichOneof("frame")
        if kind == "end":
            self.ending = frame.end.reason
        if kind == "mark" and frame.mark.name == "end":
            self._ended_replies.add(frame.reply_id)
        self._last_reply = max(self._last_reply, frame.reply_id)
        if kind == "reply_text":
            self._grade_is_asked = frame.reply_text.route == "rating"
            self._goodbyes |= {frame.reply_id} if frame.reply_text.route == "goodbye" else set()
        if not self.results:
            return
        result = self.results[-1]
        if kind == "transcript" and frame.transcript.is_final:
            result.heard += frame.transcript.masked_text
        elif kind == "reply_text" and frame.reply_text.route != "filler" and frame.reply_id > self._replies_before:
            self._answering.add(frame.reply_id)
            if frame.reply_text.route != "rating" or not result.route:  # behind a goodbye
                result.route = frame.reply_text.route
            result.answer += frame.reply_text.text
            result.sources = tuple(dict.fromkeys((*result.sources, *frame.reply_text.source_ids)))
        elif kind == "turn_metrics":
            result.voice_to_voice_ms = frame.turn_metrics.voice_to_voice_ms

    async def _pause(self, pause_ms: int) -> None:
        until_ms = self.leg.now_ms + pause_ms
        await self.leg.until(lambda: self.leg.now_ms >= until_ms)

    async def _leg_until(self, is_true: Callable[[], bool]) -> None:
        until_ms = self.leg.now_ms + PATIENCE_MS
        await self.leg.until(lambda: is_true() or self.leg.now_ms >= until_ms)

    def _verdict(self) -> list[str]:
        wrong = [f"{result.said}: {missed}" for result in self.results for missed in result.missed]
        if len(self.results) < len(self.script.steps):
            wrong.append(f"the call ended after {len(self.results)} of {len(self.script.steps)} steps ({self.ending or 'broken'})")
        if self.script.outcome and self.ending != self.script.outcome:
            wrong.append(f"outcome {self.ending or 'none'}, expected {self.script.outcome}")
        return wrong
