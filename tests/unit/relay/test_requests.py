"""The client's requests: which bytes go to the broker, which responses are expected, what ends the connection."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiPolicy, OnRequest
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Answer, Forward
from kproxy.relay.requests import HEAD_BYTES
from kproxy.wire.apis import APIS, ApiSpec
from kproxy.wire.primitives import INT32, frame
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import KIB, Cluster, Relay, Script, by, bytewise, play, whole

OPEN = [spec for spec in APIS.values() if spec.broker]
CLOSED = [spec for spec in APIS.values() if not spec.broker]
API_VERSIONS = 18
LONG = "i" * 300
NO_CLIENT_ID = b"\xff\xff"


def lowest(key: int) -> int:
    """The lowest version that goes on as it came, and requests behind it: of SaslHandshake 1, see test_sasl_tokens."""
    return max(APIS[key].min_version, 1 if key == 17 else 0)


def shown(name: str | None) -> str:
    """A name's first letters; some are long."""
    return f"{name!r:.8}"


def waiting(relay: Relay) -> list[tuple[int, int, int]]:
    """Correlation id, api key and version of what is in flight."""
    return [(e.correlation_id, e.route.api_key, e.route.version) for e in relay.in_flight]


@every("spec", OPEN, ids=lambda spec: spec.name)
def test_every_api_goes_to_the_broker_as_it_came(spec: ApiSpec) -> None:
    """All versions, one after another, byte for byte, and each is waited for; only ApiVersions v5 becomes v4."""
    versions = [version for version in frames.versions(spec.key, lowest(spec.key)) if (spec.key, version) != (18, 5)]
    sent = [frames.request(spec.key, version, 100 + version) for version in versions]
    # The acks of a request without contents are 0, which has no response.
    sent = [frames.produce(version, 100 + version) for version in versions] if spec.key == 0 else sent
    relay = play([("client", b"".join(sent))])
    assert relay.broker.data == b"".join(sent)
    assert waiting(relay) == [(100 + version, spec.key, version) for version in versions]
    assert relay.requests.count == len(sent)
    for version, one in zip(versions, sent, strict=True):
        counted = relay.cluster.counters.apis[spec.key, version]
        assert (counted.requests, counted.request_bytes) == (1, len(one))


@every("spec", OPEN, ids=lambda spec: spec.name)
def test_bytes_behind_the_last_field_pass(spec: ApiSpec) -> None:
    """Brokers do not look at them, in any version; librdkafka before 1.0 sends four with ApiVersions."""
    versions = [version for version in frames.versions(spec.key, lowest(spec.key)) if (spec.key, version) != (18, 5)]
    as_they_are = [frames.request(spec.key, version, 100 + version) for version in versions]
    if spec.key == 0:
        as_they_are = [frames.produce(version, 100 + version) for version in versions]
    sent = b"".join(INT32.pack(len(one)) + one[4:] + bytes(4) for one in as_they_are)
    relay = play([("client", sent)])
    assert relay.broker.data == sent
    assert waiting(relay) == [(100 + version, spec.key, version) for version in versions]


def test_pipelined_requests_keep_their_order() -> None:
    """Two hundred requests of several kinds are waited for in the order in which they were sent."""
    kinds = [lambda n: frames.request(2, 7, n), lambda n: frames.produce(9, n), lambda n: frames.request(1, 13, n)]
    sent = b"".join(kinds[number % 3](number) for number in range(200))
    relay = play([("client", sent)])
    assert relay.broker.data == sent
    assert [entry[0] for entry in waiting(relay)] == list(range(200))


@every("client_id", [None, "", "c1", LONG, "k" * 32767], ids=shown)
@every("transactional_id", [None, "", "t1", LONG], ids=shown)
@every("version", frames.versions(0))
def test_produce_is_waited_for_unless_acks_is_0(
    version: int, transactional_id: str | None, client_id: str | None
) -> None:
    """Every version, with and without the ids before `acks`; the broker gets all of them."""
    sent = [
        frames.produce(version, 10 + acks, acks, transactional_id=transactional_id, client_id=client_id)
        for acks in (0, 1, 0, -1, 0)
    ]
    relay = Relay().play([("client", b"".join(sent))], whole)
    assert waiting(relay) == [(11, 0, version), (9, 0, version)]
    cut = Relay().play([("client", b"".join(sent))], by(97))
    assert cut.outcome() == relay.outcome()
    assert relay.broker.data == b"".join(sent)


