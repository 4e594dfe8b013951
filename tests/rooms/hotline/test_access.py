"""Access tokens: made once, kept as digests, revoked and expired while servers run; gRPC and HTTP alike."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import grpc
import grpc.aio
import pytest
from desk_for_tests import ScriptedDesk
from http_for_tests import SETTINGS, serving
from sqlalchemy import update

from hotline import access, cli
from hotline.access import AccessBook, AccessToken, AccessWrong, Scope, bearer_of, digest_of, new_token
from hotline.access_admin import list_tokens, make_token, revoke_tokens
from hotline.clock import utc_now
from hotline.record.store import Store
from hotline.record.tables import access_tokens
from hotline.record.tokens import TokenTable
from hotline.record.types import RecordUnavailable
from hotline.server import HotlineServer, ServerSettings
from hotline.transport import bearer, channel_options
from hotline.v1 import hotline_pb2 as pb
from hotline.v1 import hotline_pb2_grpc as pb_grpc


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/record.db"


async def made(url: str, *, scope: Scope = Scope.ALL, expires: str = "90d", name: str = "trunk-1") -> str:
    told: list[str] = []
    assert await make_token(url, name=name, scope=scope, expires=expires, tell=told.append, note=lambda _: None) == 0
    (token,) = told
    return token


@asynccontextmanager
async def table_of(url: str) -> AsyncGenerator[TokenTable, None]:
    store = await Store.connect(url)
    try:
        await store.migrate()
        yield TokenTable(store.database)
    finally:
        await store.close()


async def listed(url: str) -> str:
    told: list[str] = []
    await list_tokens(url, tell=told.append)
    return "\n".join(told)


# ---------------------------------------------------------------- making and keeping


async def test_a_token_is_shown_once_and_kept_as_a_digest(url: str, tmp_path: Path) -> None:
    token = await made(url, scope=Scope.CALLS)
    assert token.startswith("hl_")
    assert len(token) == 46
    kept = await asyncio.to_thread(lambda: b"".join(path.read_bytes() for path in tmp_path.iterdir()))
    assert digest_of(token).encode() in kept
    assert token.encode() not in kept
    shown = await listed(url)
    assert "trunk-1" in shown
    assert "calls" in shown
    assert token not in shown
    assert digest_of(token) not in shown


def test_no_two_tokens_are_the_same() -> None:
    assert len({new_token() for _ in range(1000)}) == 1000


@pytest.mark.parametrize("expires", ["", "0d", "90", "d", "-1d", "90x", "99999d", "1.5d", "٣d²"])
async def test_an_expiry_that_is_none_is_refused(url: str, expires: str) -> None:
    with pytest.raises(AccessWrong) as wrong:
        await made(url, expires=expires)
    assert "90d" in wrong.value.what_to_do


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a\nb", "a;b"])
async def test_a_name_that_is_none_is_refused(url: str, name: str) -> None:
    with pytest.raises(AccessWrong):
        await made(url, name=name)


@pytest.mark.parametrize("name", ["13912345678", "trunk-139-1234-5678", "a.11010519491231002X", "１３９１２３４５６７８"])
async def test_a_name_with_a_personal_number_is_refused_and_stands_nowhere(url: str, name: str) -> None:
    with pytest.raises(AccessWrong) as wrong:
        await made(url, name=name)
    assert name not in f"{wrong.value} {wrong.value.what_to_do}"
    assert name not in await listed(url)


@pytest.mark.parametrize("name", ["trunk-12345", "web-20261203", "4401"])
async def test_a_name_with_another_number_is_fine(url: str, name: str) -> None:
    await made(url, name=name)
    assert name in await listed(url)


async def test_revoking_ends_every_live_token_of_a_name_once(url: str) -> None:
    await made(url)
    async with table_of(url) as table:  # as an older release let two have one name
        other = AccessToken(id="ffffffff", name="other", scope=Scope.ALL, digest=digest_of("hl_b"), created_at=utc_now())
        assert await table.add(other)
        await table._database.write(lambda connection: connection.execute(update(access_tokens).values(name="trunk-1")))
    told: list[str] = []
    assert await revoke_tokens(url, "trunk-1", tell=told.append) == 0
    assert told == ["revoked: 2"]
    assert (await listed(url)).count("revoked") == 2
    with pytest.raises(AccessWrong):
        await revoke_tokens(url, "trunk-1")


async def test_a_name_is_one_live_token_s(url: str) -> None:
    await made(url)
    with pytest.raises(AccessWrong, match="trunk-1") as wrong:
        await made(url)
    assert "hotline access revoke trunk-1" in wrong.value.what_to_do
    assert (await listed(url)).count("trunk-1") == 1
    async with table_of(url) as table:
        (first,) = await table.all()
    with pytest.raises(AccessWrong):
        await made(url, name=first.id)  # `revoke` would end both
    await made(url, name="trunk-2")
    await revoke_tokens(url, "trunk-1", tell=lambda _: None)
    await made(url)
    assert (await listed(url)).count("trunk-1") == 2


async def test_a_name_is_free_again_once_its_token_expired(url: str) -> None:
    async with table_of(url) as table:
        for number, expires_at in enumerate((utc_now() - dt.timedelta(hours=1), None)):
            token = AccessToken(
                id=f"0000000{number}", name="web", scope=Scope.ALL, digest=str(number), created_at=utc_now(), expires_at=expires_at
            )
            assert await table.add(token)
        assert not await table.add(replace(token, id="00000009", digest="9"))


def test_the_command_makes_lists_and_revokes(url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HOTLINE_RECORD__URL", url)
    assert cli.main(["access", "new", "--name", "web", "--scope", "ask", "--expires", "8w"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("hl_")  # alone, so that it can be piped on
    assert shown.out.count("\n") == 1
    assert "shown this once" in shown.err
    assert cli.main(["access", "list"]) == 0
    assert "live" in capsys.readouterr().out
    assert cli.main(["access", "revoke", "web"]) == 0
    assert cli.main(["access", "revoke", "web"]) == 1
    assert "hotline access list" in capsys.readouterr().err


# ---------------------------------------------------------------- the book


@dataclass
class Shelf:
    """Tokens in memory. away: the record can't be read."""

    tokens: list[AccessToken] = field(default_factory=list)
    days: dict[str, str] = field(default_factory=dict)
    away: bool = False
    reads: int = 0
    hold: asyncio.Event | None = None

    async def all(self) -> list[AccessToken]:
        self.reads += 1
        if self.away:
            raise RecordUnavailable("away")
        found = list(self.tokens)
        if self.hold is not None:
            await self.hold.wait()
        return found

    async def used(self, days: Mapping[str, str]) -> None:
        self.days |= days

    def put(self, token: str, **fields: object) -> None:
        values = {"id": f"t{len(self.tokens)}", "name": "n", "scope": Scope.ALL, "created_at": utc_now()} | fields
        self.tokens.append(AccessToken(digest=digest_of(token), **values))  # type: ignore[arg-type]


