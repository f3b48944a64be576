"""One relayed connection whose virtual cluster has faults enabled, without sockets; time and chance are the test's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kproxy.cluster.policies import composed
from kproxy.config.faults import FaultRule
from kproxy.faults.policies import policies
from kproxy.faults.rules import Rule, Rules
from kproxy.producers.producer_ids import ProducerIds
from kproxy.protocol.api_table import ApiTable
from kproxy.protocol.context import Context
from kproxy.transactions.transactional_ids import TransactionalIds
from tests.unit.faults.exchanges import NODES
from tests.unit.relay.flows import Cluster, Relay


class Faulty(Relay):
    """`rules` are those of the virtual cluster, `noted` the faults that were injected: kind, api, version."""

    def __init__(
        self,
        *settings: dict[str, Any],
        chance: Callable[[], float] = lambda: 0.0,
        ids: ProducerIds | None = None,
        cluster: Cluster | None = None,
        transactional_ids: TransactionalIds | None = None,
    ) -> None:
        self.clock = 0.0
        self.rules = Rules(lambda: self.clock, chance)
        self.noted: list[tuple[str, str, int]] = []
        for one in settings:
            self.rules.add(FaultRule.model_validate(one))
        cluster = cluster or Cluster(nodes=NODES)
        faults = policies(self.rules, self._note)
        rooms = composed(cluster, {}, ids, faults=faults, transactional_ids=transactional_ids)
        super().__init__(cluster, table=ApiTable(cluster.counters, rooms), earlier=1)

    def _note(self, context: Context, rule: Rule, version: int) -> None:
        assert context is self.context
        self.noted.append((rule.settings.fault, rule.settings.api, version))

    def throttle(self, seconds: float) -> None:
        """As `Owner`: the time is over at once, and the flow goes on in its next turn."""
        self.throttled.append(seconds)
