"""The page of one call: everything in it, nothing from outside, and nothing that a caller said can become markup."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotline import timeline
from hotline.call_events import CallEvent, write_events
from hotline.timeline import timeline_page, write_timeline
from hotline.wav import WavError, parse_wav, write_wav

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>{{title}}\u2028'
SOUND = np.stack([np.sin(np.arange(8000) / 9), np.zeros(8000)], axis=1).astype(np.float32)


def bot(at_ms: int, kind: str, **fields: str | int | bool | list[str]) -> CallEvent:
    return CallEvent(at_ms=at_ms, side="bot", kind=kind, fields=fields)


def caller(at_ms: int, kind: str, **fields: str | int) -> CallEvent:
    return CallEvent(at_ms=at_ms, side="caller", kind=kind, fields=fields)


def a_call(words: str = "社保卡丢了", route: str = "hot") -> list[CallEvent]:
    return [
        bot(0, "accepted", call_id="call-7"),
        bot(10, "reply_text", reply_id=1, text="您好，这里是智能热线。", route="greeting"),
        caller(100, "sound_began"),
        caller(500, "sound_stopped"),
        bot(560, "transcript", turn=1, masked_text=words, start_ms=100, end_ms=480, is_final=True),
        bot(560, "transcript", turn=1, masked_text="（半句）", is_final=False),
        bot(570, "reply_text", reply_id=2, text=words, route=route, source_ids=["kb-1", words]),
        bot(571, "reply_text", reply_id=2, text="请带身份证。", route=route, source_ids=["kb-1"]),
        bot(640, "sound_began"),
        bot(
            650,
            "turn_metrics",
            turn=1,
            route=route,
            voice_to_voice_ms=160,
            caller_last_speech_ms=480,
            vad_end_ms=500,
            turn_decided_ms=550,
            asr_final_ms=540,
            route_decided_ms=555,
            first_token_ms=0,
            first_safe_clause_ms=560,
            first_tts_audio_ms=620,
            first_frame_sent_ms=640,
        ),
        caller(700, "key", digit="0"),
        bot(720, "clear", reply_id=2, reason="cancel"),
        bot(730, "clear", reply_id=2, reason="pause"),
        bot(740, "error", code="asr.error", message=words),
        bot(800, "sound_stopped"),
        bot(900, "transfer", target="queue:general", ticket="T-1", summary=words, reason="asked"),
        caller(940, "hangup", reason="transferred"),
        bot(950, "end", reason="transferred"),
    ]


class Outline(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    return found


def test_the_page_tells_the_call(tmp_path: Path) -> None:
    write_events(tmp_path / "events.jsonl", a_call())
    write_wav(tmp_path / "call.wav", SOUND, 8000)
    text = " ".join(outline(write_timeline(tmp_path, title="caller.wav").read_text("utf-8")).words)

    for expected in (
        "caller.wav",
        "call-7",
        "社保卡丢了",
        "160 ms",
        "hot",
        "kb-1",
        "+160",
        "interrupted",
        "to a person: asked",
        "key 0",
        "asr.error",
    ):
        assert expected in text
    assert "（半句）" not in text


def test_the_sound_is_inside_the_page() -> None:
    page = timeline_page(a_call(), SOUND, 8000, title="x")
    embedded = re.search(r'src="data:audio/wav;base64,([^"]+)"', page)
    assert embedded is not None
    assert len(parse_wav(base64.b64decode(embedded[1])).samples) == 8000


def test_the_sound_of_a_long_call_lies_beside_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "EMBED_AT_MOST_BYTES", 100)
    assert 'src="call.wav"' in timeline_page(a_call(), SOUND, 8000, title="x")


def test_the_page_loads_nothing() -> None:
    page = timeline_page(a_call(), SOUND, 8000, title="x")
    links = [value for name, value in outline(page).attributes if name in {"src", "href", "srcset", "action", "data"}]
    assert len(links) == 1
    assert not re.search(r"https?://|@import|url\(", page)
    assert "default-src 'none'" in page


def test_hostile_words_stay_words() -> None:
    plain = outline(timeline_page(a_call(), SOUND, 8000, title="plain"))
    hostile = outline(timeline_page(a_call(HOSTILE, HOSTILE), SOUND, 8000, title=HOSTILE))

    assert hostile.tags == plain.tags
    assert {name for name, _ in hostile.attributes} == {name for name, _ in plain.attributes}
    assert "".join(hostile.words).count("{{title}}") >= 3  # not filled in a second time


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60), st.text(max_size=20))
def test_no_words_change_the_pages_outline(words: str, route: str) -> None:
    plain = outline(timeline_page(a_call("字", "hot"), SOUND[:800], 8000, title="x"))
    assert outline(timeline_page(a_call("字" + words, "r" + route), SOUND[:800], 8000, title=words)).tags == plain.tags


def test_a_call_without_turns_or_sound_has_a_page_too() -> None:
    page = timeline_page([], np.zeros((1, 2), np.float32), 8000, title="empty")
    assert "empty" in page


def test_a_turn_without_stamps_or_audio_times_is_shown_by_what_is_known() -> None:
    typed = [
        bot(10, "transcript", turn=1, masked_text="打字", end_ms=400, is_final=True),
        bot(20, "transcript", turn=2, masked_text="再打", is_final=True),
        bot(30, "turn_metrics", turn=3, route="", first_frame_sent_ms=30),
        caller(40, "sound_stopped"),
    ]
    text = " ".join(outline(timeline_page(typed, SOUND, 8000, title="typed")).words)
    assert "打字" in text
    assert "Turn 3" in text


def test_an_hour_long_call_stays_a_page_that_opens() -> None:
    sound = np.zeros((3600 * 100, 2), np.float32)
    page = timeline_page([bot(3_599_000, "end", reason="time_up")], sound, 100, title="long")
    assert len(page) < 3_000_000


def test_without_the_calls_sound_it_is_said(tmp_path: Path) -> None:
    write_events(tmp_path / "events.jsonl", a_call())
    (tmp_path / "call.wav").write_bytes(b"")
    with pytest.raises(WavError):
        write_timeline(tmp_path, title="x")


def test_hovering_has_figures_and_zoom_has_buttons() -> None:
    page = timeline_page(a_call(), SOUND, 8000, title="x")
    assert {value for name, value in outline(page).attributes if name == "data-zoom"} == {"in", "out", "fit", "reset"}
    levels = dict(outline(page).attributes)
    assert levels["data-caller-levels"].split(",")[:2] == ["-3", "-3"]
    assert set(levels["data-bot-levels"].split(",")) == {""}
    assert re.search(r'data-hint="turn 1: 50 ms to be sure" data-from="500" data-to="550"', page)


def test_where_the_time_went_is_shown_by_stage() -> None:
    page = timeline_page(a_call(), SOUND, 8000, title="x")
    spent = page[page.index("Where the time went") :]
    assert re.findall(r'title="(\w+): (\d+) ms"', spent) == [
        ("silence", "70"),
        ("finding", "5"),
        ("writing", "5"),
        ("voice", "60"),
        ("sending", "20"),
    ]
    assert "160 ms" in spent
    assert "No turn has both" in timeline_page([], np.zeros((1, 2), np.float32), 8000, title="empty")
