# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""Rewrites a Produce request on its way to a cluster that knows its producer by another id.

`policies` makes one for each Produce request of a transaction and, after a failover, for every one. The request flow
calls it while the request passes.
"""

from __future__ import annotations

from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.producers.producer_ids import ProducerIds
from kproxy.protocol.body_rewriter import BodyRewriter
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import request_body
from kproxy.wire.primitives import Buffer
from kproxy.wire.records import HEAD_BYTES, producer_of, with_producer
from kproxy.wire.skim import request_stream

_MAX_FIELDS: Final = 64 << 10
"""More bytes than the fields between two batches have: a topic's name is 32,767 at most, tags are few."""
_MIN_READ: Final = 256


class ProduceRewrite(BodyRewriter):
    """Rewrites one request as it passes, batch by batch; only a batch's head may be replaced.

    All batches of a request are of one producer: after one that keeps its id, the others are not read.
    """

    __slots__ = ("_batch", "_context", "_ids", "_left", "_walk")

    def __init__(self, context: Context, ids: ProducerIds, version: int, buf: Buffer, pos: int, size: int) -> None:
        """`pos` is the position just after the request's size. Its header must be complete."""
        walk = request_stream(ApiKey.PRODUCE, version)
        assert walk is not None, f"Produce v{version} has no walk"
        super().__init__(request_body(buf, pos, ApiKey.PRODUCE, version))
        self._walk = walk
        self._context = context
        self._ids = ids
        self._batch = 0  # size of the next batch, once it is known
        self._left = pos + size - self.body  # bytes of the request after what was walked, and after that batch

    def look(self, buf: Buffer, pos: int) -> tuple[int, int]:
        """Walk to the next batch."""
        if not self._batch:
            pos, needed = self._to_batch(buf, pos)
            if needed or self.over:
                return pos, needed
        wanted = min(self._batch, HEAD_BYTES)
        return pos, wanted if len(buf) - pos < wanted else 0

    def _to_batch(self, buf: Buffer, pos: int) -> tuple[int, int]:
        view = memoryview(buf)[pos : pos + self._left]
        at = self._walk.to_blob(view, 0)
        self._left -= at
        if self._walk.blob:
            self._batch = self._walk.blob
            self._left -= self._batch
            if self._left < 0:
                raise Fault(Reason.MALFORMED_REQUEST, "records reach beyond their request", ApiKey.PRODUCE)
        elif self._walk.at_end:
            self._end(0)
        else:
            unclear = len(view) - at
            if unclear >= min(self._left, _MAX_FIELDS):
                raise Fault(Reason.MALFORMED_REQUEST, "a Produce request whose records are not found", ApiKey.PRODUCE)
            return pos + at, min(self._left, max(_MIN_READ, 2 * unclear))
        return pos + at, 0

    def head(self, buf: Buffer, pos: int) -> bytes | None:
        """Return the head of the batch at `pos` with the producer id that the cluster knows; None to keep it."""
        size, self._batch = self._batch, 0
        self.passing = size
        self.over = not self._left
        if size < HEAD_BYTES:
            return None
        head = bytes(buf[pos : pos + HEAD_BYTES])
        producer_id, transactional = producer_of(head, size)
        if producer_id < 0:
            return None
        known = self._known(producer_id, transactional)
        if known == producer_id:
            self._end(size)
            return None
        self.passing = size - HEAD_BYTES
        return with_producer(head, size, known)

    def _known(self, producer_id: int, transactional: bool) -> int:
        if transactional:
            return self._ids.in_transaction(producer_id, self._context.cluster_id)
        known = self._ids.renumbered(producer_id)
        if known != producer_id:
            self._context.cluster.counters.batches_renumbered += 1
        return known

    def _end(self, batch: int) -> None:
        self.over = True
        self.passing = batch + self._left
