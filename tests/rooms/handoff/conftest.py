"""A record on a real SQLite file, an offer, and an embedded broker with waits that suit a test."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from hotline.clock import utc_now
from hotline.handoff.offers import build_offer
from hotline.record.store import Offer, Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Store, None]:
    store = await Store.connect(f"sqlite:///{tmp_path}/record.db")
    await store.migrate()
    yield store
    await store.close()


def an_offer(**changes: object) -> Offer:
    fields: dict[str, object] = {
        "call_id": "call-1",
        "tenant": "city",
        "reason": "asked",
        "exchanges": [("居住证怎么办", "请带身份证到派出所。"), ("转人工", "")],
        "now": utc_now(),
        "expires_after": dt.timedelta(minutes=30),
    }
    return build_offer(**{**fields, **changes})  # type: ignore[arg-type]