async def test_who_presents_what_is_known() -> None:
    shelf, hour = Shelf(), dt.timedelta(hours=1)
    shelf.put("hl_live", scope=Scope.ASK, expires_at=utc_now() + hour)
    shelf.put("hl_expired", expires_at=utc_now() - hour)
    shelf.put("hl_revoked", revoked_at=utc_now() - hour)
    book = await AccessBook.open(token="setting", tokens=shelf)
    live, setting = book.holder("hl_live"), book.holder("setting")
    assert live is not None
    assert setting is not None
    assert (live.scope, setting.scope) == (Scope.ASK, Scope.ALL)
    for wrong in ("", "hl_expired", "hl_revoked", "hl_Live", "hl_live ", "setting\0", "x" * 10_000, "\ud800", digest_of("hl_live")):
        assert book.holder(wrong) is None, wrong


async def test_the_last_day_of_use_is_kept() -> None:
    shelf = Shelf()
    shelf.put("hl_a")
    shelf.put("hl_b")
    book = await AccessBook.open(token="", tokens=shelf)
    book.holder("hl_a")
    await book.refresh()
    assert shelf.days == {"t0": utc_now().date().isoformat()}


async def test_once_a_token_was_made_nobody_enters_without_one_not_even_when_all_are_revoked() -> None:
    shelf = Shelf()
    book = await AccessBook.open(token="", tokens=shelf)
    assert not book.is_needed
    shelf.put("hl_a", revoked_at=utc_now())
    await book.refresh()
    assert book.is_needed


