"""The interface between the admin port and the process: what the port shows, and the commands that it passes on.

The handlers call it for each request; `kproxy.app.view.ProcessView` implements it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from kproxy.admin.models import (
    ClientView,
    ClusterView,
    CommandResult,
    ConnectionView,
    Event,
    FaultRuleView,
    GroupMemberView,
    GroupView,
    InstanceView,
    PartitionLagView,
    Readiness,
    Rehearsal,
    ReloadResult,
    SubscriptionView,
    TransactionalIdView,
)
from kproxy.errors import NotFoundError
from kproxy.observe.counters import Counters
from kproxy.observe.events import OperatorCommand


class View(Protocol):
    """The process as the admin port sees it; `app` implements it. All methods are called from the Trio thread.

    Returned records do not change afterwards; lazy ones show the moment at which they are made. No method, and no step
    of a lazy result, takes longer than a millisecond at a time, however many connections there are.

    Every method that takes the name of one virtual cluster may raise `NotFoundError`, those about telemetry also when
    that cluster has no telemetry. The commands may raise any `CommandError`.
    """

    async def count(self) -> Counters:
        """The counters behind `/metrics`, after those were brought up to date that the hot path does not count."""
        ...

    def readiness(self) -> Readiness:
        """The state of the process, with reasons when it is not ready."""
        ...

    def cluster_names(self) -> Collection[str]:
        """The names of all virtual clusters; cheap, so that a name can be checked at every request."""
        ...

    async def cluster(self, name: str) -> ClusterView:
        """One virtual cluster; the others' views are not built."""
        ...

    async def clusters(self) -> Sequence[ClusterView]:
        """All virtual clusters, in the order of the configuration."""
        ...

    def connections(self, cluster: str | None, after: int) -> Iterable[ConnectionView | None]:
        """Open connections with ids above `after`, by rising id; None in place of those of another cluster.

        Lazy, so that a page costs what it shows, and others have their turns while it is made.
        """
        ...

    async def clients(self, cluster: str | None) -> Iterable[ClientView]:
        """The connected clients of one virtual cluster or all, each identity once, in any order; lazy."""
        ...

    def events(self, cluster: str) -> Iterable[Event]:
        """The last events of a virtual cluster, newest last."""
        ...

    def report(self, cluster: str | None, command: OperatorCommand) -> None:
        """Report a command to a virtual cluster, in log and event stream; to all where there is none of the name."""
        ...

    async def reload(self) -> ReloadResult:
        """Apply the configuration as its files and variables say now; raises `ConflictError` where it cannot be."""
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
        `topology.epoch_floor` ago. Returns once the state store has the switch, or does not take it.
        """
        ...

    async def rehearse(self, cluster: str, to: str | None) -> Rehearsal:
        """What `failover` would do, and what there is to say of that; nothing changes. Raises as `failover`."""
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

    def groups(self, cluster: str, after: str | None, limit: int) -> Iterable[GroupView]:
        """At most `limit` hosted groups with ids above `after`, by rising id; there may be 10,000 in all. Lazy.

        Raises `NotFoundError` also where kproxy hosts no groups of that cluster, as do the next two.
        """
        ...

    def group(self, cluster: str, group: str) -> GroupView:
        """One hosted group; raises `NotFoundError` when there is none of that id."""
        ...

    def group_members(self, cluster: str, group: str, after: str | None, limit: int) -> Iterable[GroupMemberView]:
        """At most `limit` members with member ids above `after`, by rising id. Lazy."""
        ...

    async def group_lag(self, cluster: str, group: str) -> Iterable[PartitionLagView]:
        """The partitions of a hosted group, by topic and number, as the backend's brokers say now. Lazy.

        Raises `NotFoundError` for a group that no entry of `groups` matches, `BackendError` when the brokers do not
        answer.
        """
        ...

    def fault_rules(self, cluster: str) -> Sequence[FaultRuleView]:
        """The rules by which faults are injected, in their order.

        Raises `ConflictError` where the virtual cluster has no faults enabled, as do the next three.
        """
        ...

    def fault_rule(self, cluster: str, number: int) -> FaultRuleView:
        """One rule, also when it is over. Raises `NotFoundError` for an unknown one."""
        ...

    def add_fault_rule(self, cluster: str, fields: Mapping[str, Any]) -> FaultRuleView:
        """Add a rule behind all others. Raises `InvalidArgumentError` with all that is wrong with it."""
        ...

    def remove_fault_rules(self, cluster: str, number: int | None) -> int:
        """Remove a rule that was added here, by default all of them; returns how many.

        Raises `NotFoundError` for an unknown rule, `ConflictError` when the configuration has it.
        """
        ...

    async def transactions(self, cluster: str | None) -> Iterable[TransactionalIdView]:
        """The transactional ids of one virtual cluster or all, in any order; 10,000 of each at most. Lazy."""
        ...

    async def instances(self, cluster: str, after: UUID | None, limit: int) -> Iterable[InstanceView]:
        """At most `limit` client instances with ids above `after`, by rising id; there may be 16,384 in all. Lazy."""
        ...


def cluster_not_found(name: str, names: Collection[str]) -> NotFoundError:
    """The error for an unknown virtual cluster; it lists the existing ones."""
    return NotFoundError(f"there is no cluster {name!r}; there are: {', '.join(sorted(names)) or 'none'}")
