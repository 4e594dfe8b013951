"""Orders of the turn machine that are a fixed sentence → the sentence. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from hotline.parts import Phrases
from hotline.turn_events import Command, GiveUp, Order
from hotline.turns import TurnMachine


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """What to say. hands_over: reason of the hand-over that follows, empty for none; is_new_start: an earlier offer is void.

    closes: the call ends with it. slow: who stays silent may not have followed.
    """

    route: str
    text: str
    hands_over: str = ""
    is_new_start: bool = False
    closes: bool = False
    slow: bool = False


def sentence_of(order: Order, phrases: Phrases, turns: TurnMachine) -> Sentence:
    """The sentence for an order. Raises ValueError for an order that is none."""
    match order:
        case Command.REPROMPT:
            return Sentence(route="reprompt", text=_nth(phrases.reprompts, turns.silences), slow=True)
        case Command.NOT_UNDERSTOOD:
            return Sentence(route="reprompt", text=_nth(phrases.not_understood, turns.unclears))
        case Command.TRANSFER_FAILED:
            again = turns.refusals > 1
            text = _in_turn(phrases.transfer_failed_again, turns.refusals - 1) if again else phrases.transfer_failed
            return Sentence(route="notice", text=text, is_new_start=True)
        case Command.ASK_TO_RATE | Command.ASK_TO_RATE_AGAIN:
            return Sentence(route="rating", text=phrases.rate if order is Command.ASK_TO_RATE else phrases.rate_again)
        case Command.FAREWELL:
            rated = turns.grading.grade is not None
            return Sentence(route="goodbye", text=phrases.rated if rated else phrases.farewell, closes=True)
        case GiveUp(reason=reason):
            text = phrases.give_up.get(reason, phrases.give_up["failure"])
            if reason == "asked" and turns.refusals:
                text = _in_turn(phrases.asked_again, turns.refusals)
            return Sentence(route="hand_over", text=text, hands_over=reason)
        case _:
            raise ValueError(f"{order} is no sentence")


def _nth(sentences: tuple[str, ...], n: int) -> str:
    """The n-th sentence, counted from 1; the last one when they run out."""
    return sentences[max(0, min(n, len(sentences)) - 1)]


def _in_turn(sentences: tuple[str, ...], n: int) -> str:
    """The n-th sentence, counted from 1 and round again: who asks once more never hears the same one twice running."""
    return sentences[(n - 1) % len(sentences)]
