"""What both ends of a gRPC connection agree on: keepalive, sizes, the bearer token, who may bind where. Knows no call."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio

from hotline.access import AccessBook, Holder, Scope, bearer_of
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


def bind_address(host: str, port: int, *, token: str, is_guarded: bool = False, section: str = "server") -> str:
    """host:port. is_guarded: by tokens of the record, or by clients' certificates.

    Raises ConfigWrong when others could reach a server that asks for neither.
    """
    if not (token or is_guarded or is_loopback(host)):
        raise ConfigWrong(
            f"{host} can be reached from outside, and no token is set",
            what_to_do=f"make one (hotline access new), set server.token (HOTLINE_SERVER__TOKEN), or {section}.host to 127.0.0.1",
        )
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it. A name that is not localhost may be anybody."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


if TYPE_CHECKING:
    _Details = grpc.HandlerCallDetails
    _Handler = grpc.RpcMethodHandler[Any, Any]  # of any method


_SCOPE_OF = {"Converse": Scope.CALLS, "Ask": Scope.ASK, "Draft": Scope.ASK}  # whatever else there is, any token opens


class Guard(grpc.aio.ServerInterceptor):
    """Lets in who presents a token that opens the method; health checks need none, so that a probe needn't hold a secret."""

    def __init__(self, book: AccessBook) -> None:
        """book: asked at each stream's start, so a revoked token opens no new one."""
        self._book = book
        # they answer at once, without waiting for the client's first message
        self._unknown: _Handler = grpc.stream_stream_rpc_method_handler(_unauthenticated)
        self._forbidden: _Handler = grpc.stream_stream_rpc_method_handler(_out_of_scope)

    async def intercept_service(
        self, continuation: Callable[[_Details], Awaitable[_Handler | None]], handler_call_details: _Details
    ) -> _Handler | None:
        """Compare in constant time; a token newer than the list is looked up."""
        method = handler_call_details.method or ""
        if not method.startswith(HEALTH_METHODS) and self._book.is_needed:
            holder = await self._holder(handler_call_details.invocation_metadata or ())
            if holder is None:
                return self._unknown
            wanted = _SCOPE_OF.get(method.rpartition("/")[2])
            if wanted is not None and not holder.scope.allows(wanted):
                return self._forbidden
        return await continuation(handler_call_details)

    async def _holder(self, metadata: Sequence[tuple[str, str | bytes]]) -> Holder | None:
        for key, value in metadata:
            header = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
            if key == "authorization" and (holder := await self._book.admit(bearer_of(header))) is not None:
                return holder
        return None


async def _unauthenticated(_frames: object, context: grpc.aio.ServicerContext[object, object]) -> None:
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, "send the metadata `authorization: Bearer TOKEN` with this server's token")


async def _out_of_scope(_frames: object, context: grpc.aio.ServicerContext[object, object]) -> None:
    await context.abort(
        grpc.StatusCode.PERMISSION_DENIED, "this token doesn't open this: make one of another scope (hotline access new)"
    )
