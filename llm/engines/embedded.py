"""A language model inside this process (llama.cpp through xllamacpp): prompt → tokens. Knows no knowledge base, checks or calls.

One generation at a time, in one worker thread; what comes meanwhile waits, within its own deadline. Closing the generator stops the
model at its next token; while it still reads a prompt nothing can stop it, so the batches are small and the caller doesn't wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from llm.prompt import warm_up_prompt
from llm.stops import StopGuard
from llm.types import EngineFailed, EngineMissing, EngineStalled, GenerateParams, Prompt, TokenEvent

_BATCH_TOKENS = 32  # a stop during the prompt takes effect at a batch's end
_WARM_UP_TOKENS = 8
_CLAUSE_TOKENS = 10  # of a first clause
_FEW_TOKENS = 16  # read or written: fewer say little about speed
_TURN_ENDS = ("<|im_end|>", "<|im_start|>", "<|endoftext|>")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSpeed:
    """Measured at warm-up, on this machine, under its load of that moment; kept up to date by every generation since."""

    prefill_tokens_per_s: float
    decode_tokens_per_s: float
    tokens_per_character: float = 1.0

    def first_clause_ms(self, characters: int) -> int:
        """About when the first clause comes on a prompt with so many characters that the model has not read yet."""
        reading_s = characters * self.tokens_per_character / self.prefill_tokens_per_s
        return round(1000 * (reading_s + _CLAUSE_TOKENS / self.decode_tokens_per_s))

    def blended(self, newer: EngineSpeed) -> EngineSpeed:
        """Half of each: one slow generation is no verdict, a loaded machine is one after a few."""
        return EngineSpeed(
            prefill_tokens_per_s=(self.prefill_tokens_per_s + newer.prefill_tokens_per_s) / 2,
            decode_tokens_per_s=(self.decode_tokens_per_s + newer.decode_tokens_per_s) / 2,
            tokens_per_character=self.tokens_per_character,
        )


@dataclass(frozen=True, slots=True)
class _CutOff:
    """The limit of tokens came before the model's own end."""


_Item = str | _CutOff | EngineFailed | None  # None: the end


