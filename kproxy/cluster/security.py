"""What a virtual cluster has of TLS: what clients are shown, which brokers are trusted, and how long it is valid.

`Cluster` reads it when it starts; each reload, and each change of a file, reads it again. `kproxy config check` only
reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kproxy.authentication.authenticator import Authenticator, read_authenticator
from kproxy.config.tls import ClientTls, UpstreamTls
from kproxy.upstream.certificates import is_for
from kproxy.upstream.tls import BrokerContext, ServerContext, own_validity
from kproxy.upstream.validity import Validity

if TYPE_CHECKING:
    from kproxy.config import VirtualCluster
    from kproxy.config.upstreams import Upstream


@dataclass(frozen=True, slots=True)
class Security:
    """What the files said when they were read; None is for plaintext, `brokers` is by upstream.

    `validities` are of kproxy's own certificates, by the setting that names them (`tls`, `upstreams.east.tls`).
    """

    clients: ServerContext | None
    brokers: Mapping[str, BrokerContext | None]
    validities: Mapping[str, Validity]
    authenticator: Authenticator | None = None
    """What the file of users said; None where brokers authenticate clients."""


def read_security(settings: VirtualCluster) -> Security:
    """Read the files of TLS and of users; raises `ConfigError`."""
    return Security(
        None if settings.tls is None else ServerContext(settings.tls, f"clusters.{settings.name}.tls"),
        {one.name: broker_context(settings, one) for one in settings.backends},
        dict(_validities(settings)),
        _authenticator(settings),
    )


def name_hints(settings: VirtualCluster, validities: Mapping[str, Validity]) -> Iterator[str]:
    """Yield a hint for each name that clients are told and that the certificate they are shown is not for."""
    shown = validities.get("tls")
    if shown is None:
        return
    for host in _told(settings):
        if not is_for(shown.names, host):
            names = ", ".join(shown.names) or "no name at all"
            yield f"clusters.{settings.name}.tls: clients refuse the certificate at {host}: it is for {names}"


def _told(settings: VirtualCluster) -> Iterator[str]:
    """Yield the names at which clients connect, of all nodes one."""
    if settings.server_names is not None:
        yield settings.server_names.bootstrap
        yield settings.server_names.nodes.name(0)
    elif settings.advertised_host is not None:
        yield settings.advertised_host


def _authenticator(settings: VirtualCluster) -> Authenticator | None:
    asked = settings.authentication
    return None if asked is None else read_authenticator(asked, f"clusters.{settings.name}.authentication")


def broker_context(settings: VirtualCluster, backend: Upstream) -> BrokerContext | None:
    """Return the context of TLS to a backend's brokers; raises `ConfigError` for a file."""
    if backend.tls is None:
        return None
    return BrokerContext(backend.tls, f"clusters.{settings.name}.{_setting(settings, backend)}")


def files_of(settings: VirtualCluster) -> frozenset[str]:
    """Return the files that the settings of TLS and of authentication name."""
    named = (settings.tls, *(one.tls for one in settings.backends))
    found = frozenset[str]().union(*(tls.files for tls in named if tls is not None))
    return found if settings.authentication is None else found | settings.authentication.files


def _setting(settings: VirtualCluster, backend: Upstream) -> str:
    own = any(one.name == backend.name and one.tls is not None for one in settings.upstreams)
    return f"upstreams.{backend.name}.tls" if own else "upstream_tls"


def _validities(settings: VirtualCluster) -> Iterator[tuple[str, Validity]]:
    named: dict[str, ClientTls | UpstreamTls | None] = {"tls": settings.tls}
    named |= {_setting(settings, backend): backend.tls for backend in settings.backends}
    for setting, tls in named.items():
        if tls is not None:
            key = f"clusters.{settings.name}.{setting}"
            found = own_validity(tls, key, of_server=tls is settings.tls)
            if found is not None:
                yield setting, found
