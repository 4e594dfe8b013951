"""Prometheus metrics, each name in one list. Events in, counters out. Knows no call and no caller: labels are fixed words.

A label that could take any value (a number, a name, an error's message) would leak caller data and blow up the time series,
so every labelled metric carries its words; whatever else comes is counted as ``other``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from threading import Thread
from typing import Generic, TypeVar
from wsgiref.simple_server import WSGIServer

from prometheus_client import REGISTRY, Counter, Gauge, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from hotline.errors import PortTaken
from llm.types import Route

OTHER = "other"
# Names of the listening room's guards, and of what else leaves a turn without words; a test compares them with the room's.
RULES = (
    *("nan_score", "no_words", "no_speech", "unsure", "too_short", "too_fast", "boilerplate", "loop", "compressible"),
    *("foreign_script", "prompt_echo", "asr.recogniser_failed", "asr.recogniser_stalled", "asr.recogniser_busy"),
)
Metric = TypeVar("Metric", Counter, Histogram)


class ByWord(Generic[Metric]):
    """A metric with one label of fixed words. Every series exists from the start, so a rate is right from the first event."""

    def __init__(self, metric: Metric, *words: str) -> None:
        self._series: dict[str, Metric] = {word: metric.labels(word) for word in (*words, OTHER)}

    def of(self, word: str) -> Metric:
        """The series of a word; of ``other`` if it is not a known one."""
        return self._series.get(word, self._series[OTHER])

    @property
    def words(self) -> frozenset[str]:
        """The fixed words."""
        return frozenset(self._series)


# calls
CALLS_STARTED = Counter("hotline_calls_started", "Calls answered.")
CALLS_ACTIVE = Gauge("hotline_calls_active", "Calls on the line now.")
PREPARED = Gauge("hotline_prepared_share", "Of the hot answers' clauses, those whose sound is there; 1: all.")
CALLS_ENDED = ByWord(
    Counter("hotline_calls_ended", "Calls ended, by reason.", ["reason"]),
    *("goodbye", "transferred", "hangup", "line_broken", "silence", "time_up", "failure", "overload", "drained"),
)
TURNS = ByWord(
    Counter("hotline_turns", "Turns answered, by route.", ["route"]),
    *(route.value for route in Route),
    *("hand_over", "reprompt", "notice", "rating"),
)
SATISFACTION = ByWord(
    Counter("hotline_satisfaction", "Calls whose caller was asked for a grade, by grade; none: asked and not given.", ["grade"]),
    *("1", "2", "3", "4", "5", "none"),
)
BARGE_IN = ByWord(Counter("hotline_barge_in", "Interruptions, by step.", ["step"]), "pause", "cancel", "resume")
FILLERS = Counter("hotline_fillers", "Filler phrases spoken because no answer was ready.")
REPROMPTS = Counter("hotline_reprompts", "Reprompts after silence or unclear speech.")

# line audio
CALLER_FRAMES = ByWord(
    Counter("hotline_caller_frames", "Caller frames that were not simply the next one.", ["fate"]),
    *("late", "lost", "doubled", "bad", "renumbered"),
)

# hearing
DECODE_QUEUE = Gauge("hotline_decode_queue", "Segments waiting for a recogniser.")
REFUSED = ByWord(Counter("hotline_speech_refused", "Turns that gave no words to trust, by the guard's rule.", ["rule"]), *RULES)

# questions over HTTP
HTTP_REQUESTS = ByWord(
    Counter("hotline_http_requests", "HTTP requests, by outcome.", ["outcome"]),
    *("ok", "wrong", "unauthorised", "limited", "busy", "failed", "gone"),
)
HTTP_SECONDS = ByWord(
    Histogram(
        "hotline_http_seconds",
        "Time of an HTTP request, by place.",
        ["place"],
        buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
    ),
    *("ask", "speech", "health", "docs"),
)

# people and the record
OFFERS = ByWord(
    Counter("hotline_offers", "Hand-off offers, by step.", ["step"]), "made", "published", "retried", "claimed", "expired", "failed"
)
RECORD_ERRORS = Counter("hotline_record_errors", "Writes to the record that failed.")
LOG_REFUSED = Counter("hotline_log_refused", "Log values dropped because their key names caller data.")
LOG_LOST = Counter("hotline_log_lost", "Log lines that could not be written: the disk is full, or nobody reads.")

# time
VOICE_TO_VOICE = Histogram(
    "hotline_voice_to_voice_seconds",
    "Caller's last speech to the bot's first frame.",
    buckets=(0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 2.5, 3, 4, 6, 10, 15),
)
FRAME_SPACING = Histogram(
    "hotline_frame_spacing_error_seconds",
    "How far from 20 ms after the last one a bot frame left.",
    buckets=(0.0005, 0.001, 0.002, 0.003, 0.005, 0.008, 0.012, 0.02, 0.05, 0.1, 0.5),
)
BARGE_IN_STOP = Histogram(
    "hotline_barge_in_stop_seconds",
    "Caller's onset to the bot's silence.",
    buckets=(0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.6, 1, 2),
)


class Totals(Collector):
    """Counts that a room keeps for itself, read when somebody scrapes. Registered while the room lives."""

    def __init__(self, name: str, text: str, label: str, read: Callable[[], Mapping[str, int]]) -> None:
        """read: fixed words → counts that only grow."""
        self._name, self._text, self._label, self._read = name, text, label, read

    def collect(self) -> Iterator[CounterMetricFamily]:
        """One series a word."""
        family = CounterMetricFamily(self._name, self._text, labels=[self._label])
        for word, count in self._read().items():
            family.add_metric([word], count)
        yield family


def follow(totals: Totals) -> Callable[[], None]:
    """Show these counts too; call the result to end it."""
    REGISTRY.register(totals)
    return lambda: REGISTRY.unregister(totals)


def serve_metrics(port: int, host: str = "127.0.0.1") -> tuple[WSGIServer, Thread]:
    """Serve ``/metrics`` from a thread of its own. The caller shuts the server down. Raises PortTaken."""
    try:
        return start_http_server(port, addr=host)
    except OSError:
        raise PortTaken(f"metrics can't listen on {host}:{port}", what_to_do="free the port or set another for metrics") from None