class EmbeddedEngine:
    """One GGUF model. Made by `load` (seconds); `close` frees it."""

    def __init__(self, server: Any, name: str) -> None:  # noqa: ANN401  xllamacpp has no types
        """Wrap a loaded model."""
        self.name = name
        self._server = server
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="llm")
        self._lock = threading.Lock()
        self._waiting = 0  # generations that run or wait
        self._took_ms = 0  # the last one
        self.speed = self._warm_up()

    @classmethod
    def load(cls, model: Path, *, threads: int = 1, context_tokens: int = 2048) -> EmbeddedEngine:
        """Load the weights and measure. model: a .gguf file, or a folder that holds one. Blocking. Raises EngineMissing."""
        weights = _weights(model)
        try:
            import xllamacpp  # noqa: PLC0415  30 MB of library, only for those who use it
        except ImportError:
            raise EngineMissing("the embedded engine needs the package xllamacpp; install Hotline's requirements again") from None
        params = xllamacpp.CommonParams()
        params.model.path = str(weights)
        params.n_ctx, params.n_parallel = context_tokens, 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.n_batch = params.n_ubatch = _BATCH_TOKENS
        params.cache_ram_mib, params.warmup, params.verbosity = 0, True, -1
        try:
            return cls(xllamacpp.Server(params), weights.stem)
        except (RuntimeError, ValueError):
            raise EngineMissing(f"{weights.name} does not load as a GGUF model; pull it again: hotline models pull") from None

    async def generate(self, prompt: Prompt, params: GenerateParams) -> AsyncGenerator[TokenEvent, None]:
        """Stream text. Raises EngineStalled when none comes for first_token_ms, EngineFailed when the model refuses the prompt."""
        loop = asyncio.get_running_loop()
        arrived: asyncio.Queue[_Item] = asyncio.Queue()
        stop = threading.Event()

        def hand_in(item: _Item) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits any more
                loop.call_soon_threadsafe(arrived.put_nowait, item)

        running = self._start(prompt, params, hand_in, stop)
        guard, cut_off = StopGuard((*_TURN_ENDS, *params.stop)), False
        try:
            while not guard.stopped and (piece := await self._next(arrived, params.first_token_ms)) is not None:
                if isinstance(piece, _CutOff):
                    cut_off = True
                elif text := guard.feed(piece):
                    yield TokenEvent(text=text)
            if (rest := guard.flush()) or cut_off:
                yield TokenEvent(text=rest, cut_off=cut_off)
        finally:
            stop.set()
            running.cancel()  # of use only while it still waits for its turn

    def first_clause_ms(self, prompt: Prompt) -> int:
        """The rules in front are in the model's cache, the rest must be read; who runs or waits comes first."""
        return self.speed.first_clause_ms(len(prompt.user)) + self._waiting * self._took_ms

    def close(self) -> None:
        """Free the model, after the running step."""
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._server = None

    def _start(
        self, prompt: Prompt, params: GenerateParams, hand_in: Callable[[_Item], None], stop: threading.Event
    ) -> Future[None]:
        began_s, spoke = 0.0, False

        def on_chunk(chunk: Mapping[str, Any]) -> bool:
            nonlocal spoke
            if "error" in chunk:
                hand_in(
                    EngineFailed(f"the model refused the prompt: {chunk['error'].get('type', 'unknown')}; shorten the passages")
                )
                return True
            if stop.is_set():  # no figures will come of this one
                self._learn_late(prompt, time.perf_counter() - began_s, has_text=spoke)
            spoke = True
            self._learn(chunk.get("timings", {}))
            choice = chunk["choices"][0]
            if not stop.is_set() and (text := choice["text"]):
                hand_in(text)
            if choice.get("finish_reason") == "length":
                hand_in(_CutOff())
            return stop.is_set()

        def work() -> None:
            nonlocal began_s
            began_s = time.perf_counter()
            try:
                if not stop.is_set():
                    self._server.handle_completions(_request(prompt, params), on_chunk)
            except (RuntimeError, ValueError):
                hand_in(EngineFailed("the embedded engine broke while generating; restart the server"))
            finally:
                self._took_ms = round((time.perf_counter() - began_s) * 1000)
                self._leave()  # before its end is known: who asks then is told of no queue
                hand_in(None)

        with self._lock:
            self._waiting += 1
        try:
            running = self._worker.submit(work)
        except RuntimeError:
            self._leave()
            raise EngineFailed("the embedded engine is closed; start it again") from None
        running.add_done_callback(lambda done: self._leave() if done.cancelled() else None)
        return running

    def _leave(self) -> None:
        with self._lock:
            self._waiting -= 1

    def _learn(self, timings: Mapping[str, Any]) -> None:
        """Speeds of a finished generation; what stood in the cache was not read and tells nothing."""
        if timings.get("prompt_n", 0) >= _FEW_TOKENS and timings.get("predicted_n", 0) >= _FEW_TOKENS:
            self.speed = self.speed.blended(_speed(timings, self.speed.tokens_per_character))

    def _learn_late(self, prompt: Prompt, took_s: float, *, has_text: bool) -> None:
        """From a generation that was given up before its first token: at most so fast was the reading."""
        read = len(prompt.user) * self.speed.tokens_per_character / max(took_s, 0.001)
        if not has_text and read < self.speed.prefill_tokens_per_s:
            self.speed = self.speed.blended(replace(self.speed, prefill_tokens_per_s=read))

    async def _next(self, arrived: asyncio.Queue[_Item], deadline_ms: int) -> str | _CutOff | None:
        try:
            async with asyncio.timeout(deadline_ms / 1000):
                item = await arrived.get()
        except TimeoutError:
            raise EngineStalled(
                f"{self.name} gave no text within {deadline_ms} ms; give it fewer passages or more threads"
            ) from None
        if isinstance(item, EngineFailed):
            raise item
        return item

    def _warm_up(self) -> EngineSpeed:
        last: dict[str, Any] = {}

        def keep(chunk: dict[str, Any]) -> bool:
            last.update(chunk)
            return False

        prompt = warm_up_prompt()
        self._server.handle_completions(_request(prompt, GenerateParams(max_tokens=_WARM_UP_TOKENS)), keep)
        timings = last.get("timings", {})
        characters = len(_request(prompt, GenerateParams())["prompt"])
        return _speed(timings, float(timings.get("prompt_n") or characters) / characters)


def _speed(timings: Mapping[str, Any], tokens_per_character: float) -> EngineSpeed:
    return EngineSpeed(
        prefill_tokens_per_s=round(float(timings.get("prompt_per_second") or 1.0), 1),
        decode_tokens_per_s=round(float(timings.get("predicted_per_second") or 1.0), 1),
        tokens_per_character=tokens_per_character,
    )


def _weights(model: Path) -> Path:
    if model.is_dir():
        found = sorted(model.glob("*.gguf"))
        if len(found) == 1:
            return found[0]
        raise EngineMissing(f"{model.name}: {len(found)} .gguf files where one is needed; run: hotline models pull {model.name}")
    if not model.is_file():
        raise EngineMissing(f"{model.name}: no such model; run: hotline models pull {model.name}")
    return model


def _request(prompt: Prompt, params: GenerateParams) -> dict[str, Any]:
    """ChatML, the template of Qwen and SmolLM. `Prompt` holds no control marks: its maker took them out."""
    text = f"<|im_start|>system\n{prompt.system}<|im_end|>\n<|im_start|>user\n{prompt.user}<|im_end|>\n<|im_start|>assistant\n"
    return {"prompt": text, "n_predict": params.max_tokens, "temperature": params.temperature, "stream": True, "cache_prompt": True}
