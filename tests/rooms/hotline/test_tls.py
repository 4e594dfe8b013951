"""TLS on real sockets: who is let in, who isn't, what is said about files that can't serve, and certificates that change."""

from __future__ import annotations

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
import grpc.aio
import numpy as np
import pytest
import trustme
from desk_for_tests import ScriptedDesk
from http_for_tests import serving
from structlog.testing import capture_logs

from hotline import cli
from hotline.caller_leg import open_channel
from hotline.certificates import Certificates, ClientTls, channel_credentials, tls_files
from hotline.clock import utc_now
from hotline.errors import ConfigWrong
from hotline.replay import ReplaySettings, replay_files
from hotline.server import HotlineServer, ServerSettings
from hotline.v1 import hotline_pb2 as pb
from hotline.v1 import hotline_pb2_grpc as pb_grpc
from hotline.wav import write_wav

DAY = dt.timedelta(days=1)
SAYS_IT_IS_OVER = (ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)


@dataclass
class Office:
    """An authority and its files."""

    folder: Path
    ca: trustme.CA

    def write(self, name: str, **dates: dt.datetime) -> tuple[Path, Path]:
        """A certificate for 127.0.0.1 and its key."""
        issued = self.ca.issue_cert("127.0.0.1", "localhost", **dates)
        cert, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(key)
        return cert, key

    @property
    def ca_file(self) -> Path:
        path = self.folder / "ca.pem"
        self.ca.cert_pem.write_to_path(path)
        return path


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return _office(tmp_path / "ours")


@pytest.fixture
def stranger(tmp_path: Path) -> Office:
    return _office(tmp_path / "theirs")


def _office(folder: Path) -> Office:
    folder.mkdir()
    return Office(folder, trustme.CA())


def certificates(office: Office, *, client_ca: Path | None = None, name: str = "server") -> Certificates:
    cert, key = office.write(name)
    files = tls_files(str(cert), str(key), str(client_ca or ""), section="server")
    assert files is not None
    return Certificates(files)


# ---------------------------------------------------------------- gRPC


@asynccontextmanager
async def phone(given: Certificates) -> AsyncGenerator[str, None]:
    async with HotlineServer(ScriptedDesk(), ServerSettings(port=0), certificates=given) as server:
        await server.set_ready(is_ready=True)
        yield f"127.0.0.1:{server.port}"


async def asked(target: str, tls: ClientTls | None) -> bool:
    """Whether a question got through."""
    async with open_channel(target, None if tls is None else channel_credentials(tls)) as channel:
        try:
            events = [event async for event in pb_grpc.HotlineStub(channel).Ask(pb.AskRequest(question="几点"), timeout=5)]
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise
            return False
        return len(events) == 3


async def test_a_client_that_knows_the_authority_is_served(office: Office) -> None:
    async with phone(certificates(office)) as target:
        assert await asked(target, ClientTls(ca=office.ca_file))


async def test_a_client_in_clear_or_of_another_authority_is_not_served(office: Office, stranger: Office) -> None:
    async with phone(certificates(office)) as target:
        assert not await asked(target, None)
        assert not await asked(target, ClientTls(ca=stranger.ca_file))
        assert not await asked(target, ClientTls())
        assert await asked(target, ClientTls(ca=office.ca_file))


async def test_with_a_clients_authority_a_certificate_of_it_is_needed(office: Office, stranger: Office) -> None:
    cert, key = office.write("gateway")
    wrong_cert, wrong_key = stranger.write("gateway")
    old_cert, old_key = office.write("old", not_before=utc_now() - 9 * DAY, not_after=utc_now() - DAY)
    async with phone(certificates(office, client_ca=office.ca_file)) as target:
        assert await asked(target, ClientTls(ca=office.ca_file, cert=cert, key=key))
        assert not await asked(target, ClientTls(ca=office.ca_file))
        assert not await asked(target, ClientTls(ca=office.ca_file, cert=wrong_cert, key=wrong_key))
        assert not await asked(target, ClientTls(ca=office.ca_file, cert=old_cert, key=old_key))


async def test_a_client_in_tls_of_a_server_in_clear_is_not_served(office: Office) -> None:
    async with HotlineServer(ScriptedDesk(), ServerSettings(port=0)) as server:
        assert not await asked(f"127.0.0.1:{server.port}", ClientTls(ca=office.ca_file))


async def test_a_new_certificate_serves_the_next_call(office: Office, stranger: Office) -> None:
    given = certificates(office)
    async with phone(given) as target:
        assert await asked(target, ClientTls(ca=office.ca_file))
        cert, key = stranger.write("server")
        cert.replace(given.files.cert)
        key.replace(given.files.key)
        assert given.refresh()
        assert await asked(target, ClientTls(ca=stranger.ca_file))
        assert not await asked(target, ClientTls(ca=office.ca_file))


