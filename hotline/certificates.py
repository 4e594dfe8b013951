"""TLS for both servers and for clients: PEM files in, credentials out, exchanged while the server runs. Knows no call and no route.

Files are proven before they are used: the certificate and its key shake hands with themselves in memory, which finds a foreign key,
a date that is over and a file that is none. Files that changed and are no good are told, and the old ones stay.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import structlog

from hotline.clock import utc_now
from hotline.errors import ConfigWrong

LOOK_EVERY_S = 5.0
_WARN_BEFORE = dt.timedelta(days=14)
_ROUNDS = 8  # of a handshake; TLS 1.3 needs three
_ENCRYPTED = "the key is encrypted"

_log = structlog.get_logger("hotline.certificates")


class _Verify(enum.IntEnum):
    """What OpenSSL says of a certificate (X509_V_ERR)."""

    NOT_YET = 9
    EXPIRED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """PEM files of a server. client_ca: who signs clients' certificates, None: none is asked for. section: of the settings."""

    cert: Path
    key: Path
    client_ca: Path | None = None
    section: str = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTls:
    """PEM files of a client. ca: who signed the server's certificate, None: whom this system trusts. cert, key: for mTLS."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class _Loaded:
    cert: bytes
    key: bytes
    client_ca: bytes | None
    context: ssl.SSLContext
    ends_at: dt.datetime


def tls_files(cert: str, key: str, client_ca: str, *, section: str) -> TlsFiles | None:
    """The settings as files; None where there is no TLS. Raises ConfigWrong when half of it is set."""
    if not (cert or key or client_ca):
        return None
    if not (cert and key):
        missing = "tls_key" if cert else "tls_cert"
        raise ConfigWrong(f"{section}: TLS is half set, {missing} is missing", what_to_do=f"set {section}.{missing} to a PEM file")
    return TlsFiles(cert=Path(cert), key=Path(key), client_ca=Path(client_ca) if client_ca else None, section=section)


class Certificates:
    """A server's certificates, as its files are now. Raises ConfigWrong when they can't serve."""

    def __init__(self, files: TlsFiles) -> None:
        """Blocks: reads and proves the files."""
        self.files = files
        self.again = asyncio.Event()
        self._seen = _signature(files)
        self._now = _load(files)
        self._warn_of_end()
        # each handshake is switched to the context of the moment
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.load_cert_chain(files.cert, files.key)
        if files.client_ca:
            self.context.load_verify_locations(files.client_ca)
            self.context.verify_mode = ssl.CERT_REQUIRED
        self.context.sni_callback = self._switch

    @property
    def asks_clients(self) -> bool:
        """Whether clients need a certificate (mTLS)."""
        return self.files.client_ca is not None

    def grpc_credentials(self) -> grpc.ServerCredentials:
        """For a port of gRPC's, which asks at each handshake whether they changed."""
        given = self._now

        def newer() -> Any:  # noqa: ANN401  None for no change, which the stubs forget
            nonlocal given
            if given is self._now:
                return None
            given = self._now
            return _configuration(given)

        return grpc.dynamic_ssl_server_credentials(_configuration(given), newer, require_client_authentication=self.asks_clients)

    def refresh(self) -> bool:
        """Read the files again if they changed. True when they did and serve from now on. Blocks."""
        signature = _signature(self.files)
        if signature == self._seen:
            return False
        self._seen = signature
        try:
            self._now = _load(self.files)
        except ConfigWrong as wrong:
            _log.error("certificate_not_taken", why=str(wrong), what_to_do=wrong.what_to_do)
            return False
        _log.info("certificate_taken", section=self.files.section, ends=self._now.ends_at.date().isoformat())
        self._warn_of_end()
        return True

    async def run(self) -> None:
        """For ever: look at the files every few seconds, and at once when `again` is set."""
        while True:
            try:
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self.again.wait()
            except TimeoutError:
                pass
            else:
                self.again.clear()
            await asyncio.to_thread(self.refresh)

    def _switch(self, handshake: ssl.SSLSocket | ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        handshake.context = self._now.context

    def _warn_of_end(self) -> None:
        left = self._now.ends_at - utc_now()
        if left < _WARN_BEFORE:
            _log.warning("certificate_ends_soon", section=self.files.section, days=left.days)


def channel_credentials(tls: ClientTls) -> grpc.ChannelCredentials:
    """A client's. Raises ConfigWrong when a file can't be read. Blocks."""
    if (tls.cert is None) != (tls.key is None):
        raise ConfigWrong("a client's certificate and key go together", what_to_do="give --cert and --key")
    ca, key, cert = (
        None if path is None else _read(path, name) for name, path in (("--ca", tls.ca), ("--key", tls.key), ("--cert", tls.cert))
    )
    return grpc.ssl_channel_credentials(root_certificates=ca, private_key=key, certificate_chain=cert)


def _configuration(loaded: _Loaded) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(loaded.key, loaded.cert)], root_certificates=loaded.client_ca)


