"""The state of a run, from which screen, summary, plot and JSON are made.

`Play` makes one for each run, and adds each sample of the clients and each answer of kproxy's admin port.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kproxy.demo.pace import Pace
from kproxy.demo.scrape import Scrape, in_proxy_quantile

SHORTEST: Final = 0.2
"""The shortest interval in seconds to measure: rates over less are noise."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The rates and latencies between two samples. `at` is in seconds; None means that there was nothing to measure."""

    at: float
    produced_per_s: float
    consumed_per_s: float
    p50_ms: float | None
    p99_ms: float | None
    in_kproxy_p50_ms: float | None
    in_kproxy_p99_ms: float | None
    requests_per_s: float
    cpu_percent: float
    rss_mb: float
    connections: int


@dataclass(frozen=True, slots=True)
class Node:
    """A broker: `told` is its advertised address, `own` its real one; `connections` counts its client connections."""

    node_id: int
    told: str
    own: str
    connections: int


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation of the group that kproxy hosts, when it was first seen stable; `held` has partitions by member."""

    at: float
    number: int
    held: Mapping[str, Sequence[int]]


@dataclass(slots=True)
class Board:
    """The state of a run. `told` has the nodes' addresses as the clients see them; `verdict` is set after the load."""

    backend: str
    bootstrap: str
    admin: str
    own: Mapping[int, str]
    pace: Pace
    nodes: Sequence[Node] = ()
    told: Mapping[int, str] = field(default_factory=dict)
    members: dict[str, Sequence[int]] = field(default_factory=dict)
    moments: list[Moment] = field(default_factory=list)
    at: float = 0.0
    connections: int = 0
    acknowledged: int = 0
    received: int = 0
    in_kproxy_ms: tuple[float | None, float | None] = (None, None)
    first: Scrape | None = None
    last: Scrape | None = None
    verdict: Mapping[str, Any] | None = None
    group: str | None = None
    """The state and generation of the group that kproxy hosts; None without one."""
    generations: list[Generation] = field(default_factory=list)

    def begin(self, scrape: Scrape) -> None:
        """Note the begin of the load; what kproxy did before does not count."""
        self.first = self.last = scrape

    def see_connections(self, nodes: Sequence[Mapping[str, Any]], connections: Sequence[Mapping[str, Any]]) -> None:
        """Take over the current answers of /api/v1/clusters and /api/v1/connections."""
        self.connections = len(connections)
        held = [connection["node"] for connection in connections]
        self.nodes = [
            Node(node["node_id"], node["advertised"], node["upstream"], held.count(node["node_id"])) for node in nodes
        ]

    def see_group(self, group: Mapping[str, Any], members: Sequence[Mapping[str, Any]]) -> None:
        """Take over the current state of the hosted group."""
        self.group = f"{group['state']}, generation {group['generation']}"
        known = self.generations[-1].number if self.generations else None
        if group["state"] != "Stable" or group["generation"] == known:
            return
        held = {one["client_id"]: [number for some in one["assignment"].values() for number in some] for one in members}
        self.generations.append(Generation(self.at, group["generation"], held))

    def see_sample(self, sample: Mapping[str, Any], scrape: Scrape) -> None:
        """Add a sample of the workload, with a scrape of /metrics from the same time."""
        assert self.first is not None, "begin comes first"
        assert self.last is not None, "begin comes first"
        received = sum(sample["received"])
        elapsed = sample["at"] - self.at
        if elapsed < SHORTEST:
            return
        self.moments.append(self._moment(sample, received, scrape, self.last, elapsed))
        self.in_kproxy_ms = _ms(scrape, self.first)
        self.at, self.acknowledged, self.received, self.last = sample["at"], sample["acknowledged"], received, scrape

    def _moment(
        self, sample: Mapping[str, Any], received: int, scrape: Scrape, before: Scrape, elapsed: float
    ) -> Moment:
        p50, p99 = _ms(scrape, before)
        return Moment(
            at=sample["at"],
            produced_per_s=(sample["acknowledged"] - self.acknowledged) / elapsed,
            consumed_per_s=(received - self.received) / elapsed,
            p50_ms=sample["p50_ms"],
            p99_ms=sample["p99_ms"],
            in_kproxy_p50_ms=p50,
            in_kproxy_p99_ms=p99,
            requests_per_s=(sum(scrape.requests.values()) - sum(before.requests.values())) / elapsed,
            cpu_percent=(scrape.cpu_seconds - before.cpu_seconds) / elapsed * 100,
            rss_mb=scrape.rss_bytes / 1e6,
            connections=self.connections,
        )


def _ms(scrape: Scrape, before: Scrape) -> tuple[float | None, float | None]:
    seconds = (in_proxy_quantile(scrape, before, fraction) for fraction in (0.5, 0.99))
    p50, p99 = (None if value is None else value * 1000 for value in seconds)
    return p50, p99
