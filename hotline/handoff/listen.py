"""MQTT offers in, parsed offers out, each once. For the demo and tests; the agents' console does more. Knows no record."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

import structlog

from hotline.handoff.mqtt import connected
from hotline.handoff.offers import SCHEMA, offers_filter
from hotline.handoff.types import MqttSettings

_REMEMBERED = 4096

log = structlog.get_logger()


async def offers(
    settings: MqttSettings, tenant: str = "+", *, subscribed: asyncio.Event | None = None
) -> AsyncGenerator[dict[str, Any], None]:
    """Every offer from now on, each id once; what isn't an offer is skipped. Consume inside aclosing.

    subscribed: set once the broker took the subscription; an offer published before that isn't seen here. Raises BrokerUnavailable
    when the broker hangs up.
    """
    seen: OrderedDict[str, None] = OrderedDict()
    async with connected(settings, role="listen") as connection:
        await connection.subscribe(offers_filter(tenant), qos=1)
        if subscribed is not None:
            subscribed.set()
        async for message in connection.messages:
            offer = parse_offer(message.payload)
            if offer is None:
                log.warning("offer_unreadable", topic_levels=len(str(message.topic).split("/")))
            elif offer["id"] not in seen:
                seen[offer["id"]] = None
                if len(seen) > _REMEMBERED:
                    seen.popitem(last=False)
                yield offer  # noqa: ASYNC119  consumers close us


def parse_offer(payload: object) -> dict[str, Any] | None:
    """The offer in a payload; None for anything else."""
    if not isinstance(payload, bytes | bytearray):
        return None
    with suppress(ValueError, RecursionError):
        body = json.loads(payload)
        if isinstance(body, dict) and body.get("schema") == SCHEMA and isinstance(body.get("id"), str):
            return body
    return None
