"""How responses go on: unchanged, or with other addresses; those too large for a buffer as they arrive."""

from __future__ import annotations

import tracemalloc

import pytest

from kproxy.observe.reasons import Reason
from kproxy.wire.apis import APIS, ApiSpec, response_header_version
from kproxy.wire.generated.skims import ERROR_OFFSETS
from kproxy.wire.primitives import INT32
from tests.property.wire_contents import RESPONSES, TAGS, Content
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.exchanges import FETCH, SHARE_FETCH, asked, ends, exchange, fetched, own
from tests.unit.relay.flows import KIB, Cut, Relay, Script, by, bytewise, play, whole

OPEN = [spec for spec in APIS.values() if spec.broker]
UNKNOWN_CODE = 31999
STREAMED = [(FETCH, 16), (FETCH, 17), (FETCH, 18), (SHARE_FETCH, 1), (SHARE_FETCH, 2)]


def lowest(spec: ApiSpec) -> int:
    """Of SaslHandshake 1: v0 goes on as v1, and no requests follow it, see test_sasl_tokens."""
    return max(spec.min_version, 1 if spec.key == 17 else 0)


@every("spec", OPEN, ids=lambda spec: spec.name)
def test_every_response_without_addresses_passes_as_it_is(spec: ApiSpec) -> None:
    """All versions of all APIs, byte for byte; each is counted, and nothing stays in flight."""
    for version in range(lowest(spec), spec.max_version + 1):
        sent = frames.response(spec.key, version, 1)
        relay = play(exchange(spec.key, version, sent))
        assert (bytes(relay.client.data), relay.reason) == (sent, None)
        assert not relay.in_flight
        counted = relay.cluster.counters.apis[spec.key, version]
        assert (counted.responses, counted.response_bytes, counted.errors) == (1, len(sent), {})


@every("spec", [spec for spec in OPEN if spec.flexible_from < 32767], ids=lambda spec: spec.name)
def test_unknown_tagged_fields_pass(spec: ApiSpec) -> None:
    """In the header and in the body, of every flexible version."""
    for version in range(max(lowest(spec), spec.flexible_from), spec.max_version + 1):
        tags = ((70, b"header"),) if response_header_version(spec.key, version) else ()
        sent = frames.response(spec.key, version, 1, {TAGS: [(55, b"b" * 200), (500, b"")]}, tags)
        relay = play(exchange(spec.key, version, sent))
        assert (bytes(relay.client.data), relay.reason) == (sent, None)


@every("key", sorted(key for key in ERROR_OFFSETS if APIS[key].broker), ids=lambda k: APIS[k].name)
def test_top_level_errors_are_counted_by_code(key: int) -> None:
    """In every version that has codes, and unknown and negative ones in the first and the last; they pass unchanged."""
    spec = APIS[key]
    for version in range(lowest(spec), spec.max_version + 1):
        if not any(field.name == "ErrorCode" for field in RESPONSES[key].struct.plain(version)):
            continue
        for code in (3, UNKNOWN_CODE, -1) if version in (lowest(spec), spec.max_version) else (3,):
            sent = frames.response(key, version, 1, {"ErrorCode": code})
            relay = play(exchange(key, version, sent))
            assert relay.client.data == sent
            assert relay.errors() == {(key, version): {code: 1}}


NESTED: list[tuple[int, int, Content]] = [
    (0, 3, {"Responses": [{"PartitionResponses": [{"ErrorCode": 29}, {"ErrorCode": 0}, {"ErrorCode": 87}]}]}),
    (1, 11, {"ErrorCode": 29, "Responses": [{"Partitions": [{"ErrorCode": 87, "Records": b"r" * 300}]}]}),
    (2, 6, {"Topics": [{"Partitions": [{"ErrorCode": 29}]}, {"Partitions": [{"ErrorCode": 87}]}]}),
    (3, 13, {"Topics": [{"ErrorCode": 29, "Name": "orders", "Partitions": []}], "ErrorCode": 87}),
    (8, 8, {"Topics": [{"Partitions": [{"ErrorCode": 29}, {"ErrorCode": 87}]}]}),
    (9, 7, {"Topics": [{"Partitions": [{"ErrorCode": 29}]}], "ErrorCode": 87}),
    (9, 10, {"Groups": [{"Topics": [{"Partitions": [{"ErrorCode": 29}]}], "ErrorCode": 87}]}),
    (13, 5, {"ErrorCode": 29, "Members": [{"ErrorCode": 87}]}),
    (15, 6, {"Groups": [{"ErrorCode": 29}, {"ErrorCode": 87}]}),
    (19, 7, {"Topics": [{"ErrorCode": 29, "TopicConfigErrorCode": 87}]}),
    (20, 6, {"Responses": [{"ErrorCode": 29}, {"ErrorCode": 87}]}),
    (24, 3, {"ResultsByTopicV3AndBelow": [{"ResultsByPartition": [{"PartitionErrorCode": c} for c in (29, 87)]}]}),
    (28, 3, {"Topics": [{"Partitions": [{"ErrorCode": 29}, {"ErrorCode": 87}]}]}),
    (32, 4, {"Results": [{"ErrorCode": 29}, {"ErrorCode": 87}]}),
    (42, 2, {"Results": [{"ErrorCode": 29}, {"ErrorCode": 87}]}),
    (55, 2, {"ErrorCode": 29, "Topics": [{"Partitions": [{"ErrorCode": 87}]}]}),
    (60, 2, {"ErrorCode": 29}),
]
"""Responses of APIs that pass, that are held, and that stream, with the codes 29 and 87 in all their places."""