async def test_while_the_record_is_away_the_last_list_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "REFRESH_S", 0.01)
    shelf = Shelf()
    shelf.put("hl_a")
    book = await AccessBook.open(token="", tokens=shelf)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(book.run())
        shelf.away = True
        await asyncio.sleep(0.1)
        assert book.holder("hl_a")
        shelf.away = False
        shelf.tokens.clear()
        await asyncio.sleep(0.1)
        assert book.holder("hl_a") is None
        running.cancel()


async def test_a_fresh_token_opens_at_once() -> None:
    shelf = Shelf()
    book = await AccessBook.open(token="setting", tokens=shelf)
    shelf.put(fresh := new_token())
    assert book.holder(fresh) is None
    assert await book.admit(fresh)
    assert await book.admit("setting")
    assert shelf.reads == 2


async def test_a_token_made_while_the_list_is_read_opens_all_the_same() -> None:
    shelf = Shelf()
    book = await AccessBook.open(token="setting", tokens=shelf)
    shelf.hold = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(book.refresh())
        await asyncio.sleep(0.01)
        shelf.put(fresh := new_token())
        asked = tasks.create_task(book.admit(fresh))
        await asyncio.sleep(0.01)
        shelf.hold.set()
    assert asked.result()


async def test_a_flood_of_unknown_tokens_shares_one_read() -> None:
    shelf = Shelf()
    book = await AccessBook.open(token="setting", tokens=shelf)
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(book.admit(new_token())) for _ in range(500)]
        shelf.put(fresh := new_token())
        right = tasks.create_task(book.admit(fresh))
    assert not any(each.result() for each in asked)
    assert right.result()
    assert shelf.reads <= 3


async def test_what_cannot_be_a_fresh_token_is_not_looked_up() -> None:
    shelf = Shelf()
    shelf.put(revoked := new_token(), revoked_at=utc_now())
    book = await AccessBook.open(token="setting", tokens=shelf)
    for wrong in ("", "wrong", "hl_wrong", new_token() + "x", new_token().upper(), revoked):
        assert await book.admit(wrong) is None
    assert await AccessBook(token="setting").admit(new_token()) is None
    assert shelf.reads == 1


async def test_while_the_record_is_away_or_hangs_an_unknown_token_is_soon_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(access, "KNOWN_WITHIN_S", 0.05)
    monkeypatch.setattr(access, "AGAIN_S", 0.0)
    shelf = Shelf()
    shelf.put("hl_a")
    book = await AccessBook.open(token="", tokens=shelf)
    shelf.away = True
    assert await book.admit(new_token()) is None
    shelf.away, shelf.hold = False, asyncio.Event()
    assert await book.admit(new_token()) is None
    assert await book.admit("hl_a")
    shelf.hold.set()
    shelf.put(fresh := new_token())
    assert await book.admit(fresh)


@pytest.mark.parametrize(
    ("header", "token"),
    [("Bearer a", "a"), ("bearer  a ", "a"), ("BEARER a", "a"), ("Basic a", ""), ("a", ""), ("", ""), ("Bearer", "")],
)
def test_a_header_holds_a_token_or_none(header: str, token: str) -> None:
    assert bearer_of(header) == token


# ---------------------------------------------------------------- running servers


async def status_of(stub: pb_grpc.HotlineAsyncStub, token: str, method: str) -> grpc.StatusCode:
    if method == "Ask":
        asked = stub.Ask(pb.AskRequest(question="几点"), metadata=bearer(token))
        try:
            async for _ in asked:
                pass
        except grpc.aio.AioRpcError as error:
            return error.code()
        return await asked.code()
    call = stub.Converse(metadata=bearer(token))
    try:
        await call.write(pb.CallerFrame(start=pb.Start()))
        await call.read()
        call.cancel()
    except grpc.aio.AioRpcError as error:
        return error.code()
    except asyncio.InvalidStateError:
        return await call.code()
    return grpc.StatusCode.OK if call.cancelled() else await call.code()


