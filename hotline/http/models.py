"""What goes over the wire, with examples: the OpenAPI page is made of these."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_QUESTION = 4000  # characters, as over gRPC
SESSION_PATTERN = r"^[A-Za-z0-9_-]{1,64}$"

Session = Annotated[
    str | None,
    Field(
        pattern=SESSION_PATTERN,
        description="Names a short conversation, so that follow-ups are understood: random and hard to guess, one for each person. "
        "Forgotten after minutes of rest.",
    ),
]


class AskBody(BaseModel):
    """A question."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"question": "居住证怎么办理", "session": "k3Jx9aQ2mW"}]}
    )

    question: Annotated[str, Field(min_length=1, max_length=MAX_QUESTION, description="As people say it; masked at once.")]
    session: Session = None


class ClauseOut(BaseModel):
    """A piece of the answer, checked. sources: ids of the knowledge base."""

    text: str
    sources: list[str]


class NextStep(BaseModel):
    """What the app should do: nothing is put through and nothing is registered by an answer.

    call: dial `call` now (an emergency number); person: offer to dial `call`, if it isn't empty; work_order: the matter can be
    registered, by a person: offer to dial `call`, or a form of your own.
    """

    action: Literal["none", "person", "work_order", "call"] = "none"
    call: str = ""
    also: list[str] = []


class Answer(BaseModel):
    """A whole answer. reason: why a person is needed, if one is; ai_label must be shown with the answer."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "answer": "请带身份证到居住地的派出所申领居住证。",
                    "clauses": [{"text": "请带身份证到居住地的派出所申领居住证。", "sources": ["residence-permit-apply"]}],
                    "route": "hot",
                    "confidence": 0.97,
                    "sources": ["residence-permit-apply"],
                    "needs_person": False,
                    "reason": "",
                    "next_step": {"action": "none", "call": "", "also": []},
                    "masked_question": "居住证怎么办理，我的手机号是〈手机号·1〉",
                    "ai_label": "内容由人工智能生成",
                }
            ]
        }
    )

    answer: str
    clauses: list[ClauseOut]
    route: str
    confidence: float
    sources: list[str]
    needs_person: bool
    reason: str
    next_step: NextStep
    masked_question: str
    ai_label: str


class AudioOut(BaseModel):
    """Sound: a WAV file, 16-bit PCM, that says in its metadata that it was made by a machine."""

    content_type: Literal["audio/wav"] = "audio/wav"
    rate_hz: int
    duration_ms: int
    base64: str


class SpeechAnswer(Answer):
    """An answer to a recording. transcript: masked; unclear: nothing could be understood, unclear_reason says why."""

    transcript: str
    unclear: bool
    unclear_reason: str
    audio: AudioOut


class ErrorOut(BaseModel):
    """code: stable, for programs; message and what_to_do: for people."""

    code: str
    message: str
    what_to_do: str


class ErrorBody(BaseModel):
    """Every error has this form."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"error": {"code": "server.busy", "message": "too many questions at a time", "what_to_do": "ask again in a moment"}}
            ]
        }
    )

    error: ErrorOut


class State(BaseModel):
    """Of the server."""

    status: Literal["ok", "ready"]
