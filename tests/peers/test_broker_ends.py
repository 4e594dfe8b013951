"""A server that ends just as its relay greets the broker: nothing hangs, no socket is left open (warnings are errors here)."""

from __future__ import annotations

import asyncio
import gc

import pytest

from hotline.handoff.broker import running_broker
from hotline.handoff.relay import Relay
from hotline.handoff.types import MqttSettings
from hotline.record.types import OutboxRow
from hotline.tasks import BackgroundTasks


class EmptyOutbox:
    async def outbox_due(self, limit: int = 50) -> list[OutboxRow]:
        return []

    async def outbox_sent(self, row_id: int) -> None: ...

    async def outbox_failed(self, row_id: int, error_code: str) -> None: ...


@pytest.mark.parametrize("after_us", [0, 100, 200, 400, 600, 800, 1_000, 1_300, 1_600, 1_900, 2_200, 5_000])
async def test_the_end_comes_at_any_moment_of_the_greeting(after_us: int) -> None:
    for _ in range(2):
        async with asyncio.timeout(20), running_broker(MqttSettings(port=0)) as mqtt, BackgroundTasks() as background:
            background.start(Relay(EmptyOutbox(), mqtt).run(), name="relay")
            await asyncio.sleep(after_us / 1_000_000)
    gc.collect()
