"""No loop: however clients act and epochs rise, no client is notified too often; each well-behaved one is served.

Clients act as the real ones were measured to act: on 129 they drop their connections and bootstrap; on a close they try
the next node that they know, and with KIP-899 bootstrap when none is left. The proxy acts as `app` does: a raised epoch
makes connections stale; each is closed some time later, and its client is owed a 129.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kproxy.rebootstrap.actions import Action, Cause, Trigger
from kproxy.rebootstrap.client_capabilities import Capability, capability
from kproxy.rebootstrap.decisions import Place, Standing
from kproxy.rebootstrap.epoch import Epoch
from kproxy.rebootstrap.notified_clients import Client, NotifiedClients

CAPACITY: Final = 4
FLOOR: Final = 10.0
MOST_NODES: Final = 3
NODES: Final = st.frozensets(st.integers(0, 4), min_size=1, max_size=MOST_NODES)
CLIENTS: Final = st.integers(0, 8)
ASKS: Final = st.lists(st.sampled_from(Trigger), min_size=1, max_size=4)


@dataclass(frozen=True)
class Kind:
    """What a client's software does: the Metadata it sends, whether ids with ApiVersions, whether it has KIP-899."""

    software: tuple[str, str] | None
    metadata: int
    ids: bool = False
    kip_899: bool = True


JAVA_4_4 = Kind(("apache-kafka-java", "4.4.0"), 13, ids=True)
LIBRDKAFKA = Kind(("librdkafka", "2.16.0"), 13)
JAVA_3_9 = Kind(("apache-kafka-java", "3.9.1"), 12)
JAVA_3_0 = Kind(("apache-kafka-java", "3.0.0"), 12, kip_899=False)
AIOKAFKA = Kind(None, 5, kip_899=False)


@dataclass(eq=False)
class Connection:
    """A connection that the proxy accepted, and has not closed yet."""

    owner: Application
    place: Place
    node: int | None
    epoch: int
    metadata_version: int = -1


@dataclass(eq=False)
class Application:
    """A running client: what it believes of the cluster, and where it connects next."""

    name: str
    kind: Kind
    cluster: int = -1
    nodes: tuple[int, ...] = ()
    failed: set[int] = field(default_factory=set)
    to_bootstrap: bool = True

    @property
    def identity(self) -> Client:
        """What the proxy can know it by; twins share it."""
        return Client("10.0.0.1", self.name, *(self.kind.software or (None, None)))

    def learn(self, cluster: int, nodes: frozenset[int]) -> None:
        """Take over fresh metadata."""
        self.cluster, self.nodes, self.to_bootstrap = cluster, tuple(sorted(nodes)), False
        self.failed.clear()

    def next_node(self) -> int | None:
        """Return the node to try; None for the bootstrap servers."""
        left = [node for node in self.nodes if node not in self.failed]
        if not left and not self.kind.kip_899 and self.nodes:
            self.failed.clear()
            left = list(self.nodes)
        return None if self.to_bootstrap or not left else left[0]


