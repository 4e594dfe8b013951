"""Every error of ours explains itself; a stranger's message is not repeated. Metrics count fixed words only."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from asr.types import HearingError
from hotline import errors, metrics
from hotline.errors import HotlineError, PortTaken, explain
from hotline.paths import configs_dir, models_dir
from llm.types import AnsweringError, EngineStalled
from tts.types import SpeakingError


def tree(root: type[Exception]) -> Iterator[type[Exception]]:
    """An error and all below it, as far as the product defines them."""
    if root.__module__.split(".")[0] in {"hotline", "asr", "llm", "tts"}:
        yield root
    for child in root.__subclasses__():
        yield from tree(child)


def test_codes_are_unique_and_stable_words() -> None:
    classes = [each for root in (HotlineError, HearingError, AnsweringError, SpeakingError) for each in tree(root)]
    codes = [each.code for each in classes]  # type: ignore[attr-defined]
    assert len(set(codes)) == len(codes)
    assert all(code.replace(".", "").replace("_", "").isalpha() for code in codes)


def test_every_error_of_a_room_says_what_to_do() -> None:
    for root in (HearingError, AnsweringError, SpeakingError):
        for each in tree(root):
            if each is not root and each.__module__.endswith(".types"):
                assert explain(each("x")).what_to_do, each


def test_our_own_say_it_themselves() -> None:
    told = explain(PortTaken("port 50051 is taken", what_to_do="free it"))
    assert (told.code, told.message, told.what_to_do) == ("hotline.port_taken", "port 50051 is taken", "free it")


def test_of_a_stranger_only_the_type_is_told() -> None:
    told = explain(ValueError("我叫张三"))
    assert (told.code, told.message) == ("hotline.unexpected", "unexpected ValueError")


def test_of_a_group_the_first_of_ours_is_told() -> None:
    group = ExceptionGroup("", [ValueError("x"), ExceptionGroup("", [EngineStalled("no token within 1500 ms")])])
    assert explain(group).code == "llm.engine_stalled"
    assert explain(ExceptionGroup("", [ValueError("x")])).code == "hotline.unexpected"


def test_the_drawn_tree_names_every_error() -> None:
    drawn = errors.__doc__ or ""
    assert all(each.__name__ in drawn for each in tree(HotlineError) if each.__module__ == "hotline.errors")


def test_an_unknown_word_is_counted_as_other() -> None:
    before = metrics.CALLS_ENDED.of("other")._value.get()
    metrics.CALLS_ENDED.of("13812345678").inc()
    metrics.CALLS_ENDED.of("goodbye").inc()
    assert metrics.CALLS_ENDED.of("other")._value.get() == before + 1
    assert "hot" in metrics.TURNS.words


def test_metrics_are_served_and_a_taken_port_is_told() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server, thread = metrics.serve_metrics(port)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as page:
            assert 'hotline_barge_in_total{step="cancel"}' in page.read().decode()
        with pytest.raises(PortTaken, match=str(port)):
            metrics.serve_metrics(port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_paths_follow_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOTLINE_MODELS__DIR", str(tmp_path))
    assert models_dir() == tmp_path
    monkeypatch.delenv("HOTLINE_MODELS__DIR")
    assert models_dir().parts[-2:] == ("hotline", "models")
    assert (configs_dir() / "models.toml").is_file()
