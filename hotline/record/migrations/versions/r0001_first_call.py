"""Calls, turns, offers, their events, the outbox and the ticket numbers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    _calls(op)
    _offers(op)
    _outbox(op)


def _calls(op: Operations) -> None:
    op.create_table(
        "calls",
        sa.Column("call_id", sa.String(length=128), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("trunk", sa.String(length=128), nullable=False),
        sa.Column("masked_caller", sa.String(length=64), nullable=False),
        sa.Column("dialled_number", sa.String(length=64), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("end_reason", sa.String(length=64), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("call_id"),
    )
    op.create_index("calls_by_start", "calls", ["started_at"], unique=False)
    op.create_table(
        "turns",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("call_id", sa.String(length=128), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("reply_id", sa.Integer(), nullable=False),
        sa.Column("masked_text", sa.Text(), nullable=False),
        sa.Column("route", sa.String(length=64), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("source_ids", sa.Text(), nullable=False),
        sa.Column("heard_reply", sa.Text(), nullable=False),
        sa.Column("unheard_reply", sa.Text(), nullable=False),
        sa.Column("interrupted", sa.Boolean(), nullable=False),
        sa.Column("explain", sa.Text(), nullable=False),
        sa.Column("caller_last_speech_ms", sa.Integer(), nullable=True),
        sa.Column("vad_end_ms", sa.Integer(), nullable=True),
        sa.Column("turn_decided_ms", sa.Integer(), nullable=True),
        sa.Column("asr_final_ms", sa.Integer(), nullable=True),
        sa.Column("route_decided_ms", sa.Integer(), nullable=True),
        sa.Column("first_token_ms", sa.Integer(), nullable=True),
        sa.Column("first_safe_clause_ms", sa.Integer(), nullable=True),
        sa.Column("first_tts_audio_ms", sa.Integer(), nullable=True),
        sa.Column("first_frame_sent_ms", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("call_id", "turn", "reply_id", name="turns_once"),
    )
    op.create_table(
        "call_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("call_id", sa.String(length=128), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("call_events_by_call", "call_events", ["call_id"], unique=False)


def _offers(op: Operations) -> None:
    op.create_table(
        "offers",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("ticket", sa.String(length=32), nullable=False),
        sa.Column("call_id", sa.String(length=128), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("skill", sa.String(length=64), nullable=False),
        sa.Column("reason", sa.String(length=64), nullable=False),
        sa.Column("urgent", sa.Boolean(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("turns", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("offers_by_call", "offers", ["call_id"], unique=False)
    op.create_table(
        "tickets",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("day", sa.String(length=6), nullable=False),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "day"),
    )


def _outbox(op: Operations) -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("offer_id", sa.String(length=64), nullable=True),
        sa.Column("event_id", sa.Integer(), nullable=True),
        sa.Column("urgent", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_error", sa.String(length=64), server_default="", nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("outbox_unsent", "outbox", ["sent_at", "due_at"], unique=False)


def downgrade(op: Operations) -> None:
    for table in ("tickets", "outbox", "offers", "call_events", "turns", "calls"):
        op.drop_table(table)
