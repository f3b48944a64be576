"""From when until when kproxy's own certificates are valid, and for which names.

`read_security` asks when it reads the files of TLS; metrics and readiness tell of a certificate that is about to end.
"""

from __future__ import annotations

import ssl
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

_ALWAYS: Final = 0x200000
"""X509_V_FLAG_NO_CHECK_TIME of OpenSSL's x509_vfy.h: a certificate that has ended is read as well."""
_TURNS: Final = 8
"""More than the flights of any handshake."""
_NEAR_SHARE: Final = 0.2
_NEAR_SECONDS: Final = 14 * 86_400.0


@dataclass(frozen=True, slots=True)
class Validity:
    """The first and the last moment, in seconds since the Unix epoch."""

    begins: float
    ends: float
    names: tuple[str, ...] = ()
    """Subject alternative names: `DNS:…`, `IP Address:…`."""

    @property
    def near(self) -> float:
        """The moment from which the end is near: 14 days before it, or the last fifth where that is shorter.

        Whoever renews certificates by a program does so earlier, of a day's validity as of a year's.
        """
        return self.ends - min(_NEAR_SECONDS, _NEAR_SHARE * (self.ends - self.begins))


def validity(server: ssl.SSLContext, client: ssl.SSLContext, file: str, *, of_server: bool) -> Validity:
    """Return the validity of the certificate that both contexts have from `file`; raises OSError.

    The module ssl shows only the certificate of a verified peer. So the contexts, which are used up, shake hands in
    memory, and the one that does not show the certificate trusts no other.
    """
    asking = client if of_server else server
    client.check_hostname = False
    client.verify_mode = ssl.CERT_REQUIRED if of_server else ssl.CERT_NONE
    server.verify_mode = ssl.CERT_NONE if of_server else ssl.CERT_REQUIRED
    asking.load_verify_locations(file)
    asking.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | ssl.VerifyFlags(_ALWAYS)
    shown = _shown(server, client, of_server=of_server)
    begins, ends = (float(ssl.cert_time_to_seconds(shown[name])) for name in ("notBefore", "notAfter"))
    return Validity(begins, ends, tuple(f"{kind}:{value}" for kind, value in shown.get("subjectAltName", ())))


def _shown(server: ssl.SSLContext, client: ssl.SSLContext, *, of_server: bool) -> dict[str, Any]:
    """Return the certificate that one side shows the other in a handshake."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = client.wrap_bio(back, there), server.wrap_bio(there, back, server_side=True)
    for turn in range(_TURNS):
        with suppress(ssl.SSLWantReadError):
            sides[turn % 2].do_handshake()
    shown = sides[0 if of_server else 1].getpeercert()
    assert shown, "a handshake that verifies the peer ends with its certificate"
    return dict(shown)
