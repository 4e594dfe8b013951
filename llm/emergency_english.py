"""What English speakers say in an emergency, kind by kind. Patterns of folded lower-case text with its spaces; no logic."""

from __future__ import annotations

import re

from llm.emergency_words import EmergencyKind


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b")


SAID = {
    EmergencyKind.SELF_HARM: _any(
        r"(?:kill|hurt|hang|harm|cut)(?:ing)? myself|end(?:ing)? (?:my life|it all)|suicid(?:e|al)|want to die|better off dead",
        r"(?:don'?t|do not) want to live|cut my wrists?|overdosed?",
        r"(?:took|taken|swallowed) (?:\w+ ){0,3}(?:bottle|box|lot|handful|all) (?:\w+ ){0,3}(?:pills|tablets|medicine)",
        r"(?:going to|gonna|want to) jump",
    ),
    EmergencyKind.THREAT: _any(r"(?:kill|shoot|stab|burn|bomb) (?:you|them|everyone|everybody)|blow (?:you|it|this place) up"),
    EmergencyKind.GAS: _any(
        r"gas (?:is |pipe is )?leak(?:s|ing|age)?|leak(?:ing)? (?:of )?gas",
        r"smell(?:s|ing)? (?:like |of |the )?gas|gas smell|carbon monoxide",
    ),
    EmergencyKind.FIRE: _any(
        r"fires?", r"(?:lots of|smell(?:s)?|full of|see|there'?s|there is) (?:\w+ )?smoke", r"burning", r"explo(?:sion|ded)"
    ),
    EmergencyKind.CRIME: _any(
        r"robb(?:ed|ery|ing|er)|burglars?|kidnap(?:ped|ping)?|raped?|stabb(?:ed|ing)|murder(?:ed|er)?",
        r"assault(?:ed)?|shooting|has a (?:gun|knife)",
        r"(?:attack|hitt|beat|follow|threaten|kill)(?:ing|ed|s)? (?:me|us|him|her|them)",
        r"(?:hit|beat|hits|beats) me|break(?:ing)? in(?:to)?|bomb",
        r"(?:call|send|get|need) (?:the |me the )?(?:police|cops)",
    ),
    EmergencyKind.MEDICAL: _any(
        r"ambulance|heart attack|(?:can'?t|cannot|can not|not|stopped) breath(?:e|ing)",
        r"unconscious|bleeding|choking|a stroke|poison(?:ed|ing)?",
        r"pass(?:ed|ing) out|collapsed|seizures?|(?:is|am|i'm|he's|she's) dying|(?:call|need) (?:a |the )?doctor|in labou?r",
    ),
    EmergencyKind.RESCUE: _any(r"trapped", r"stuck in (?:the|an|a) (?:elevator|lift)", r"drown(?:ing|ed)", r"earthquake"),
    EmergencyKind.TRAFFIC: _any(r"(?:car|traffic|road) (?:accident|crash)", r"hit by a (?:car|truck|bus|bike)"),
}
# the whole turn is a cry
CRY = re.compile(r"^\W*(?:(?:please|help|me|us|somebody|someone|police|emergency|sos)\W*)+$")
CRIES = re.compile(r"help|police|emergency|sos")
ABOUT = _any(
    r"safety|permits?|certificates?|licen[cs]es?|insurance|stations?|department|inspections?",
    r"fees?|costs?|how much|price|appl(?:y|ication)|address",
    r"extinguishers?|drill|compensation|polic(?:y|ies)|regulations?|rules?|clearance|movie",
    r"hydrants?|trucks?|brigade|reimburse\w*|report on",
    r"last (?:year|month|week)|yesterday|ago|hazards?|how (?:do|can|to)|prevention|complain\w*",
)
NOW = _any(r"there'?s an? fire|on fire|right now|hurry|it'?s an emergency|this is an emergency|come quickly|bleeding|myself")
