"""A group's requests to its coordinator: they pass unseen until the epoch rises; then NOT_COORDINATOR (16) is all.

Neither does the cluster that is gone get a commit then, which it would confirm, nor does a JoinGroup wait there. Who is
told 16 looks for its coordinator, and asks that one: Java, librdkafka, kafka-python and aiokafka do, in each of these
APIs. OffsetFetch ends its connection instead: librdkafka takes 16 there for its application's business, and fetches
nothing of those partitions until it is assigned them again; where nobody answers it asks again.

A request that the broker has when the epoch rises is answered so as well, where the response has its error at the top.
What says it for each partition is waited for: the commit may have been done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from struct import Struct
from types import MappingProxyType
from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Answer, ApiPolicy, Forward, OnRequest, OnResponse
from kproxy.protocol.context import Context
from kproxy.rebootstrap import not_coordinator
from kproxy.rebootstrap.actions import Trigger
from kproxy.rebootstrap.answers import is_told
from kproxy.rebootstrap.not_coordinator import (
    AT_THE_TOP,
    CONSUMER_GROUP_HEARTBEAT,
    FOR_EACH_PARTITION,
    SHARE_GROUP_HEARTBEAT,
    STREAMS_GROUP_HEARTBEAT,
)
from kproxy.rebootstrap.readmission import readmit
from kproxy.wire.frame import frame as framed
from kproxy.wire.header import decode_request_header, encode_response_header

OFFSET_FETCH: Final = 9
NEWER: Final = (CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT, STREAMS_GROUP_HEARTBEAT)
"""Their groups' members stop where no group is found: see `readmission`."""
_HELD: Final = 8 << 20
"""A leader's SyncGroup has everybody's assignment."""
_DECODED: Final = 1 << 20
"""More than 20,000 partitions with long metadata."""
_HEAD: Final = Struct(">hhi")


def refusal(key: int, version: int, correlation_id: int) -> bytes:
    """The response, a frame with its size, of an API that says 16 at the top."""
    return framed(encode_response_header(correlation_id, key, version), not_coordinator.at_the_top(key, version))


def refuse(context: Context, frame: memoryview) -> Forward | Answer:
    """An API that says 16 at the top."""
    head: tuple[int, int, int] = _HEAD.unpack_from(frame)
    return _told(context, frame, refusal(*head))


def refuse_commits(context: Context, frame: memoryview) -> Forward | Answer:
    """An API that says 16 for each partition."""
    header, body = decode_request_header(frame, 0, len(frame))
    key, version = header.api_key, header.api_version
    says = not_coordinator.for_each_partition(key, version, frame[body:])
    return _told(context, frame, framed(encode_response_header(header.correlation_id, key, version), says))


def _told(context: Context, frame: memoryview, answer: bytes) -> Forward | Answer:
    if not is_told(context, Trigger.COORDINATOR):
        return Forward(framed(frame))
    return Answer(answer, last=Reason.REBOOTSTRAP)


def part(context: Context, frame: memoryview) -> Forward:
    """End the connection, by a `Fault`: the offsets would be those of a cluster that is gone."""
    is_told(context, Trigger.OFFSETS)
    return Forward(framed(frame))


_REFUSED: Final = ApiPolicy(on_request=OnRequest.WHOLE, request=refuse, request_limit=_HELD)
_REFUSED_COMMITS: Final = ApiPolicy(on_request=OnRequest.WHOLE, request=refuse_commits, request_limit=_DECODED)
_PARTED: Final = ApiPolicy(on_request=OnRequest.WHOLE, request=part, request_limit=_HELD)
_AT_THE_TOP: Final = {key: ApiPolicy(stale=_REFUSED, dismissal=partial(refusal, key)) for key in AT_THE_TOP}
POLICIES: Final[Mapping[int, ApiPolicy]] = MappingProxyType(
    _AT_THE_TOP
    | {key: replace(_AT_THE_TOP[key], on_response=OnResponse.WHOLE, response=readmit) for key in NEWER}
    | dict.fromkeys(FOR_EACH_PARTITION, ApiPolicy(stale=_REFUSED_COMMITS))
    | {OFFSET_FETCH: ApiPolicy(stale=_PARTED)}
)
"""By api key."""
