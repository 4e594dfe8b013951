"""The forms in which texts are compared: folded, no punctuation; and what of them only carries a question. Knows no entries."""

from __future__ import annotations

import functools
import re

from hotline.zh.skeleton import skeleton

_CARRIERS = re.compile(
    "请问|麻烦|您好|你好|谢谢|打扰|咨询|了解|想问|问问|问|一下子?|那个|这个|就是|什么时候|什么|怎么样|怎么办|怎么|怎样|如何|咋|啥|哪里|哪儿|哪|"
    "多少|多久|多长时间|几天|我们|你们|咱们|咱|他们|我|你|您|他|她|的|了|吗|呢|啊|呀|吧|嘛|哦|哎|喂|得|要不要|要|想|可不可以|可以|能不能|能|"
    "需要|是不是|是|有没有|去|到|上|在|和|跟|给|把|让|就|还|也|都|应该|该|现在|这边|这里|那边|这样|事情|事|说|知道|听说|办理|办|弄|一个|个"
)
_DICTATED = re.compile(
    "(?:[我你您]的?)?(?:手机号?码?|电话号?码?|身份证号?码?|号码|姓名|名字|地址|住址|车牌号?码?|卡号|邮箱|微信号?)?(?:是|叫|为|在)?〈[^〉]*〉"
)
_DROPPED = re.compile(r"[\s，。！？；：、,.!?;:…“”\"'‘’（）()《》\-—]+")


@functools.lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """The form in which texts are compared: folded, no punctuation; placeholders gone, and the words that lead to them."""
    return _DROPPED.sub("", skeleton(_DICTATED.sub("，", text)).text).lower()


def content(text: str) -> str:
    """The plain form without the words that only carry a question."""
    return _CARRIERS.sub("", plain(text))


def carried(folded: str) -> list[tuple[int, int]]:
    """The stretches of a folded text that only carry a question."""
    return [found.span() for found in _CARRIERS.finditer(folded)]
