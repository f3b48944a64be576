# This module is pure (no I/O, no clock).
"""Choose by the settings how nodes get their places: ports by id (offset), free ports (automatic), or names (sni).

kproxy.cluster.listeners asks for it when kproxy starts, and at a reload; `kproxy config check --connect`, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kproxy.observe.reasons import Reason
from kproxy.routing.names import NodeNames
from kproxy.routing.places import NodePlaces, NoPortError, Place
from kproxy.routing.ports import AutomaticPorts, OffsetPorts, Span

if TYPE_CHECKING:
    from kproxy.config import VirtualCluster


def strategy_of(settings: VirtualCluster, port: int, claimed: tuple[Span, ...]) -> NodePlaces:
    """Return the strategy that the settings name.

    `port` is that of `listen`, the bound one where there is one already. Other settings of the configuration use the
    ports in `claimed`.
    """
    nodes, host = settings.nodes, settings.advertised_host
    if nodes.names is not None:
        return NodeNames(nodes.names, nodes.advertised_port or port)
    first = nodes.first_port if nodes.first_port is not None else port and port + 1
    shift = 0 if nodes.advertised_first_port is None else nodes.advertised_first_port - first
    if nodes.strategy == "offset":
        return OffsetPorts(first, tuple((span.first, span.last) for span in nodes.ranges), host=host, shift=shift)
    return AutomaticPorts(first, claimed, host=host, shift=shift)


def unmapped(places: NodePlaces, node_ids: Iterable[int]) -> Iterator[NoPortError]:
    """Yield an error for each node that would have no place even if all its possible ones were free."""
    given: set[Place] = set()
    for node_id in node_ids:
        try:
            place = next((place for place in places.candidates(node_id) if place not in given), None)
        except NoPortError as error:
            yield error
            continue
        if place is None:
            yield NoPortError(Reason.NO_FREE_PORT, places.exhausted(node_id))
        elif place:
            given.add(place)