@every("version", frames.versions(0))
def test_produce_cut_anywhere_before_acks(version: int) -> None:
    """The head of a Produce request is held until `acks` is there, wherever the cut is."""
    sent = frames.produce(version, 1, 0) + frames.produce(version, 2, 1, transactional_id="t1")
    expected = Relay().play([("client", sent)], whole).outcome()
    assert [entry[0] for entry in expected.in_flight] == [2]
    for at in range(1, len(sent)):
        relay = Relay()
        relay.feed("client", sent[:at])
        relay.feed("client", sent[at:])
        assert relay.outcome() == expected


def test_produce_with_unknown_tagged_fields_in_its_header() -> None:
    """`acks` is found behind tagged fields that are not known yet, and they go on."""
    body = frames.produce(12, 1, 0)[4:]
    plain = 10 + 2  # the fixed part and the client id, "c1"
    tags = b"\x02" + b"\x05\x03abc" + b"\x90\x03\x80\x02" + b"x" * 256
    sent = frame(body[:plain], tags, body[plain + 1 :])
    relay = play([("client", sent)])
    assert (waiting(relay), bytes(relay.broker.data)) == ([], sent)


@every("version", frames.versions(0))
def test_produce_that_ends_before_acks_is_refused(version: int) -> None:
    """A complete frame without `acks` once hung the whole process when more bytes followed."""
    request = frames.produce(version, 1, client_id="t1", transactional_id="t1")[4:]
    before_acks = request.rindex(b"t1") + 2  # Produce has a transactional id from v3 on, behind the client's
    for size in range(8, before_acks + 2):
        sent = frame(request[:size])
        for behind in (b"", b"x", sent, b"y" * 500):
            for cut in (whole, bytewise):
                relay = Relay().play([("client", sent + behind)], cut)
                assert (relay.reason, bytes(relay.broker.data)) == (Reason.MALFORMED_REQUEST, b"")


@pytest.mark.parametrize("version", [3, 12])
def test_the_longest_names_before_acks(version: int) -> None:
    """Two of 32,767 bytes are within the search, in small pieces too."""
    sent = frames.produce(version, 1, 0, client_id="c" * 32767, transactional_id="t" * 32767)
    for cut in (whole, by(999)):
        relay = Relay().play([("client", sent)], cut)
        assert (waiting(relay), relay.reason, bytes(relay.broker.data)) == ([], None, sent)


def test_the_search_for_acks_has_an_end() -> None:
    """Millions of tagged fields in a header once blocked the whole process; too many are a fault at once."""
    relay = Relay()
    relay.feed("client", (60 << 20).to_bytes(4, "big") + frames.produce(12, 1)[4:16] + b"\xff\xff\xff\x07")
    fed = 0
    while relay.reason is None:
        relay.feed("client", b"\x05\0" * 8192)
        fed += 16 * KIB
    assert relay.reason is Reason.MALFORMED_REQUEST
    assert 128 * KIB <= fed <= 512 * KIB
    assert not relay.broker.data


def test_a_request_that_must_be_held_has_a_limit() -> None:
    """A larger ApiVersions is refused when its size is announced, whole or not; the broker gets nothing of it."""
    for size, reason in ((64 * KIB, None), (64 * KIB + 1, Reason.FRAME_TOO_LARGE)):
        head = frames.raw_request(API_VERSIONS, 0, 1, NO_CLIENT_ID)[4:]
        relay = Relay().play([("client", size.to_bytes(4, "big") + head)], bytewise)
        assert (relay.reason, bytes(relay.broker.data)) == (reason, b"")
        relay = Relay().play([("client", frames.raw_request(API_VERSIONS, 99, 1, bytes(size - 8)))], whole)
        assert relay.reason is reason
    assert "must be held" in relay.detail


@pytest.mark.parametrize("version", [3, 9])
@pytest.mark.parametrize("what", ["client id", "transactional id"])
def test_produce_with_an_impossible_length_is_refused(version: int, what: str) -> None:
    """A length below -1, or above what Kafka takes."""
    sent = bytearray(frames.produce(version, 1, transactional_id="t1"))
    at = sent.index(b"c1" if what == "client id" else b"t1")
    if what == "transactional id" and version >= 9:
        sent[at - 1 : at + 2] = b"\xff\xff\x7f"
    else:
        sent[at - 2 : at] = b"\xff\xfe"
    assert play([("client", bytes(sent))]).reason is Reason.MALFORMED_REQUEST


