"""Alembic's scripts in, an upgraded database out, inside the caller's transaction. Knows no tables and no URL.

The scripts get Alembic's operations as an argument: its `op` is one for the whole process, and two stores may upgrade at once.
"""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext, RevisionStep
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text

from hotline.record.types import RecordUnavailable

SCRIPTS = Path(__file__).parent / "migrations"

# Any number, the same for every version of Hotline: two servers that start at once upgrade one after the other.
_UPGRADE_LOCK = 0x686F746C


def read_scripts() -> ScriptDirectory:
    """Every revision, loaded. Blocks."""
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    scripts = ScriptDirectory.from_config(config)
    scripts.get_heads()
    return scripts


def upgrade(connection: Connection, scripts: ScriptDirectory) -> None:
    """To the newest revision; nothing to do is fine. The caller's transaction commits it, or nothing of it.

    Raises RecordUnavailable when a newer Hotline wrote this database.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})

    def steps(revision: str, _context: MigrationContext) -> list[RevisionStep]:
        return list(scripts._upgrade_revs("head", revision))  # noqa: SLF001  what alembic.command.upgrade calls

    context = MigrationContext.configure(connection, opts={"fn": steps})
    try:
        context.run_migrations(op=Operations(context))
    except CommandError:
        raise RecordUnavailable(
            "the record was written by a newer Hotline", what_to_do="start that version, or name another [record] url"
        ) from None
