"""Access tokens in the record: their digests and what is known of them, never a token. Knows no server and no wire."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from sqlalchemy import Connection, RowMapping, insert, or_, select, update

from hotline.access import AccessToken, Scope
from hotline.clock import utc_now
from hotline.record.database import Database
from hotline.record.tables import access_tokens

_COLUMN = access_tokens.c


class TokenTable:
    """The tokens of one database, which several servers may share. Every method raises RecordError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> list[AccessToken]:
        """Every token that ever was, the oldest first."""
        return await self._database.read(_all)

    async def add(self, token: AccessToken) -> bool:
        """A new one. False: a live one is revoked by the same word, so this one isn't added."""
        return await self._database.write(_add, token, utc_now())

    async def revoke(self, id_or_name: str) -> int:
        """End the live tokens of this id or name, for good. How many there were."""
        return await self._database.write(_revoke, id_or_name, utc_now())

    async def used(self, days: Mapping[str, str]) -> None:
        """The day of each token's last use."""
        await self._database.write(_used, dict(days))


def _all(connection: Connection) -> list[AccessToken]:
    found = connection.execute(select(access_tokens).order_by(_COLUMN.created_at, _COLUMN.id))
    return [_token_of(row) for row in found.mappings()]


def _token_of(row: RowMapping) -> AccessToken:
    return AccessToken(**{**row, "scope": Scope(row["scope"])})


def _add(connection: Connection, token: AccessToken, at: dt.datetime) -> bool:
    words = (token.name, token.id)
    same = select(access_tokens).where(or_(_COLUMN.name.in_(words), _COLUMN.id.in_(words)))
    if any(_token_of(row).is_live(at) for row in connection.execute(same).mappings()):
        return False
    names = [column.name for column in access_tokens.columns]
    connection.execute(insert(access_tokens).values({name: getattr(token, name) for name in names}))
    return True


def _revoke(connection: Connection, id_or_name: str, at: dt.datetime) -> int:
    named = or_(_COLUMN.id == id_or_name, _COLUMN.name == id_or_name)
    ended = connection.execute(
        update(access_tokens).where(named, _COLUMN.revoked_at.is_(None)).values(revoked_at=at).returning(_COLUMN.id)
    )
    return len(ended.all())


def _used(connection: Connection, days: Mapping[str, str]) -> None:
    for token_id, day in days.items():
        connection.execute(update(access_tokens).where(_COLUMN.id == token_id, _COLUMN.last_used < day).values(last_used=day))
