"""`hotline access`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from hotline.commands.common import add, group, run, settings_of

SCOPES = ("calls", "ask", "all")


def add_to(commands: Any) -> None:  # noqa: ANN401
    actions = group(commands, "access", "tokens that may call and ask")
    new = add(actions, "new", _new, "make a token; it is shown once")
    new.add_argument("--name", required=True, help="who will hold it, e.g. trunk-1")
    new.add_argument("--scope", choices=SCOPES, default="all", help="calls: Converse; ask: Ask, Draft, HTTP (default: all)")
    new.add_argument("--expires", default="365d", metavar="SPAN", help="12h, 90d, 8w or never (default: 365d)")
    add(actions, "list", _list, "all tokens that ever were, without the secrets")
    revoke = add(actions, "revoke", _revoke, "end a token for good; running servers refuse it within seconds")
    revoke.add_argument("token", metavar="ID|NAME", help="from `hotline access list`")


def _new(arguments: argparse.Namespace) -> int:
    from hotline.access import Scope  # noqa: PLC0415
    from hotline.access_admin import make_token  # noqa: PLC0415

    settings = settings_of(arguments, quiet=True)
    work = make_token(
        settings.record.url,
        name=arguments.name,
        scope=Scope(arguments.scope),
        expires=arguments.expires,
        note=_beside,
    )
    return run(work)


def _beside(line: str) -> None:
    """Not with the token, which may be piped on."""
    sys.stderr.write(f"{line}\n")


def _list(arguments: argparse.Namespace) -> int:
    from hotline.access_admin import list_tokens  # noqa: PLC0415

    return run(list_tokens(settings_of(arguments, quiet=True).record.url))


def _revoke(arguments: argparse.Namespace) -> int:
    from hotline.access_admin import revoke_tokens  # noqa: PLC0415

    return run(revoke_tokens(settings_of(arguments, quiet=True).record.url, arguments.token))
