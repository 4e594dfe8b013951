"""Settings: the file lists every knob at its default, the environment wins, and what is wrong is named with its mend."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline.config import Settings, check, knowledge_folder, load
from hotline.errors import ConfigWrong
from hotline.paths import configs_dir

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = configs_dir() / "hotline.toml"
SET_ELSEWHERE = {"turns.max_call_ms"}  # by server.max_call_s
Write = Callable[[str], Path]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    def write(text: str) -> Path:
        path = tmp_path / "hotline.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def wrong(path: Path, environment: dict[str, str] | None = None) -> ConfigWrong:
    """The error of loading it."""
    with pytest.raises(ConfigWrong) as raised:
        load(path, environment or {})
    return raised.value


# ---------------------------------------------------------------- the shipped file


def knobs(kind: type, where: str = "") -> Iterator[str]:
    """Every setting, by its place."""
    hints = get_type_hints(kind)
    for each in dataclasses.fields(kind):
        if dataclasses.is_dataclass(inner := hints[each.name]):
            yield from knobs(inner, f"{where}{each.name}.")  # type: ignore[arg-type]
        else:
            yield f"{where}{each.name}"


def listed() -> dict[str, str]:
    """What the file lists, set or commented out → its line."""
    found, section = {}, ""
    for line in SHIPPED.read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line[1 : line.index("]")]
        elif " = " in line:
            key = line.removeprefix("# ").split(" = ", 1)[0]
            if key.isidentifier():
                found[f"{section}.{key}"] = line
    return found


def test_the_file_says_what_the_defaults_are() -> None:
    assert load(SHIPPED, {}) == Settings()


def test_the_file_lists_every_knob_and_nothing_else() -> None:
    every = set(knobs(Settings)) - SET_ELSEWHERE
    inside = {f"phrases.give_up.{reason}" for reason in Settings().phrases.give_up}
    assert set(listed()) == (every - {"phrases.give_up"}) | inside


def test_only_what_has_no_default_is_commented_out() -> None:
    commented = {place for place, line in listed().items() if line.startswith("#")}
    assert commented == {"server.token", *(f"mqtt.{key}" for key in ("username", "password", "ca_file", "cert_file", "key_file"))}


def test_a_checkout_and_an_installation_load_their_own_file() -> None:
    assert load(environment={}) == load(SHIPPED, {})


def test_every_knob_does_something() -> None:
    rooms = (ROOT / room for room in ("hotline", "asr", "llm", "tts"))
    code = "\n".join(path.read_text("utf-8") for room in rooms for path in room.rglob("*.py") if "v1" not in path.parts)
    read = set(re.findall(r"\.([a-z_]+)\b", code))
    assert {place for place in knobs(Settings) if place.rsplit(".", 1)[1] not in read} == set()


# ---------------------------------------------------------------- precedence


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(written: Write) -> None:
    path = written("[server]\nport = 50052\nmax_calls = 3\n")
    settings = load(path, {"HOTLINE_SERVER__PORT": "50053", "HOTLINE_HEARING__ENDPOINT__SILENCE_MS": "700", "PATH": "/bin"})
    assert (settings.server.port, settings.server.max_calls, settings.server.max_asks) == (50_053, 3, 8)
    assert settings.hearing.endpoint.silence_ms == 700


def test_the_environment_names_another_file(written: Write) -> None:
    assert load(environment={"HOTLINE_CONFIG": str(written("[server]\nport = 7\n"))}).server.port == 7
    assert load(environment={"HOTLINE_CONFIG": ""}) == Settings()


@pytest.mark.parametrize("name", ["HOTLINE_MODELS__DIR", "HOTLINE_HUB", "HOTLINE_LOG_STRICT", "HOTLINE_CACHE_DIR"])
def test_variables_that_are_no_settings_are_left_alone(name: str) -> None:
    assert load(SHIPPED, {name: "1"}) == Settings()


def test_text_from_the_environment_becomes_what_the_setting_is() -> None:
    environment = {"HOTLINE_MQTT__EMBEDDED": "false", "HOTLINE_SPEAKING__SPEED": "1.3", "HOTLINE_MQTT__CA_FILE": "ca.pem"}
    settings = load(SHIPPED, environment | {"HOTLINE_MQTT__TLS": "true"})
    assert (settings.mqtt.embedded, settings.speaking.speed, settings.mqtt.ca_file) == (False, 1.3, Path("ca.pem"))


def test_one_sentence_can_be_changed(written: Write) -> None:
    phrases = load(written('[phrases.give_up]\nasked = "这就转。"\n[phrases]\nreprompts = ["在吗？"]\n'), {}).phrases
    assert phrases.give_up["asked"] == "这就转。"
    assert phrases.give_up["silence"] == Settings().phrases.give_up["silence"]
    assert phrases.reprompts == ("在吗？",)


# ---------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[server]\nprot = 1\n", "unknown setting server.prot, did you mean port?"),
        ("[sever]\nport = 1\n", "unknown setting sever, did you mean server?"),
        ("[hearing.endpoint]\nsilense_ms = 1\n", "unknown setting hearing.endpoint.silense_ms, did you mean silence_ms?"),
        ("[log]\nxyzzy = 1\n", "unknown setting log.xyzzy (known: form, level)"),
        ("server = 1\n", "server must be a section"),
        ("turns = []\n", "turns must be a section"),
        ("[server]\nport = 'x'\n", "server.port: Input should be a valid integer"),
        ("[server]\nport = []\n", "server.port: Input should be a valid integer"),
        ("[server]\nmax_calls = 1.5\n", "server.max_calls: Input should be a valid integer"),
        ("[mqtt]\nembedded = 'perhaps'\n", "mqtt.embedded: Input should be a valid boolean"),
        ("[phrases]\nreprompts = '在吗'\n", "phrases.reprompts: must be a list of texts"),
        ("[phrases.give_up]\naskd = '好'\n", "phrases: give_up: askd: no such reason"),
        ("[phrases]\nlabel = ' '\n", "phrases: label must say something"),
        ("[log]\nlevel = 'loud'\n", "log.level: Input should be 'debug', 'info', 'warning' or 'error'"),
        ("[log]\nform = 'xml'\n", "log.form: Input should be 'console' or 'json'"),
        ("[server]\nmax_calls = 0\n", "server: max_calls and max_asks must be at least 1"),
        ("[turns]\npause_after_ms = 400\n", "turns: pause_after_ms < cancel_after_ms"),
        ("[turns]\nno_input_ms = 0\n", "turns: no_input_ms must be at least 1"),
        ("[turns]\nmax_call_ms = 1000\n", "turns.max_call_ms is server.max_call_s"),
        ("[hearing.endpoint]\nspeech_on = 0.1\n", "hearing.endpoint: speech_off must lie below speech_on"),
        ("[mqtt]\ntls = true\n", "mqtt: the embedded broker speaks MQTT 3.1.1 on loopback"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(written: Write, text: str, told: str) -> None:
    error = wrong(written(text))
    assert told in str(error)
    assert "hotline.toml" in str(error)
    assert error.what_to_do


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("HOTLINE_SERVER__PROT", "unknown setting server.prot, did you mean port?"),
        ("HOTLINE_SEVER__PORT", "unknown setting sever, did you mean server?"),
        ("HOTLINE_PORT", "environment variable HOTLINE_PORT names no setting"),
        ("HOTLINE_SERVER__", "environment variable HOTLINE_SERVER__ names no setting"),
        ("HOTLINE___PORT", "environment variable HOTLINE___PORT names no setting"),
        ("HOTLINE_SERVER__PORT__X", "environment variable HOTLINE_SERVER__PORT__X: port is no section"),
        ("HOTLINE_TURNS__MAX_CALL_MS", "turns.max_call_ms is server.max_call_s"),
        ("HOTLINE_MQTT__EMBEDDED", "mqtt.embedded: Input should be a valid boolean"),
    ],
)
def test_what_is_wrong_in_the_environment_is_named(name: str, told: str) -> None:
    assert told in str(wrong(SHIPPED, {name: "s3cret"}))


TWICE = """
[server]
port = 1
max_calls = 3

