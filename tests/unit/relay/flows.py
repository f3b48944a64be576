"""Both flows of one connection, without sockets: feeds them bytes, and shows every visible outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import Literal, Self, TypeVar, overload

from kproxy.cluster.error_reports import ErrorReports
from kproxy.cluster.policies import composed, composed_retired
from kproxy.errors import MalformedMessageError
from kproxy.observe.counters import ClusterCounters
from kproxy.observe.events import ErrorAnswered
from kproxy.observe.reasons import Reason
from kproxy.producers.producer_ids import ProducerIds
from kproxy.protocol.api_table import ApiPolicy, ApiTable, Chunk
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Incremental
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.metadata import MetadataState
from kproxy.relay.apis import POLICIES, RETIRED_KEYS
from kproxy.relay.in_flight import Expected, InFlight
from kproxy.relay.local_responses import LocalResponses
from kproxy.relay.requests import RequestFlow
from kproxy.relay.responses import ResponseFlow
from tests.unit.relay import frames

Side = Literal["client", "broker", "epoch", "answer"]
"""The side that sends. "epoch" sends nothing: the cluster's epoch rises; "answer" is for a parked answer."""
Script = Sequence[tuple[Side, bytes]]
Node = tuple[int, str, int, str | None]
Cut = Callable[[bytes], Iterable[bytes]]
KIB = 1 << 10
LIMIT = 64 << 20
LOCAL_HOST = "127.0.0.1"
POISON = b"\xdd"


class Wire:
    """An outlet that keeps all it is given."""

    def __init__(self) -> None:
        self.data = bytearray()

    def send(self, chunk: Chunk) -> None:
        assert len(chunk), "nothing is no chunk"
        self.data += chunk

    def send_frame(self, size: bytes, chunks: Sequence[Chunk]) -> None:
        for chunk in (size, *chunks):
            self.data += chunk


class Cluster:
    """A virtual cluster whose nodes are advertised as `host` and a port made from their id.

    `decides` maps each trigger to its decision, SERVE by default; `asks` records the triggers asked, with the epoch of
    the connection. `nodes` are the present ones as clients see them. `forgets` is whether clients are to forget leader
    epochs, `epochs_of` the clusters for which that was asked; `hides` is whether clients get no topic ids either.
    """

    def __init__(
        self,
        host: str = "proxy.example",
        cluster_id: str | None = "cluster-1",
        decides: Mapping[Trigger, Action] = MappingProxyType({}),
        nodes: Sequence[Node] = (),
    ) -> None:
        self.epoch = 0
        self.listens = False
        """Whether somebody listens for errors."""
        self.reported: list[ErrorAnswered] = []
        self.errors = ErrorReports(lambda: self.listens, self.reported.append)
        self.own: tuple[tuple[int, int, int], ...] = ()
        self.forgets = False
        self.hides = False
        self.epochs_of: list[str | None] = []
        self.decides = decides
        self.nodes = nodes
        self.asks: list[tuple[Trigger, int]] = []
        self.learnt_ids: list[str | None] = []
        self.counters = ClusterCounters("test")
        self.cluster_id = cluster_id
        self.host = host
        self.learnt: list[list[frames.Endpoint]] = []
        self.advertised: list[tuple[int, str, int, str]] = []

    @property
    def served(self) -> tuple[tuple[int, int, int], ...]:
        return ApiTable(self.counters, POLICIES).served()

    def advertise(self, node_id: int, host: str, port: int, local_host: str) -> tuple[str, int]:
        self.advertised.append((node_id, host, port, local_host))
        return self.host, port_of(node_id)

    def decide(self, context: Context, trigger: Trigger) -> Action:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        self.asks.append((trigger, context.epoch))
        return self.decides.get(trigger, Action.SERVE)

    def answers_in_flight(self, context: Context) -> bool:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        return self.decide(context, Trigger.COORDINATOR) is Action.NOT_COORDINATOR

    @property
    def may_know_another(self) -> bool:
        """As `kproxy.rebootstrap.answers.Rebootstrap` says."""
        return self.epoch > 0

    def keeps_leader_epochs(self, context: Context) -> bool:
        """As `kproxy.rebootstrap.answers.Rebootstrap` says."""
        del context
        return True

    def forgets_leader_epochs(self, context: Context, cluster_id: str | None) -> bool:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        del context
        self.epochs_of.append(cluster_id)
        return self.forgets

    def hides_topic_ids(self, context: Context) -> bool:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        del context
        return self.hides

    def brokers(self, local_host: str) -> Sequence[Node]:
        """As `kproxy.protocol.context.VirtualCluster` says."""
        assert local_host == LOCAL_HOST
        return self.nodes

    def learn(self, cluster_id: str | None, nodes: Sequence[frames.Endpoint]) -> None:
        self.learnt_ids.append(cluster_id)
        self.learnt.append(list(nodes))


