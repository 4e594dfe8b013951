"""Logging: event dicts in, lines without caller data out. Knows no call; ids come with `structlog.contextvars.bound_contextvars`.

Three walls, for our events and for the lines of libraries alike. Keys that name caller data are refused (strict: LogRefused; else
the value is dropped and counted). Seven digits or more in a row come out of no value, in whatever script. Of an exception come
type, code and places; its message only if it is one of ours. A line that can't be written is counted and forgotten: no call ends
for it.
"""

from __future__ import annotations

import enum
import io
import logging
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from traceback import walk_tb
from types import TracebackType
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from hotline.errors import OURS, ConfigWrong, LogRefused, explain
from hotline.metrics import LOG_LOST, LOG_REFUSED
from hotline.zh.numerals import DIGIT_OF
from llm.privacy_labels import is_mobile, names_somebody
from llm.types import MaskedText

FORMS = ("json", "console")
STRICT_VARIABLE = "HOTLINE_LOG_STRICT"
REFUSED = "‹refused›"
REFUSED_KEYS = frozenset({
    *("text", "raw", "raw_text", "transcript", "utterance", "question", "prompt"),
    *("caller", "caller_number", "phone", "digits", "dtmf", "payload", "audio"),
})
OUR_NUMBERS = frozenset({"ticket", "offer_id"})  # made by us, never by a caller
UNITS = ("_ms", "_us", "_ns", "_s", "_hz", "_bytes", "_samples", "_count", "pid")
QUIET_LIBRARIES = ("amqtt", "transitions", "mqtt", "sqlalchemy", "grpc", "faster_whisper", "httpx2", "huggingface_hub", "asyncio")

