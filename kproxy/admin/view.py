"""The interface between the admin port and the process: what the port shows, and the commands that it passes on.

The handlers call it for each request; `kproxy.app.view.ProcessView` implements it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from kproxy.admin.models import (
    ClientView,
    ClusterView,
    CommandResult,
    ConnectionView,
    Event,
    InstanceView,
    Readiness,
    SubscriptionView,
)
from kproxy.errors import NotFoundError
from kproxy.observe.counters import Counters


class View(Protocol):
    """The process as the admin port sees it; `app` implements it. All methods are called from the Trio thread.

    Returned values do not change afterwards. Every method that takes the name of one virtual cluster may raise
    `NotFoundError`, those about telemetry also when that cluster has no telemetry. The coroutines may raise any
    `CommandError`.
    """

    @property
    def counters(self) -> Counters:
        """The counters behind `/metrics`, up to date."""
        ...

    def readiness(self) -> Readiness:
        """The state of the process, with reasons when it is not ready."""
        ...

    def cluster_names(self) -> Collection[str]:
        """The names of all virtual clusters; cheap, so that a name can be checked at every request."""
        ...

    def cluster(self, name: str) -> ClusterView:
        """One virtual cluster; the others' views are not built."""
        ...

    def clusters(self) -> Sequence[ClusterView]:
        """All virtual clusters, in the order of the configuration."""
        ...

    def connections(self, cluster: str | None) -> Iterable[ConnectionView]:
        """Open connections by rising id, of one virtual cluster or all; lazy, so that a page costs what it shows."""
        ...

    def clients(self, cluster: str | None) -> Iterable[ClientView]:
        """The connected clients of one virtual cluster or all, each identity once, in any order."""
        ...

    def events(self, cluster: str) -> Sequence[Event]:
        """The last events of a virtual cluster, newest last."""
        ...

    async def rebootstrap(self, cluster: str) -> CommandResult:
        """Raise the epoch, so that all clients of the virtual cluster bootstrap again.

        Raises `RetryLaterError` when the epoch rose less than `topology.epoch_floor` ago.
        """
        ...

    async def failover(self, cluster: str, to: str | None, force: bool) -> CommandResult:
        """Switch to the upstream `to`, by default the next in order.

        `force` switches even when the upstream does not answer or some of its nodes have no port. Raises
        `NotFoundError` for an unknown upstream; `ConflictError` when the upstream is already active, is the only one,
        does not answer or has a node without a port; `RetryLaterError` when the epoch rose less than
        `topology.epoch_floor` ago.
        """
        ...

    async def clients_page(self, compress: bool) -> tuple[str, bytes] | None:
        """The content type and the page of client metrics, gzipped if asked; None without a Prometheus receiver."""
        ...

    def subscriptions(self, cluster: str) -> Sequence[SubscriptionView]:
        """The client metrics subscriptions of a virtual cluster, by name."""
        ...

    async def subscribe(
        self, cluster: str, name: str, metrics: Sequence[str], interval_ms: int | None, match: Mapping[str, str]
    ) -> SubscriptionView:
        """Make or replace a subscription; it is stored on return. `interval_ms` None means the default.

        Raises `ConflictError` when the configuration sets the subscription or there are too many,
        `InvalidArgumentError` for everything that Kafka refuses too, `NotPersistedError` when storing fails.
        """
        ...

    async def unsubscribe(self, cluster: str, name: str) -> None:
        """Delete a subscription, permanently on return.

        Raises `NotFoundError` for an unknown subscription, `ConflictError` when the configuration sets it,
        `NotPersistedError` when storing fails.
        """
        ...

    def instances(self, cluster: str, after: UUID | None, limit: int) -> Sequence[InstanceView]:
        """At most `limit` client instances with ids above `after`, by rising id; there may be 16,384 in all."""
        ...


def cluster_not_found(name: str, names: Collection[str]) -> NotFoundError:
    """The error for an unknown virtual cluster; it lists the existing ones."""
    return NotFoundError(f"there is no cluster {name!r}; there are: {', '.join(sorted(names)) or 'none'}")
