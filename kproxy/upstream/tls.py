"""TLS contexts made of settings, handshakes of sockets, and what went wrong in one, in words.

A virtual cluster makes its contexts when kproxy starts and at each reload. The acceptor shakes hands with clients and
brokers; kproxy's own client dials with `BrokerContext.stream`.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from kproxy.errors import ConfigError
from kproxy.upstream.dial import open_tcp
from kproxy.upstream.record_reads import return_after_each_record
from kproxy.upstream.validity import Validity, validity

if TYPE_CHECKING:
    from kproxy.config.tls import ClientTls, UpstreamTls

_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CIPHERS: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Of TLS 1.2: forward secrecy and authenticated encryption, which every client of Kafka 2.0 and later has."""
_HINTS: Final = {
    9: "it is not valid yet; look at the clocks",
    10: "it has expired; renew it",
    18: "it signs itself; name it, or its authority, in `{ca}`",
    19: "its authority is not trusted; name that in `{ca}`",
    20: "its authority is not trusted; name that in `{ca}`, or have it send its whole chain",
    62: "it is for another host; connect by a name that it has, or set `server_name`",
    64: "it is for another address; connect by a name that it has, or set `server_name`",
}
"""By X509_V_ERR of OpenSSL's x509_vfy.h; `{ca}` is the setting that names authorities."""
_ALERTS: Final = {
    "CERTIFICATE_REQUIRED": "it asks for a certificate; give kproxy one (`certificate`, `key`)",
    "UNKNOWN_CA": "it does not trust the authority of this side's certificate",
    "BAD_CERTIFICATE": "it refuses this side's certificate",
    "CERTIFICATE_UNKNOWN": "it does not trust this side's certificate",
    "CERTIFICATE_EXPIRED": "this side's certificate has expired",
    "PROTOCOL_VERSION": "it speaks no version of TLS that this side accepts",
    "HANDSHAKE_FAILURE": "it accepts no cipher of this side, or wants a certificate",
    "UNRECOGNIZED_NAME": "it knows no such server name",
}
_PASSWORD_BYTES: Final = 1024
"""The most that Python hands to OpenSSL."""
_NO_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "UNKNOWN_PROTOCOL"})

Readable = Callable[[], Awaitable[None]]


class ServerContext:
    """What kproxy shows to clients."""

    def __init__(self, settings: ClientTls, key: str, *, demands: bool = True) -> None:
        """Raises `ConfigError` for a file that cannot be used; `key` is the setting's, dotted.

        `demands`: where there is a `client_ca`, clients must have a certificate of it. Otherwise they may have one.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = _VERSIONS[settings.min_version]
        context.set_ciphers(_CIPHERS)
        context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE | ssl.OP_SINGLE_ECDH_USE
        _load_own(context, settings, key)
        if settings.client_ca is not None:
            _load_authorities(context, settings.client_ca, f"{key}.client_ca")
            context.verify_mode = ssl.CERT_REQUIRED if demands else ssl.CERT_OPTIONAL
        self._context = context

    def wrap(self, client: socket.socket) -> ssl.SSLSocket:
        """Return the socket's TLS form, before the handshake; the given one is used up.

        Its reads raise for an end without close_notify, as for a reset: the endpoint tells the two apart.
        """
        wrapped = self._context.wrap_socket(
            client, server_side=True, do_handshake_on_connect=False, suppress_ragged_eofs=False
        )
        return_after_each_record(wrapped)
        return wrapped


class BrokerContext:
    """Whom kproxy trusts to be a broker, and what it shows to it."""

    def __init__(self, settings: UpstreamTls, key: str) -> None:
        """Raises as `ServerContext`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = _VERSIONS[settings.min_version]
        _load_own(context, settings, key)
        if settings.ca is None:
            context.load_default_certs()
        else:
            _load_authorities(context, settings.ca, f"{key}.ca")
        context.check_hostname = not (
            settings.dangerously_accept_any_host_name or settings.dangerously_accept_any_certificate
        )
        if settings.dangerously_accept_any_certificate:
            context.verify_mode = ssl.CERT_NONE
        self._context = context
        self._name = settings.server_name

    def wrap(self, broker: socket.socket, host: str) -> ssl.SSLSocket:
        """As `ServerContext.wrap`, for a broker that was dialled at `host`."""
        return self._context.wrap_socket(
            broker, server_hostname=self._named(host), do_handshake_on_connect=False, suppress_ragged_eofs=False
        )

    def _named(self, host: str) -> str:
        """Return the name to ask for. Certificates and SNI have no final dot, which makes a name absolute in DNS."""
        return (self._name or host).removesuffix(".")

    async def stream(self, host: str, port: int) -> trio.abc.Stream:
        """Dial and shake hands, for kproxy's own client. Raises OSError; the caller sets the deadline."""
        plain = await open_tcp(host, port)
        stream = trio.SSLStream(plain, self._context, server_hostname=self._named(host), https_compatible=True)
        try:
            await stream.do_handshake()
        except BaseException as error:
            await trio.aclose_forcefully(stream)
            if isinstance(error, trio.BrokenResourceError):
                raise _error(error.__cause__) from error
            raise
        return stream