def port_of(node_id: int) -> int:
    """The port that a node is advertised with."""
    return 19092 + node_id % 1000


@dataclass(frozen=True)
class Outcome:
    """All that can be seen from outside, except times."""

    to_broker: bytes
    to_client: bytes
    in_flight: tuple[tuple[int, int, int, object], ...]
    """(correlation id, api key, version, answer of the proxy's own)"""
    counted: tuple[object, ...]
    counts: tuple[int, int, int]
    """Requests, the broker's responses, the proxy's own."""
    under_way: tuple[bool, bool]
    reason: Reason | None
    learnt: tuple[object, ...]
    last: Reason | None
    """The reason, once the client's last request was answered."""
    asks: tuple[tuple[Trigger, int], ...]


class Relay:
    """One connection; what it is fed lies in a buffer that is overwritten at once, as the pump's is.

    `others` replace kproxy's own policies, `table` replaces all that is derived from them. `earlier`
    responses went out before. `serves_v13`: the broker has said that it serves Metadata v13.
    """

    def __init__(
        self,
        cluster: Cluster | None = None,
        *,
        node_id: int | None = 7,
        retired: bool = False,
        limit: int = LIMIT,
        response_limit: int = LIMIT,
        held_limit: int = LIMIT,
        others: Mapping[int, ApiPolicy] = MappingProxyType({}),
        ids: ProducerIds | None = None,
        earlier: int = 0,
        table: ApiTable | None = None,
        serves_v13: bool = True,
    ) -> None:
        self.cluster = cluster or Cluster()
        counters = self.cluster.counters
        if table is not None:
            self.table = table
        elif retired:
            self.table = ApiTable(counters, composed_retired(self.cluster), only=RETIRED_KEYS)
        else:
            self.table = ApiTable(counters, {**composed(self.cluster, {}, ids), **others})
        self.context = Context(self.cluster, node_id, "client:1", LOCAL_HOST, retired=retired)
        if serves_v13:
            self.context.state(MetadataState).has_code = True
        self.in_flight = InFlight()
        self.broker, self.client = Wire(), Wire()
        self.own = LocalResponses(self.in_flight, self.broker, self.client, self)
        self.requests = RequestFlow(self.table, self.in_flight, self.context, self.broker, self.own, limit, self)
        self.responses = ResponseFlow(
            self.in_flight, self.context, self.client, self.own, response_limit, held_limit, self
        )
        self.responses.meters = self.table.meters_responses
        self.throttled: list[float] = []
        """For how long the client was throttled, each time; seconds."""
        self.waits = False
        """Whether a throttled client's requests wait for `resume`; else time passes by itself."""
        self.now = 100.0
        self.earlier = earlier
        self.one_turn = False
        self.turns = 0
        """How often a flow went on with what it held back."""
        self.reason: Reason | None = None
        self.detail = ""

    def feed_held(self, side: Side, data: bytes) -> None:
        """As `feed`, for one turn only."""
        self.one_turn = True
        self.feed(side, data)
        self.one_turn = False

    def feed(self, side: Side, data: bytes) -> None:
        """Feed one piece; a fault is kept, and nothing is taken after it."""
        if self.reason is not None:
            return
        if side == "epoch":
            self.cluster.epoch += 1
            self.requests.outdate()
            return
        flow = self.requests if side == "client" else self.responses
        scratch = bytearray(data)
        self.now += 0.001
        if self._try(lambda: self._take(side, memoryview(scratch)), side):
            flow.settle(self.now)
        scratch[:] = POISON * len(scratch)
        self.resolved()

    def _take(self, side: Side, data: memoryview) -> None:
        flow, outlet = (self.requests, self.broker) if side == "client" else (self.responses, self.client)
        rest = flow.feed(data, self.now)
        if rest is not None:
            outlet.send(rest)

    def _try(self, act: Callable[[], None], side: Side) -> bool:
        """Return whether it went well; a fault is kept."""
        try:
            act()
        except Fault as fault:
            self.reason, self.detail = fault.reason, fault.detail
        except MalformedMessageError as error:
            self.reason = Reason.MALFORMED_REQUEST if side == "client" else Reason.MALFORMED_RESPONSE
            self.detail = str(error)
        return self.reason is None

    def unsteady(self) -> None:
        """As `Owner`: no side is paused here."""

    def throttle(self, seconds: float) -> None:
        """As `Owner`: noted."""
        self.throttled.append(seconds)
        self.requests.throttled = True

    def end_for(self, reason: Reason, detail: str) -> None:
        """As `Owner`."""
        self.requests.last, self.requests.last_detail = reason, detail

    def answered_here(self) -> None:
        """As `Owner`: there are no other connections here to go first."""

    def work(self, stepwise: Incremental) -> None:
        """As `Owner`: the code that made the steps takes them."""

    @property
    def answered(self) -> int:
        """As `Owner`."""
        return self.earlier + self.responses.count + self.own.count

    def resolved(self) -> None:
        """As `Owner`; during a request, the answer is sent when the fed bytes are done."""
        if self.reason is None and not self.requests.handling and not self.one_turn:
            self._try(lambda: self.responses.go_on(self.now), "broker")
            self.responses.settle(self.now)
            self._turns()

    def _turns(self) -> None:
        """Give the flows turns until they hold nothing back, but for a client that is suspended."""
        while self.reason is None and (self.responses.resting or self._requests_may_go_on):
            self.turns += 1
            if self.responses.resting:
                self._try(lambda: self.responses.go_on(self.now), "broker")
                self.responses.settle(self.now)
            elif self._try(lambda: self.requests.go_on(self.now), "client"):
                self.requests.settle(self.now)

    @property
    def _requests_may_go_on(self) -> bool:
        waits = self.waits and self.requests.throttled
        return self.requests.may_go_on and not waits and not (self.requests.suspended and self.requests.between)

    def resume(self, seconds: float) -> None:
        """Let so much time pass, after which the client is no longer throttled."""
        self.now += seconds
        self.requests.throttled = False
        self.resolved()

    def end(self) -> None:
        """End the connection, for whatever reason."""
        for expected in self.in_flight:
            expected.abandon()

    def splice(self, data: bytes) -> None:
        """Move bytes of a response from the broker to the client inside the kernel."""
        self.client.data += data
        self.responses.moved(len(data))
        self.responses.settle(self.now)

    def play(self, script: Script, cut: Cut) -> Self:
        for side, data in script:
            for piece in cut(data) if data and side != "answer" else [data]:
                self.feed(side, piece)
        return self

    def errors(self) -> dict[tuple[int, int], dict[int, int]]:
        """Error codes counted, by api key and version."""
        return {key: dict(api.errors) for key, api in self.cluster.counters.apis.items() if api.errors}

    def outcome(self) -> Outcome:
        counters = self.cluster.counters
        counted = (
            (
                (*key, api.requests, api.responses, api.request_bytes, api.response_bytes, *sorted(api.errors.items()))
                for key, api in sorted(counters.apis.items())
            ),
            sorted(counters.refused.items()),
        )
        return Outcome(
            bytes(self.broker.data),
            bytes(self.client.data),
            tuple((e.correlation_id, e.route.api_key, e.route.version, _answer(e)) for e in self.in_flight),
            (*counted[0], *counted[1]),
            (self.requests.count, self.responses.count, self.own.count),
            (self.requests.under_way, self.responses.under_way),
            self.reason,
            tuple(map(tuple, self.cluster.learnt)),
            self.requests.last,
            tuple(self.cluster.asks),
        )


