# This module is pure (no I/O, no clock).
"""Metadata (3): from v13 on, its response notifies clients that they must rebootstrap (KIP-1102).

Runs for every Metadata response and for every request from v13 on; with `retired`, at the listener of a node that is
gone, for every request.

A request is held from v13 on, while kproxy decides what its client gets. When the client is to be notified, the request
is the last of its connection, and the broker's own response carries 129. The rest of that response is true, for clients
that read only the rest. The Java admin client's `listTopics` does, and kafka-python, whose consumer stops for good when
it leads a group and its topic has no partition.

On a stale connection the broker is of an earlier topology. There kproxy answers a request that names topics at once, by
129 and the present nodes. A request for all topics ends the connection, and its client is notified on the next one. A
response that arrives on a stale connection describes the earlier topology, so no client gets it.

kproxy advertises v13 for brokers that serve v12: the request is the same, and kproxy adds the missing error code to the
response. `topics` says where it goes, and why that is safe.

A client that would take another cluster's lower leader epochs for outdated gets none. One that would take its topics
for others by their ids gets no ids either, unless it asks by them: see `leader_epochs`.

Version notes: v7 adds leader epochs (KIP-320); v9 is the first flexible one; v12 asks by topic id (KIP-516); v13 adds a
top-level error code (KIP-1102).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from struct import Struct
from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.composition import LastWord
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Answer, Forward
from kproxy.protocol.reading import compact_string, text, well_formed
from kproxy.rebootstrap.actions import Trigger
from kproxy.rebootstrap.answers import Rebootstrap, metadata, sends_away
from kproxy.rebootstrap.client_capabilities import NEWEST_METADATA
from kproxy.rebootstrap.leader_epochs import FIRST_LEADER_EPOCH, forget
from kproxy.rebootstrap.topics import answered, asked, asks_by_id, error_code_at
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.header import decode_request_header, decode_response_header
from kproxy.wire.primitives import frame as framed
from kproxy.wire.primitives import int16_at
from kproxy.wire.skim import response_skim

_REQUEST_LIMIT: Final = 8 << 20
"""More than 30,000 topics of the longest names."""
_FIRST_FLEXIBLE: Final = 9
_VERSION_AND_ID: Final = Struct(">2xhi")
_UPSTREAM_HEAD: Final = Struct(">hh").pack(ApiKey.METADATA, NEWEST_METADATA - 1)
_HEAD_BYTES: Final = len(_UPSTREAM_HEAD)
_CODE: Final = Struct(">h")
_NO_TAGS: Final = b"\0"
_RESPONSE: Final = "Metadata response"


class MetadataState:
    """What this room keeps about a connection."""

    __slots__ = ("by_topic_id", "has_code", "lacks_code", "notified")

    def __init__(self) -> None:
        self.has_code = False
        """True when the broker has said on this connection that it serves Metadata v13."""
        self.lacks_code = False
        """True when the broker is asked by v12 in place of v13, which kproxy advertises for it."""
        self.notified: int | None = None
        """The correlation id of the request to be answered with 129 in the broker's response."""
        self.by_topic_id: set[int] = set()
        """Correlation ids of requests that ask by topic id, from a client that gets no ids otherwise."""


def ask(rebootstrap: Rebootstrap, context: Context, frame: memoryview) -> Forward | Answer | None:
    """Return how to send the request on, or the answer that notifies its client; None to send it unchanged.

    Raises `Fault` when the connection must end.
    """
    version, correlation_id = _VERSION_AND_ID.unpack_from(frame)
    if version < NEWEST_METADATA:  # held only at a retired node's listener
        context.cluster.counters.refuse(ApiKey.METADATA, Reason.RETIRED_NODE)
        raise Fault(
            Reason.RETIRED_NODE, f"Metadata v{version} cannot say that node {context.node_id} is gone", ApiKey.METADATA
        )
    context.metadata_version = max(context.metadata_version, version)
    topics = _asked(frame) if context.stale else None
    if context.stale and topics is None:
        raise Fault(
            Reason.REBOOTSTRAP, "all topics are asked for, or thousands, and the topology has changed", ApiKey.METADATA
        )
    if rebootstrap.hides_topic_ids(context) and _by_id(frame):
        context.state(MetadataState).by_topic_id.add(correlation_id)
    _choose_version(context)
    if not sends_away(rebootstrap, context, Trigger.METADATA):
        return Forward(_upstream(frame)) if _lacks_code(context) else None
    if topics is not None:
        return Answer(framed(frame[4:8], _NO_TAGS, metadata(context, topics)), last=Reason.REBOOTSTRAP)
    context.state(MetadataState).notified = correlation_id
    return Forward(_upstream(frame) if _lacks_code(context) else framed(frame), last=Reason.REBOOTSTRAP)


def _asked(frame: memoryview) -> Sequence[bytes] | None:
    _, body = decode_request_header(frame, 0, len(frame))
    with well_formed("Metadata request"):
        return asked(frame, body)


def _by_id(frame: memoryview) -> bool:
    _, body = decode_request_header(frame, 0, len(frame))
    with well_formed("Metadata request"):
        return asks_by_id(frame, body)


def _upstream(frame: memoryview) -> bytes:
    """Return the request as v12; its body is the same in both versions."""
    return framed(_UPSTREAM_HEAD, frame[_HEAD_BYTES:])


