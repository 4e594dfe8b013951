"""Rows in, the record's types out, and back. Knows the tables' columns, no queries and no database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import RowMapping

from hotline.record.tables import STAMP_NAMES
from hotline.record.types import CallEvent, CallOpened, Offer, OutboxRow, StoredCall, TurnDone
from hotline.stamps import Stamps


def turn_row(turn: TurnDone) -> dict[str, Any]:
    """A turn as its row: the nine stamps side by side."""
    row = asdict(turn)
    stamps = row.pop("stamps")
    return {**row, **stamps, "source_ids": _json(turn.source_ids)}


def turn_of(row: RowMapping) -> TurnDone:
    """The turn of a row."""
    values = {name: value for name, value in row.items() if name not in STAMP_NAMES and name != "id"}
    values["source_ids"] = tuple(json.loads(row["source_ids"]))
    return TurnDone(**values, stamps=Stamps(**{name: row[name] for name in STAMP_NAMES}))


def offer_row(offer: Offer) -> dict[str, Any]:
    """An offer as its row."""
    return {**asdict(offer), "turns": _json(offer.turns)}


def offer_of(row: RowMapping) -> Offer:
    """The offer of a row."""
    return Offer(**{**row, "turns": tuple((caller, bot) for caller, bot in json.loads(row["turns"]))})


def event_row(event: CallEvent) -> dict[str, Any]:
    """An event as its row, without the number that the database gives."""
    return {
        "call_id": event.call_id,
        "tenant": event.tenant,
        "kind": event.kind,
        "at": event.at,
        "body": _json(dict(event.body)),
    }


def event_of(row: RowMapping) -> CallEvent:
    """The event of a row."""
    return CallEvent(**{**row, "body": json.loads(row["body"])})


def call_row(call: CallOpened) -> dict[str, Any]:
    """A call as its row."""
    return asdict(call)


def call_of(row: RowMapping, **parts: Any) -> StoredCall:  # noqa: ANN401  turns, offers and events, as StoredCall names them
    """The call of a row, with what belongs to it."""
    opened = CallOpened(**{each.name: row[each.name] for each in fields(CallOpened)})
    how = {name: row[name] for name in ("ended_at", "end_reason", "satisfaction", "satisfaction_by")}
    return StoredCall(opened=opened, **how, **parts)


def outbox_of(row: RowMapping, offers: Mapping[str, Offer], events: Mapping[int, CallEvent]) -> OutboxRow:
    """The outbox row with what it points to."""
    what = offers[row["offer_id"]] if row["offer_id"] is not None else events[row["event_id"]]
    return OutboxRow(row_id=row["id"], what=what, attempts=row["attempts"])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