@pytest.mark.parametrize(("key", "version", "content"), NESTED, ids=[f"{key}-{version}" for key, version, _ in NESTED])
def test_nested_errors_are_counted(key: int, version: int, content: Content) -> None:
    """However the bytes of a small response arrive, also with tagged fields in its header and its body."""
    expected = {29: 1, 87: 1} if key != 60 else {29: 1}
    for tags in ((), ((70, b"header"),)):
        sent = frames.response(key, version, 1, content, tags)
        relay = play(exchange(key, version, sent))
        assert relay.errors() == {(key, version): expected}


@pytest.mark.parametrize(("key", "version"), [(12, 4), (22, 5), (26, 4)])
def test_a_header_with_tagged_fields(key: int, version: int) -> None:
    """No broker sends one; of a response that passes, what is at the code's usual place is then not taken for it."""
    for tags, expected in (((), {(key, version): {25: 1}}), (((70, b"header"),), {})):
        relay = play(exchange(key, version, frames.response(key, version, 1, {"ErrorCode": 25}, tags)))
        assert relay.errors() == expected


@pytest.mark.parametrize("cut", [whole, by(1000), by(7000)])
@pytest.mark.parametrize(("partitions", "expected"), [(2000, {(8, 8): {29: 2000}}), (20_000, {})])
def test_large_responses_are_walked_up_to_a_limit(
    cut: Cut, partitions: int, expected: dict[tuple[int, int], dict[int, int]]
) -> None:
    """However they come. One above 128 KiB is not held for its codes, and passes as it comes."""
    content: Content = {"Topics": [{"Name": "orders", "Partitions": [{"ErrorCode": 29}] * partitions}]}
    sent = frames.response(8, 8, 1, content)
    relay = Relay().play(exchange(8, 8, sent), cut)
    assert (bytes(relay.client.data), relay.reason, relay.errors()) == (sent, None, expected)


def test_a_larger_response_is_counted_by_its_top_level_code() -> None:
    """Its first bytes have it, and go on at once."""
    content: Content = {"ErrorCode": 25, "Members": [{"MemberId": "m" * 100, "ErrorCode": 79}] * 2000}
    sent = frames.response(13, 5, 1, content)
    relay = Relay().play([*exchange(13, 5, sent)[:-1], ("broker", sent[:5000])], whole)
    assert (bytes(relay.client.data), relay.errors()) == (sent[:5000], {(13, 5): {25: 1}})


@pytest.mark.parametrize(
    ("size", "cut", "seen"), [(4, by(1000), True), (4, whole, True), (12, by(7000), False), (12, whole, False)]
)
def test_a_fetch_that_does_not_stream(size: int, cut: Cut, seen: bool) -> None:
    """A large one is not held for the codes of its partitions: that at the top counts, in however many pieces."""
    sent = frames.fetched(11, 1, [(29, b""), (0, b"r" * size * KIB)], ErrorCode=71)
    relay = Relay().play(exchange(FETCH, 11, sent), cut)
    assert bytes(relay.client.data) == sent
    assert relay.errors() == {(FETCH, 11): {71: 1, 29: 1} if seen else {71: 1}}


@pytest.mark.parametrize(("key", "version"), [(12, 0), (12, 3), (12, 4), (11, 9), (17, 1)])
@every("size", [4, 5, 6, 8, 9])
def test_a_response_too_short_for_its_error_code_passes(key: int, version: int, size: int) -> None:
    """The client must deal with it; no byte behind the frame is taken for its code."""
    sent = INT32.pack(size) + INT32.pack(1) + bytes(size - 4)
    relay = play(exchange(key, version, sent))
    assert (bytes(relay.client.data), relay.errors(), relay.reason) == (sent, {}, None)


@pytest.mark.parametrize("key_version", [(3, 12), (1, 17), (10, 4), (60, 1), (55, 2), (78, 1), (79, 2), (0, 12)])
def test_garbage_where_addresses_are_expected(key_version: tuple[int, int]) -> None:
    """If a broker answers with something else than its response, nothing of that reaches the client."""
    key, version = key_version
    for body in (b"", b"\0", b"\xff" * 300, bytes(range(255))):
        sent = frames.raw_response(key, version, 1, body)
        script: Script = exchange(key, version, sent)
        relay = Relay().play(script, whole)
        assert (relay.reason, bytes(relay.client.data)) == (Reason.MALFORMED_RESPONSE, b"")
        assert Relay().play(script, bytewise).reason is Reason.MALFORMED_RESPONSE


