"""How laws are named: a written or spoken name → its key, under which the law table is searched. Knows no table.

The key is the full name without 中华人民共和国, marks, spaces and the edition in brackets; common short forms are written out.
"""

from __future__ import annotations

import re

from hotline.zh.numerals import parse_number, read_number
from hotline.zh.skeleton import skeleton

COUNTRY = "中华人民共和国"

_SHORT = {
    "消法": "消费者权益保护法",
    "消保法": "消费者权益保护法",
    "消费者保护法": "消费者权益保护法",
    "消费者权益法": "消费者权益保护法",
    "劳动仲裁法": "劳动争议调解仲裁法",
    "劳动争议仲裁法": "劳动争议调解仲裁法",
    "调解仲裁法": "劳动争议调解仲裁法",
    "社保法": "社会保险法",
    "个保法": "个人信息保护法",
    "个人信息法": "个人信息保护法",
    "数安法": "数据安全法",
    "网安法": "网络安全法",
    "道交法": "道路交通安全法",
    "交通安全法": "道路交通安全法",
    "道路安全法": "道路交通安全法",
    "治安处罚法": "治安管理处罚法",
    "治安管理法": "治安管理处罚法",
    "治安法": "治安管理处罚法",
    "民诉法": "民事诉讼法",
    "刑诉法": "刑事诉讼法",
    "行诉法": "行政诉讼法",
    "行政处罚条例": "行政处罚法",
    "反诈法": "反电信网络诈骗法",
    "反电诈法": "反电信网络诈骗法",
    "反电信诈骗法": "反电信网络诈骗法",
    "未保法": "未成年人保护法",
    "未成年保护法": "未成年人保护法",
    "老年人保护法": "老年人权益保障法",
    "老年人权益保护法": "老年人权益保障法",
    "妇女权益保护法": "妇女权益保障法",
    "妇女保护法": "妇女权益保障法",
    "残疾人法": "残疾人保障法",
    "残疾人保护法": "残疾人保障法",
    "反家暴法": "反家庭暴力法",
    "家庭暴力法": "反家庭暴力法",
    "食安法": "食品安全法",
    "环保法": "环境保护法",
    "大气法": "大气污染防治法",
    "噪声法": "噪声污染防治法",
    "噪音法": "噪声污染防治法",
    "噪音污染防治法": "噪声污染防治法",
    "固废法": "固体废物污染环境防治法",
    "生态环境法": "生态环境法典",
    "身份证法": "居民身份证法",
    "出入境管理法": "出境入境管理法",
    "退役军人法": "退役军人保障法",
    "计生法": "人口与计划生育法",
    "计划生育法": "人口与计划生育法",
    "个税法": "个人所得税法",
    "就业法": "就业促进法",
    "复议法": "行政复议法",
    "国赔法": "国家赔偿法",
    "房地产管理法": "城市房地产管理法",
    "工会组织法": "工会法",
}
_EDITION = re.compile(r"[(（〔\[](?:[^()（）〔〕\[\]]*(?:年|修[正订改]|公布|版|20\d\d|19\d\d)[^()（）〔〕\[\]]*)[)）〕\]]$")
_MARKS = re.compile(r"[\s《》〈〉“”\"'·]+")
_NUMERAL = r"[0-9零〇一二两三四五六七八九十百千]{1,10}"
_ARTICLE = re.compile(rf"第?(?P<number>{_NUMERAL})条?(?:之(?P<sub>{_NUMERAL}))?")
_LARGEST_ARTICLE = 2000


def key_of(name: str) -> str:
    """The key of a law's name: 中华人民共和国劳动法（2018年修正）, 《劳动法》 → 劳动法; 消法 → 消费者权益保护法."""
    folded = _EDITION.sub("", _MARKS.sub("", skeleton(name).text))
    short = folded.removeprefix(COUNTRY)
    return _SHORT.get(short, short)


def short_names() -> tuple[str, ...]:
    """Every short form that is known."""
    return tuple(_SHORT)


def article_of(written: str) -> str | None:
    """An article's number as the law writes it: 82, 第82条, 八十二 → 第八十二条; 120条之一 → 第一百二十条之一. None: no number."""
    found = _ARTICLE.fullmatch(skeleton(written).text.strip())
    if not found:
        return None
    number = parse_number(found["number"])
    sub = parse_number(found["sub"]) if found["sub"] else None
    if number is None or not 0 < number < _LARGEST_ARTICLE or (found["sub"] and not sub):
        return None
    return f"第{read_number(number)}条" + (f"之{read_number(sub)}" if sub else "")
