"""`hotline serve`: settings → desk → gRPC server and HTTP door, until SIGTERM has drained them."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from hotline.access import AccessBook
from hotline.certificates import Certificates, tls_files
from hotline.compose import Desk, open_desk
from hotline.config import Settings
from hotline.errors import PortTaken
from hotline.http.server import HttpServer
from hotline.http.types import HttpDesk
from hotline.metrics import serve_metrics
from hotline.models import resolve
from hotline.record.store import Store
from hotline.record.tokens import TokenTable
from hotline.server import serve
from hotline.tasks import BackgroundTasks
from hotline.transport import bind_address, is_loopback

log = structlog.get_logger()

SWITCH_INTERVAL_S = 0.001  # a worker that holds the interpreter gives it to the pacing loop after 1 ms, not 5


async def serve_calls(settings: Settings) -> int:
    """Start everything, answer calls, drain on SIGTERM. Returns the exit code."""
    calls, questions = await asyncio.to_thread(_certificates, settings)
    await _fail_early(settings, calls, questions)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    if settings.metrics.port:
        serve_metrics(settings.metrics.port)
    async with open_desk(settings, tell=lambda line: log.info("starting", step=line)) as desk, BackgroundTasks() as background:
        book = await AccessBook.open(token=settings.server.token, tokens=TokenTable(desk.store.database))
        background.start(book.run(), name="access")
        log.info("desk_open", voice=desk.voice)
        async with _rereading({each for each in (calls, questions) if each is not None}, background), AsyncExitStack() as stack:
            doors = []
            if settings.http.port:
                http = HttpServer(_http_desk(desk, settings), settings.http, book=book, certificates=questions)
                doors.append(await stack.enter_async_context(http))
            await serve(desk, settings.server, book=book, certificates=calls, doors=doors)
    return 0


def _http_desk(desk: Desk, settings: Settings) -> HttpDesk:
    return HttpDesk(
        desk=desk,
        hear=desk.hear_aside,
        speech=desk.parts.speech,
        ask_deadline_s=settings.server.ask_deadline_s,
        not_understood=settings.phrases.not_understood[0],
    )


def _certificates(settings: Settings) -> tuple[Certificates | None, Certificates | None]:
    """For calls and for questions. Raises ConfigWrong."""
    server, http = settings.server, settings.http
    of_calls = tls_files(server.tls_cert, server.tls_key, server.tls_client_ca, section="server")
    of_questions = tls_files(http.tls_cert, http.tls_key, http.tls_client_ca, section="http") if http.port else None
    calls = Certificates(of_calls) if of_calls else None
    return calls, Certificates(of_questions) if of_questions else calls


@asynccontextmanager
async def _rereading(certificates: set[Certificates], background: BackgroundTasks) -> AsyncGenerator[None, None]:
    """Look whether files changed; SIGHUP: at once."""
    if not certificates:
        yield
        return
    for each in certificates:
        background.start(each.run(), name="certificates")
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, _look_again, certificates)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)


def _look_again(certificates: set[Certificates]) -> None:
    for each in certificates:
        each.again.set()


async def _fail_early(settings: Settings, calls: Certificates | None, questions: Certificates | None) -> None:
    """What would stop the server after a minute of warm-up stops it now.

    Raises ConfigWrong, ModelMissing, PortTaken, RecordError.
    """
    has_tokens = await _has_tokens(settings.record.url) if not settings.server.token else True
    places = [("server", settings.server.host, settings.server.port, calls)]
    if settings.http.port:
        places.append(("http", settings.http.host, settings.http.port, questions))
    for section, host, port, certificates in places:
        is_guarded = has_tokens or (certificates is not None and certificates.asks_clients)
        bind_address(host, port, token=settings.server.token, is_guarded=is_guarded, section=section)
        _refuse_taken(section, host, port)
        if certificates is None and not is_loopback(host):
            log.warning(
                "no_tls", section=section, what_to_do=f"tokens and questions cross the network in clear: set {section}.tls_cert"
            )
    resolve(settings.hearing.model)
    if settings.hearing.vad == "silero":
        resolve("silero-vad")


async def _has_tokens(url: str) -> bool:
    store = await Store.connect(url)
    try:
        await store.migrate()
        return bool(await TokenTable(store.database).all())
    finally:
        await store.close()


def _refuse_taken(section: str, host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    mend = f"stop the other server, or set {section}.port" + (" (0: no HTTP)" if section == "http" else "")
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise PortTaken(f"{host}:{port} can't be bound ({error.strerror})", what_to_do=mend) from None
