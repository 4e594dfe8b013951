"""Settings and errors of the hand-over. Knows no client library.

    HandoffError
    ├── BrokerUnavailable   nobody answers at the broker's address, or it hung up
    └── BrokerRefused       it answered and said no (password, rights, a listener beyond loopback)

Neither loses an offer: it stays in the record's outbox until a broker acknowledges it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hotline.errors import HotlineError

_VERSIONS = ("3.1.1", "5")
_HIGHEST_PORT = 65_535


class HandoffError(HotlineError):
    """The hand-over failed. ``code`` is stable; neither code nor message holds caller content."""

    code = "handoff.error"


class BrokerUnavailable(HandoffError):
    """Nobody answers at the broker's address, or it hung up."""

    code = "handoff.broker_unavailable"


class BrokerRefused(HandoffError):
    """The broker said no."""

    code = "handoff.broker_refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class MqttSettings:
    """The broker. embedded: run one here, on loopback (port 0: any free one). version: 3.1.1, or 5 (not the embedded one).

    tls: with ca_file (None: the system's) and, for mTLS, cert_file with key_file. Waits between connections: jittered, doubling.
    """

    host: str = "127.0.0.1"
    port: int = 1883
    embedded: bool = True
    username: str = ""
    password: str = field(default="", repr=False)
    tls: bool = False
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    version: str = "3.1.1"
    answer_timeout_ms: int = 5_000
    keepalive_s: int = 15
    reconnect_min_ms: int = 200
    reconnect_max_ms: int = 10_000
    poll_ms: int = 2_000

    def __post_init__(self) -> None:
        """Refuse what can't work."""
        if not self.host:
            raise ValueError("host must name the broker")
        if self.version not in _VERSIONS:
            raise ValueError(f"version must be one of {_VERSIONS}, not {self.version!r}")
        if self.embedded and (self.version != "3.1.1" or self.tls or self.username):
            raise ValueError("the embedded broker speaks MQTT 3.1.1 on loopback, without TLS and password: set embedded = false")
        if not (0 if self.embedded else 1) <= self.port <= _HIGHEST_PORT:
            raise ValueError(f"port must be 1 to {_HIGHEST_PORT} (0, any free one, only with embedded)")
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("cert_file and key_file come together")
        if not self.tls and (self.ca_file or self.cert_file):
            raise ValueError("ca_file and cert_file need tls = true")
        if not 0 < self.reconnect_min_ms <= self.reconnect_max_ms:
            raise ValueError("reconnect_min_ms must be above 0 and not above reconnect_max_ms")
        if self.answer_timeout_ms < 1 or self.keepalive_s < 1 or self.poll_ms < 1:
            raise ValueError("answer_timeout_ms, keepalive_s and poll_ms must be above 0")
