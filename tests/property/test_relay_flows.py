"""The relay's flows for any traffic, cut and interleaved in any way: the same bytes and order, documented reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproxy.observe.reasons import Reason
from kproxy.relay.record import PROTOCOL_ERRORS
from kproxy.wire.apis import APIS, response_header_version
from kproxy.wire.header import decode_response_header
from kproxy.wire.primitives import INT32
from kproxy.wire.skim import response_skim
from tests.property import wire_contents as contents
from tests.unit.relay import frames
from tests.unit.relay.flows import KIB, Cluster, Outcome, Relay, Side, by, port_of, whole

STREAMS = (1, 78)
_API_VERSIONS = 18
_STEPS = st.lists(st.integers(1, 700), min_size=1, max_size=30)


OPEN = sorted(
    (spec.key, version)
    for spec in APIS.values()
    if spec.broker
    for version in range(spec.min_version, spec.max_version + 1)
    if spec.key != _API_VERSIONS  # its responses are cut down: see test_a18_api_versions
    and (spec.key, version) != (17, 0)  # what comes behind it is no request: see test_relay_sasl
)
ADDRESSED = [pair for pair in contents.CARRIERS if APIS[pair[0]].broker]


@dataclass(frozen=True)
class Exchange:
    """A request and the broker's response; None when the broker sends no response, or does not get the request."""

    request: bytes
    response: bytes | None
    own: bool = False
    endpoints: bool = False
    """True when the response ends in endpoints, whose form depends on how it is cut."""


@st.composite
def exchanges(draw: st.DrawFn, number: int) -> Exchange:
    """Draw one exchange with the correlation id `number`, of any kind."""
    kind = draw(st.sampled_from(["any", "any", "addresses", "addresses", "own", "acks 0", "large"]))
    if kind == "own":
        return Exchange(frames.raw_request(_API_VERSIONS, draw(st.integers(6, 99)), number, b"?"), None, own=True)
    if kind == "acks 0":
        records = draw(st.sampled_from([b"", b"r" * 50, b"r" * 3000]))
        return Exchange(frames.produce(draw(st.integers(3, 13)), number, 0, records), None)
    if kind == "large":
        version = draw(st.integers(4, 18))
        sent = frames.fetched(version, number, [(0, b"r" * draw(st.integers(1, 9000))), (6, None)] * 2)
        return Exchange(frames.request(1, version, number), sent)
    key, version = draw(st.sampled_from(ADDRESSED if kind == "addresses" else OPEN))
    content = draw(contents.contents(key, version))
    header = draw(st.sampled_from([(), (), ((9, b"unknown"),)])) if response_header_version(key, version) else ()
    sent = frames.raw_response(key, version, number, contents.encode(key, version, content), header)
    request = frames.produce(version, number) if key == 0 else frames.request(key, version, number)
    endpoints = key in STREAMS and (key, version) in ADDRESSED and bool(content.get("NodeEndpoints"))
    return Exchange(request, sent, endpoints=endpoints)


@st.composite
def sequences(draw: st.DrawFn) -> list[Exchange]:
    """Draw some exchanges, one after another."""
    return [draw(exchanges(number)) for number in range(draw(st.integers(1, 6)))]


def pieces(data: bytes, steps: list[int]) -> Iterator[bytes]:
    """Yield the data in pieces whose lengths repeat."""
    pos = turn = 0
    while pos < len(data):
        size = steps[turn % len(steps)]
        yield data[pos : pos + size]
        pos, turn = pos + size, turn + 1


def at_once(sequence: list[Exchange]) -> Outcome:
    """Feed all requests in one piece, then all responses in one; return the outcome."""
    requests = b"".join(one.request for one in sequence)
    responses = b"".join(one.response for one in sequence if one.response)
    script: list[tuple[Side, bytes]] = [("client", requests), ("broker", responses)]
    return Relay().play(script, whole).outcome()


@given(sequences(), _STEPS, _STEPS)
@settings(max_examples=150)
def test_requests_and_responses_for_any_cut(sequence: list[Exchange], asks: list[int], says: list[int]) -> None:
    """What went to the broker, what is in flight, what was learnt and counted does not depend on the pieces."""
    requests = b"".join(one.request for one in sequence)
    responses = b"".join(one.response for one in sequence if one.response)
    relay = Relay()
    for piece in pieces(requests, asks):
        relay.feed("client", piece)
    for piece in pieces(responses, says):
        relay.feed("broker", piece)
    found, expected = relay.outcome(), at_once(sequence)
    assert (found.reason, expected.reason) == (None, None)
    assert expected.to_broker == b"".join(one.request for one in sequence if not one.own)
    assert (found.to_broker, found.in_flight, found.learnt) == (expected.to_broker, (), expected.learnt)
    assert (found.counts, found.under_way) == (expected.counts, (False, False))
    if any(one.endpoints for one in sequence):
        assert _without_endpoints(found, sequence) == _without_endpoints(expected, sequence)
    else:
        assert found == expected


