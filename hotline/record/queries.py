"""Questions to the record: an open connection and the record's types in, rows or the record's types out. Knows no threads, no URL.

Each function is one transaction's work. The SQL is what SQLite 3.35 and PostgreSQL share.
"""

from __future__ import annotations

import datetime as dt

from sqlalchemy import Connection, RowMapping, delete, insert, select, text, update

from hotline.clock import utc_now
from hotline.record import rows, tables
from hotline.record.types import CallEvent, CallOpened, Offer, OutboxRow, StoredCall, TurnDone

# The day in a ticket number is the caller's day.
CHINA = dt.timezone(dt.timedelta(hours=8))
_LONGEST_WAIT_S = 60
# One statement: two servers can't take one number.
_NEXT_NUMBER = text(
    "INSERT INTO tickets (tenant, day, last_number) VALUES (:tenant, :day, 1) "
    "ON CONFLICT (tenant, day) DO UPDATE SET last_number = tickets.last_number + 1 RETURNING last_number"
)


def open_call(connection: Connection, call: CallOpened) -> None:
    """Once; later ones change nothing."""
    if _tenant_of(connection, call.call_id) is None:
        connection.execute(insert(tables.calls).values(rows.call_row(call)))
        _happened(connection, call.call_id, call.tenant, "opened")


def write_turn(connection: Connection, turn: TurnDone) -> None:
    """In the place of an earlier writing of the same turn and reply."""
    same = tables.turns.c
    connection.execute(
        delete(tables.turns).where(same.call_id == turn.call_id, same.turn == turn.turn, same.reply_id == turn.reply_id)
    )
    connection.execute(insert(tables.turns).values(rows.turn_row(turn)))


def end_call(connection: Connection, call_id: str, reason: str, ended_at: dt.datetime) -> None:
    """Once; unknown calls are let by."""
    call = tables.calls.c
    tenant = connection.scalar(
        update(tables.calls)
        .where(call.call_id == call_id, call.ended_at.is_(None))
        .values(ended_at=ended_at, end_reason=reason)
        .returning(call.tenant)
    )
    if tenant is not None:
        _happened(connection, call_id, tenant, "ended", reason=reason)


def rate_call(connection: Connection, call_id: str, grade: int, how: str) -> None:
    """Once; unknown calls are let by."""
    call = tables.calls.c
    tenant = connection.scalar(
        update(tables.calls)
        .where(call.call_id == call_id, call.satisfaction.is_(None))
        .values(satisfaction=grade, satisfaction_by=how)
        .returning(call.tenant)
    )
    if tenant is not None:
        _happened(connection, call_id, tenant, "rated", grade=str(grade), how=how)


def take_ticket(connection: Connection, tenant: str) -> str:
    """The next number of the tenant's day."""
    day = f"{utc_now().astimezone(CHINA):%y%m%d}"
    number = connection.scalar(_NEXT_NUMBER, {"tenant": tenant, "day": day})
    return f"{day}{number:04d}"


def queue_offer(connection: Connection, offer: Offer) -> None:
    """The offer, its event, and what the broker must be told of both. Once for each id."""
    if connection.scalar(select(tables.offers.c.id).where(tables.offers.c.id == offer.id)) is not None:
        return
    connection.execute(insert(tables.offers).values(rows.offer_row(offer)))
    event_id = _happened(
        connection, offer.call_id, offer.tenant, "offer_queued", offer=offer.id, ticket=offer.ticket, reason=offer.reason
    )
    now = utc_now()
    queued = {"urgent": offer.urgent, "created_at": now, "due_at": now}
    connection.execute(
        insert(tables.outbox),
        [{**queued, "offer_id": offer.id, "event_id": None}, {**queued, "offer_id": None, "event_id": event_id}],
    )


