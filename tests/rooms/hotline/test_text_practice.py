"""Text mode for engineers: many scripts, reasons, recordings, commands; by the real mind."""

from __future__ import annotations

import asyncio
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline.config import RecordSettings, Settings
from hotline.handoff.types import MqttSettings
from hotline.paths import configs_dir
from hotline.recorded_script import script_text
from hotline.scripts import ScriptWrong, load_script
from hotline.text import RecordingTaken, TextOptions, text_call
from hotline.text_line import Exchanged, act_of_words
from hotline.why import in_words
from llm.privacy import CallMasker
from llm.types import Considered, Explained, Hidden, Personal, Route

GOOD = "title: 甲\nsteps:\n  - say: 居住证怎么办理？\n    expect: {route: hot, source: residence-permit-apply}\n"
BAD = "title: 乙\nsteps:\n  - say: 居住证怎么办理？\n    expect: {route: person}\n"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    url = f"sqlite+aiosqlite:///{tmp_path / 'record.db'}"
    return Settings(record=RecordSettings(url=url), mqtt=MqttSettings(port=0))


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def put(words: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(words))

    return put


def new_masker() -> CallMasker:
    return CallMasker(mask_budget_ms=2_000)


# ---------------------------------------------------------------- many scripts


async def test_the_start_is_told_and_the_call_is_not_disturbed(settings: Settings, types: Callable[[str], None]) -> None:
    types("你好\n")
    order: list[str] = []
    assert await text_call(settings, show=lambda _: order.append("call"), tell=order.append) == 0
    begun = order.index("call")
    assert begun > 0
    assert "知识库" in order[0]
    assert set(order[begun:]) == {"call"}


async def test_a_folder_of_scripts_is_played_whole_and_summed_up(settings: Settings, tmp_path: Path) -> None:
    for name, yaml in {"b.yaml": BAD, "a.yml": GOOD, "inner/c.yaml": GOOD, "notes.txt": "no script"}.items():
        (tmp_path / "scripts" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "scripts" / name).write_text(yaml, "utf-8")
    shown: list[str] = []
    assert await text_call(settings, TextOptions(scripts=[tmp_path / "scripts"]), show=shown.append) == 1
    assert [line.split("（")[0] for line in shown if line.startswith("■")] == ["■ 甲", "■ 乙", "■ 甲"]
    assert [line for line in shown if line.startswith("✗")] == ["✗ step 1: route hot, expected person"]
    assert shown[-1] == "3 个脚本，2 个通过"


async def test_as_json_many_scripts_are_told_apart(settings: Settings, tmp_path: Path) -> None:
    files = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for file in files:
        file.write_text(GOOD, "utf-8")
    shown: list[str] = []
    assert await text_call(settings, TextOptions(scripts=files, as_json=True), show=shown.append) == 0
    events = [json.loads(line) for line in shown]
    assert [event["file"] for event in events if event["event"] == "Script"] == [str(file) for file in files]
    assert events[-1] == {"event": "Result", "scripts": 2, "failed": 0}


async def test_every_wrong_script_is_told_before_anything_starts(settings: Settings, tmp_path: Path) -> None:
    for name, yaml in {"a.yaml": "steps: []", "b.yaml": GOOD, "c.yaml": "steps:\n  - sya: 喂\n"}.items():
        (tmp_path / name).write_text(yaml, "utf-8")
    with pytest.raises(ScriptWrong) as raised:
        await text_call(settings, TextOptions(scripts=[tmp_path]))
    assert "a.yaml, line 1" in str(raised.value)
    assert "c.yaml, line 2: steps/0/sya: no such key; did you mean 'say'?" in str(raised.value)


