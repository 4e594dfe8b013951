"""What is said on the telephone → what is true on a screen: nobody is put through there, and no work order is made.

Sentences that promise either are said otherwise, and that a work order is wanted is kept for the app. Knows no route and no wire.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hotline.desk import AskClause

EMERGENCY = "emergency"

_ORDER_OFFERED = "要为您登记这件事吗？"
_ORDER_PROMISED = re.compile("马上转给工作人员为您登记(?:，请稍等)?。")
_PERSON_PROMISED = re.compile(
    "(?:请稍等，)?(?:我?(?:这就|马上|正在)为您转接(?:工作人员|人工)?|我再为您接一次工作人员|这就再试着接通工作人员|我请工作人员来帮您)"
    "(?:，(?:请稍等|请您不要挂机|麻烦您稍等))?。"
)


class Screen:
    """One answer's clauses as they are shown. wants_order: the matter can be registered, by a person."""

    def __init__(self, person_number: str) -> None:
        """person_number: may be empty, then people are found elsewhere."""
        self.wants_order = False
        dial = f"拨打{person_number}" if person_number else "联系工作人员"
        self._order = f"这里不能登记；需要登记这件事，请{dial}。"
        self._person = f"需要人工服务，请{dial}。"

    def clause(self, said: AskClause) -> AskClause | None:
        """The same, or what is true here; None: nothing is left of it."""
        text = said.text.replace(_ORDER_OFFERED, self._order)
        text = _ORDER_PROMISED.sub(self._order, text)
        self.wants_order = self.wants_order or text != said.text
        # in an emergency the number to dial is there already, and nothing may draw away from it
        text = _PERSON_PROMISED.sub("" if said.route == EMERGENCY else self._person, text)
        return replace(said, text=text) if text else None
