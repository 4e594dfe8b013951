"""`hotline doctor`."""

from __future__ import annotations

import argparse
from typing import Any

from hotline.commands.common import add


def add_to(commands: Any) -> None:  # noqa: ANN401
    doctor = add(commands, "doctor", _doctor, "what is missing or wrong here, and what to type")
    doctor.add_argument("--deep", action="store_true", help="check the models' hashes, not only sizes")


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
