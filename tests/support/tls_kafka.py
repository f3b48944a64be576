"""A real broker whose clients come by TLS: a listener SASL_SSL or SSL beside the plain one, with a test's authority."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.support.authority import Authority
from tests.support.secured import USERS, Secured, secured

USER: Final = USERS[0]
_LISTENER: Final = "listener.name.front"


@contextmanager
def tls_kafka(
    authority: Authority, *, protocol: str, client_auth: str = "none", sessions: int = 0
) -> Iterator[Secured]:
    """Yield a broker that speaks SSL, or SASL_SSL with PLAIN and SCRAM; `client_auth` is `required` for mTLS.

    `sessions` last so many milliseconds, for ever by default: kafkajs and others cannot authenticate again.
    """
    settings = {
        "listener.security.protocol.map": f"CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT,FRONT:{protocol}",
        f"{_LISTENER}.ssl.keystore.type": "PEM",
        f"{_LISTENER}.ssl.keystore.location": str(authority.signed("broker").both),
        f"{_LISTENER}.ssl.truststore.type": "PEM",
        f"{_LISTENER}.ssl.truststore.location": str(authority.file),
        f"{_LISTENER}.ssl.client.auth": client_auth,
        f"{_LISTENER}.connections.max.reauth.ms": str(sessions),
    }
    with secured(settings) as made:
        yield made
