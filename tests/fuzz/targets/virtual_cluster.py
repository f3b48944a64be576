"""A virtual cluster with every room's policies as a real one has them, for one connection without sockets.

Telemetry has what its receivers do with a push: Prometheus adds it up, OTLP labels it, files make JSON lines of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from kproxy.cluster.policies import composed, composed_retired
from kproxy.producers.producer_ids import ProducerIds
from kproxy.protocol.api_table import ApiPolicy, ApiTable
from kproxy.protocol.outcomes import Incremental
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.relay.apis import RETIRED_KEYS
from kproxy.telemetry.config_resource import Change
from kproxy.telemetry.payload import Push
from kproxy.telemetry.policies import policies
from kproxy.telemetry.service import Telemetry
from kproxy.telemetry.subscription import Subscription
from kproxy.telemetry.subscriptions import Subscriptions
from kproxy.transactions.transactional_ids import TransactionalIds
from kproxy.wire.apis import APIS
from tests.fuzz.targets.pushes import Receivers
from tests.unit.relay.flows import Cluster, Relay

IDS: Final = (
    None,
    ProducerIds("east"),
    ProducerIds("east", failovers=1),
    ProducerIds("west", failovers=18, returned=True),
)
DECISIONS: Final[tuple[Mapping[Trigger, Action], ...]] = (
    {},
    dict.fromkeys(Trigger, Action.NOTIFY),
    dict.fromkeys(Trigger, Action.CLOSE),
    dict.fromkeys(Trigger, Action.REFUSE),
    {Trigger.COORDINATOR: Action.NOT_COORDINATOR, Trigger.OFFSETS: Action.NOT_COORDINATOR},
    {Trigger.METADATA: Action.NOTIFY},
    {Trigger.ELSEWHERE: Action.NOTIFY, Trigger.COORDINATOR: Action.CLOSE},
)
NODES: Final = ((7, "proxy.example", 19099, None), (1001, "proxy.example", 19093, "rack-a"))
MAX_PUSH: Final = 1 << 16
_KEPT: Final = "the disk does not take it"


class FuzzedTelemetry:
    """Telemetry that forgets everything before each input."""

    def __init__(self) -> None:
        self._clean = False
        self.receivers = Receivers()
        self.keeping: list[Callable[[str | None], None]] = []
        self.core = self._made()
        self.policies = policies(self.core, self._take, lambda: "upstream", self._keep)
        self.begin()

    def begin(self) -> None:
        """Forget what clients did."""
        self._ids = 0
        self.keeping.clear()
        if not self._clean:
            vars(self.core).update(vars(self._made()))  # the policies know this one
            self.receivers.begin()
        self._clean = True

    def touched(self) -> None:
        """Note that a client may have used it."""
        self._clean = False

    def _made(self) -> Telemetry:
        subscriptions = Subscriptions([Subscription("all", metrics=("*",), interval_ms=100)])
        return Telemetry(subscriptions, max_bytes=MAX_PUSH, capacity=64, new_id=self._next_id)

    def _next_id(self) -> UUID:
        self._ids += 1
        return UUID(int=(1 << 64) + self._ids)

    def _take(self, push: Push) -> None:
        self.receivers.take(push)

    def _keep(self, changes: tuple[Change, ...], done: Callable[[str | None], None]) -> None:
        del changes
        self.keeping.append(done)

    def kept(self, well: bool) -> None:
        """Answer the oldest change that waits for the disk."""
        if self.keeping:
            self.keeping.pop(0)(None if well else _KEPT)


class FuzzedCluster(Cluster):
    """The cluster behind the connection; begun anew for each input, since policies are made for one of them."""

    known: tuple[tuple[int, int, int], ...] = ()

    @property
    def served(self) -> tuple[tuple[int, int, int], ...]:
        return self.known

    def begin(self, kind: int, decision: int) -> None:
        """Be another cluster: what `kind` and `decision` say, and nothing that happened before."""
        self.epoch = 0
        self.decides, self.nodes = DECISIONS[decision % len(DECISIONS)], NODES
        self.forgets, self.hides = bool(kind & 8), bool(kind & 16)
        self.asks, self.learnt, self.learnt_ids = [], [], []
        self.advertised, self.epochs_of = [], []


class World:
    """The tables of all the clusters that inputs run at; made once, since that takes a while."""

    def __init__(self) -> None:
        self.telemetry = FuzzedTelemetry()
        self._cluster = FuzzedCluster()
        self._policies = [
            composed(self._cluster, self.telemetry.policies, ids, transactional_ids=TransactionalIds()) for ids in IDS
        ]
        counters = self._cluster.counters
        self._tables = [ApiTable(counters, each) for each in self._policies]
        self._retired = ApiTable(counters, composed_retired(self._cluster), only=RETIRED_KEYS)
        self._cluster.known, self._cluster.own = self._tables[0].served(), self._tables[0].own()
        self._plain = [frozenset(key for key in APIS if _is_plain(each.get(key))) for each in self._policies]
        self._unread = [frozenset(key for key in APIS if _is_unread(each.get(key))) for each in self._policies]

    def relay(self, settings: bytes) -> FuzzedRelay:
        """Return a new connection; `settings` say what its cluster is like and which limits it has."""
        kind, decision, _ = settings
        self._cluster.begin(kind, decision)
        self.telemetry.begin()
        table = self._retired if kind & 4 else self._tables[kind & 3]
        return FuzzedRelay(self._cluster, table, self.telemetry, retired=bool(kind & 4), small=bool(kind & 32))

    def plain_keys(self, settings: bytes) -> frozenset[int]:
        """Return the APIs whose requests no room reads, on present connections and on stale ones."""
        return self._plain[settings[0] & 3]

    def unread_keys(self, settings: bytes) -> frozenset[int]:
        """Return the APIs whose responses no room reads, and which nobody but the broker answers."""
        return self._unread[settings[0] & 3]


def _variants(policy: ApiPolicy | None) -> list[ApiPolicy]:
    return [] if policy is None else [policy, *([policy.stale] if policy.stale else [])]


def _is_plain(policy: ApiPolicy | None) -> bool:
    return all((one.request or one.before or one.rewriter) is None for one in _variants(policy))


def _is_unread(policy: ApiPolicy | None) -> bool:
    return _is_plain(policy) and all((one.response or one.stale_response) is None for one in _variants(policy))


class FuzzedRelay(Relay):
    """One connection; the steps of an answer are taken when the script says so, and all of them at the end."""

    def __init__(
        self, cluster: Cluster, table: ApiTable, telemetry: FuzzedTelemetry, *, retired: bool, small: bool
    ) -> None:
        limit = 1 << 12 if small else 1 << 20
        super().__init__(
            cluster, retired=retired, limit=limit, response_limit=limit, held_limit=limit // 4, table=table
        )
        self.telemetry = telemetry
        self.interleaved = False
        """Something else happened in the middle of a request: when it happens decides what comes of it."""
        self.varies = False
        """There was a request whose response may differ though the bytes are the same."""
        self._stepwise: list[Incremental] = []

    def work(self, stepwise: Incremental) -> None:
        """As `Owner`: an earlier answer is finished first, as by `DeferredWork`."""
        self.telemetry.touched()
        before, self._stepwise = self._stepwise, [stepwise]
        for one in before:
            self._try(one.finish, "client")

    def take_step(self) -> bool:
        """Take a step of the answer that the proxy works out; False when there is none."""
        if not self._stepwise:
            return False
        stepwise = self._stepwise[0]
        self._try(stepwise.step, "client")
        if stepwise.done and self._stepwise and self._stepwise[0] is stepwise:
            self._stepwise.clear()
        return True

    def finish(self) -> None:
        """Take what is left to do, then end the connection."""
        while self.take_step():
            pass
        while self.telemetry.keeping:
            self.telemetry.kept(well=True)
            self.telemetry.touched()
        self.end()
