"""A View whose facts are plain fields: the same protocol that `app` implements, without a relay behind it."""

from __future__ import annotations

import gzip
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from kproxy.admin.models import (
    ClientView,
    ClusterView,
    CommandResult,
    ConnectionView,
    Event,
    FailoverFinding,
    FaultRuleView,
    GroupMemberView,
    GroupView,
    InstanceView,
    NodeView,
    PartitionLagView,
    Readiness,
    Rebootstrap,
    Rehearsal,
    ReloadResult,
    RetiredView,
    State,
    SubscriptionView,
    TransactionalIdView,
    UnmappedView,
    UpstreamNodeView,
    UpstreamView,
)
from kproxy.admin.view import cluster_not_found
from kproxy.app.fault_view import fault_rule_view
from kproxy.app.transaction_view import transaction_view
from kproxy.cluster.fault_injection import FaultInjection
from kproxy.config.faults import Faults
from kproxy.errors import CommandError, ConflictError, NotFoundError
from kproxy.observe.counters import ClusterCounters, Counters
from kproxy.observe.events import OperatorCommand
from kproxy.telemetry.subscription import kafka_text
from kproxy.transactions.transactional_id import Client, Producer
from kproxy.transactions.transactional_ids import TransactionalIds
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.observe.everything import everything


def cluster_view(name: str) -> ClusterView:
    """A virtual cluster of one reachable and one untried broker."""
    nodes = (
        NodeView(7, "broker7:9092", "kproxy:9101", "rack-a", True, 1),
        NodeView(2147483646, "broker8:9092", "kproxy:9102", None, None, 0),
    )
    return ClusterView(
        name=name,
        cluster_id="abc-DEF_123",
        bootstrap_servers=("broker7:9092", "broker8:9092"),
        listen="0.0.0.0:9100",
        nodes=nodes,
        unmapped=(),
        connections=2,
        epoch=1,
        upstream="east",
        upstreams=(
            upstream_view("east", "broker7:9092", "broker8:9092"),
            upstream_view("west", "broker9:9092", active=False),
        ),
        agreement=None,
        retired=(RetiredView(3, 9104, 287.5),),
        telemetry=name == "main",
        hosts_groups=name == "main",
        faults=name == "main",
    )


def upstream_view(name: str, *servers: str, active: bool = True, warnings: tuple[str, ...] = ()) -> UpstreamView:
    """An upstream that answers, with a node at each server; warnings make a standby unfit."""
    return UpstreamView(
        name=name,
        bootstrap_servers=servers,
        active=active,
        reachable=True,
        since="2026-01-02T03:04:05.000+00:00",
        error=None,
        last_answer="2026-01-02T03:05:05.000+00:00",
        cluster_id=f"id-of-{name}",
        nodes=[UpstreamNodeView(number, server, True) for number, server in enumerate(servers, 7)],
        unmapped=(),
        fit=None if active else not warnings,
        warnings=warnings,
    )


def client_view(number: int, cluster: str = "main", rebootstrap: Rebootstrap = Rebootstrap.NOTIFY) -> ClientView:
    """A Java client with two connections."""
    return ClientView(
        cluster=cluster,
        host="192.0.2.1",
        client_id=f"producer-{number:03}",
        principal=None,
        software_name="apache-kafka-java",
        software_version="4.3.1",
        connections=2,
        since="2026-01-02T03:04:05.000+00:00",
        metadata_version=13,
        rebootstrap=rebootstrap,
        kip_1242=None,
    )


def connection_view(number: int, cluster: str) -> ConnectionView:
    """An open connection of a Java client to node 7."""
    return ConnectionView(
        id=number,
        cluster=cluster,
        node=7,
        client=f"192.0.2.1:{number}",
        upstream="broker7:9092",
        since="2026-01-02T03:04:05Z",
        client_id='order "service"',
        principal="User:alice",
        software_name="apache-kafka-java",
        software_version="4.3.1",
        requests=5,
        responses=4,
        bytes_in=500,
        bytes_out=400,
        in_flight=1,
        paused=("downstream",),
    )


def instance_view(number: int) -> InstanceView:
    """A client instance whose id is the number; it pushed twice, and was refused once."""
    return InstanceView(
        id=kafka_text(UUID(int=number)),
        client=f"192.0.2.1:{number}",
        client_id=f"producer-{number:03}",
        software_name="apache-kafka-java",
        software_version="4.3.1",
        subscriptions=("all", "java"),
        interval_ms=60_000,
        last_seen="2026-01-02T03:04:05.000+00:00",
        last_push="2026-01-02T03:04:04.000+00:00",
        pushes=2,
        bytes=3000,
        last_error="TELEMETRY_TOO_LARGE",
        last_error_reason="more than 64 attributes in one message",
        dropped_points=12,
        dropped_reason="address_share",
    )


def group_view(name: str, members: int = 2) -> GroupView:
    """A stable hosted group of consumers."""
    return GroupView(name, "Stable", 3, "consumer", "range", members, "member-000", 12.5)


