"""The HTTP server against those who mean no good, or whose network is broken: it answers, or closes, and serves the next one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest
from http_for_tests import SETTINGS, Place, Reply, request_of, serving
from hypothesis import given, settings
from hypothesis import strategies as st

from hotline.http import door, protocol

PATIENCE_S = 20.0


async def still_serves(place: Place) -> bool:
    return (await place.ask()).status == 200


@pytest.mark.parametrize("size", [70_000, 10 << 20])
async def test_a_body_that_is_too_large_is_refused_and_its_sender_learns_why(size: int) -> None:
    async with serving() as place:
        reply = await place.post("/v1/ask", b'{"question": "' + b"a" * size + b'"}')
        assert (reply.status, reply.code) == (413, "http.too_large")
        assert reply.headers["connection"] == "close"
        assert await still_serves(place)


async def test_a_body_without_a_length_is_counted_as_it_comes() -> None:
    async with serving() as place:
        reader, writer = await place.open(b"POST /v1/ask HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(80):
            writer.write(b"400\r\n" + b"a" * 1024 + b"\r\n")
        writer.write(b"0\r\n\r\n")
        assert b" 413 " in await reader.readline()
        writer.close()
        assert await still_serves(place)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"question": "\xff\xfe"}', 400),
        (b"[" * 60_000, 400),
        (b'{"a":' * 10_000, 400),
        (b'{"question": "\\ud800"}', 422),
        (b"\x00" * 1000, 422),
        (b'{"question": 1e999999}', 422),
        (b'{"question": ' + b"9" * 50_000 + b"}", 400),
        (b'{"question": "a", "question": {}}', 422),
    ],
)
async def test_a_body_that_is_no_question_is_refused(body: bytes, status: int) -> None:
    async with serving() as place:
        reply = await place.post("/v1/ask", body)
        assert (reply.status, bool(reply.code)) == (status, True)
        assert await still_serves(place)
        assert len(place.desk.mind.seen) == 1


async def test_what_nobody_says_does_not_reach_the_answer() -> None:
    async with serving() as place:
        reply = await place.ask("几\x00点\u202e开\x1b[31m门")
    assert reply.json["masked_question"] == "几点开[31m门"


async def test_of_a_thousand_at_once_each_gets_an_answer_or_is_told_to_come_again() -> None:
    async with serving(replace(SETTINGS, max_asks=4, max_connections=600)) as place:
        limit = asyncio.Semaphore(200)
        replies: list[Reply | None] = []

        async def one() -> None:
            async with limit:
                replies.append(await _bare(place))

        async with asyncio.TaskGroup() as tasks:
            for _ in range(1000):
                tasks.create_task(one())
        assert {reply.status for reply in replies if reply} <= {200, 503}
        assert sum(reply is not None for reply in replies) == 1000
        assert sum(reply.status == 200 for reply in replies if reply) >= 4
        assert await still_serves(place)


async def test_beyond_its_connections_one_is_told_so_and_closed() -> None:
    async with serving(replace(SETTINGS, max_connections=3)) as place, asyncio.TaskGroup() as tasks:
        asking = [tasks.create_task(place.ask("等")) for _ in range(3)]
        await _until(lambda: len(place.desk.mind.seen) == 3)
        reader, writer = await place.open()
        said = await reader.read()
        assert said.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1" in said
        assert b"server.busy" in said
        writer.close()
        place.desk.mind.hold.set()
    assert [each.result().status for each in asking] == [200] * 3


@pytest.mark.parametrize("begun", [b"", b"GET /healthz HTTP/1.1\r\nx: ", b"GET /healthz HTTP/1.1\r\nhost: h\r\n\r\n"])
async def test_connections_that_ask_nothing_keep_nobody_out(begun: bytes) -> None:
    async with serving(replace(SETTINGS, max_connections=20)) as place, _held(place, *[begun] * 60):
        assert (await place.get("/healthz")).status == 200
        assert await still_serves(place)
        assert place.server.connections <= 20


async def test_of_those_who_ask_nothing_the_peer_with_the_most_connections_loses_its_oldest() -> None:
    settings = replace(SETTINGS, max_connections=4, trusted_proxies=())
    async with serving(settings) as place:
        few = await place.open(host="127.0.0.2")
        async with _held(place, b"", b"", b"") as (first, *_), _held(place, b""):
            assert not await first.read()
            assert not few[0].at_eof()
            few[1].write(b"GET /healthz HTTP/1.1\r\nhost: h\r\n\r\n")
            assert b" 200 " in await few[0].readline()
        await _close(few[1])


async def test_bodies_that_drip_keep_nobody_out() -> None:
    async with serving(replace(SETTINGS, max_asks=1, max_speech=1, body_within_s=20)) as place:
        heads = [b"POST /v1/" + path + _BODY_BEGUN for path in (b"ask", b"speech", b"ask", b"ask")]
        async with _held(place, *heads):
            assert await still_serves(place)
            assert await still_serves(place)


async def test_of_too_many_bodies_on_their_way_the_oldest_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_LEAST_ARRIVALS", 3)
    monkeypatch.setattr(door, "_MOST_ARRIVALS", 3)
    async with serving() as place, _held(place, *[b"POST /v1/ask" + _BODY_BEGUN] * 3) as (oldest, *_):
        assert await still_serves(place)
        said = await oldest.read()
        assert b" 503 " in said.splitlines()[0]
        assert b"connection: close" in said


@pytest.mark.parametrize(
    "begun", [b"", b"POST /v1/ask HT", b"POST /v1/ask HTTP/1.1\r\nhost: h\r\nx: "], ids=["silent", "line", "head"]
)
async def test_a_head_that_does_not_come_is_not_waited_for(begun: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_WITHIN_S", 0.3)
    async with serving() as place:
        reader, writer = await place.open(begun)
        async with asyncio.timeout(PATIENCE_S):
            said = await reader.read()
        assert b"408" in said or not said
        writer.close()


async def test_a_head_that_drips_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_WITHIN_S", 0.3)
    async with serving() as place:
        reader, writer = await place.open(b"GET / HTTP/1.1\r\n")
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            dripping = tasks.create_task(_drip(writer, b"x: y\r\n"))
            await reader.read()
            dripping.cancel()
        await _close(writer)
        assert await still_serves(place)


async def test_a_body_that_drips_is_not_waited_for() -> None:
    async with serving(replace(SETTINGS, body_within_s=1, max_asks=1)) as place:
        reader, writer = await place.open(b"POST /v1/ask HTTP/1.1\r\nhost: h\r\ncontent-length: 5000\r\n\r\n")
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            dripping = tasks.create_task(_drip(writer, b"a"))
            said = await reader.read()
            dripping.cancel()
        await _close(writer)
        assert b" 408 " in said.splitlines()[0]
        assert await still_serves(place)


async def test_who_leaves_while_sending_is_forgotten() -> None:
    async with serving(replace(SETTINGS, max_asks=1)) as place:
        _, writer = await place.open(b"POST /v1/ask HTTP/1.1\r\nhost: h\r\ncontent-length: 5000\r\n\r\nabc")
        await _until(lambda: place.server.door.arriving == 1)
        assert place.server.door.idle.is_set()
        writer.transport.abort()
        await _until(lambda: not place.server.door.arriving)
        assert await still_serves(place)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1"])
@pytest.mark.parametrize(
    "path",
    ["/v1/ask/", "/v1/speech/", "/healthz/", "/readyz/", "/docs/", "/docs/docs.js/", "/openapi.json/", "//evil.example/", "/v1"],
)
async def test_nobody_is_sent_elsewhere(path: str, host: str) -> None:
    async with serving() as place:
        for method in ("GET", "POST"):
            reply = await place.send(method, path, None, host=host, **{"x-forwarded-host": host})
            assert (reply.status, reply.code) == (404, "http.no_such_place")
            assert "location" not in reply.headers


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # a TLS client
        b"\x00" * 100,
        b"GET / HTTP/1.1\r\n" + b"x: " + b"y" * 40_000 + b"\r\n\r\n",
        b"POST /v1/ask HTTP/1.1\r\nhost: h\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/ask HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcdef",
        b"POST /v1/ask HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_refused(sent: bytes) -> None:
    async with serving() as place:
        reader, writer = await place.open(sent)
        async with asyncio.timeout(PATIENCE_S):
            said = await reader.read()
        assert not said or said.split(b" ")[1] in {b"400", b"404"}
        writer.close()
        assert await still_serves(place)


async def test_pipelined_questions_are_answered_in_order() -> None:
    async with serving() as place:
        reader, writer = await place.open(request_of('{"question": "几点"}'.encode()) * 3)
        for _ in range(3):
            assert b" 200 " in await reader.readline()
            await reader.readuntil(b'"ai_label"')
            await reader.readuntil(b"}")
        writer.close()


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.sampled_from(["question", "session", "x"]), each, max_size=3),
)


@settings(max_examples=10)
@given(
    bodies=st.lists(st.binary(max_size=200) | JSON_VALUES.map(lambda value: json.dumps(value).encode()), min_size=10, max_size=30)
)
async def test_whatever_is_sent_it_is_answered_or_refused_in_form(bodies: list[bytes]) -> None:
    async with serving() as place:
        for body in bodies:
            reply = await place.post("/v1/ask", body)
            assert reply.status in {200, 400, 422}
            assert reply.status == 200 or reply.code


async def _bare(place: Place) -> Reply | None:
    """One question on a connection of its own; None where it was closed without a word."""
    reader, writer = await place.open(request_of('{"question": "几点"}'.encode(), connection="close"))
    try:
        async with asyncio.timeout(PATIENCE_S):
            said = await reader.read()
    except ConnectionError:
        return None
    finally:
        writer.close()
    return Reply(status=int(said.split(b" ")[1]), headers={}, body=b"") if said else None


_BODY_BEGUN = b" HTTP/1.1\r\nhost: h\r\ncontent-length: 5000\r\n\r\nabc"


@asynccontextmanager
async def _held(place: Place, *begun: bytes) -> AsyncGenerator[list[asyncio.StreamReader], None]:
    """Connections on which so much was sent, open while the server sees to others."""
    opened = [await place.open(each) for each in begun]
    await asyncio.sleep(0.1)
    try:
        yield [reader for reader, _ in opened]
    finally:
        for _, writer in opened:
            await _close(writer)


async def _close(writer: asyncio.StreamWriter) -> None:
    """The other side may have closed it with bytes of ours unread."""
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


async def _drip(writer: asyncio.StreamWriter, piece: bytes) -> None:
    while True:
        writer.write(piece)
        await asyncio.sleep(0.05)


async def _until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_true():  # noqa: ASYNC110  watched from outside
            await asyncio.sleep(0.01)
