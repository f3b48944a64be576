# This module is pure.
"""Metadata (3): addresses are replaced, and what they were is learnt; v13 is where clients are told to rebootstrap.

Of a response only the bytes up to the brokers array are looked at. A request is held from v13 on, and the backend
judges it (KIP-1102). When its client is to be told, the request is the last of its connection, and the broker's own
response says 129: what else it says is true, for clients that look at that alone. The Java admin client's `listTopics`
does, and kafka-python, whose consumer stops for good when it leads a group and its topic has no partition.

On a stale connection the broker is of the topology before. There one that names topics is answered here at once, by 129
and the present nodes; one that asks for all topics ends the connection, and its client is told on the next one.

v13 is offered over brokers that serve v12: the request is the same, the response gets the error code that it has not;
where, and why that is safe, says `topics`. A response that comes in on a stale connection tells of the topology before,
so no client gets it.

A client that would take another cluster's lower leader epochs for outdated is told none, and one that would take its
topics for others by their ids is told no ids either, unless it asks by them: see `leader_epochs`.

Version notes: v7 adds leader epochs (KIP-320); v9 is the first flexible one; v12 asks by topic id (KIP-516); v13 adds a
top-level error code (KIP-1102).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from struct import Struct
from typing import Final

from kproxy.errors import REBOOTSTRAP_REQUIRED
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Answer, ApiPolicy, Chunk, Forward, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.reading import well_formed
from kproxy.rebootstrap.actions import Trigger
from kproxy.rebootstrap.answers import is_told, metadata
from kproxy.rebootstrap.leader_epochs import FIRST_LEADER_EPOCH, forget
from kproxy.rebootstrap.topics import answered, asked, asks_by_id, error_code_at
from kproxy.relay.apis.addresses import each, replaced
from kproxy.relay.apis.learning import learn, metadata_cluster_id
from kproxy.wire.frame import frame as framed
from kproxy.wire.header import decode_request_header, decode_response_header
from kproxy.wire.skim import Skimmed, response_skim

KEY: Final = 3
TELLING: Final = 13
"""The first version whose response can say 129."""
_REQUEST_LIMIT: Final = 8 << 20
"""More than 30,000 topics of the longest names."""
_VERSION_AND_ID: Final = Struct(">2xhi")
_UPSTREAM_HEAD: Final = Struct(">hh").pack(KEY, TELLING - 1)
_HEAD_BYTES: Final = len(_UPSTREAM_HEAD)
_CODE: Final = Struct(">h")
_NO_TAGS: Final = b"\0"
_RESPONSE: Final = "Metadata response"


def ask(context: Context, frame: memoryview) -> Forward | Answer:
    """Send the request on, unless its client is to be told, or the connection to end."""
    version, correlation_id = _VERSION_AND_ID.unpack_from(frame)
    if version < TELLING:  # held only at a listener whose node is gone
        context.backend.counters.refuse(KEY, Reason.RETIRED_NODE)
        raise Fault(Reason.RETIRED_NODE, f"Metadata v{version} cannot tell that node {context.node_id} is gone", KEY)
    context.metadata_version = max(context.metadata_version, version)
    topics = _asked(frame) if context.stale else None
    if context.stale and topics is None:
        raise Fault(Reason.REBOOTSTRAP, "all topics are asked for, and the topology has changed", KEY)
    if context.backend.hides_topic_ids(context) and _by_id(frame):
        context.by_topic_id |= {correlation_id}
    if not is_told(context, Trigger.METADATA):
        return Forward(_upstream(context, frame))
    if topics is not None:
        return Answer(framed(frame[4:8], _NO_TAGS, metadata(context, topics)), last=Reason.REBOOTSTRAP)
    context.told = correlation_id
    return Forward(_upstream(context, frame), last=Reason.REBOOTSTRAP)


def _asked(frame: memoryview) -> Sequence[bytes] | None:
    _, body = decode_request_header(frame, 0, len(frame))
    with well_formed("Metadata request"):
        return asked(frame, body)


def _by_id(frame: memoryview) -> bool:
    _, body = decode_request_header(frame, 0, len(frame))
    with well_formed("Metadata request"):
        return asks_by_id(frame, body)


def _upstream(context: Context, frame: memoryview) -> bytes:
    """The request as the broker knows it; its body is the same in both versions."""
    return framed(_UPSTREAM_HEAD, frame[_HEAD_BYTES:]) if _lacks_code(context) else framed(frame)


def _lacks_code(context: Context) -> bool:
    return context.metadata_upstream == TELLING - 1


def rewrite(route: Route) -> Respond:
    """Replace the addresses, learn whose they are, and say what epochs and the error code are to say."""
    version = route.version

    def put(context: Context, frame: memoryview, body: int, found: Skimmed) -> Sequence[Chunk]:
        with well_formed(_RESPONSE):
            cluster_id = metadata_cluster_id(frame, found.end, version)
        learn(context, found, cluster_id)
        chunks = replaced(context, frame, body, found)
        if has_epochs:
            chunks = _forgotten(context, cluster_id, frame, chunks, found.end, version)
        return chunks if version < TELLING else _with_code(context, frame, chunks, found.end)

    has_epochs = version >= FIRST_LEADER_EPOCH
    present = each(route, put, always=has_epochs)

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        context.metadata_version = max(context.metadata_version, version)
        return outdated(context, frame, version) if context.stale else present(context, frame)

    return respond


def _with_code(context: Context, frame: memoryview, chunks: list[Chunk], behind_brokers: int) -> list[Chunk]:
    """The chunks, of which the last holds the topics, with the error code of v13 as this client is to read it."""
    lacks_code, told = _lacks_code(context), context.told == _correlation_id(frame)
    if not lacks_code and not told:
        return chunks
    with well_formed(_RESPONSE):
        place = error_code_at(frame, behind_brokers, TELLING - lacks_code)
    rest = chunks.pop()
    cut = len(rest) - (len(frame) - place)
    code = _CODE.pack(REBOOTSTRAP_REQUIRED if told else 0)
    return [*chunks, rest[:cut], code, rest[cut if lacks_code else cut + len(code) :]]


def _forgotten(
    context: Context, cluster_id: str | None, frame: memoryview, chunks: list[Chunk], behind_brokers: int, version: int
) -> list[Chunk]:
    """The chunks, of which the last holds the topics, as far as the client is to know of epochs and ids."""
    hides = context.backend.hides_topic_ids(context)
    if not hides and not context.backend.forgets_leader_epochs(context, cluster_id):
        return chunks
    topic_ids = hides and not _asked_by_id(context, frame)
    rest = bytearray(chunks[-1])
    with well_formed(_RESPONSE):
        forget(rest, len(rest) - (len(frame) - behind_brokers), version, topic_ids=topic_ids)
    return [*chunks[:-1], memoryview(rest)]


def _asked_by_id(context: Context, frame: memoryview) -> bool:
    """Whether the response answers a request by topic id, which is forgotten."""
    correlation_id = _correlation_id(frame)
    asked_by_id = correlation_id in context.by_topic_id
    context.by_topic_id -= {correlation_id}
    return asked_by_id


def _correlation_id(frame: memoryview) -> int:
    return int.from_bytes(frame[:4], "big", signed=True)


def outdated(context: Context, frame: memoryview, version: int) -> Sequence[Chunk]:
    """What the client gets in place of a response that a broker of the topology before has sent; or `Fault`."""
    if version < TELLING or not is_told(context, Trigger.METADATA):
        raise Fault(Reason.REBOOTSTRAP, "the topology changed before the broker answered", KEY)
    skim = response_skim(KEY, version)
    assert skim is not None
    _, body = decode_response_header(frame, 0, len(frame), KEY, version)
    with well_formed(_RESPONSE):
        hides = context.backend.hides_topic_ids(context) and not _asked_by_id(context, frame)
        topics = answered(frame, skim(frame, body, len(frame)).end, topic_ids=not hides)
    return [frame[:4], _NO_TAGS, metadata(context, topics)]


POLICY: Final = ApiPolicy(
    on_request=OnRequest.WHOLE,
    request=ask,
    request_from=TELLING,
    request_limit=_REQUEST_LIMIT,
    on_response=OnResponse.WHOLE,
    response=rewrite,
)
RETIRED: Final = replace(POLICY, request_from=0)
"""At a listener whose node is gone: versions that cannot be told end the connection."""