R = TypeVar("R", bound=Relay)


def _answer(expected: Expected) -> object:
    """The kind of an answer that is not there yet."""
    return expected.answer if isinstance(expected.answer, bytes | None) else type(expected.answer)


def whole(data: bytes) -> Iterator[bytes]:
    yield data


def bytewise(data: bytes) -> Iterator[bytes]:
    for value in data:
        yield bytes((value,))


def by(size: int) -> Cut:
    """Pieces of `size` bytes."""
    return lambda data: (data[pos : pos + size] for pos in range(0, len(data), size))


CUTS: tuple[Cut, ...] = (bytewise, by(2), by(3), by(7), by(11), by(13), by(64), by(100), by(KIB))
_FINE = 2 * KIB
"""Bytes at each end of what is long that are cut finely. What lies between is more of the same."""
_PING, _PONG = frames.heartbeat(-1234)


def at_the_ends(cut: Cut) -> Cut:
    """Pieces of KiB, but those of `cut` at both ends, where frames, headers and what is held begin and end."""

    def pieces(data: bytes) -> Iterable[bytes]:
        if len(data) < 4 * _FINE:
            return cut(data)
        return chain(cut(data[:_FINE]), by(KIB)(data[_FINE:-_FINE]), cut(data[-_FINE:]))

    return pieces