async def test_a_folder_without_scripts_is_refused(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(ScriptWrong, match="holds no script"):
        await text_call(settings, TextOptions(scripts=[tmp_path]))


# ---------------------------------------------------------------- why


async def test_the_reason_of_every_answer_is_told_without_the_callers_words(
    settings: Settings, types: Callable[[str], None]
) -> None:
    types("居住证怎么办理\n我叫王大明，手机号是13812345678\n村里装太阳能板有补贴吗\n/0\n")
    shown: list[str] = []
    await text_call(settings, TextOptions(as_json=True, explains=True), show=shown.append)
    whys = [event["explained"] for event in map(json.loads, shown) if event["event"] == "Why"]
    assert [why["route"] for why in whys] == ["hot", "noted", "clarify"]
    assert whys[0]["considered"][0]["entry_id"] == "residence-permit-apply"
    assert whys[0]["considered"][0]["score"] > whys[0]["considered"][1]["score"]
    assert whys[0]["hidden"] == []
    assert [item["kind"] for item in whys[1]["hidden"]] == ["姓名", "手机号"]
    assert any(each["doubts"] for each in whys[2]["considered"])
    assert not any(secret in line for line in shown for secret in ("王大明", "13812345678"))


async def test_reasons_are_told_in_words_when_asked_for(settings: Settings, types: Callable[[str], None]) -> None:
    types("/why\n居住证怎么办理\n/why\n")
    shown: list[str] = []
    await text_call(settings, show=shown.append)
    reasons = [line for line in shown if "为何" in line]
    assert "没有经过判断" in reasons[0]
    assert "热门答案" in reasons[1]
    assert "residence-permit-apply" in reasons[1]


async def test_no_reasons_unless_asked_for(settings: Settings, types: Callable[[str], None]) -> None:
    types("居住证怎么办理\n")
    shown: list[str] = []
    await text_call(settings, TextOptions(as_json=True), show=shown.append)
    assert "Why" not in {json.loads(line)["event"] for line in shown}


def test_a_reason_reads_as_words() -> None:
    explained = Explained(
        route=Route.UNKNOWN,
        confidence=0.4,
        why="dog-register score 0.40 margin 0.10, score below 0.5",
        hidden=(Hidden(kind="手机号", placeholder="〈手机号·1〉", length=11, complete=True),) * 2,
        considered=(
            Considered(entry_id="dog-register", score=0.4, lead=0.1, doubts=("polarity", "word:驾驶证", "new")),
            Considered(entry_id="dog-bite", score=0.3, lead=0.1),
        ),
        failed=("check number",),
    )
    assert in_words(explained) == [
        "  为何  知识库里没有，交给人（dog-register score 0.40 margin 0.10, score below 0.5；把握 0.40）",
        "    遮蔽  手机号×2",
        "    候选  dog-register  0.40，领先 0.10；疑点：肯定与否定相反、条目没有说到（驾驶证）、new",
        "    候选  dog-bite  0.30",
        "    未过  check number",
    ]


@pytest.mark.parametrize("route", Route)
def test_every_route_has_its_words(route: Route) -> None:
    assert "为何" in in_words(Explained(route=route, confidence=1.0, why=""))[0]


# ---------------------------------------------------------------- recordings

TYPED = "居住证怎么办理\n我叫王大明，手机号是13812345678\n我的手机号是1381234\n/5\n谢谢，再见\n/9\n五分\n"
SECRETS = ("王大明", "13812345678", "1381234")


async def test_what_was_typed_becomes_a_script_that_passes(
    settings: Settings, types: Callable[[str], None], tmp_path: Path
) -> None:
    types(TYPED)
    file, shown = tmp_path / "typed.yaml", []
    assert await text_call(settings, TextOptions(record=file), show=shown.append) == 0
    text = file.read_text("utf-8")
    assert not any(secret in text for secret in SECRETS)
    assert "姓名 ×1, 手机号 ×2" in text
    script = load_script(file)
    assert script.outcome == "goodbye"
    assert [step.key for step in script.steps if step.key] == ["5", "9"]
    assert script.steps[0].expect.route == ("hot",)
    assert await text_call(settings, TextOptions(scripts=[file]), show=lambda _: None) == 0


async def test_a_hang_up_is_recorded_too(settings: Settings, types: Callable[[str], None], tmp_path: Path) -> None:
    types("居住证怎么办理\n/bye\n")
    file = tmp_path / "typed.yaml"
    assert await text_call(settings, TextOptions(record=file), show=lambda _: None) == 0
    script = load_script(file)
    assert (script.outcome, script.steps[-1].hang_up) == ("hangup", True)


async def test_a_file_that_is_there_is_never_written_over(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "typed.yaml").write_text(GOOD, "utf-8")
    with pytest.raises(RecordingTaken, match="exists"):
        await text_call(settings, TextOptions(record=tmp_path / "typed.yaml"))
    assert await asyncio.to_thread((tmp_path / "typed.yaml").read_text, "utf-8") == GOOD


ITEMS = {
    Personal.MOBILE: "我的手机号是{}",
    Personal.LANDLINE: "我的座机号是{}",
    Personal.ID_CARD: "我的身份证号是{}",
    Personal.PASSPORT: "我的护照号是{}",
    Personal.BANK_CARD: "我的银行卡号是{}",
    Personal.PLATE: "我的车牌号是{}",
    Personal.EMAIL: "我的邮箱是{}",
    Personal.WECHAT: "我的微信号是{}",
    Personal.QQ: "我的QQ号是{}",
    Personal.CREDIT_CODE: "我们的信用代码是{}",
    Personal.NAME: "我叫{}",
    Personal.ADDRESS: "我家住在{}",
    Personal.BIRTH_DATE: "我的出生日期是{}",
}


@pytest.mark.parametrize("kind", ITEMS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("number", [1, 2, 9, 120])
def test_a_sample_is_masked_as_the_original_was(kind: Personal, number: int) -> None:
    masked = ITEMS[kind].format(f"〈{kind.value}·{number}〉")
    text = script_text("甲", [Exchanged(), Exchanged(masked=masked, route="noted")], "hangup", new_masker)
    assert "〈" not in text
    said = next(line for line in text.splitlines() if line.startswith("- say"))
    assert [span.kind for span in new_masker().mask(said.removeprefix("- say: ").strip("'")).spans] == [kind]


def test_the_same_item_has_the_same_sample_and_another_one_another() -> None:
    exchanges = [Exchanged(), *(Exchanged(masked=f"我的手机号是〈手机号·{n}〉") for n in (1, 2, 1))]
    said = [line for line in script_text("甲", exchanges, "", new_masker).splitlines() if line.startswith("- say")]
    assert said[0] == said[2] != said[1]


@pytest.mark.parametrize("masked", ["〈内容〉", "我的号码是〈姓名写法·1〉", "〈姓名·1〉", "〈没有这种·1〉"])
def test_what_has_no_sample_is_left_out_and_told(masked: str) -> None:
    text = script_text("甲", [Exchanged(), Exchanged(masked="你好"), Exchanged(masked=masked)], "hangup", new_masker)
    assert "left out" in text
    assert text.count("- say") == 1


@given(st.lists(st.text(min_size=1, max_size=30), max_size=4))
def test_whatever_is_typed_the_script_holds_no_number_that_was_hidden(turns: list[str]) -> None:
    masker = new_masker()
    exchanges = [Exchanged(), *(Exchanged(masked=masker.mask(f"{turn} 13812345678").text) for turn in turns)]
    assert "13812345678" not in script_text("甲", exchanges, "hangup", new_masker)


# ---------------------------------------------------------------- typing


async def test_commands_are_no_words_of_the_caller(settings: Settings, types: Callable[[str], None]) -> None:
    types("/help\n/nonsense\n/\n//\n/12\n居住证怎么办理\n")
    shown: list[str] = []
    await text_call(settings, show=shown.append)
    assert [line for line in shown if "听到" in line] == ["  听到  居住证怎么办理"]
    assert sum("/help" in line for line in shown) == 5


@pytest.mark.parametrize("typed", ["/0", "/9", "/*", "/#"])
def test_a_slash_and_a_sign_is_a_key(typed: str) -> None:
    assert repr(act_of_words(typed)) == f"Key(digit='{typed[1]}')"


async def test_the_events_have_the_documented_fields(settings: Settings, types: Callable[[str], None]) -> None:
    documented = {}
    for line in (configs_dir().parent / "docs" / "scripts.md").read_text("utf-8").split("## JSON lines")[1].splitlines():
        names = re.findall(r"`/?(\w+)`", line)
        if line.startswith("| `"):
            documented[names[0]] = set(names[1:])
    types("居住证怎么办理\n我叫王大明\n/help\n/x\n转人工\n")
    shown: list[str] = []
    await text_call(settings, TextOptions(as_json=True, explains=True), show=shown.append)
    seen = set()
    for event in map(json.loads, shown):
        seen.add(name := event.pop("event"))
        assert set(event) <= documented[name], name
        assert set(event.get("explained", {})) <= documented["Why"]
    assert seen >= {"Transcript", "ReplyText", "TurnFigures", "Transfer", "Ended", "Why", "Help", "UnknownCommand"}
