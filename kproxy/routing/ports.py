"""Which port a node gets: by its id alone (offset), or the next free one (automatic). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kproxy.errors import ErrorClass, KproxyError
from kproxy.observe.reasons import Reason

MAX_PORT: Final = 65535


class NoPortError(KproxyError):
    """A node for which there is no port: the configuration does not foresee it, or none is free."""

    error_class = ErrorClass.INVALID_CONFIGURATION

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class OffsetPorts:
    """`first_port` + the node's place among the ranges (first and last id, inclusive), or + its id without ranges.

    A pure function of the configuration, so that every replica answers alike.
    """

    first_port: int
    ranges: Sequence[tuple[int, int]] = ()

    def candidates(self, node_id: int) -> Sequence[int]:
        """The one port that the node has; raises `NoPortError` when it has none."""
        port = self.first_port + self._place(node_id)
        if port > MAX_PORT:
            raise NoPortError(Reason.UNMAPPED_NODE, f"node {node_id} would get port {port}: give nodes.ranges")
        return (port,)

    def _place(self, node_id: int) -> int:
        if not self.ranges:
            return node_id
        before = 0
        for first, last in self.ranges:
            if first <= node_id <= last:
                return before + node_id - first
            before += last - first + 1
        raise NoPortError(Reason.UNMAPPED_NODE, f"node {node_id} is in none of nodes.ranges")

    def known(self) -> Sequence[int]:
        """The nodes whose ports are known before any broker was asked."""
        return [node_id for first, last in self.ranges for node_id in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class AutomaticPorts:
    """The next port from `first_port` on that can be bound, in the order in which nodes are seen; 0: any free one."""

    first_port: int

    def candidates(self, node_id: int) -> Sequence[int]:
        """The ports to try, in order; a port that is taken is passed over."""
        del node_id
        return range(self.first_port, MAX_PORT + 1) if self.first_port else (0,)

    def known(self) -> Sequence[int]:
        """None: nodes are seen before they have ports."""
        return ()


PortStrategy = OffsetPorts | AutomaticPorts
