"""A record on a real SQLite file, and pieces to put into it."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from hotline.record.store import CallOpened, Offer, Store, TurnDone
from hotline.stamps import Stamps

NOON = dt.datetime(2026, 3, 1, 4, 0, tzinfo=dt.UTC)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path}/var/record.db"


@pytest.fixture
async def store(url: str) -> AsyncGenerator[Store, None]:
    store = await Store.connect(url)
    await store.migrate()
    yield store
    await store.close()


@pytest.fixture
def opened() -> CallOpened:
    return CallOpened(
        call_id="call-1", tenant="city", trunk="sip-1", masked_caller="139****5678", dialled_number="12345", started_at=NOON
    )


@pytest.fixture
def turn() -> TurnDone:
    return TurnDone(
        call_id="call-1",
        turn=1,
        reply_id=2,
        masked_text="我的手机是〈手机号·1〉，居住证怎么办",
        route="hot",
        confidence=0.93,
        source_ids=("residence-permit", "police"),
        heard_reply="请带身份证，咨询电话055112345678。",
        unheard_reply="首次办理不收费。",
        interrupted=True,
        stamps=Stamps(caller_last_speech_ms=4_000, first_frame_sent_ms=4_900),
        explain="hot 0.93",
    )


@pytest.fixture
def offer() -> Offer:
    return Offer(
        id="3f0c8a52",
        ticket="2603010001",
        call_id="call-1",
        tenant="city",
        skill="housing",
        reason="asked",
        urgent=False,
        summary="来电诉求：居住证。",
        turns=(("我要找人工", "好的，请稍等。"),),
        created_at=NOON,
        expires_at=NOON + dt.timedelta(minutes=30),
    )
