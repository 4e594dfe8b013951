"""A masked turn → the item that the caller dictated, if that is all the turn holds. Pure; knows no questions."""

from __future__ import annotations

import re

from llm import phrases
from llm.spoken import speak
from llm.types import AskedFor, MaskedText, Personal, Route, Span, Step
from llm.wording import plain

_AROUND = re.compile(
    "手机号码?|手机|电话号码?|电话|联系方式|号码|身份证号?码?|身份证|银行卡号?|卡号|车牌号?|地址|住址|住在|家住|姓名|名字|名叫|我叫|叫做|叫|我姓|姓|邮箱|微信号?|微信|"
    "座机|护照号?|账号|出生日期|生日|出生|我的|我|你的|你|您|他的|她的|他|她|是|的|就是|就|那个|这个|嗯|呃|啊|哦|好的|好|吧|记一下|记下|登记|一下|请|留|打|这|那|了|呢|"
    "不对|错了|应该|重新|再|说一遍|说|一遍|吗|对|没错"
)
_LEFT_AT_MOST = 1


def dictated(question: MaskedText) -> Span | None:
    """The item that counts: an incomplete one first, else the last. None when the turn says more than the item."""
    items = [span for span in question.spans if span.kind is not Personal.UNSURE]
    if not items or len(_AROUND.sub("", plain(question.text))) > _LEFT_AT_MOST:
        return None
    return next((span for span in items if not span.complete), items[-1])


def dictated_steps(question: MaskedText) -> tuple[Step, ...] | None:
    """What is said to a turn that only dictates: noted, or asked for again."""
    item = dictated(question)
    if item is None:
        return None
    if item.complete:
        return speak(Route.NOTED, phrases.noted(item.kind), 1.0, f"dictated: {item.kind.name.lower()}")
    spoken = phrases.incomplete(item.kind, item.raw_end - item.raw_start)
    return (*speak(Route.NOTED, spoken, 0.6, f"dictated, incomplete: {item.kind.name.lower()}"), AskedFor(kind=item.kind))
