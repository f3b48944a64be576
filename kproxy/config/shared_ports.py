"""Finds what virtual clusters that share one port by name (SNI) must not have in common, and what they must.

The root of the settings calls it whenever a configuration is loaded: when kproxy starts, and at each reload.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from kproxy.config.base import Path
from kproxy.config.server_names import ServerNames

if TYPE_CHECKING:
    from kproxy.config.cluster import VirtualCluster


def shared_port_problems(clusters: Sequence[VirtualCluster]) -> Iterator[tuple[Path, str]]:
    """Yield path and reason of each setting that an earlier virtual cluster at the same port rules out."""
    for (first, one), (second, other) in combinations(enumerate(clusters), 2):
        earlier, later = one.server_names, other.server_names
        if earlier is None or later is None or not one.listen.port or one.listen != other.listen:
            continue
        where, key = f"clusters.{first}", ("clusters", second)
        yield from (((*key, *path), why) for path, why in _same_names(earlier, later, where))
        if one.proxy_protocol != other.proxy_protocol:
            why = f"must be as that of {where}, which shares the port: the header comes before the name"
            yield (*key, "proxy_protocol"), why


def _same_names(earlier: ServerNames, later: ServerNames, where: str) -> Iterator[tuple[Path, str]]:
    if later.bootstrap == earlier.bootstrap:
        yield ("advertised_host",), f"{later.bootstrap} is also that of {where}, which shares the port"
    if (node_id := earlier.nodes.node_id(later.bootstrap)) is not None:
        yield ("advertised_host",), f"{later.bootstrap} is also the name of node {node_id} by {where}.nodes.pattern"
    if later.nodes.node_id(earlier.bootstrap) is not None:
        yield ("nodes", "pattern"), f"makes {earlier.bootstrap}, which is {where}.advertised_host"
    if (both := later.nodes.shared_with(earlier.nodes)) is not None:
        yield ("nodes", "pattern"), f"makes {both}, as {where}.nodes.pattern does"
