"""What a broker sends: which request it answers, what the client gets of it, and what ends the connection."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from kproxy.observe.counters import Histogram
from kproxy.observe.reasons import Reason
from kproxy.relay.apis import OFFERS
from kproxy.relay.responses import HEAD_BYTES
from kproxy.wire.apis import APIS, ApiSpec, response_header_version
from kproxy.wire.generated.skims import ERROR_OFFSETS
from kproxy.wire.primitives import INT32
from tests.property.wire_contents import RESPONSES, TAGS, Content
from tests.unit.relay import frames
from tests.unit.relay.flows import KIB, Relay, Script, by, bytewise, play, whole

OPEN = [spec for spec in APIS.values() if spec.broker]
API_VERSIONS, FETCH, SHARE_FETCH = 18, 1, 78
UNKNOWN_CODE = 31999
STREAMED = [(FETCH, 16), (FETCH, 17), (FETCH, 18), (SHARE_FETCH, 1), (SHARE_FETCH, 2)]


def lowest(spec: ApiSpec) -> int:
    offer = OFFERS.get(spec.key)
    return max(spec.min_version, offer.refuse_below if offer else 0)


def asked(key: int, version: int, correlation_id: int) -> bytes:
    """A request whose response is `key` v`version`."""
    return frames.produce(version, correlation_id) if key == 0 else frames.request(key, version, correlation_id)


def exchange(key: int, version: int, response: bytes, correlation_id: int = 1) -> Script:
    return [("client", asked(key, version, correlation_id)), ("broker", response)]


def own(correlation_id: int) -> bytes:
    """A request that the proxy answers itself."""
    return frames.raw_request(API_VERSIONS, 99, correlation_id)


def ids(relay: Relay) -> list[int]:
    """Correlation ids of what the client got, in order."""
    return [INT32.unpack_from(one)[0] for one in frames.split(bytes(relay.client.data))]


def fetched(key: int, version: int, correlation_id: int, *args: Any) -> bytes:
    make = frames.fetched if key == FETCH else frames.share_fetched
    return make(version, correlation_id, *args)


def ends(content: Content) -> list[frames.Endpoint]:
    """The node endpoints that a client read."""
    return frames.named(content.get("NodeEndpoints", []))


@pytest.mark.parametrize("spec", OPEN, ids=lambda spec: spec.name)
def test_every_response_without_addresses_passes_as_it_is(spec: ApiSpec) -> None:
    """All versions of all APIs, byte for byte; each is counted, and nothing is in flight any more."""
    for version in range(lowest(spec), spec.max_version + 1):
        sent = frames.response(spec.key, version, 1)
        relay = play(exchange(spec.key, version, sent))
        assert (bytes(relay.client.data), relay.reason) == (sent, None)
        assert not relay.in_flight
        counted = relay.cluster.counters.apis[spec.key, version]
        assert (counted.responses, counted.response_bytes, counted.errors) == (1, len(sent), {})


@pytest.mark.parametrize("spec", [spec for spec in OPEN if spec.flexible_from < 32767], ids=lambda spec: spec.name)
def test_unknown_tagged_fields_pass(spec: ApiSpec) -> None:
    """In the header and in the body, of every flexible version."""
    for version in range(max(lowest(spec), spec.flexible_from), spec.max_version + 1):
        tags = ((70, b"header"),) if response_header_version(spec.key, version) else ()
        sent = frames.response(spec.key, version, 1, {TAGS: [(55, b"b" * 200), (500, b"")]}, tags)
        relay = play(exchange(spec.key, version, sent))
        assert (bytes(relay.client.data), relay.reason) == (sent, None)


@pytest.mark.parametrize("key", sorted(key for key in ERROR_OFFSETS if APIS[key].broker), ids=lambda k: APIS[k].name)
def test_top_level_errors_are_counted_by_code(key: int) -> None:
    """Known, unknown and negative codes, in every version that has them, flexible or not; they pass as they are."""
    spec = APIS[key]
    for version in range(lowest(spec), spec.max_version + 1):
        if not any(field.name == "ErrorCode" for field in RESPONSES[key].struct.plain(version)):
            continue
        for code in (3, UNKNOWN_CODE, -1):
            sent = frames.response(key, version, 1, {"ErrorCode": code})
            relay = play(exchange(key, version, sent))
            assert relay.client.data == sent
            assert relay.errors() == {(key, version): {code: 1}}


@pytest.mark.parametrize(("key", "version"), [(12, 0), (12, 3), (12, 4), (11, 9), (17, 1)])
@pytest.mark.parametrize("size", [4, 5, 6, 8, 9])
def test_a_response_too_short_for_its_error_code_passes(key: int, version: int, size: int) -> None:
    """The client is to judge it; nothing behind it is taken for its code."""
    sent = INT32.pack(size) + INT32.pack(1) + bytes(size - 4)
    relay = play(exchange(key, version, sent))
    assert (bytes(relay.client.data), relay.errors(), relay.reason) == (sent, {}, None)


def test_pipelined_responses_go_to_their_requests() -> None:
    """A hundred of several kinds, rewritten and not, come out in their order."""
    kinds = [(2, 7), (3, 12), (0, 9), (1, 17), (10, 4), (12, 4), (0, 12)]
    script: Script = [
        ("client", b"".join(asked(*kinds[n % 7], n) for n in range(100))),
        ("broker", b"".join(frames.response(*kinds[n % 7], n) for n in range(100))),
    ]
    relay = play(script)
    assert ids(relay) == list(range(100))
    assert (len(relay.in_flight), relay.responses.count) == (0, 100)


def test_what_nobody_asked_for() -> None:
    """A response with nothing in flight ends the connection, also right behind one that was due."""
    ping, pong = frames.heartbeat(1)
    assert play([("broker", pong)]).reason is Reason.MALFORMED_RESPONSE
    assert play([("client", ping), ("broker", pong + frames.heartbeat(2)[1])]).reason is Reason.MALFORMED_RESPONSE


def test_no_response_to_acks_0() -> None:
    """A broker that answers it nevertheless has lost its place."""
    script: Script = [("client", frames.produce(9, 1, 0)), ("broker", frames.produced(9, 1))]
    assert play(script).reason is Reason.MALFORMED_RESPONSE


def test_another_correlation_id() -> None:
    """Not the oldest one's: not even that of a later request."""
    pings = frames.heartbeat(1)[0] + frames.heartbeat(2)[0]
    relay = play([("client", pings), ("broker", frames.heartbeat(2)[1])])
    assert relay.reason is Reason.CORRELATION_MISMATCH
    assert "request 2" in relay.detail