def own_validity(settings: ClientTls | UpstreamTls, key: str, *, of_server: bool) -> Validity | None:
    """Return the validity of kproxy's certificate; None where there is none, or its usage is not for this side.

    Raises as `ServerContext`.
    """
    if settings.certificate is None:
        return None
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for context in (server, client):
        _load_own(context, settings, key)
    try:
        return validity(server, client, settings.certificate, of_server=of_server)
    except ssl.SSLError:
        return None


async def shake_hands(sock: ssl.SSLSocket, readable: Readable) -> None:
    """Complete the handshake of a non-blocking socket; `readable` waits until it can be read.

    Raises OSError, with what went wrong in words, and what `readable` raises. The caller closes the socket.
    """
    while True:
        try:
            sock.do_handshake()
        except ssl.SSLWantReadError:
            await readable()
        except ssl.SSLWantWriteError:
            await trio.lowlevel.wait_writable(sock)
        except OSError as error:
            raise _error(error, "client_ca" if sock.server_side else "ca") from error
        else:
            return


def _error(error: BaseException | None, ca: str = "ca") -> ssl.SSLError:
    """Return an error of a handshake whose text is for people; `ca` is the setting that names trusted authorities."""
    return ssl.SSLError(f"TLS failed: {explained(error, ca)}")


def explained(error: BaseException | None, ca: str) -> str:
    """Return why TLS failed and what to do, in one line; `error` is of the module ssl, or of the socket."""
    if isinstance(error, ssl.SSLCertVerificationError):
        hint = _HINTS.get(error.verify_code, error.verify_message)
        return f"the peer's certificate: {hint.replace('{ca}', ca)}"
    if isinstance(error, ssl.SSLError) and error.reason and not isinstance(error, ssl.SSLEOFError):
        return _of_reason(error.reason)
    if isinstance(error, OSError) and error.errno is not None and not isinstance(error, ssl.SSLError):
        return f"the peer went away in the handshake ({os.strerror(error.errno).lower()}); does it speak TLS?"
    return "the peer closed the connection in the handshake; does it speak TLS?"


def _of_reason(reason: str) -> str:
    if reason in _NO_TLS:
        return "the peer does not speak TLS at this port"
    if reason == "UNSUPPORTED_PROTOCOL":
        return "the peer speaks no version of TLS that this side accepts; see `min_version`"
    return _of_alert(reason) or reason.replace("_", " ").lower()


def _of_alert(reason: str) -> str:
    alert = next((text for name, text in _ALERTS.items() if reason.endswith(name)), None)
    return f"the peer says: {alert}" if alert else ""


def said(error: ssl.SSLError) -> str:
    """Return why a connection broke after its handshake: in TLS 1.3 a server refuses a client only then."""
    why: str | None = getattr(error, "reason", None)
    return (_of_alert(why) or why) if why else "connection closed"


def _load_own(context: ssl.SSLContext, settings: ClientTls | UpstreamTls, key: str) -> None:
    if settings.certificate is None:
        return
    password = _Password(settings, key)
    try:
        context.load_cert_chain(settings.certificate, settings.key, password)
    except OSError as error:
        why = _unusable(error, settings.certificate, settings.key, with_password=password.asked)
        raise ConfigError(f"{key}.certificate", why) from error


class _Password:
    """What OpenSSL calls for the key's password: without it, it would ask at the terminal."""

    def __init__(self, settings: ClientTls | UpstreamTls, key: str) -> None:
        self._file = settings.key_password_file
        self._key = key
        self.asked = False
        """True once the key turned out to have a password."""

    def __call__(self) -> str:
        self.asked = True
        if self._file is None:
            raise ConfigError(f"{self._key}.key", "has a password; name the file that has it in key_password_file")
        password = _read(self._file, f"{self._key}.key_password_file").rstrip("\r\n")
        if len(password.encode()) > _PASSWORD_BYTES:
            raise ConfigError(f"{self._key}.key_password_file", f"{self._file}: is too long to be a password")
        return password


def _load_authorities(context: ssl.SSLContext, file: str, key: str) -> None:
    try:
        context.load_verify_locations(file)
    except OSError as error:
        raise ConfigError(key, _unusable(error, file)) from error


def _read(file: str, key: str) -> str:
    try:
        return Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(key, f"{file}: {error}") from error


def _unusable(error: OSError, *files: str | None, with_password: bool = False) -> str:
    named = ", ".join(file for file in files if file is not None)
    if not isinstance(error, ssl.SSLError):
        return f"{named}: {error.strerror or error}"
    why: str | None = error.reason  # Python's ssl knows not all of OpenSSL's reasons
    match why:
        case "KEY_VALUES_MISMATCH":
            return f"{named}: the key does not fit the certificate"
        case "EE_KEY_TOO_SMALL" | "CA_KEY_TOO_SMALL" | "CA_MD_TOO_WEAK":
            return f"{named}: too weak: {why.replace('_', ' ').lower()}"
        case _ if with_password:
            return f"{named}: the key's password is wrong"
        case None:
            return f"{named}: is no PEM file of what it should have"
        case _:
            return f"{named}: is no PEM file of what it should have ({why.replace('_', ' ').lower()})"
