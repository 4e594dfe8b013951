"""Masked pieces of a call in, an offer for a person out, as JSON on its topic. Pure: no clock, no broker, no record."""

from __future__ import annotations

import datetime as dt
import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from hotline.record.numbers import blot_long_numbers
from hotline.record.types import CallEvent, Offer, OutboxRow

SCHEMA = "hotline.offer/1"
EVENT_SCHEMA = "hotline.call-event/1"
EXPIRES_AFTER = dt.timedelta(minutes=30)

# As in Transfer.reason of the contract.
REASONS = {
    "asked": "来电人要求人工服务",
    "emergency": "紧急情况",
    "not_in_kb": "知识库中没有答案",
    "needs_person": "此事需要工作人员接着办理",
    "unclear": "多次未能听清或理解",
    "silence": "来电人长时间未说话",
    "failure": "系统故障",
    "overload": "线路繁忙",
    "time_up": "通话时间已到",
}

_LONGEST_MATTER = 160
_LONGEST_ANSWER = 100
_LAST_TURNS = 10
_LAST_ANSWERS = 3
_LONGEST_LEVEL_BYTES = 128
_NOT_IN_A_LEVEL = re.compile(r"[/+#%\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]|^\$")
_SENTENCE_ENDS = "。！？!?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What goes to a broker. payload: UTF-8 JSON."""

    topic: str
    payload: bytes


def build_offer(  # noqa: PLR0913  the form's fields, by name
    *,
    call_id: str,
    tenant: str,
    reason: str,
    exchanges: Sequence[tuple[str, str]],
    now: dt.datetime,
    ticket: str = "",
    skill: str = "general",
    urgent: bool = False,
    asked_for_person: bool = False,
    expires_after: dt.timedelta = EXPIRES_AFTER,
    answered: Sequence[str] | None = None,
) -> Offer:
    """The offer for this call, under a new id.

    exchanges: (masked caller text, bot text that was heard), oldest first; the last ten go along. Placeholders stay whole. A long
    number that the masker let through is blotted out here, so that the record never has to refuse a caller who needs a person.
    """
    turns = tuple((blot_long_numbers(caller), bot) for caller, bot in exchanges)
    return Offer(
        id=str(uuid.uuid4()),
        ticket=ticket,
        call_id=call_id,
        tenant=tenant,
        skill=skill,
        reason=reason,
        urgent=urgent,
        summary=summarise(turns, reason=reason, urgent=urgent, asked_for_person=asked_for_person, answered=answered),
        turns=turns[-_LAST_TURNS:],
        created_at=now,
        expires_at=now + expires_after,
    )


def summarise(
    turns: Sequence[tuple[str, str]],
    *,
    reason: str,
    urgent: bool = False,
    asked_for_person: bool = False,
    answered: Sequence[str] | None = None,
) -> str:
    """One paragraph for the agent: 来电诉求, 已答复, 转人工原因. answered: what was really answered; None: all that was said."""
    matter = _shorten("；".join(_clean(caller) for caller, _ in turns if _clean(caller)), _LONGEST_MATTER)
    said = [bot for _, bot in turns] if answered is None else answered
    answer = "；".join(_shorten(_clean(bot), _LONGEST_ANSWER) for bot in said[-_LAST_ANSWERS:] if _clean(bot))
    why = REASONS.get(reason, f"其他（{_clean(reason)}）")
    if asked_for_person and reason != "asked":
        why += "，" + REASONS["asked"]
    parts = (
        "【紧急】" if urgent else "",
        f"来电诉求：{matter or '来电人尚未说明'}。",
        f"已答复：{answer}。" if answer else "尚未答复。",
        f"转人工原因：{why}。",
    )
    return blot_long_numbers("".join(parts))


def payload_of(what: Offer | CallEvent) -> bytes:
    """UTF-8 JSON; an offer's follows configs/schema/offer.schema.json."""
    body = _offer_body(what) if isinstance(what, Offer) else _event_body(what)
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def topic_of(what: Offer | CallEvent) -> str:
    """Offers by the skill that should take them, events by their call."""
    match what:
        case Offer():
            return f"hotline/v1/{level(what.tenant)}/queues/{level(what.skill)}/offers"
        case CallEvent():
            return f"hotline/v1/{level(what.tenant)}/calls/{level(what.call_id)}/events"


def message_of(row: OutboxRow) -> Message:
    """What an outbox row says."""
    return Message(topic=topic_of(row.what), payload=payload_of(row.what))


def offers_filter(tenant: str = "+") -> str:
    """The subscription to all queues' offers; ``+`` for every tenant."""
    return f"hotline/v1/{tenant if tenant == '+' else level(tenant)}/queues/+/offers"


def level(name: str) -> str:
    """A name as one level of a topic. Two names never become one level: tenants can't meet on a topic."""
    safe = _NOT_IN_A_LEVEL.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found.group().encode("utf-8", "surrogatepass")), name
    )
    if len(safe.encode()) > _LONGEST_LEVEL_BYTES:
        return "%long-" + uuid.uuid5(uuid.NAMESPACE_OID, safe).hex
    return safe or "%"


def _offer_body(offer: Offer) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "id": offer.id,
        "ticket": offer.ticket,
        "tenant": offer.tenant,
        "call_id": offer.call_id,
        "skill": offer.skill,
        "reason": offer.reason,
        "urgent": offer.urgent,
        "summary": offer.summary,
        "turns": [{"caller": caller, "bot": bot} for caller, bot in offer.turns],
        "created_at": _time(offer.created_at),
        "expires_at": _time(offer.expires_at),
    }


def _event_body(event: CallEvent) -> dict[str, object]:
    return {
        "schema": EVENT_SCHEMA,
        "id": f"{event.call_id}:{event.id}",
        "tenant": event.tenant,
        "call_id": event.call_id,
        "kind": event.kind,
        "at": _time(event.at),
        "body": dict(event.body),
    }


def _clean(text: str) -> str:
    return " ".join(text.split()).strip(_SENTENCE_ENDS + "，,；; ")


def _shorten(text: str, longest: int) -> str:
    """Cut to a length, never inside a placeholder."""
    if len(text) <= longest:
        return text
    cut = text[:longest]
    if cut.rfind("〈") > cut.rfind("〉"):
        cut = cut[: cut.rfind("〈")]
    return cut + "……"


def _time(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
