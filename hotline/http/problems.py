"""What goes wrong, as the other side gets it: a status, and {"error": {"code", "message", "what_to_do"}}.

Nothing that was sent is repeated: neither a question nor the name of a field that isn't ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

BUSY_S = 1


@dataclass(eq=False)
class Problem(Exception):
    """A request isn't served. retry_s: when to come again, 0 where that is no matter of time. closes: the connection too."""

    status: int
    code: str
    message: str
    what_to_do: str
    retry_s: int = 0
    closes: bool = False

    def told(self) -> dict[str, dict[str, str]]:
        """For the wire."""
        return {"error": {"code": self.code, "message": self.message, "what_to_do": self.what_to_do}}

    def body(self) -> bytes:
        """The JSON."""
        return json.dumps(self.told(), ensure_ascii=False).encode()

    def headers(self) -> dict[str, str]:
        """Beside the JSON."""
        found = {"content-type": "application/json; charset=utf-8"}
        if self.retry_s:
            found["retry-after"] = str(self.retry_s)
        if self.closes:
            found["connection"] = "close"
        if self.status == HTTPStatus.UNAUTHORIZED:
            found["www-authenticate"] = 'Bearer realm="hotline"'
        return found


_BY_STATUS = {
    HTTPStatus.NOT_FOUND: ("http.no_such_place", "there is nothing here", "see /docs for what there is"),
    HTTPStatus.METHOD_NOT_ALLOWED: ("http.wrong_method", "this place takes another method", "see /docs"),
    HTTPStatus.BAD_REQUEST: ("http.unreadable", "the request can't be read", "send a JSON object in UTF-8"),
}


def failed() -> Problem:
    """Something of ours broke."""
    return Problem(500, "http.failed", "the answer failed", "ask again, or hand the question to a person")


def busy() -> Problem:
    """Too much at a time."""
    return Problem(503, "server.busy", "too many questions at a time", "ask again in a moment", retry_s=BUSY_S)


async def on_problem(_request: Request, problem: Exception) -> Response:
    """Of our own raising."""
    return _response(problem if isinstance(problem, Problem) else failed())


async def on_status(_request: Request, error: Exception) -> Response:
    """What the framework refuses."""
    status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.INTERNAL_SERVER_ERROR
    code, message, mend = _BY_STATUS.get(HTTPStatus(status), ("http.refused", HTTPStatus(status).phrase.lower(), "see /docs"))
    response = _response(Problem(status, code, message, mend))
    if isinstance(error, HTTPException) and error.headers and "Allow" in error.headers:
        response.headers["allow"] = error.headers["Allow"]
    return response


async def on_invalid(_request: Request, error: Exception) -> Response:
    """A body or a parameter of another form. Only names of ours are told, and pydantic's kind of the error."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    told = sorted({_told(each) for each in found}) or ["the request has another form"]
    return _response(Problem(422, "http.invalid", "; ".join(told), "see /docs for the form, with examples"))


_OURS = frozenset({"question", "session"})


def _told(each: Mapping[str, Any]) -> str:
    place: Sequence[Any] = each.get("loc", ())
    kind = str(each.get("type", ""))
    field = next((part for part in reversed(place) if part in _OURS), "")
    if not field:
        return "there is a field that isn't known" if kind == "extra_forbidden" else f"the body: {kind}"
    return f"{field}: {kind}"


def _response(problem: Problem) -> Response:
    return Response(problem.body(), problem.status, problem.headers())