def due_rows(connection: Connection, limit: int) -> list[OutboxRow]:
    """Unsent and due: urgent first, then the oldest."""
    row = tables.outbox.c
    due = (
        select(tables.outbox).where(row.sent_at.is_(None), row.due_at <= utc_now()).order_by(row.urgent.desc(), row.id).limit(limit)
    )
    found = connection.execute(due).mappings().all()
    offer_ids = [each["offer_id"] for each in found if each["offer_id"] is not None]
    event_ids = [each["event_id"] for each in found if each["event_id"] is not None]
    offers = connection.execute(select(tables.offers).where(tables.offers.c.id.in_(offer_ids))).mappings()
    events = connection.execute(select(tables.call_events).where(tables.call_events.c.id.in_(event_ids))).mappings()
    offer_by_id = {each["id"]: rows.offer_of(each) for each in offers}
    event_by_id = {each["id"]: rows.event_of(each) for each in events}
    return [rows.outbox_of(each, offer_by_id, event_by_id) for each in found]


def mark_sent(connection: Connection, row_id: int) -> None:
    """Once; an offer's delivery becomes an event of its call."""
    offer_id = connection.scalar(
        update(tables.outbox)
        .where(tables.outbox.c.id == row_id, tables.outbox.c.sent_at.is_(None))
        .values(sent_at=utc_now())
        .returning(tables.outbox.c.offer_id)
    )
    if offer_id is not None:
        offer = tables.offers.c
        found = connection.execute(select(offer.call_id, offer.tenant).where(offer.id == offer_id)).one()
        _happened(connection, found.call_id, found.tenant, "offer_delivered", offer=offer_id)


def mark_failed(connection: Connection, row_id: int, error_code: str) -> None:
    """Due again after 1, 2, 4 … 60 s."""
    row = tables.outbox.c
    attempts = connection.scalar(
        update(tables.outbox)
        .where(row.id == row_id, row.sent_at.is_(None))
        .values(attempts=row.attempts + 1, last_error=error_code)
        .returning(row.attempts)
    )
    if attempts is not None:
        wait_s = min(2 ** min(attempts - 1, 10), _LONGEST_WAIT_S)
        due_at = utc_now() + dt.timedelta(seconds=wait_s)
        connection.execute(update(tables.outbox).where(row.id == row_id).values(due_at=due_at))


def read_call(connection: Connection, call_id: str) -> StoredCall | None:
    """One call with everything of it."""
    found = connection.execute(select(tables.calls).where(tables.calls.c.call_id == call_id)).mappings().first()
    return None if found is None else _whole(connection, found)


def read_newest(connection: Connection, limit: int) -> list[StoredCall]:
    """The newest calls first."""
    newest = select(tables.calls).order_by(tables.calls.c.started_at.desc(), tables.calls.c.call_id).limit(limit)
    return [_whole(connection, found) for found in connection.execute(newest).mappings().all()]


def _tenant_of(connection: Connection, call_id: str) -> str | None:
    tenant: str | None = connection.scalar(select(tables.calls.c.tenant).where(tables.calls.c.call_id == call_id))
    return tenant


def _happened(connection: Connection, call_id: str, tenant: str, kind: str, **body: str) -> int:
    event = CallEvent(id=0, call_id=call_id, tenant=tenant, kind=kind, at=utc_now(), body=body)
    inserted = insert(tables.call_events).values(rows.event_row(event)).returning(tables.call_events.c.id)
    return int((connection.execute(inserted)).scalar_one())


def _whole(connection: Connection, call: RowMapping) -> StoredCall:
    turn, offer, event = tables.turns.c, tables.offers.c, tables.call_events.c
    call_id = call["call_id"]
    turns = connection.execute(select(tables.turns).where(turn.call_id == call_id).order_by(turn.turn, turn.reply_id))
    offers = connection.execute(select(tables.offers).where(offer.call_id == call_id).order_by(offer.created_at, offer.id))
    events = connection.execute(select(tables.call_events).where(event.call_id == call_id).order_by(event.id))
    return rows.call_of(
        call,
        turns=tuple(rows.turn_of(each) for each in turns.mappings()),
        offers=tuple(rows.offer_of(each) for each in offers.mappings()),
        events=tuple(rows.event_of(each) for each in events.mappings()),
    )
