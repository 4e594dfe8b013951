"""Python processes of one test: when the block is left they are dead, waited for, and their pipes are closed."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


@asynccontextmanager
async def running_python(
    *arguments: str, env: Mapping[str, str] | None = None, stdout: int | None = None, stderr: int | None = None
) -> AsyncGenerator[Process, None]:
    """`python ARGUMENTS` at the repository's root. env: on top of this process's own."""
    environment = {**os.environ, "PYTHONPATH": ".", **(env or {})}
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=ROOT, env=environment, stdout=stdout, stderr=stderr
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()  # reads pipes to their ends: only then does asyncio close its side
