"""`hotline overview`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from hotline.commands.common import add
from hotline.commands.paths import file_to_write, folder_to_read


def add_to(commands: Any) -> None:  # noqa: ANN401
    overview = add(commands, "overview", _overview, "one page about many replayed calls: waits, routes, ends")
    overview.add_argument(
        "folder",
        type=folder_to_read,
        metavar="FOLDER",
        help="a folder that holds folders of calls, as `hotline replay` writes them",
    )
    overview.add_argument(
        "--out", type=file_to_write, metavar="FILE", help="the page (default: FOLDER/overview.html); figures go beside it as .json"
    )


def _overview(arguments: argparse.Namespace) -> int:
    from hotline.overview import write_overview  # noqa: PLC0415

    sys.stdout.write(f"{write_overview(arguments.folder, out=arguments.out)}\n")
    return 0