def test_the_id_of_an_own_answer_is_not_the_brokers() -> None:
    """While an own answer waits, the broker cannot answer for the proxy."""
    script: Script = [("client", frames.heartbeat(1)[0] + own(2)), ("broker", frames.heartbeat(2)[1])]
    assert play(script).reason is Reason.CORRELATION_MISMATCH


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        (-(2**31), Reason.INVALID_FRAME_SIZE),
        (-1, Reason.INVALID_FRAME_SIZE),
        (0, Reason.INVALID_FRAME_SIZE),
        (3, Reason.INVALID_FRAME_SIZE),
        (KIB + 1, Reason.FRAME_TOO_LARGE),
        (2**31 - 1, Reason.FRAME_TOO_LARGE),
    ],
)
@pytest.mark.parametrize(("key", "version"), [(12, 3), (3, 12), (1, 17)])
def test_impossible_sizes(size: int, reason: Reason, key: int, version: int) -> None:
    """Refused by the size alone, whatever would be done with the response."""
    head = INT32.pack(size) + INT32.pack(1)
    relay = play(exchange(key, version, head), lambda: Relay(response_limit=KIB))
    assert (relay.reason, bytes(relay.client.data)) == (reason, b"")
    assert str(size) in relay.detail


def test_the_largest_response_is_let_through() -> None:
    """The limit is inclusive."""
    sent = frames.raw_response(12, 3, 1, bytes(KIB - 4))
    assert play(exchange(12, 3, sent), lambda: Relay(response_limit=KIB)).client.data == sent


def test_a_response_that_must_be_held_has_a_limit() -> None:
    """Metadata above it is refused when it is announced; what passes or streams is not held."""
    for key, version in ((12, 3), (1, 17)):
        sent = (
            frames.raw_response(12, 3, 1, bytes(2 * KIB)) if key == 12 else frames.fetched(17, 1, [(0, bytes(2 * KIB))])
        )
        assert play(exchange(key, version, sent), lambda: Relay(held_limit=KIB)).client.data == sent
    relay = Relay(held_limit=KIB)
    relay.feed("client", asked(3, 12, 1))
    relay.feed("broker", INT32.pack(KIB - 3) + INT32.pack(1))
    assert relay.reason is Reason.FRAME_TOO_LARGE
    assert "held" in relay.detail
    assert relay.responses.held_bytes == 0


