"""Topology changes at any moment of any traffic: which clients are notified, once, and what they get."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from kproxy.observe.reasons import Reason
from kproxy.protocol.context import Context
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.client_capabilities import capability
from kproxy.rebootstrap.decisions import Place
from kproxy.rebootstrap.notified_clients import Client, NotifiedClients
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.primitives import INT32
from tests.property.test_relay_flows import pieces
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay, Script, Side, assert_same, port_of, whole

METADATA, API_VERSIONS = 3, 18
_STEPS = st.lists(st.integers(1, 300), min_size=1, max_size=20)
ENDS = frozenset({None, Reason.REBOOTSTRAP, Reason.RETIRED_NODE})


class NotifyingCluster(Cluster):
    """A cluster that decides by `NotifiedClients`, as `app` does; nodes are named after their epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.notified_clients = NotifiedClients()
        self.to_be_notified: set[Context] = set()
        self.present(0)

    def decide(self, context: Context, trigger: Trigger) -> Action:
        place = Place.RETIRED if context.retired else Place.BOOTSTRAP if context.node_id is None else Place.NODE
        can = capability(context.software, context.metadata_version)
        action = self.notified_clients.decide(client(context), place, trigger, can, context.stale)
        if action is Action.NOTIFY:
            self.to_be_notified.add(context)
        return action

    def present(self, epoch: int) -> None:
        """Set the nodes of an epoch."""
        self.epoch, self.host = epoch, f"epoch-{epoch}"
        self.nodes = [(node, self.host, port_of(node), None) for node in (7, 1001)]


def client(context: Context) -> Client:
    return Client(context.host, context.client_id, *(context.software or (None, None)))


def topics(version: int, names: Sequence[str] | None) -> dict[str, object]:
    """Return the topics that a Metadata request asks for; None for all topics."""
    empty: list[object] | None = [] if version == 0 else None
    return {"Topics": empty if names is None else [{"Name": name, "TopicId": bytes(16)} for name in names]}


def named_in(epoch: int) -> list[dict[str, object]]:
    return frames.endpoints([(7, f"broker-{epoch}", 9092), (1001, f"broker-{epoch}", 9093)])


@dataclass(frozen=True)
class Request:
    """A request as it is sent, and what its broker answers in an epoch."""

    key: int
    version: int
    content: dict[str, object] = field(default_factory=dict)

    def asked(self, number: int) -> bytes:
        if self.key == 0:
            return frames.produce(self.version, number)
        return frames.request(self.key, self.version, number, self.content)

    def answered(self, number: int, epoch: int) -> bytes:
        nodes = named_in(epoch)
        content: dict[str, object] = {}
        if self.key == METADATA:
            wanted = self.content["Topics"] or [{"Name": "any", "TopicId": bytes(16)}]
            assert isinstance(wanted, list)
            listed = [{**topic, "Partitions": [{"ReplicaNodes": [7]}]} for topic in wanted]
            content = {"Brokers": nodes, "ControllerId": 7, "Topics": listed}
        elif self.key == 10:
            content = {"Coordinators": [{"Key": "group", "NodeId": 7, "Host": f"broker-{epoch}", "Port": 9092}]}
        return frames.response(self.key, self.version, number, content)


def hello(**says: object) -> Request:
    names = {"ClientSoftwareName": "apache-kafka-java", "ClientSoftwareVersion": "4.4.0"}
    return Request(API_VERSIONS, 5, {**names, "ClusterId": None, "NodeId": -1, **says})


GROUP = [
    Request(8, 8, {"GroupId": "g", "Topics": [{"Name": "orders", "Partitions": [{"PartitionIndex": 3}]}]}),
    Request(9, 8),
    Request(11, 9),
    Request(12, 4),
    Request(14, 5),
    Request(68, 1),
]
REQUESTS = [
    *GROUP,
    Request(1, 12),
    Request(0, 12),
    Request(10, 4),
    hello(),
    hello(NodeId=99),
    hello(ClusterId="cluster-0"),
    Request(METADATA, 12, topics(12, ["orders"])),
    Request(METADATA, 13, topics(13, [])),
    Request(METADATA, 13, topics(13, ["orders", "payments"])),
    Request(METADATA, 13, topics(13, None)),
]


