"""What can be asked over HTTP: routes, the OpenAPI page and its reader. Knows no socket; who may enter is the door's business."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import structlog
from fastapi import Body, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response

from hotline.desk import AskDone, AskEvent
from hotline.errors import anatomy
from hotline.http.answering import AI_LABEL, Collected, answered, event_frame, frame, in_time, next_step, while_connected
from hotline.http.arrivals import ReceiveMessage
from hotline.http.door import ASK, SPEECH, SendMessage
from hotline.http.hearing import listen, read_recording
from hotline.http.models import SESSION_PATTERN, Answer, AskBody, AudioOut, ClauseOut, ErrorBody, SpeechAnswer, State
from hotline.http.problems import Problem, failed, on_invalid, on_problem, on_status
from hotline.http.sessions import Sessions
from hotline.http.speaking import spoken
from hotline.http.types import HttpDesk, HttpSettings

_log = structlog.get_logger("hotline.http")

SendBytes = Callable[[bytes], Awaitable[None]]

PAGES = Path(__file__).parent / "pages"
EVENTS, WAV = "text/event-stream", "audio/wav"
_SOUNDS = (
    *(WAV, "audio/flac", "audio/ogg", "audio/webm", "audio/mpeg", "audio/mp4", "audio/aac"),
    *("audio/x-alaw-basic", "audio/basic"),
)
_NOT_SERVED = {
    401: "No such token", 403: "The token doesn't open this", 408: "Sent too slowly", 413: "Too large, or too long",
    422: "Of another form", 429: "Too often: Retry-After", 503: "Too busy, or not ready: Retry-After", 504: "Took too long",
}  # fmt: skip
ERRORS: dict[int | str, dict[str, Any]] = {code: {"model": ErrorBody, "description": told} for code, told in _NOT_SERVED.items()}
_ABOUT = """Questions to the hotline from mini-programs and the web. Personal data is masked before anything else sees it; what was
asked is kept in no log. Every answer is made by a machine, and `ai_label` must be shown with it. In an emergency `next_step` holds
the number to dial."""


def make_app(desk: HttpDesk, settings: HttpSettings) -> FastAPI:
    """The application behind the door."""
    app = FastAPI(title="Hotline", version="1", description=_ABOUT, docs_url=None, redoc_url=None, redirect_slashes=False)
    for kind, answer in (
        (Problem, on_problem),
        (HTTPException, on_status),
        (RequestValidationError, on_invalid),
        (Exception, on_problem),
    ):
        app.add_exception_handler(kind, answer)
    sessions = Sessions(desk.desk.converse, idle_s=settings.session_idle_s, most=settings.max_sessions)
    asking = Asking(desk, settings, sessions)
    _add_ask(app, asking)
    if desk.hear is not None and desk.speech is not None:
        _add_speech(app, asking)
    _add_state(app)
    schema = app.openapi()  # made once; it is kept
    schema.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return app


class Asking:
    """What the routes do."""

    def __init__(self, desk: HttpDesk, settings: HttpSettings, sessions: Sessions) -> None:
        self._desk = desk
        self._settings = settings
        self._sessions = sessions

    async def ask(self, body: AskBody, request: Request) -> Response:
        """Whole, or as events."""
        if not body.question.strip():
            raise Problem(422, "http.invalid", "question: empty", "ask something")
        if EVENTS in request.headers.get("accept", ""):
            return Events(lambda send: self._as_events(body, request, send))
        found = await while_connected(request.receive, lambda: self._answer(body.question, body.session, request))
        return JSONResponse(found.model_dump())

    async def speech(self, session: str | None, request: Request) -> Response:
        """A recording."""
        found, wav = await while_connected(request.receive, lambda: self._spoken(session, request))
        if WAV in request.headers.get("accept", "") and "application/json" not in request.headers.get("accept", ""):
            return Response(wav, media_type=WAV, headers=_as_headers(found))
        return JSONResponse(found.model_dump())

    async def _answer(self, question: str, session: str | None, request: Request) -> Answer:
        holder_id = request.scope["holder"].id
        async with in_time(self._desk.ask_deadline_s), self._sessions.taking_turns(holder_id, session or "") as talk:
            number = self._settings.person_number
            return (await answered(self._desk.desk, question, talk, person_number=number)).answer(number)

    async def _as_events(self, body: AskBody, request: Request, send: SendBytes) -> None:
        async def emit(event: AskEvent, found: Collected) -> None:
            await send(event_frame(event, found, self._settings.person_number))

        holder_id = request.scope["holder"].id
        try:
            async with in_time(self._desk.ask_deadline_s), self._sessions.taking_turns(holder_id, body.session or "") as talk:
                number = self._settings.person_number
                await answered(self._desk.desk, body.question, talk, person_number=number, emit=emit)
        except Problem as problem:
            await send(frame("error", problem.told()))
        except Exception as error:  # noqa: BLE001  what was sent stands: the client learns that there is no more
            _log.error("answer_broke", request_id=request.scope["request_id"], **anatomy(error))
            await send(frame("error", failed().told()))

    async def _spoken(self, session: str | None, request: Request) -> tuple[SpeechAnswer, bytes]:
        try:
            async with asyncio.timeout(self._settings.speech_deadline_s):
                return await self._heard_and_spoken(session, request)
        except TimeoutError:
            raise Problem(504, "speech.too_long", "the answer took too long", "send a shorter recording, or text") from None

    async def _heard_and_spoken(self, session: str | None, request: Request) -> tuple[SpeechAnswer, bytes]:
        hear, speech = self._desk.hear, self._desk.speech
        assert hear is not None and speech is not None  # noqa: PT018, S101  the route exists only with both
        body, kind = await request.body(), request.headers.get("content-type", "")
        samples, rate_hz = await asyncio.to_thread(read_recording, body, kind, most_s=self._settings.max_speech_s)
        heard = await listen(hear, samples, rate_hz)
        unclear = "" if heard.texts else next(iter(heard.refused), "no_speech")
        answer = self._not_understood() if unclear else await self._answer(heard.text, session, request)
        clauses = [clause.text for clause in answer.clauses]
        wav, voice_hz, duration_ms = await spoken(speech, clauses, self._settings.spoken_label, request.scope["request_id"])
        audio = AudioOut(rate_hz=voice_hz, duration_ms=duration_ms, base64=base64.b64encode(wav).decode())
        transcript = answer.masked_question
        told = answer.model_dump()
        return SpeechAnswer(**told, transcript=transcript, unclear=bool(unclear), unclear_reason=unclear, audio=audio), wav

    def _not_understood(self) -> Answer:
        """No answer is made up for what wasn't understood."""
        text = self._desk.not_understood
        return Answer(
            answer=text,
            clauses=[ClauseOut(text=text, sources=[])],
            route="unclear",
            confidence=0.0,
            sources=[],
            needs_person=False,
            reason="",
            next_step=next_step(AskDone(route="unclear"), text, self._settings.person_number),
            masked_question="",
            ai_label=AI_LABEL,
        )


