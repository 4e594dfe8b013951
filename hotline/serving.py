"""`hotline serve`: settings → desk → gRPC server and HTTP door, until SIGTERM has drained them."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, nullcontext

import structlog

from hotline.access import AccessBook
from hotline.certificates import Certificates, tls_files
from hotline.compose import Desk, open_desk
from hotline.config import Settings
from hotline.desk import HIGHEST_PORT
from hotline.errors import PortTaken
from hotline.foreign_lines import as_events
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
    """Start everything, answer calls, drain on SIGTERM. Returns the exit code. A log in JSON holds nothing but JSON."""
    is_json = settings.log.form == "json"
    with as_events(form=settings.log.form, level=settings.log.level) if is_json else nullcontext():
        return await _serve(settings)


async def _serve(settings: Settings) -> int:
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
        if certificates is None and not is_loopback(host):
            log.warning(
                "no_tls", section=section, what_to_do=f"tokens and questions cross the network in clear: set {section}.tls_cert"
            )
    others = [("metrics", "127.0.0.1", settings.metrics.port)]
    if settings.mqtt.embedded:
        others.append(("mqtt", settings.mqtt.host, settings.mqtt.port))
    refuse_taken([*(place[:3] for place in places), *others])
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


def refuse_taken(places: Sequence[tuple[str, str, int]]) -> None:
    """Section of the settings, host, port (0: any). All are held at the same time: two of ours may want one. Raises PortTaken."""
    held: dict[int, str] = {}
    with ExitStack() as stack:
        for section, host, port in places:
            if not port:
                continue
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            try:
                stack.enter_context(socket.create_server((host, port), family=family))
            except OSError as error:
                why = f"{held[port]}.port has it" if port in held else os.strerror(error.errno or 0)
                raise PortTaken(f"{host}:{port} can't be bound for {section} ({why})", what_to_do=_mend(section, port)) from None
            held[port] = section


def _mend(section: str, port: int) -> str:
    """What to type."""
    other = f"HOTLINE_{section.upper()}__PORT={port + 1 if port < HIGHEST_PORT else port - 1}"
    none = f", or none: {section}.port = 0" if section in {"http", "metrics"} else ""
    return f"stop what listens there (ss -ltnp 'sport = :{port}' names it), or take another port: {other} hotline serve{none}"
