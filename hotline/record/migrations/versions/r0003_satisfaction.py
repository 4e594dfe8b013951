"""What the caller thought of the call: a grade from 1 to 5, and whether it came by key or by voice."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    op.add_column("calls", sa.Column("satisfaction", sa.Integer(), nullable=True))
    op.add_column("calls", sa.Column("satisfaction_by", sa.String(length=8), nullable=True))


def downgrade(op: Operations) -> None:
    op.drop_column("calls", "satisfaction_by")
    op.drop_column("calls", "satisfaction")
