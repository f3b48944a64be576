"""Composes the api policies of all rooms for a virtual cluster, in the order in which a request meets them.

A room is a package of kproxy that takes part in APIs, such as telemetry. `ClusterDestination` calls this when the
virtual cluster is made and whenever its policies change, for instance after a failover.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic, time
from typing import TYPE_CHECKING

from kproxy.producers.policies import policies as producer_policies
from kproxy.protocol.composition import Room, compose
from kproxy.quotas.connections import policies as connection_policies
from kproxy.quotas.policies import policies as quota_policies
from kproxy.rebootstrap.group_members import policies as member_policies
from kproxy.rebootstrap.policies import policies as rebootstrap_policies
from kproxy.rebootstrap.policies import retired_policies
from kproxy.rebootstrap.topics_in_use import policies as topic_policies
from kproxy.relay.apis import POLICIES
from kproxy.transactions import policies as transactions

if TYPE_CHECKING:
    from kproxy.producers.producer_ids import ProducerIds
    from kproxy.protocol.api_table import ApiPolicy
    from kproxy.quotas.byte_rates import ByteRates
    from kproxy.quotas.connections import PrincipalConnections
    from kproxy.rebootstrap.answers import Rebootstrap
    from kproxy.rebootstrap.group_members import GroupMembers
    from kproxy.rebootstrap.topics_in_use import TopicsInUse
    from kproxy.transactions.transactional_ids import TransactionalIds


def composed(
    decisions: Rebootstrap,
    telemetry: Mapping[int, ApiPolicy],
    ids: ProducerIds | None,
    groups: Mapping[int, ApiPolicy] | None = None,
    *,
    rates: ByteRates | None = None,
    connections: PrincipalConnections | None = None,
    sasl: Mapping[int, ApiPolicy] | None = None,
    members: GroupMembers | None = None,
    topics: TopicsInUse | None = None,
    faults: Mapping[int, ApiPolicy] | None = None,
    transactional_ids: TransactionalIds | None = None,
) -> Mapping[int, ApiPolicy]:
    """Return the policies of all rooms, by api key; raises `CompositionError` where two rooms exclude each other.

    Rebootstrap is first: no other room needs to read what goes to a cluster that is gone. Injected faults are next: no
    other room sees a request that gets one. Transactions are noted as brokers know them: requests behind the producers,
    which change their ids, responses in front of them. The relay is last: the addresses that a client gets are right,
    whatever earlier rooms have written. Only the limit of a principal's connections is behind it, since the relay
    learns the principal. `sasl` replaces the relay's policies where kproxy authenticates clients.
    """
    return compose(
        (
            Room("rebootstrap", rebootstrap_policies(decisions)),
            Room("faults", faults or {}),
            Room("members", {} if members is None else member_policies(members)),
            Room("topics", {} if topics is None else topic_policies(topics)),
            Room("telemetry", telemetry),
            Room("transactions", {} if transactional_ids is None else transactions.responses(transactional_ids, time)),
            Room("coordinator", groups or {}),
            Room("producers", {} if ids is None else producer_policies(ids)),
            Room("transactions", {} if transactional_ids is None else transactions.requests(transactional_ids)),
            Room("quotas", {} if rates is None else quota_policies(rates, monotonic)),
            Room("relay", {**POLICIES, **(sasl or {})}),
            Room("connections", {} if connections is None else connection_policies(connections)),
        )
    )


def composed_retired(decisions: Rebootstrap, sasl: Mapping[int, ApiPolicy] | None = None) -> Mapping[int, ApiPolicy]:
    """Return the policies at a retired node's listener, by api key."""
    return compose((Room("rebootstrap", retired_policies(decisions)), Room("relay", {**POLICIES, **(sasl or {})})))
