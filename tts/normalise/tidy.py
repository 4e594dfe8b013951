"""Any text in → the same words with one spelling for each sign out. Knows nothing of numbers' meaning.

Goes: tags, terminal escapes, control, bidirectional and zero-width characters, emojis, variation selectors, spaces beside hanzi.
Becomes ASCII: full-width digits, letters and signs. Stays: Chinese punctuation.
"""

import html
import re
import unicodedata

_ESCAPE = re.compile(r"\x1b\[[0-9;?]{0,16}[A-Za-z]|\x1b")
_TAG = re.compile(r"</?[A-Za-z!?][^<>\n]{0,300}>|\]\]>|<!\[CDATA\[")
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
_SPACE = re.compile(r"[ \t\u00a0\u3000]+")
_CJK = r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]"
_SPACE_BESIDE_CJK = re.compile(rf"(?<={_CJK}) | (?={_CJK})")
_NEWLINES = re.compile(r"(?: ?[\r\n\u2028\u2029])+ ?")
_LONE_AND = re.compile(r"(?<![0-9])又(?=[1-4]/[2-8])")
_WIDE_THOUSANDS = re.compile(r"(?<=[０-９])，(?=[０-９]{3}(?![０-９]))")
_WIDE_POINT = re.compile(r"(?<=[0-9０-９])[．。](?=[0-9０-９])")

_KEPT = "，。！？；：、（）…—～《》“”‘’【】〔〕〈〉「」『』·"
_SAME = {
    "￥": "¥", "℃": "℃", "㎡": "㎡", "㎥": "m³", "²": "²", "³": "³", "⁄": "/", "∕": "/", "−": "-", "﹣": "-", "‐": "-", "‑": "-",
    "–": "-", "～": "~", "〜": "~", "∼": "~", "•": "·", "・": "·", "〇": "零", "×": "×", "÷": "÷", "±": "±", "°": "°", "№": "No.",
    "Ⅰ": "一", "Ⅱ": "二", "Ⅲ": "三", "Ⅳ": "四", "Ⅴ": "五", "Ⅵ": "六", "Ⅶ": "七", "Ⅷ": "八", "Ⅸ": "九", "Ⅹ": "十",
    "™": "", "®": "", "©": "", "﹤": "<", "﹥": ">", "µ": "μ", "℉": "℉", "‰": "‰", "㏑": "", "＄": "$", "￡": "£",
}  # fmt: skip
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_DROPPED = ("Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Me", "So", "Sk")
_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5", "⅘": "4/5", "⅛": "1/8"}


_SPELT = {
    **_SAME,
    **{char: "又" + fraction for char, fraction in _VULGAR.items()},
    **{char: f"{number}、" for number, char in enumerate(_CIRCLED, start=1)},
}


def _plain(char: str) -> str:
    """One character in the one spelling that the rules know."""
    if char in _SPELT:
        return _SPELT[char]
    if char in _KEPT or (char.isascii() and char.isprintable()):
        return char
    if (value := unicodedata.decimal(char, None)) is not None:
        return str(value)
    folded = unicodedata.normalize("NFKC", char)
    return "" if unicodedata.category(folded[0]) in _DROPPED else folded


def tidy(text: str) -> str:
    """The text in one spelling."""
    text = _ESCAPE.sub("", text)
    text = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    text = _TAG.sub("", text)
    text = _NEWLINES.sub("，", _SPACE.sub(" ", text).strip())
    text = _WIDE_THOUSANDS.sub(",", text)
    text = _WIDE_POINT.sub(".", text)
    text = "".join(map(_plain, text))
    text = _LONE_AND.sub("", text)
    return _SPACE_BESIDE_CJK.sub("", _SPACE.sub(" ", text))
