"""`hotline demo --full`: what came when, why, and what a machine that is too slow is told."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from hotline.config import RecordSettings, Settings
from hotline.demo_full import Watched, demo_full
from hotline.errors import ModelMissing
from hotline.handoff.types import MqttSettings
from hotline.models import resolve
from hotline.paths import configs_dir
from hotline.scripts import load_script

SMALL = "smollm2-135m"


def watched(*events: dict[str, object]) -> list[str]:
    """What people read of these events, which come a second apart."""
    seconds = iter(range(1000))
    watch = Watched(tell=lambda _: None, now_s=lambda: float(next(seconds)))
    for event in events:
        watch.take(json.dumps(event))
    watch.sum_up()
    return watch.told


def why(route: str, *failed: str, explain: str = "") -> dict[str, object]:
    return {"event": "Why", "explained": {"route": route, "why": explain, "failed": list(failed)}}


ASKED = {"event": "Transcript", "masked_text": "海葬怎么报名"}
SAID = {"event": "ReplyText", "text": "向殡葬服务中心报名。", "route": "generated"}


def test_a_clause_stands_beside_the_time_since_its_question_and_the_reason_follows() -> None:
    told = watched(ASKED, SAID, why("generated", explain="generated: first clause in about 900 ms, within 8000 ms"))
    assert told == [
        "\n  来电  海葬怎么报名",
        "    1000 ms  向殡葬服务中心报名。  [模型生成]",
        "       决定  首句约 900 ms，限 8000 ms，来得及，由模型写",
        "\n  合计  模型生成 1",
    ]


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ("check entity row", "有一句没有通过检查（规则 entity row），不说"),
        ("engine not asked: hot answer is surer", "热门答案，不用模型"),
        ("engine not asked: a yes or no is read from the store", "是非问题，小模型容易答反，念已存的答案"),
        (
            "engine not asked: first clause in about 9000 ms, later than 8000 ms",
            "首句约 9000 ms，限 8000 ms，来不及，念已存的答案",
        ),
        ("llm.engine_stalled", "模型没有在限时内给出能用的句子"),
        ("the model has no answer", "模型说资料里没有"),
    ],
)
def test_every_reason_is_told_in_words(note: str, told: str) -> None:
    assert watched(ASKED, why("stored", note))[1] == f"       决定  {told}"


def test_a_failed_expectation_is_shown_and_the_greeting_is_not() -> None:
    greeting = {"event": "ReplyText", "text": "您好", "route": "greeting"}
    assert watched(greeting, {"event": "Unmet", "what": "step 1: route hot"}) == ["✗ step 1: route hot", "\n  合计  没有答案"]


def test_the_shipped_script_is_whole() -> None:
    assert all(step.expect.route for step in load_script(configs_dir() / "demo" / "full.yaml").steps)


@pytest.mark.models
async def test_a_machine_that_is_too_slow_is_told_so_and_gets_the_stored_answers(tmp_path: Path) -> None:
    try:
        resolve(SMALL)
    except ModelMissing as missing:
        pytest.skip(str(missing))
    script = tmp_path / "call.yaml"
    script.write_text("steps:\n  - say: 海葬一年什么时候举行，怎么报名\n    expect: {route: stored, source: eco-burial}\n", "utf-8")
    settings = Settings(record=RecordSettings(url=f"sqlite+aiosqlite:///{tmp_path / 'record.db'}"), mqtt=MqttSettings(port=0))
    answering = dataclasses.replace(settings.answering, engine_model=SMALL, text_first_clause_ms=1, dense_model="")
    told: list[str] = []
    code = await demo_full(
        dataclasses.replace(settings, answering=answering), out_dir=tmp_path / "out", script=script, tell=told.append
    )
    assert code == 0
    assert any("来不及" in line for line in told)
    assert any("这台机器上模型来不及写" in line for line in told)
    events = [json.loads(line) for line in (tmp_path / "out" / "events.jsonl").read_text("utf-8").splitlines()]
    assert [event["explained"]["route"] for event in events if event["event"] == "Why"] == ["stored"]
    assert "海葬" in (tmp_path / "out" / "transcript.txt").read_text("utf-8")
