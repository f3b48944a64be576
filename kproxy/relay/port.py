"""Implements `kproxy.protocol.connections.Connections` over this process's pump.

Each process has one, which its `Relay` makes at start. The rebootstrap service, the admin API and the event stream call
it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import trio

from kproxy.observe.reasons import Reason
from kproxy.protocol.connections import ALL, ConnectionInfo, Selector

if TYPE_CHECKING:
    from kproxy.relay.connection import Connection
    from kproxy.relay.pump import Pump

_AT_A_TIME: Final = 100
"""The most connections that are ended before others are served."""
_LOOKS: Final = 20
"""How often a drain looks for connections left, within its patience."""


class RelayedConnections:
    """The connections of this process, as everything above the relay sees and steers them."""

    def __init__(self, pump: Pump) -> None:
        self._pump = pump

    def numbers(self, *, after: int = 0) -> Sequence[int]:
        """Return the ids above `after`, rising."""
        numbers = list(self._pump.connections)
        return numbers[bisect_right(numbers, after) :]

    def info(self, number: int) -> ConnectionInfo | None:
        """Return the connection of this id; None when it has ended."""
        connection = self._pump.connections.get(number)
        return None if connection is None else connection.info

    def infos(self, selector: Selector = ALL) -> Iterator[ConnectionInfo]:
        """Yield the connections by rising id; one that ends meanwhile is left out."""
        return (connection.info for connection in self._selected(selector) if not connection.closed)

    def nodes(self) -> Iterator[tuple[str, int | None]]:
        """Yield the virtual cluster and the node (None: the bootstrap listener) of each connection."""
        for connection in list(self._pump.connections.values()):
            yield connection.context.cluster.counters.name, connection.context.node_id

    def held_bytes(self) -> Iterator[tuple[str, int]]:
        """Yield each connection's virtual cluster, and the bytes held for its peers and for frames that must be whole.

        A connection that ends meanwhile may be left out.
        """
        for connection in list(self._pump.connections.values()):
            if not connection.closed:
                yield connection.context.cluster.counters.name, connection.held_bytes

    def close(self, selector: Selector, reason: Reason, detail: str = "") -> int:
        """Close the selected connections now; returns how many."""
        found = self._selected(selector)
        for connection in found:
            connection.close(reason, detail)
        return len(found)

    async def drain(self, selector: Selector, reason: Reason, patience: float) -> Sequence[ConnectionInfo]:
        """Have the selected connections answer what they received, take no more, and close.

        After `patience` seconds they are closed in any case. Returns what was known of each when it ended.
        """
        found = self._selected(selector)
        for number, connection in enumerate(found, 1):
            if not connection.closed:
                self._pump.drain_one(connection, reason)
            await _rest(number)
        with trio.move_on_after(patience):
            while any(not connection.closed for connection in found):  # noqa: ASYNC110 (they are the pump's)
                await trio.sleep(patience / _LOOKS)
        infos = []
        for number, connection in enumerate(found, 1):
            if not connection.closed:
                connection.close(reason, f"not answered within {patience:g} s")
            infos.append(connection.info)
            await _rest(number)
        return infos

    def use_stale_policies(self, selector: Selector) -> int:
        """Make the selected connections stale from now on: they get `ApiTable.stale`. Returns how many."""
        found = self._selected(selector)
        for connection in found:
            connection.outdate()
        return len(found)

    def _selected(self, selector: Selector) -> list[Connection]:
        connections = self._pump.connections
        if selector.ids is not None:
            found = [connections[number] for number in sorted(selector.ids) if number in connections]
        else:
            found = list(connections.values())
        return [connection for connection in found if _meant(connection, selector)]


def _meant(connection: Connection, selector: Selector) -> bool:
    context = connection.context
    if selector.cluster is not None and context.cluster.counters.name != selector.cluster:
        return False
    return selector.before_epoch is None or context.epoch < selector.before_epoch


async def _rest(number: int) -> None:
    if number % _AT_A_TIME == 0:
        await trio.lowlevel.checkpoint()