def _without_endpoints(outcome: Outcome, sequence: list[Exchange]) -> list[bytes]:
    """Return the frames that the client got, empty where the end may differ."""
    replied = [one for one in sequence if one.own or one.response]
    got = frames.split(outcome.to_client)
    return [b"" if one.endpoints else frame for one, frame in zip(replied, got, strict=True)]


@given(sequences(), st.data())
@settings(max_examples=150)
def test_any_interleaving_keeps_the_order(sequence: list[Exchange], data: st.DataObject) -> None:
    """Pieces of both directions in turn, own answers among them: the client gets every answer, in its order."""
    relay = Relay()
    asked = said = 0
    requests = b"".join(one.request for one in sequence)
    responses, ready = b"", 0
    while asked < len(requests) or said < len(responses):
        if asked < len(requests) and (said == len(responses) or data.draw(st.booleans())):
            step = data.draw(st.integers(1, 400))
            relay.feed("client", requests[asked : asked + step])
            asked += step
            ready, responses = _due(sequence, asked, ready, responses)
        else:
            step = data.draw(st.integers(1, 4000))
            relay.feed("broker", responses[said : said + step])
            said = min(said + step, len(responses))
    assert relay.reason is None
    assert not relay.in_flight
    got = [INT32.unpack_from(frame)[0] for frame in frames.split(bytes(relay.client.data))]
    assert got == [number for number, one in enumerate(sequence) if one.own or one.response]


def _due(sequence: list[Exchange], asked: int, ready: int, responses: bytes) -> tuple[int, bytes]:
    """Return how many requests the broker has whole by now, and all its responses to them."""
    end = sum(len(one.request) for one in sequence[:ready])
    while ready < len(sequence) and end + len(sequence[ready].request) <= asked:
        end += len(sequence[ready].request)
        responses += sequence[ready].response or b""
        ready += 1
    return ready, responses


@given(sequences(), _STEPS)
@settings(max_examples=100)
def test_what_is_moved_by_splice_is_the_same(sequence: list[Exchange], says: list[int]) -> None:
    """Bytes that kproxy does not read may be spliced: the client gets the same, and no own answer overtakes them."""
    fed, spliced = Relay(), Relay()
    responses = b"".join(one.response for one in sequence if one.response)
    for relay in (fed, spliced):
        relay.feed("client", b"".join(one.request for one in sequence))
    steps, pos = list(says), 0
    while pos < len(responses):
        size = min(steps[pos % len(steps)], len(responses) - pos)
        if spliced.responses.passing > 20:
            size = min(size, spliced.responses.passing)
            spliced.splice(responses[pos : pos + size])
        else:
            spliced.feed("broker", responses[pos : pos + size])
        fed.feed("broker", responses[pos : pos + size])
        pos += size
    assert spliced.outcome() == fed.outcome()


@pytest.mark.parametrize(("key", "version"), ADDRESSED)
@given(data=st.data(), host=st.sampled_from(["p", "10.0.0.9", "proxy.example", "p" * 150]), steps=_STEPS)
@settings(max_examples=15)
def test_no_address_of_a_broker_gets_by(
    key: int, version: int, data: st.DataObject, host: str, steps: list[int]
) -> None:
    """Any content in any pieces: the client reads the proxy's address, a masked one, or none."""
    content = data.draw(contents.contents(key, version, tags=False))
    sent = frames.raw_response(key, version, 1, contents.encode(key, version, content))
    relay = Relay(Cluster(host))
    relay.feed("client", frames.produce(version, 1) if key == 0 else frames.request(key, version, 1))
    for piece in pieces(sent, steps):
        relay.feed("broker", piece)
    assert (relay.reason, len(relay.in_flight)) == (None, 0)
    (got,) = frames.split(bytes(relay.client.data))
    _, body = decode_response_header(got, 0, len(got), key, version)
    skim = response_skim(key, version)
    assert skim is not None
    found = [address[:3] for address in skim(got, body, len(got)).addresses]
    before = contents.addresses(key, version, content)
    expected = [_expected_endpoint(key, node, old, port, host) for node, old, port in before]
    assert found == expected or (found == [] and key in STREAMS and len(got) == len(sent) - 4)


