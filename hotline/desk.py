"""What the server asks of the one who runs calls, and the server's settings. Knows no wire and no room: both sides import it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from hotline.lines import Line

if TYPE_CHECKING:
    from hotline.conversation import Conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedQuestion:
    """The question as everything behind the masker sees it. First event of an answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRouted:
    """How the answer was found. confidence: 0 to 1."""

    route: str
    confidence: float
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskClause:
    """One checked clause."""

    text: str
    route: str
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskDone:
    """The answer is complete. reason: why a person should take over, where one should."""

    route: str
    needs_person: bool = False
    reason: str = ""


AskEvent = MaskedQuestion | AskRouted | AskClause | AskDone


class CallDesk(Protocol):
    """Runs calls. One desk serves all lines of a server; calls don't know of each other."""

    async def answer(self, line: Line) -> str:
        """Run one call to its end; the result is the end's reason. A broken line ends it without an error."""
        ...

    async def turn_away(self, line: Line) -> str:
        """Beyond capacity: a short message at once, then the human queue; the result is the end's reason."""
        ...

    def ask(self, question: str, conversation: Conversation | None = None) -> AsyncGenerator[AskEvent, None]:
        """Answer one typed question (raw: masked before anything else), as the next one of a conversation if there is one.

        Consume inside aclosing.
        """
        ...

    def converse(self) -> Conversation:
        """A written conversation of several questions."""
        ...


HIGHEST_PORT = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The gRPC server. token empty: loopback only. Beyond max_calls a caller is turned away, beyond twice that refused.

    tls_cert, tls_key: PEM paths, empty for none; tls_client_ca: clients need a certificate that it signed.
    """

    host: str = "127.0.0.1"
    port: int = 50051
    token: str = field(default="", repr=False)
    tls_cert: str = ""
    tls_key: str = ""
    tls_client_ca: str = ""
    max_calls: int = 8
    max_call_s: int = 1800
    max_asks: int = 8
    ask_deadline_s: int = 60
    drain_s: int = 30
    max_frame_bytes: int = 4 << 20

    def __post_init__(self) -> None:
        """Refuse what can't serve."""
        if not 0 <= self.port <= HIGHEST_PORT:
            raise ValueError(f"port must be 0 (any free one) to {HIGHEST_PORT}")
        if self.max_calls < 1 or self.max_asks < 1:
            raise ValueError("max_calls and max_asks must be at least 1")
        if self.max_call_s < 1 or self.drain_s < 0 or self.ask_deadline_s < 1:
            raise ValueError("max_call_s and ask_deadline_s must be at least 1, drain_s at least 0")
