# This module is pure (no I/O, no clock).
"""A group's requests on connections of an earlier epoch: each is answered NOT_COORDINATOR (16).

A virtual cluster's epoch rises when its clients must bootstrap again, for instance at a failover. Until then these
requests pass unread.

So the cluster that was left gets no commit, which it would confirm, and no JoinGroup waits there. A client that gets 16
finds its coordinator anew and asks there: Java, librdkafka, kafka-python and aiokafka do, in each of these APIs.
OffsetFetch ends its connection instead: librdkafka passes a 16 there to its application, and fetches nothing of those
partitions until they are assigned again; without an answer it asks again. A commit of more than 100,000 topics and
partitions ends its connection, too.

A request that the broker has when the epoch rises is answered 16 as well, if its response has one error at the top.
Where the response has an error for each partition, the broker's own answer is awaited: the commit may have been done.

Groups of KIP-848, share and streams groups also need `readmit`: their members stop for good when the new cluster does
not know their group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from struct import Struct
from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.protocol.group_errors import AT_THE_TOP, COMMITS, at_the_top, for_each_partition
from kproxy.protocol.outcomes import Answer
from kproxy.protocol.reading import well_formed
from kproxy.rebootstrap.actions import Trigger
from kproxy.rebootstrap.answers import Rebootstrap, sends_away
from kproxy.wire.commit_walk import CommitWalk
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.header import decode_response_header
from kproxy.wire.skim import error_offset

_CODE: Final = Struct(">h")
_UNKNOWN: Final = _CODE.pack(ErrorCode.UNKNOWN_MEMBER_ID)


def readmit(rebootstrap: Rebootstrap, route: Route) -> Respond:
    """Make a member join again when its group does not exist: UNKNOWN_MEMBER_ID replaces GROUP_ID_NOT_FOUND."""
    key, version = route.api_key, route.version
    offset = error_offset(key, version)
    assert offset is not None, f"api {key} v{version} has no error code at a fixed place"

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        _, body = decode_response_header(frame, 0, len(frame), key, version)
        at = body + offset
        with well_formed("heartbeat response"):
            (code,) = _CODE.unpack_from(frame, at)
        if code != ErrorCode.GROUP_ID_NOT_FOUND or not rebootstrap.may_know_another:
            return None
        return [frame[:at], _UNKNOWN, frame[at + len(_UNKNOWN) :]]

    return respond


NEWER: Final = (ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_HEARTBEAT)
"""Members of these groups stop for good when their group is not found: see `readmit`."""
_HELD: Final = 8 << 20
"""Bytes held of a request: a leader's SyncGroup has every member's assignment."""
_HEAD: Final = Struct(">hhi")


def refusal(key: int, version: int, correlation_id: int) -> bytes:
    """Return the response, a frame with its size, of an API with one error at the top: 16."""
    return at_the_top(key, version, correlation_id, ErrorCode.NOT_COORDINATOR)


def refuse(rebootstrap: Rebootstrap, context: Context, frame: memoryview) -> Answer | None:
    """Answer a request of an API that has one error at the top; None if this client is to be served."""
    head: tuple[int, int, int] = _HEAD.unpack_from(frame)
    return _answer(rebootstrap, context, refusal(*head))


def refuse_commits(rebootstrap: Rebootstrap, context: Context, frame: memoryview) -> Answer | None:
    """Answer a request of an API that has an error for each partition; None as above."""
    answer = for_each_partition(context, frame, ErrorCode.NOT_COORDINATOR)
    if answer is None:
        end(rebootstrap, context, frame)
        return None
    return _answer(rebootstrap, context, answer)


def _answer(rebootstrap: Rebootstrap, context: Context, response: bytes) -> Answer | None:
    return Answer(response, last=Reason.REBOOTSTRAP) if sends_away(rebootstrap, context, Trigger.COORDINATOR) else None


def end(rebootstrap: Rebootstrap, context: Context, frame: memoryview) -> None:
    """End the connection, by a `Fault`: the offsets would be those of a cluster that is gone."""
    del frame
    sends_away(rebootstrap, context, Trigger.OFFSETS)


def policies(rebootstrap: Rebootstrap) -> Mapping[int, ApiPolicy]:
    """Return the policies for a group's requests, by api key."""
    whole = OnRequest.WHOLE
    refused = ApiPolicy(on_request=whole, request=partial(refuse, rebootstrap), request_limit=_HELD)
    refused_commits = ApiPolicy(
        on_request=whole,
        request=partial(refuse_commits, rebootstrap),
        request_limit=_HELD,
        request_walk=CommitWalk,
    )
    ended = ApiPolicy(on_request=whole, request=partial(end, rebootstrap), request_limit=_HELD)
    whole_request = {key: ApiPolicy(stale=refused, stale_response=partial(refusal, key)) for key in AT_THE_TOP}
    readmitting = partial(readmit, rebootstrap)
    return (
        whole_request
        | {key: replace(whole_request[key], on_response=OnResponse.WHOLE, response=readmitting) for key in NEWER}
        | dict.fromkeys(COMMITS, ApiPolicy(stale=refused_commits))
        | {ApiKey.OFFSET_FETCH: ApiPolicy(stale=ended)}
    )
