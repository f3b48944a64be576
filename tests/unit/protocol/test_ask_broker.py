"""kproxy.protocol.ask_broker: dialogues of messages as the frames that the relay sends and gets."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from kproxy.observe.reasons import Reason
from kproxy.protocol.ask_broker import Dialogue, Reply, asking_broker
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import Deferred
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.list_groups_request import ListGroupsRequest
from kproxy.wire.generated.list_groups_response import ListGroupsResponse
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.header import RequestHeader, decode_request_header, encode_request_header, encode_response_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame as framed
from tests.unit.relay.flows import Cluster

ID, CLIENT, VERSION = 77, "app", 4
RESPONSES: dict[int, type[WireMessage]] = {ApiKey.METADATA: MetadataResponse}


def sent(request: ListGroupsRequest) -> memoryview:
    """The client's request as the relay hands it over: without its size."""
    head = encode_request_header(RequestHeader(ApiKey.LIST_GROUPS, VERSION, ID, CLIENT))
    return memoryview(bytes(head) + request.encode(VERSION))


def answered(cluster_id: str) -> bytes:
    """The broker's Metadata response in version 12, without its size."""
    return bytes(encode_response_header(ID, ApiKey.METADATA, 12)) + MetadataResponse(cluster_id=cluster_id).encode(12)


def replied(frame: bytes) -> int:
    """The error code of the client's response, which must be one to its request."""
    head = encode_response_header(ID, ApiKey.LIST_GROUPS, VERSION)
    assert frame == framed(head, frame[4 + len(head) :])
    return ListGroupsResponse.decode(frame[4 + len(head) :], VERSION).error_code


class Asked:
    """A room that asks for Metadata twice and answers with the number of responses that it could read."""

    def __init__(self, *, at_once: bool = True) -> None:
        self.at_once = at_once
        self.got: list[WireMessage | None] = []
        self.reply: Reply | None = None
        self.handle = asking_broker(ListGroupsRequest.decode, self.concerns, self.begin, RESPONSES, self.conclude)

    def concerns(self, request: ListGroupsRequest) -> bool:
        return request.states_filter == ["Stable"]

    def begin(self, request: ListGroupsRequest, version: int) -> Dialogue[int]:
        assert (request.states_filter, version) == (["Stable"], VERSION)
        for _ in range(2):
            self.got.append((yield ApiKey.METADATA, 12, MetadataRequest(topics=[])))
        return sum(one is not None for one in self.got)

    def conclude(self, result: int, reply: Reply) -> WireMessage | None:
        self.reply = reply
        return ListGroupsResponse(error_code=result) if self.at_once else None

    def steps(self) -> Generator[bytes, bytes, bytes | Deferred]:
        """What the relay runs for a request that concerns the room."""
        asked = self.handle(Context(Cluster(), 7, "client:1", "10.9.8.7"), sent(ListGroupsRequest(["Stable"])))
        assert asked is not None
        return asked.steps


def test_the_broker_is_asked_in_the_clients_name() -> None:
    """Each question has the client's correlation id and client id; each response reaches the dialogue decoded."""
    room = Asked()
    steps = room.steps()
    question = next(steps)
    for cluster_id in ("a", "b"):
        header, body = decode_request_header(question, 4, len(question))
        assert header == RequestHeader(ApiKey.METADATA, 12, ID, CLIENT)
        assert MetadataRequest.decode(question[body:], 12) == MetadataRequest(topics=[])
        if cluster_id == "a":
            question = steps.send(answered(cluster_id))
    with pytest.raises(StopIteration) as end:
        steps.send(answered("b"))
    assert [one.cluster_id for one in room.got if isinstance(one, MetadataResponse)] == ["a", "b"]
    assert replied(end.value.value) == 2


def test_a_response_that_cannot_be_read_is_none() -> None:
    """The dialogue goes on, and decides itself what to do without it."""
    room = Asked()
    steps = room.steps()
    next(steps)
    steps.send(answered("a")[:-3])
    with pytest.raises(StopIteration) as end:
        steps.send(b"")
    assert (room.got, replied(end.value.value)) == ([None, None], 0)


def test_an_answer_that_comes_later() -> None:
    """Without a response at the end the client waits until the room calls the reply."""
    room = Asked(at_once=False)
    steps = room.steps()
    next(steps)
    steps.send(answered("a"))
    with pytest.raises(StopIteration) as end:
        steps.send(answered("b"))
    deferred = end.value.value
    assert isinstance(deferred, Deferred)
    resolved: list[bytes | None] = []
    deferred.wait(lambda: resolved.append(deferred.frame))
    assert resolved == []
    assert room.reply is not None
    room.reply(ListGroupsResponse(error_code=5))
    assert [replied(frame) for frame in resolved if frame is not None] == [5]


def test_a_request_that_does_not_concern_the_room_passes() -> None:
    """Nothing is asked, and the relay sends it on."""
    room = Asked()
    assert room.handle(Context(Cluster(), 7, "client:1", "10.9.8.7"), sent(ListGroupsRequest([]))) is None
    assert room.got == []


def test_an_answer_that_cannot_be_written() -> None:
    """Its connection ends: it would wait for the answer for ever, and all behind it."""
    room = Asked(at_once=False)
    steps = room.steps()
    next(steps)
    steps.send(answered("a"))
    with pytest.raises(StopIteration) as ended:
        steps.send(answered("b"))
    deferred = ended.value.value
    assert room.reply is not None
    with pytest.raises(TypeError):
        room.reply(ListGroupsResponse(groups=None))  # type: ignore[arg-type]
    assert (deferred.frame, deferred.last) == (b"", Reason.INTERNAL_ERROR)