def test_a_response_of_just_the_held_limit_is_held() -> None:
    """The limit is inclusive, the size field counted."""
    plain = frames.response(3, 12, 1)
    padded = frames.response(3, 12, 1, {TAGS: [(99, bytes(KIB - len(plain) - 3))]})  # a tag and two bytes of size
    assert len(padded) == KIB
    assert play(exchange(3, 12, padded), lambda: Relay(held_limit=KIB)).client.data == padded


@pytest.mark.parametrize("key_version", [(3, 12), (1, 17), (10, 4), (60, 1), (55, 2), (78, 1), (79, 2), (0, 12)])
def test_garbage_where_addresses_are_expected(key_version: tuple[int, int]) -> None:
    """A broker that answers what is not its response: nothing of it reaches the client."""
    key, version = key_version
    for body in (b"", b"\0", b"\xff" * 300, bytes(range(255))):
        sent = frames.raw_response(key, version, 1, body)
        script: Script = exchange(key, version, sent)
        relay = Relay().play(script, whole)
        assert (relay.reason, bytes(relay.client.data)) == (Reason.MALFORMED_RESPONSE, b"")
        assert Relay().play(script, bytewise).reason is Reason.MALFORMED_RESPONSE


@pytest.mark.parametrize("request_under_way", [False, True])
@pytest.mark.parametrize(
    ("key", "version", "response"),
    [
        pytest.param(12, 3, frames.heartbeat(1)[1], id="passed"),
        pytest.param(2, 7, frames.raw_response(2, 7, 1, bytes(5000)), id="passed, large"),
        pytest.param(3, 12, frames.response(3, 12, 1), id="whole"),
        pytest.param(3, 12, frames.response(3, 12, 1, {TAGS: [(77, bytes(5000))]}), id="whole, large"),
        pytest.param(1, 17, frames.fetched(17, 1, [(0, b"r" * 5000), (0, None), (6, b"")]), id="streamed"),
        pytest.param(78, 1, frames.share_fetched(1, 1, [(0, b"r" * 5000)]), id="streamed, shared"),
    ],
)
def test_own_answers_wait_their_turn(key: int, version: int, response: bytes, request_under_way: bool) -> None:
    """Three in a row, behind a response that is under way; another exchange and another own answer behind them."""
    ping, pong = frames.heartbeat(6)
    behind = own(2) + own(3) + own(4) + ping + own(7)
    script: Script = [("client", asked(key, version, 1) + behind), ("broker", response + pong)]
    if request_under_way:
        half = len(response) // 2
        script = [
            ("client", asked(key, version, 1)),
            ("broker", response[:half]),
            ("client", behind),
            ("broker", response[half:] + pong),
        ]
    relay = play(script)
    assert ids(relay) == [1, 2, 3, 4, 6, 7]
    assert relay.client.data.startswith(response)
    assert not relay.in_flight
    assert relay.cluster.counters.apis[API_VERSIONS, -32768].responses == 4


def test_own_answers_in_front_of_a_response() -> None:
    """They go out at once; what comes behind them waits for the broker."""
    ping, pong = frames.heartbeat(3)
    relay = play([("client", own(1) + own(2) + ping + own(4)), ("broker", pong)])
    assert ids(relay) == [1, 2, 3, 4]


def test_an_own_answer_behind_a_spliced_response() -> None:
    """The kernel moves the last bytes; the answer goes out with them, and the next frame is found."""
    sent = frames.raw_response(2, 7, 1, bytes(9000))
    relay = Relay()
    relay.feed("client", asked(2, 7, 1) + own(2) + frames.heartbeat(3)[0] + own(4))
    relay.feed("broker", sent[:100])
    relay.responses.moved(relay.responses.passing - 1)
    assert len(relay.client.data) == 100
    relay.responses.moved(1)
    assert relay.client.data[100 + 4 : 100 + 8] == INT32.pack(2)
    relay.feed("broker", frames.heartbeat(3)[1])
    assert ids_behind(relay, 100) == [2, 3, 4]
    assert not relay.responses.under_way


def ids_behind(relay: Relay, start: int) -> list[int]:
    """As `ids`, from a position on."""
    return [INT32.unpack_from(one)[0] for one in frames.split(bytes(relay.client.data[start:]))]