async def test_with_a_clients_authority_a_server_may_be_open_to_the_network(office: Office) -> None:
    settings = ServerSettings(host="0.0.0.0", port=0)  # noqa: S104  the point of the test
    async with HotlineServer(ScriptedDesk(), settings, certificates=certificates(office, client_ca=office.ca_file)) as server:
        assert server.port
    with pytest.raises(ConfigWrong, match="no token"):
        async with HotlineServer(ScriptedDesk(), settings, certificates=certificates(office)):
            pass


# ---------------------------------------------------------------- HTTP


def browser(ca: Path, cert: Path | None = None, key: Path | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(ca))
    if cert is not None:
        context.load_cert_chain(cert, key)
    return context


async def got(given: Certificates, context: ssl.SSLContext) -> bool:
    async with serving(certificates=given, tls=context) as place:
        try:
            reply = await place.ask()
        except SAYS_IT_IS_OVER:
            return False
        assert "max-age" in reply.headers["strict-transport-security"]
        return reply.status == 200


async def test_https_serves_who_knows_the_authority(office: Office, stranger: Office) -> None:
    given = certificates(office)
    assert await got(given, browser(office.ca_file))
    assert not await got(given, browser(stranger.ca_file))


async def test_https_with_a_clients_authority_needs_a_certificate_of_it(office: Office, stranger: Office) -> None:
    given = certificates(office, client_ca=office.ca_file)
    assert await got(given, browser(office.ca_file, *office.write("web")))
    assert not await got(given, browser(office.ca_file))
    assert not await got(given, browser(office.ca_file, *stranger.write("web")))


async def test_http_in_clear_against_https_is_refused(office: Office) -> None:
    async with serving(certificates=certificates(office)) as place:
        reader, writer = await place.open(b"GET /healthz HTTP/1.1\r\nhost: h\r\n\r\n")
        async with asyncio.timeout(20):
            said = await reader.read()
        assert b"200" not in said
        writer.close()


async def test_https_of_an_old_version_is_refused(office: Office) -> None:
    old = browser(office.ca_file)
    old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    assert not await got(certificates(office), old)


async def test_https_changes_its_certificate_and_whom_it_trusts_while_it_runs(office: Office, stranger: Office) -> None:
    client_ca = office.folder / "clients.pem"
    client_ca.write_bytes(office.ca_file.read_bytes())
    given = certificates(office, client_ca=client_ca)
    ours, theirs = office.write("web"), stranger.write("web")
    async with serving(certificates=given, tls=browser(office.ca_file, *ours)) as place:
        assert (await place.ask()).status == 200
        for new, there in zip(stranger.write("server"), (given.files.cert, given.files.key), strict=True):
            new.replace(there)
        client_ca.write_bytes(stranger.ca_file.read_bytes())
        assert given.refresh()
        with pytest.raises(ssl.SSLError):
            await place.ask()
        place.tls = browser(stranger.ca_file, *ours)  # knows the server, and is no longer known to it
        with pytest.raises(SAYS_IT_IS_OVER):
            await place.ask()
        place.tls = browser(stranger.ca_file, *theirs)
        assert (await place.ask()).status == 200


# ---------------------------------------------------------------- files


def missing(_office: Office, files: dict[str, Path]) -> None:
    files["cert"].unlink()


def a_folder(office: Office, files: dict[str, Path]) -> None:
    files["key"] = office.folder


def no_pem(_office: Office, files: dict[str, Path]) -> None:
    files["cert"].write_text("hello")


def no_key(_office: Office, files: dict[str, Path]) -> None:
    files["key"].write_bytes(files["cert"].read_bytes())


def cut_off(_office: Office, files: dict[str, Path]) -> None:
    files["cert"].write_bytes(files["cert"].read_bytes()[:300])


def another_key(office: Office, files: dict[str, Path]) -> None:
    files["key"] = office.write("other")[1]


def expired(office: Office, files: dict[str, Path]) -> None:
    files["cert"], files["key"] = office.write("old", not_before=utc_now() - 9 * DAY, not_after=utc_now() - DAY)


def of_tomorrow(office: Office, files: dict[str, Path]) -> None:
    files["cert"], files["key"] = office.write("new", not_before=utc_now() + DAY)


def no_authority(office: Office, files: dict[str, Path]) -> None:
    files["client_ca"] = files["key"]


