"""How often a virtual cluster's clients were moved, and to which upstream clusters: what producer ids depend on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

import structlog
from pydantic import TypeAdapter, ValidationError

from kproxy.app.keeping import keep
from kproxy.relay.producer_ids import ProducerIds

if TYPE_CHECKING:
    import trio

    from kproxy.state.interface import Store

STAYS: Final = "stays"
"""The table of `Stay` as JSON, by virtual cluster."""

log = structlog.get_logger("kproxy.cluster")


@dataclass(frozen=True, slots=True)
class Stay:
    """The time from one move to another Kafka cluster to the next: `moves` before it, `upstream` is where clients are.

    `returned` when they had been there before. `visited` are all upstreams where they were.
    """

    moves: int
    upstream: str
    returned: bool
    visited: tuple[str, ...]

    def next(self, upstream: str) -> Stay:
        """The stay after a move."""
        returned = upstream in self.visited
        return Stay(self.moves + 1, upstream, returned, self.visited if returned else (*self.visited, upstream))


_KEPT: Final = TypeAdapter(Stay)


class Stays:
    """Of one virtual cluster, whose clients are at that upstream first.

    Without a `state.path` a restart begins to count anew. No record is lost by that, but a broker may refuse a producer
    that comes back to it (OUT_OF_ORDER_SEQUENCE_NUMBER).
    """

    def __init__(self, cluster: str, upstream: str) -> None:
        self._cluster = cluster
        self._stay = self._first(upstream)

    async def remember(self, store: Store, upstream: str) -> None:
        """Go on as before a restart, at what is the active upstream now; raises `StateError`."""
        kept = await store.get(STAYS, self._cluster)
        before = self._first(upstream) if kept is None else self._read(kept) or self._first(upstream)
        self._stay = before if before.upstream == upstream else before.next(upstream)

    @staticmethod
    def _first(upstream: str) -> Stay:
        return Stay(0, upstream, returned=False, visited=(upstream,))

    def _read(self, kept: bytes) -> Stay | None:
        try:
            return _KEPT.validate_json(kept)
        except ValidationError:  # of another version of kproxy
            log.error("stays are counted anew: what was kept cannot be read", cluster=self._cluster)
            return None

    def move(self, upstream: str, store: Store, work: trio.Nursery) -> None:
        """Clients are at another Kafka cluster from now on."""
        self._stay = self._stay.next(upstream)
        work.start_soon(keep, store, STAYS, self._cluster, json.dumps(asdict(self._stay)).encode())

    @property
    def producer_ids(self) -> ProducerIds:
        """How ids are kept apart in this stay."""
        return ProducerIds(self._stay.upstream, self._stay.moves, self._stay.returned)
