"""kproxy.faults.answers: each answer is a complete response of its version, with the error wherever it belongs."""

from __future__ import annotations

import pytest

from kproxy.config.faults import API_KEYS
from kproxy.errors import MalformedMessageError
from kproxy.faults.answers import ANSWERED, MESSAGE, Scene, Unanswerable, answer
from kproxy.protocol.answer import response_frame
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.header import decode_request_header
from kproxy.wire.message import WireMessage
from tests.property.wire_contents import Content
from tests.support.every import every
from tests.unit.faults.exchanges import CODE, NODES, Exchange, errors_in, exchanges
from tests.unit.relay import frames

SCENE = Scene(NODES, "cluster-1")


def answered(request: bytes, code: int = CODE) -> Content:
    """The answer to a request as a client understands it, without bytes that are left over."""
    frame = memoryview(request)[4:]
    header, _ = decode_request_header(frame, 0, len(frame))
    found = answer(frame, code, SCENE)
    assert isinstance(found, WireMessage)
    (whole,) = frames.split(response_frame(header, found))
    return frames.understood(header.api_key, header.api_version, whole)


def response_to(exchange: Exchange) -> tuple[str, bytes]:
    """The name of the response, and its body."""
    found = answer(memoryview(exchange.request())[4:], CODE, SCENE)
    assert isinstance(found, WireMessage)
    return type(found).__name__, found.encode(exchange.version)


@every("exchange", exchanges(), ids=lambda one: f"{ApiKey(one.key).name} v{one.version}")
def test_every_api_in_every_version(exchange: Exchange) -> None:
    """By the schema and by kio: the error is at each place that the request names, in order, and nowhere else."""
    assert errors_in(answered(exchange.request())) == exchange.errors


def test_the_settings_allow_what_can_be_answered() -> None:
    """A rule can be about each API that has an answer, and about no other."""
    assert frozenset(API_KEYS.values()) == ANSWERED


@every("version", frames.versions(ApiKey.METADATA))
def test_metadata_names_the_nodes(version: int) -> None:
    """A client that looks past the error finds the nodes as it reaches them, and from v2 on the cluster."""
    found = answered(frames.request(ApiKey.METADATA, version, 5, {"Topics": [{"Name": "t"}]}))
    assert frames.named(found["Brokers"]) == [node[:3] for node in NODES]
    assert found.get("ClusterId", "cluster-1") == "cluster-1"
    assert found.get("ControllerId", 7) == 7


def test_rebootstrap_required() -> None:
    """129 is at the top of Metadata, where clients look for it; topics have no leader. Before v13 it has no place."""
    named = {"Topics": [{"Name": "t"}]}
    found = answered(frames.request(ApiKey.METADATA, 13, 5, named), ErrorCode.REBOOTSTRAP_REQUIRED)
    assert (found["ErrorCode"], [topic["ErrorCode"] for topic in found["Topics"]]) == (129, [5])
    every = answered(frames.request(ApiKey.METADATA, 13, 5, {"Topics": None}), ErrorCode.REBOOTSTRAP_REQUIRED)
    assert (every["ErrorCode"], every["Topics"]) == (129, [])
    older = memoryview(frames.request(ApiKey.METADATA, 12, 5, named))[4:]
    assert answer(older, ErrorCode.REBOOTSTRAP_REQUIRED, SCENE) == Unanswerable(wants_none=False)


def test_metadata_without_a_known_node() -> None:
    """It names none, and no controller."""
    frame = memoryview(frames.request(ApiKey.METADATA, 12, 5, {"Topics": [{"Name": "t"}]}))[4:]
    found = answer(frame, CODE, Scene())
    assert isinstance(found, WireMessage)
    assert (found.brokers, found.controller_id) == ([], -1)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("key", "version", "content"),
    [
        (ApiKey.METADATA, 0, {"Topics": []}),
        (ApiKey.METADATA, 12, {"Topics": None}),
        (ApiKey.METADATA, 13, {"Topics": None}),
        (ApiKey.METADATA, 13, {"Topics": []}),
        (ApiKey.FETCH, 6, {"Topics": []}),
    ],
)
def test_no_place_for_an_error(key: int, version: int, content: Content) -> None:
    """A version that carries errors only with what a request names has none for one that names nothing."""
    frame = memoryview(frames.request(key, version, 5, content))[4:]
    assert answer(frame, CODE, SCENE) == Unanswerable(wants_none=False)


def test_produce_without_acks() -> None:
    """No broker answers acks=0."""
    frame = memoryview(frames.request(ApiKey.PRODUCE, 11, 5, {"Acks": 0}))[4:]
    assert answer(frame, CODE, SCENE) == Unanswerable(wants_none=True)


def test_words_for_people() -> None:
    """Where an API has room for words, they say that the fault is injected."""
    found = answered(frames.request(ApiKey.CREATE_TOPICS, 7, 5, {"Topics": [{"Name": "t"}]}))
    assert [topic["ErrorMessage"] for topic in found["Topics"]] == [MESSAGE]


def test_a_fetch_answer_ends_the_session() -> None:
    """The answer names no session, so that the next request names its partitions again."""
    found = answered(frames.request(ApiKey.FETCH, 12, 5, {"SessionId": 9, "SessionEpoch": 3}))
    assert found["SessionId"] == 0


@every("key", sorted(ANSWERED - {ApiKey.INIT_PRODUCER_ID, ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.END_TXN}))
def test_malformed(key: int) -> None:
    """Bytes that are no request raise as all of kproxy.wire does; an answer that needs nothing of them is made."""
    version = frames.versions(key)[-1]
    frame = memoryview(frames.raw_request(key, version, 5, b"\xff\xff\x00\xff"))[4:]
    top = (ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT, ApiKey.LEAVE_GROUP)
    if key in top:
        assert isinstance(answer(frame, CODE, SCENE), WireMessage)
        return
    with pytest.raises(MalformedMessageError):
        answer(frame, CODE, SCENE)
