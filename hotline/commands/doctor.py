"""`hotline doctor`."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from hotline.commands.common import add


def add_to(commands: Any) -> None:  # noqa: ANN401
    doctor = add(commands, "doctor", _doctor, "what is missing or wrong here, and what to type")
    doctor.add_argument("--deep", action="store_true", help="check the models' hashes, not only sizes")


def _doctor(arguments: argparse.Namespace) -> int:
    from hotline import config  # noqa: PLC0415
    from hotline.doctor import Asked, doctor  # noqa: PLC0415
    from hotline.errors import ConfigWrong  # noqa: PLC0415

    path = arguments.config or config.settings_file()
    try:
        settings = config.load(path)
    except ConfigWrong as wrong:
        return doctor(Asked(models=(), load_config=partial(_unread, wrong), deep=arguments.deep))
    asked = Asked(
        models=None if settings.speaking.voice == "neural" else ("whisper-base", "silero-vad"),
        ports=_ports(settings),
        load_config=lambda: config.check(path),
        knowledge_dir=config.knowledge_folder(settings),
        certificates=[partial(_certificate, part, name) for name, part in _tls_parts(settings)],
        deep=arguments.deep,
    )
    return doctor(asked)


def _unread(wrong: Any) -> None:  # noqa: ANN401
    """What the defaults say is not looked at: it is not what would be used. Raises ConfigWrong."""
    from hotline.errors import ConfigWrong  # noqa: PLC0415

    later = "the models, ports, knowledge base and certificates that it names are looked at after that"
    raise ConfigWrong(str(wrong), what_to_do=f"{wrong.what_to_do}; {later}")


def _ports(settings: Any) -> dict[str, int]:  # noqa: ANN401  config is imported lazily
    wanted = {
        "gRPC": settings.server.port,
        "HTTP": settings.http.port,
        "MQTT": settings.mqtt.port if settings.mqtt.embedded else 0,
        "metrics": settings.metrics.port,
    }
    return {use: port for use, port in wanted.items() if port}


def _tls_parts(settings: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
    """HTTP takes the server's files unless it has some of its own."""
    own = settings.http.tls_cert or settings.http.tls_key or settings.http.tls_client_ca
    return [("server", settings.server), *([("http", settings.http)] if own else [])]


def _certificate(part: Any, section: str) -> str:  # noqa: ANN401
    """Raises ConfigWrong."""
    from hotline.certificates import Certificates, tls_files  # noqa: PLC0415

    files = tls_files(part.tls_cert, part.tls_key, part.tls_client_ca, section=section)
    if files is None:
        return f"[{section}] has none: its door is for loopback, or behind something that encrypts"
    Certificates(files)
    return f"[{section}] {files.cert} can serve" + ("; clients need certificates" if files.client_ca else "")
