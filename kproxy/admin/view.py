"""What the admin port sees of the process, and may order: a view that `app` implements. Called from the Trio thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from kproxy.observe.counters import Counters


class View(Protocol):
    """What `app` hands to the admin port. What the methods return is not changed afterwards.

    What waits may raise an `CommandError`: it is an order. So may what is asked of the telemetry of a virtual cluster:
    `NotFoundError`, when it has none.
    """

    @property
    def counters(self) -> Counters: ...

    def readiness(self) -> Readiness: ...

    def clusters(self) -> Sequence[ClusterView]: ...

    def connections(self, cluster: str | None) -> Iterable[ConnectionView]:
        """Open connections by rising id, of one virtual cluster or all; lazy, so that a page costs what it shows."""
        ...

    def clients(self, cluster: str | None) -> Iterable[ClientView]:
        """The connected clients of one virtual cluster or all, each identity once, in any order."""
        ...

    def events(self, cluster: str) -> Sequence[Event]:
        """The last events of a virtual cluster that is there, newest last."""
        ...

    async def rebootstrap(self, cluster: str) -> CommandResult:
        """Raise the epoch: all clients of the virtual cluster are told to bootstrap again.

        Raises `NotFoundError` for the cluster, `RetryLaterError` within `topology.epoch_floor` of the last epoch.
        """
        ...

    async def failover(self, cluster: str, to: str | None, force: bool) -> CommandResult:
        """Switch to the upstream `to`, or to the next in order; `force`: even when it does not answer or lacks ports.

        Raises `NotFoundError` for the cluster or the upstream, `ConflictError` when it is active already, is the only
        one, does not answer or has a node without a port, `RetryLaterError` when the epoch rose less than
        `topology.epoch_floor` ago.
        """
        ...

    async def clients_page(self, compress: bool) -> tuple[str, bytes] | None:
        """The content type and the page of clients' metrics, by gzip if asked; None without a Prometheus receiver."""
        ...

    def subscriptions(self, cluster: str) -> Sequence[SubscriptionView]:
        """The client metrics subscriptions of a virtual cluster, by name."""
        ...

    async def subscribe(
        self, cluster: str, name: str, metrics: Sequence[str], interval_ms: int | None, match: Mapping[str, str]
    ) -> SubscriptionView:
        """Make a subscription, or replace it; kept when it returns. Without an interval the default.

        Raises `NotFoundError` for the cluster, `ConflictError` for one that the configuration sets or when there are
        too many, `InvalidArgumentError` for what Kafka would refuse as well.
        """
        ...

    async def unsubscribe(self, cluster: str, name: str) -> None:
        """Forget a subscription, for good when it returns.

        Raises `NotFoundError` for the cluster or the subscription, `ConflictError` for one that the configuration sets.
        """
        ...

    def instances(self, cluster: str, after: UUID | None, limit: int) -> Sequence[InstanceView]:
        """By rising id those above `after`, `limit` at most: there may be 16,384, of which a page shows some."""
        ...