@pytest.mark.parametrize(("key", "version"), STREAMED)
def test_records_moved_by_splice(key: int, version: int) -> None:
    """Of a streamed response the kernel moves only records; fields and what comes behind are read as usual."""
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
@every(("key", "version"), STREAMED)
def test_endpoints_behind_records_never_leak(key: int, version: int, host: str) -> None:
    """Whole, the frame is rewritten; cut anywhere, its length stays, and endpoints that do not fit are removed."""
    sent = fetched(key, version, 1, [(6, b"r" * 200), (0, b"s" * 90)], frames.BROKERS)
    script = exchange(key, version, sent)
    advertised = [(node, host, 19092 + node % 1000) for node, _, _ in frames.BROKERS]
    rewritten = _fed(script, host, len(sent), {6: 1})
    assert ends(frames.understood(key, version, rewritten[4:])) == advertised
    fits = len(rewritten) <= len(sent)
    for size in (1, 2, 3, 5, 60, 64, 65, 100, 200, 300, len(sent) - 1):
        streamed = _fed(script, host, size, {6: 1})
        assert len(streamed) == len(sent)
        assert not any(old.encode() in streamed for _, old, _ in frames.BROKERS if len(old) > 3)
        read = frames.understood(key, version, streamed[4:])
        assert ends(read) == (advertised if fits else [])
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
    """In the header and beside the endpoints: they pass, in every cut."""
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
    """A size of records that reaches beyond the frame's end would swallow the next frame."""
    sent = bytearray(fetched(key, version, 1, [(0, b"r" * 300)]))
    at = sent.index(b"r" * 300)
    sent[at - 2 : at] = b"\xff\x7f"
    relay = Relay().play(exchange(key, version, bytes(sent) + frames.heartbeat(2)[1]), by(100))
    assert (relay.reason, relay.detail) == (
        Reason.MALFORMED_RESPONSE,
        "records or fields reach beyond their frame",
    )


@every(("key", "version"), STREAMED)
@pytest.mark.parametrize("behind", [b"", b"r" * 99])
def test_a_frame_that_ends_before_its_fields(key: int, version: int, behind: bytes) -> None:
    """At any byte of a field, and at some of the records: a fault once the frame is over, also when nothing follows."""
    sent = fetched(key, version, 1, [(0, b"r" * 100), (0, b"r" * 130)])
    inside = {size for size in range(1, len(sent)) if sent[size - 1 : size + 1] == b"rr" and size % 8}
    for size in sorted(set(range(66, len(sent))) - inside):
        shorter = INT32.pack(size - 4) + sent[4:size] + behind
        for cut in (whole, by(50), by(size - 1), *([bytewise] if size % 16 == 0 else [])):
            relay = Relay().play([("client", asked(key, version, 1)), ("broker", shorter)], cut)
            assert relay.reason is Reason.MALFORMED_RESPONSE, size


@every(("key", "version"), STREAMED)
@pytest.mark.parametrize("more", [1, 2, 50])
def test_a_frame_that_goes_on_behind_its_fields(key: int, version: int, more: int) -> None:
    """Clients ignore what is behind the last field; it passes, and endpoints in front of it are replaced."""
    fields = fetched(key, version, 1, [(0, b"r" * 100)], frames.BROKERS)
    sent = INT32.pack(len(fields) - 4 + more) + fields[4:] + b"\x01" * more
    for size in (len(sent), 1, 50, 99):
        got = _fed(exchange(key, version, sent), "p", size, {})
        assert got.endswith(b"\x01" * more)
        assert {host for _, host, _ in ends(frames.understood(key, version, got[4:-more]))} == {"p"}


@pytest.mark.parametrize(("key", "version"), STREAMED)
def test_a_partition_that_does_not_end(key: int, version: int) -> None:
    """More elements are announced than the frame has room for."""
    content = fetched(key, version, 1, [(0, b"r" * 100)])
    body = content[8:]
    at = 1 + 4 + 2 + 4  # the header's tags, throttle time, error code, session id or acquisition lock timeout
    if key == SHARE_FETCH:
        at = body.index(bytes(range(16))) - 1
    sent = content[: 8 + at] + b"\x7f" + content[8 + at + 1 :]
    relay = Relay().play(exchange(key, version, sent), by(90))
    assert relay.reason is Reason.MALFORMED_RESPONSE


def test_the_section_behind_the_records_has_a_limit() -> None:
    """It must be held to be rewritten; if it is larger than what may be held, the connection ends."""
    content = {"Responses": [], TAGS: [(99, bytes(3 * KIB))]}
    sent = frames.response(1, 17, 1, content)
    relay = Relay(held_limit=KIB).play(exchange(1, 17, sent), by(500))
    assert relay.reason is Reason.FRAME_TOO_LARGE
    assert Relay(held_limit=4 * KIB).play(exchange(1, 17, sent), by(500)).client.data == sent


def test_nothing_is_allocated_for_claimed_records() -> None:
    """Records of fifty megabytes are announced inside a frame; what is there goes on at once."""
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
