"""Checks where a configuration leads: polls every upstream cluster once, and finds the nodes without a port.

Runs for `kproxy config check --connect` only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import trio

from kproxy.cluster.security import broker_context
from kproxy.cluster.upstreams import Upstream
from kproxy.errors import UpstreamError
from kproxy.routing.ports import PortStrategy, claimed_by_others, port_strategy, unmapped

if TYPE_CHECKING:
    from kproxy.config import Config
    from kproxy.config.upstreams import Upstream as Settings
    from kproxy.topology.snapshot import Change, Snapshot


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found at one upstream of a virtual cluster: its nodes' ids, and its problems in readable lines."""

    cluster: str
    upstream: str
    nodes: Sequence[int] = ()
    problems: Sequence[str] = ()


async def findings(config: Config) -> Sequence[Finding]:
    """Ask all upstreams at once, for 10 s at most, and change nothing. Findings have the configuration's order."""
    asked = [(index, backend) for index, cluster in enumerate(config.clusters) for backend in cluster.backends]
    found: dict[int, Finding] = {}

    async def ask(number: int) -> None:
        found[number] = await _finding(config, *asked[number])

    async with trio.open_nursery() as nursery:
        for number in range(len(asked)):
            nursery.start_soon(ask, number)
    return [found[number] for number in range(len(asked))]


async def _finding(config: Config, index: int, backend: Settings) -> Finding:
    settings = config.clusters[index]
    cluster, tls = settings.name, broker_context(settings, backend)
    upstream = Upstream(backend, config, cluster, tls, _is_not_followed, _is_not_probed)
    try:
        snapshot = await upstream.look()
    except UpstreamError as error:
        return Finding(cluster, upstream.name, problems=[str(error)])
    nodes = list(snapshot.nodes)
    problems = [str(problem) for problem in unmapped(_ports(config, index), nodes)]
    return Finding(cluster, upstream.name, nodes, problems)


def _ports(config: Config, index: int) -> PortStrategy:
    cluster = config.clusters[index]
    return port_strategy(cluster, cluster.first_port, claimed_by_others(config, index))


def _is_not_followed(snapshot: Snapshot, change: Change) -> NoReturn:
    raise AssertionError(f"a cluster that is looked at once has changed: {snapshot} {change}")


def _is_not_probed(node_id: int, ok: bool, error: str | None) -> NoReturn:
    raise AssertionError(f"node {node_id} of a cluster that is looked at once was probed: {ok} {error}")