def _choose_version(context: Context) -> None:
    """Have a broker asked by v12 that is not known to serve v13: franz-go asks one connection of many for versions.

    Whoever serves v13 serves v12 as well.
    """
    state = context.state(MetadataState)
    state.lacks_code = state.lacks_code or not state.has_code


def _lacks_code(context: Context) -> bool:
    state = context.find(MetadataState)
    return state is not None and state.lacks_code


def change(rebootstrap: Rebootstrap, route: Route) -> Respond:
    """Return the rewriter of responses: of their error code, leader epochs and topic ids."""
    version = route.version

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        context.metadata_version = max(context.metadata_version, version)
        if context.stale:
            return outdated(rebootstrap, context, frame) if version >= NEWEST_METADATA else _too_late()
        return _changed(rebootstrap, context, frame, version)

    return respond


def _too_late() -> Sequence[Chunk]:
    raise Fault(Reason.REBOOTSTRAP, "the topology changed before the broker answered", ApiKey.METADATA)


def _changed(rebootstrap: Rebootstrap, context: Context, frame: memoryview, version: int) -> Sequence[Chunk] | None:
    state = context.find(MetadataState)
    by_id = _asked_by_id(context, frame)
    notified = state is not None and state.notified == _correlation_id(frame)
    has_code = version >= NEWEST_METADATA and state is not None and (state.lacks_code or notified)
    hides = version >= FIRST_LEADER_EPOCH and rebootstrap.hides_topic_ids(context)
    keeps = version >= FIRST_LEADER_EPOCH and rebootstrap.keeps_leader_epochs(context)
    if not (has_code or hides or keeps):
        return None
    behind_brokers = _behind_brokers(frame, version)
    rest: bytearray | None = None
    if hides or (keeps and rebootstrap.forgets_leader_epochs(context, _cluster_id(frame, behind_brokers, version))):
        topic_ids = hides and not by_id
        rest = bytearray(frame[behind_brokers:])
        with well_formed(_RESPONSE):
            forget(rest, 0, version, topic_ids=topic_ids)
    if not has_code:
        return None if rest is None else [frame[:behind_brokers], bytes(rest)]
    assert state is not None
    return _with_code(frame, behind_brokers, rest, state.lacks_code, ErrorCode.REBOOTSTRAP_REQUIRED if notified else 0)


def _with_code(
    frame: memoryview, behind_brokers: int, rest: bytearray | None, lacks_code: bool, code: int
) -> Sequence[Chunk]:
    """Return the response with the error code of v13; `rest` replaces what is behind the brokers."""
    with well_formed(_RESPONSE):
        place = error_code_at(frame, behind_brokers, NEWEST_METADATA - lacks_code) - behind_brokers
    behind: Chunk = frame[behind_brokers:] if rest is None else bytes(rest)
    packed = _CODE.pack(code)
    return [frame[:behind_brokers], behind[:place], packed, behind[place if lacks_code else place + len(packed) :]]


def _behind_brokers(frame: memoryview, version: int) -> int:
    """Return the position behind a response's brokers."""
    skim = response_skim(ApiKey.METADATA, version)
    assert skim is not None
    _, body = decode_response_header(frame, 0, len(frame), ApiKey.METADATA, version)
    return skim(frame, body, len(frame)).end


def _cluster_id(frame: memoryview, pos: int, version: int) -> str | None:
    with well_formed(_RESPONSE):
        if version < _FIRST_FLEXIBLE:
            return text(frame, pos + 2, int16_at(frame, pos)[0])[0]
        return compact_string(frame, pos)[0]


def _asked_by_id(context: Context, frame: memoryview) -> bool:
    """True when the response answers a request by topic id; that request is then forgotten."""
    state = context.find(MetadataState)
    correlation_id = _correlation_id(frame)
    if state is None or correlation_id not in state.by_topic_id:
        return False
    state.by_topic_id.discard(correlation_id)
    return True


def _correlation_id(frame: memoryview) -> int:
    return int.from_bytes(frame[:4], "big", signed=True)


def outdated(rebootstrap: Rebootstrap, context: Context, frame: memoryview) -> Sequence[Chunk]:
    """Return what replaces a v13 response of a broker from an earlier epoch; raise `Fault` where nothing does."""
    if not sends_away(rebootstrap, context, Trigger.METADATA):
        return _too_late()
    by_id = _asked_by_id(context, frame)
    with well_formed(_RESPONSE):
        hides = rebootstrap.hides_topic_ids(context) and not by_id
        topics = answered(frame, _behind_brokers(frame, NEWEST_METADATA), topic_ids=not hides)
    return LastWord((frame[:4], _NO_TAGS, metadata(context, topics)))


def policy(rebootstrap: Rebootstrap, *, retired: bool = False) -> ApiPolicy:
    """Return the policy of one virtual cluster. With `retired`, the node is gone: lower versions end the connection."""
    return ApiPolicy(
        on_request=OnRequest.WHOLE,
        request=partial(ask, rebootstrap),
        request_from=0 if retired else NEWEST_METADATA,
        request_limit=_REQUEST_LIMIT,
        on_response=OnResponse.WHOLE,
        response=partial(change, rebootstrap),
    )
