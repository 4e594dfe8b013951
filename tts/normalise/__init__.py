"""Displayed text in → text as it is read aloud out: no digits, no symbols that a voice would stumble over.

Three steps: `tidy` (marks that nobody hears go), typed spans (each number is read as what it is: a phone, a date, a price …),
`symbols` (what is left). Knows nothing of voices; Latin letters stay letters, punctuation stays punctuation.
"""

from tts.normalise import amounts, identifiers, moments, symbols
from tts.normalise.scan import Rule, scan
from tts.normalise.tidy import tidy

_RULES: tuple[Rule, ...] = (*symbols.BEFORE_NUMBERS, *identifiers.RULES, *moments.RULES, *amounts.RULES, *symbols.RULES)


def to_speech(text: str) -> str:
    """The text as read aloud. Never raises, takes linear time; the result holds no decimal digit of any script."""
    return symbols.leftovers(scan(tidy(text), _RULES))