def test_a_large_request_streams() -> None:
    """Its head goes out with the first bytes, the rest as it arrives; nothing of it is held."""
    sent = frames.produce(12, 1, records=bytes(300 * KIB))
    relay = Relay()
    relay.feed("client", sent[: 64 * KIB])
    assert len(relay.broker.data) == 64 * KIB
    requests = relay.requests
    assert (requests.passing, requests.held_bytes, requests.under_way) == (len(sent) - 64 * KIB, 0, True)
    relay.feed("client", sent[64 * KIB :])
    assert relay.broker.data == sent
    assert not requests.under_way
    small = frames.produce(12, 1, records=bytes(20 * KIB))
    assert play([("client", small)]).broker.data == small


@pytest.mark.parametrize("acks", [0, 1])
def test_bytes_moved_by_splice_count_as_passed(acks: int) -> None:
    """The bytes that the kernel moved are not looked at; the next frame is found behind them."""
    sent = frames.produce(12, 1, acks, records=bytes(300 * KIB))
    relay = Relay()
    relay.feed("client", sent[: 64 * KIB])
    while relay.requests.passing > KIB:
        relay.requests.moved(min(relay.requests.passing - 100, 100_000))
        relay.requests.settle(relay.now)
    last = relay.requests.passing
    assert relay.requests.under_way
    relay.feed("client", sent[-last:] + frames.heartbeat(2)[0])
    assert waiting(relay) == [(1, 0, 12), (2, 12, 3)][1 - acks :]
    assert relay.broker.data[64 * KIB :] == sent[-last:] + frames.heartbeat(2)[0]


def test_a_request_moved_to_its_end() -> None:
    """Splice takes the last byte, too."""
    sent = frames.produce(12, 1, records=bytes(100 * KIB))
    relay = Relay()
    relay.feed("client", sent[:KIB])
    relay.requests.moved(relay.requests.passing)
    assert not relay.requests.under_way
    relay.feed("client", frames.heartbeat(2)[0])
    assert [entry[0] for entry in waiting(relay)] == [1, 2]


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        (-(2**31), Reason.INVALID_FRAME_SIZE),
        (-1, Reason.INVALID_FRAME_SIZE),
        (0, Reason.INVALID_FRAME_SIZE),
        (7, Reason.INVALID_FRAME_SIZE),
        (1025, Reason.FRAME_TOO_LARGE),
        (2**31 - 1, Reason.FRAME_TOO_LARGE),
    ],
)
def test_impossible_sizes(size: int, reason: Reason) -> None:
    """Refused by the size alone, first and behind a valid request; the broker gets nothing of it."""
    head = size.to_bytes(4, "big", signed=True) + frames.heartbeat(5)[0][4:12]
    ping, pong = frames.heartbeat(1)
    scripts: list[Script] = [
        [("client", head)],
        [("client", ping), ("broker", pong), ("client", head)],
        [("client", ping + head)],
    ]
    for script in scripts:
        relay = play(script, lambda: Relay(limit=KIB))
        assert relay.reason is reason
        assert str(size) in relay.detail
        assert relay.broker.data in (b"", ping)


def test_the_largest_request_is_let_through() -> None:
    """The limit is inclusive."""
    sent = frames.raw_request(12, 3, 1, bytes(KIB - 8))
    assert play([("client", sent)], lambda: Relay(limit=KIB)).broker.data == sent


def test_a_request_of_eight_bytes_is_let_through() -> None:
    """It has key, version and correlation id; the broker refuses it for the missing rest."""
    sent = frames.raw_request(12, 3, 1)
    assert play([("client", sent)]).broker.data == sent


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\xaa\xbb", Reason.TLS_ON_PLAINTEXT),
        (b"\x16\x03\x03\x00\xf4\x01\x00\x00\xf0\x03\x03\x00\x00", Reason.TLS_ON_PLAINTEXT),
        (b"GET /metrics HTTP/1.1\r\n", Reason.HTTP_ON_KAFKA_PORT),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Reason.HTTP_ON_KAFKA_PORT),
        (b"\xff" * 20, Reason.INVALID_FRAME_SIZE),
    ],
)
def test_other_protocols_are_named(first: bytes, reason: Reason) -> None:
    """A TLS hello and HTTP have a reason of their own."""
    assert play([("client", first)]).reason is reason