class Events(Response):
    """Server-sent events, each as soon as it exists. When the client leaves, the work stops."""

    def __init__(self, work: Callable[[SendBytes], Awaitable[None]]) -> None:
        """work: is given what sends an event."""
        super().__init__(media_type=EVENTS, headers={"x-accel-buffering": "no"})  # a proxy would hold clauses back
        del self.headers["content-length"]
        self._work = work

    async def __call__(self, _scope: object, receive: ReceiveMessage, send: SendMessage) -> None:
        """Send them."""

        async def send_bytes(content: bytes) -> None:
            await send({"type": "http.response.body", "body": content, "more_body": True})

        async def sending() -> None:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await self._work(send_bytes)
            await send({"type": "http.response.body", "body": b""})

        await while_connected(receive, sending)


def _add_ask(app: FastAPI, asking: Asking) -> None:
    whole = {"model": Answer, "description": "The answer, or its events", "content": {EVENTS: {"schema": {"type": "string"}}}}

    @app.post(ASK, responses={200: whole, **ERRORS}, summary="One question", openapi_extra=_secured())
    async def ask(body: Annotated[AskBody, Body()], request: Request) -> Response:
        """The whole answer as JSON; with `Accept: text/event-stream` the events `masked`, `route`, `clause` …, `done`."""
        return await asking.ask(body, request)


def _add_speech(app: FastAPI, asking: Asking) -> None:
    sound = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in _SOUNDS}
    whole = {"model": SpeechAnswer, "description": "The answer as text and sound", "content": {WAV: {}}}

    @app.post(
        SPEECH,
        responses={200: whole, 415: {"model": ErrorBody, "description": "No recording that can be read"}, **ERRORS},
        summary="One recording",
        openapi_extra={**_secured(), "requestBody": {"required": True, "content": sound}},
    )
    async def speech(request: Request, session: Annotated[str | None, Query(pattern=SESSION_PATTERN)] = None) -> Response:
        """The body is the recording. JSON with the sound in base64; with `Accept: audio/wav` sound, all else in headers."""
        return await asking.speech(session, request)


def _add_state(app: FastAPI) -> None:
    @app.get("/healthz", response_model=State, summary="Does it run")
    async def healthz() -> State:
        return State(status="ok")

    @app.get("/readyz", response_model=State, summary="Does it take questions", responses={503: {"model": ErrorBody}})
    async def readyz() -> State:
        return State(status="ready")

    for name in ("docs.html", "docs.js", "docs.css"):

        async def page(name: str = name) -> Response:
            return FileResponse(PAGES / name)

        app.add_api_route("/docs" if name == "docs.html" else f"/docs/{name}", page, include_in_schema=False)


def _secured() -> dict[str, Any]:
    return {"security": [{"token": []}]}


def _as_headers(found: SpeechAnswer) -> dict[str, str]:
    """Percent-encoded where they aren't ASCII."""
    told = {
        "transcript": found.transcript,
        "answer": found.answer,
        "route": found.route,
        "confidence": str(found.confidence),
        "sources": ",".join(found.sources),
        "needs-person": str(found.needs_person).lower(),
        "reason": found.reason,
        "next-step": found.next_step.action,
        "call": found.next_step.call,
        "unclear": found.unclear_reason,
        "ai-label": found.ai_label,
    }
    return {f"x-hotline-{name}": quote(value) for name, value in told.items()}
