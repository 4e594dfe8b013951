"""`hotline demo --full`: typed questions, answers that a language model writes in front of you, each clause past the checks.

Text mode's own call and events; beside each clause stands when it came, and after each answer why it was written or read. Where the
model can't be in time it is told so, and the stored answers come. Results in out/demo-full/.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hotline.config import Settings
from hotline.paths import configs_dir
from hotline.text import TextOptions, text_call
from llm.types import Route

Tell = Callable[[str], None]

_ENGINE = "embedded"
_ROUTES = {
    Route.HOT.value: "热门答案",
    Route.STORED.value: "已存的答案",
    Route.GENERATED.value: "模型生成",
    Route.CLARIFY.value: "反问",
    Route.UNKNOWN.value: "转人工",
}
_TIMING = re.compile(r"first clause in about (\d+) ms, (within|later than) (\d+) ms")
_WHY_NOT = {
    "hot answer is surer": "热门答案，不用模型",
    "a yes or no is read from the store": "是非问题，小模型容易答反，念已存的答案",
    "the passage is in doubt": "条目有疑点，不让模型写",
    "no passage is near enough": "没有够近的条目，不让模型写",
    "no passage is sure enough": "条目不够有把握，不让模型写",
    "names a matter only": "只提到一件事，没有问什么",
}
_BROKE = {
    "llm.engine_stalled": "模型没有在限时内给出能用的句子",
    "llm.engine_failed": "模型出错",
    "the model has no answer": "模型说资料里没有",
}


async def demo_full(settings: Settings, *, out_dir: Path, script: Path | None = None, tell: Tell = print) -> int:
    """Run it. Returns 0 when everything came as the script expects, else 1."""
    watched = Watched(tell=tell)
    answering = replace(settings.answering, engine=_ENGINE)
    options = TextOptions(scripts=(script or configs_dir() / "demo" / "full.yaml",), as_json=True, explains=True)
    watched.say("■ 语言模型写答案，逐句检查后才显示。规则没过的句子不出现，只说是哪条规则")
    watched.say("载入中：模型先量自己的速度（半分钟以内）")
    code = await text_call(replace(settings, answering=answering), options, show=watched.take, tell=watched.say)
    watched.sum_up()
    await asyncio.to_thread(watched.write, out_dir)
    tell(f"文字 {out_dir}/transcript.txt  事件 {out_dir}/events.jsonl")
    return code


@dataclass(slots=True, kw_only=True)
class Watched:
    """Text mode's JSON lines, as they come → words for people, with the time since the question. now_s: a clock, for durations."""

    tell: Tell
    now_s: Callable[[], float] = time.monotonic
    told: list[str] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    _asked_s: float | None = None  # before the first question there is none
    _routes: Counter[str] = field(default_factory=Counter)
    _late: int = 0

    def take(self, line: str) -> None:
        """One event of the call."""
        event: dict[str, Any] = json.loads(line)
        now_s = self.now_s()
        if event["event"] == "Transcript":
            self._asked_s = now_s
        since_ms = round((now_s - self._asked_s) * 1000) if self._asked_s is not None else 0
        self.events.append({**event, "since_question_ms": since_ms})
        match event:
            case {"event": "Transcript", "masked_text": masked}:
                self.say(f"\n  来电  {masked}")
            case {"event": "ReplyText", "text": text, "route": route} if route in _ROUTES:
                self.say(f"  {since_ms:>6} ms  {text}  [{_ROUTES[route]}]")
            case {"event": "Why", "explained": explained}:
                self._decided(explained)
            case {"event": "Unmet", "what": what}:
                self.say(f"✗ {what}")

    def say(self, line: str) -> None:
        """To people, and into the transcript."""
        self.told.append(line)
        self.tell(line)

    def sum_up(self) -> None:
        """How many were written, and how many read; and that the machine is too slow, if it is."""
        counts = "，".join(f"{_ROUTES[route]} {count}" for route, count in self._routes.most_common() if route in _ROUTES)
        self.say(f"\n  合计  {counts or '没有答案'}")
        if self._late and not self._routes[Route.GENERATED.value]:
            self.say("  这台机器上模型来不及写：答案都是已存的。更快的机器，或更长的 answering.text_first_clause_ms，才看得到生成")

    def write(self, folder: Path) -> None:
        """Both files. Blocking."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "transcript.txt").write_text("\n".join(self.told) + "\n", "utf-8")
        lines = (json.dumps(event, ensure_ascii=False) for event in self.events)
        (folder / "events.jsonl").write_text("\n".join(lines) + "\n", "utf-8")

    def _decided(self, explained: dict[str, Any]) -> None:
        self._routes[explained["route"]] += 1
        if timing := _TIMING.search(explained["why"]):
            self.say(f"       决定  {_timed(timing)}，由模型写")
        for name in explained["failed"]:
            self._late += "later than" in name or name == "llm.engine_stalled"
            self.say(f"       决定  {_in_words(name)}")


def _in_words(name: str) -> str:
    """A note of the mind: why no engine was asked, which check held a clause back, what broke."""
    if timing := _TIMING.search(name):
        return f"{_timed(timing)}，念已存的答案"
    if name.startswith("check "):
        return f"有一句没有通过检查（规则 {name.removeprefix('check ')}），不说"
    why_not = name.removeprefix("engine not asked: ")
    return _WHY_NOT.get(why_not) or _BROKE.get(name) or why_not


def _timed(timing: re.Match[str]) -> str:
    return f"首句约 {timing[1]} ms，限 {timing[3]} ms，{'来得及' if timing[2] == 'within' else '来不及'}"
