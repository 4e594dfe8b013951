"""`hotline bench answers`: text in → first clause out, at a steady rate of questions, as distributions of one run.

Open loop: questions come when they are due, whether or not the ones before are answered, so a slow answer makes the next ones
wait as it would in service. Each is masked, searched and answered by the very parts of a call. Asserts nothing.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from hotline.bench import machine
from hotline.bench_retrieval import SIZES, RetrievalFigures, bench_retrieval
from hotline.clock import utc_now
from hotline.compose import Desk, open_desk
from hotline.config import Settings
from hotline.errors import HotlineError, ModelMissing, explain
from hotline.paths import configs_dir
from llm import knowledge
from llm.types import Clause, Dialogue, Entry

Tell = Callable[[str], None]
HOT_SHARE = 0.7
WARM_UP = 40  # questions that are asked before the clock counts
REACH = "40 / 150"
AIM = "10 / 60"
_SEED = 12345


class NothingToAsk(HotlineError):
    """The knowledge base gives no questions of a kind."""

    code = "bench.nothing_to_ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """A kind of traffic. hot_share: of questions that a reviewed answer is there for."""

    name: str
    hot_share: float


MIXES = (
    Mix(name="hot", hot_share=1.0),
    Mix(name="retrieved", hot_share=0.0),
    Mix(name="mixed, 70 % hot", hot_share=HOT_SHARE),
)


async def bench_answers(
    settings: Settings, *, rate_per_s: int, seconds: int, out_dir: Path, sizes: Sequence[int] = SIZES, tell: Tell = print
) -> int:
    """Measure each mix, then the search among passages of each size, and print the tables. Returns 0."""
    folder = configs_dir() / settings.answering.knowledge_dir
    entries = await asyncio.to_thread(knowledge.load, folder, today=utc_now().date())
    hot, others = hot_questions(entries), other_questions(entries, folder)
    tell(f"machine: {machine()}")
    tell(f"{len(entries)} entries, {len(hot)} hot questions, {len(others)} others; {rate_per_s} a second, {seconds} s each")
    if not hot or not others:
        raise NothingToAsk("the knowledge base has no hot entries, or nothing else", what_to_do="give it both, or a test set")
    figures: dict[str, dict[str, float]] = {}
    async with _quiet_desk(settings) as desk:
        await _ask_all(desk, _draw(hot, others, Mix(name="warm-up", hot_share=0.5), WARM_UP), rate_per_s)
        for mix in MIXES:
            times_ms = await _ask_all(desk, _draw(hot, others, mix, rate_per_s * seconds), rate_per_s)
            figures[mix.name] = spread_ms(times_ms)
    tell(f"{'text in → first clause, ms':<34}{'mean / p99':<16}{'p50':<8}{'n':<8}{'reach':<12}aim")
    for name, figure in figures.items():
        goals = (REACH, AIM) if name == MIXES[-1].name else ("", "")
        told = f"{figure['mean']:.1f} / {figure['p99']:.1f}"
        tell(f"{name:<34}{told:<16}{figure['p50']:<8.1f}{figure['n']:<8.0f}{goals[0]:<12}{goals[1]}".rstrip())
    retrieval = await asyncio.to_thread(_retrieval, others, sizes, tell)
    report = {
        "machine": machine(),
        "at": utc_now().isoformat(timespec="seconds"),
        "rate_per_s": rate_per_s,
        "figures": figures,
        "retrieval": [asdict(each) for each in retrieval],
    }
    await asyncio.to_thread(_write, out_dir / "answers.json", report)
    return 0


def _retrieval(questions: Sequence[str], sizes: Sequence[int], tell: Tell) -> list[RetrievalFigures]:
    try:
        return bench_retrieval(questions, sizes=sizes, tell=tell)
    except ModelMissing as error:
        tell(f"retrieval at size: not measured: {explain(error).message}; {explain(error).what_to_do}")
        return []


def _write(path: Path, report: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, ensure_ascii=False, indent=2) + "\n", "utf-8")


def hot_questions(entries: Sequence[Entry]) -> list[str]:
    """Every wording of every hot entry."""
    return [wording for entry in entries if entry.hot for wording in (entry.question, *entry.paraphrases)]


def other_questions(entries: Sequence[Entry], folder: Path) -> list[str]:
    """The test set's queries, which no entry has word by word; without a test set the wordings of entries that are not hot."""
    queries = [
        str(json.loads(line)["query"])
        for file in sorted((folder / "tests").glob("*.jsonl"))
        for line in file.read_text("utf-8").splitlines()
        if line.strip()
    ]
    return queries or [wording for entry in entries if not entry.hot for wording in entry.paraphrases]


def spread_ms(times_ms: Sequence[float]) -> dict[str, float]:
    """n, mean and percentiles."""
    return {
        "n": len(times_ms),
        "mean": round(float(np.mean(times_ms)), 3),
        **{f"p{share}": round(float(np.percentile(times_ms, share)), 3) for share in (50, 95, 99)},
    }


def _draw(hot: Sequence[str], others: Sequence[str], mix: Mix, count: int) -> list[str]:
    dice = random.Random(_SEED)  # noqa: S311  the same questions in every run
    return [dice.choice(hot if dice.random() < mix.hot_share else others) for _ in range(count)]


async def _ask_all(desk: Desk, questions: Sequence[str], rate_per_s: int) -> list[float]:
    """Milliseconds from the moment that each was due to its first clause, in order of arrival."""
    loop = asyncio.get_running_loop()
    times_ms: list[float] = []

    async def ask(question: str, due_s: float) -> None:
        masked = desk.parts.new_masker().mask(question)
        async with aclosing(desk.parts.mind.answer(masked, Dialogue(today=utc_now().date()))) as steps:
            async for step in steps:
                if isinstance(step, Clause):
                    times_ms.append((loop.time() - due_s) * 1000)
                    return

    begin_s = loop.time() + 0.05
    async with asyncio.TaskGroup() as tasks:
        for number, question in enumerate(questions):
            due_s = begin_s + number / rate_per_s
            await asyncio.sleep(max(0.0, due_s - loop.time()))
            tasks.create_task(ask(question, due_s))
    return times_ms


@asynccontextmanager
async def _quiet_desk(settings: Settings) -> AsyncGenerator[Desk, None]:
    """A desk with a record and a broker of its own."""
    with tempfile.TemporaryDirectory(prefix="hotline-bench-") as folder:
        record = replace(settings.record, url=f"sqlite+aiosqlite:///{folder}/record.db")
        async with open_desk(replace(settings, record=record, mqtt=replace(settings.mqtt, port=0)), audible=False) as desk:
            yield desk
