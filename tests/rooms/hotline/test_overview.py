"""Where a turn's time went, and the page about many calls: figures only, no caller's words, nothing from outside."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline import cli
from hotline.call_events import STAMP_NAMES, CallEvent, write_events
from hotline.overview import NothingToShow, calls_under, overview_page, spread_of, summary, write_overview
from hotline.stages import STAGES, stages_of

WORDS = "我家住样例路八号"


def a_turn(number: int, *, route: str = "hot", total_ms: int = 900) -> list[CallEvent]:
    """A turn as a client sees it: 500 ms of silence, the rest until the voice's first frame."""
    begin = 10_000 * number
    stamps = {
        "caller_last_speech_ms": begin,
        "vad_end_ms": begin + 300,
        "turn_decided_ms": begin + 500,
        "asr_final_ms": begin + 450,
        "route_decided_ms": begin + 510,
        "first_safe_clause_ms": begin + 512,
        "first_tts_audio_ms": begin + total_ms - 10,
        "first_frame_sent_ms": begin + total_ms,
    }
    return [
        CallEvent(at_ms=begin, side="bot", kind="transcript", fields={"turn": number, "masked_text": WORDS, "is_final": True}),
        CallEvent(at_ms=begin + total_ms, side="bot", kind="reply_text", fields={"reply_id": number, "text": "好", "route": route}),
        CallEvent(
            at_ms=begin + total_ms,
            side="bot",
            kind="turn_metrics",
            fields={"turn": number, "route": route, "voice_to_voice_ms": total_ms, **stamps},
        ),
    ]


def ended(at_ms: int, reason: str) -> CallEvent:
    return CallEvent(at_ms=at_ms, side="bot", kind="end", fields={"reason": reason})


@pytest.fixture
def replayed(tmp_path: Path) -> Path:
    """Three calls: two that were answered, the second slowly and to a person, and one without a word."""
    calls = {
        "morning": [*a_turn(1), *a_turn(2, total_ms=1100), ended(30_000, "goodbye")],
        "slow & sure": [*a_turn(1, route="unknown", total_ms=2600), ended(20_000, "transferred")],
        "silent": [ended(5_000, "caller")],
    }
    for name, events in calls.items():
        (tmp_path / name).mkdir()
        write_events(tmp_path / name / "events.jsonl", events)
    (tmp_path / "morning" / "timeline.html").write_text("<p>", "utf-8")
    return tmp_path


def test_a_turns_time_goes_to_its_stages() -> None:
    took = stages_of({name: a_turn(1)[2].number(name) for name in STAMP_NAMES if a_turn(1)[2].number(name)})
    assert took == {"silence": 500, "hearing": 0, "finding": 10, "writing": 2, "voice": 378, "sending": 10}


@pytest.mark.parametrize("missing", ["caller_last_speech_ms", "first_frame_sent_ms"])
def test_a_turn_without_an_end_on_record_has_no_stages(missing: str) -> None:
    stamps = {"caller_last_speech_ms": 10, "first_frame_sent_ms": 90}
    assert stages_of(stamps | {missing: 0}) == {}


@given(st.dictionaries(st.sampled_from(STAMP_NAMES), st.integers(0, 100_000)))
def test_stages_always_add_up_to_voice_to_voice(stamps: dict[str, int]) -> None:
    took = stages_of(stamps)
    assert all(ms >= 0 for ms in took.values())
    if took:
        assert list(took) == [stage for stage, _ in STAGES]
        assert sum(took.values()) == stamps["first_frame_sent_ms"] - stamps["caller_last_speech_ms"]


def test_the_summary_counts_what_happened(replayed: Path) -> None:
    told = summary(calls_under(replayed))
    assert (told["calls"], told["turns"], told["duration_ms"]) == (3, 3, 55_000)
    assert told["routes"] == {"hot": 2, "unknown": 1}
    assert told["ends"] == {"goodbye": 1, "transferred": 1, "caller": 1}
    delays = told["delays_ms"]
    assert isinstance(delays, dict)
    assert delays["voice_to_voice"] == {"n": 3, "p50": 1100, "p90": 2300, "p95": 2450, "p99": 2570, "max": 2600}
    assert delays["silence"]["p50"] == 500


def test_the_page_shows_the_slowest_first_and_links_to_calls(replayed: Path) -> None:
    page = write_overview(replayed, title="one day").read_text("utf-8")
    slowest = page[page.index("The slowest turns") : page.index("<h2>Calls</h2>")]
    assert re.findall(r"<td>(\d+) ms</td>", slowest) == ["2600", "1100", "900"]
    assert "voice 2078 ms" in slowest
    assert 'href="morning/timeline.html"' in page
    assert "slow &amp; sure" in page  # no timeline there: a name, no link
    assert "1 (33 %)" in page
    assert json.loads((replayed / "overview.json").read_text("utf-8"))["calls"] == 3


def test_no_words_of_callers_are_on_it_and_it_loads_nothing(replayed: Path) -> None:
    page = write_overview(replayed).read_text("utf-8")
    assert WORDS not in page
    assert not re.search(r"https?://|<script|@import|url\(|src=", page)


@given(st.text(max_size=40))
def test_no_name_becomes_markup(name: str) -> None:
    page = overview_page([], title=name + "<b>", beside=Path())
    assert page.count("<b>") == overview_page([], title="x", beside=Path()).count("<b>")


def test_figures_of_nothing_say_so() -> None:
    assert spread_of([]) == {"n": 0}


def test_the_page_may_lie_elsewhere(replayed: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    out = tmp_path_factory.mktemp("elsewhere") / "deep" / "page.html"
    assert cli.main(["overview", str(replayed), "--out", str(out)]) == 0
    assert 'href="../' in out.read_text("utf-8")
    assert out.with_suffix(".json").is_file()


def test_a_folder_without_calls_says_what_to_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NothingToShow):
        calls_under(tmp_path)
    assert cli.main(["overview", str(tmp_path)]) == 1
    assert "hotline replay" in capsys.readouterr().err
