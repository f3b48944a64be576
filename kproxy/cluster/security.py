"""What a virtual cluster has of TLS: what clients are shown, which brokers are trusted, and how long it is valid.

`Cluster` reads it when it starts; each reload, and each change of a file, reads it again. `kproxy config check` only
reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kproxy.config.tls import ClientTls, UpstreamTls
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


def read_security(settings: VirtualCluster) -> Security:
    """Read the files of TLS; raises `ConfigError`."""
    return Security(
        None if settings.tls is None else ServerContext(settings.tls, f"clusters.{settings.name}.tls"),
        {one.name: broker_context(settings, one) for one in settings.backends},
        dict(_validities(settings)),
    )


def broker_context(settings: VirtualCluster, backend: Upstream) -> BrokerContext | None:
    """Return the context of TLS to a backend's brokers; raises `ConfigError` for a file."""
    if backend.tls is None:
        return None
    return BrokerContext(backend.tls, f"clusters.{settings.name}.{_setting(settings, backend)}")


def files_of(settings: VirtualCluster) -> frozenset[str]:
    """Return the files that the settings of TLS name."""
    of_brokers = (one.tls for one in settings.backends if one.tls is not None)
    found = [*_files(settings.tls), *(file for tls in of_brokers for file in _files(tls))]
    return frozenset(found)


def _files(tls: ClientTls | UpstreamTls | None) -> Iterator[str]:
    if tls is not None:
        authorities = tls.ca if isinstance(tls, UpstreamTls) else tls.client_ca
        yield from (file for file in (tls.certificate, tls.key, tls.key_password_file, authorities) if file is not None)


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
