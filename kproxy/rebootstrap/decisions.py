# This module is pure (no I/O, no clock).
"""Decides which clients are notified that they must bootstrap again, and how: see docs/rebootstrap-table.md.

`NotifiedClients` calls `decide` for each request whose client may have to be notified.

Exactly one rule fits each combination, so their order does not matter. `kproxy.rebootstrap.docs_table` writes the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import product
from types import MappingProxyType
from typing import Final, NamedTuple

from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.client_capabilities import Capability


class Place(StrEnum):
    """The listener that a client connected to."""

    BOOTSTRAP = "bootstrap"
    NODE = "node"
    """Also a retired node's where `topology.retired` is `serve`: clients are to find the new nodes there."""
    RETIRED = "retired"
    """The listener of a node that has left the topology, or the mapping."""


class Standing(StrEnum):
    """What is known of a client in the present epoch."""

    UNKNOWN = "unknown"
    """Nothing."""
    OWED = "owed"
    """Its connection of an earlier epoch was closed before it could be notified."""
    NOTIFIED = "notified"
    """It got its 129. This lasts until the epoch ends, so that no client gets a second one."""
    SHARED = "shared"
    """It or another client that looks like it got a 129, and there were more of them when the epoch began."""
    RECOVERED = "recovered"
    """It got fresh metadata at the bootstrap listener, without a 129."""


class Rule(NamedTuple):
    """`action` applies to every combination of the other fields' values; `why` is for people."""

    places: frozenset[Place]
    stale: frozenset[bool]
    """Whether the connection is of an earlier epoch."""
    triggers: frozenset[Trigger]
    standings: frozenset[Standing]
    capabilities: frozenset[Capability]
    action: Action
    why: str


_FRESH: Final = frozenset({False})
_STALE: Final = frozenset({True})
_EITHER: Final = frozenset({False, True})
_BOOTSTRAP: Final = frozenset({Place.BOOTSTRAP})
_NODE: Final = frozenset({Place.NODE})
_RETIRED: Final = frozenset({Place.RETIRED})
_HELLO: Final = frozenset({Trigger.HELLO})
_ELSEWHERE: Final = frozenset({Trigger.ELSEWHERE})
_METADATA: Final = frozenset({Trigger.METADATA})
_COORDINATOR: Final = frozenset({Trigger.COORDINATOR})
_OFFSETS: Final = frozenset({Trigger.OFFSETS})
_GROUP: Final = _COORDINATOR | _OFFSETS
_NOTIFIABLE: Final = _ELSEWHERE | _METADATA
_NOTIFIED: Final = frozenset({Standing.NOTIFIED})
_OWED: Final = frozenset({Standing.OWED})
_BEHIND: Final = frozenset({Standing.UNKNOWN, Standing.OWED, Standing.SHARED})
_NOT_NOTIFIED: Final = frozenset(Standing) - _NOTIFIED
_REFUSABLE: Final = frozenset({Capability.RECOVERS, Capability.TOO_OLD})
_TRIGGERS: Final = frozenset(Trigger)
TOPOLOGY: Final = _TRIGGERS - _GROUP
"""The triggers that ask for the topology itself, not for what its nodes serve."""
_PLACES: Final = frozenset(Place)
_STANDINGS: Final = frozenset(Standing)
_ANY: Final = frozenset(Capability)

