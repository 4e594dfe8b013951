"""`hotline models`."""

from __future__ import annotations

import argparse
from typing import Any

from hotline.commands.common import add, group


def add_to(commands: Any) -> None:  # noqa: ANN401
    actions = group(commands, "models", "list, pull, verify models")
    add(actions, "list", _list, "the catalogue, and what is here")
    pull = add(actions, "pull", _pull, "fetch models, checked by SHA-256")
    pull.add_argument("names", nargs="*", metavar="NAME")
    pull.add_argument("--default", action="store_true", help="those that a server needs by default")
    pull.add_argument("--tests", action="store_true", help="those that the tests need besides")
    pull.add_argument("--all", action="store_true", help="the whole catalogue")
    verify = add(actions, "verify", _verify, "check what is here against its hashes")
    verify.add_argument("names", nargs="*", metavar="NAME")


def _list(_arguments: argparse.Namespace) -> int:
    from hotline.models import list_models  # noqa: PLC0415

    return list_models()


def _pull(arguments: argparse.Namespace) -> int:
    from hotline.models import pull_models  # noqa: PLC0415

    return pull_models(arguments.names, default=arguments.default, tests=arguments.tests, every=arguments.all)


def _verify(arguments: argparse.Namespace) -> int:
    from hotline.models import verify_models  # noqa: PLC0415

    return verify_models(arguments.names)
