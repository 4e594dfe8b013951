"""`hotline replay`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hotline.commands.common import add, run, settings_of


def add_to(commands: Any) -> None:  # noqa: ANN401
    replay = add(commands, "replay", _replay, "play recorded calls to a server in real time")
    replay.add_argument("files", nargs="+", type=Path, metavar="FILE", help="WAV: PCM, A-law, μ-law; mono or stereo")
    replay.add_argument("--channel", choices=["left", "right"], default="", help="the caller's channel of a stereo file")
    replay.add_argument("--target", default="", help="host:port of a server (default: one is started for the replay)")
    replay.add_argument("--token", default="", help="its bearer token (better: HOTLINE_SERVER__TOKEN)")
    replay.add_argument("--codec", choices=["pcma", "pcmu", "l16"], default="pcma", help="codec on the wire (default: pcma)")
    replay.add_argument("--after-greeting", action="store_true", help="hold the file until the bot has greeted")
    replay.add_argument("--tail", type=float, default=15.0, metavar="S", help="seconds to wait after the file (default: 15)")
    replay.add_argument("--out", type=Path, default=Path("out/replay"), help="folder of the results (default: out/replay)")


def _replay(arguments: argparse.Namespace) -> int:
    from hotline.replay import ReplaySettings, replay_here  # noqa: PLC0415
    from hotline.sound.codec import Codec  # noqa: PLC0415

    settings = settings_of(arguments, quiet=True)
    replay = ReplaySettings(
        target=arguments.target,
        token=arguments.token or settings.server.token,
        codec=Codec(arguments.codec),
        channel=arguments.channel,
        out_dir=arguments.out,
        after_greeting=arguments.after_greeting,
        tail_s=arguments.tail,
    )
    return run(replay_here(arguments.files, replay))