@pytest.mark.parametrize(("key", "version"), STREAMED)
def test_records_moved_by_splice(key: int, version: int) -> None:
    """Of a streamed response the kernel moves only records; fields and what comes behind are seen as ever."""
    records = [bytes((65 + n,)) * (3000 + n) for n in range(5)]
    sent = fetched(key, version, 1, [(0, one) for one in records], frames.BROKERS)
    relay, pos, moved = Relay(), 0, 0
    relay.cluster.host = "p"
    relay.feed("client", asked(key, version, 1) + own(2))
    while pos < len(sent):
        if relay.responses.passing > 100:
            count = min(relay.responses.passing, 1999)
            chunk = sent[pos : pos + count]
            assert set(chunk) <= set(b"ABCDE"), "only records are opaque"
            relay.splice(chunk)
            moved += len(chunk)
            pos += count
        else:
            relay.feed("broker", sent[pos : pos + 50])
            pos += 50 if pos + 50 < len(sent) else len(sent) - pos
    assert moved > 13_000
    got = frames.split(bytes(relay.client.data))
    assert INT32.unpack_from(got[1])[0] == 2
    assert {host for _, host, _ in ends(frames.understood(key, version, got[0]))} == {"p"}


@pytest.mark.parametrize(("key", "version"), STREAMED)
def test_streams_without_endpoints_pass_as_they_are(key: int, version: int) -> None:
    """No, null, empty, small and large records, many partitions, errors in between: the same for every cut."""
    sizes = [None, b"", b"r", b"r" * 127, b"r" * 128, b"r" * 300, b"r" * 5000]
    partitions = [((0, 6, UNKNOWN_CODE, 0, -1)[n % 5], sizes[n % 7]) for n in range(37)]
    sent = fetched(key, version, 1, partitions)
    relay = play(exchange(key, version, sent))
    assert relay.client.data == sent
    assert relay.errors() == {(key, version): {6: 8, UNKNOWN_CODE: 7, -1: 7}}
    counted = relay.cluster.counters.apis[key, version]
    assert (counted.responses, counted.response_bytes) == (1, len(sent))


@pytest.mark.parametrize(("key", "version"), STREAMED)
def test_a_stream_of_many_partitions_and_megabytes(key: int, version: int) -> None:
    """Fifty partitions of records beyond any buffer; only a partition's fields are ever held."""
    sent = fetched(key, version, 1, [(0, b"r" * (40 * KIB + n)) for n in range(50)], frames.BROKERS)
    for size in (64 * KIB, 256 * KIB, 99_991):
        relay, held = Relay(), 0
        relay.feed("client", asked(key, version, 1))
        for piece in by(size)(sent):
            relay.feed("broker", piece)
            held = max(held, relay.responses.held_bytes)
        assert relay.reason is None
        assert held <= KIB
        assert len(relay.client.data) == len(sent)
        read = frames.understood(key, version, bytes(relay.client.data[4:]))
        sizes = [len(part["Records"]) for topic in read["Responses"] for part in topic["Partitions"]]
        assert sizes == [40 * KIB + n for n in range(50)]


@pytest.mark.parametrize("host", ["", "p", "proxy", "proxy.example", "proxy.example.org", "p" * 40, "p" * 300])
@pytest.mark.parametrize(("key", "version"), STREAMED)
def test_endpoints_behind_records_never_leak(key: int, version: int, host: str) -> None:
    """Whole, the frame is rewritten; cut anywhere, its length stays, and endpoints that do not fit are taken out."""
    sent = fetched(key, version, 1, [(6, b"r" * 200), (0, b"s" * 90)], frames.BROKERS)
    script = exchange(key, version, sent)
    told = [(node, host, 19092 + node % 1000) for node, _, _ in frames.BROKERS]
    rewritten = _fed(script, host, len(sent), {6: 1})
    assert ends(frames.understood(key, version, rewritten[4:])) == told
    fits = len(rewritten) <= len(sent)
    for size in (1, 2, 3, 5, 60, 64, 65, 100, 200, 300, len(sent) - 1):
        streamed = _fed(script, host, size, {6: 1})
        assert len(streamed) == len(sent)
        assert not any(old.encode() in streamed for _, old, _ in frames.BROKERS if len(old) > 3)
        read = frames.understood(key, version, streamed[4:])
        assert ends(read) == (told if fits else [])
        assert read["Responses"] == frames.understood(key, version, sent[4:])["Responses"]


def _fed(script: Script, host: str, size: int, errors: dict[int, int]) -> bytes:
    """What the client got of one response that was fed in pieces."""
    relay = Relay().play(script[:1], whole)
    relay.cluster.host = host
    relay.play(script[1:], by(size))
    assert (relay.reason, len(relay.in_flight)) == (None, 0)
    assert [api.errors for api in relay.cluster.counters.apis.values()] == [errors]
    return bytes(relay.client.data)


