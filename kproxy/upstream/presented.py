"""What a server at an address presents by TLS, for `kproxy config check --connect`: its chain, and what does not fit.

It shakes hands twice: once as kproxy will, and once trusting everybody, to see what there is when the first one fails.
Python 3.11 has the chain only in `SSLSocket._sslobj`; from 3.13 on it is `SSLSocket.get_unverified_chain`.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kproxy.config.address import join_host_port
from kproxy.upstream.certificates import Certificate, certificate, misfits, weaknesses
from kproxy.upstream.dial import reason
from kproxy.upstream.tls import BrokerContext, explained

if TYPE_CHECKING:
    from kproxy.config.tls import UpstreamTls

_ALERT_SECONDS: Final = 0.5
"""In which a server of TLS 1.3 says that it misses a certificate: the handshake is over by then."""
_TOO_WEAK: Final = frozenset({66, 67, 68})
"""X509_V_ERR of OpenSSL's x509_vfy.h: a key, or a digest, below OpenSSL's security level."""
_WANTS_CERTIFICATE: Final = ("CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "HANDSHAKE_FAILURE")
"""The ends of what servers answer who shows no certificate; brokers say BAD_CERTIFICATE."""


@dataclass(frozen=True, slots=True)
class Presented:
    """What is at an address. `version` and `cipher` are empty, and `chain` too, where no handshake came to its end.

    `problems` keep kproxy from connecting; `notes` do not.
    """

    address: str
    version: str = ""
    cipher: str = ""
    chain: Sequence[Certificate] = ()
    problems: Sequence[str] = ()
    notes: Sequence[str] = ()


def presented(host: str, port: int, settings: UpstreamTls, key: str, limit: float) -> Presented:
    """Ask a server for its certificates; each handshake may take `limit` seconds. It blocks: call it in a thread."""
    address = join_host_port(host, port)
    failure = _verification(BrokerContext(settings, key), host, port, limit)
    anybody = settings.model_copy(update={"dangerously_accept_any_certificate": True})
    try:
        with _shaken(BrokerContext(anybody, key), host, port, limit) as server:
            chain, version, cipher = _chain(server), str(server.version()), (server.cipher() or ("",))[0]
            refusal = _refusal(server)
    except OSError as error:
        return Presented(address, problems=[_why(error, settings)])
    weak = [*weaknesses(chain)]
    problems = [] if failure is None else _misfits(chain, host, settings, failure, weak)
    problems += [] if refusal is None else [_why(refusal, settings)]
    return Presented(address, version, cipher, chain, problems, [one for one in weak if one not in problems])


def _misfits(
    chain: Sequence[Certificate],
    host: str,
    settings: UpstreamTls,
    failure: ssl.SSLCertVerificationError,
    weak: Sequence[str],
) -> list[str]:
    """Return everything that is wrong with a chain; OpenSSL names the first fault only."""
    any_host = settings.dangerously_accept_any_host_name
    wanted = None if any_host else (settings.server_name or host).removesuffix(".")
    found = [*misfits(chain, wanted, time.time(), failure.verify_code)]
    found += weak if failure.verify_code in _TOO_WEAK else []
    return found or [explained(failure, "ca")]


def speaks_tls(host: str, port: int, limit: float) -> bool:
    """Return True when a server answers a TLS hello by TLS, whatever it thinks of it. It blocks."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection((host, port), limit) as plain, context.wrap_socket(plain):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except OSError:
        return False


def _verification(context: BrokerContext, host: str, port: int, limit: float) -> ssl.SSLCertVerificationError | None:
    """Return what OpenSSL has against a server's certificate; None for nothing, and for what is no matter of it."""
    try:
        with _shaken(context, host, port, limit):
            return None
    except ssl.SSLCertVerificationError as error:
        return error
    except OSError:
        return None


def _shaken(context: BrokerContext, host: str, port: int, limit: float) -> ssl.SSLSocket:
    server = context.wrap(socket.create_connection((host, port), limit), host)
    try:
        server.settimeout(limit)
        server.do_handshake()
    except BaseException:
        server.close()
        raise
    return server


def _chain(server: ssl.SSLSocket) -> list[Certificate]:
    within: Any = server
    found = within._sslobj.get_unverified_chain() or ()
    return [certificate(one.get_info(), ssl.PEM_cert_to_DER_cert(one.public_bytes())) for one in found]


def _refusal(server: ssl.SSLSocket) -> OSError | None:
    """Return the alert with which a server answers the end of the handshake, if it does."""
    server.settimeout(_ALERT_SECONDS)
    try:
        server.recv(1)
    except TimeoutError:
        return None
    except OSError as error:
        return error if isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or "") else None
    return None


def _why(error: OSError, settings: UpstreamTls) -> str:
    if not isinstance(error, ssl.SSLError):
        return f"cannot be asked: {reason(error)}"
    if settings.certificate is None and str(error.reason).endswith(_WANTS_CERTIFICATE):
        return "it asks for a client certificate, and kproxy has none: give it one (`certificate`, `key`)"
    if error.reason == "WRONG_VERSION_NUMBER":
        return "it answers in plaintext, and `tls` is set: connect to its TLS port, or leave the setting out"
    return explained(error, "ca")
