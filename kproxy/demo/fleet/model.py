"""The sample's fleet: clients with their instances, the groups of consumers, and what happens to all of them.

All times are seconds of the day: 0 is its beginning, and what began before it is negative.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from kproxy.demo.fleet.curves import DAY, Curve, flat
from kproxy.demo.fleet.software import Software
from kproxy.observe.events import AdmissionRefused

BROKERS: Final = (1, 2, 3)
PROXIES: Final = ("kproxy-0", "kproxy-1")


def principal(client_id: str) -> str:
    """Return as whom a client authenticates: each service is a user."""
    return f"User:{client_id.partition('-')[0]}"


class Role(StrEnum):
    """What a client does."""

    PRODUCER = "producer"
    CONSUMER = "consumer"


@dataclass(slots=True)
class Instance:
    """A process with one Kafka client, from its start to its end."""

    id: UUID
    address: str
    software: Software
    began: float
    ended: float | None = None
    """None: it is still there at the end of the day."""
    closes: bool = True
    """It ends with a last push that says so, where its software does that."""
    machine_lost: bool = False
    """Its machine goes: nobody closes its connections."""
    silent_from: float | None = None
    """It pushes no more from then on."""
    clock: float = 0.0
    """Seconds by which its clock is ahead."""
    behind: Curve | None = None
    """Its own largest lag, in records, where it differs from what its client's `lag` says."""

    def alive(self, time: float) -> bool:
        """True between its start and its end."""
        return self.began <= time < self.until

    @property
    def until(self) -> float:
        """When it ends, or the end of the day."""
        return DAY if self.ended is None else self.ended


@dataclass(slots=True)
class Behaviour:
    """What a client's metrics tell of it; curves are by the hour of the day."""

    rate: float
    """Records a second at the busiest time, over all instances."""
    record_bytes: float
    nodes: Mapping[int, float]
    """Which part of its records goes to, or comes from, a broker."""
    distance: float
    """Milliseconds of network before kproxy."""
    slowness: Curve
    """Times the latency that others have."""
    retried: Curve
    """Share of its records."""
    failed: Curve
    """Share of its records."""
    lag: Curve
    """Seconds of its own records."""
    idle: Curve
    """Share of its time in which it waits for records, without load."""
    poll: Curve
    """Seconds between two polls, at most."""


@dataclass(slots=True)
class Client:
    """All instances with one client.id, which do the same."""

    id: str
    role: Role
    software: Software
    does: Behaviour
    instances: list[Instance] = field(default_factory=list)
    extra: list[Connection] = field(default_factory=list)
    """Connections beyond those that each of its instances has."""
    group: str | None = None
    """Of a consumer."""
    connects: bool = True
    """False: it has the extra connections only."""

    def alive(self, time: float) -> int:
        """How many of its instances are there."""
        return sum(instance.alive(time) for instance in self.instances)


@dataclass(slots=True)
class Connection:
    """A connection of a client."""

    client_id: str
    software: Software
    address: str
    port: int
    node: int | None
    """None: it came to the bootstrap port."""
    proxy: str
    since: float
    ended: float | None
    reason: str = "client_closed"
    detail: str | None = None
    of: Instance | None = None
    requests: float = 0.5
    """By second, at the busiest time."""
    bytes_in: float = 200.0
    """By request."""
    bytes_out: float = 200.0
    number: int = 0


@dataclass(slots=True)
class Rebalance:
    """A group is not stable, from `at` on for `seconds`."""

    at: float
    seconds: float
    cause: str
    client_id: str
    members: int
    late: str


@dataclass(slots=True)
class Group:
    """A group that kproxy hosts."""

    id: str
    proxy: str
    members: list[Client]
    rebalances: list[Rebalance] = field(default_factory=list)

    def alive(self, time: float) -> int:
        """How many members it has."""
        return sum(client.alive(time) for client in self.members)


@dataclass(frozen=True, slots=True)
class Mistake:
    """Errors that a client gets, a number an hour."""

    client: Client
    software: Software
    api: str
    api_version: int
    error: str
    topic: str | None
    began: float
    ended: float
    an_hour: float


@dataclass(frozen=True, slots=True)
class Incident:
    """All connections to some brokers end, and come back."""

    at: float
    seconds: float
    nodes: tuple[int, ...]
    reason: str
    failover: bool = False


