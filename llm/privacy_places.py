"""Skeleton → addresses down to a house. Knows nothing of numbers, names or districts.

A house-level part (栋 幢 单元 室 号院, or 号 after a road) is found first, then the place words left of it join, up to a word that
can't be part of a place. Roads, districts and floors alone stay: dispatch needs them and they point to nobody.
"""

from __future__ import annotations

import re

from llm.privacy_items import Item
from llm.privacy_tokens import BARRIER
from llm.types import Personal

_N = r"[\d零〇一二两三四五六七八九十百幺]"
_PART = re.compile(
    rf"(?:[A-Za-z甲乙丙丁东西南北])?{_N}{{1,6}}(?:-{_N}{{1,4}})?(?:号院|号楼|栋|幢|单元|室|弄|组|号(?![线窗文台机车令馆员码厅口通病]|门(?![口前]))|座|层|楼)|[A-Za-z][座栋幢]|{_N}{{1,3}}-{_N}{{1,3}}-{_N}{{2,4}}"
)
_TAIL = re.compile(rf"(?:之{_N}{{1,2}}|[，,\s]?(?:地下|负){_N}{{1,2}}[层楼]?|[东西]户|[东西南北]门)")
_ROOM = re.compile(rf"[\s-]?{_N}{{3,4}}(?!{_N}|[元块个人年月天次位])(?:室|房)?")
_DOOR = re.compile(
    rf"(?=[一二三四五六七八九\d]{{1,2}}[零幺〇\d]){_N}{{3,4}}(?!{_N}|[元块个人年月天次位号])(?:室|房)?"
)  # 十二楼一二零三
_ROOM_ALONE = re.compile(rf"{_N}{{3,4}}(?!{_N}|[元块个人年月天次])(?:室|房)?")
_HOUSE = ("号院", "号楼", "栋", "幢", "单元", "室", "弄", "座")
_ROAD_END = re.compile(r"(?:路|街|巷|道|胡同|村|里|坊|条|段|庄|屯|堡|弄|苑|园|城|庭|府|湾|组|小区|新村|大院|[东西南北])$")
_PLACE = re.compile(
    r"路|街|巷|道|村|镇|乡|苑|园|城|院|里|庄|湾|府|庭|大厦|公寓|社区|坊|区|县|市|胡同|广场|厂|宿舍|名都|豪庭|国际|家属楼|佳苑|新居|雅居|轩|阁|郡|墅|岸|洲"
)
_NOT_HOME = re.compile(r"(?:医院|学校|小学|中学|大学|大厅|中心|车站|机场|银行|政府|[公法检税警务]局|地铁站|派出所|商场)$")
_STOP = re.compile(
    rf"[\s，,。！？!?；;：:、（）()《》〈〉{BARRIER}]|地址|住址|户籍地?|现住|租住|居住|位于|家住|住家|家里|我家|他家|她家|老家|家是|我们|你们|他们|这边|那边|投诉|举报|"
    r"反映|咨询|旁边|附近|门牌号?|送到|寄到|身份证|[是在住到从去来的了我你他她您找给往离说有就把被让请呢吗吧啊叫姓对跟]|和(?![平谐睦顺])|于(?!洪)"
)
_HOME_CUE = re.compile(r"(?:地址|住址|住在?|家在?|家里|户籍地?|居住|租住|家住|送到|寄到|门牌号?)(?:是|在|：|:)?$")
_REACH = 30


def find_addresses(text: str, asked_for: Personal | None) -> list[Item]:
    """Addresses with a house-level number, in order of place."""
    found: list[Item] = []
    floor = 0
    for first, end, units in _groups(text):
        window_start = max(floor, first - _REACH)
        window = text[window_start:first]
        stops = list(_STOP.finditer(window))
        left = window[stops[-1].end() :] if stops else window
        start = first - len(left)
        cued = asked_for is Personal.ADDRESS or _HOME_CUE.search(text[max(0, start - 6) : start]) is not None
        joins = bool(found) and start == found[-1].end
        if not joins and not _is_home(left, units, cued=cued):
            continue
        if joins:
            start = found.pop().start
        found.append(Item(kind=Personal.ADDRESS, start=start, end=end, value=text[start:end]))
        floor = end
    room = _ROOM_ALONE.search(text) if asked_for is Personal.ADDRESS and not found else None
    return [Item(kind=Personal.ADDRESS, start=room.start(), end=room.end(), value=room.group())] if room else found


def _groups(text: str) -> list[tuple[int, int, str]]:
    """Neighbouring parts as one: start, end with a bare room number, units."""
    groups: list[tuple[int, int, str]] = []
    for part in _PART.finditer(text):
        start, end = part.span()
        units = part.group()
        if groups and start - groups[-1][1] <= 1 and text[groups[-1][1] : start] in {"", " ", "，", ","}:
            start, units = groups[-1][0], groups[-1][2] + units
            groups.pop()
        for more in (_TAIL, _ROOM):
            tail = more.match(text, end)
            if tail and (more is _TAIL or not part.group().endswith(("室", "层", "楼")) or part.group().endswith("号楼")):
                end = tail.end()
                if more is _ROOM and "单元" in units and text[end : end + 1] not in {"楼", "层", "户"}:
                    units += "室"
        if units.endswith(("楼", "层")) and (door := _DOOR.match(text, end)):
            end, units = door.end(), units + "室"
        groups.append((start, end, units))
    return groups


def _is_home(left: str, units: str, *, cued: bool) -> bool:
    house = any(unit in units for unit in _HOUSE) or units.count("-") > 1
    if _NOT_HOME.search(left):
        return False
    if not house:
        numbered = "号" in units or "组" in units
        return numbered and len(left) > 1 and _ROAD_END.search(left) is not None
    place = _PLACE.search(left, 1)
    exact = "室" in units or "单元" in units
    if cued or (exact and (bool(left) or ("室" in units and "单元" in units))):
        return True
    return place is not None and not left.startswith(("小区", "社区", "园区"))
