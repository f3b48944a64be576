# This module is pure (no I/O, no clock).
"""Find what a newly read configuration changes: which settings can be applied at once, and which take a restart.

`kproxy.app.reload` calls `changes` at each reload, before it applies anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel

from kproxy.config.address import HostPort
from kproxy.config.base import Path, dotted
from kproxy.config.cluster import VirtualCluster
from kproxy.config.models import Config
from kproxy.config.telemetry import QUOTAS
from kproxy.config.upstreams import Upstream

PROCESS_APPLIES: Final[frozenset[Path]] = frozenset({("topology",), ("drain",), ("reload",), ("log", "level")})
CLUSTER_APPLIES: Final[frozenset[Path]] = frozenset(
    {
        ("upstreams",),
        ("identity",),
        ("failover", "automatic"),
        ("failover", "after"),
        ("failover", "floor"),
        ("failover", "separate_producer_ids"),
        ("advertised_host",),
        ("tls",),
        ("proxy_protocol",),
        ("max_connections",),
        ("nodes",),
        ("groups",),
        ("telemetry", "admin"),
        ("telemetry", "interval"),
        ("telemetry", "subscriptions"),
        *(("telemetry", quota) for quota in QUOTAS),
    }
)


@dataclass(frozen=True, slots=True)
class Changes:
    """The dotted settings that differ, each in one of the three fields; false when nothing differs.

    `restart`: settings that take a restart, with their virtual cluster's name (`clusters.payments.listen`); a virtual
    cluster that is new or gone is listed by its name alone. `clusters`: by virtual cluster, its settings that can be
    applied (`nodes.ranges`; `upstreams` also for a change of `bootstrap_servers`). `process`: the other settings that
    can be applied.
    """

    restart: tuple[str, ...] = ()
    clusters: Mapping[str, frozenset[str]] = field(default_factory=dict)
    process: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.restart or self.clusters or self.process)


def changes(old: Config, new: Config) -> Changes:
    """Return what `new` changes. The order of virtual clusters does not count, nor how their backend is written."""
    applied, restart = _parted(_differing(old, new, "clusters"), PROCESS_APPLIES)
    before, after = ({cluster.name: cluster for cluster in config.clusters} for config in (old, new))
    restart += [f"clusters.{name}" for name in {**before, **after} if name not in before or name not in after]
    clusters: dict[str, frozenset[str]] = {}
    for name in (name for name in before if name in after):
        can, cannot = _parted(_of_cluster(before[name], after[name]), CLUSTER_APPLIES)
        if "groups" in can and not (before[name].groups and after[name].groups):
            can.remove("groups")  # connections keep the policies that they began with
            cannot.append("groups")
        restart += [f"clusters.{name}.{key}" for key in cannot]
        clusters |= {name: frozenset(can)} if can else {}
    return Changes(tuple(restart), clusters, frozenset(applied))


def _of_cluster(old: VirtualCluster, new: VirtualCluster) -> Iterator[Path]:
    yield from _differing(old, new, "bootstrap_servers", "upstreams", "upstream_tls")
    if _own(old) != _own(new):
        yield ("upstreams",)


def _own(cluster: VirtualCluster) -> tuple[Upstream, ...]:
    """Return the backends without what they have of the virtual cluster: its identity is a setting of its own."""
    return cluster.model_copy(update={"identity": None}).backends


def _differing(old: BaseModel, new: BaseModel, *without: str) -> Iterator[Path]:
    for name in type(old).model_fields:
        before, after = getattr(old, name), getattr(new, name)
        if name in without or before == after:
            continue
        if _is_group(before) and _is_group(after):
            yield from ((name, *path) for path in _differing(before, after))
        else:
            yield (name,)


def _is_group(value: object) -> bool:
    """Return True for a group of settings; an address counts as a plain value."""
    return isinstance(value, BaseModel) and not isinstance(value, HostPort)


def _parted(paths: Iterator[Path], applies: frozenset[Path]) -> tuple[list[str], list[str]]:
    """Return the paths within `applies`, and the others."""
    can: list[str] = []
    cannot: list[str] = []
    for path in paths:
        (can if any(path[: len(group)] == group for group in applies) else cannot).append(dotted(path))
    return can, cannot