@pytest.mark.parametrize(("key", "version"), STREAMED)
def test_a_stream_with_unknown_tagged_fields(key: int, version: int) -> None:
    """In the header, beside the endpoints and in nothing else's place: they pass, in every cut."""
    topic = {
        "TopicId": bytes(16),
        "Partitions": [{"Records": b"r" * 99, TAGS: [(77, b"partition")]}],
        TAGS: [(9, b"t")],
    }
    content = {"Responses": [topic], "NodeEndpoints": [], TAGS: [(44, b"x" * 150)]}
    sent = frames.response(key, version, 1, content, ((3, b"header"),))
    assert play(exchange(key, version, sent)).client.data == sent


def test_aborted_transactions_are_walked_one_by_one() -> None:
    """A partition with thousands of them is not held whole."""
    aborted = [{"ProducerId": n, "FirstOffset": n} for n in range(5000)]
    partition = {"AbortedTransactions": aborted, "Records": b"r" * 10}
    sent = frames.response(1, 17, 1, {"Responses": [{"Partitions": [partition]}]})
    relay, held = Relay(), 0
    relay.feed("client", asked(1, 17, 1))
    for piece in by(4 * KIB)(sent):
        relay.feed("broker", piece)
        held = max(held, relay.responses.held_bytes)
    assert relay.client.data == sent
    assert held <= KIB


@pytest.mark.parametrize(("key", "version"), STREAMED)
def test_records_beyond_their_frame(key: int, version: int) -> None:
    """A size of records that reaches behind the frame's end would swallow the next frame."""
    sent = bytearray(fetched(key, version, 1, [(0, b"r" * 300)]))
    at = sent.index(b"r" * 300)
    sent[at - 2 : at] = b"\xff\x7f"
    relay = Relay().play(exchange(key, version, bytes(sent) + frames.heartbeat(2)[1]), by(100))
    assert (relay.reason, relay.detail) == (
        Reason.MALFORMED_RESPONSE,
        "records or fields reach beyond their frame",
    )


@pytest.mark.parametrize(("key", "version"), STREAMED)
@pytest.mark.parametrize("behind", [b"", b"r" * 99])
def test_a_frame_that_ends_before_its_fields(key: int, version: int, behind: bytes) -> None:
    """A size that is too small, by any number: a fault as soon as the frame is over, also when nothing follows."""
    sent = fetched(key, version, 1, [(0, b"r" * 100), (0, b"r" * 130)])
    for size in range(66, len(sent)):
        shorter = INT32.pack(size - 4) + sent[4:size] + behind
        for cut in (whole, by(50), by(size - 1), *([bytewise] if size % 16 == 0 else [])):
            relay = Relay().play([("client", asked(key, version, 1)), ("broker", shorter)], cut)
            assert relay.reason is Reason.MALFORMED_RESPONSE, size


@pytest.mark.parametrize(("key", "version"), STREAMED)
@pytest.mark.parametrize("more", [1, 2, 50])
def test_a_frame_that_goes_on_behind_its_fields(key: int, version: int, more: int) -> None:
    """Clients ignore what stands behind the last field; it passes, and endpoints in front of it are replaced."""
    fields = fetched(key, version, 1, [(0, b"r" * 100)], frames.BROKERS)
    sent = INT32.pack(len(fields) - 4 + more) + fields[4:] + b"\x01" * more
    for size in (len(sent), 1, 50, 99):
        got = _fed(exchange(key, version, sent), "p", size, {})
        assert got.endswith(b"\x01" * more)
        assert {host for _, host, _ in ends(frames.understood(key, version, got[4:-more]))} == {"p"}


@pytest.mark.parametrize(("key", "version"), STREAMED)
def test_a_partition_that_does_not_end(key: int, version: int) -> None:
    """More elements announced than the frame has room for."""
    content = fetched(key, version, 1, [(0, b"r" * 100)])
    body = content[8:]
    at = 1 + 4 + 2 + 4  # the header's tags, throttle time, error code, session id or acquisition lock timeout
    if key == SHARE_FETCH:
        at = body.index(bytes(range(16))) - 1
    sent = content[: 8 + at] + b"\x7f" + content[8 + at + 1 :]
    relay = Relay().play(exchange(key, version, sent), by(90))
    assert relay.reason is Reason.MALFORMED_RESPONSE


