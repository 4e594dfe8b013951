"""What both ends of a gRPC connection agree on: keepalive, sizes, the bearer token, who may bind where. Knows no call."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio

from hotline.errors import ConfigWrong

Options = list[tuple[str, int]]

# Time-out and ping time-out together decide when a silent peer is given up: at most 2.5 + 2.5 s (without
# ping_timeout_ms, grpcio 1.85 notices a link that keeps TCP open and forwards nothing only after 60 s).
KEEPALIVE_MS = 2500
PING_TIMEOUT_MS = 2500
HEALTH_METHODS = "/grpc.health.v1.Health/"


def channel_options() -> Options:
    """For clients: notice a dead server within about 5 s, also while nothing is being said; find a new one within about 1 s."""
    return [
        *_keepalive(),
        # by default gRPC waits longer and longer, up to two minutes, before it tries a server again
        ("grpc.initial_reconnect_backoff_ms", 200),
        ("grpc.max_reconnect_backoff_ms", 1000),
    ]


def server_options(max_frame_bytes: int) -> Options:
    """For servers: the same keepalive, and tolerance for the clients' pings (half their period)."""
    return [
        *_keepalive(),
        # this name works; the look-alike min_recv_ping_interval_without_data_ms has no effect
        ("grpc.http2.min_ping_interval_without_data_ms", KEEPALIVE_MS // 2),
        ("grpc.max_receive_message_length", max_frame_bytes),
        ("grpc.so_reuseport", 0),  # a second server on the port is an error, not a lottery
    ]


def _keepalive() -> Options:
    return [
        ("grpc.keepalive_time_ms", KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", PING_TIMEOUT_MS),
        ("grpc.http2.ping_timeout_ms", PING_TIMEOUT_MS),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
    ]


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """A client's metadata for a token; none for none."""
    return (("authorization", f"Bearer {token}"),) if token else ()


def bind_address(host: str, port: int, *, token: str) -> str:
    """host:port for gRPC. Raises ConfigWrong when others could reach a server that asks for no token."""
    if not token and not _is_loopback(host):
        raise ConfigWrong(
            f"{host} can be reached from outside, and no token is set",
            what_to_do="set server.token (HOTLINE_SERVER__TOKEN), or server.host to 127.0.0.1",
        )
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


if TYPE_CHECKING:
    _Details = grpc.HandlerCallDetails
    _Handler = grpc.RpcMethodHandler[Any, Any]  # of any method


class BearerToken(grpc.aio.ServerInterceptor):
    """Lets in who presents the token; health checks need none, so that a probe needn't hold a secret."""

    def __init__(self, token: str) -> None:
        """token: not empty."""
        self._wanted = token.encode()
        # answers at once, without waiting for the client's first message
        self._refusal: _Handler = grpc.stream_stream_rpc_method_handler(_unauthenticated)

    async def intercept_service(
        self, continuation: Callable[[_Details], Awaitable[_Handler | None]], handler_call_details: _Details
    ) -> _Handler | None:
        """Compare in constant time."""
        method = handler_call_details.method or ""
        if method.startswith(HEALTH_METHODS) or self._known(handler_call_details.invocation_metadata or ()):
            return await continuation(handler_call_details)
        return self._refusal

    def _known(self, metadata: Sequence[tuple[str, str | bytes]]) -> bool:
        for key, value in metadata:
            raw = value if isinstance(value, bytes) else value.encode()
            scheme, _, token = raw.partition(b" ")
            if key == "authorization" and scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._wanted):
                return True
        return False


async def _unauthenticated(_frames: object, context: grpc.aio.ServicerContext[object, object]) -> None:
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, "send the metadata `authorization: Bearer TOKEN` with this server's token")