@dataclass
class ClientConnection:
    """One connection: its relay, what its client has sent, and what waits at its broker."""

    relay: Relay
    waiting: deque[tuple[Request, int]] = field(default_factory=deque)
    sent: list[tuple[int, Request]] = field(default_factory=list)
    seen: int = 0
    closed: bool = False

    @property
    def over(self) -> bool:
        """True when kproxy would have closed it."""
        last = self.relay.requests.last is not None and not self.relay.in_flight
        return self.closed or self.relay.reason is not None or last

    def ask(self, request: Request) -> None:
        """The client asks; the broker gets what the relay lets through."""
        number = len(self.sent)
        self.sent.append((number, request))
        before = self.relay.requests.count - self.relay.own.count
        queued = len(self.relay.in_flight)
        self.relay.feed("client", request.asked(number))
        newest = self.relay.in_flight.last
        passed = len(self.relay.in_flight) > queued and newest is not None and newest.answer is None
        if passed and self.relay.requests.count - self.relay.own.count > before:
            self.waiting.append((request, number))

    def answer(self) -> None:
        """The broker answers the oldest request that it has."""
        if self.waiting:
            request, number = self.waiting.popleft()
            self.relay.feed("broker", request.answered(number, self.relay.context.epoch))

    def part(self) -> None:
        """Answer what is in flight, as `Connection._balance` does on a stale connection."""
        relay = self.relay
        if relay.context.stale and relay.in_flight and not relay.responses.under_way:
            relay.own.answer_in_flight(relay.context)
            self.closed |= not relay.in_flight

    def responses(self) -> list[tuple[int, Request, bytes]]:
        """Return all frames that the client got, each with its request."""
        requests = dict(self.sent)
        got = [(INT32.unpack_from(one)[0], one) for one in frames.split(bytes(self.relay.client.data))]
        return [(number, requests[number], one) for number, one in got]

    def fresh(self) -> list[tuple[int, Request, bytes]]:
        """Return what the client got since the last call."""
        found = self.responses()[self.seen :]
        self.seen += len(found)
        return found


def says_16(request: Request, frame: bytes) -> bool:
    if request not in GROUP:
        return False
    said = frames.understood(request.key, request.version, frame)
    if request.key == 8:
        return bool(said["Topics"]) and said["Topics"][0]["Partitions"][0]["ErrorCode"] == ErrorCode.NOT_COORDINATOR
    return request.key != 9 and said["ErrorCode"] == ErrorCode.NOT_COORDINATOR


def says_129(request: Request, frame: bytes) -> bool:
    if request.key == METADATA and request.version >= 13:
        return bool(frames.understood(METADATA, 13, frame)["ErrorCode"] == ErrorCode.REBOOTSTRAP_REQUIRED)
    return request.key == API_VERSIONS and frame[4:6] == ErrorCode.REBOOTSTRAP_REQUIRED.to_bytes(2, "big")


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("connect"), st.sampled_from([(None, False), (7, False), (8, False), (7, True)])),
        st.tuples(st.just("ask"), st.integers(0, 5), st.sampled_from(REQUESTS)),
        st.tuples(st.just("ask"), st.integers(0, 5), st.sampled_from(REQUESTS)),
        st.tuples(st.just("answer"), st.integers(0, 5)),
        st.tuples(st.just("answer"), st.integers(0, 5)),
        st.tuples(st.just("rise")),
        st.tuples(st.just("part"), st.integers(0, 5)),
    ),
    min_size=5,
    max_size=60,
)


