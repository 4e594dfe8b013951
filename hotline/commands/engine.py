"""`hotline engine`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from hotline.commands.common import add
from hotline.commands.paths import folder_to_read


def add_to(commands: Any) -> None:  # noqa: ANN401
    engine = add(commands, "engine", _engine, "check a folder of engine files against its manifest")
    engine.add_argument("what", choices=["verify"], help="verify: every file is there and has its hash")
    engine.add_argument("folder", type=folder_to_read, metavar="FOLDER")


def _engine(arguments: argparse.Namespace) -> int:
    from engines.manifest import verify_manifest  # noqa: PLC0415
    from engines.types import ToolchainError  # noqa: PLC0415

    try:
        manifest = verify_manifest(arguments.folder)
    except ToolchainError as wrong:
        sys.stderr.write(f"hotline: {wrong} [{wrong.code}]\n")
        return 1
    sys.stdout.write(f"{arguments.folder}: {len(manifest.files)} files, as the manifest says\n")
    return 0
