"""A small MQTT broker inside the server, for a machine that has none: a port on loopback, no files. Knows no topics.

It forgets everything when it stops; offers don't: they wait in the record until a broker acknowledges them.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import structlog
from amqtt.broker import Broker
from amqtt.contexts import BrokerConfig, ListenerConfig
from amqtt.errors import BrokerError

from hotline.handoff.types import BrokerRefused, BrokerUnavailable, MqttSettings

log = structlog.get_logger()

__all__ = ["MqttSettings", "embedded_broker", "running_broker"]

_MAX_CONNECTIONS = 64
_STOP_WITHIN_S = 3.0


class _Broker(Broker):  # type: ignore[misc]  # amqtt has no types
    """Ends for certain: a client that leaves during its greeting makes amqtt wait for ever, and leaves a socket open."""

    def __init__(self, config: BrokerConfig) -> None:
        super().__init__(config)
        self._connections: set[asyncio.StreamWriter] = set()
        self._alone = asyncio.Event()

    async def stream_connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, listener_name: str) -> None:
        """One client, from its first byte to its last."""
        self._connections.add(writer)
        self._alone.clear()
        try:
            await super().stream_connected(reader, writer, listener_name)
        finally:
            writer.close()
            self._connections.discard(writer)
            if not self._connections:
                self._alone.set()

    async def stop(self) -> None:
        """Hang up, then shut down, in a bounded time: amqtt waits in vain for a reader that it cancels before it began."""
        for writer in self._connections:
            writer.transport.abort()
        try:
            async with asyncio.timeout(_STOP_WITHIN_S):
                if self._connections:
                    await self._alone.wait()
                await self.shutdown()
        except TimeoutError:
            log.warning("broker_stopped_late", clients=len(self._connections))


@asynccontextmanager
async def embedded_broker(host: str = "127.0.0.1", port: int = 0) -> AsyncGenerator[int, None]:
    """A broker that listens while the body runs; gives its port. MQTT 3.1.1, no password, therefore loopback only.

    Raises BrokerRefused for another address, BrokerUnavailable when the port is taken.
    """
    if not _is_loopback(host):
        raise BrokerRefused(
            f"the embedded broker has no passwords and won't listen on {host}",
            what_to_do="bind it to 127.0.0.1, or run Mosquitto and set [mqtt] embedded = false",
        )
    for name in ("amqtt", "transitions"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # it logs each client's comings and goings, tracebacks included
    bind = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    listener = ListenerConfig(bind=bind, max_connections=_MAX_CONNECTIONS)
    plugins = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}
    broker = _Broker(BrokerConfig(listeners={"default": listener}, plugins=plugins))
    try:
        await broker.start()
    except BrokerError as error:
        raise BrokerUnavailable(
            f"the embedded broker can't listen on {bind} ({_cause(error)})", what_to_do="free the port, or set [mqtt] port = 0"
        ) from None
    try:
        yield _port_of(broker)
    finally:
        _listener(broker).close()  # at once, whatever becomes of the rest
        await asyncio.shield(broker.stop())  # amqtt leaves sockets open when it is cancelled half-way


@asynccontextmanager
async def running_broker(settings: MqttSettings) -> AsyncGenerator[MqttSettings, None]:
    """Settings of a broker to talk to: the embedded one, started here with its real port, or the named one as it is."""
    if not settings.embedded:
        yield settings
        return
    async with embedded_broker(settings.host, settings.port) as port:
        yield replace(settings, port=port)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _port_of(broker: Broker) -> int:
    return int(_listener(broker).sockets[0].getsockname()[1])


def _listener(broker: Broker) -> asyncio.Server:
    server: asyncio.Server = broker._servers["default"].instance  # noqa: SLF001  amqtt has no other way to tell the port it got
    return server


def _cause(error: BaseException) -> str:
    return type(error.__cause__).__name__ if error.__cause__ else "no reason given"