[phrases]
label = '''
port = in a text
您好'''
reprompts = '在吗'  # no list
[mqtt]
answer_timeout_ms = 99999999999
"""


@pytest.mark.parametrize(
    ("change", "environment", "told"),
    [
        (("port = 1", "prot = 1"), {}, "{file}, line 3: unknown setting server.prot, did you mean port?"),
        (("[mqtt]", "[mqqt]"), {}, "{file}, line 11: unknown setting mqqt, did you mean mqtt?"),
        (("max_calls = 3", "max_calls = 0"), {}, "{file}, line 4: server: max_calls and max_asks must be at least 1"),
        (("port = 1", "port = 1"), {}, '{file}, line 10: phrases.reprompts: must be a list of texts, in the file: ["…", "…"]'),
        (("'在吗'", "['在吗', 7]"), {}, "{file}, line 10: phrases.reprompts.1: Input should be a valid string"),
        (("'在吗'", "['在吗']"), {}, "{file}, line 12: mqtt.answer_timeout_ms must be 0 to 3600000 ms"),
        (("[server]", "server.host = 1\n[server]"), {}, "{file} is not TOML"),
        (("port = 1\n", ""), {"HOTLINE_SERVER__PORT": "x"}, "HOTLINE_SERVER__PORT: server.port: Input should be"),
        (("port = 1\n", ""), {"HOTLINE_SERVR__X": "1"}, "HOTLINE_SERVR__X: unknown setting servr, did you mean server?"),
        (("port = 1", "port = 1"), {"HOTLINE_SERVER__MAX_ASKS": "0"}, "HOTLINE_SERVER__MAX_ASKS: server: max_calls and max_asks"),
        (("port = 1", "port = 1"), {"HOTLINE_MQTT__VERSION": "5"}, "{file}, line 11: mqtt: the embedded broker speaks"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_or_its_variable(
    written: Write, change: tuple[str, str], environment: dict[str, str], told: str
) -> None:
    path = written(TWICE.replace(*change))
    assert told.format(file=path) in str(wrong(path, environment))


def test_what_no_line_holds_is_told_of_the_file_or_of_the_variables(written: Write) -> None:
    path = written('"log" = {level = "loud"}\n')
    assert str(wrong(path)).startswith(f"{path}: log.level: ")
    both = str(wrong(written(""), {"HOTLINE_HTTP__RATED": "1", "HOTLINE_HTTP__TLS": "1"}))
    assert both.startswith("HOTLINE_HTTP__RATED: unknown")
    assert "; HOTLINE_HTTP__TLS: unknown" in both


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_number_that_is_none_is_refused(written: Write, value: str) -> None:
    assert "line 2: speaking.speed must be a number" in str(wrong(written(f"[speaking]\nspeed = {value}\n")))


def times(settings: object, where: str = "") -> Iterator[tuple[str, str]]:
    """Every knob that is a time, with its section."""
    for each in dataclasses.fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, each.name)
        if dataclasses.is_dataclass(value):
            yield from times(value, f"{where}.{each.name}".strip("."))
        elif each.name.endswith(("_ms", "_s")) and f"{where}.{each.name}" not in SET_ELSEWHERE:
            yield where, each.name


@pytest.mark.parametrize(("section", "key"), list(times(Settings())))
@pytest.mark.parametrize("value", [-1, 43_201_000])
def test_no_time_is_endless_or_negative(written: Write, section: str, key: str, value: int) -> None:
    told = str(wrong(written(f"[{section}]\n{key} = {value}\n")))
    assert "line " in told
    assert key in told or "silences must not fall" in told


# ---------------------------------------------------------------- paths


FILES = ("server.tls_cert", "server.tls_key", "server.tls_client_ca", "http.tls_cert", "http.tls_key", "http.tls_client_ca")


def value_of(settings: Settings, place: str) -> str:
    section, key = place.split(".")
    return str(getattr(getattr(settings, section), key))


@pytest.mark.parametrize("place", [*FILES, "answering.knowledge_dir", "mqtt.ca_file", "hearing.model", "answering.engine_model"])
def test_a_relative_path_counts_from_the_file_that_holds_it(written: Write, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    section, key = place.split(".")
    more = "embedded = false\ntls = true\n" if section == "mqtt" else ""
    path = written(f"[{section}]\n{key} = 'own/thing'\n{more}")
    assert value_of(load(path, {}), place) == str(path.parent / "own/thing")
    monkeypatch.chdir(path.parent.parent)
    near = path.relative_to(path.parent.parent)
    assert value_of(load(near, {}), place) == str(path.parent / "own/thing")
    path.write_text(f"[{section}]\n{key} = '/own/thing'\n{more}", "utf-8")
    assert value_of(load(path, {}), place) == "/own/thing"


def test_a_copied_configuration_uses_the_knowledge_beside_it(tmp_path: Path) -> None:
    (tmp_path / "my").mkdir()
    own = Path(shutil.copy(SHIPPED, tmp_path / "my" / "hotline.toml"))
    assert knowledge_folder(load(own, {})) == tmp_path / "my" / "kb"
    assert knowledge_folder(load(SHIPPED, {})) == configs_dir() / "kb"
    with pytest.raises(ConfigWrong, match=r"hotline\.toml, line \d+: answering\.knowledge_dir: no folder .*/my/kb"):
        check(own, {})


def test_without_a_word_about_it_the_sample_knowledge_is_used(written: Write) -> None:
    assert knowledge_folder(load(written(""), {})) == configs_dir() / "kb"


def test_a_path_in_a_variable_counts_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load(SHIPPED, {"HOTLINE_ANSWERING__KNOWLEDGE_DIR": "kb", "HOTLINE_SERVER__TLS_CERT": "a.pem"})
    assert (knowledge_folder(settings), settings.server.tls_cert) == (tmp_path / "kb", "a.pem")
    with pytest.raises(ConfigWrong, match=r"^HOTLINE_ANSWERING__KNOWLEDGE_DIR: answering.knowledge_dir: no folder .*/kb$"):
        check(SHIPPED, {"HOTLINE_ANSWERING__KNOWLEDGE_DIR": "kb"})


def test_the_users_own_folder_may_be_written_short(written: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/srv/op")
    text = "[answering]\nknowledge_dir = '{}'\ndense_model = '~/nano'\nengine_model = 'name'\n"
    answering = load(written(text.format("~/kb")), {}).answering
    assert (answering.knowledge_dir, answering.dense_model, answering.engine_model) == ("/srv/op/kb", "~/nano", "name")
    assert load(written(text.format("~nobody-here/kb")), {}).answering.knowledge_dir.endswith("/~nobody-here/kb")


def test_a_check_looks_at_file_and_environment_together(written: Write) -> None:
    path = written("[server]\nport = 7000\n")
    assert check(path, {"HOTLINE_SERVER__MAX_CALLS": "3"}).server.max_calls == 3
    with pytest.raises(ConfigWrong, match=r"^HOTLINE_METRICS__PORT: metrics.port and server.port are both 7000$"):
        check(path, {"HOTLINE_METRICS__PORT": "7000"})
    assert check(path, {"HOTLINE_MQTT__EMBEDDED": "false", "HOTLINE_MQTT__PORT": "7000"}).mqtt.port == 7000  # another machine's


def test_all_that_is_wrong_is_told_at_once(written: Write) -> None:
    assert "server.prot" in (told := str(wrong(written("[server]\nprot = 1\n[log]\nlevle = 1\n"))))
    assert "log.levle" in told


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, written: Write) -> None:
    assert "no configuration at" in str(wrong(tmp_path / "none.toml"))
    assert "can't be read" in str(wrong(tmp_path))
    assert "is not TOML" in str(wrong(written("[server\n")))
    assert "at line 2" in str(wrong(written("[server]\nport = \n")))
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"# \xe9t\xe9\n")
    assert str(wrong(latin)) == f"{latin} is not UTF-8 text"
    latin.write_bytes("[phrases]\nrated = '感谢您的评价，再见。'\n".encode("gbk"))
    assert (str(wrong(latin)), wrong(latin).what_to_do) == (f"{latin} is not UTF-8 text: it looks like GBK", "save it as UTF-8")
    assert "is not TOML" in str(wrong(written("a = " + "[" * 5_000)))


def test_an_editors_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "hotline.toml"
    path.write_text("[server]\nport = 7\n", encoding="utf-8-sig")
    assert load(path, {}).server.port == 7


def test_a_secret_is_neither_told_nor_shown(written: Write) -> None:
    settings = load(
        SHIPPED, {"HOTLINE_SERVER__TOKEN": "s3cret", "HOTLINE_MQTT__EMBEDDED": "false", "HOTLINE_MQTT__PASSWORD": "p4ss"}
    )
    assert "s3cret" not in repr(settings)
    assert "p4ss" not in repr(settings)
    error = wrong(
        written("[server]\nport = 's3cret'\n"), {"HOTLINE_SERVER__TOKEN": "s3cret", "HOTLINE_SERVER__MAX_CALLS": "s3cret"}
    )
    assert "s3cret" not in str(error)


@given(st.dictionaries(st.sampled_from(sorted(knobs(Settings))) | st.text(max_size=8), st.text(max_size=8), max_size=4))
def test_any_environment_loads_or_is_told(settings: dict[str, str]) -> None:
    environment = {f"HOTLINE_{place.upper().replace('.', '__')}": text for place, text in settings.items()}
    environment.pop("HOTLINE_CONFIG", None)
    with contextlib.suppress(ConfigWrong):
        load(SHIPPED, environment)