@dataclass(slots=True)
class Fleet:
    """What is there on the day."""

    seed: int
    cluster: str
    names: list[str]
    latency: dict[int, Curve] = field(default_factory=lambda: dict.fromkeys(BROKERS, flat(8.0)))
    """Milliseconds that a broker takes, without load."""
    shares: dict[int, float] = field(default_factory=lambda: dict.fromkeys(BROKERS, 1.0))
    """How the leaders of partitions are spread over brokers."""
    clients: list[Client] = field(default_factory=list)
    groups: dict[str, Group] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    refused: list[tuple[float, str, AdmissionRefused]] = field(default_factory=list)
    """Clients that are not let in: when, by which kproxy, and what it writes."""
    addresses: int = 0

    def rng(self, *what: object) -> random.Random:
        """Random numbers for one purpose: a change of another one does not change them."""
        return random.Random(f"{self.seed}/{'/'.join(map(str, what))}")

    def address(self) -> str:
        """Return an address that nobody had."""
        self.addresses += 1
        return f"10.{20 + self.addresses // 62500}.{self.addresses // 250 % 250}.{self.addresses % 250 + 1}"

    def instance(self, client: Client, began: float, **given: Any) -> Instance:
        """Add an instance to a client."""
        rng = self.rng("instance", client.id, len(client.instances))
        given = {"software": client.software, "address": self.address(), **given}
        made = Instance(id=UUID(int=rng.getrandbits(128), version=4), began=began, **given)
        client.instances.append(made)
        return made

    def client(self, role: Role, software: Software, instances: int, group: Group | None = None, **does: Any) -> Client:
        """Add a client with the next name; its instances began before the day. A consumer is in a group."""
        name = f"{self.names[len(self.clients)]}-{role}"
        rng = self.rng("client", name)
        made = Client(name, role, software, replace(self._usual(rng), **does))
        for _ in range(instances):
            self.instance(made, -rng.uniform(0.1, 20) * DAY)
        self.clients.append(made)
        if role is Role.CONSUMER:
            self._join(made, group or Group(name.removesuffix(f"-{role}"), rng.choice(PROXIES), []))
        return made

    def _join(self, client: Client, group: Group) -> None:
        client.group = group.id
        group.members.append(client)
        self.groups[group.id] = group

    def _usual(self, rng: random.Random) -> Behaviour:
        shares = {node: share * rng.uniform(0.85, 1.15) for node, share in self.shares.items()}
        return Behaviour(
            rate=min(rng.lognormvariate(4.0, 1.0), 1500.0),
            record_bytes=rng.uniform(300, 2000),
            nodes={node: share / sum(shares.values()) for node, share in shares.items()},
            distance=rng.uniform(0.3, 5.0),
            slowness=flat(1.0),
            failed=flat(0.0),
            retried=flat(rng.uniform(0.0, 0.0006)),
            lag=flat(rng.uniform(0.15, 0.6)),
            idle=flat(rng.uniform(0.75, 0.97)),
            poll=flat(rng.lognormvariate(1.0, 0.8)),
        )

    def redeploy(self, client: Client, at: float, software: Software | None = None) -> None:
        """Restart all instances of a client at once, each at a new address."""
        for number, instance in enumerate([one for one in client.instances if one.alive(at)]):
            instance.ended = at + 4 * number
            self.instance(client, at + 4 * number + 6, software=software or client.software)

    def jobs(self, client: Client, times: Iterable[float], seconds: float) -> None:
        """Connections of a client that does something at times, and ends."""
        rng = self.rng("jobs", client.id)
        for at in times:
            client.extra.append(self.extra(client, at, at + rng.uniform(0.5, 2) * seconds, rng.choice(BROKERS)))

    def extra(
        self,
        client: Client,
        since: float,
        ended: float | None,
        node: int,
        reason: str = "client_closed",
        detail: str | None = None,
    ) -> Connection:
        """A connection of a client's first instance, beyond those that it has anyway."""
        rng, instance = self.rng("extra", client.id, len(client.extra)), client.instances[0]
        port, proxy = rng.randrange(32_768, 60_999), rng.choice(PROXIES)
        return Connection(
            *(client.id, client.software, instance.address, port, node, proxy, since, ended, reason, detail),
            requests=0.2,
        )
