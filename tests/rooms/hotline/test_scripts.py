"""Call scripts: what is read, what is refused with its place, and which expectations don't hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline.paths import configs_dir
from hotline.scripts import CallScript, Expect, ScriptStep, ScriptWrong, load_script, unmet

Write = Callable[[str], Path]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    def write(yaml: str) -> Path:
        path = tmp_path / "night.yaml"
        path.write_text(yaml, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("each", ["[*a{0}, *a{0}, *a{0}]", "{{<<: [*a{0}, *a{0}, *a{0}]}}", "{{? *a{0} : *a{0}}}"])
def test_a_script_without_end_is_refused(written: Write, each: str) -> None:
    levels = "".join(f"a{n}: &a{n} {each.format(n - 1)}\n" for n in range(1, 40))
    with pytest.raises(ScriptWrong, match="repeats itself too often"):
        load_script(written(f"a0: &a0 {{x: y}}\n{levels}steps: [{{say: *a39}}]\n"))


def test_a_script_is_a_caller_step_by_step(written: Write) -> None:
    script = load_script(
        written("""
title: 夜里的电话
outcome: transferred
steps:
  - say: 居住证怎么办
    wait_ms: 900
    expect: {route: [hot, stored], source: kb-1, includes: 派出所, excludes: [二十元], masked: 居住证, not_heard: ["139"]}
  - say: 等等
    interrupts_after_ms: 1200
  - key: "0"
  - hang_up: true
""")
    )
    assert script == CallScript(
        title="夜里的电话",
        outcome="transferred",
        steps=(
            ScriptStep(
                say="居住证怎么办",
                wait_ms=900,
                expect=Expect(
                    route=("hot", "stored"),
                    source="kb-1",
                    includes=("派出所",),
                    excludes=("二十元",),
                    masked=("居住证",),
                    not_heard=("139",),
                ),
            ),
            ScriptStep(say="等等", interrupts_after_ms=1_200),
            ScriptStep(key="0"),
            ScriptStep(hang_up=True),
        ),
    )


def test_a_script_without_a_title_is_called_by_its_file(written: Write) -> None:
    assert load_script(written("steps: [{say: 喂}]")).title == "night"


def test_the_shipped_script_can_be_read() -> None:
    assert load_script(configs_dir() / "demo" / "call.yaml").steps


@pytest.mark.parametrize(
    ("yaml", "told"),
    [
        ("steps:\n  - say: [\n", "line 3: not YAML"),
        ("\tsteps: 1", "line 1: not YAML"),
        ("{\x01}", "not YAML"),
        pytest.param("[" * 3000, "nested too deeply", id="deep"),
        ("steps:\n  - <<: {say: 5}\n", "line 2: steps/0/say: 5 is not of type 'string'"),
        ("", "top: None is not of type 'object'"),
        ("[]", "top: [] is not of type 'object'"),
        ("title: 喂", "top: 'steps' is a required property"),
        ("steps: []", "steps: [] should be non-empty"),
        ("steps: [{shout: 喂}]", "steps/0"),
        ("steps: [{say: 喂}, {say: 喂, key: '1'}]", "steps/1"),
        ("steps: [{say: ''}]", "steps/0/say"),
        ("steps: [{say: '  '}]", "steps/0/say"),
        ("steps: [{key: 5}]", "steps/0/key: 5 is not of type 'string'"),
        ("steps: [{key: '00'}]", "steps/0/key"),
        ("steps: [{hang_up: false}]", "steps/0/hang_up"),
        ("steps: [{say: 喂, wait_ms: -1}]", "steps/0/wait_ms"),
        ("steps: [{say: 喂, expect: {rout: hot}}]", "steps/0/expect"),
        ("steps: [{say: 喂, expect: {route: []}}]", "steps/0/expect/route"),
        ("outcome: happy\nsteps: [{say: 喂}]", "outcome: 'happy' is not one of"),
        ("steps:\n  - say: 喂\n  - sya: 喂\n", "line 3: steps/1/sya: no such key; did you mean 'say'?"),
        ("steps:\n  - say: 喂\n    expect:\n      rout: hot\n", "line 4: steps/0/expect/rout: no such key; did you mean 'route'?"),
        (
            "steps:\n  - say: 喂\n    expect:\n      route: hott\n",
            "line 4: steps/0/expect/route: no such route: hott; did you mean 'hot'?",
        ),
        ("steps:\n  - say: 喂\n    say: 哎\n", "line 3: steps/0/say: stands twice"),
        ("steps:\n  - say: 喂\n    key: '1'\n", "line 2: steps/0: holds key and say: one step is one act"),
        ("steps:\n  - wait_ms: 5\n", "line 2: steps/0: holds no act"),
        ("title: a\n" * 2, "line 2: title: stands twice"),
    ],
)
def test_a_script_that_is_wrong_is_refused_with_its_place(written: Write, yaml: str, told: str) -> None:
    with pytest.raises(ScriptWrong) as raised:
        load_script(written(yaml))
    assert told in str(raised.value)
    assert "night.yaml" in str(raised.value)
    assert raised.value.what_to_do
    assert raised.value.code == "script.wrong"


def test_a_script_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"title: \xe9")
    for path, told in ((tmp_path / "none.yaml", "FileNotFoundError"), (tmp_path, "IsADirectory"), (latin, "UnicodeDecodeError")):
        with pytest.raises(ScriptWrong, match=told):
            load_script(path)


@given(
    yaml=st.text(max_size=60)
    | st.sampled_from(["&a [*a]", "a: &a [*a]\nsteps: *a", "? {}\n: 1", "steps: [!!python/object:os.x {}]"])
)
def test_no_text_at_all_raises_anything_else(tmp_path_factory: pytest.TempPathFactory, yaml: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(yaml.encode("utf-8", "surrogatepass"))
    with pytest.raises(ScriptWrong):
        load_script(path)


# ---------------------------------------------------------------- expectations

GOT = {"route": "hot", "answer": "请到派出所办理，十五个工作日。", "masked": "我的〈手机号·1〉", "sources": ("kb-1", "kb-2")}


@pytest.mark.parametrize(
    ("expect", "wrong"),
    [
        (Expect(), []),
        (Expect(route=("stored", "hot"), source="kb-2", includes=("派出所", "十五"), masked=("手机号",), not_heard=("139",)), []),
        (Expect(route=("person", "unknown")), ["route hot, expected person or unknown"]),
        (Expect(source="kb-3"), ["source kb-1, kb-2, expected kb-3"]),
        (Expect(includes=("二十元", "派出所")), ["answer lacks '二十元'"]),
        (Expect(excludes=("派出所",)), ["answer holds '派出所'"]),
        (Expect(masked=("身份证",)), ["heard text lacks '身份证'"]),
        (Expect(not_heard=("手机号",)), ["heard text holds '手机号'"]),
    ],
)
def test_what_does_not_hold_is_said_in_words(expect: Expect, wrong: list[str]) -> None:
    assert unmet(expect, **GOT) == wrong  # type: ignore[arg-type]


def test_no_answer_at_all_meets_nothing() -> None:
    expect = Expect(route=("hot",), source="kb-1", includes=("派出所",), masked=("我",))
    assert unmet(expect, route="", answer="", masked="", sources=()) == [
        "route none, expected hot",
        "source none, expected kb-1",
        "answer lacks '派出所'",
        "heard text lacks '我'",
    ]
