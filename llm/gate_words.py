"""The gate's word file → checked words. Knows no entries and no questions."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path

import jsonschema

from llm.knowledge_yaml import NotYaml, read_yaml
from llm.types import KnowledgeWrong

Groups = tuple[tuple[str, ...], ...]
WORDS_AT = "gate/words.yaml"  # below the knowledge folder
_SCHEMA_AT = "schema/gate.schema.json"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Words:
    """As `configs/kb/gate/words.yaml` explains them. Two are the same only if they are one: they are keys of caches."""

    actions: Groups
    things: Groups
    turns: tuple[tuple[str, re.Pattern[str]], ...]
    narrow: tuple[re.Pattern[str], ...]
    elsewhere: re.Pattern[str]
    relative_dates: tuple[str, ...]
    regions: re.Pattern[str]
    neutral: frozenset[str]


@functools.cache
def load_words(file: Path, schema: Path | None = None) -> Words:
    """Read and check the file. Raises KnowledgeWrong with the place. schema: default beside the knowledge folder."""
    try:
        document, _, _ = read_yaml(file)
        rules = json.loads((schema or file.parents[2] / _SCHEMA_AT).read_text("utf-8"))
    except NotYaml as broken:
        raise KnowledgeWrong(f"{file.name}{broken}") from None
    except (OSError, ValueError):
        raise KnowledgeWrong(f"{file}: cannot be read, or its schema can't; restore {WORDS_AT} from the release") from None
    check = jsonschema.Draft202012Validator(rules, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
    for error in check.iter_errors(document):
        place = ".".join(map(str, error.absolute_path)) or "top of the file"
        raise KnowledgeWrong(f"{file.name}: {place}: {error.message[:160]}; correct it as {_SCHEMA_AT} says")
    return Words(
        actions=tuple(tuple(group.split()) for group in document["actions"]),
        things=tuple(tuple(group.split()) for group in document["things"]),
        turns=tuple((name, re.compile(turn)) for name, turn in document["turns"].items()),
        narrow=tuple(map(re.compile, document["narrow"])),
        elsewhere=re.compile(document["elsewhere"]),
        relative_dates=tuple(document["relative_dates"].split()),
        regions=re.compile("|".join(map(re.escape, document["regions"].split()))),
        neutral=frozenset("".join(document["neutral"].split())),
    )


@functools.cache
def shipped() -> Words:
    """Those of the sample knowledge base: for one that has no file of its own."""
    root = Path(__file__).resolve().parent.parent
    configs = next((place for place in (root / "configs", root / "hotline" / "configs") if place.is_dir()), root / "configs")
    return load_words(configs / "kb" / WORDS_AT)
