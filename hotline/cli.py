"""`hotline`: arguments → the command's body, imported only then.

Exit codes: 0 done, 1 it failed or found something, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from hotline.errors import OURS, explain

Body = Callable[[argparse.Namespace], int]
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command."""
    arguments = _parser().parse_args(argv)
    body: Body = arguments.body
    try:
        return body(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return _nobody_reads()
    except OURS as error:
        return _tell(error)
    except BaseExceptionGroup as group:
        if group.split(BrokenPipeError)[1] is None:
            return _nobody_reads()
        ours, others = group.split(OURS)
        if ours is None or others is not None:
            raise
        return _tell(ours)


def _nobody_reads() -> int:
    """Whoever read our output has left: there is nobody to tell, and the interpreter's last flush must not fail either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return INTERRUPTED


def _tell(error: BaseException) -> int:
    told = explain(error)
    sys.stderr.write(f"hotline: {told.message} [{told.code}]\n")
    if told.what_to_do:
        sys.stderr.write(f"         {told.what_to_do}\n")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hotline", description="A telephone-hotline voice bot.")
    parser.add_argument("--config", type=Path, help="settings file (default: HOTLINE_CONFIG, else configs/hotline.toml)")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add(commands, "serve", _serve, "answer calls over gRPC")
    _add_text(commands)
    _add_replay(commands)
    demo = _add(commands, "demo", _demo, "one recorded call in real time, with its page")
    demo.add_argument("--out", type=Path, default=Path("out/demo"), help="folder of the results (default: out/demo)")
    demo.add_argument("--script", type=Path, help="call script (default: configs/demo/call.yaml)")
    _add_models(commands)
    doctor = _add(commands, "doctor", _doctor, "what is missing or wrong here, and what to type")
    doctor.add_argument("--deep", action="store_true", help="check the models' hashes, not only sizes")
    bench = _add(commands, "bench", _bench, "measure on this machine")
    bench.add_argument("what", choices=["call"], help="call: latencies and memory of one call")
    bench.add_argument("--turns", type=int, default=12, help="questions of each kind (default: 12)")
    bench.add_argument("--out", type=Path, default=Path("out/bench"), help="folder of the figures (default: out/bench)")
    engine = _add(commands, "engine", _engine, "check a folder of engine files against its manifest")
    engine.add_argument("what", choices=["verify"], help="verify: every file is there and has its hash")
    engine.add_argument("folder", type=Path)
    return parser


def _add(commands: Any, name: str, body: Body, text: str) -> argparse.ArgumentParser:  # noqa: ANN401  argparse's private class
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(body=body)
    return parser


def _add_text(commands: Any) -> None:  # noqa: ANN401
    text = _add(commands, "text", _text, "the same call by typing")
    text.add_argument("--script", type=Path, help="play this call script; exit code 1 if an expectation fails")
    text.add_argument("--json", action="store_true", help="print events as JSON lines")


def _add_replay(commands: Any) -> None:  # noqa: ANN401
    replay = _add(commands, "replay", _replay, "play recorded calls to a server in real time")
    replay.add_argument("files", nargs="+", type=Path, metavar="FILE", help="WAV: PCM, A-law, μ-law; mono or stereo")
    replay.add_argument("--channel", choices=["left", "right"], default="", help="the caller's channel of a stereo file")
    replay.add_argument("--target", default="", help="host:port of a server (default: one is started for the replay)")
    replay.add_argument("--token", default="", help="its bearer token (better: HOTLINE_SERVER__TOKEN)")
    replay.add_argument("--codec", choices=["pcma", "pcmu", "l16"], default="pcma", help="codec on the wire (default: pcma)")
    replay.add_argument("--after-greeting", action="store_true", help="hold the file until the bot has greeted")
    replay.add_argument("--tail", type=float, default=15.0, metavar="S", help="seconds to wait after the file (default: 15)")
    replay.add_argument("--out", type=Path, default=Path("out/replay"), help="folder of the results (default: out/replay)")


def _add_models(commands: Any) -> None:  # noqa: ANN401
    models = commands.add_parser("models", help="list, pull, verify models", description="list, pull, verify models")
    actions = models.add_subparsers(title="actions", required=True, metavar="ACTION")
    _add(actions, "list", _models_list, "the catalogue, and what is here")
    pull = _add(actions, "pull", _models_pull, "fetch models, checked by SHA-256")
    pull.add_argument("names", nargs="*", metavar="NAME")
    pull.add_argument("--default", action="store_true", help="those that a server needs by default")
    pull.add_argument("--tests", action="store_true", help="those that the tests need besides")
    pull.add_argument("--all", action="store_true", help="the whole catalogue")
    verify = _add(actions, "verify", _models_verify, "check what is here against its hashes")
    verify.add_argument("names", nargs="*", metavar="NAME")


# ---------------------------------------------------------------- bodies


def _run(work: Coroutine[Any, Any, int]) -> int:
    return asyncio.run(work)


def _settings(arguments: argparse.Namespace, *, quiet: bool = False) -> Any:  # noqa: ANN401  config is imported lazily
    from hotline import config, log  # noqa: PLC0415

    settings = config.load(arguments.config)
    log.set_up(form=settings.log.form, level="error" if quiet else settings.log.level, stream=sys.stderr)
    return settings


def _serve(arguments: argparse.Namespace) -> int:
    from hotline.serving import serve_calls  # noqa: PLC0415

    return _run(serve_calls(_settings(arguments)))


def _text(arguments: argparse.Namespace) -> int:
    from hotline.text import text_call  # noqa: PLC0415

    return _run(text_call(_settings(arguments, quiet=True), script=arguments.script, as_json=arguments.json))


def _replay(arguments: argparse.Namespace) -> int:
    from hotline.replay import ReplaySettings, replay_here  # noqa: PLC0415
    from hotline.sound.codec import Codec  # noqa: PLC0415

    settings = _settings(arguments, quiet=True)
    replay = ReplaySettings(
        target=arguments.target,
        token=arguments.token or settings.server.token,
        codec=Codec(arguments.codec),
        channel=arguments.channel,
        out_dir=arguments.out,
        after_greeting=arguments.after_greeting,
        tail_s=arguments.tail,
    )
    return _run(replay_here(arguments.files, replay))


def _demo(arguments: argparse.Namespace) -> int:
    from hotline.demo import demo  # noqa: PLC0415

    return _run(demo(_settings(arguments, quiet=True), out_dir=arguments.out, script=arguments.script))


def _models_list(_arguments: argparse.Namespace) -> int:
    from hotline.models import list_models  # noqa: PLC0415

    return list_models()


def _models_pull(arguments: argparse.Namespace) -> int:
    from hotline.models import pull_models  # noqa: PLC0415

    return pull_models(arguments.names, default=arguments.default, tests=arguments.tests, every=arguments.all)


def _models_verify(arguments: argparse.Namespace) -> int:
    from hotline.models import verify_models  # noqa: PLC0415

    return verify_models(arguments.names)


def _doctor(arguments: argparse.Namespace) -> int:
    from hotline import config  # noqa: PLC0415
    from hotline.doctor import Asked, doctor  # noqa: PLC0415
    from hotline.errors import ConfigWrong  # noqa: PLC0415

    try:
        settings = config.load(arguments.config)
    except ConfigWrong:  # the doctor says so, and looks at the rest by the defaults
        settings = config.Settings()
    models = None if settings.speaking.voice == "neural" else ("whisper-base", "silero-vad")
    ports = {"gRPC": settings.server.port} | ({"MQTT": settings.mqtt.port} if settings.mqtt.embedded else {})
    return doctor(Asked(models=models, ports=ports, load_config=lambda: config.load(arguments.config), deep=arguments.deep))


def _bench(arguments: argparse.Namespace) -> int:
    from hotline.bench import bench_call  # noqa: PLC0415

    return _run(bench_call(_settings(arguments, quiet=True), turns=arguments.turns, out_dir=arguments.out))


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


if __name__ == "__main__":
    sys.exit(main())
