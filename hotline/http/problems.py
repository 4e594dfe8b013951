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


def busy(*, closes: bool = False) -> Problem:
    """Too much at a time."""
    told = "too many questions at a time"
    return Problem(503, "server.busy", told, "ask again in a moment", retry_s=BUSY_S, closes=closes)


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


async def on_invalid(request: Request, error: Exception) -> Response:
    """A body or a parameter of another form. Only names of ours are told, and what is wrong in words."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    if any(each.get("type") in _NO_OBJECT for each in found) and not _says_json(request.headers.get("content-type", "")):
        return _response(Problem(415, "http.not_json", "the request's content-type isn't JSON", _SEND_JSON))
    told = sorted({_told(each) for each in found}) or ["the request has another form"]
    return _response(Problem(422, "http.invalid", "; ".join(told), f"{_SEND_JSON}; see /docs"))


_SEND_JSON = 'send the header `content-type: application/json` and a body such as {"question": "居住证怎么办理"}'
_NO_OBJECT = frozenset({"model_attributes_type", "model_type", "dict_type"})
_WORDS = {
    "missing": "missing",
    "extra_forbidden": "there is a field that isn't known",
    "json_invalid": "no JSON",
    "model_attributes_type": "no JSON object",
    "string_type": "no text",
    "string_too_short": "empty",
    "string_too_long": "too long",
    "string_pattern_mismatch": "1 to 64 letters, digits, _ or -",
    "string_unicode": "no text in UTF-8",
}  # pydantic's kinds
_OURS = frozenset({"question", "session"})


def _says_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


def _told(each: Mapping[str, Any]) -> str:
    place: Sequence[Any] = each.get("loc", ())
    kind = str(each.get("type", ""))
    words = _WORDS.get(kind, "of another form")
    field = next((part for part in reversed(place) if part in _OURS), "")
    return f"{field}: {words}" if field else words if kind == "extra_forbidden" else f"the body: {words}"


def _response(problem: Problem) -> Response:
    return Response(problem.body(), problem.status, problem.headers())
