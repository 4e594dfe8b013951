"""The HTTP server beside the gRPC one, on the same loop: binds, serves, drains. Knows no route."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, Self, cast

import structlog
import uvicorn
from starlette.middleware.cors import CORSMiddleware

from hotline.access import AccessBook
from hotline.certificates import Certificates
from hotline.errors import PortTaken
from hotline.http.door import Door
from hotline.http.protocol import BoundedProtocol
from hotline.http.routes import make_app
from hotline.http.types import HttpDesk, HttpSettings
from hotline.transport import bind_address

GRACE_S = 5
MAX_HEAD_BYTES = 16 << 10
BACKLOG = 256

_log = structlog.get_logger("hotline.http")


class _Quiet(uvicorn.Server):
    """Leaves the signals to the one who serves calls."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


class HttpServer:
    """Use as `async with`; not ready until set_ready(True). port: the one really bound."""

    def __init__(
        self,
        desk: HttpDesk,
        settings: HttpSettings,
        *,
        book: AccessBook | None = None,
        certificates: Certificates | None = None,
    ) -> None:
        """Binds nothing yet. book None: no token is asked for. certificates None: no TLS."""
        self.port = 0
        self._settings = settings
        self._book = book or AccessBook()
        self._certificates = certificates
        is_guarded = certificates is not None and certificates.asks_clients
        deadline_s = max(desk.ask_deadline_s, settings.speech_deadline_s) + settings.body_within_s
        app: Any = make_app(desk, settings)
        self.door = Door(app, settings, self._book, is_guarded=is_guarded, deadline_s=deadline_s)
        self._is_guarded = is_guarded
        self._tasks = asyncio.TaskGroup()
        self._server = _Quiet(self._config())

    def _config(self) -> uvicorn.Config:
        certificates = self._certificates
        protocol = partial(BoundedProtocol, max_connections=self._settings.max_connections)
        app: Any = self.door
        if self._settings.cors_origins:
            app = CORSMiddleware(
                app,
                allow_origins=self._settings.cors_origins,
                allow_methods=["GET", "POST"],
                allow_headers=["authorization", "content-type", "accept"],
                expose_headers=["x-request-id", "retry-after"],
            )
        return uvicorn.Config(
            app,
            http=cast("type[asyncio.Protocol]", protocol),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,  # it would hold queries
            server_header=False,
            proxy_headers=bool(self._settings.trusted_proxies),
            forwarded_allow_ips=list(self._settings.trusted_proxies),
            timeout_graceful_shutdown=GRACE_S,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            ssl_context_factory=None if certificates is None else lambda _config, _default: certificates.context,
        )

    async def __aenter__(self) -> Self:
        """Bind and listen. Raises ConfigWrong, PortTaken."""
        host, token = self._settings.host, "set" if self._book.is_needed else ""
        address = bind_address(host, self._settings.port, token=token, is_guarded=self._is_guarded, section="http")
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            listener = socket.create_server((host, self._settings.port), family=family, backlog=BACKLOG)
        except OSError as error:
            raise PortTaken(
                f"{address} can't be bound ({error.strerror})", what_to_do="stop the other server, or set http.port (0: no HTTP)"
            ) from None
        self.port = int(listener.getsockname()[1])
        await self._tasks.__aenter__()
        self._tasks.create_task(self._server.serve(sockets=[listener]), name="http")
        while not self._server.started:  # noqa: ASYNC110  uvicorn has no event for it
            await asyncio.sleep(0.01)
        _log.info("listening", host=host, port=self.port, tls=self._certificates is not None)
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Close; what still runs is cut off after a few seconds."""
        await self.drain(within_s=0)
        self._server.should_exit = True
        await self._tasks.__aexit__(None, None, None)

    @property
    def connections(self) -> int:
        """Open now; who is being closed counts no more."""
        return sum(not isinstance(each, BoundedProtocol) or each.is_open for each in self._server.server_state.connections)

    async def set_ready(self, *, is_ready: bool) -> None:
        """Take questions, or not yet."""
        self.door.ready = is_ready

    async def drain(self, *, within_s: float) -> bool:
        """No new questions; wait for the running ones. True when all ended by themselves."""
        self.door.draining = True
        try:
            async with asyncio.timeout(within_s):
                await self.door.idle.wait()
        except TimeoutError:
            return False
        return True
