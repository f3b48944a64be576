# This module is pure (no I/O, no clock).
"""The api policies that note what requests about transactions ask for, and what brokers answer. They change nothing.

Every virtual cluster has them. `kproxy.cluster.policies` composes them with those of other rooms: `requests` behind all
that change a request, `responses` in front of all that change a response. So both have ids and epochs as brokers know
them, and a request that kproxy answers itself is not seen.

InitProducerId (22), AddPartitionsToTxn (24), AddOffsetsToTxn (25), EndTxn (26) and TxnOffsetCommit (28) are held until
they are whole: they are small. Of Produce (0) only requests with a transactional id are looked at, up to the first
batch; their bodies pass as ever. All others do not reach this room: the relay knows them by the look at their acks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from struct import Struct
from typing import Final

from kproxy.errors import MalformedMessageError
from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.transactions.messages import Answered, Asked, answered, asked, produced
from kproxy.transactions.transactional_id import UNKNOWN, Client, kept
from kproxy.transactions.transactional_ids import TransactionalIds
from kproxy.wire.error_walk import error_walk
from kproxy.wire.generated.api_keys import ApiKey

Clock = Callable[[], float]
"""Gives seconds since the Unix epoch."""
_HELD: Final = 8 << 20
"""Bytes of a request that is held: more than 100,000 partitions. Without this room a request passes, however large."""
_IN_FLIGHT: Final = 1000
"""As `kproxy.relay.in_flight`: more do not wait for a response. Produce with acks=0 never gets one."""
_HEAD: Final = Struct(">hhi")
_ID: Final = Struct(">i")
_WHOLE: Final = (
    ApiKey.INIT_PRODUCER_ID,
    ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.ADD_OFFSETS_TO_TXN,
    ApiKey.END_TXN,
    ApiKey.TXN_OFFSET_COMMIT,
)


class Unanswered:
    """A connection's requests about transactions that wait for their response, with their correlation ids."""

    __slots__ = ("client", "requests")

    def __init__(self) -> None:
        self.client: Client | None = None
        """Whose connection it is; None before the first response."""
        self.requests: deque[tuple[int, Asked]] = deque(maxlen=_IN_FLIGHT)

    def note(self, correlation_id: int, found: Asked) -> Asked:
        """Keep a request, and return what is kept of it: ids may be long, and a thousand requests wait."""
        group = None if found.group is None else kept(found.group)
        found = found._replace(transactional_id=kept(found.transactional_id), group=group)
        self.requests.append((correlation_id, found))
        return found

    def take(self, correlation_id: int) -> Asked | None:
        """Return the request of this response, and drop those before it, which got another one from kproxy."""
        if all(number != correlation_id for number, _ in self.requests):
            return None
        number, found = self.requests.popleft()
        while number != correlation_id:
            number, found = self.requests.popleft()
        return found


def requests(ids: TransactionalIds) -> Mapping[int, ApiPolicy]:
    """Return the policies for requests, by api key."""
    held = ApiPolicy(on_request=OnRequest.WHOLE, request=partial(_note, ids), request_limit=_HELD)
    return {ApiKey.PRODUCE: ApiPolicy(in_transaction=ApiPolicy(notice=_note_produce)), **dict.fromkeys(_WHOLE, held)}


def responses(ids: TransactionalIds, clock: Clock) -> Mapping[int, ApiPolicy]:
    """Return the policies for responses, by api key."""
    seen = ApiPolicy(on_response=OnResponse.WHOLE, response=partial(_answers, ids, clock))
    return {ApiKey.PRODUCE: ApiPolicy(in_transaction=seen), **dict.fromkeys(_WHOLE, seen)}


def _note(ids: TransactionalIds, context: Context, frame: memoryview) -> None:
    key, version, correlation_id = _HEAD.unpack_from(frame)
    try:
        found = asked(frame, key, version)
    except MalformedMessageError:
        return  # the broker says so
    if found is None:
        return
    found = context.state(Unanswered).note(correlation_id, found)
    if key == ApiKey.END_TXN:
        ids.ending(found.transactional_id, found.producer, commits=found.commits)


def _note_produce(context: Context, buf: Chunk, pos: int, end: int) -> None:
    _, _, correlation_id = _HEAD.unpack_from(buf, pos)
    try:
        found = produced(buf, pos, end)
    except MalformedMessageError:
        return  # as above
    context.state(Unanswered).note(correlation_id, found)


def _answers(ids: TransactionalIds, clock: Clock, route: Route) -> Respond:
    """Return a handler that notes the response to each request that was noted."""
    key, version, walk = route.api_key, route.version, error_walk(route.api_key, route.version)
    assert walk is not None, f"api {key} v{version} has no error codes"

    def respond(context: Context, frame: memoryview) -> None:
        unanswered = context.find(Unanswered)
        found = None if unanswered is None else unanswered.take(_ID.unpack_from(frame)[0])
        if unanswered is None or found is None:
            return
        try:
            answer = answered(frame, key, version, walk)
        except MalformedMessageError:
            return
        if answer is not None:
            unanswered.client = client = _client(context, unanswered.client)
            _apply(ids, found, client, clock(), answer)

    return respond


def _client(context: Context, known: Client | None) -> Client:
    """Return whose connection it is; the same object while nothing changes, since thousands of ids keep one."""
    if known is not None and (known.client_id, known.software, known.principal) == (
        context.client_id,
        context.software,
        context.principal,
    ):
        return known
    return Client(context.client_id, context.host, context.software, context.principal)


def _apply(ids: TransactionalIds, request: Asked, client: Client, now: float, answer: Answered) -> None:
    name, producer, key = request.transactional_id, request.producer, request.api_key
    if answer.accepted > 0:
        if key == ApiKey.INIT_PRODUCER_ID:
            ids.initialized(name, client, now, answer.producer, request.timeout)
        elif key == ApiKey.END_TXN:
            following = None if answer.producer == UNKNOWN else answer.producer
            ids.ended(name, client, now, producer, commits=request.commits, following=following)
        else:
            added = answer.accepted if key == ApiKey.ADD_PARTITIONS_TO_TXN else None
            ids.took_part(name, client, now, producer, partitions=added, group=request.group)
    if answer.code:
        ids.failed(name, client, now, producer, key, answer.code)