@every("spec", CLOSED, ids=lambda spec: spec.name)
def test_apis_of_controllers_are_refused(spec: ApiSpec) -> None:
    """They are between brokers and controllers, not for clients."""
    relay = play([("client", frames.raw_request(spec.key, spec.max_version, 1))])
    assert relay.reason is Reason.REFUSED_API
    assert relay.cluster.counters.refused == {(spec.key, "refused_api"): 1}


@pytest.mark.parametrize("key", [-1, 4, 7, 95, 4096, 32767, -32768])
def test_unknown_keys_are_refused(key: int) -> None:
    """Also keys that Kafka had once, and negative ones; the broker gets nothing of them."""
    relay = play([("client", frames.raw_request(key, 0, 1, b"rest"))])
    assert (relay.reason, bytes(relay.broker.data)) == (Reason.UNKNOWN_API, b"")
    assert str(key) in relay.detail


@every("spec", [spec for spec in OPEN if spec.key != API_VERSIONS], ids=lambda spec: spec.name)
def test_versions_outside_the_schemas_are_refused(spec: ApiSpec) -> None:
    """One below the lowest, one above the highest, and the ends of int16; no route is kept for them."""
    for version in (spec.min_version - 1, spec.max_version + 1, -32768, 32767):
        relay = play([("client", frames.raw_request(spec.key, version, 1))])
        assert relay.reason is Reason.UNSUPPORTED_VERSION
        assert relay.table.routes == {}
        assert f"v{version} " in relay.detail
        assert relay.cluster.counters.refused == {(spec.key, "unsupported_version"): 1}


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(lambda: (50 << 20).to_bytes(4, "big") + frames.produce(12, 1)[4:64], id="Produce"),
        pytest.param(lambda: (64 * KIB).to_bytes(4, "big") + frames.request(18, 4, 1)[4:], id="ApiVersions"),
        pytest.param(lambda: (50 << 20).to_bytes(4, "big") + frames.produce(12, 1)[4:18], id="half of Produce"),
        pytest.param(lambda: (50 << 20).to_bytes(4, "big") + frames.heartbeat(1)[0][4:], id="Heartbeat"),
    ],
)
def test_nothing_is_allocated_for_a_claimed_size(head: Callable[[], bytes]) -> None:
    """If as much is announced as is let through and some bytes are sent, only some bytes are kept."""
    relay, first = Relay(), head()
    relay.feed("client", frames.heartbeat(99)[0])  # what is made once
    tracemalloc.start()
    try:
        relay.feed("client", first)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert relay.requests.under_way
    assert peak < 16 * KIB


def test_what_is_held_is_reported() -> None:
    """An incomplete head is held; a body that passes is not."""
    relay = Relay()
    assert (relay.requests.held_bytes, relay.requests.under_way) == (0, False)
    relay.feed("client", frames.heartbeat(1)[0][: HEAD_BYTES - 1])
    assert (relay.requests.held_bytes, relay.requests.under_way) == (HEAD_BYTES - 1, True)
    relay.feed("client", frames.heartbeat(1)[0][HEAD_BYTES - 1 :])
    assert (relay.requests.held_bytes, relay.requests.under_way) == (0, False)


def test_what_is_before_a_held_request_is_not_kept_back() -> None:
    """Requests before an incomplete ApiVersions, or before an incomplete head, go out at once."""
    ping, _ = frames.heartbeat(1)
    for behind in (frames.request(API_VERSIONS, 4, 2)[:-1], frames.heartbeat(2)[0][:7], frames.produce(9, 3)[:14]):
        relay = Relay()
        relay.feed("client", ping + behind)
        assert (bytes(relay.broker.data), relay.requests.held_bytes) == (ping, len(behind))


def test_tables_are_shared_by_connections() -> None:
    """A cluster makes its routes once; what one client may not do does not show in another's."""
    cluster = Cluster()
    first, second = Relay(cluster), Relay(cluster)
    first.feed("client", frames.raw_request(4095, 0, 1))
    second.feed("client", frames.heartbeat(1)[0])
    assert (first.reason, second.reason) == (Reason.UNKNOWN_API, None)


