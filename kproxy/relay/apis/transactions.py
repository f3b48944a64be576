"""A transactional producer's requests to its coordinator: behind several upstream clusters their producer ids change.

AddPartitionsToTxn (24), AddOffsetsToTxn (25), EndTxn (26) and TxnOffsetCommit (28). The cluster that issued the id gets
it as its broker knows it; another one gets the client's, which it refuses: see `producer_ids`. An EndTxn response names
the id that the next transaction is written under (KIP-890), which has its cluster in it again.

The id is changed in place: it stands behind one name or two.

Version notes: v3 of all four is flexible; AddPartitionsToTxn v4 and v5 are between brokers (KIP-890), and pass; EndTxn
v5 has an id in its response.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from kproxy.relay.apis import coordinators
from kproxy.relay.apis.reading import well_formed
from kproxy.relay.apis.topics import behind
from kproxy.relay.context import Context
from kproxy.relay.producer_ids import ProducerIds
from kproxy.relay.routes import Chunk, Forward, Offer, OnRequest, OnResponse, Respond, Route
from kproxy.wire.frame import frame as framed
from kproxy.wire.header import decode_request_header, decode_response_header
from kproxy.wire.primitives import INT64, Buffer, int16_at, int64_at

ADD_PARTITIONS, ADD_OFFSETS, END_TXN, OFFSET_COMMIT = 24, 25, 26, 28
NAMES: Final = {ADD_PARTITIONS: 1, ADD_OFFSETS: 1, END_TXN: 1, OFFSET_COMMIT: 2}
"""Strings before the producer's id, by api key."""
FIRST_BETWEEN_BROKERS: Final = 4
FIRST_NAMING_THE_NEXT: Final = 5
_FIRST_FLEXIBLE: Final = 3
_THROTTLE_AND_ERROR: Final = 6
_HELD: Final = 1 << 20
"""More than 20,000 partitions."""
_put: Final = INT64.pack_into


def offers(ids: ProducerIds) -> Mapping[int, Offer]:
    """What becomes of them during a stay, by api key."""
    asked = Offer(on_request=OnRequest.WHOLE, request=partial(ask, ids), request_limit=_HELD)
    ended = replace(
        asked, on_response=OnResponse.WHOLE, response=partial(rename, ids), response_from=FIRST_NAMING_THE_NEXT
    )
    committed = coordinators.OFFERS[OFFSET_COMMIT]
    return {
        ADD_PARTITIONS: asked,
        ADD_OFFSETS: asked,
        END_TXN: ended,
        OFFSET_COMMIT: replace(asked, stale=committed.stale),
    }


def ask(ids: ProducerIds, context: Context, frame: memoryview) -> Forward:
    """Send the request on under the id that the broker knows."""
    header, body = decode_request_header(frame, 0, len(frame))
    key, version = header.api_key, header.api_version
    if key == ADD_PARTITIONS and version >= FIRST_BETWEEN_BROKERS:
        return Forward(framed(frame))
    changed = bytearray(frame)
    with well_formed("a transaction's request"):
        place = _behind_names(frame, body, NAMES[key], flexible=version >= _FIRST_FLEXIBLE)
        _put(changed, place, context.known_producer(ids, int64_at(frame, place)[0], key))
    return Forward(framed(changed))


def _behind_names(frame: Buffer, pos: int, count: int, *, flexible: bool) -> int:
    for _ in range(count):
        pos = behind(frame, pos) if flexible else pos + 2 + max(int16_at(frame, pos)[0], 0)
    return pos


def rename(ids: ProducerIds, route: Route) -> Respond:
    """Put the cluster into the id that the broker names for the next transaction."""

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk]:
        _, body = decode_response_header(frame, 0, len(frame), END_TXN, route.version)
        changed = bytearray(frame)
        place = body + _THROTTLE_AND_ERROR
        with well_formed("EndTxn response"):
            code = int16_at(frame, place - 2)[0]
            _put(changed, place, ids.issued(int64_at(frame, place)[0], context.home))
        if code:
            route.counters.count_error(code)
        return [bytes(changed)]

    return respond
