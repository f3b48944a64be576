# This module is pure.
"""The port strategy that a virtual cluster's settings mean. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproxy.routing.ports import AutomaticPorts, OffsetPorts, PortStrategy, Span

if TYPE_CHECKING:
    from kproxy.config import VirtualCluster


def port_strategy(settings: VirtualCluster, first_port: int, claimed: tuple[Span, ...]) -> PortStrategy:
    """`first_port` is the lowest port for nodes, `claimed` are ports that the configuration gives to others."""
    nodes = settings.nodes
    if nodes.strategy == "offset":
        return OffsetPorts(first_port, tuple((span.first, span.last) for span in nodes.ranges))
    return AutomaticPorts(first_port, claimed)