# fmt: off
RULES: Final = (
    Rule(
        _BOOTSTRAP, _FRESH, _TRIGGERS, _STANDINGS, _ANY, Action.SERVE,
        "whoever bootstraps is to find the cluster: a 129 here would loop, and hang a Java admin",
    ),
    Rule(
        _BOOTSTRAP, _STALE, TOPOLOGY, _STANDINGS, _ANY, Action.CLOSE,
        "its broker may be of the cluster that is gone; the client's next connection is a fresh one",
    ),
    Rule(_NODE, _FRESH, _HELLO, _STANDINGS, _ANY, Action.SERVE, "the client means this cluster and this node"),
    Rule(_NODE, _FRESH, _GROUP, _STANDINGS, _ANY, Action.SERVE, "its broker is of this cluster"),
    Rule(
        _NODE, _FRESH, _METADATA, _OWED, _ANY, Action.NOTIFY,
        "its earlier connection was closed before it could be notified; now it can be",
    ),
    Rule(
        _NODE, _FRESH, _METADATA, _STANDINGS - _OWED, _ANY, Action.SERVE,
        "fresh metadata is all that it needs",
    ),
    Rule(
        _NODE, _FRESH, _ELSEWHERE, _NOT_NOTIFIED, _ANY, Action.NOTIFY,
        "what it believes of the topology is wrong, and it says so itself (KIP-1242)",
    ),
    Rule(
        _NODE, _FRESH, _ELSEWHERE, _NOTIFIED, _ANY, Action.CLOSE,
        "no second 129; whoever sends these ids has KIP-899 switched on",
    ),
    Rule(_NODE, _STALE, _HELLO, _STANDINGS, _ANY, Action.CLOSE, "its broker may be of the cluster that is gone"),
    Rule(
        _NODE, _STALE, _NOTIFIABLE, _BEHIND, _ANY, Action.NOTIFY,
        "the last words on a connection that ends anyway",
    ),
    Rule(
        _NODE, _STALE, _NOTIFIABLE, _STANDINGS - _BEHIND, _ANY, Action.CLOSE,
        "no second 129; one that was at the bootstrap listener already has fresh metadata",
    ),
    Rule(
        _RETIRED, _FRESH, _HELLO, _NOT_NOTIFIED, _ANY - _REFUSABLE, Action.SERVE,
        "its Metadata comes next, and can be answered by 129",
    ),
    Rule(
        _RETIRED, _FRESH, _HELLO, _NOT_NOTIFIED, _REFUSABLE, Action.REFUSE,
        "it cannot read 129; refused at once, its backoff grows and KIP-899 acts the sooner",
    ),
    Rule(
        _RETIRED, _FRESH, _NOTIFIABLE, _NOT_NOTIFIED, _ANY, Action.NOTIFY,
        "the node is gone; the body names those that are there",
    ),
    Rule(
        _RETIRED, _FRESH, TOPOLOGY, _NOTIFIED, _ANY, Action.REFUSE,
        "no second 129; a connection that is never ready lets the backoff grow",
    ),
    Rule(
        _RETIRED, _FRESH, _GROUP, _STANDINGS, _ANY, Action.REFUSE,
        "the node is gone, and coordinates nothing",
    ),
    Rule(
        _RETIRED, _STALE, _HELLO, _STANDINGS, _ANY, Action.REFUSE,
        "neither the node nor the connection's topology is there any more",
    ),
    Rule(
        _RETIRED, _STALE, _NOTIFIABLE, _BEHIND, _ANY, Action.NOTIFY,
        "the last words on a connection that ends anyway",
    ),
    Rule(
        _RETIRED, _STALE, _NOTIFIABLE, _STANDINGS - _BEHIND, _ANY, Action.REFUSE,
        "no second 129; one that was at the bootstrap listener already has fresh metadata",
    ),
    Rule(
        _PLACES, _STALE, _COORDINATOR, _STANDINGS, _ANY, Action.NOT_COORDINATOR,
        "nothing is committed at a cluster that is gone; the client finds its coordinator anew, and asks there",
    ),
    Rule(
        _PLACES, _STALE, _OFFSETS, _STANDINGS, _ANY, Action.CLOSE,
        "librdkafka asks no more where 16 is the answer, and asks again where there is none",
    ),
)
# fmt: on

_Case = tuple[Place, bool, Trigger, Standing, Capability]


def cases(rule: Rule) -> Iterator[_Case]:
    """Return every combination that the rule covers."""
    return product(rule.places, rule.stale, rule.triggers, rule.standings, rule.capabilities)


_DECIDED: Final[Mapping[_Case, Action]] = MappingProxyType(
    {case: rule.action for rule in RULES for case in cases(rule)}
)


def decide(place: Place, trigger: Trigger, capability: Capability, standing: Standing, stale: bool) -> Action:
    """Return what a client gets; `stale` when its connection was accepted in an earlier epoch."""
    return _DECIDED[place, stale, trigger, standing, capability]


def standing_after(place: Place, trigger: Trigger, standing: Standing, action: Action) -> Standing:
    """Return the client's standing after the action."""
    if action is Action.NOTIFY:
        return Standing.NOTIFIED
    served = action is Action.SERVE and place is Place.BOOTSTRAP and trigger is Trigger.METADATA
    return Standing.RECOVERED if served and standing not in (Standing.NOTIFIED, Standing.SHARED) else standing
