"""Conversations of those who ask: bounded, forgotten when they rest, in memory only. Knows no wire and no answers.

A session belongs to the token that began it: another token with the same id has another conversation. Ids are kept as digests,
for a client may use what it likes as one.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from hotline.conversation import Conversation


@dataclass(slots=True)
class _Session:
    conversation: Conversation
    used_s: float
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class Sessions:
    """By holder and id. idle_s: forgotten after that; most: then the longest unused goes."""

    def __init__(self, begin: Callable[[], Conversation], *, idle_s: float, most: int) -> None:
        self._begin = begin
        self._idle_s = idle_s
        self._most = most
        self._key = secrets.token_bytes(16)
        self._sessions: OrderedDict[bytes, _Session] = OrderedDict()

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._sessions)

    @asynccontextmanager
    async def taking_turns(self, holder: str, session_id: str) -> AsyncGenerator[Conversation, None]:
        """The conversation of this id, one question at a time; without an id, one of its own."""
        if not session_id:
            yield self._begin()
            return
        session = self._session(holder, session_id)
        session.users += 1
        try:
            async with session.turn:
                yield session.conversation
        finally:
            session.users -= 1
            session.used_s = asyncio.get_running_loop().time()

    def _session(self, holder: str, session_id: str) -> _Session:
        now_s = asyncio.get_running_loop().time()
        self._forget(now_s)
        key = hashlib.blake2b(f"{holder}\0{session_id}".encode("utf-8", "replace"), key=self._key, digest_size=16).digest()
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = _Session(self._begin(), now_s)
        self._sessions.move_to_end(key)
        return session

    def _forget(self, now_s: float) -> None:
        """The longest unused come first."""
        for key, session in list(self._sessions.items()):
            if session.users:
                continue
            if now_s - session.used_s <= self._idle_s and len(self._sessions) < self._most:
                break
            del self._sessions[key]
