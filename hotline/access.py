"""Access tokens: who may call and ask. A presented token in, its holder out; knows no database, no gRPC and no HTTP.

A token holds 256 random bits, so a fast hash keeps it as well as a slow one would: nobody tries them all, and each request costs
microseconds. The record holds the SHA-256 alone. A running server keeps the list in memory and reads it anew every two seconds, so
that a revoked token ends within these; for a token that it doesn't know it reads the list at once, so that a fresh one opens at
once. However many unknown ones come, they share one read at a time, and two reads a second.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import hashlib
import hmac
import math
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self

import structlog

from hotline.clock import utc_now
from hotline.errors import HotlineError, explain

PREFIX = "hl_"  # by which scanners find a token that leaked
REFRESH_S = 2.0
AGAIN_S = 0.5  # between reads for unknown tokens
KNOWN_WITHIN_S = 2.0  # then an unknown token is refused, whatever the record does
_FORM = re.compile(r"hl_[A-Za-z0-9_-]{43}")
_RANDOM_BYTES = 32
_LONGEST = 512  # of what is presented: more is no token of anybody's

_log = structlog.get_logger("hotline.access")


class AccessWrong(HotlineError):
    """A token can't be made or found."""

    code = "access.wrong"


class Scope(enum.StrEnum):
    """What a token opens."""

    CALLS = "calls"
    ASK = "ask"
    ALL = "all"

    def allows(self, wanted: Scope) -> bool:
        """Whether it opens that."""
        return self in {wanted, Scope.ALL}


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """A token as the record has it: all but the token. last_used: a day (UTC), empty for never."""

    id: str
    name: str
    scope: Scope
    digest: str
    created_at: dt.datetime
    expires_at: dt.datetime | None = None
    revoked_at: dt.datetime | None = None
    last_used: str = ""

    def is_live(self, at: dt.datetime) -> bool:
        """Neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or at < self.expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who presented a token. id: of the token, fit for logs."""

    id: str
    scope: Scope


class Tokens(Protocol):
    """Where tokens are kept."""

    async def all(self) -> list[AccessToken]:
        """Every token that ever was. Raises RecordError."""
        ...

    async def used(self, days: Mapping[str, str]) -> None:
        """Keep the day of each token's last use. Raises RecordError."""
        ...


def new_token() -> str:
    """A fresh secret, to be shown once."""
    return PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def digest_of(token: str) -> str:
    """What the record keeps of it."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def bearer_of(header: str) -> str:
    """The token of an `authorization` header, empty where it holds none."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


class AccessBook:
    """Who may enter. token: the setting's, which opens everything. `run` beside the server keeps it fresh."""

    def __init__(self, *, token: str = "", tokens: Tokens | None = None) -> None:
        self._setting = digest_of(token) if token else ""
        self._tokens = tokens
        self._known: dict[str, AccessToken] = {}
        self._used: dict[str, str] = {}
        self._failing = False
        self._reading = asyncio.Lock()
        self._read_s = -math.inf  # when the last read began, on the loop's clock

    @classmethod
    async def open(cls, *, token: str, tokens: Tokens) -> Self:
        """Read once. Raises RecordError."""
        book = cls(token=token, tokens=tokens)
        await book.refresh()
        return book

    @property
    def is_needed(self) -> bool:
        """Whether a token is asked for: one is set, or one was ever made (revoking the last one opens nothing)."""
        return bool(self._setting or self._known)

    def holder(self, token: str) -> Holder | None:
        """Who presents this, if anybody may."""
        if not 0 < len(token) <= _LONGEST:
            return None
        digest = digest_of(token)
        if self._setting and hmac.compare_digest(digest, self._setting):
            return Holder(id="setting", scope=Scope.ALL)
        found, now = self._known.get(digest), utc_now()
        if found is None or not hmac.compare_digest(found.digest, digest) or not found.is_live(now):
            return None
        if found.last_used != (today := now.date().isoformat()):
            self._used[found.id] = today
        return Holder(id=found.id, scope=found.scope)

    async def admit(self, token: str) -> Holder | None:
        """Who presents this; a token that may be newer than the list is looked up in the record first. Bounded in time."""
        holder = self.holder(token)
        if holder is not None or self._tokens is None or not _FORM.fullmatch(token) or digest_of(token) in self._known:
            return holder
        try:
            async with asyncio.timeout(KNOWN_WITHIN_S):
                await self._read_since(asyncio.get_running_loop().time())
        except TimeoutError:
            return None
        except HotlineError as error:
            self._tell_stale(error)
        return self.holder(token)

    async def _read_since(self, asked_s: float) -> None:
        """See to a read that began after that moment: by whoever comes first, for all who wait. Raises RecordError."""
        async with self._reading:
            if self._read_s > asked_s:
                return
            now_s = asyncio.get_running_loop().time()
            await asyncio.sleep(max(0.0, self._read_s + AGAIN_S - now_s))
            await self._read()

    async def refresh(self) -> None:
        """Read the list, and keep the days of use. Raises RecordError."""
        if self._tokens is None:
            return
        used, self._used = self._used, {}
        if used:
            await self._tokens.used(used)
        async with self._reading:
            await self._read()

    async def _read(self) -> None:
        """One at a time: an older list never takes the place of a newer one."""
        if self._tokens is not None:
            self._read_s = asyncio.get_running_loop().time()
            self._known = {each.digest: each for each in await self._tokens.all()}

    async def run(self) -> None:
        """For ever. While the record is away the last list stays, so that no caller is turned away for it."""
        while True:
            await asyncio.sleep(REFRESH_S)
            try:
                await self.refresh()
            except HotlineError as error:
                self._tell_stale(error)
            else:
                self._failing = False

    def _tell_stale(self, error: HotlineError) -> None:
        """Once, until it can be read again."""
        if not self._failing:
            _log.warning("access_list_stale", code=explain(error).code)
        self._failing = True
