"""A process that serves, as readiness, reload and the admin port's view need it; `kproxy.app.process` is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kproxy.cluster.cluster import Cluster
    from kproxy.config import Config
    from kproxy.observe.counters import Counters
    from kproxy.relay.relay import Relay


class Serving(Protocol):
    """What a process is made of, and where it is in its life."""

    config: Config
    counters: Counters
    relay: Relay
    started: bool
    """Whether all listeners are bound."""
    draining: bool

    @property
    def clusters(self) -> Sequence[Cluster]:
        """The virtual clusters, in the configuration's order."""

    def adopt(self, config: Config) -> None:
        """Take what the whole process has from another configuration."""