def ending(context: Context, frame: memoryview) -> Answer | Forward:
    """End the connection after this request, by an answer of the proxy's own or by the broker's."""
    own = (Reason.REBOOTSTRAP, Answer) if frame[7] % 2 else (Reason.RETIRED_NODE, Forward)
    return own[1](frames.raw_request(10, 4, frame[7], bytes(frame[-3:])), last=own[0])


LAST = {10: ApiPolicy(on_request=OnRequest.WHOLE, request=ending)}


class Ending(Relay):
    """A connection whose FindCoordinator is its last request."""

    def __init__(self) -> None:
        super().__init__(others=LAST)


@pytest.mark.parametrize("pending", [0, 1, 3])
def test_a_last_answer_waits_its_turn_and_nothing_is_read_after_it(pending: int) -> None:
    """For every cut: earlier responses, then the answer; what the client sends behind it goes nowhere."""
    before = [frames.heartbeat(number) for number in range(100, 100 + pending)]
    sent = b"".join(one for one, _ in before) + frames.raw_request(10, 4, 1, b"end") + b"\xff" * 40
    script: Script = [("client", sent), *(("broker", back) for _, back in before)]
    relay = play(script, Ending)
    assert relay.requests.last is Reason.REBOOTSTRAP
    assert bytes(relay.client.data) == b"".join(back for _, back in before) + frames.raw_request(10, 4, 1, b"end")
    assert bytes(relay.broker.data) == b"".join(one for one, _ in before)
    assert (relay.reason, list(relay.in_flight), relay.requests.held_bytes) == (None, [], 0)


def test_a_last_request_may_be_the_brokers_to_answer() -> None:
    """It goes on and is waited for; what the client sends behind it does not."""
    sent = frames.raw_request(10, 4, 2, b"end")
    relay = play([("client", sent + frames.heartbeat(3)[0])], Ending)
    assert (relay.requests.last, bytes(relay.broker.data)) == (Reason.RETIRED_NODE, sent)
    assert waiting(relay) == [(2, 10, 4)]


def test_nothing_is_read_after_the_last_request_in_later_pieces() -> None:
    """Nor is it kept: a client that does not stop sending costs no memory."""
    relay = Ending().play([("client", frames.raw_request(10, 4, 1))], whole)
    answered = bytes(relay.client.data)
    for piece in (b"\0", frames.heartbeat(5)[0], b"\xff" * KIB):
        relay.feed("client", piece)
    assert (relay.reason, bytes(relay.client.data), bytes(relay.broker.data)) == (None, answered, b"")
    assert (relay.requests.held_bytes, relay.requests.under_way, relay.requests.count) == (0, False, 1)


@pytest.mark.parametrize("key", [0, 2, 3, 17, API_VERSIONS, 36])
@every("client_id", [None, "", "c1", "\u043a\u043b\u0438\u0435\u043d\u0442", LONG, "k" * 32767], ids=shown)
def test_the_client_id_is_learnt_from_the_first_request(key: int, client_id: str | None) -> None:
    """From any request, an old client's too, for every cut. A later request's id does not count.

    The broker gets all of it; kproxy keeps 256 characters, so that a client cannot have it hold 32 kB a connection.
    """
    sent = (
        frames.produce(9, 1, client_id=client_id) if key == 0 else frames.request(key, lowest(key), 1, None, client_id)
    )
    later = frames.request(12, 3, 2, client_id="another")
    for cut in (whole, by(1 if len(sent) < KIB else 997), by(13), by(15)):
        relay = Relay().play([("client", sent + later)], cut)
        assert (relay.context.client_id, relay.reason) == (client_id and client_id[:256], None)
        assert relay.broker.data == sent + later


def test_a_first_request_with_its_client_id_is_not_held() -> None:
    """The part that is there goes on at once, in one piece with what is behind it."""
    relay = Relay()
    first, second = frames.request(12, 3, 1), frames.request(12, 3, 2)
    relay.feed("client", first + second[:20])
    assert (bytes(relay.broker.data), relay.requests.held_bytes) == (first + second[:20], 0)
    relay = Relay()
    relay.feed("client", first[:-1])
    assert (bytes(relay.broker.data), relay.requests.held_bytes) == (first[:-1], 0)


def test_a_first_request_is_under_way_before_its_client_id_is_there() -> None:
    """A client that stops there stalls; one that has sent nothing does not."""
    relay = Relay()
    assert (relay.requests.under_way, relay.requests.held_bytes) == (False, 0)
    relay.feed("client", frames.request(12, 3, 1)[:15])
    assert (relay.requests.under_way, relay.requests.held_bytes, bytes(relay.broker.data)) == (True, 15, b"")


