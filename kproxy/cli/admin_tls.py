"""TLS to an admin port: the files that the commands' flags name, the socket, and what went wrong in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kproxy.cli.output import USAGE, CliError

if TYPE_CHECKING:
    import ssl

CA_VARIABLE: Final = "KPROXY_ADMIN_CA_FILE"
CERTIFICATE_VARIABLE: Final = "KPROXY_ADMIN_CERTIFICATE_FILE"
KEY_VARIABLE: Final = "KPROXY_ADMIN_KEY_FILE"
SERVER_NAME_VARIABLE: Final = "KPROXY_ADMIN_SERVER_NAME"
_UNTRUSTED: Final = frozenset({18, 19, 20})
_OTHER_NAME: Final = frozenset({62, 64})
"""X509_V_ERR of OpenSSL's x509_vfy.h."""

_REASONS: Final = {
    "WRONG_VERSION_NUMBER": "it speaks plain HTTP; write http://",
    "CERTIFICATE_REQUIRED": "it asks for a client certificate (--certificate, --key)",
    "UNKNOWN_CA": "it does not trust the authority of the client certificate (--certificate)",
}
"""By the end of OpenSSL's reason."""


@dataclass(frozen=True, slots=True)
class AdminTls:
    """Whom a command trusts to be kproxy, and what it shows.

    `ca` is a file of authorities, by default the system's. `certificate` and `key` are files for a port that wants a
    client certificate. `server_name` is the name that kproxy's certificate must have, by default the URL's host.
    """

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    server_name: str | None = None

    def connect(self, host: str, port: int, timeout: float) -> ssl.SSLSocket:
        """Return a socket after its handshake. Raises OSError, and `CliError` for a file that cannot be used."""
        import socket

        context = self._context()
        return context.wrap_socket(
            socket.create_connection((host, port), timeout), server_hostname=self.server_name or host
        )

    def _context(self) -> ssl.SSLContext:
        import ssl

        from kproxy.upstream.trust import client_context

        if self.key is not None and self.certificate is None:
            raise CliError(f"--key needs a --certificate ({KEY_VARIABLE}, {CERTIFICATE_VARIABLE})", USAGE)
        try:
            context = client_context(self.ca)
        except OSError as error:
            raise _unusable(f"{self.ca}", error, f"--ca or {CA_VARIABLE}") from error
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # kproxy's own certificate may be what is trusted
        if self.certificate is not None:
            files = ", ".join(filter(None, (self.certificate, self.key)))
            try:
                context.load_cert_chain(self.certificate, self.key)
            except OSError as error:
                raise _unusable(files, error, "--certificate, --key") from error
        return context


def raise_alert(connection: ssl.SSLSocket) -> None:
    """Raise the SSLError of the alert that the other end has sent, if there is one.

    In TLS 1.3 a server may refuse a client's certificate after the client's handshake, while the client is sending.
    Then sending fails without the reason, which is still to be read.
    """
    import ssl

    try:
        connection.recv(1)
    except ssl.SSLError:
        raise
    except OSError:
        return


def _unusable(files: str, error: OSError, flags: str) -> CliError:
    import ssl

    why = "is no PEM file of what it should have" if isinstance(error, ssl.SSLError) else error.strerror or str(error)
    if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
        why = "the key does not fit the certificate"
    return CliError(f"{files}: {why} ({flags})", USAGE)


def tls_reason(error: BaseException) -> str | None:
    """Return why TLS failed and what to do, in one line; None for an error that is none of TLS."""
    import ssl

    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _UNTRUSTED:
            return "its certificate is of an authority that is not trusted here; name that one (--ca)"
        if error.verify_code in _OTHER_NAME:
            return f"{error.verify_message}; say which name it has (--server-name)"
        return f"its certificate: {error.verify_message}"
    why = str(getattr(error, "reason", None)) if isinstance(error, ssl.SSLError) else ""
    return next((text for end, text in _REASONS.items() if why.endswith(end)), None)
