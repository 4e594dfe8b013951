"""What is logged about a call never tells who called, nor what was said."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from asr.types import RecogniserStalled
from hotline.errors import ConfigWrong, LogRefused, PortTaken
from hotline.log import LibraryLines, first_line, set_up, without_numbers
from hotline.metrics import LOG_LOST, LOG_REFUSED
from hotline.zh.numerals import DIGIT_OF
from llm.types import MaskedText, Route

PLANTED = [
    "13812345678",
    "１３８１２３４５６７８",
    "一三八一二三四五六七八",
    "幺三八一二三四五六七八",
    "138 1234 5678",
    "138-1234-5678",
    "11010519491231002X",
    "6222 0212 3456 7890 123",
]
LEVELS = ["debug", "info", "warning", "error", "critical"]


class Console(io.StringIO):
    """A stream whose lines can be read back."""

    def lines(self) -> list[dict[str, object]]:
        """Each line, parsed."""
        return [json.loads(line) for line in self.getvalue().splitlines()]


@pytest.fixture
def console() -> Iterator[Callable[..., Console]]:
    """Sets logging up onto a stream of the test, and takes it down again."""
    stream = Console()

    def begin(*, strict: bool = False, form: str = "json", level: str = "debug") -> Console:
        set_up(form=form, level=level, strict=strict, stream=stream)
        return stream

    yield begin
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    root = logging.getLogger()
    root.handlers = [handler for handler in root.handlers if not isinstance(handler, LibraryLines)]


def no_planted(output: str) -> bool:
    """Whether no stretch of seven digits is left, in any script and with no spaces between."""
    kept = "".join(DIGIT_OF.get(char, char) for char in output if char not in " -")
    run = longest = 0
    for char in kept:
        run = run + 1 if char.isdigit() else 0
        longest = max(longest, run)
    return longest < 7


@pytest.mark.parametrize("planted", PLANTED)
@pytest.mark.parametrize("level", LEVELS)
def test_a_number_comes_out_at_no_level(console: Callable[..., Console], planted: str, level: str) -> None:
    stream = console()
    log = structlog.get_logger()
    getattr(log, level)("heard", note=f"call {planted} back", nested={"a": [planted]}, other=planted)
    logging.getLogger("sqlalchemy.engine").log(logging.getLevelNamesMapping()[level.upper()], "insert %s", planted)
    [line, *library] = stream.lines()
    for each in (line, *library):
        each.pop("timestamp")
        assert no_planted(json.dumps(each, ensure_ascii=False))
    assert line["event"] == "heard"


def test_a_number_as_an_integer_is_hidden_unless_its_key_names_a_unit(console: Callable[..., Console]) -> None:
    stream = console()
    structlog.get_logger().info("sizes", wanted=13812345678, model_bytes=1117320768, turns=3, share=0.25)
    [line] = stream.lines()
    assert (line["wanted"], line["model_bytes"], line["turns"], line["share"]) == ("‹11 digits›", 1117320768, 3, 0.25)


def test_values_of_any_kind_come_out_plain(console: Callable[..., Console]) -> None:
    stream = console()
    structlog.get_logger().info("kinds", route=Route.HOT, frame=b"\x00" * 160, ids=("a", 2), file=Path("kb") / "a.yaml", none=None)
    [line] = stream.lines()
    assert [line[key] for key in ("route", "frame", "ids", "file", "none")] == ["hot", "‹160 bytes›", ["a", 2], "kb/a.yaml", None]


def test_keys_that_name_caller_data_are_refused_and_counted(console: Callable[..., Console]) -> None:
    stream = console()
    before = LOG_REFUSED._value.get()
    structlog.get_logger().info("heard", text="我要投诉隔壁老王", payload=b"\x00" * 160, characters=8)
    [line] = stream.lines()
    assert (line["text"], line["payload"], line["characters"]) == ("‹refused›", "‹refused›", 8)
    assert LOG_REFUSED._value.get() - before == 2


def test_in_tests_such_a_key_is_an_error(console: Callable[..., Console]) -> None:
    console(strict=True)
    with pytest.raises(LogRefused, match="'raw'"):
        structlog.get_logger().info("heard", raw="我要投诉")


def test_strictness_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, console: Callable[..., Console]) -> None:
    console()
    monkeypatch.setenv("HOTLINE_LOG_STRICT", "1")
    set_up(stream=io.StringIO())
    with pytest.raises(LogRefused):
        structlog.get_logger().info("heard", caller_number="138")


def test_an_unknown_level_or_form_is_explained(console: Callable[..., Console]) -> None:
    for wrong in ({"level": "loud"}, {"form": "xml"}):
        with pytest.raises(ConfigWrong, match=next(iter(wrong.values()))):
            console(**wrong)


def test_masked_text_may_be_logged(console: Callable[..., Console]) -> None:
    stream = console(strict=True)
    masked = MaskedText(text="我的手机号是〈手机号·1〉")
    structlog.get_logger().info("heard", text=masked)
    [line] = stream.lines()
    assert line["text"] == masked.text


def test_an_unknown_exception_tells_its_type_and_place_only(console: Callable[..., Console]) -> None:
    stream = console()

    def break_on(words: str) -> None:
        raise ValueError(words)

    try:
        try:
            break_on("我叫张三")
        except ValueError as cause:
            raise RuntimeError("王五的地址") from cause
    except RuntimeError:
        structlog.get_logger().exception("call_broke")
        logging.getLogger("grpc").exception("broke on %s", "x")
    ours, library = stream.lines()
    for line in (ours, library):
        told = line["error"]
        assert isinstance(told, dict)
        assert told["type"] == "RuntimeError"
        assert told["cause"]["type"] == "ValueError"
        assert any("test_log.py" in place and "break_on" in place for place in told["cause"]["at"])
    assert "张三" not in stream.getvalue()
    assert "王五" not in stream.getvalue()


def test_an_error_of_ours_tells_its_code_and_message(console: Callable[..., Console]) -> None:
    stream = console()
    group = ExceptionGroup("", [RecogniserStalled("no result within 8000 ms"), KeyError("我叫张三")])
    structlog.get_logger().error("call_broke", exc_info=group)
    structlog.get_logger().error("no_start", problem=PortTaken("port 50051 is taken", what_to_do="free it"))
    broke, no_start = stream.lines()
    error = broke["error"]
    assert isinstance(error, dict)
    assert error["of"][0] == {
        "type": "RecogniserStalled",
        "code": "asr.recogniser_stalled",
        "message": "no result within 8000 ms",
        "at": [],
    }
    assert error["of"][1] == {"type": "KeyError", "at": []}
    assert no_start["problem"] == {"type": "PortTaken", "code": "hotline.port_taken", "message": "port 50051 is taken", "at": []}


def test_a_library_gets_one_line_without_the_words_of_an_exception(console: Callable[..., Console]) -> None:
    stream = console()
    log = logging.getLogger("asyncio")
    log.error("Task exception was never retrieved\nfuture: <Task exception=ValueError('我叫张三')>")
    log.warning("gave up: %s", ValueError("我叫张三"))
    log.warning(ValueError("我叫张三"))
    log.warning("%(who)s went", {"who": "worker"})
    log.info("below the threshold")
    assert [line["event"] for line in stream.lines()] == [
        "Task exception was never retrieved",
        "gave up: ValueError",
        "ValueError",
        "worker went",
    ]


def test_a_line_whose_arguments_do_not_fit_is_told_as_it_stands() -> None:
    record = logging.LogRecord("amqtt", logging.WARNING, __file__, 1, "two of %s and %s", ("one",), None)
    assert first_line(record) == "two of %s and %s"


class FullDisk(Console):
    """Takes nothing while it is full."""

    full = True

    def write(self, text: str) -> int:
        if self.full:
            raise OSError(28, "No space left on device")
        return super().write(text)

    def flush(self) -> None:
        if self.full:
            raise OSError(28, "No space left on device")


def test_a_full_disk_loses_lines_and_breaks_nothing(console: Callable[..., Console]) -> None:
    console()  # takes it down again
    stream, before = FullDisk(), LOG_LOST._value.get()
    set_up(stream=stream)
    structlog.get_logger().info("lost")
    logging.getLogger("amqtt").warning("lost too")
    stream.full = False
    structlog.get_logger().info("kept")
    assert [line["event"] for line in stream.lines()] == ["kept"]
    assert LOG_LOST._value.get() == before + 2


def test_call_and_turn_ids_stand_in_every_line_of_a_call(console: Callable[..., Console]) -> None:
    stream = console()
    call_id = "3f2b8c1d9e4a4b7c8d1234567890abcd"

    async def turn(number: int) -> None:
        with structlog.contextvars.bound_contextvars(turn=number):
            structlog.get_logger().info("endpoint", pause_ms=620)

    async def call() -> None:
        with structlog.contextvars.bound_contextvars(call_id=call_id):
            async with asyncio.TaskGroup() as tasks:
                for number in (1, 2):
                    tasks.create_task(turn(number))

    asyncio.run(call())
    assert [(line["call_id"], line["turn"]) for line in stream.lines()] == [(call_id, 1), (call_id, 2)]


def test_dates_versions_and_tickets_stay_readable(console: Callable[..., Console]) -> None:
    stream = console(form="console")
    structlog.get_logger().info("started", at="2026-12-01 10:00", version="1.85.3", ticket="20261201-0001", unknown=object())
    assert all(word in stream.getvalue() for word in ("2026-12-01 10:00", "1.85.3", "20261201-0001", "‹object›"))


@pytest.mark.parametrize(
    "identifier",
    [
        "13912345678abcdef0",
        "abcdef13912345678a",
        "00000000-0000-4000-8000-f13912345678",
        "a1101051949123100",
        "deadbeef057188001234",
    ],
)
def test_what_looks_like_an_identifier_may_be_a_number(console: Callable[..., Console], identifier: str) -> None:
    stream = console()
    structlog.get_logger().info("call", call_id=identifier, ids=[identifier])
    [line] = stream.lines()
    assert no_planted(json.dumps([line["call_id"], line["ids"]], ensure_ascii=False))


@pytest.mark.parametrize("figures", ["20 000 / 30 000", "1000/2000/3000", "100;200;300", "1,500 / 20,000", "1500；2000；2500"])
def test_lists_of_round_figures_stay(figures: str) -> None:
    assert without_numbers(f"limits {figures}") == f"limits {figures}"


@pytest.mark.parametrize("figures", ["13800/138000", "139/1234/5678", "138 0013 8000", "20 000 30 000", "0571/8800/1200"])
def test_other_lists_do_not(figures: str) -> None:
    assert no_planted(without_numbers(figures).replace("/", ""))


@given(st.text(alphabet=[*DIGIT_OF, *"٣४"], min_size=7, max_size=40), st.text(max_size=5))
def test_no_run_of_digits_survives_in_any_script(run: str, around: str) -> None:
    assert run not in without_numbers(f"{around}{run}{around}")


@given(st.text(max_size=200))
def test_text_without_long_runs_is_left_alone(text: str) -> None:
    if no_planted(text) and not any(char in "–·,，、" for char in text):
        assert without_numbers(text) == text
