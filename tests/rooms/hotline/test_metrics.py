"""Metrics: fixed words only, counts of the rooms shown while they live."""

from prometheus_client import REGISTRY, generate_latest

from asr.guard import RULES as GUARDS
from hotline import metrics


def test_the_words_of_refused_speech_are_the_guards_names() -> None:
    assert set(GUARDS) <= set(metrics.RULES)


def test_an_unknown_word_is_counted_as_other_and_shows_nothing_of_itself() -> None:
    metrics.REFUSED.of("13900005678").inc()
    assert b"13900005678" not in generate_latest(REGISTRY)


def test_a_rooms_own_counts_are_shown_while_it_lives() -> None:
    counts = {"done": 3}
    end = metrics.follow(metrics.Totals("hotline_test", "For the test.", "outcome", lambda: counts))
    assert b'hotline_test_total{outcome="done"} 3.0' in generate_latest(REGISTRY)
    end()
    assert b"hotline_test" not in generate_latest(REGISTRY)
