"""Many recordings at once: folders, several calls at a time, broken ones, references, keys; and the reports about them."""

from __future__ import annotations

import json
import os
import re
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest
from test_replay import TONE, TalkingDesk, clip, serving

from hotline import cli, progress, replay
from hotline.caller_leg import LegReport
from hotline.lines import HungUp, Key, Line, LineEvent, Transcript
from hotline.recordings.types import NotARecording
from hotline.references import ReferenceWrong
from hotline.replay import ReplaySettings, replay_files, replay_here
from hotline.replay_report import CallReport, closing, summary
from tests.captures import invite, key, pcap, spoken


class HearingDesk(TalkingDesk):
    """Hears the same words on every call."""

    async def _talk(self, line: Line) -> str:
        await line.send(Transcript(turn=1, masked_text="我的手机号是〈手机号·1〉谢谢", start_ms=100, end_ms=400))
        return await super()._talk(line)


class KeyDesk(TalkingDesk):
    """Notes the keys."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[LineEvent] = []

    async def _talk(self, line: Line) -> str:
        async with aclosing(line.events()) as events:
            async for event in events:
                match event:
                    case Key():
                        self.keys.append(event)
                    case HungUp():
                        break
        return "hangup"


def report_of(folder: Path) -> dict[str, object]:
    told: dict[str, object] = json.loads((folder / "report.json").read_text("utf-8"))
    return told


async def test_a_folder_is_played_to_its_bottom_and_a_broken_file_stops_nothing(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    (calls / "monday" / ".hidden").mkdir(parents=True)
    clip(calls / "b.wav", TONE)
    clip(calls / "monday" / "b.wav", TONE)
    clip(calls / "monday" / ".hidden" / "c.wav", TONE)
    (calls / "a.mp3").write_bytes(b"no sound")
    (calls / "notes.txt").write_text("about the calls", "utf-8")
    told: list[str] = []
    out = tmp_path / "out"
    async with serving(HearingDesk()) as target:
        code = await replay_files([calls], ReplaySettings(target=target, out_dir=out, tail_s=1, jobs=2), tell=told.append)

    assert code == 1
    report = report_of(out)
    assert [Path(each["file"]).relative_to(calls).as_posix() for each in report["calls"]] == ["a.mp3", "b.wav", "monday/b.wav"]
    assert [each.get("folder") for each in report["calls"]] == [None, "b", "b-2"]
    assert "not a recording" in report["calls"][0]["error"]
    assert report["summary"]["failed"] == 1
    assert report["summary"]["ends"] == {"transferred": 2}
    assert report["summary"]["voice_to_voice_ms"] == {"p50": 220, "p95": 220}
    assert "1 files in the folders are no recordings" in told[0]
    assert (out / "overview.html").exists()
    page = (out / "report.html").read_text("utf-8")
    assert 'href="b-2/timeline.html"' in page
    assert "a.mp3" in page


async def test_names_that_are_too_long_or_no_utf8_stop_nothing_and_the_reports_are_utf8(tmp_path: Path) -> None:
    odd = clip(tmp_path / os.fsdecode("张三13912345678\n".encode("gbk") + b".wav"), TONE)
    longest = clip(tmp_path / ("长" * 83 + ".wav"), TONE)
    too_long = tmp_path / ("长" * 90 + ".wav")
    told: list[str] = []
    out = tmp_path / "out"
    async with serving(HearingDesk()) as target:
        settings = ReplaySettings(target=target, out_dir=out, tail_s=1)
        assert await replay_files([too_long, odd, longest], settings, tell=told.append) == 1

    report = report_of(out)
    assert [bool(call["error"]) for call in report["calls"]] == [True, False, False]
    assert "too long" in report["calls"][0]["error"]
    assert report["calls"][1]["file"].endswith(r"\xd5\xc5\xc8\xfd139xxxx5678\n.wav")
    assert [call["folder"] for call in report["calls"][1:]] == ["_xd5_xc5_xc8_xfd139xxxx5678_n", "长" * 66]
    for file in (*out.glob("*.html"), *out.rglob("timeline.html")):
        file.read_text("utf-8")
    "\n".join(told).encode("utf-8")


async def test_a_broken_reference_is_told_before_a_server_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> object:
        raise AssertionError("started a server")

    monkeypatch.setattr(replay, "own_server", none)
    (tmp_path / "a.txt").write_bytes(b"\xff")
    settings = ReplaySettings(out_dir=tmp_path / "out", reference=tmp_path)
    with pytest.raises(ReferenceWrong, match=r"a\.txt"):
        await replay_here([clip(tmp_path / "a.wav", TONE)], settings, tell=lambda _: None)


async def test_a_reference_is_masked_before_it_is_compared_or_written(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.wav", TONE)
    (tmp_path / "a.txt").write_text("我的手机号是13912345678\n谢谢你", "utf-8")
    async with serving(HearingDesk()) as target:
        settings = ReplaySettings(target=target, out_dir=tmp_path / "out", tail_s=1, reference=tmp_path)
        assert await replay_files([path], settings, tell=lambda _: None) == 0

    (call,) = report_of(tmp_path / "out")["calls"]
    assert call["cer"]["characters"] == 10
    assert call["cer"]["edits"] > 0
    for file in (tmp_path / "out").rglob("*.*"):
        if file.suffix in {".json", ".jsonl", ".html", ".txt"}:
            assert "13912345678" not in file.read_text("utf-8")


async def test_a_number_in_the_names_of_recordings_stands_in_nothing_that_is_told_or_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    calls = tmp_path / "calls"
    (calls / "from-13912345678").mkdir(parents=True)
    for name in ("20261203-13912345678-out", "139-1234-5678", "13912345678"):
        clip(calls / f"{name}.wav", TONE)
    clip(calls / "from-13912345678" / "1.wav", TONE)
    (calls / "broken-13912345678.mp3").write_bytes(b"no sound")
    out = tmp_path / "out"
    async with serving(HearingDesk()) as target:
        settings = ReplaySettings(target=target, out_dir=out, tail_s=0.2)
        assert await replay_files([calls], settings, tell=print) == 1

    told = capfd.readouterr()
    names = [each.relative_to(out).as_posix() for each in out.rglob("*")]
    files = [each.read_text("utf-8") for each in out.rglob("*") if each.suffix in {".json", ".jsonl", ".html", ".txt"}]
    assert len(files) > 4 * 3
    for text in (told.out, told.err, *names, *files):
        assert not re.search(r"139\W?1234\W?5678", text)
    assert {"20261203-139xxxx5678-out", "139xxxx5678", "139xxxx5678-2", "1"} <= {name.partition("/")[0] for name in names}
    assert "broken-139xxxx5678.mp3" in told.out
    assert "from-139xxxx5678/1.wav" in (out / "report.json").read_text("utf-8")
    assert "20261203-139xxxx5678-out.wav" in (out / "report.html").read_text("utf-8")


async def test_keys_of_the_caller_are_pressed_in_their_place(tmp_path: Path) -> None:

    sound = np.tile(TONE, 5)
    pressed = key(5, number=65_600, stamp=2**32 - 800 + 3200, at_s=0.4)
    path = tmp_path / "call.pcap"
    path.write_bytes(pcap([*invite(), *spoken(sound), *spoken(sound, back=True), *pressed]))
    desk = KeyDesk()
    desk.transfer_after_ms = -1
    async with serving(desk) as target:
        settings = ReplaySettings(target=target, out_dir=tmp_path / "out", tail_s=0.2)
        assert await replay_files([path], settings, tell=lambda _: None) == 0
    events = [json.loads(line) for line in (tmp_path / "out" / "call" / "events.jsonl").read_text("utf-8").splitlines()]
    (press,) = [event for event in events if event["kind"] == "key"]
    assert press["digit"] == "•"  # a caller's keys may spell a number
    assert Key(digit="5") in desk.keys
    assert 360 <= press["at_ms"] <= 600


async def test_no_server_is_started_for_files_that_cannot_be_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> object:
        raise AssertionError("started a server")

    monkeypatch.setattr(replay, "own_server", none)
    (tmp_path / "a.wav").write_bytes(b"RIFF")
    told: list[str] = []
    assert await replay_here([tmp_path / "a.wav", tmp_path / "none.wav"], ReplaySettings(out_dir=tmp_path), tell=told.append) == 1
    assert "No such file" in told[-1]
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotARecording, match="no recording"):
        await replay_here([tmp_path / "empty"], ReplaySettings(), tell=told.append)


def test_many_calls_are_told_in_figures_and_by_what_failed() -> None:
    reports = [CallReport(path=Path(f"{index}.wav"), error="broken" if index == 3 else "") for index in range(30)]
    told = list(closing(reports))
    assert "recordings: 30" in told
    assert told[-1] == "✗ 3.wav: broken"
    assert summary(reports)["cer"] is None


def test_what_is_odd_is_told_on_the_screen_as_in_the_report() -> None:
    leg = LegReport(call_id="1", reason="hangup", duration_ms=18_000)
    reports = [CallReport(path=Path(f"{index}.wav"), leg=leg) for index in range(2)]
    shown, *below = closing(reports)
    assert below == ["0.wav: no speech was understood", "1.wav: no speech was understood"]
    assert shown.splitlines()[0].split()[-1] == "call"
    assert shown.splitlines()[1].index("18.0 s") == shown.splitlines()[0].index("call")
    assert "22 × no speech was understood" in list(closing(reports * 11))


def test_an_error_is_told_whole() -> None:
    error = "the connection broke: " + "x" * 200
    told = list(closing([CallReport(path=Path("a.wav"), error=error)]))
    assert told[-1] == f"✗ a.wav: {error}"


def test_a_bar_on_a_terminal_tells_only_what_went_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []
    with progress.Progress(3, told.append, on_terminal=True) as bar:
        bar.begun("▶ a")
        bar.done("→ a", wrong=False)
        bar.done("✗ b", wrong=True)
    shown = capsys.readouterr()
    assert told == []
    assert "✗ b" in shown.out + shown.err
    assert "2/3" in shown.err
    assert "→ a" not in shown.out


async def test_a_report_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way", "utf-8")
    told: list[str] = []
    async with serving(HearingDesk()) as target:
        settings = ReplaySettings(target=target, out_dir=tmp_path / "out", tail_s=1)
        assert await replay_files([clip(tmp_path / "a.wav", TONE)], settings, tell=told.append) == 1
    assert any("report can't be written" in line for line in told)


@pytest.mark.parametrize(
    "wrong",
    [["--fast", "--target", "h:1"], ["--raw", "mp3"], ["--jobs", "0"], ["--tail", "-1"], ["--channel", "middle"]],
    ids=" ".join,
)
def test_wrong_usage_is_2(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["replay", "a.wav", *wrong])
    assert left.value.code == 2
    assert wrong[0] in capsys.readouterr().err
