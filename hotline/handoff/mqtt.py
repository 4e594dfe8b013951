"""Settings in, a connected MQTT client out, which says what a broker refused. Knows no topics and no record."""

from __future__ import annotations

import asyncio
import ssl
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiomqtt
from aiomqtt.exceptions import MqttConnectError
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from hotline.handoff.types import BrokerRefused, BrokerUnavailable, MqttSettings

_VERSIONS = {"3.1.1": aiomqtt.ProtocolVersion.V311, "5": aiomqtt.ProtocolVersion.V5}


class Connection(aiomqtt.Client):
    """aiomqtt takes every PUBACK for a yes, though an MQTT 5 broker may refuse in it. One publish at a time."""

    def __init__(self, settings: MqttSettings, *, role: str, tls_context: ssl.SSLContext | None) -> None:
        super().__init__(
            settings.host,
            settings.port,
            username=settings.username or None,
            password=settings.password or None,
            identifier=f"{role[:10]}-{uuid.uuid4().hex[:12]}",  # unique: an equal id throws the other one out
            protocol=_VERSIONS[settings.version],
            clean_session=True if settings.version == "3.1.1" else None,
            timeout=settings.answer_timeout_ms / 1000,
            keepalive=settings.keepalive_s,
            tls_context=tls_context,
        )
        self._refusal: str | None = None
        self._abandoned = False

    async def deliver(self, topic: str, payload: bytes) -> None:
        """Publish at QoS 1, never retained, and wait for the broker's acknowledgement.

        Raises BrokerUnavailable (it may have arrived or not: send it again) and BrokerRefused.
        """
        self._refusal = None
        try:
            await self.publish(topic, payload, qos=1)
        except aiomqtt.MqttError as error:
            raise BrokerUnavailable(f"the broker did not acknowledge ({error})", what_to_do="it is sent again") from None
        except ValueError as error:  # paho: topic or payload too long
            raise BrokerRefused(f"not a message for MQTT ({error})", what_to_do="report it") from None
        if self._refusal is not None:
            raise BrokerRefused(f"the broker refused a message ({self._refusal})", what_to_do="check the account's rights there")

    def abandon(self) -> None:
        """Close what is still open, also a socket that a cancelled connect opens later in its thread. Twice is fine."""
        self._abandoned = True
        self._client._sock_close()  # noqa: SLF001  paho's disconnect() waits for a writable socket and a live loop

    def _on_socket_open(self, client: Any, userdata: Any, sock: Any) -> None:  # noqa: ANN401
        super()._on_socket_open(client, userdata, sock)
        if self._abandoned:
            self._loop.call_soon_threadsafe(self.abandon)

    def _on_publish(self, client: Any, userdata: Any, mid: int, reason_code: ReasonCode, properties: Properties) -> None:  # noqa: ANN401
        if reason_code.is_failure:
            self._refusal = str(reason_code)
        super()._on_publish(client, userdata, mid, reason_code, properties)


@asynccontextmanager
async def connected(settings: MqttSettings, *, role: str) -> AsyncGenerator[Connection, None]:
    """A connection, closed at the end. Raises BrokerUnavailable or BrokerRefused, from connecting as from the body."""
    tls_context = await asyncio.to_thread(_tls_context, settings) if settings.tls else None
    connection = Connection(settings, role=role, tls_context=tls_context)
    try:
        await connection.__aenter__()
    except MqttConnectError as error:
        connection.abandon()
        raise BrokerRefused(
            f"the broker refused the connection ({error})", what_to_do="check [mqtt] username and password"
        ) from None
    except aiomqtt.MqttError as error:
        connection.abandon()
        raise BrokerUnavailable(
            f"no broker at {settings.host}:{settings.port} ({error})", what_to_do="start it, or set [mqtt] embedded = true"
        ) from None
    except asyncio.CancelledError:
        connection.abandon()
        raise
    try:
        async with _open(connection):
            yield connection
    except aiomqtt.MqttError as error:
        raise BrokerUnavailable(f"the broker hung up ({error})", what_to_do="check the broker's log") from None


@asynccontextmanager
async def _open(connection: Connection) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        with suppress(aiomqtt.MqttError):  # a goodbye that fails must not hide what ended the body, least of all a cancellation
            await connection.__aexit__(None, None, None)
        connection.abandon()  # aiomqtt leaves the socket open when the other side went first


def _tls_context(settings: MqttSettings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=settings.ca_file)
        if settings.cert_file is not None:
            context.load_cert_chain(settings.cert_file, settings.key_file)
    except OSError as error:
        raise BrokerRefused(
            f"the broker's certificates can't be read ({error.strerror})", what_to_do="check [mqtt] ca_file, cert_file and key_file"
        ) from None
    return context