@pytest.mark.parametrize("rest", [b"", b"\0", b"\xff\xfe", b"\0\x04abc"])
def test_a_first_request_without_a_client_id(rest: bytes) -> None:
    """It has no room for an id, or one that reaches beyond it: the broker gets it as it came, and refuses it."""
    sent = frames.raw_request(12, 3, 1, rest)
    relay = play([("client", sent)])
    assert (relay.context.client_id, bytes(relay.broker.data)) == (None, sent)


def test_a_first_request_that_is_refused_shows_its_client_id() -> None:
    """So the log line of its end names the client."""
    relay = play([("client", frames.raw_request(999, 0, 1, b"\0\x02c9"))])
    assert (relay.reason, relay.context.client_id) == (Reason.UNKNOWN_API, "c9")


def test_outdated_between_two_requests_of_one_api() -> None:
    """The second gets its route from the stale table, though the first has just used the other."""
    relay = Relay()
    relay.feed("client", frames.heartbeat(1)[0])
    first = relay.in_flight.last
    relay.feed("epoch", b"")
    relay.feed("client", frames.heartbeat(2)[0])
    assert first is not None
    assert first.route is relay.table.route(12 << 16 | first.route.version)
    second = relay.in_flight.last
    assert second is not None
    assert second.route is relay.table.stale.route(12 << 16 | first.route.version)


LATER = frames.produce(12, 2, records=bytes(20_000))
UNSEEN = frames.produce(12, 2, acks=0, records=bytes(20_000))


@pytest.mark.parametrize("cut", [0, 3, HEAD_BYTES, 60, len(LATER) - 1])
@pytest.mark.parametrize("acks", [-1, 0])
def test_a_request_that_is_cut_is_not_waited_for(cut: int, acks: int) -> None:
    """The client has ended in its middle. Those before it are waited for: the broker has had all of their bytes."""
    ping, sent = frames.heartbeat(1)[0], (LATER if acks else UNSEEN)[:cut]
    for pieces in ((ping + sent,), (ping, sent)):
        relay = Relay()
        for piece in pieces:
            relay.feed("client", piece)
        assert relay.requests.under_way == bool(cut)
        relay.requests.cut()
        assert not relay.requests.under_way
        assert [expected.correlation_id for expected in relay.in_flight] == [1]
        assert (ping + sent).startswith(relay.broker.data)
        assert relay.broker.data.startswith(ping)


def test_a_first_request_that_is_cut() -> None:
    """Also before its client id is there."""
    for size in range(len(UNSEEN[:60])):
        relay = Relay()
        relay.feed("client", UNSEEN[:size])
        relay.requests.cut()
        assert (len(relay.in_flight), relay.requests.under_way) == (0, False)


@pytest.mark.parametrize("cut", [13, 17, 22, 500])
def test_a_request_that_is_malformed_before_it_is_all_there(cut: int) -> None:
    """It is at fault when the bad field has come; what came before it is with the broker, once, and waited for."""
    ping = frames.heartbeat(1)[0]
    bad = frames.raw_request(32, 1, 2, NO_CLIENT_ID + b"\0\0\0\1\4\xff\xf0" + bytes(9 * KIB))
    for pieces in ([ping + bad[:cut], bad[cut:900]], [ping, bad[:cut], bad[cut:900]]):
        relay = Relay(earlier=1)
        for piece in pieces:
            relay.feed("client", piece)
        assert relay.reason is Reason.MALFORMED_REQUEST
        assert bytes(relay.broker.data) == ping
        relay.requests.settle(1.0)
        assert [expected.correlation_id for expected in relay.in_flight] == [1]


def test_a_broker_that_is_gone_is_no_request_at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection ends for that."""
    relay, gone = Relay(), Fault(Reason.BROKER_RESET, "Broken pipe")
    monkeypatch.setattr(relay.broker, "send", raises(gone))
    with pytest.raises(Fault) as caught:
        relay.requests.feed(memoryview(frames.heartbeat(1)[0] + frames.request(18, 3, 2)), 1.0)
    assert caught.value is gone


def raises(error: Exception) -> Callable[[bytes], None]:
    """What a socket does that cannot send."""

    def send(_: bytes) -> None:
        raise error

    return send
