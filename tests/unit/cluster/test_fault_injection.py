"""A virtual cluster with faults enabled: its rules, and that every injected fault is counted, reported and logged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kproxy.cluster.fault_injection import FaultInjection
from kproxy.config.faults import Faults
from kproxy.errors import ConflictError, InvalidArgumentError
from kproxy.observe.counters import ClusterCounters
from kproxy.observe.events import FaultInjected, encode
from kproxy.protocol.api_table import ApiTable
from kproxy.wire.generated.api_keys import ApiKey
from tests.unit.admin.test_inventory import CONNECTION
from tests.unit.cluster.clusters import started
from tests.unit.faults.exchanges import NODES
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay

RULE = {"api": "Heartbeat", "error": "REBALANCE_IN_PROGRESS"}
INFO = CONNECTION._replace(opened=0.25)


def settings(*rules: dict[str, Any], **others: Any) -> Faults:
    """Enabled, with these rules."""
    return Faults.model_validate({"enabled": True, "rules": rules, **others})


class Injecting:
    """Faults of a virtual cluster, and a client's connection to it."""

    def __init__(self, *rules: dict[str, Any], known: bool = True, **others: Any) -> None:
        self.events: list[FaultInjected] = []
        self.counters = ClusterCounters("test")
        self.injection = FaultInjection(
            settings(*rules, **others), self.counters, lambda _: INFO if known else None, self.events.append
        )
        cluster = Cluster(nodes=NODES)
        cluster.counters = self.counters
        self.relay = Relay(cluster, table=ApiTable(self.counters, self.injection.policies))
        self.relay.context.introduce("apache-kafka-java", "4.1.0")
        self.relay.context.principal = "User:alice"

    def hits(self, count: int) -> Sequence[bool]:
        """Whether each of so many requests was hit."""
        found = []
        for number in range(count):
            before = len(self.events)
            self.relay.feed("client", frames.request(ApiKey.HEARTBEAT, 3, number, client_id="orders-1"))
            found.append(len(self.events) > before)
        return found


def test_every_fault_is_marked() -> None:
    """In the metric, which begins at 0; in the errors of responses; and in an event with all that is known."""
    one = Injecting(RULE)
    assert one.counters.faults == {("Heartbeat", "REBALANCE_IN_PROGRESS"): 0}
    one.hits(2)
    assert one.counters.faults == {("Heartbeat", "REBALANCE_IN_PROGRESS"): 2}
    assert one.counters.api(ApiKey.HEARTBEAT, 3).errors == {27: 2}
    assert one.events[0] == FaultInjected(
        connection=0,
        since="1970-01-01T00:00:00.250Z",
        address="client",
        client_id="orders-1",
        software_name="apache-kafka-java",
        software_version="4.1.0",
        principal="User:alice",
        api="Heartbeat",
        api_version=3,
        fault="error",
        error="REBALANCE_IN_PROGRESS",
        delay=None,
        rule=1,
    )
    assert encode(one.events[0], 0.0, "p", "c", 1).key == b"p/0"


@pytest.mark.parametrize(
    ("fault", "label"),
    [({"delay": 1}, "delay"), ({"close": True}, "close"), ({"half": "REBALANCE_IN_PROGRESS"}, "half")],
)
def test_other_faults(fault: dict[str, Any], label: str) -> None:
    """They are counted by their kind, and no error is."""
    one = Injecting({"api": "Heartbeat"} | fault, known=False)
    one.hits(1)
    assert one.counters.faults == {("Heartbeat", label): 1}
    assert one.counters.api(ApiKey.HEARTBEAT, 3).errors == {}
    (event,) = one.events
    assert (event.fault, event.since, event.delay) == (label, None, fault.get("delay"))


def test_a_seed() -> None:
    """The same seed hits the same requests, another one others."""
    rule = RULE | {"rate": 0.5}
    first = Injecting(rule, seed=1).hits(40)
    assert first == Injecting(rule, seed=1).hits(40)
    assert first != Injecting(rule, seed=2).hits(40)


def test_a_reload() -> None:
    """Rules that have changed begin anew; those that have not go on; added ones stay."""
    one = Injecting(RULE)
    one.injection.add({"api": "Fetch", "close": True})
    one.hits(1)
    one.injection.reconfigure(settings(RULE))
    assert [(rule.number, rule.hits) for rule, _ in one.injection.rules()] == [(1, 1), (2, 0)]
    one.injection.reconfigure(settings(RULE | {"rate": 0.5}))
    assert [(rule.number, rule.fixed) for rule, _ in one.injection.rules()] == [(2, False), (3, True)]


def test_rules_of_an_operator() -> None:
    """They are checked as those of the configuration are."""
    injection = Injecting().injection
    with pytest.raises(InvalidArgumentError, match=r"^error: 'X' is no error of Kafka: see kproxy errors list$"):
        injection.add({"api": "Fetch", "error": "X"})
    injection.add({"api": "Fetch", "close": True})
    assert injection.remove(1) == 1
    assert injection.remove(None) == 0


def test_the_warning() -> None:
    """/readyz says so as long as faults can be injected."""
    injection = Injecting().injection
    assert injection.warning == "faults can be injected (faults.enabled); there is no rule"
    injection.add({"api": "Fetch", "close": True})
    assert injection.warning == "faults are injected: 1 rule (kproxy faults list)"
    injection.add({"api": "Fetch", "close": True})
    assert injection.warning == "faults are injected: 2 rules (kproxy faults list)"


async def test_a_virtual_cluster() -> None:
    """Only where faults are enabled does its table have detours; a reload takes rules over."""
    key = ApiKey.PRODUCE << 16 | 11
    async with started(first_port=0) as plain:
        assert plain.faults is None
        assert plain.destination.table.route(key).detour is None
    async with started(first_port=0, others={"faults": {"enabled": True}}) as cluster:
        assert cluster.faults is not None
        assert cluster.destination.table.route(key).detour is not None
        changed = cluster.settings.model_copy(update={"faults": settings(RULE)})
        cluster.reconfigure(changed, dict(cluster.upstreams.all))
        assert [rule.settings.api for rule, _ in cluster.faults.rules()] == ["Heartbeat"]


async def test_rules_in_all_rooms() -> None:
    """Faults can be enabled together with all that a virtual cluster can do besides."""
    others = {
        "faults": {"enabled": True, "rules": [RULE]},
        "groups": [{"match": ".*"}],
        "byte_rates": [{"principal": ".*", "produce": 1000}],
        "max_connections_per_principal": 5,
        "failover": {"separate_producer_ids": True},
        "telemetry": {},
    }
    async with started(first_port=0, others=others) as cluster:
        assert all(cluster.destination.table.route(key << 16 | 4).detour for key in (ApiKey.FETCH, ApiKey.PRODUCE))
        assert cluster.faults is not None
        with pytest.raises(ConflictError):
            cluster.faults.remove(1)
