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
from kproxy.config.events import EventTopic
from kproxy.config.models import Config
from kproxy.config.telemetry import QUOTAS
from kproxy.config.upstreams import Upstream

PROCESS_APPLIES: Final[frozenset[Path]] = frozenset(
    {("limits",), ("timeouts",), ("topology",), ("drain",), ("reload",), ("log", "level"), ("admin", "tls")}
)
CLUSTER_APPLIES: Final[frozenset[Path]] = frozenset(
    {
        ("listen",),
        ("upstreams",),
        ("identity",),
        ("failover", "automatic"),
        ("failover", "after"),
        ("failover", "floor"),
        ("failover", "standby_interval"),
        ("failover", "separate_producer_ids"),
        ("advertised_host",),
        ("tls",),
        ("authentication", "mechanisms"),
        ("authentication", "users_file"),
        ("authentication", "session_lifetime"),
        ("authentication", "oauthbearer"),
        ("authentication", "certificates"),
        ("proxy_protocol",),
        ("max_connections",),
        ("max_connections_per_principal",),
        ("nodes",),
        ("groups",),
        ("byte_rates",),
        ("faults", "rules"),
        ("telemetry", "admin"),
        ("telemetry", "interval"),
        ("telemetry", "subscriptions"),
        *(("telemetry", quota) for quota in QUOTAS),
    }
)


@dataclass(frozen=True, slots=True)
class Changes:
    """The dotted settings that differ, each in one of the fields; false when nothing differs.

    `restart`: settings that take a restart, with their virtual cluster's name (`clusters.payments.listen`). `added`
    and `removed` are names of virtual clusters. `clusters`: by virtual cluster, its settings that can be
    applied (`nodes.ranges`; `upstreams` also for a change of `bootstrap_servers`). `process`: the other settings that
    can be applied.
    """

    restart: tuple[str, ...] = ()
    clusters: Mapping[str, frozenset[str]] = field(default_factory=dict)
    process: frozenset[str] = frozenset()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.restart or self.clusters or self.process or self.added or self.removed)


def changes(old: Config, new: Config) -> Changes:
    """Return what `new` changes. The order of virtual clusters does not count, nor how their backend is written."""
    applied, restart = _parted(_differing(old, new, "clusters"), PROCESS_APPLIES)
    before, after = ({cluster.name: cluster for cluster in config.clusters} for config in (old, new))
    added = tuple(name for name in after if name not in before)
    removed = tuple(name for name in before if name not in after)
    restart += [f"clusters.{name}" for name in removed if _has_events(old, name)]
    clusters: dict[str, frozenset[str]] = {}
    for name in (name for name in before if name in after):
        can, cannot = _parted(_of_cluster(before[name], after[name]), CLUSTER_APPLIES)
        if "groups" in can and not (before[name].groups and after[name].groups):
            can.remove("groups")  # connections keep the policies that they began with
            cannot.append("groups")
        fixed = _fixed_by_names(before[name], after[name])
        cannot += [key for key in can if key in fixed]
        can = [key for key in can if key not in fixed]
        restart += [f"clusters.{name}.{key}" for key in cannot]
        clusters |= {name: frozenset(can)} if can else {}
    return Changes(tuple(restart), clusters, frozenset(applied), added, removed)


def _has_events(config: Config, name: str) -> bool:
    """Return True when a topic of the event stream is at this virtual cluster; without a name it is at the only one."""
    return any(
        isinstance(one, EventTopic) and not one.bootstrap_servers and one.cluster in (None, name)
        for one in config.events.destinations
    )


def _fixed_by_names(old: VirtualCluster, new: VirtualCluster) -> tuple[str, ...]:
    """Return the settings that say how clients bootstrap where the port of `listen` is shared by name."""
    return ("nodes.strategy", "advertised_host") if "sni" in (old.nodes.strategy, new.nodes.strategy) else ()


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