def encrypted(_office: Office, files: dict[str, Path]) -> None:
    pem = files["key"].read_text()
    body = pem.splitlines()[1:-1]
    head = [
        "-----BEGIN RSA PRIVATE KEY-----",
        "Proc-Type: 4,ENCRYPTED",
        "DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF",
        "",
    ]
    files["key"].write_text("\n".join([*head, *body, "-----END RSA PRIVATE KEY-----", ""]))


@pytest.mark.parametrize(
    ("spoil", "told", "mend"),
    [
        (missing, "server.tls_cert: {cert} can't be read (No such file or directory)", "PEM file"),
        (a_folder, "server.tls_key: {key} can't be read (Is a directory)", "PEM file"),
        (no_pem, "server.tls_cert: {cert} holds no certificate in PEM form", "BEGIN"),
        (cut_off, "server.tls_cert: {cert} holds no certificate in PEM form", "BEGIN"),
        (no_key, "server.tls_key: {key} holds no private key in PEM form", "BEGIN"),
        (another_key, "server.tls_key: {key} is not the key of {cert}", "made with"),
        (expired, "server.tls_cert: {cert} has expired", "renew"),
        (of_tomorrow, "server.tls_cert: {cert} is not valid yet", "clock"),
        (no_authority, "server.tls_client_ca: {client_ca} holds no certificate in PEM form", "BEGIN"),
        (encrypted, "server.tls_key: the key is encrypted", "decrypt"),
    ],
)
def test_files_that_cannot_serve_are_told(
    office: Office, spoil: Callable[[Office, dict[str, Path]], None], told: str, mend: str
) -> None:
    cert, key = office.write("server")
    paths = {"cert": cert, "key": key, "client_ca": office.ca_file}
    spoil(office, paths)
    files = tls_files(*(str(paths[name]) for name in ("cert", "key", "client_ca")), section="server")
    assert files is not None
    with pytest.raises(ConfigWrong) as wrong:
        Certificates(files)
    assert str(wrong.value) == told.format(**paths)
    assert mend in wrong.value.what_to_do


@pytest.mark.parametrize(("given", "told"), [(("c", "", ""), "tls_key"), (("", "k", ""), "tls_cert"), (("", "", "a"), "tls_cert")])
def test_half_of_the_settings_is_refused(given: tuple[str, str, str], told: str) -> None:
    with pytest.raises(ConfigWrong, match=f"{told} is missing"):
        tls_files(*given, section="http")
    assert tls_files("", "", "", section="http") is None


def test_files_that_change_for_the_worse_are_told_once_and_the_old_ones_stay(office: Office) -> None:
    given = certificates(office)
    before = given.files.cert.read_bytes()
    given.files.cert.write_text("oops")
    with capture_logs() as told:
        assert not given.refresh()
        assert not given.refresh()
    assert [each["event"] for each in told] == ["certificate_not_taken"]
    given.files.cert.write_bytes(before)
    assert given.refresh()


async def test_a_change_is_seen_at_once_when_asked_to(office: Office) -> None:
    given = certificates(office)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(given.run())
        cert, key = office.write("next")
        cert.replace(given.files.cert)
        key.replace(given.files.key)
        given.again.set()
        async with asyncio.timeout(20):
            while given.again.is_set() or not _serves(given, given.files.cert):  # noqa: ASYNC110  watched from outside
                await asyncio.sleep(0.01)
        running.cancel()


def _serves(given: Certificates, cert: Path) -> bool:
    return given._now.cert == cert.read_bytes()


def test_a_client_needs_both_halves_of_its_certificate(office: Office) -> None:
    cert, _ = office.write("gateway")
    with pytest.raises(ConfigWrong, match="go together"):
        channel_credentials(ClientTls(cert=cert))
    with pytest.raises(ConfigWrong, match="--ca"):
        channel_credentials(ClientTls(ca=office.folder / "none.pem"))


async def test_a_recording_is_replayed_over_mtls(office: Office, tmp_path: Path) -> None:
    path, told = tmp_path / "call.wav", list[str]()
    write_wav(path, np.zeros(4000, np.float32), 8000)
    cert, key = office.write("gateway")
    async with phone(certificates(office, client_ca=office.ca_file)) as target:
        plain = ReplaySettings(target=target, out_dir=tmp_path / "out", tail_s=0.2)
        tls = ClientTls(ca=office.ca_file, cert=cert, key=key)
        assert await replay_files([path], replace(plain, tls=tls), tell=told.append) == 0
        assert await replay_files([path], plain, tell=told.append) == 1


def test_tls_is_for_a_server_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["replay", str(tmp_path / "a.wav"), "--tls"]) == 1
    assert "--target HOST:PORT" in capsys.readouterr().err