@overload
def play(script: Script) -> Relay: ...
@overload
def play(script: Script, make: Callable[[], R]) -> R: ...
def play(script: Script, make: Callable[[], Relay] = Relay) -> Relay:
    """Feed a script whole, byte by byte, in other pieces and with trailing data; all must have the same outcome.

    Where it ends by a fault, larger pieces may forward less before it, but never anything else. Returns the relay that
    was fed whole.
    """
    relay = make().play(script, whole)
    expected = relay.outcome()
    for cut in CUTS:
        assert_same(make().play(script, at_the_ends(cut)).outcome(), expected)
    _trailing(script, make, expected)
    return relay


def assert_same(found: Outcome, expected: Outcome) -> None:
    """Assert that two outcomes are the same; after a fault, the one of finer pieces may only go further."""
    if expected.reason is None:
        assert found == expected
        return
    assert found.reason is expected.reason
    assert found.to_broker.startswith(expected.to_broker)
    assert found.to_client.startswith(expected.to_client)


def _trailing(script: Script, make: Callable[[], Relay], expected: Outcome) -> None:
    """Feed the next frames right behind: one more exchange if the script leaves nothing open, then half of another.

    Behind the last request of a connection they are ignored.
    """
    if expected.last is not None:
        at = max(index for index, step in enumerate(script) if step[0] == "client")
        behind: Script = [*script[:at], ("client", script[at][1] + _PING + _PING[:5]), *script[at + 1 :]]
        assert make().play(behind, whole).outcome() == expected
        return
    longer = list(script)
    over = not expected.in_flight and not any(expected.under_way) and expected.reason is None
    for side, extra in (("client", _PING), ("broker", _PONG)):
        last = max((index for index, step in enumerate(longer) if step[0] == side), default=None)
        if last is not None:
            longer[last] = (longer[last][0], longer[last][1] + (extra if over else b"") + extra[:5])
        elif over:
            longer.append(("client" if side == "client" else "broker", extra + extra[:5]))
    if any(expected.under_way):
        return
    found = make().play(longer, whole).outcome()
    if expected.reason is not None:
        assert found.reason is expected.reason
        return
    grown = replace(
        expected,
        to_broker=expected.to_broker + (_PING if over else b""),
        to_client=expected.to_client + (_PONG if over else b""),
    )
    assert (found.to_broker, found.to_client, found.in_flight) == (grown.to_broker, grown.to_client, grown.in_flight)
    sides = {side for side, _ in longer}
    assert found.under_way == ("client" in sides, "broker" in sides)
