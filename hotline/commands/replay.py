"""`hotline replay`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hotline.commands.common import add, run, settings_of
from hotline.commands.numbers import seconds, whole
from hotline.commands.paths import file_or_folder, file_to_read, folder_to_fill

MOST_JOBS = 64
KINDS = "WAV of any kind, FLAC, OGG, MP3, AMR, pcap with RTP …"


def add_to(commands: Any) -> None:  # noqa: ANN401
    replay = add(commands, "replay", _replay, "play recorded calls to a server, in real time or as fast as it goes")
    replay.add_argument("files", nargs="+", type=Path, metavar="FILE", help=f"recordings, or folders of them: {KINDS}")
    replay.add_argument(
        *("--channel",),
        choices=["left", "right", "caller-guess"],
        default="",
        help="the caller's channel of two; caller-guess: whoever does not speak first, since a hotline greets",
    )
    replay.add_argument(
        *("--raw",),
        type=_raw,
        metavar="CODEC[:RATE[:CHANNELS]]",
        help="how files without a head are written: pcma, pcmu, l16 or l16be; e.g. pcma:8000",
    )
    where = replay.add_mutually_exclusive_group()
    where.add_argument("--target", default="", help="host:port of a server (default: one is started for the replay)")
    where.add_argument(
        "--fast", action="store_true", help="no server: in this process, as fast as it works, with the same decisions"
    )
    replay.add_argument("--token", default="", help="its bearer token (better: HOTLINE_SERVER__TOKEN)")
    replay.add_argument("--tls", action="store_true", help="the server speaks TLS (implied by the next three)")
    replay.add_argument(
        "--ca", type=file_to_read, metavar="PEM", help="who signed its certificate (default: whom this system trusts)"
    )
    replay.add_argument("--cert", type=file_to_read, metavar="PEM", help="our certificate, where it asks for one (mTLS)")
    replay.add_argument("--key", type=file_to_read, metavar="PEM", help="its key")
    replay.add_argument("--codec", choices=["pcma", "pcmu", "l16"], default="pcma", help="codec on the wire (default: pcma)")
    replay.add_argument("--after-greeting", action="store_true", help="hold the file until the bot has greeted")
    replay.add_argument("--tail", type=seconds(3600), default=15.0, metavar="S", help="seconds to wait after it (default: 15)")
    replay.add_argument(
        *("--reference",),
        type=file_or_folder,
        metavar="DIR|FILE",
        help='what was really said: a folder of NAME.txt, or lines of {"file": …, "text": …}; masked, then compared (CER)',
    )
    replay.add_argument("--jobs", type=whole(1, MOST_JOBS), default=1, metavar="N", help="calls at a time (default: 1)")
    replay.add_argument("--out", type=folder_to_fill, default="out/replay", help="folder of the results (default: out/replay)")


def _raw(told: str) -> Any:  # noqa: ANN401  imported lazily
    from hotline.recordings.plain import raw_format  # noqa: PLC0415

    try:
        return raw_format(told)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def _tls(arguments: argparse.Namespace) -> Any:  # noqa: ANN401  imported lazily
    from hotline.certificates import ClientTls  # noqa: PLC0415
    from hotline.errors import ConfigWrong  # noqa: PLC0415

    if not (arguments.tls or arguments.ca or arguments.cert or arguments.key):
        return None
    if not arguments.target:
        raise ConfigWrong("TLS is for a server that is named", what_to_do="name it: --target HOST:PORT")
    return ClientTls(ca=arguments.ca, cert=arguments.cert, key=arguments.key)


def _replay(arguments: argparse.Namespace) -> int:
    from hotline.replay import ReplaySettings, replay_here  # noqa: PLC0415
    from hotline.sound.codec import Codec  # noqa: PLC0415

    settings = settings_of(arguments, quiet=True)
    replay = ReplaySettings(
        target=arguments.target,
        token=arguments.token or settings.server.token,
        tls=_tls(arguments),
        codec=Codec(arguments.codec),
        channel=arguments.channel,
        raw=arguments.raw,
        reference=arguments.reference,
        jobs=arguments.jobs,
        out_dir=arguments.out,
        after_greeting=arguments.after_greeting,
        tail_s=arguments.tail,
    )
    if arguments.fast:
        from hotline.replay_fast import replay_fast  # noqa: PLC0415
        from hotline.virtual_loop import run_virtually  # noqa: PLC0415

        return run_virtually(replay_fast(arguments.files, replay, settings, on_terminal=sys.stderr.isatty()))
    return run(replay_here(arguments.files, replay, on_terminal=sys.stderr.isatty()))
