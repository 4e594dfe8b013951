"""`hotline kb export`: the entries as JSON lines (for programs), CSV (for spreadsheets) or Markdown (for reviewers)."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from hotline.errors import NoRoom
from hotline.kb import entries_of
from llm.types import Entry

_FORMULA = ("=", "+", "-", "@", "\t")  # a spreadsheet would compute these


def row_of(entry: Entry) -> dict[str, object]:
    """An entry with its sources and validity, plain."""
    return {
        "id": entry.id,
        "topic": entry.topic,
        "intent": entry.intent,
        "question": entry.question,
        "paraphrases": list(entry.paraphrases),
        "answer": entry.answer,
        "detail": entry.detail,
        "source": entry.source,
        "laws": [{"law": law.law, "article": law.article, "version": str(law.version)} for law in entry.laws],
        "region": entry.region,
        "valid_from": str(entry.valid_from or ""),
        "valid_to": str(entry.valid_to or ""),
        "hot": entry.hot,
        "next_step": entry.next_step,
    }


def as_jsonl(entries: Sequence[Entry]) -> str:
    """One object a line."""
    return "".join(json.dumps(row_of(entry), ensure_ascii=False) + "\n" for entry in entries)


def as_csv(entries: Sequence[Entry]) -> str:
    """With a head line; what callers say is joined by a bar."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    rows = [row_of(entry) | {"paraphrases": "|".join(entry.paraphrases)} for entry in entries]
    names = [name for name in row_of(entries[0]) if name != "laws"] if entries else []
    writer.writerow(names)
    writer.writerows([_cell(row[name]) for name in names] for row in rows)
    return out.getvalue()


def _cell(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def as_markdown(entries: Sequence[Entry]) -> str:
    """By topic, in the files' order."""
    parts = []
    for topic, group in groupby(entries, key=lambda entry: entry.topic):
        parts.append(f"## {topic}\n")
        for entry in group:
            dates = f"{entry.valid_from or '…'} – {entry.valid_to or '…'}"
            parts.append(f"### {entry.question}\n\n{entry.answer}\n")
            parts += [f"{entry.detail}\n"] if entry.detail else []
            parts.append(
                f"- 来源：{entry.source}\n- 有效期：{dates}\n- 地区：{entry.region or '不限'}\n"
                f"- 即时播报：{'是' if entry.hot else '否'}\n- 下一步：{entry.next_step}\n- 编号：`{entry.id}`\n"
                f"- 问法：{'；'.join(entry.paraphrases)}\n"
            )
    return "\n".join(parts)


FORMATS: Mapping[str, Callable[[Sequence[Entry]], str]] = MappingProxyType({
    "jsonl": as_jsonl,
    "csv": as_csv,
    "md": as_markdown,
})


def export_kb(folder: Path, *, form: str, out: Path | None) -> int:
    """Write the entries that are in time today. Exit code."""
    text = FORMATS[form](entries_of(folder))
    if out is None:
        sys.stdout.write(text)
        return 0
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, "utf-8-sig" if form == "csv" else "utf-8")  # a spreadsheet takes UTF-8 only with its mark
    except OSError as error:
        raise NoRoom(f"{out} can't be written: {error.strerror}", what_to_do="name a file in a folder of your own") from None
    return 0
