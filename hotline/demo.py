"""`hotline demo`: a server, a caller synthesised at this moment, one call in real time over gRPC, and its page in out/demo/.

The caller's voice goes through 300–3400 Hz, G.711 and line noise, and is labelled as synthetic everywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from hotline.caller_leg import CallerLeg, LegSettings, open_channel
from hotline.compose import speak_lines
from hotline.config import Settings
from hotline.handoff.listen import offers
from hotline.handoff.types import MqttSettings
from hotline.own_server import own_server
from hotline.paths import configs_dir
from hotline.scripted_caller import ScriptedCaller, StepResult
from hotline.scripts import load_script
from hotline.timeline import write_timeline
from hotline.v1 import hotline_pb2_grpc as pb_grpc

SAMPLE_CALLER = "13900005678"  # a sample number
Tell = Callable[[str], None]


async def demo(settings: Settings, *, out_dir: Path, script: Path | None = None, tell: Tell = print) -> int:
    """Run the demonstration: two calls, or the script's one. Returns 0 when everything came as the scripts expect, else 1."""
    paths = [script] if script is not None else [configs_dir() / "demo" / name for name in ("call.yaml", "goodbye.yaml")]
    calls = [load_script(path) for path in paths]
    synthetic = settings.speaking.voice == "neural"
    lines = [step.say for call in calls for step in call.steps if step.say] if synthetic else []
    voices = await asyncio.to_thread(speak_lines, lines, settings) if lines else {}
    tell("来电者的声音由本机此刻合成（合成语音，非真人）" if synthetic else "VOICE=espeak：来电者打字，热线以 eSpeak NG 发声")
    tell("服务启动中：载入识别模型，预先合成热门答案（首次约一分钟）")
    well = True
    async with own_server(out_dir) as server, open_channel(server.target) as channel:
        tell("服务就绪")
        for number, call in enumerate(calls):
            stub = pb_grpc.HotlineStub(channel)
            leg = CallerLeg(stub, LegSettings(trunk="demo", caller_number=SAMPLE_CALLER), token=server.token)
            caller = ScriptedCaller(leg=leg, script=call, voices=voices, on_step=lambda result: _show(result, tell))
            folder = out_dir if not number else out_dir / paths[number].stem
            well &= await _play(caller, server.mqtt, folder, tell, label="来电者为合成语音" if synthetic else "来电者打字")
    return 0 if well else 1


async def _play(caller: ScriptedCaller, mqtt: MqttSettings, folder: Path, tell: Tell, *, label: str) -> bool:
    """One call, and its page. True: it went as its script expects."""
    tell(f"■ {caller.script.title}")
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(_show_offers(mqtt, tell), name="offers")
        running = tasks.create_task(caller.leg.run(), name="leg")
        wrong = await caller.run()
        report = await running
        await asyncio.sleep(0.5)  # an offer that is still on its way to the screen
        watching.cancel()
    await asyncio.to_thread(caller.leg.recording.write, folder)
    await asyncio.to_thread(write_timeline, folder, title=f"{caller.script.title}（{label}）")
    for each in wrong:
        tell(f"✗ {each}")
    tell(f"通话 {report.duration_ms / 1000:.0f} 秒，结束：{report.reason}")
    tell(f"录音 {folder}/call.wav  文字 {folder}/transcript.txt  时间线 {folder}/timeline.html")
    return not (wrong or report.error)


async def _show_offers(mqtt: MqttSettings, tell: Tell) -> None:
    async with aclosing(offers(mqtt)) as arriving:
        async for offer in arriving:
            tell(f"  ⇄ 坐席收到  工单 {offer['ticket']}  原因 {offer['reason']}\n    摘要  {offer['summary']}")


def _show(result: StepResult, tell: Tell) -> None:
    delay = f"{result.voice_to_voice_ms} ms" if result.voice_to_voice_ms else "—"
    tell(f"  来电  {result.said}")
    tell(f"  听到  {result.heard or '（无）'}")
    tell(f"  热线  {result.answer}")
    tell(f"        路线 {result.route}  依据 {','.join(result.sources) or '—'}  应答 {delay}")