def group_member_view(number: int) -> GroupMemberView:
    """A member with one partition; number 0 leads."""
    return GroupMemberView(
        member=f"member-{number:03}",
        instance=None,
        client_id=f"consumer-{number:03}",
        host="192.0.2.1",
        leader=number == 0,
        waits=None,
        session_timeout=45.0,
        session_ends=42.5,
        protocols=("range", "cooperative-sticky"),
        assignment={"orders": [number]},
        assignment_bytes=30,
    )


BEGAN = 1_767_323_045.0
"""2026-01-02T03:04:05Z."""


def transactional_views(*names: str, cluster: str = "main") -> list[TransactionalIdView]:
    """Ids whose transaction is open since `BEGAN`; a producer before this one was fenced at the first of them."""
    ids, client = TransactionalIds(), Client("orders-1", "192.0.2.1", ("apache-kafka-java", "4.4.0"), "User:alice")
    for name in names:
        ids.initialized(name, client, BEGAN - 1, Producer(7, 1), 60.0)
        ids.took_part(name, client, BEGAN, Producer(7, 1), partitions=2, group="billing")
    for name in names[:1]:
        zombie = client._replace(client_id="orders-0", software=None)
        ids.failed(name, zombie, BEGAN, Producer(7, 0), ApiKey.PRODUCE, ErrorCode.INVALID_PRODUCER_EPOCH)
        ids.failed(name, client, BEGAN, Producer(7, 1), ApiKey.PRODUCE, ErrorCode.TRANSACTION_ABORTABLE)
    return [transaction_view(cluster, one) for one in ids.all()]


def fault_injection() -> FaultInjection:
    """With one rule, which the configuration has."""
    rule = {"api": "Fetch", "client_id": "slow-.*", "delay": 2, "rate": 0.5}
    settings = Faults.model_validate({"enabled": True, "rules": [rule]})
    return FaultInjection(settings, ClusterCounters("main"), lambda _: None, lambda _: None)


FIXED = SubscriptionView("all", ("*",), 300_000, {}, True)


