"""`hotline serve`: settings → desk → gRPC server, until SIGTERM has drained it."""

from __future__ import annotations

import asyncio
import socket
import sys

import structlog

from hotline.compose import open_desk
from hotline.config import Settings
from hotline.desk import ServerSettings
from hotline.errors import PortTaken
from hotline.metrics import serve_metrics
from hotline.models import resolve
from hotline.server import serve
from hotline.transport import bind_address

log = structlog.get_logger()

SWITCH_INTERVAL_S = 0.001  # a worker that holds the interpreter gives it to the pacing loop after 1 ms, not 5


async def serve_calls(settings: Settings) -> int:
    """Start everything, answer calls, drain on SIGTERM. Returns the exit code."""
    _fail_early(settings)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    if settings.metrics.port:
        serve_metrics(settings.metrics.port)
    async with open_desk(settings, tell=lambda line: log.info("starting", step=line)) as desk:
        ready = asyncio.Event()
        ready.set()
        log.info("desk_open", voice=desk.voice)
        await serve(desk, settings.server, ready=ready)
    return 0


def _fail_early(settings: Settings) -> None:
    """What would stop the server after a minute of warm-up stops it now. Raises ConfigWrong, ModelMissing, PortTaken."""
    bind_address(settings.server.host, settings.server.port, token=settings.server.token)
    resolve(settings.hearing.model)
    if settings.hearing.vad == "silero":
        resolve("silero-vad")
    _refuse_taken(settings.server)


def _refuse_taken(server: ServerSettings) -> None:
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    try:
        socket.create_server((server.host, server.port), family=family).close()
    except OSError as error:
        raise PortTaken(
            f"{server.host}:{server.port} can't be bound ({error.strerror})", what_to_do="stop the other server, or set server.port"
        ) from None