def test_the_section_behind_the_records_has_a_limit() -> None:
    """It must be held to be rewritten; one that is larger than what may be held ends the connection."""
    content = {"Responses": [], TAGS: [(99, bytes(3 * KIB))]}
    sent = frames.response(1, 17, 1, content)
    relay = Relay(held_limit=KIB).play(exchange(1, 17, sent), by(500))
    assert relay.reason is Reason.FRAME_TOO_LARGE
    assert Relay(held_limit=4 * KIB).play(exchange(1, 17, sent), by(500)).client.data == sent


@pytest.mark.parametrize(("key", "version"), [(3, 12), (1, 17), (12, 3), (0, 12)])
def test_nothing_is_allocated_for_a_claimed_size(key: int, version: int) -> None:
    """Fifty megabytes announced, some bytes sent: some bytes kept."""
    relay = Relay()
    relay.play(exchange(key, version, frames.response(key, version, 1)), whole)  # what is made once
    relay.feed("client", asked(key, version, 2))
    first = INT32.pack(50 << 20) + frames.response(key, version, 2)[4:30]
    tracemalloc.start()
    try:
        relay.feed("broker", first)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert relay.responses.under_way
    assert peak < 64 * KIB


def test_nothing_is_allocated_for_claimed_records() -> None:
    """Records of fifty megabytes are announced inside of a frame; what is there goes on at once."""
    sent = fetched(FETCH, 17, 1, [(0, b"r" * (3 << 20))])
    relay = Relay()
    relay.feed("client", asked(FETCH, 17, 1))
    tracemalloc.start()
    try:
        relay.feed("broker", sent[:KIB])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert relay.responses.passing > 2 << 20
    assert (relay.responses.held_bytes, bytes(relay.client.data)) == (0, sent[:KIB])
    assert peak < 64 * KIB


def test_what_is_held_is_told() -> None:
    """The head of a frame, and a frame that must be whole, are held; a body that passes is not."""
    relay = Relay()
    relay.feed("client", frames.heartbeat(1)[0] + asked(3, 12, 2))
    assert (relay.responses.held_bytes, relay.responses.under_way) == (0, False)
    relay.feed("broker", frames.heartbeat(1)[1][: HEAD_BYTES - 1])
    assert (relay.responses.held_bytes, relay.responses.under_way) == (HEAD_BYTES - 1, True)
    relay.feed("broker", frames.heartbeat(1)[1][HEAD_BYTES - 1 :] + frames.response(3, 12, 2)[:20])
    assert (relay.responses.held_bytes, relay.responses.under_way) == (20, True)
    relay.feed("broker", frames.response(3, 12, 2)[20:])
    assert (relay.responses.held_bytes, relay.responses.under_way) == (0, False)


def test_time_is_split_between_proxy_and_broker() -> None:
    """From sent to the first byte is the broker's; before and behind it, the proxy's."""
    relay = Relay()
    relay.responses.settle(0.5)
    relay.requests.feed(memoryview(asked(3, 12, 1)), 1.0)
    relay.requests.settle(1.5)
    sent = frames.response(3, 12, 1)
    relay.responses.feed(memoryview(sent[:10]), 4.0)
    relay.responses.settle(4.1)
    relay.responses.feed(memoryview(sent[10:]), 5.0)
    relay.responses.settle(5.25)
    counted = relay.cluster.counters.apis[3, 12]
    assert (counted.upstream.total, counted.proxy.total) == (2.5, 1.75)
    assert [sum(h.counts) for h in (counted.upstream, counted.proxy)] == [1, 1]


def test_own_answers_have_no_time_of_the_broker() -> None:
    """They are counted as responses, with their bytes, and in no histogram."""
    relay = play([("client", frames.heartbeat(1)[0] + own(2)), ("broker", frames.heartbeat(1)[1])])
    counted = relay.cluster.counters.apis[API_VERSIONS, -32768]
    assert (counted.requests, counted.responses) == (1, 1)
    assert counted.response_bytes == len(relay.client.data) - len(frames.heartbeat(1)[1])
    assert (counted.upstream.counts, counted.proxy.counts) == (Histogram().counts, Histogram().counts)


def test_nothing_to_answer() -> None:
    """Asked for answers of its own while none has its turn, the proxy sends nothing."""
    relay = Relay()
    relay.responses.answer()
    relay.feed("client", frames.heartbeat(1)[0] + own(2))
    relay.responses.answer()
    assert not relay.client.data
    assert len(relay.in_flight) == 2