_DIGIT = rf"[\d{''.join(form for form in DIGIT_OF if not form.isdigit())}]"
_BETWEEN = r" \-–—·,，、;；/／|｜\\_*~～()（）"  # no point and no colon: addresses and times of day stay
_NUMBER = re.compile(rf"{_DIGIT}(?:[{_BETWEEN}]{{0,3}}{_DIGIT}){{6,}}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d)?")
_LIST_MARK = re.compile(r" ?[;；/／|｜] ?")
_ROUND = re.compile(r"[1-9]\d{0,2}(?:[ ,]\d00)|[1-9]\d{0,3}00", re.ASCII)  # 20 000, 1500
_IDENTIFIER = re.compile(r"(?=.*[a-f])(?:[0-9a-f]{16,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_LARGEST_BARE = 999_999
_LONGEST_LINE = 500
_PLACES = 12


def without_numbers(text: str) -> str:
    """The text with every run of seven digits or more, ASCII, full-width or Chinese, replaced by its length."""

    def told(run: re.Match[str]) -> str:
        return run[0] if _DATE.fullmatch(run[0]) or _are_figures(run[0]) else f"‹{sum(map(_is_digit, run[0]))} digits›"

    return _NUMBER.sub(told, text)


def _are_figures(run: str) -> bool:
    """20 000 / 30 000: round sums that are not a number in pieces."""
    pieces = _LIST_MARK.split(run)
    return len(pieces) > 1 and all(map(_ROUND.fullmatch, pieces)) and not is_mobile("".join(pieces))


def _is_digit(char: str) -> bool:
    return char in DIGIT_OF or char.isdigit()


def _is_identifier(text: str) -> bool:
    """Hex that hides nobody's number."""
    return _IDENTIFIER.fullmatch(text) is not None and not names_somebody(text)


def refuse_caller_data(strict: bool) -> Processor:  # noqa: FBT001  the name says it
    """A processor that lets no value pass under a key that names caller data, unless the masker made it."""

    def refuse(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        for key in REFUSED_KEYS & event.keys():
            if isinstance(event[key], MaskedText):
                continue
            if strict:
                raise LogRefused(f"a log event carries {key!r}", what_to_do="log its length, or the MaskedText made of it")
            LOG_REFUSED.inc()
            event[key] = REFUSED
        return event

    return refuse


def hide_numbers(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Clean every value, whatever its key."""
    return {key: _clean(key, value) for key, value in event.items()}


def _clean(key: str, value: object) -> object:  # noqa: PLR0911  one line for each kind
    """A value fit to print: plain, and without a number that could be a caller's."""
    match value:
        case None | bool():
            return value
        case enum.Enum():
            return _clean(key, value.value)
        case int() | float():
            return value if abs(value) <= _LARGEST_BARE or key.endswith(UNITS) else without_numbers(f"{value:.0f}")
        case MaskedText():
            return without_numbers(value.text)
        case str() | PurePath():
            text = str(value)
            return text if key in OUR_NUMBERS or _is_identifier(text) else without_numbers(text)
        case Mapping():
            return {without_numbers(str(name)): _clean(str(name), each) for name, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_clean(key, each) for each in value]
        case bytes() | bytearray() | memoryview():
            return f"‹{len(value)} bytes›"
        case BaseException():
            return tell(value)
        case _:
            return f"‹{type(value).__name__}›"


def tell(error: BaseException) -> dict[str, object]:
    """An exception without its values: type, code, places, causes; the message only of an error of ours."""
    told: dict[str, object] = {"type": type(error).__name__}
    if isinstance(error, OURS):
        told |= {"code": explain(error).code, "message": without_numbers(str(error))}
    told["at"] = _places(error.__traceback__)
    if isinstance(error, BaseExceptionGroup):
        told["of"] = [tell(child) for child in error.exceptions]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        told["cause"] = tell(cause)
    return told


def _places(trace: TracebackType | None) -> list[str]:
    frames = [(frame.f_code, line) for frame, line in walk_tb(trace)]
    return [f"{'/'.join(Path(code.co_filename).parts[-2:])}:{line} {code.co_name}" for code, line in frames[-_PLACES:]]


def tell_exception(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Turn exc_info into `error`; drop stack dumps."""
    event.pop("stack_info", None)
    info = event.pop("exc_info", None)
    error = info[1] if isinstance(info, tuple) else info if isinstance(info, BaseException) else sys.exc_info()[1] if info else None
    if error is not None:
        event["error"] = tell(error)
    return event


class Lossy(io.TextIOBase):
    """A stream whose disk may be full and whose reader may be gone."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or count."""
        try:
            return self._stream.write(text)
        except (OSError, ValueError):  # ValueError: closed
            LOG_LOST.inc()
            return 0

    def flush(self) -> None:
        """Write out, or leave it."""
        with suppress(OSError, ValueError):  # counted when it was written
            self._stream.flush()


class LibraryLines(logging.Handler):
    """What libraries log through the standard module: its first line, by the same walls, to the same place."""

    def __init__(self, processors: list[Processor], stream: Lossy) -> None:
        super().__init__()
        self._processors = processors
        self._stream = stream

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        event: EventDict = {
            "event": first_line(record),
            "logger": record.name,
            "level": record.levelname.lower(),
            "exc_info": record.exc_info,
        }
        for processor in self._processors:
            event = processor(None, "", event)  # type: ignore[assignment]  # the last one gives the line
        self._stream.write(f"{event}\n")
        self._stream.flush()


def first_line(record: logging.LogRecord) -> str:
    """A record's message, without what may hold content: an exception among its arguments, and all lines after the first."""
    arguments = record.args
    if isinstance(arguments, tuple):
        arguments = tuple(type(each).__name__ if isinstance(each, BaseException) else each for each in arguments)
    try:
        message = str(record.msg) % arguments if arguments else str(record.msg)
    except (TypeError, ValueError, KeyError):  # arguments that don't fit the message: the library's bug
        message = str(record.msg)
    if isinstance(record.msg, BaseException):
        message = type(record.msg).__name__
    return message.partition("\n")[0][:_LONGEST_LINE]


def set_up(*, form: str = "json", level: str = "info", strict: bool | None = None, stream: TextIO | None = None) -> None:
    """Set up logging for this process; again to change it. strict None: as HOTLINE_LOG_STRICT says. Raises ConfigWrong."""
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None or form not in FORMS:
        raise ConfigWrong(
            f"log level {level!r}, form {form!r}", what_to_do="levels: debug, info, warning, error; forms: json, console"
        )
    stream = stream or sys.stderr
    lossy = Lossy(stream)
    strict = os.environ.get(STRICT_VARIABLE) == "1" if strict is None else strict
    renderer: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False, sort_keys=True)
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=stream.isatty())
    )
    walls: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        refuse_caller_data(strict),
        tell_exception,
        hide_numbers,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        renderer,
    ]
    structlog.configure(
        processors=[structlog.processors.add_log_level, *walls],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", lossy)),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [each for each in root.handlers if type(each) not in {LibraryLines, logging.StreamHandler, logging.FileHandler}]
    root.addHandler(LibraryLines(walls, lossy))
    root.setLevel(logging.WARNING)
    for name in QUIET_LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