@dataclass
class MemoryView:
    """Ready, with two virtual clusters, "main" and "other", and no connection, unless a test sets other fields.

    "main" has telemetry, with a subscription that the configuration sets.
    """

    counters: Counters = field(default_factory=everything)
    ready: Readiness = field(default_factory=lambda: Readiness(State.READY))
    virtual: tuple[ClusterView, ...] = (cluster_view("main"), cluster_view("other"))
    open: list[ConnectionView] = field(default_factory=list)
    fault: Exception | None = None
    connected: list[ClientView] = field(default_factory=list)
    happened: tuple[Event, ...] = ()
    commands: list[tuple[object, ...]] = field(default_factory=list)
    built: list[str] = field(default_factory=list)
    """The names of the virtual clusters whose views were asked for."""
    refusal: CommandError | None = None
    unmapped: tuple[UnmappedView, ...] = ()
    unkept: str | None = None
    findings: tuple[FailoverFinding, ...] = ()
    moved: list[ClientView] | None = None
    """Who is connected behind a failover, if not those from before."""
    reloaded: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    """The settings that a reload changes, of the process and of "main"."""
    reported: list[tuple[str | None, OperatorCommand]] = field(default_factory=list)
    pushed: bytes | None = None
    hosted: list[GroupView] = field(default_factory=list)
    """The groups of "main"; each has `members`."""
    members: list[GroupMemberView] = field(default_factory=list)
    lag: list[PartitionLagView] = field(default_factory=list)
    subscribed: dict[str, SubscriptionView] = field(default_factory=lambda: {"all": FIXED})
    pushing: list[InstanceView] = field(default_factory=list)
    transactional: list[TransactionalIdView] = field(default_factory=list)
    injection: FaultInjection = field(default_factory=fault_injection)
    """Of "main"."""

    async def count(self) -> Counters:
        return self.counters

    def readiness(self) -> Readiness:
        if self.fault is not None:
            raise self.fault
        return self.ready

    def cluster_names(self) -> Collection[str]:
        return [cluster.name for cluster in self.virtual]

    async def cluster(self, name: str) -> ClusterView:
        for cluster in self.virtual:
            if cluster.name == name:
                self.built.append(name)
                return cluster
        raise cluster_not_found(name, self.cluster_names())

    async def clusters(self) -> Sequence[ClusterView]:
        self.built += self.cluster_names()
        return self.virtual

    def connections(self, cluster: str | None, after: int) -> Iterable[ConnectionView | None]:
        later = (connection for connection in self.open if connection.id > after)
        return (connection if cluster in {None, connection.cluster} else None for connection in later)

    async def clients(self, cluster: str | None) -> Iterable[ClientView]:
        return (client for client in self.connected if cluster in {None, client.cluster})

    def events(self, cluster: str) -> Iterable[Event]:
        return self.happened

    def report(self, cluster: str | None, command: OperatorCommand) -> None:
        self.reported.append((cluster, command))

    async def reload(self) -> ReloadResult:
        self._carry_out("reload")
        return ReloadResult(self.reloaded, {"main": self.reloaded} if self.reloaded else {}, self.added, self.added)

    async def rebootstrap(self, cluster: str) -> CommandResult:
        return self._carry_out("rebootstrap", cluster)

    async def failover(self, cluster: str, to: str | None, force: bool) -> CommandResult:
        self.connected = self.connected if self.moved is None else self.moved
        return replace(self._carry_out("failover", cluster, to, force), unmapped=self.unmapped, unkept=self.unkept)

    async def rehearse(self, cluster: str, to: str | None) -> Rehearsal:
        self.commands.append(("rehearse", cluster, to))
        refused = any(one.weight == "refuses" for one in self.findings)
        return Rehearsal(cluster, to or "west", refused, self.findings)

    def _carry_out(self, *command: object) -> CommandResult:
        self.commands.append(command)
        if self.refusal is not None:
            raise self.refusal
        return CommandResult("main", "west", 2, 17)

    async def clients_page(self, compress: bool) -> tuple[str, bytes] | None:
        if self.pushed is None:
            return None
        return "text/plain; version=0.0.4", gzip.compress(self.pushed) if compress else self.pushed

    def subscriptions(self, cluster: str) -> Sequence[SubscriptionView]:
        self._check_telemetry(cluster)
        return list(self.subscribed.values())

    async def subscribe(
        self, cluster: str, name: str, metrics: Sequence[str], interval_ms: int | None, match: Mapping[str, str]
    ) -> SubscriptionView:
        self._check_telemetry(cluster)
        self._check_fixed(name)
        self.commands.append(("subscribe", cluster, name))
        made = SubscriptionView(name, tuple(metrics), 300_000 if interval_ms is None else interval_ms, match, False)
        if self.refusal is not None:
            raise self.refusal
        self.subscribed[name] = made
        return made

    async def unsubscribe(self, cluster: str, name: str) -> None:
        self._check_telemetry(cluster)
        self._check_fixed(name)
        if name not in self.subscribed:
            raise NotFoundError(f"{cluster} has no subscription {name!r}; there are: {', '.join(self.subscribed)}")
        del self.subscribed[name]

    async def instances(self, cluster: str, after: UUID | None, limit: int) -> Iterable[InstanceView]:
        self._check_telemetry(cluster)
        past = 0 if after is None else after.int
        return [instance for number, instance in enumerate(self.pushing, 1) if number > past][:limit]

    def _check_telemetry(self, cluster: str) -> None:
        if cluster != "main":
            raise NotFoundError(f"{cluster}: kproxy serves no telemetry for it")

    def _check_fixed(self, name: str) -> None:
        if name in self.subscribed and self.subscribed[name].fixed:
            raise ConflictError(f"{name} stands in kproxy's configuration: change it there")

    async def transactions(self, cluster: str | None) -> Iterable[TransactionalIdView]:
        return (one for one in self.transactional if cluster in {None, one.cluster})

    def fault_rules(self, cluster: str) -> Sequence[FaultRuleView]:
        return [fault_rule_view(*found) for found in self._injection(cluster).rules()]

    def fault_rule(self, cluster: str, number: int) -> FaultRuleView:
        return fault_rule_view(*self._injection(cluster).rule(number))

    def add_fault_rule(self, cluster: str, fields: Mapping[str, Any]) -> FaultRuleView:
        return fault_rule_view(*self._injection(cluster).add(fields))

    def remove_fault_rules(self, cluster: str, number: int | None) -> int:
        return self._injection(cluster).remove(number)

    def _injection(self, cluster: str) -> FaultInjection:
        if cluster != "main":
            raise ConflictError(f"{cluster}: faults are not enabled")
        return self.injection

    def groups(self, cluster: str, after: str | None, limit: int) -> Iterable[GroupView]:
        found = sorted(self._groups(cluster), key=lambda group: group.group)
        return [group for group in found if after is None or group.group > after][:limit]

    def group(self, cluster: str, group: str) -> GroupView:
        for one in self._groups(cluster):
            if one.group == group:
                return one
        raise NotFoundError(f"kproxy hosts no group {group!r}")

    def group_members(self, cluster: str, group: str, after: str | None, limit: int) -> Iterable[GroupMemberView]:
        self.group(cluster, group)
        return [member for member in self.members if after is None or member.member > after][:limit]

    async def group_lag(self, cluster: str, group: str) -> Iterable[PartitionLagView]:
        self.group(cluster, group)
        if self.refusal is not None:
            raise self.refusal
        return self.lag

    def _groups(self, cluster: str) -> Sequence[GroupView]:
        if cluster != "main":
            raise NotFoundError(f"{cluster}: kproxy hosts none of its groups")
        return self.hosted
