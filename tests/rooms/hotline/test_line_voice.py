"""The shared voice on lines of two rates: the same sentence takes the same time."""

from __future__ import annotations

import numpy as np
import pytest

from hotline.line_voice import LineVoice
from tests.fakes import SilentVoice


@pytest.mark.parametrize("rate_hz", [8000, 16_000])
async def test_a_sentence_is_as_long_on_every_line(rate_hz: int) -> None:
    spoken = await LineVoice(voice=SilentVoice(synthesis_ms=0), rate_hz=rate_hz).speak("一二三四五")
    assert (spoken.rate_hz, len(spoken.samples)) == (rate_hz, rate_hz)
    assert float(np.median(spoken.samples)) == pytest.approx(0.1, abs=0.01)


async def test_nothing_said_is_nothing_on_every_line() -> None:
    assert not len((await LineVoice(voice=SilentVoice(synthesis_ms=0), rate_hz=16_000).speak("")).samples)
