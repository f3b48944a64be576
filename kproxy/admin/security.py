"""What the admin port has of TLS: what its clients are shown, how long that is valid, and whose certificates command.

`Process` reads it when it starts; each reload, and each change of a file, reads it again. `kproxy config check` only
reads it.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kproxy.upstream.tls import ServerContext, own_validity
from kproxy.upstream.validity import Validity

if TYPE_CHECKING:
    from kproxy.config.process import Admin

SETTING: Final = "admin.tls"


@dataclass(frozen=True, slots=True)
class AdminSecurity:
    """What the files said when they were read.

    `validity` is None for a certificate that no server should have. `commanders` has the names, of which a client's
    certificate must have one to give commands: empty for any certificate, None where none counts.
    """

    context: ServerContext
    validity: Validity | None
    commanders: frozenset[str] | None


Security = Callable[[], AdminSecurity | None]
"""Returns what TLS's files say now, None for plaintext."""


def read_admin_security(settings: Admin | None) -> AdminSecurity | None:
    """Read the files of TLS; None for plaintext. Raises `ConfigError`."""
    if settings is None or settings.tls is None:
        return None
    tls = settings.tls
    return AdminSecurity(
        ServerContext(tls, SETTING, demands=tls.require_client_certificate),
        own_validity(tls, SETTING, of_server=True),
        None if tls.client_ca is None else frozenset(tls.client_names),
    )


def files_of_admin(settings: Admin | None) -> frozenset[str]:
    """Return the files that the admin port's settings of TLS name."""
    return frozenset() if settings is None or settings.tls is None else settings.tls.files


def certified_names(client: ssl.SSLSocket) -> frozenset[str] | None:
    """Return the names of a client's verified certificate: common and alternative ones; None without a certificate."""
    shown: dict[str, Any] | None = client.getpeercert()
    return frozenset(_names(shown)) if shown else None


def _names(shown: dict[str, Any]) -> Iterator[str]:
    subject: Iterable[Iterable[tuple[str, str]]] = shown.get("subject", ())
    yield from (value for part in subject for name, value in part if name == "commonName")
    yield from (value for _, value in shown.get("subjectAltName", ()) if isinstance(value, str))
