"""Composes the api policies of all rooms for a virtual cluster, in the order in which a request meets them.

A room is a package of kproxy that takes part in APIs, such as telemetry. `ClusterDestination` calls this when the
virtual cluster is made and whenever its policies change, for instance after a failover.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kproxy.producers.policies import policies as producer_policies
from kproxy.protocol.composition import Room, compose
from kproxy.rebootstrap.policies import policies as rebootstrap_policies
from kproxy.rebootstrap.policies import retired_policies
from kproxy.relay.apis import POLICIES

if TYPE_CHECKING:
    from kproxy.producers.producer_ids import ProducerIds
    from kproxy.protocol.api_table import ApiPolicy
    from kproxy.rebootstrap.answers import Rebootstrap


def composed(
    decisions: Rebootstrap,
    telemetry: Mapping[int, ApiPolicy],
    ids: ProducerIds | None,
    groups: Mapping[int, ApiPolicy] | None = None,
) -> Mapping[int, ApiPolicy]:
    """Return the policies of all rooms, by api key; raises `CompositionError` where two rooms exclude each other.

    Rebootstrap is first: no other room needs to read what goes to a cluster that is gone. The relay is last: the
    addresses that a client gets are right, whatever earlier rooms have written.
    """
    return compose(
        (
            Room("rebootstrap", rebootstrap_policies(decisions)),
            Room("telemetry", telemetry),
            Room("coordinator", groups or {}),
            Room("producers", {} if ids is None else producer_policies(ids)),
            Room("relay", POLICIES),
        )
    )


def composed_retired(decisions: Rebootstrap) -> Mapping[int, ApiPolicy]:
    """Return the policies at a retired node's listener, by api key."""
    return compose((Room("rebootstrap", retired_policies(decisions)), Room("relay", POLICIES)))
