"""The HTTP door's settings, and what it asks of the rest. Knows no route."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from hotline.desk import HIGHEST_PORT, CallDesk
from hotline.lines import CallStart
from hotline.parts import Hearing, Speaking

_NUMBER = re.compile(r"\+?\d{2,20}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The HTTP door; port 0: none. tls_*: left empty, the gRPC server's. rate_per_minute, burst: of a token, and of an address.

    session_idle_s, max_sessions: of conversations, in memory. cors_origins: pages that may ask from a browser. trusted_proxies:
    whose X-Forwarded-For is believed. person_number: what a mini-program should dial when a person is needed.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    tls_cert: str = ""
    tls_key: str = ""
    tls_client_ca: str = ""
    rate_per_minute: int = 60
    burst: int = 20
    max_asks: int = 8
    max_speech: int = 2
    max_connections: int = 512
    max_speech_bytes: int = 12 << 20
    max_speech_s: int = 60
    body_within_s: int = 20
    speech_deadline_s: int = 60
    session_idle_s: int = 300
    max_sessions: int = 1000
    cors_origins: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    person_number: str = "12345"
    spoken_label: str = "本语音由人工智能合成。"

    def __post_init__(self) -> None:
        """Refuse what can't serve."""
        if not 0 <= self.port <= HIGHEST_PORT:
            raise ValueError(f"port must be 0 (none) to {HIGHEST_PORT}")
        counts = ("rate_per_minute", "burst", "max_asks", "max_speech", "max_connections", "max_speech_bytes", "max_sessions")
        for name in (*counts, "max_speech_s", "body_within_s", "speech_deadline_s", "session_idle_s"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        for origin in self.cors_origins:
            parts = urlsplit(origin)
            if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path or "*" in origin:
                raise ValueError("cors_origins: write each page's origin, such as https://www.example.org, and no *")
        for proxy in self.trusted_proxies:
            ipaddress.ip_network(proxy)
        if self.person_number and not _NUMBER.fullmatch(self.person_number):
            raise ValueError("person_number must be digits")
        if not self.spoken_label.strip():
            raise ValueError("spoken_label must say that a machine speaks")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpDesk:
    """Who answers. hear, speech None: no recordings are taken."""

    desk: CallDesk
    hear: Callable[[CallStart, Callable[[], int]], Hearing] | None = None
    speech: Speaking | None = None
    ask_deadline_s: int = 60
    not_understood: str = "抱歉，我没有听清，请您再说一遍。"
