"""The TLS contexts of a virtual cluster: what clients are shown, and which brokers are trusted.

`Cluster` reads them when it starts, and each reload reads them again. `kproxy config check` only reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kproxy.upstream.tls import BrokerContext, ServerContext

if TYPE_CHECKING:
    from kproxy.config import VirtualCluster
    from kproxy.config.upstreams import Upstream


@dataclass(frozen=True, slots=True)
class Security:
    """What the files said when they were read; None is for plaintext, `brokers` is by upstream."""

    clients: ServerContext | None
    brokers: Mapping[str, BrokerContext | None]


def read_security(settings: VirtualCluster) -> Security:
    """Read the files of TLS; raises `ConfigError`."""
    return Security(server_context(settings), {one.name: broker_context(settings, one) for one in settings.backends})


def server_context(settings: VirtualCluster) -> ServerContext | None:
    """Return the context of TLS to clients; raises `ConfigError` for a file."""
    return None if settings.tls is None else ServerContext(settings.tls, f"clusters.{settings.name}.tls")


def broker_context(settings: VirtualCluster, backend: Upstream) -> BrokerContext | None:
    """Return the context of TLS to a backend's brokers; raises `ConfigError` for a file."""
    if backend.tls is None:
        return None
    own = any(one.name == backend.name and one.tls is not None for one in settings.upstreams)
    where = f"upstreams.{backend.name}.tls" if own else "upstream_tls"
    return BrokerContext(backend.tls, f"clusters.{settings.name}.{where}")
