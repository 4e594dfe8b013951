"""`hotline bench call`: what one call costs on this machine, as distributions of one run. Asserts nothing; prints and writes JSON.

A caller synthesised here asks a server of its own over gRPC, in real time. Measured by the caller's clock where the caller would
notice it, by the server's stamps where the parts are asked for.
"""

from __future__ import annotations

import asyncio
import json
import platform
import re
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

from hotline.caller_leg import CallerLeg, LegSettings, open_channel
from hotline.clock import utc_now
from hotline.compose import open_desk, speak_lines
from hotline.config import Settings
from hotline.own_server import OwnServer, free_port, own_server
from hotline.paths import configs_dir
from hotline.scripted_caller import ScriptedCaller, StepResult
from hotline.scripts import CallScript, ScriptStep
from hotline.v1 import hotline_pb2_grpc as pb_grpc
from llm import knowledge
from llm.types import Dialogue, Entry

Tell = Callable[[str], None]
AUDIO_READY, SYNTHESISED_NOW = "audio ready", "synthesised now"
KINDS: dict[str, dict[str, str]] = {AUDIO_READY: {}, SYNTHESISED_NOW: {"HOTLINE_SPEAKING__CACHE_MB": "0"}}
FRAME_MS = 20
LONGEST_GAP_MS = 120
SECONDS_A_QUESTION = 14
PREPARED_WITHIN_S = 900
SHORT = 8  # characters; shorter questions get a polite opening, so that all last two to four seconds
# Questions that the default recogniser understands from the synthetic caller: the figures are about time, not about it.
QUESTIONS = (
    "居住证怎么办理",
    "居住证到期怎么续签",
    "生育津贴怎么领",
    "高龄津贴怎么申请",
    "家里停水了怎么办",
    "社保交满多少年能领养老金",
    "怎么举报违法停车",
    "共享单车乱停放怎么反映",
    "营业执照怎么办理",
    "身份证不见了去哪里补",
    "我们想领证结婚去哪里",
    "住院医保能报销多少",
)
INTERRUPTION = "等一下，我想问别的事情。"
REACH: dict[str, tuple[str, str]] = {
    "voice to voice, audio ready, p50 / p95 ms": ("1100 / 1600", "800 / 1100"),
    "voice to voice, synthesised now, p50 / p95 ms": ("1600 / 2300", "1100 / 1500"),
    "barge-in: onset to silence, p50 / p95 ms": ("– / 450", "– / 300"),
    "hot answer, text in to text out, mean / p99 ms": ("20 / 60", "3 / 10"),
    "bot frames: spacing 20 ms, p99 error ms": ("8", "3"),
    "server memory, one call, MB": ("1500", "900"),
}


async def bench_call(settings: Settings, *, turns: int, out_dir: Path, tell: Tell = print) -> int:
    """Measure and print the table. Returns 0."""
    entries = await asyncio.to_thread(knowledge.load, configs_dir() / settings.answering.knowledge_dir, today=utc_now().date())
    figures: dict[str, str] = {}
    detail: dict[str, object] = {"machine": machine(), "at": utc_now().isoformat(timespec="seconds")}
    lines = [f"您好，我想问一下，{line}？" if len(line) < SHORT else f"{line}？" for line in islice(cycle(QUESTIONS), turns)]
    for kind, extra in KINDS.items():
        metrics_port = free_port()
        more = {"HOTLINE_CACHE_DIR": str(Path.cwd() / out_dir / "cache"), "HOTLINE_METRICS__PORT": str(metrics_port)}
        async with own_server(out_dir, extra | more) as server:
            if kind == AUDIO_READY:
                tell("waiting until the sound of hot answers is prepared")
                await _until_prepared(metrics_port)
            script = CallScript(title=kind, steps=tuple(ScriptStep(say=line) for line in lines))
            tell(f"{kind}: {len(lines)} questions, about {len(lines) * SECONDS_A_QUESTION // 60 + 1} minutes")
            results, leg = await _talk(server, settings, script)
            delays = _delays(results)
            detail[kind] = {"delays_ms": delays, "questions": len(lines), "answered": len(delays)}
            figures[f"voice to voice, {kind}, p50 / p95 ms"] = _middle_and_tail(delays)
            spacing = spacing_errors_ms(list(leg.arrivals_s))
            detail[f"{kind}: spacing_error_ms"] = {f"p{p}": _percentile(spacing, p) for p in (50, 95, 99)}
            if kind == AUDIO_READY:
                leaving = await asyncio.to_thread(_leaving_error_ms, metrics_port, 0.99)
                figures["bot frames: spacing 20 ms, p99 error ms"] = f"{leaving}; {_percentile(spacing, 99):.1f} at the caller"
                figures["server memory, one call, MB"] = f"{psutil.Process(server.pid).memory_info().rss / 1e6:.0f}"
                tell(f"barge-in: {max(1, turns // 4) * 4} interruptions")
                stops = await _interruptions(server, settings, lines[0], turns)
                detail["barge_in_ms"] = stops
                figures["barge-in: onset to silence, p50 / p95 ms"] = _middle_and_tail(stops)
    times = await _text_times(entries, settings)
    figures["hot answer, text in to text out, mean / p99 ms"] = (
        f"{np.mean(times):.2f} / {_percentile(times, 99):.2f}  (n={len(times)})"
    )
    _tell_table(figures, tell)
    report = {"figures": figures, **detail}
    await asyncio.to_thread((out_dir / "call.json").write_text, json.dumps(report, ensure_ascii=False, indent=2), "utf-8")
    return 0


