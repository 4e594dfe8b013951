"""Make, list and revoke access tokens in the record. Body of `hotline access`."""

from __future__ import annotations

import datetime as dt
import re
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from hotline.access import AccessToken, AccessWrong, Scope, digest_of, new_token
from hotline.clock import utc_now
from hotline.record.store import Store
from hotline.record.tokens import TokenTable
from llm.privacy_labels import names_somebody

_NAME = re.compile(r"[\w.@-]{1,64}")
_SPAN = re.compile(r"(\d{1,5})([hdw])")
_UNIT = {"h": dt.timedelta(hours=1), "d": dt.timedelta(days=1), "w": dt.timedelta(weeks=1)}
_LONGEST = dt.timedelta(days=3660)
Tell = Callable[[str], None]


async def make_token(url: str, *, name: str, scope: Scope, expires: str, tell: Tell = print, note: Tell = print) -> int:
    """Make one and show it, this once; no two live ones have one name. expires: 90d, 12h, 8w or never. The exit code.

    Raises AccessWrong, RecordError.
    """
    if not _NAME.fullmatch(name):
        raise AccessWrong(
            "a token's name is 1 to 64 letters, digits, . _ @ or -", what_to_do="name who will hold it: --name trunk-1"
        )
    if names_somebody(name):
        raise AccessWrong("a token's name with a personal number would stand in logs and lists", what_to_do="name it by a word")
    token, now = new_token(), utc_now()
    made = AccessToken(
        id=secrets.token_hex(4),
        name=name,
        scope=scope,
        digest=digest_of(token),
        created_at=now,
        expires_at=_end_of(expires, now),
    )
    async with _table(url) as table:
        is_added = await table.add(made)
    if not is_added:
        raise AccessWrong(
            f"a live token has the name {name}: revoking goes by name, so no two may share one",
            what_to_do=f"take another name, such as {name}-2, or end the old one first: hotline access revoke {name}",
        )
    note(f"token {made.id} ({name}, {scope}, expires: {_until(made)}); it is shown this once:")
    tell(token)
    return 0


async def list_tokens(url: str, *, tell: Tell = print) -> int:
    """Every token that ever was, but the tokens. Raises RecordError. The exit code."""
    async with _table(url) as table:
        found = await table.all()
    now = utc_now()
    rows = [("id", "name", "scope", "made", "expires", "last used", "state")]
    rows += [
        (each.id, each.name, each.scope, _day(each.created_at), _until(each), each.last_used or "-", _state(each, now))
        for each in found
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        tell("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


async def revoke_tokens(url: str, id_or_name: str, *, tell: Tell = print) -> int:
    """End the tokens of this id or name; running servers refuse them within seconds. Raises AccessWrong, RecordError."""
    async with _table(url) as table:
        ended = await table.revoke(id_or_name)
    if not ended:
        raise AccessWrong("no live token has this id or name", what_to_do="hotline access list")
    tell(f"revoked: {ended}")
    return 0


@asynccontextmanager
async def _table(url: str) -> AsyncGenerator[TokenTable, None]:
    store = await Store.connect(url)
    try:
        await store.migrate()
        yield TokenTable(store.database)
    finally:
        await store.close()


def _end_of(expires: str, now: dt.datetime) -> dt.datetime | None:
    if expires == "never":
        return None
    match = _SPAN.fullmatch(expires)
    span = int(match[1]) * _UNIT[match[2]] if match else dt.timedelta()
    if not dt.timedelta() < span <= _LONGEST:
        raise AccessWrong(
            "an expiry is a number of hours, days or weeks up to ten years, or never",
            what_to_do="write --expires 90d, 12h, 8w or never",
        )
    return now + span


def _until(token: AccessToken) -> str:
    return _day(token.expires_at) if token.expires_at else "never"


def _day(at: dt.datetime) -> str:
    return at.date().isoformat()


def _state(token: AccessToken, now: dt.datetime) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "live" if token.is_live(now) else "expired"