async def test_both_servers_know_the_same_tokens_and_forget_them_within_seconds(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "REFRESH_S", 0.05)
    calls, ask = await made(url, scope=Scope.CALLS, name="trunk"), await made(url, scope=Scope.ASK, name="web")
    async with (
        table_of(url) as table,
        HotlineServer(
            ScriptedDesk(), ServerSettings(port=0), book=(book := await AccessBook.open(token="", tokens=table))
        ) as server,
        serving(book=book) as place,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.port}", options=channel_options()) as channel,
        asyncio.TaskGroup() as tasks,
    ):
        await server.set_ready(is_ready=True)
        refreshing = tasks.create_task(book.run())
        stub = pb_grpc.HotlineStub(channel)
        assert await status_of(stub, calls, "Converse") is grpc.StatusCode.OK
        assert await status_of(stub, calls, "Ask") is grpc.StatusCode.PERMISSION_DENIED
        assert await status_of(stub, ask, "Converse") is grpc.StatusCode.PERMISSION_DENIED
        assert await status_of(stub, ask, "Ask") is grpc.StatusCode.OK
        assert await status_of(stub, "hl_wrong", "Ask") is grpc.StatusCode.UNAUTHENTICATED
        assert (await place.ask(authorization=f"Bearer {ask}")).status == 200
        refused = await place.ask(authorization=f"Bearer {calls}")
        assert (refused.status, refused.code) == (403, "access.scope")
        assert (await place.ask()).status == 401

        await revoke_tokens(url, "web", tell=lambda _: None)
        late = await made(url, scope=Scope.ASK, name="late")
        async with asyncio.timeout(5):
            while (await place.ask(authorization=f"Bearer {ask}")).status == 200:  # noqa: ASYNC110  watched from outside
                await asyncio.sleep(0.05)
        assert await status_of(stub, ask, "Ask") is grpc.StatusCode.UNAUTHENTICATED
        assert (await place.ask(authorization=f"Bearer {late}")).status == 200
        assert await status_of(stub, late, "Ask") is grpc.StatusCode.OK
        assert await status_of(stub, calls, "Converse") is grpc.StatusCode.OK
        refreshing.cancel()
    assert utc_now().date().isoformat() in (await listed(url)).splitlines()[1]


async def test_a_token_that_expires_while_the_server_runs_opens_nothing_more() -> None:
    shelf = Shelf()
    shelf.put("hl_short", expires_at=utc_now() + dt.timedelta(seconds=0.5))
    async with serving(book=await AccessBook.open(token="", tokens=shelf)) as place:
        assert (await place.ask(authorization="Bearer hl_short")).status == 200
        await asyncio.sleep(0.6)
        assert (await place.ask(authorization="Bearer hl_short")).status == 401


async def test_tokens_are_counted_apart_and_hold_conversations_apart() -> None:
    shelf = Shelf()
    shelf.put("hl_a")
    shelf.put("hl_b")
    book = await AccessBook.open(token="", tokens=shelf)
    async with serving(book=book) as place:
        await place.ask("几点", session="s", authorization="Bearer hl_a")
        await place.ask("几点", session="s", authorization="Bearer hl_b")
        assert [dialogue.history for _, dialogue in place.desk.mind.seen] == [(), ()]
    async with serving(replace(SETTINGS, rate_per_minute=1, burst=2), book=book) as place:
        assert [(await place.ask(authorization="Bearer hl_a")).status for _ in range(3)] == [200, 200, 429]


async def test_open_to_the_network_a_token_of_the_record_is_enough(url: str) -> None:
    await made(url)
    async with table_of(url) as table:
        book = await AccessBook.open(token="", tokens=table)
        settings = ServerSettings(host="0.0.0.0", port=0)  # noqa: S104  the point of the test
        async with HotlineServer(ScriptedDesk(), settings, book=book) as server:
            assert server.port