def _signature(files: TlsFiles) -> tuple[tuple[int, int, int], ...]:
    found = []
    for path in filter(None, (files.cert, files.key, files.client_ca)):
        try:
            stat = path.stat()
        except OSError:
            found.append((0, 0, 0))
        else:
            found.append((stat.st_mtime_ns, stat.st_size, stat.st_ino))
    return tuple(found)


def _load(files: TlsFiles) -> _Loaded:
    where = files.section
    cert, key = _read(files.cert, f"{where}.tls_cert"), _read(files.key, f"{where}.tls_key")
    client_ca = _read(files.client_ca, f"{where}.tls_client_ca") if files.client_ca else None
    context = _context(files)
    ends_at = _proven(context, files)
    if files.client_ca:
        try:
            context.load_verify_locations(files.client_ca)
        except ssl.SSLError:
            raise _no_pem(files.client_ca, f"{where}.tls_client_ca", "certificate") from None
        context.verify_mode = ssl.CERT_REQUIRED
    return _Loaded(cert, key, client_ca, context, ends_at)


def _read(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigWrong(
            f"{name}: {path} can't be read ({error.strerror})", what_to_do="name a PEM file that this user may read"
        ) from None


def _context(files: TlsFiles) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(files.cert, files.key, password=_no_password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise ConfigWrong(
                f"{files.section}.tls_key: {files.key} is not the key of {files.cert}",
                what_to_do="name the key that the certificate was made with",
            ) from None
        if not _holds_certificate(files.cert):
            raise _no_pem(files.cert, f"{files.section}.tls_cert", "certificate") from None
        raise _no_pem(files.key, f"{files.section}.tls_key", "private key") from None
    except ValueError:  # from _no_password
        raise ConfigWrong(
            f"{files.section}.tls_key: {_ENCRYPTED}",
            what_to_do="decrypt it (openssl pkey -in KEY -out PLAIN) and keep it at mode 0600",
        ) from None
    return context


def _no_password() -> str:
    raise ValueError(_ENCRYPTED)  # else OpenSSL would ask on the terminal, and wait


def _holds_certificate(path: Path) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        return False
    return True


def _no_pem(path: Path, name: str, what: str) -> ConfigWrong:
    return ConfigWrong(
        f"{name}: {path} holds no {what} in PEM form", what_to_do=f"write one that begins with -----BEGIN … {what.upper()}-----"
    )


def _proven(context: ssl.SSLContext, files: TlsFiles) -> dt.datetime:
    """Shake hands with ourselves, in memory. When the certificate ends."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # the certificate itself is trusted
    trusting.load_verify_locations(files.cert)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting.wrap_bio(to_client, to_server)
    server = context.wrap_bio(to_server, to_client, server_side=True)
    try:
        for _ in range(_ROUNDS):
            for side in (client, server):
                try:
                    side.do_handshake()
                except ssl.SSLWantReadError:
                    continue
    except ssl.SSLCertVerificationError as error:
        match error.verify_code:
            case _Verify.EXPIRED:
                mend = "renew it, and name the new file"
                raise ConfigWrong(f"{files.section}.tls_cert: {files.cert} has expired", what_to_do=mend) from None
            case _Verify.NOT_YET:
                mend = "check this machine's clock, or the certificate's dates"
                raise ConfigWrong(f"{files.section}.tls_cert: {files.cert} is not valid yet", what_to_do=mend) from None
        raise ConfigWrong(
            f"{files.section}.tls_cert: {files.cert} can't serve ({error.verify_message})",
            what_to_do="use a certificate that is made for a server",
        ) from None
    told = client.getpeercert() or {}
    return dt.datetime.fromtimestamp(ssl.cert_time_to_seconds(str(told["notAfter"])), dt.UTC)
