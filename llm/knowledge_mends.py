"""A schema's complaint about a knowledge file → what is wrong, what mends it, and the field that it is about. Knows no lines."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import jsonschema

from hotline.zh.numerals import read_number

_Told = tuple[str, str, str]
_SHORT = 40  # characters of a value that are shown
_LONGEST_SOURCE = 80  # characters of a rule that are put together
_ARTICLE = "#/$defs/article"
_OWN_RULE = "样例市养犬管理办法第七条；样例市市容条例第三条"
_FIGURES = re.compile(r"(?:第\s*)?(?P<number>[1-9][0-9]{0,3})(?:\s*条)?(?P<part>之[一二三四五六七八九十])?", re.ASCII)
_KINDS = {"string": "text", "boolean": "true or false", "object": "a group of fields", "array": "a list"}


def told(error: jsonschema.ValidationError) -> list[_Told]:
    """Problem, mend, and the name of the field inside the complaint's place, empty for the place itself."""
    schema = cast("Mapping[str, Any]", error.schema)
    if error.validator in {"additionalProperties", "required"} and _is_own_rule(error.instance, schema):
        return [] if error.validator == "required" else [_own_rule(cast("Mapping[str, Any]", error.instance))]
    if error.validator == "additionalProperties":
        return _unknown(cast("Mapping[str, Any]", error.instance), list(schema["properties"]))
    rule = _RULES.get(str(error.validator), _kind)
    return [rule(error.instance, error.validator_value, schema)]


def _unknown(value: Mapping[str, Any], known: Sequence[str]) -> list[_Told]:
    found = []
    for name in (str(key) for key in value if key not in known):
        near = difflib.get_close_matches(name, known, n=1)
        found.append((
            f"unknown field {name!r}",
            f"write {near[0]!r}" if near else f"remove it; known are {', '.join(known)}",
            name,
        ))
    return found


def _is_own_rule(value: Any, schema: Mapping[str, Any]) -> bool:  # noqa: ANN401  whatever stands in the file
    """Written like an article of a law, but of fields such as title and number."""
    known = schema.get("properties", {})
    return (
        "law" in known
        and "law" not in value
        and not set(value) <= set(known)
        and not any(difflib.get_close_matches(str(key), ["law"]) for key in value)
    )


def _own_rule(value: Mapping[str, Any]) -> _Told:
    told = "".join(str(each) for each in value.values() if isinstance(each, str | int | float))
    if not told or len(told) > _LONGEST_SOURCE:
        told = _OWN_RULE.split("；", maxsplit=1)[0]
    mend = f"write a rule of your own as one text, source: {told}; an article of a law has law, article and version"
    return "names no law", mend, ""


def _lacking(value: Any, wants: Any, _rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401  whatever stands in the file
    lacks = [name for name in wants if name not in value]
    return f"lacks {', '.join(map(repr, lacks))}", f"add the missing field{'s' * (len(lacks) > 1)}", ""


def _count(unit: str, bound: str, mend: str) -> Callable[[Any, Any, Mapping[str, Any]], _Told]:
    return lambda value, wants, _rules: (f"has {len(value)} {unit}, {bound} {wants}", mend, "")


def _few(value: Any, wants: Any, rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401
    mend = "add more, as callers say it"
    if rules.get("items", {}).get("$ref") == "#/$defs/entry":
        mend = "add an entry, or remove the file"
    elif wants == 1:
        mend = "write your rule's title and number, an article of a law, or: sample"
    elif any("，" in str(each) or "、" in str(each) for each in value):
        mend = "put half-width commas between them, or write one a line, each after '- '"
    return f"has {len(value)} items, at least {wants}", mend, ""


def _repeated(value: Any, _wants: Any, _rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401
    item, _ = Counter(map(str, value)).most_common(1)[0]
    return f"has a line twice: {item}", "remove the repeated line", ""


def _none_of(value: Any, wants: Any, _rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401
    return f"{_short(value)} is none of {', '.join(map(str, wants))}", "use one of the listed values", ""


def _no_date(value: Any, _wants: Any, _rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401
    return f"{_short(value)} is no date", "write the date as 2026-01-31", ""


def _shape(value: Any, wants: Any, _rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401
    if "条" in wants:
        return f"{_short(value)} is no article", _article(value), ""
    if "_" in wants:
        return f"{_short(value)} is no intent's name", "use lower-case letters and underscores", ""
    return f"{_short(value)} is no id", "use lower-case letters, digits and hyphens", ""


def _article(value: object) -> str:
    """What mends it: in words where the figures tell."""
    if figures := _FIGURES.fullmatch(str(value).strip()):
        return f"write it as 第{read_number(int(figures['number']))}条{figures['part'] or ''}"
    return "write it as 第八十二条 or 第一百二十条之一"


def _kind(value: Any, wants: Any, rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401
    kinds = [wants] if isinstance(wants, str) else wants
    wanted = " or ".join(_KINDS.get(kind, str(kind)) for kind in kinds)
    problem = "is empty" if value is None else f"{_short(value)} is not {wanted}"
    return problem, _kind_mend(value, kinds, rules), ""


def _kind_mend(value: Any, kinds: Sequence[str], rules: Mapping[str, Any]) -> str:  # noqa: ANN401
    """By what belongs there, then by what stands there; the first that fits."""
    known, is_given = rules.get("properties", {}), value is not None
    mends = (
        (len(kinds) > 1, "write your rule's title and number, an article of a law with law, article and version, or: sample"),
        (rules.get("$ref") == _ARTICLE, f"write rules of your own as one text, source: {_OWN_RULE}"),
        ("id" in known, "an entry begins with '- id:'; indent the line further if it belongs to the list above"),
        ("array" in kinds, "write its items below it, one a line, each after '- '"),
        (is_given and "条" in rules.get("pattern", ""), _article(value)),
        (is_given and rules.get("format") == "date", "write the date as 2026-01-31"),
        (isinstance(value, int | float) and "string" in kinds, "put it in quotes"),
        (not is_given, "write what belongs there, or remove the field"),
    )
    return next((mend for fits, mend in mends if fits), "correct it as configs/schema/kb.schema.json says")


_RULES: Mapping[str, Callable[[Any, Any, Mapping[str, Any]], _Told]] = {
    "required": _lacking,
    "maxLength": _count("characters", "at most", "shorten it"),
    "minLength": _count("characters", "at least", "write it out"),
    "minItems": _few,
    "maxItems": _count("items", "at most", "remove the least usual ones"),
    "uniqueItems": _repeated,
    "enum": _none_of,
    "format": _no_date,
    "pattern": _shape,
}


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"
