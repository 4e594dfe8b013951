"""What `hotline serve` refuses before it loads anything, and that its JSON log holds nothing but JSON."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import suppress

import pytest
import structlog

from hotline import log
from hotline.errors import PortTaken
from hotline.foreign_lines import STDERR, as_events
from hotline.serving import refuse_taken


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield int(other.getsockname()[1])


@pytest.mark.parametrize("section", ["server", "http", "metrics", "mqtt"])
def test_a_port_that_is_taken_is_told_with_what_to_type(section: str, taken: int) -> None:
    with pytest.raises(PortTaken, match=f"127.0.0.1:{taken}") as wrong:
        refuse_taken([("server", "127.0.0.1", 0), (section, "127.0.0.1", taken)])
    assert f"HOTLINE_{section.upper()}__PORT={taken + 1} hotline serve" in wrong.value.what_to_do
    assert f":{taken}'" in wrong.value.what_to_do


def test_two_of_ours_that_want_one_port_are_told(taken: int) -> None:
    free = socket.create_server(("127.0.0.1", 0))
    port = int(free.getsockname()[1])
    free.close()
    with pytest.raises(PortTaken, match=r"server\.port has it"):
        refuse_taken([("server", "127.0.0.1", port), ("http", "127.0.0.1", port)])
    refuse_taken([("server", "127.0.0.1", port), ("http", "127.0.0.1", 0), ("metrics", "127.0.0.1", 0)])  # nothing is held on


def test_a_log_in_json_holds_nothing_but_json(capfd: pytest.CaptureFixture[str]) -> None:
    def breaks() -> None:
        raise ValueError("call 13958274061")

    with as_events(form="json", level="info"):
        os.write(STDERR, "INFO: Created a delegate for 13958274061 on the 语音 side\n".encode())
        os.write(STDERR, b"\xff\xfe half a sign, ")
        os.write(STDERR, b"and no end of the line: " + b"a" * 2000 + b"\n\n")
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            logging.captureWarnings(True)
            warnings.showwarning("old", DeprecationWarning, "a.py", 1)
        for name in ("asyncio", "uvicorn.error", "grpc._server"):
            logging.getLogger(name).error("SSL error in data received")
        thread = threading.Thread(target=breaks, name="worker")
        thread.start()
        thread.join()
    os.write(STDERR, b"as it was\n")

    *lines, last = capfd.readouterr().err.splitlines()
    assert last == "as it was"
    events = [json.loads(line) for line in lines]
    said = [event["line"] for event in events if event["event"] == "library_said"]
    assert said[0] == "INFO: Created a delegate for ‹11 digits› on the 语音 side"
    assert max(map(len, said)) <= 500
    assert [event["logger"] for event in events if event["event"] == "SSL error in data received"] == [
        *("asyncio", "uvicorn.error", "grpc._server")
    ]
    (broke,) = [event for event in events if event["event"] == "thread_broke"]
    assert broke["error"]["type"] == "ValueError"
    assert "13958274061" not in "".join(lines)


def test_a_library_that_writes_more_than_is_read_waits_for_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    with as_events(form="json", level="error"):
        for _ in range(200):
            with suppress(BlockingIOError):
                os.write(STDERR, b"x" * 100_000)
    assert capfd.readouterr().err == ""


@pytest.fixture(autouse=True)
def log_as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()
    root = logging.getLogger()
    root.handlers = [handler for handler in root.handlers if not isinstance(handler, log.LibraryLines)]