async def _talk(server: OwnServer, settings: Settings, script: CallScript) -> tuple[list[StepResult], CallerLeg]:
    voices = await asyncio.to_thread(speak_lines, [step.say for step in script.steps], settings)
    return await _converse(server, script, voices)


async def _converse(
    server: OwnServer, script: CallScript, voices: dict[str, NDArray[np.float32]]
) -> tuple[list[StepResult], CallerLeg]:
    async with open_channel(server.target) as channel:
        leg = CallerLeg(pb_grpc.HotlineStub(channel), LegSettings(trunk="bench"), token=server.token)
        caller = ScriptedCaller(leg=leg, script=script, voices=voices)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(leg.run(), name="leg")
            await caller.run()
    return caller.results, leg


async def _interruptions(server: OwnServer, settings: Settings, question: str, count: int) -> list[float]:
    """Ask, interrupt in the middle of the answer, and see when the bot's last frame was played."""
    voices = await asyncio.to_thread(speak_lines, [question, INTERRUPTION], settings)
    pair = (ScriptStep(say=question), ScriptStep(say=INTERRUPTION, interrupts_after_ms=1800))
    stops: list[float] = []
    for _ in range(max(1, count // 4)):
        _, leg = await _converse(server, CallScript(title="barge-in", steps=pair * 4), voices)
        stops += stop_times_ms(leg)
    return stops


async def _until_prepared(metrics_port: int) -> None:
    """A server makes it while nobody is on the line."""
    async with asyncio.timeout(PREPARED_WITHIN_S):
        while "hotline_prepared_share 1.0" not in await asyncio.to_thread(_metrics_page, metrics_port):  # noqa: ASYNC110  another process
            await asyncio.sleep(1)


def _metrics_page(metrics_port: int) -> list[str]:
    with urllib.request.urlopen(f"http://127.0.0.1:{metrics_port}/metrics", timeout=5) as page:
        return list(page.read().decode().splitlines())


def _leaving_error_ms(metrics_port: int, share: float) -> str:
    """From the server's own histogram: the bucket that holds this share of the frames, as an upper bound."""
    lines = _metrics_page(metrics_port)
    counts = [
        (float(found[1]), float(found[2]))
        for line in lines
        if (found := re.match(r'hotline_frame_spacing_error_seconds_bucket\{le="([^"]+)"\} (\S+)', line))
    ]
    total = max(count for _, count in counts)
    return f"≤ {next(bound for bound, count in counts if count >= share * total) * 1000:g}"


def spacing_errors_ms(arrivals_s: Sequence[float]) -> list[float]:
    """How far from 20 ms apart bot frames arrive, as the caller's process sees them. Pauses between replies are left out."""
    gaps_ms = np.diff(np.asarray(arrivals_s)) * 1000
    return [float(error) for error in np.abs(gaps_ms[gaps_ms < LONGEST_GAP_MS] - FRAME_MS)]


def stop_times_ms(leg: CallerLeg) -> list[float]:
    """For each onset of the caller while the bot sounds: how long the bot went on. By the recording's own marks."""
    stops, bot_since = [], None
    onset: int | None = None
    for event in sorted(leg.recording.events, key=lambda event: event.at_ms):
        match event.side, event.kind:
            case "bot", "sound_began":
                bot_since = event.at_ms
            case "caller", "sound_began" if bot_since is not None:
                onset = event.at_ms
            case "bot", "sound_stopped":
                if onset is not None:
                    stops.append(float(event.at_ms - onset))
                bot_since, onset = None, None
            case _:
                pass
    return stops


async def _text_times(entries: Sequence[Entry], settings: Settings) -> list[float]:
    """Masked and answered, every paraphrase of every hot entry."""
    asked = [line for entry in entries if entry.hot for line in entry.paraphrases] * 4
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        record = replace(settings.record, url=f"sqlite+aiosqlite:///{folder}/record.db")
        settings = replace(settings, record=record, mqtt=replace(settings.mqtt, port=0))
        async with open_desk(settings, audible=False) as desk:
            for line in asked:
                began_s = time.perf_counter()
                question = desk.parts.new_masker().mask(line)
                async with aclosing(desk.parts.mind.answer(question, Dialogue())) as steps:
                    async for _ in steps:
                        pass
                times.append((time.perf_counter() - began_s) * 1000)
    return times[len(asked) // 4 :]  # the first round warms up


def _delays(results: Sequence[StepResult]) -> list[float]:
    """Of the questions that were understood."""
    return [float(result.voice_to_voice_ms) for result in results if result.voice_to_voice_ms and result.route in {"hot", "stored"}]


def _middle_and_tail(values: Sequence[float]) -> str:
    return f"{_percentile(values, 50):.0f} / {_percentile(values, 95):.0f}  (n={len(values)})"


def _percentile(values: Sequence[float], percent: float) -> float:
    return float(np.percentile(values, percent)) if len(values) else float("nan")


def machine() -> str:
    """The machine in words: cores, processor, memory, system."""
    memory_gib = psutil.virtual_memory().total / 2**30
    return (
        f"{psutil.cpu_count()} cores, {_processor()}, {memory_gib:.0f} GiB, {platform.system()}, Python {platform.python_version()}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _tell_table(figures: dict[str, str], tell: Tell) -> None:
    tell(f"machine: {machine()}")
    tell(f"{'figure':<52}{'measured':<28}{'reach':<16}aim")
    for name, (reach, aim) in REACH.items():
        tell(f"{name:<52}{figures.get(name, '—'):<28}{reach:<16}{aim}")
