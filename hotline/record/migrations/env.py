"""For the `alembic` command line only (writing a new revision): `hotline` itself migrates through hotline/record/migrate.py."""

from __future__ import annotations

from alembic import context
from alembic.operations import Operations
from sqlalchemy import create_engine

from hotline.record.tables import metadata

with create_engine(context.config.get_main_option("sqlalchemy.url") or "sqlite://").connect() as connection:
    context.configure(connection=connection, target_metadata=metadata)
    with context.begin_transaction():
        context.run_migrations(op=Operations(context.get_context()))