class Rebootstrap(RuleBasedStateMachine):
    """A virtual cluster, its clients, and everything that may go wrong with them."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.epoch = Epoch(FLOOR)
        self.notified_clients = NotifiedClients(CAPACITY)
        self.cluster = 0
        self.nodes = frozenset({0, 1, 2})
        self.retired: frozenset[int] = frozenset()
        self.rises: list[float] = []
        self.notified: Counter[tuple[int, Client]] = Counter()
        self.alike: Counter[tuple[int, Client]] = Counter()
        """How many clients with connections to one node looked alike when an epoch began."""
        kinds = [JAVA_4_4, LIBRDKAFKA, JAVA_3_9, JAVA_3_0, AIOKAFKA]
        unique = [Application(f"unique-{number}", kind) for number, kind in enumerate(kinds)]
        twins = [Application("rdkafka", kind) for kind in (LIBRDKAFKA, LIBRDKAFKA, JAVA_4_4, JAVA_4_4)]
        self.clients = unique + twins
        self.connections: list[Connection] = []
        for client in self.clients:  # a usual day: each has a connection or two
            self.serve(client)

    # The proxy.

    def decide(self, connection: Connection, ask: Trigger) -> Action:
        """Decide a request as `app` does; the connection is gone unless it is served."""
        client = connection.owner
        if ask is Trigger.METADATA:
            connection.metadata_version = 13
        stale = connection.epoch < self.epoch.number
        able = capability(client.kind.software, connection.metadata_version)
        means = self.notified_clients.decide(client.identity, connection.place, ask, able, stale)
        assert (means is Action.NOT_COORDINATOR) == (stale and ask is Trigger.COORDINATOR)
        if means is Action.NOTIFY:
            assert connection.place is not Place.BOOTSTRAP
            assert ask in (Trigger.ELSEWHERE, Trigger.METADATA)
            self.notified[self.epoch.number, client.identity] += 1
        if means is not Action.SERVE:
            self.connections.remove(connection)
        return means

    def place_of(self, node: int | None) -> Place | None:
        """Return the kind of listener where a client knows this node; None when there is none."""
        if node is None:
            return Place.BOOTSTRAP
        return Place.NODE if node in self.nodes else Place.RETIRED if node in self.retired else None

    def part(self, connection: Connection) -> None:
        """Close a stale connection; its client is owed a 129 unless it bootstraps anyway."""
        self.connections.remove(connection)
        if connection.place is not Place.BOOTSTRAP:
            self.notified_clients.owe(connection.owner.identity)

    def stale(self) -> list[Connection]:
        """Return the connections of earlier epochs."""
        return [each for each in self.connections if each.epoch < self.epoch.number]

    def change_nodes(self, nodes: frozenset[int]) -> None:
        """Change the nodes; connections to removed nodes are closed, and their listeners are retired."""
        self.retired = (self.retired | self.nodes) - nodes
        self.nodes = nodes
        self.connections = [each for each in self.connections if each.place is not Place.NODE or each.node in nodes]

    # What clients do.

    def connect(self, client: Application, node: int | None) -> Connection | None:
        """Open a connection at the node's listener, or at the bootstrap one; None when nothing listens."""
        place = self.place_of(node)
        if place is None:
            return None
        connection = Connection(client, place, node, self.epoch.number)
        self.connections.append(connection)
        return connection

    def exchange(self, client: Application, connection: Connection) -> Action:
        """Send ApiVersions, then Metadata, each as this client's software does."""
        elsewhere = client.kind.ids and connection.node is not None and client.cluster != self.cluster
        means = self.decide(connection, Trigger.ELSEWHERE if elsewhere else Trigger.HELLO)
        return self.refresh(client, connection) if means is Action.SERVE else means

    def refresh(self, client: Application, connection: Connection) -> Action:
        """Send Metadata on a connection: decided from v13 on, relayed below, and refused at a retired listener."""
        if client.kind.metadata >= 13:
            means = self.decide(connection, Trigger.METADATA)
        elif connection.place is Place.RETIRED:
            self.connections.remove(connection)
            means = Action.REFUSE
        else:
            means = Action.SERVE
        return means

    def react(self, client: Application, node: int | None, means: Action) -> None:
        """On 129 drop every connection and bootstrap; on a close skip this node for now."""
        if means is Action.NOTIFY:
            self.connections = [each for each in self.connections if each.owner is not client]
            client.to_bootstrap = True
        elif means is Action.SERVE:
            client.learn(self.cluster, self.nodes)
        elif node is not None:
            client.failed.add(node)

    def attempt(self, client: Application) -> bool:
        """Connect once, where the client means to go next; return whether a node served it."""
        node = client.next_node()
        connection = self.connect(client, node)
        means = Action.REFUSE if connection is None else self.exchange(client, connection)
        self.react(client, node, means)
        return means is Action.SERVE and node is not None

    # What happens.

    @rule(
        seconds=st.sampled_from([10.0, 9.5, 3.0, 0.0]), cause=st.sampled_from(Cause), nodes=NODES, other=st.booleans()
    )
    def epoch_is_raised(self, seconds: float, cause: Cause, nodes: frozenset[int], other: bool) -> None:
        """Any cause, before the floor or just at it; with other nodes, another cluster's id, or neither."""
        self.now += seconds
        if self.epoch.wait(self.now):
            return
        self.epoch.raise_for(cause, self.now)
        self.rises.append(self.now)
        self.notified_clients.begin_epoch()
        self.owe()
        self.cluster += other
        self.change_nodes(nodes)

    def owe(self) -> None:
        """Have all clients notified, as often as there may be of those that look alike: `app` counts by node."""
        held = Counter((each.owner.identity, each.node) for each in self.connections if each.node is not None)
        for identity in dict.fromkeys(identity for identity, _ in held):
            alike = max(count for (other, _), count in held.items() if other == identity)
            self.alike[self.epoch.number, identity] = alike
            self.notified_clients.owe(identity, alike)

    @rule(nodes=NODES)
    def nodes_change(self, nodes: frozenset[int]) -> None:
        """Nodes change without an epoch, as when one is added or goes."""
        self.change_nodes(nodes)

    @rule()
    def grace_ends(self) -> None:
        """Retired listeners close."""
        self.retired = frozenset()

    @precondition(lambda self: self.stale())
    @rule(data=st.data())
    def one_is_parted(self, data: st.DataObject) -> None:
        """Close any stale connection, in any order, between anything else."""
        self.part(data.draw(st.sampled_from(self.stale())))

    @rule(which=CLIENTS)
    def client_attempts(self, which: int) -> None:
        """A well-behaved client takes its next step."""
        self.attempt(self.clients[which])

    @precondition(lambda self: self.connections)
    @rule(data=st.data())
    def client_refreshes(self, data: st.DataObject) -> None:
        """A client sends Metadata on one of its connections, stale or not."""
        connection = data.draw(st.sampled_from(self.connections))
        self.react(connection.owner, connection.node, self.refresh(connection.owner, connection))

    @precondition(lambda self: self.connections)
    @rule(data=st.data(), ask=st.sampled_from([Trigger.COORDINATOR, Trigger.OFFSETS]))
    def member_asks_its_coordinator(self, data: st.DataObject, ask: Trigger) -> None:
        """A group request changes neither what the client is owed nor what it got; 16 is the last answer there."""
        connection = data.draw(st.sampled_from(self.connections))
        identity = connection.owner.identity
        standing = self.notified_clients.standing(identity)
        stale = connection.epoch < self.epoch.number
        means = self.decide(connection, ask)
        assert (connection in self.connections) == (means is Action.SERVE)
        assert means is not Action.SERVE or not stale
        assert self.notified_clients.standing(identity) is standing

    @rule(which=CLIENTS, data=st.data(), asks=ASKS)
    def client_misbehaves(self, which: int, data: st.DataObject, asks: list[Trigger]) -> None:
        """A client asks anything at any listener, ignores the answers, and comes back after each close."""
        node = data.draw(st.sampled_from([None, *sorted(self.nodes | self.retired)]))
        for ask in asks:
            connection = self.connect(self.clients[which], node)
            assert connection is not None
            self.decide(connection, ask)

    @precondition(lambda self: self.connections)
    @rule(data=st.data(), asks=ASKS)
    def client_misbehaves_on_a_connection(self, data: st.DataObject, asks: list[Trigger]) -> None:
        """The same on one of its connections, which may be stale."""
        connection = data.draw(st.sampled_from(self.stale() or self.connections))
        for ask in asks:
            if connection in self.connections:
                self.decide(connection, ask)

    @rule(which=CLIENTS)
    def client_is_served_in_the_end(self, which: int) -> None:
        """From any state, after stale connections: each known node at most once, bootstrap, a node. For good."""
        client = self.clients[which]
        for connection in self.stale():
            self.part(connection)
        if not client.kind.kip_899 and client.nodes and not self.nodes & set(client.nodes):
            return  # it only knows removed nodes and never bootstraps: `topology.retired: serve` is for it
        assert self.serve(client) <= MOST_NODES + 2
        served = self.connections[-1]
        for _ in range(3):
            assert self.refresh(client, served) is Action.SERVE

    def serve(self, client: Application) -> int:
        """Return how many attempts it takes until a node serves the client; fails when only a loop needs so many."""
        for attempts in range(1, 20):
            if self.attempt(client):
                return attempts
        raise AssertionError(f"a loop: {client}, {self.notified_clients.standing(client.identity)}")

    # What must hold.

    @invariant()
    def no_client_is_notified_too_often_in_an_epoch(self) -> None:
        """Once; several that the proxy cannot distinguish, no more often than there may be of them."""
        assert all(times <= max(1, self.alike[which]) for which, times in self.notified.items())

    @invariant()
    def notified_clients_are_known(self) -> None:
        """However many others came since, and however small the capacity is."""
        for epoch, identity in self.notified:
            standing = self.notified_clients.standing(identity)
            assert epoch != self.epoch.number or standing in (Standing.NOTIFIED, Standing.SHARED)

    @invariant()
    def the_epoch_heeds_its_floor(self) -> None:
        """Each rise counts one, and the floor's time lies between two of them."""
        assert self.epoch.number == len(self.rises)
        assert all(later - earlier >= FLOOR for earlier, later in zip(self.rises, self.rises[1:], strict=False))

    @invariant()
    def notified_clients_are_bounded(self) -> None:
        """The model has more clients than the capacity."""
        assert len(self.notified_clients) <= CAPACITY < len({client.identity for client in self.clients})

    @invariant()
    def abilities_fit_the_kinds(self) -> None:
        """The model's clients have every capability that the table distinguishes."""
        assert {capability(client.kind.software, -1) for client in self.clients} == set(Capability)


TestRebootstrap = Rebootstrap.TestCase
TestRebootstrap.settings = settings(max_examples=max(300, settings().max_examples))