def _expected_endpoint(key: int, node: int, old: str, port: int, host: str) -> frames.Endpoint:
    if key == 55:
        return node, f"controller-{node}.invalid", port
    return (node, old, port) if node < 0 or not old else (node, host, port_of(node))


def _known(reason: Reason | None) -> bool:
    return reason is None or reason in PROTOCOL_ERRORS


@given(st.lists(st.binary(max_size=60), max_size=12))
@settings(max_examples=300)
def test_garbage_from_a_client_has_a_reason(parts: list[bytes]) -> None:
    """Any bytes: a documented reason, or more bytes are awaited; never another exception."""
    relay = Relay(limit=64 * KIB)
    for part in parts:
        relay.feed("client", part)
    assert _known(relay.reason)


@st.composite
def requests_like(draw: st.DrawFn) -> bytes:
    """Draw a frame with a valid head and anything behind it."""
    key = draw(st.sampled_from([0, 0, 0, 18, 18, 1, 3, 12]) | st.integers(-2, 100))
    rest = draw(st.binary(max_size=80))
    return frames.raw_request(key, draw(st.integers(-1, 15)), draw(st.integers(0, 3000)), rest)


@given(st.lists(requests_like(), min_size=1, max_size=6), _STEPS)
@settings(max_examples=400)
def test_sound_heads_with_garbage_behind(parts: list[bytes], steps: list[int]) -> None:
    """Refused for the same reason however it is cut; the broker gets no byte that the client did not send."""
    data = b"".join(parts)
    expected, relay = Relay().play([("client", data)], whole), Relay()
    for piece in pieces(data, steps):
        relay.feed("client", piece)
    assert relay.reason is expected.reason
    assert _known(relay.reason)
    assert relay.broker.data.startswith(bytes(expected.broker.data))
    if b"\0\x12\0\x05" not in data:  # ApiVersions v5 goes on as v4
        assert all(frame in parts for frame in map(_framed, _whole_frames(bytes(relay.broker.data))))


def _whole_frames(data: bytes) -> list[bytes]:
    while data and 4 + INT32.unpack_from(data)[0] <= len(data) if len(data) >= 4 else False:
        size = 4 + INT32.unpack_from(data)[0]
        return [data[4:size], *_whole_frames(data[size:])]
    return []


def _framed(rest: bytes) -> bytes:
    return INT32.pack(len(rest)) + rest


def _broken(data: st.DataObject, frame: bytes) -> bytes:
    """Return a frame with a few bytes changed, none of them in its size or its correlation id."""
    changed = bytearray(frame)
    for _ in range(data.draw(st.integers(1, 4))):
        if len(frame) > 8:
            changed[data.draw(st.integers(8, len(frame) - 1))] = data.draw(st.integers(0, 255))
    return bytes(changed)


@pytest.mark.parametrize(("key", "version"), ADDRESSED)
@given(data=st.data(), steps=_STEPS)
@settings(max_examples=25)
def test_broken_responses_pass_or_have_a_reason(key: int, version: int, data: st.DataObject, steps: list[int]) -> None:
    """A few wrong bytes, anywhere: never another exception, and no more bytes held than the broker's frame has."""
    sound = frames.raw_response(
        key, version, 1, contents.encode(key, version, data.draw(contents.contents(key, version)))
    )
    sent = _broken(data, sound)
    for feed in (lambda: [sent], lambda: pieces(sent, steps), lambda: by(1)(sent)):
        relay = Relay(Cluster("p"))
        relay.feed("client", frames.produce(version, 1) if key == 0 else frames.request(key, version, 1))
        _feed(relay, feed)
        assert _known(relay.reason)
        assert relay.responses.held_bytes <= len(sent)


def _feed(relay: Relay, feed: Callable[[], Iterable[bytes]]) -> None:
    for piece in feed():
        relay.feed("broker", piece)


@given(st.lists(st.binary(max_size=60), max_size=12))
@settings(max_examples=300)
def test_garbage_from_a_broker_has_a_reason(parts: list[bytes]) -> None:
    """A broker that sends anything while requests are in flight: a documented reason, or more bytes are awaited."""
    relay = Relay(response_limit=64 * KIB)
    relay.feed("client", b"".join(frames.request(1, 17, number) for number in range(3)))
    for part in parts:
        relay.feed("broker", part)
    assert _known(relay.reason)
