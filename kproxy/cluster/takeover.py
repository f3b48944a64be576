# This module is pure (no I/O, no clock).
"""What would happen if an upstream took over: what kproxy knows of both clusters, compared.

`kproxy.cluster.rehearsal` asks the clusters, and `findings` compares. Operators see it by
`kproxy failover NAME --dry-run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SHOWN: Final = 5
"""Names in a finding; it says how many there are in all."""


class Weight(StrEnum):
    """What a finding means for a failover."""

    REFUSES = "refuses"
    """It is refused, unless it is forced."""
    WARNS = "warns"
    """Clients would notice."""
    NOTES = "notes"
    """It is good to know."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line about a failover."""

    weight: Weight
    about: str
    """What it is about: `cluster`, `nodes`, `topics`, `groups` or `clients`."""
    detail: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a cluster has said. `unknown` is by subject (`topics`, `groups`) why it has said nothing of that.

    `topics` are numbers of partitions by name, without internal topics. `offsets` are by group: how many partitions
    have a committed offset.
    """

    cluster_id: str | None
    topics: Mapping[str, int]
    offsets: Mapping[str, int]
    unknown: Mapping[str, str]


def findings(active: Asked, target: Asked, away: Mapping[int, str], unable: Sequence[str]) -> Iterator[Finding]:
    """Yield what there is to say, the gravest first.

    `away` are the target's nodes that cannot be connected to, with the reason; `unable` are clients that cannot follow.
    """
    if target.cluster_id is not None and target.cluster_id == active.cluster_id:
        yield Finding(Weight.WARNS, "cluster", f"both clusters have the id {target.cluster_id}: they may be the same")
    for node_id, why in away.items():
        yield Finding(Weight.WARNS, "nodes", f"node {node_id} cannot be connected to: {why}")
    yield from _topics(active, target)
    yield from _groups(active, target)
    if unable:
        yield Finding(Weight.WARNS, "clients", f"cannot follow and must be restarted: {some(unable)}")


def _topics(active: Asked, target: Asked) -> Iterator[Finding]:
    if unknown := _unknown("topics", active, target):
        yield unknown
        return
    missing = sorted(active.topics.keys() - target.topics.keys())
    if missing:
        yield Finding(Weight.WARNS, "topics", f"are not there: {some(missing)}")
    fewer = sorted(name for name, count in active.topics.items() if 0 < target.topics.get(name, 0) < count)
    if fewer:
        shown = (f"{name} ({target.topics[name]} of {active.topics[name]})" for name in fewer)
        yield Finding(Weight.WARNS, "topics", f"have fewer partitions there: {some(list(shown))}")


def _groups(active: Asked, target: Asked) -> Iterator[Finding]:
    if unknown := _unknown("groups", active, target):
        yield unknown
        return
    lacking = sorted(group for group, count in active.offsets.items() if count and not target.offsets.get(group))
    if lacking:
        detail = f"have no committed offsets there, so auto.offset.reset decides: {some(lacking)}"
        yield Finding(Weight.WARNS, "groups", detail)


def _unknown(about: str, *asked: Asked) -> Finding | None:
    reasons = [one.unknown[about] for one in asked if about in one.unknown]
    return Finding(Weight.NOTES, about, f"were not compared: {'; '.join(reasons)}") if reasons else None


def some(names: Sequence[str]) -> str:
    """Return the first names in one line, and how many more there are."""
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown}, and {len(names) - SHOWN} more"


def refused(problems: Iterable[str]) -> list[Finding]:
    """Return the findings for which a failover is refused."""
    return [Finding(Weight.REFUSES, "cluster", each) for each in problems]
