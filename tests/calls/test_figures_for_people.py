"""People read numerals as figures: in the record and in the offer. The mind gets what was said."""

from tests.fakes import Say
from tests.script import Caller

ASK = Say(at_ms=15_000, text="公司欠我三万二千五百元，我手机幺三九零零零零五六七八")
PERSON = Say(at_ms=23_000, text="转人工")


def test_the_record_shows_figures_and_the_caller_is_heard_as_said() -> None:
    call = Caller(says=(ASK, PERSON), ends_at_ms=40_000).call()
    assert call.heard[0] == "公司欠我三万二千五百元，我手机〈手机号·1〉"
    assert next(turn.masked_text for turn in call.record.turns if turn.turn) == "公司欠我32500元，我手机〈手机号·1〉"


def test_the_offer_shows_figures() -> None:
    call = Caller(says=(ASK, PERSON), ends_at_ms=40_000).call()
    offer = call.record.offers[0]
    assert "公司欠我32500元，我手机〈手机号·1〉" in [caller for caller, _ in offer.turns]
    assert "32500元" in offer.summary
