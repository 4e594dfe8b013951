"""A schema's complaint about a knowledge file → what is wrong, what mends it, and the field that it is about. Knows no lines."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import jsonschema

_Told = tuple[str, str, str]
_SHORT = 40  # characters of a value that are shown
_KINDS = {"string": "text (put it in quotes)", "boolean": "true or false", "object": "a group of fields", "array": "a list"}


def told(error: jsonschema.ValidationError) -> list[_Told]:
    """Problem, mend, and the name of the field inside the complaint's place, empty for the place itself."""
    schema = cast("Mapping[str, Any]", error.schema)
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


def _lacking(value: Any, wants: Any, _rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401  whatever stands in the file
    lacks = [name for name in wants if name not in value]
    return f"lacks {', '.join(map(repr, lacks))}", f"add the missing field{'s' * (len(lacks) > 1)}", ""


def _count(unit: str, bound: str, mend: str) -> Callable[[Any, Any, Mapping[str, Any]], _Told]:
    return lambda value, wants, _rules: (f"has {len(value)} {unit}, {bound} {wants}", mend, "")


def _repeated(value: Any, _wants: Any, _rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401
    item, _ = Counter(map(str, value)).most_common(1)[0]
    return f"has a line twice: {item}", "remove the repeated line", ""


def _none_of(value: Any, wants: Any, _rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401
    return f"{_short(value)} is none of {', '.join(map(str, wants))}", "use one of the listed values", ""


def _no_date(value: Any, _wants: Any, _rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401
    return f"{_short(value)} is no date", "write the date as 2026-01-31", ""


def _shape(value: Any, wants: Any, _rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401
    if "条" in wants:
        return f"{_short(value)} is no article", "write it as 第八十二条 or 第一百二十条之一", ""
    if "_" in wants:
        return f"{_short(value)} is no intent's name", "use lower-case letters and underscores", ""
    return f"{_short(value)} is no id", "use lower-case letters, digits and hyphens", ""


def _kind(value: Any, wants: Any, _rules: Mapping[str, Any]) -> _Told:  # noqa: ANN401
    kinds = [wants] if isinstance(wants, str) else wants
    wanted = " or ".join(_KINDS.get(kind, str(kind)) for kind in kinds)
    return f"{_short(value)} is not {wanted}", "correct it as configs/schema/kb.schema.json says", ""


_RULES: Mapping[str, Callable[[Any, Any, Mapping[str, Any]], _Told]] = {
    "required": _lacking,
    "maxLength": _count("characters", "at most", "shorten it"),
    "minLength": _count("characters", "at least", "write it out"),
    "minItems": _count("items", "at least", "add more, as callers say it"),
    "maxItems": _count("items", "at most", "remove the least usual ones"),
    "uniqueItems": _repeated,
    "enum": _none_of,
    "format": _no_date,
    "pattern": _shape,
}


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"
