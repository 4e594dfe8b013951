"""Prometheus metrics, each name in one list. Events in, counters out. Knows no call and no caller: labels are fixed words.

A label that could take any value (a number, a name, an error's message) would leak caller data and blow up the time series,
so every labelled metric carries its words; whatever else comes is counted as ``other``.
"""

from __future__ import annotations

from threading import Thread
from typing import Generic, TypeVar
from wsgiref.simple_server import WSGIServer

from prometheus_client import Counter, Gauge, Histogram, start_http_server

from hotline.errors import PortTaken
from llm.types import Route

OTHER = "other"
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
CALLS_ENDED = ByWord(
    Counter("hotline_calls_ended", "Calls ended, by reason.", ["reason"]),
    *("goodbye", "transferred", "hangup", "line_broken", "silence", "time_up", "failure", "overload", "drained"),
)
TURNS = ByWord(
    Counter("hotline_turns", "Turns answered, by route.", ["route"]),
    *(route.value for route in Route),
    *("hand_over", "reprompt", "notice"),
)
BARGE_IN = ByWord(Counter("hotline_barge_in", "Interruptions, by step.", ["step"]), "pause", "cancel", "resume")
FILLERS = Counter("hotline_fillers", "Filler phrases spoken because no answer was ready.")
REPROMPTS = Counter("hotline_reprompts", "Reprompts after silence or unclear speech.")
WATCHDOGS = ByWord(Counter("hotline_watchdogs", "Watchdogs that fired, by state.", ["state"]), "speaking", "thinking", "listening")

# line audio
CALLER_FRAMES = ByWord(
    Counter("hotline_caller_frames", "Caller frames that were not simply the next one.", ["fate"]), "late", "lost", "doubled", "bad"
)

# hearing
DECODE_QUEUE = Gauge("hotline_decode_queue", "Segments waiting for a recogniser.")
DECODES = ByWord(Counter("hotline_decodes", "Decodes, by outcome.", ["outcome"]), "done", "stopped", "shed", "stalled", "failed")
GUARDED = ByWord(
    Counter("hotline_decodes_guarded", "Decodes refused as invented, by rule.", ["rule"]),
    *("no_speech", "logprob", "compression", "repetition", "rate", "boilerplate", "echo", "too_short", "empty"),
)

# speaking
VOICE_CACHE = ByWord(Counter("hotline_voice_cache", "Clauses looked up in the voice cache.", ["outcome"]), "hit", "miss")
VOICE_FALLBACKS = Counter("hotline_voice_fallbacks", "Clauses that the other voice had to speak.")

# people and the record
OFFERS = ByWord(
    Counter("hotline_offers", "Hand-off offers, by step.", ["step"]), "made", "published", "retried", "claimed", "expired", "failed"
)
RECORD_ERRORS = Counter("hotline_record_errors", "Writes to the record that failed.")
LOG_REFUSED = Counter("hotline_log_refused", "Log values dropped because their key names caller data.")

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


def serve_metrics(port: int, host: str = "127.0.0.1") -> tuple[WSGIServer, Thread]:
    """Serve ``/metrics`` from a thread of its own. The caller shuts the server down. Raises PortTaken."""
    try:
        return start_http_server(port, addr=host)
    except OSError:
        raise PortTaken(f"metrics can't listen on {host}:{port}", what_to_do="free the port or set another for metrics") from None