@given(ACTIONS)
@settings(max_examples=400)
def test_no_client_is_notified_twice_nor_of_the_past(actions: list[tuple[object, ...]]) -> None:
    """Any connections of one client, any requests, answers, changes: no two 129 in an epoch, none at the bootstrap.

    rebootstrap.md: "once for a connection in an epoch, then serve fresh metadata". No response that comes after the
    topology's end names a broker of it, and each client reads its responses in the order in which it asked.
    """
    cluster = NotifyingCluster()
    connections = [ClientConnection(Relay(cluster, node_id=7))]
    notified: Counter[tuple[int, Client]] = Counter()
    for action in actions:
        _act(cluster, connections, action)
        for one in connections:
            for number, request, frame in one.fresh():
                del number
                context = one.relay.context
                if says_129(request, frame):
                    assert context.node_id is not None, "129 where clients bootstrap"
                    notified[cluster.epoch, client(context)] += 1
                    assert one.relay.requests.last is Reason.REBOOTSTRAP or context.stale
                if says_16(request, frame):
                    assert context.stale
                    assert one.over, "16 is the end"
                if context.stale:
                    assert f"epoch-{context.epoch}".encode() not in frame
                assert b"broker-" not in frame
    assert not [pair for pair, times in notified.items() if times > 1]
    for one in connections:
        numbers = [number for number, _, _ in one.responses()]
        assert numbers == list(range(len(numbers)))
        assert one.relay.reason in ENDS


def _act(cluster: NotifyingCluster, connections: list[ClientConnection], action: tuple[object, ...]) -> None:
    match action:
        case ("connect", (int() | None as node_id, bool(retired))):
            connections.append(ClientConnection(Relay(cluster, node_id=node_id, retired=retired)))
        case ("ask", int(index), Request() as request) if not (one := connections[index % len(connections)]).over:
            one.ask(request)
        case ("answer", int(index)) if not (one := connections[index % len(connections)]).over:
            one.answer()
        case ("rise",):
            cluster.present(cluster.epoch + 1)
            cluster.notified_clients.begin_epoch()
            for one in connections:
                one.relay.requests.outdate()
                one.closed |= one.relay.context in cluster.to_be_notified  # as `RebootstrapService.begin_epoch` does
                if one.relay.context.node_id is not None:
                    cluster.notified_clients.owe(client(one.relay.context))
            cluster.to_be_notified.clear()
        case ("part", int(index)) if not (one := connections[index % len(connections)]).over:
            one.part()


@given(st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=6), st.data(), _STEPS, _STEPS)
@settings(max_examples=300)
def test_a_change_between_any_two_frames_for_any_cut(
    requests: list[Request], data: st.DataObject, asks: list[int], says: list[int]
) -> None:
    """The pieces in which frames come before and after the change do not matter, nor what follows the last frame."""
    decides = data.draw(st.fixed_dictionaries({ask: st.sampled_from(Action) for ask in Trigger}))
    node_id, retired = data.draw(st.sampled_from([(None, False), (7, False), (7, True)]))
    at = data.draw(st.integers(0, len(requests)))
    back = data.draw(st.integers(0, len(requests)))

    def make() -> Relay:
        nodes = [(node, "proxy.example", port_of(node), None) for node in (7, 1001)]
        return Relay(Cluster(decides=decides, nodes=nodes), node_id=node_id, retired=retired)

    script: Script = [
        ("client", b"".join(one.asked(number) for number, one in enumerate(requests[:at]))),
        ("broker", _said(make(), requests[:at], back)),
        ("epoch", b""),
        ("client", b"".join(one.asked(number) for number, one in enumerate(requests) if number >= at)),
    ]
    expected = _played(make(), script, whole=True, asks=asks, says=says)
    found = _played(make(), script, whole=False, asks=asks, says=says)
    assert_same(found.outcome(), expected.outcome())


def _said(relay: Relay, requests: list[Request], most: int) -> bytes:
    """Return the broker's responses to at most `most` of the requests that reach it."""
    relay.play([("client", b"".join(one.asked(number) for number, one in enumerate(requests)))], whole)
    numbers = [one.correlation_id for one in relay.in_flight if one.answer is None][:most]
    return b"" if relay.reason else b"".join(requests[number].answered(number, 0) for number in numbers)


def _played(relay: Relay, script: Script, *, whole: bool, asks: list[int], says: list[int]) -> Relay:
    steps: dict[Side, list[int]] = {"client": asks, "broker": says}
    for side, data in script:
        cut = [data] if whole or side == "epoch" else pieces(data, steps[side])
        for piece in cut:
            if piece or side == "epoch":
                relay.feed(side, piece)
    return relay
