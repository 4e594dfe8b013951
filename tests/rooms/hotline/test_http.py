"""Questions over HTTP, on real sockets: answers, events, conversations, who may ask, and what every refusal looks like."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from http_for_tests import EVENTS, SETTINGS, Place, request_of, serving

from hotline.access import AccessBook
from hotline.desk import AskClause
from hotline.errors import ConfigWrong, PortTaken
from hotline.http.models import ErrorBody
from hotline.http.server import HttpServer
from hotline.http.types import HttpDesk, HttpSettings
from hotline.http.written import Screen
from llm import emergency, phrases, safety

MOBILE = "13958274061"


# ---------------------------------------------------------------- answers


async def test_a_question_is_masked_and_answered_whole() -> None:
    async with serving() as place:
        reply = await place.ask(f"几点开门，我的手机号是{MOBILE}")
    assert reply.status == 200
    assert reply.json == {
        "answer": "工作日九点到十七点，周末休息。",
        "clauses": [{"text": "工作日九点到十七点，", "sources": ["kb-1"]}, {"text": "周末休息。", "sources": ["kb-1"]}],
        "route": "hot",
        "confidence": 0.9,
        "sources": ["kb-1"],
        "needs_person": False,
        "reason": "",
        "next_step": {"action": "none", "call": "", "also": []},
        "masked_question": "几点开门，我的手机号是〈手机号·1〉",
        "ai_label": "内容由人工智能生成",
    }


async def test_an_emergency_says_what_to_dial_and_a_person_how_to_be_had() -> None:
    async with serving() as place:
        fire, person = await place.ask("着火了"), await place.ask("转人工")
    assert (fire.json["route"], fire.json["needs_person"], fire.json["reason"]) == ("emergency", True, "emergency")
    assert fire.json["next_step"] == {"action": "call", "call": "119", "also": ["120"]}
    assert (person.json["route"], person.json["reason"]) == ("person", "asked")
    assert person.json["next_step"] == {"action": "person", "call": "12345", "also": []}


@pytest.mark.parametrize(("question", "needs_person"), [("路灯坏了", False), ("要登记", True)])
@pytest.mark.parametrize(("number", "dial"), [("12345", "拨打12345"), ("", "联系工作人员")])
async def test_no_work_order_is_promised_and_the_app_is_told_what_to_offer(
    question: str, needs_person: bool, number: str, dial: str
) -> None:
    async with serving(replace(SETTINGS, person_number=number)) as place:
        whole, events = await place.ask(question), await place.ask(question, **EVENTS)
    assert whole.json["next_step"] == {"action": "work_order", "call": number, "also": []}
    assert whole.json["needs_person"] is needs_person
    assert f"这里不能登记；需要登记这件事，请{dial}。" in whole.json["answer"]
    assert "为您登记" not in whole.json["answer"] + events.body.decode()
    assert '"action": "work_order"' in events.body.decode()


PROMISES = (
    *(phrases.TO_PERSON, *phrases.TO_PERSON_AGAIN, phrases.NOT_KNOWN, phrases.STILL_UNCLEAR, phrases.REGISTER, phrases.TO_REGISTER),
    *emergency.INSTRUCTIONS.values(),
    *safety._REPLIES.values(),
)


@pytest.mark.parametrize("said", PROMISES)
@pytest.mark.parametrize("route", ["person", "emergency"])
def test_nothing_that_is_promised_on_the_telephone_is_promised_on_a_screen(said: str, route: str) -> None:
    screen = Screen("12345")
    shown = screen.clause(AskClause(text=said, route=route))
    text = shown.text if shown else ""
    for promise in ("转接", "接通", "接一次", "为您登记", "稍等", "不要挂机", "来帮您"):
        assert promise not in text
    assert screen.wants_order == (said in {phrases.REGISTER, phrases.TO_REGISTER})


async def test_each_clause_comes_as_soon_as_it_exists() -> None:
    async with serving() as place:
        reader, writer = await place.open(request_of('{"question": "等"}'.encode(), **EVENTS))
        begun = await reader.readuntil("工作日九点到十七点".encode())
        assert b"text/event-stream" in begun
        assert [line for line in begun.decode().splitlines() if line.startswith("event:")] == [
            "event: masked",
            "event: route",
            "event: clause",
        ]
        place.desk.mind.hold.set()
        rest = await reader.readuntil(b"event: done")
        assert "周末休息。" in rest.decode()
        done = json.loads((await reader.readuntil(b"}\n\n")).decode().partition("data: ")[2])
        assert (done["answer"], done["route"], done["needs_person"]) == ("工作日九点到十七点，周末休息。", "hot", False)
        writer.close()


@pytest.mark.parametrize("headers", [{}, EVENTS], ids=["whole", "events"])
async def test_a_client_that_leaves_stops_the_work(headers: dict[str, str]) -> None:
    async with serving() as place:
        _, writer = await place.open(request_of('{"question": "等"}'.encode(), **headers))
        await _until(lambda: bool(place.desk.mind.seen))
        writer.transport.abort()
        await _until(lambda: place.desk.mind.stopped == ["等"])
        await _until(place.server.door.idle.is_set)
        assert (await place.ask()).status == 200


async def test_an_answer_that_breaks_is_told_without_what_was_said() -> None:
    async with serving() as place:
        whole = await place.ask("坏")
        events = await place.ask("坏", **EVENTS)
    assert (whole.status, whole.code) == (500, "http.failed")
    assert b"event: error" in events.body
    assert b"13958274061" not in whole.body + events.body


async def test_an_answer_that_takes_too_long_is_given_up() -> None:
    async with serving(desk=None) as place:
        hurried = HttpServer(HttpDesk(desk=place.desk, ask_deadline_s=1), SETTINGS)
        async with hurried:
            await hurried.set_ready(is_ready=True)
            late = Place(place.desk, hurried)
            whole, events = await late.ask("等"), await late.ask("等", **EVENTS)
    assert (whole.status, whole.code) == (504, "ask.too_long")
    assert b"ask.too_long" in events.body
    assert place.desk.mind.stopped == ["等", "等"]


# ---------------------------------------------------------------- conversations


async def test_a_session_remembers_what_was_said_masked_and_keeps_placeholders() -> None:
    async with serving() as place:
        await place.ask(f"几点开门，我的手机号是{MOBILE}", session="a")
        again = await place.ask(f"那周六呢，还是{MOBILE}", session="a")
        other = await place.ask("那周六呢", session="b")
        without = await place.ask("那周六呢")
    assert again.json["masked_question"] == "那周六呢，还是〈手机号·1〉"
    histories = [dialogue.history for _, dialogue in place.desk.mind.seen]
    assert [len(history) for history in histories] == [0, 1, 0, 0]
    (first,) = histories[1]
    assert (first.caller.text, first.said) == ("几点开门，我的手机号是〈手机号·1〉", "工作日九点到十七点，周末休息。")
    assert other.status == without.status == 200


async def test_what_a_session_was_asked_for_is_masked_even_when_it_is_no_whole_number() -> None:
    async with serving() as place:
        await place.ask("登记", session="a")
        assert "1395827" not in (await place.ask("1395827", session="a")).json["masked_question"]


async def test_an_answer_that_was_broken_off_is_not_remembered() -> None:
    async with serving() as place:
        _, writer = await place.open(request_of('{"question": "等", "session": "a"}'.encode()))
        await _until(lambda: bool(place.desk.mind.seen))
        writer.transport.abort()
        await _until(lambda: bool(place.desk.mind.stopped))
        await place.ask("几点开门", session="a")
    assert place.desk.mind.seen[-1][1].history == ()


async def test_two_questions_of_one_session_take_turns() -> None:
    async with serving() as place, asyncio.TaskGroup() as tasks:
        first = tasks.create_task(place.ask("等", session="a"))
        await _until(lambda: bool(place.desk.mind.seen))
        second = tasks.create_task(place.ask("几点", session="a"))
        assert (await place.ask("几点", session="b")).status == 200
        assert [question.text for question, _ in place.desk.mind.seen] == ["等", "几点"]
        place.desk.mind.hold.set()
    assert first.result().status == second.result().status == 200
    assert len(place.desk.mind.seen[-1][1].history) == 1


# ---------------------------------------------------------------- who may ask


async def test_without_the_token_nobody_asks_but_health_and_the_contract_are_open() -> None:
    async with serving(book=AccessBook(token="right")) as place:
        for wrong in (
            {},
            {"authorization": "Bearer wrong"},
            {"authorization": "Basic right"},
            {"authorization": "Bearer " + "x" * 9000},
        ):
            reply = await place.ask(**wrong)
            assert (reply.status, reply.code) == (401, "access.unknown")
            assert reply.headers["www-authenticate"].startswith("Bearer")
        assert (await place.ask(authorization="Bearer right")).status == 200
        for path in ("/healthz", "/readyz", "/openapi.json", "/docs"):
            assert (await place.get(path)).status == 200
    assert len(place.desk.mind.seen) == 1


async def test_who_asks_too_often_is_told_how_long_to_wait() -> None:
    async with serving(replace(SETTINGS, rate_per_minute=6, burst=3)) as place:
        replies = [await place.ask() for _ in range(5)]
    assert [reply.status for reply in replies] == [200, 200, 200, 429, 429]
    assert replies[-1].code == "http.too_often"
    assert 1 <= int(replies[-1].headers["retry-after"]) <= 10


async def test_a_browser_may_ask_from_named_pages_only() -> None:
    async with serving(replace(SETTINGS, cors_origins=("https://www.example.org",))) as place:
        named = await place.ask(origin="https://www.example.org")
        other = await place.ask(origin="https://evil.example")
        asked = {"access-control-request-method": "POST", "origin": "https://www.example.org"}
        preflight = await place.send("OPTIONS", "/v1/ask", None, **asked)
    async with serving() as place:
        off = await place.ask(origin="https://www.example.org")
    assert named.headers["access-control-allow-origin"] == "https://www.example.org"
    assert preflight.status == 200
    assert "access-control-allow-origin" not in other.headers | off.headers


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"cors_origins": ("*",)}, "cors_origins"),
        ({"cors_origins": ("https://a.example/page",)}, "cors_origins"),
        ({"burst": 0}, "burst"),
        ({"port": 70_000}, "port"),
        ({"person_number": "call us"}, "person_number"),
        ({"spoken_label": " "}, "spoken_label"),
        ({"trusted_proxies": ("nginx",)}, "nginx"),
    ],
)
def test_settings_that_cannot_serve_are_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        HttpSettings(**wrong)  # type: ignore[arg-type]


async def test_open_to_the_network_it_needs_a_token() -> None:
    with pytest.raises(ConfigWrong, match="no token"):
        async with serving(replace(SETTINGS, host="0.0.0.0")):  # noqa: S104  the point of the test
            pass
    async with serving() as place:
        with pytest.raises(PortTaken, match="can't be bound"):
            async with serving(replace(SETTINGS, port=place.server.port)):
                pass


async def test_a_proxy_that_is_trusted_tells_whom_it_serves() -> None:
    few = replace(SETTINGS, rate_per_minute=6, burst=1)
    for proxies, second in ((("127.0.0.1",), 200), ((), 429)):
        async with serving(replace(few, trusted_proxies=proxies)) as place:
            assert (await place.ask(x_forwarded_for="192.0.2.1")).status == 200
            assert (await place.ask(x_forwarded_for="192.0.2.2")).status == second


# ---------------------------------------------------------------- too much, and going down


async def test_beyond_its_measure_it_says_so_at_once() -> None:
    async with serving(replace(SETTINGS, max_asks=2)) as place, asyncio.TaskGroup() as tasks:
        waiting = [tasks.create_task(place.ask("等")) for _ in range(2)]
        await _until(lambda: len(place.desk.mind.seen) == 2)
        reply = await place.ask()
        assert (reply.status, reply.code) == (503, "server.busy")
        assert reply.headers["retry-after"] == "1"
        place.desk.mind.hold.set()
    assert [task.result().status for task in waiting] == [200, 200]


async def test_while_it_goes_down_what_runs_ends_and_nothing_begins() -> None:
    async with serving() as place, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(place.ask("等"))
        await _until(lambda: bool(place.desk.mind.seen))
        draining = tasks.create_task(place.server.drain(within_s=20))
        await _until(lambda: place.server.door.draining)
        refused, ready, alive = await place.ask(), await place.get("/readyz"), await place.get("/healthz")
        assert (refused.status, refused.code) == (503, "server.not_ready")
        assert (ready.status, alive.status) == (503, 200)
        place.desk.mind.hold.set()
    assert running.result().status == 200
    assert draining.result()


# ---------------------------------------------------------------- every refusal has one form


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/nothing", None, 404, "http.no_such_place"),
        ("GET", "/v1/ask", None, 405, "http.wrong_method"),
        ("DELETE", "/healthz", None, 405, "http.wrong_method"),
        ("POST", "/v1/ask", b"", 422, "http.invalid"),
        ("POST", "/v1/ask", b"{", 422, "http.invalid"),
        ("POST", "/v1/ask", b"[]", 422, "http.invalid"),
        ("POST", "/v1/ask", b'{"question": ""}', 422, "http.invalid"),
        ("POST", "/v1/ask", b'{"question": " \\n"}', 422, "http.invalid"),
        ("POST", "/v1/ask", b'{"question": "a", "session": "a b"}', 422, "http.invalid"),
        ("POST", "/v1/speech", b"RIFF", 404, "http.no_such_place"),  # this desk hears nothing
        ("PUT", "/v1/ask", b"{}", 405, "http.wrong_method"),
    ],
)
async def test_every_refusal_has_one_form(method: str, path: str, body: bytes | None, status: int, code: str) -> None:
    async with serving() as place:
        reply = await place.send(method, path, body, **{"content-type": "application/json"})
    assert (reply.status, reply.code) == (status, code)
    assert ErrorBody.model_validate_json(reply.body)
    assert reply.headers["content-type"].startswith("application/json")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])
async def test_a_question_that_is_not_sent_as_json_is_told_what_to_send(kind: str) -> None:
    async with serving() as place:
        for body in (b'{"question": "a"}', b"question=a", "居住证".encode()):
            reply = await place.send("POST", "/v1/ask", body, **({"content-type": kind} if kind else {}))
            assert (reply.status, reply.code) == (415, "http.not_json")
            assert "content-type: application/json" in reply.json["error"]["what_to_do"]
        for kind_of_json in ("application/json", "application/json; charset=utf-8", "APPLICATION/JSON"):
            assert (await place.post("/v1/ask", b'{"question": "a"}', content_type=kind_of_json)).status == 200


async def test_what_is_wrong_is_told_in_words_and_not_in_the_names_of_a_library() -> None:
    wrong = (b"", b"{", b"[]", b"1", b"{}", b'{"question": 1}', b'{"question": null}', b'{"question": "a", "session": {}, "x": 1}')
    async with serving() as place:
        for body in wrong:
            message = (await place.post("/v1/ask", body)).json["error"]["message"]
            assert "_" not in message, message


@pytest.mark.parametrize(
    "body",
    [
        {"question": "a", MOBILE: 1},
        {"question": {MOBILE: MOBILE}},
        {"question": "a", "session": f"我的号码 {MOBILE}"},
        {"question": ["13958274061"]},
        {"question": MOBILE * 500},
    ],
)
async def test_a_refusal_repeats_nothing_of_what_was_sent(body: dict[str, object]) -> None:
    async with serving() as place:
        reply = await place.post("/v1/ask", json.dumps(body).encode())
    assert reply.status == 422
    assert MOBILE.encode() not in reply.body
    assert "我的".encode() not in reply.body


async def test_every_answer_carries_the_same_safe_headers() -> None:
    async with serving() as place:
        replies = [await place.ask(), await place.get("/nothing"), await place.get("/docs"), await place.post("/v1/ask", b"{")]
    for reply in replies:
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert "server" not in reply.headers
    assert len({reply.headers["x-request-id"] for reply in replies}) == len(replies)


# ---------------------------------------------------------------- the contract


async def test_the_contract_has_examples_and_its_page_needs_nothing_from_elsewhere() -> None:
    async with serving() as place:
        contract = (await place.get("/openapi.json")).json
        page, script, style = [await place.get(path) for path in ("/docs", "/docs/docs.js", "/docs/docs.css")]
    ask = contract["paths"]["/v1/ask"]["post"]
    assert ask["security"] == [{"token": []}]
    assert contract["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}
    assert set(ask["responses"]) >= {"200", "401", "413", "422", "429", "503"}
    assert contract["components"]["schemas"]["AskBody"]["examples"][0]["question"]
    for each in (page, script, style):
        assert each.status == 200
        assert b"//cdn" not in each.body
        assert b"https://" not in each.body
    assert b"<script>" not in page.body  # the page's policy lets no script in but its own file


async def _until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_true():  # noqa: ASYNC110  watched from outside
            await asyncio.sleep(0.01)
