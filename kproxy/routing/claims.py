# This module is pure.
"""Which ports a virtual cluster must leave to others, because the configuration gives them away. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kproxy.config.ports import same_interface
from kproxy.routing.ports import MAX_PORT, Span

if TYPE_CHECKING:
    from kproxy.config import Config
    from kproxy.config.ports import Claim


def claimed_by_others(config: Config, index: int) -> tuple[Span, ...]:
    """The ports on the interface of virtual cluster `index` that are not for its nodes."""
    return tuple(sorted(_others(config, index)))


def _others(config: Config, index: int) -> Iterator[Span]:
    cluster = config.clusters[index]
    for claim in config.claims():
        own = claim.path == ("clusters", index, "nodes", "first_port")
        if claim.first and not own and same_interface(claim.host, cluster.listen.host):
            last = _last(config, claim)
            if last >= cluster.first_port:
                yield claim.first, last


def _last(config: Config, claim: Claim) -> int:
    """The last port that must be left to a claim: all above for port = first_port + node id, which has no choice."""
    if claim.last is not None:
        return claim.last
    other = config.clusters[int(claim.path[1])]
    return MAX_PORT if other.nodes.strategy == "offset" else claim.first
