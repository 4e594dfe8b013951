"""A desk for typed calls that leaves nothing behind: its own record and broker, the product's own rooms."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from hotline.compose import Desk, open_desk
from hotline.config import Settings
from hotline.handoff.types import MqttSettings
from llm.types import Entry


@asynccontextmanager
async def text_desk(settings: Settings, entries: Sequence[Entry] | None = None) -> AsyncGenerator[Desk, None]:
    """entries: the knowledge to answer from, instead of the configured one; it belongs to no region."""
    if entries is not None:
        settings = replace(settings, answering=replace(settings.answering, region=""))
    with tempfile.TemporaryDirectory(prefix="hotline-eval-") as folder:
        record = replace(settings.record, url=f"sqlite+aiosqlite:///{folder}/record.db")
        async with open_desk(replace(settings, record=record, mqtt=MqttSettings(port=0)), audible=False, entries=entries) as desk:
            yield desk
