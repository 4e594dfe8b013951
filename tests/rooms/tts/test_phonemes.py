"""How hanzi and letters become syllables and phonemes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.voices.neural import windows
from tts.voices.phonemes import Phonemes, syllables

SYMBOLS = ["sil", "#0", "#3", "eos", "^", "n", "h", "i2", "i3", "ao3", "er5", "d", "ian3", "uo3"]
TABLE = {
    "symbol_to_id": {symbol: number for number, symbol in enumerate(SYMBOLS)},
    "pinyin_dict": {"ni": ["n", "i"], "hao": ["h", "ao"], "dian": ["d", "ian"], "wo": ["^", "uo"]},
}


@pytest.fixture
def phonemes(tmp_path: Path) -> Phonemes:
    path = tmp_path / "mapper.json"
    path.write_text(json.dumps(TABLE))
    return Phonemes(path)


def names(ids: list[int]) -> list[str]:
    return [SYMBOLS[number] for number in ids]


@pytest.mark.parametrize(
    ("spoken", "said"),
    [
        ("你好", ["ni2", "hao3"]),  # two third tones in a row
        ("银行，行走", ["yin2", "hang2", "#3", "xing2", "zou3"]),
        ("不是", ["bu2", "shi4"]),
        ("女儿", ["nv3", "er2"]),
        ("哪儿", ["nar3"]),
        ("这儿童", ["zhe4", "er2", "tong2"]),
        ("五G", ["wu3", "ji4"]),
        ("app", ["ei1", "pi4", "pi4"]),
        ("《》“”🙂", []),
        ("幺", ["yao1"]),
    ],
)
def test_syllables(spoken: str, said: list[str]) -> None:
    assert list(syllables(spoken)) == said


def test_a_clause_begins_and_ends_in_silence(phonemes: Phonemes) -> None:
    assert names(phonemes.ids("你好")) == ["sil", "n", "i2", "#0", "h", "ao3", "sil", "eos"]


def test_a_pause_stands_between_not_at_the_ends(phonemes: Phonemes) -> None:
    assert names(phonemes.ids("，我，，你。")) == ["sil", "^", "uo3", "#3", "n", "i3", "sil", "eos"]


def test_er_hua_keeps_its_r(phonemes: Phonemes) -> None:
    assert names(phonemes.ids("点儿")) == ["sil", "d", "ian3", "er5", "sil", "eos"]


def test_what_the_table_does_not_know_is_left_out(phonemes: Phonemes) -> None:
    assert names(phonemes.ids("你去")) == ["sil", "n", "i3", "sil", "eos"]
    assert phonemes.ids("去") == []
    assert phonemes.ids("，。") == []


@given(st.integers(min_value=1, max_value=3000))
def test_windows_cover_a_spectrogram_once(frames: int) -> None:
    done = 0
    for low, high, skip, keep in windows(frames):
        assert 0 <= low < high <= frames
        assert high - low <= 160
        assert low * 300 + skip == done
        assert skip + keep <= (high - low) * 300
        done += keep
    assert done == frames * 300
