"""What was typed in a call → a call script that expects what came. Knows masked words only: no original is ever written.

A personal item becomes an invented sample of its kind, which is masked as the original was; where no sample is, the turn is left
out. So that the script replays, the samples are put to a fresh masker, and what it makes of them is compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from hotline.text_line import Exchanged
from llm.types import Hidden, Masker

_PLACEHOLDER = re.compile(r"〈([^〈〉·]{1,8})·(\d{1,3})〉")
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CREDIT_SIGNS = "0123456789ABCDEFGHJKLMNPQRTUWXY"
_CREDIT_WEIGHTS = tuple(3**n % 31 for n in range(17))
_NAMES = ("王小明", "李小红", "张小华", "刘小军")


def script_text(title: str, exchanges: Sequence[Exchanged], ending: str, new_masker: Callable[[], Masker]) -> str:
    """The script as YAML. exchanges: the call's, the greeting first."""
    samples = _Samples()
    steps = [_step(exchange, samples, new_masker) for exchange in exchanges[1:]]
    tree = {"title": title, **({"outcome": ending} if ending else {}), "steps": [step for step in steps if step]}
    head = ["# Written by `hotline text --record`: what was typed, and what came."]
    if samples.used:
        kinds = ", ".join(f"{kind} ×{count}" for kind, count in samples.used.items())
        head.append(f"# Personal items were replaced by invented samples: {kinds}.")
    if samples.left_out:
        head.append(f"# Turns left out, because nothing of them could be written: {samples.left_out}.")
    body = yaml.safe_dump(tree, allow_unicode=True, sort_keys=False, width=1000)
    return "\n".join([*head, body])


@dataclass(slots=True)
class _Samples:
    """What was replaced in one script."""

    used: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    known: dict[str, str] = field(default_factory=dict)


def _step(exchange: Exchanged, samples: _Samples, new_masker: Callable[[], Masker]) -> dict[str, Any] | None:
    if exchange.is_end:
        return {"hang_up": True}
    act = {"key": exchange.key} if exchange.key else {"say": _sayable(exchange, samples, new_masker)}
    if not any(act.values()):
        samples.left_out += 1
        return None
    expect: dict[str, Any] = {"route": exchange.route} if exchange.route else {}
    if exchange.sources:
        expect["source"] = exchange.sources[0]
    if kinds := list(dict.fromkeys(found[1] for found in _PLACEHOLDER.finditer(exchange.masked))):
        expect["masked"] = kinds
    return {**act, "expect": expect} if expect else act


def _sayable(exchange: Exchanged, samples: _Samples, new_masker: Callable[[], Masker]) -> str:
    """The words with samples for what was hidden; empty where that can't be."""
    hidden = {item.placeholder: item for item in exchange.explained.hidden} if exchange.explained is not None else {}

    def sample(found: re.Match[str]) -> str:
        made = samples.known.get(found[0]) or _sample(found[1], int(found[2]), hidden.get(found[0]))
        samples.known[found[0]] = made
        return made

    found = _PLACEHOLDER.findall(exchange.masked)
    said = _PLACEHOLDER.sub(sample, exchange.masked)
    if "〈" in said or (found and not all(samples.known.values())):
        return ""
    again = new_masker().mask(said)
    if Counter(span.kind.value for span in again.spans) != Counter(kind for kind, _ in found):
        return ""
    samples.used.update(kind for kind, _ in found)
    return said


def _sample(kind: str, number: int, hidden: Hidden | None) -> str:
    """An invented item; the same number gives the same one. Empty for a kind that has none."""
    make = _MAKERS.get(kind)
    if make is None:
        return ""
    made = make(number)
    cut = hidden is not None and not hidden.complete and made.isascii()
    return made[: hidden.length] if cut and hidden is not None else made


def _id_card(number: int) -> str:
    digits = f"11010119900101{number:03d}"
    total = sum(int(digit) * weight for digit, weight in zip(digits, _ID_WEIGHTS, strict=True))
    return digits + "10X98765432"[total % 11]


def _bank_card(number: int) -> str:
    digits = f"622202000000000{number:03d}"
    total = sum(sum(divmod(int(digit) * (2 - at % 2), 10)) for at, digit in enumerate(reversed(digits)))
    return digits + str(-total % 10)


def _credit_code(number: int) -> str:
    signs = f"91110000MA00000{number % 100:02d}"
    total = sum(_CREDIT_SIGNS.index(sign) * weight for sign, weight in zip(signs, _CREDIT_WEIGHTS, strict=True))
    return signs + _CREDIT_SIGNS[-total % 31]


_MAKERS: dict[str, Callable[[int], str]] = {
    "手机号": lambda n: f"1390000{5677 + n}",
    "座机号": lambda n: f"0551-6000{1000 + n}",
    "身份证号": _id_card,
    "护照号": lambda n: f"E0000{1000 + n}",
    "银行卡号": _bank_card,
    "车牌号": lambda n: f"皖A00{100 + n}",
    "邮箱": lambda n: f"sample{n}@example.com",
    "账号": lambda n: f"sample{1000 + n}",
    "微信号": lambda n: f"sample_wx{n}",
    "QQ号": lambda n: f"1000{1000 + n}",
    "信用代码": _credit_code,
    "姓名": lambda n: _NAMES[n % len(_NAMES)],
    "姓名写法": lambda _: "木子李",
    "地址": lambda n: f"样例市样例区样例路{n}号",
    "出生日期": lambda n: f"1990年1月{n % 28 + 1}日",
    "号码": lambda n: f"1234{56780 + n}",
}
