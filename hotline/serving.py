"""`hotline serve`: settings → desk → gRPC server, until SIGTERM has drained it."""

from __future__ import annotations

import asyncio

import structlog

from hotline.compose import open_desk
from hotline.config import Settings
from hotline.metrics import serve_metrics
from hotline.server import serve

log = structlog.get_logger()


async def serve_calls(settings: Settings) -> int:
    """Start everything, answer calls, drain on SIGTERM. Returns the exit code."""
    if settings.metrics.port:
        serve_metrics(settings.metrics.port)
    async with open_desk(settings, tell=lambda line: log.info("starting", step=line)) as desk:
        ready = asyncio.Event()
        ready.set()
        log.info("desk_open", voice=desk.voice)
        await serve(desk, settings.server, ready=ready)
    return 0
