"""Lines of JSON in (text, path) → WAV files and lines of JSON out. A process of its own: it owns pyttsx3's engine.

Its first line says that the engine is warm (or which library is missing). It ends when its input does.
"""

import json
import os
import sys
import tempfile
import wave
from pathlib import Path
from typing import Any

_VOICES = ("sit/cmn-latn-pinyin", "sit/cmn-Latn-pinyin", "cmn-latn-pinyin")


def _engine(words_per_minute: int) -> Any:  # noqa: ANN401  untyped library
    import pyttsx3  # noqa: PLC0415  raises when the library is not there, which is an answer

    engine = pyttsx3.init("espeak")
    have = {voice.id for voice in engine.getProperty("voices")}
    engine.setProperty("voice", next(name for name in _VOICES if name in have))
    engine.setProperty("rate", words_per_minute)
    return engine


def _speak(engine: Any, text: str, path: Path) -> int:  # noqa: ANN401  untyped library
    """Frames written, by the second try at the latest: the engine's first file often is empty or never comes."""
    for _ in range(2):
        engine.save_to_file(text, str(path))
        engine.runAndWait()
        try:
            with wave.open(str(path)) as file:
                frames: int = file.getnframes()
                if frames:
                    return frames
        except (OSError, EOFError, wave.Error):
            continue
    return 0


def main() -> None:
    """Serve until the input ends. Standard output carries answers only: what libraries print goes elsewhere."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        engine = _engine(int(sys.argv[1]))
    except (ImportError, OSError, RuntimeError, StopIteration) as error:
        print(json.dumps({"missing": type(error).__name__}), file=answers)
        return
    with tempfile.TemporaryDirectory(prefix="hotline-espeak-") as folder:
        _speak(engine, "ni3 hao3", Path(folder) / "warm.wav")
    print(json.dumps({"ready": True}), file=answers)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"frames": _speak(engine, request["text"], Path(request["path"]))}), file=answers)


if __name__ == "__main__":
    main()
