"""`hotline kb`."""

from __future__ import annotations

import argparse
from typing import Any

from hotline.commands.common import add, group, settings_of
from hotline.commands.numbers import whole
from hotline.commands.paths import file_to_read, file_to_write, folder_to_read

LOOKED_AT = 8  # entries, for an answer

_CHECK = """examples:
  hotline kb check                       the configured knowledge base, sources looked up in the law table
  hotline kb check my-kb --articles      another folder, and the text of every article that an entry rests on
  hotline kb check --json | jq .mend     one fault a line, for programs

A fault must be mended (exit code 1); a note is worth a look."""
_BUILD = """Makes everything that is derived from the content, once for each state of it, so that a server starts at once: entries,
intents, and the vectors of the search's second voice.

examples:
  hotline kb build
  hotline kb build --dir my-kb"""
_SEARCH = """examples:
  hotline kb search 居住证到期了咋办
  hotline kb search 狗咬人了谁赔 -n 3 --json

Each line: score, margin to the best of the others, id, question, what the gate doubts. * is what the reply rests on.
Exit code 1 when no entry is near."""
_TEST = """A test set is a file of JSON lines:
  {"query": "居住证过期了咋弄", "want": "residence-permit-renew", "kind": "paraphrase"}
  {"query": "怎么把户口迁走", "want": "household-move-out", "not": ["household-move-in"], "kind": "minimal_pair"}
  {"query": "火星上能不能落户", "want": null, "kind": "out_of_scope"}
want: the id of the entry that answers, a list where several do, null for none. kind: paraphrase, homophone, out_of_scope,
minimal_pair, rare_entity. not: entries that would say the opposite.

examples:
  hotline kb test
  hotline kb test --set mine.jsonl --min recall@1=0.95 --max answered_wrong=0.02"""
_EXPORT = """examples:
  hotline kb export --format jsonl --out kb.jsonl
  hotline kb export --format csv --out kb.csv        for a spreadsheet
  hotline kb export --format md                      for reviewers"""


def add_to(commands: Any) -> None:  # noqa: ANN401
    actions = group(commands, "kb", "the knowledge base: check, build, search, test, export")
    check = _action(actions, "check", _check, "what is wrong in a knowledge base: file, line, mend", _CHECK)
    check.add_argument("dir", nargs="?", type=folder_to_read, metavar="DIR", help="its folder (default: the configured one)")
    check.add_argument("--json", action="store_true", help="one fault a line")
    check.add_argument("--articles", action="store_true", help="print the articles that entries rest on")
    check.add_argument("--without-laws", action="store_true", help="don't look sources up in the law table")
    build = _action(actions, "build", _build, "make everything that is derived from it", _BUILD)
    search = _action(actions, "search", _search, "what it has for a question, and what would be spoken", _SEARCH)
    search.add_argument("query", metavar="QUERY")
    search.add_argument("-n", type=whole(1, LOOKED_AT), default=5, metavar="N", help="entries shown, at most 8 (default: 5)")
    search.add_argument("--json", action="store_true", help="one object")
    test = _action(actions, "test", _test, "ask it questions whose right entries are known", _TEST)
    test.add_argument(
        "--set", type=file_to_read, action="append", default=[], metavar="FILE", help="a test set (default: DIR/tests/*.jsonl)"
    )
    test.add_argument("--min", action="append", default=[], metavar="FIGURE=X", help="fail below, such as recall@1=0.95")
    test.add_argument("--max", action="append", default=[], metavar="FIGURE=X", help="fail above, such as answered_wrong=0.02")
    test.add_argument("--json", action="store_true", help="one object, with every miss")
    export = _action(actions, "export", _export, "its entries with sources and validity", _EXPORT)
    export.add_argument("--format", choices=["jsonl", "csv", "md"], default="jsonl", help="default: jsonl")
    export.add_argument("--out", type=file_to_write, metavar="FILE", help="write there (default: print)")
    for each in (build, search, test, export):
        each.add_argument("--dir", type=folder_to_read, metavar="DIR", help="its folder (default: the configured one)")


def _action(actions: Any, name: str, body: Any, text: str, epilog: str) -> argparse.ArgumentParser:  # noqa: ANN401
    parser = add(actions, name, body, text)
    parser.epilog = epilog
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser


def _check(arguments: argparse.Namespace) -> int:
    from hotline.kb import check_kb, folder_of  # noqa: PLC0415

    folder = folder_of(settings_of(arguments, quiet=True), arguments.dir)
    return check_kb(folder, as_json=arguments.json, articles=arguments.articles, without_laws=arguments.without_laws)


def _build(arguments: argparse.Namespace) -> int:
    from hotline.kb import folder_of  # noqa: PLC0415
    from hotline.kb_build import build_kb  # noqa: PLC0415

    settings = settings_of(arguments, quiet=True)
    return build_kb(folder_of(settings, arguments.dir), settings)


def _search(arguments: argparse.Namespace) -> int:
    from hotline.kb import folder_of  # noqa: PLC0415
    from hotline.kb_search import search_kb  # noqa: PLC0415

    settings = settings_of(arguments, quiet=True)
    return search_kb(folder_of(settings, arguments.dir), settings, arguments.query, at_most=arguments.n, as_json=arguments.json)


def _test(arguments: argparse.Namespace) -> int:
    from hotline.kb import folder_of  # noqa: PLC0415
    from hotline.kb_trial import Limit, try_kb  # noqa: PLC0415

    settings = settings_of(arguments, quiet=True)
    limits = [Limit.read(text, is_least=True) for text in arguments.min] + [
        Limit.read(text, is_least=False) for text in arguments.max
    ]
    return try_kb(folder_of(settings, arguments.dir), settings, sets=arguments.set, limits=limits, as_json=arguments.json)


def _export(arguments: argparse.Namespace) -> int:
    from hotline.kb import folder_of  # noqa: PLC0415
    from hotline.kb_export import export_kb  # noqa: PLC0415

    return export_kb(folder_of(settings_of(arguments, quiet=True), arguments.dir), form=arguments.format, out=arguments.out)
