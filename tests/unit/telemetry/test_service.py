"""GetTelemetrySubscriptions and PushTelemetry: the answers, and the order of the checks."""

from __future__ import annotations

from itertools import count
from uuid import UUID

import pytest

from kproxy.telemetry.errors import PayloadError
from kproxy.telemetry.payload import Push, decode
from kproxy.telemetry.service import GROWTH, MAX_BYTES, RATIO
from kproxy.telemetry.subscription import MAX_TEXT, Subscription
from tests.unit.telemetry.clients import (
    ID,
    INTERVAL,
    JAVA,
    LIBRDKAFKA,
    NOW,
    ZERO_UUID,
    Parts,
    get,
    metrics,
    pushed,
    request,
    telemetry,
    wide,
)
from tests.unit.telemetry.compressed import COMPRESS

NONE, INVALID, UNSUPPORTED, NOT_DECODED, THROTTLED, UNKNOWN_ID, TOO_LARGE = 0, 42, 76, 87, 89, 117, 118
EARLY = NOW + INTERVAL - 0.01
DUE = NOW + INTERVAL


def test_statement_a_zero_id_becomes_a_random_one() -> None:
    """telemetry.md: a zero id → a random UUID; another one for each client."""
    server = telemetry()
    ids = {get(server, instance_id=ZERO_UUID).client_instance_id for _ in range(50)}
    assert len(ids) == 50
    assert all(one.version == 4 for one in ids)


def test_statement_an_id_is_always_echoed() -> None:
    """telemetry.md: a non-zero id is always echoed (Java throws on zero): also with an error."""
    server = telemetry()
    assert get(server).client_instance_id == ID
    early = get(server, EARLY)
    assert (early.error_code, early.client_instance_id) == (THROTTLED, ID)


def test_statement_what_a_get_returns() -> None:
    """telemetry.md: accepted types, TelemetryMaxBytes 1 MiB, DeltaTemporality true, all metrics as `[""]`."""
    response = get(telemetry())
    assert (response.error_code, response.throttle_time_ms) == (NONE, 0)
    assert response.accepted_compression_types == [4, 3, 1, 2]
    assert response.telemetry_max_bytes == 1 << 20 == MAX_BYTES
    assert response.delta_temporality is True
    assert (response.requested_metrics, response.push_interval_ms) == ([""], 10_000)
    assert response.subscription_id == telemetry().subscriptions.of(JAVA).subscription_id(ID)


def test_statement_an_empty_request_silences_clients_that_are_not_subscribed() -> None:
    """telemetry.md: none match → empty array, at the default interval."""
    response = get(telemetry([]))
    assert (response.error_code, response.requested_metrics, response.push_interval_ms) == (NONE, [], 300_000)


def test_statement_get_too_early() -> None:
    """telemetry.md: get too early → 89 unless max(last get, last push) is an interval ago."""
    server = telemetry()
    assert [get(server, at).error_code for at in (NOW, EARLY, DUE)] == [NONE, THROTTLED, NONE]
    assert pushed(server, DUE + 5) == NONE
    assert [get(server, at).error_code for at in (DUE + INTERVAL, DUE + 5 + INTERVAL)] == [THROTTLED, NONE]


def test_statement_get_at_once_after_117_or_76() -> None:
    """telemetry.md: allowed at once after 117 or 76; once."""
    wrong: tuple[tuple[Parts, int], ...] = (({"subscription_id": 1}, UNKNOWN_ID), ({"codec": 9}, UNSUPPORTED))
    for parts, error in wrong:
        server = telemetry()
        get(server)
        assert pushed(server, NOW + 1, **parts) == error
        assert [get(server, NOW + 1).error_code for _ in range(2)] == [NONE, THROTTLED]


@pytest.mark.parametrize(("payload", "error"), [(b"noise", NOT_DECODED), (bytes(MAX_BYTES + 1), TOO_LARGE)])
def test_other_errors_do_not_free_a_get(payload: bytes, error: int) -> None:
    """Only errors after which a client gets its subscriptions again do."""
    server = telemetry()
    get(server)
    assert pushed(server, NOW + 1, payload=payload) == error
    assert get(server, NOW + 1).error_code == THROTTLED


@pytest.mark.parametrize("reserved", [UUID(int=0), UUID(int=1)])
def test_statement_reserved_id(reserved: UUID) -> None:
    """telemetry.md: reserved id → 42; no instance is made of it."""
    server = telemetry()
    assert pushed(server, info=JAVA._replace(client_instance_id=reserved)) == INVALID
    assert len(server.instances) == 0


def test_statement_the_order_of_checks() -> None:
    """telemetry.md: PushTelemetry, in this order: 42, 42, 89, 117, 76, 118, 87; each push has all later faults, too."""
    server = telemetry()
    get(server)
    everything: Parts = {"subscription_id": 1, "codec": 9, "payload": bytes(MAX_BYTES + 1)}
    right = request(server).subscription_id
    assert pushed(server, NOW, **everything | {"terminating": True}) == UNKNOWN_ID  # the free one, and the last
    assert pushed(server, NOW + 1, **everything) == INVALID  # the previous was terminating
    assert pushed(server, NOW + 1, **everything) == THROTTLED
    assert pushed(server, NOW + INTERVAL, **everything) == UNKNOWN_ID
    assert pushed(server, NOW + 2 * INTERVAL, **everything | {"subscription_id": right}) == UNSUPPORTED
    large = everything | {"subscription_id": right, "codec": 4}
    assert pushed(server, NOW + 3 * INTERVAL, **large) == TOO_LARGE
    assert pushed(server, NOW + 4 * INTERVAL, codec=4, payload=b"noise") == NOT_DECODED
    assert pushed(server, NOW + 5 * INTERVAL, codec=0, payload=b"noise") == NOT_DECODED
    assert pushed(server, NOW + 6 * INTERVAL) == NONE
    assert server.tally.pushes == {
        NONE: 1,
        INVALID: 1,
        THROTTLED: 1,
        UNKNOWN_ID: 2,
        UNSUPPORTED: 1,
        TOO_LARGE: 1,
        NOT_DECODED: 2,
    }


def test_statement_one_push_is_free_after_each_get() -> None:
    """telemetry.md: one push is free after each Get: clients spread their first by half an interval."""
    server = telemetry()
    assert pushed(server, NOW) == NONE
    assert get(server, DUE).error_code == NONE
    assert [pushed(server, at) for at in (DUE + 0.1, DUE + 0.2, DUE + 0.1 + INTERVAL)] == [NONE, THROTTLED, NONE]


def test_statement_the_push_time_advances_even_if_later_checks_fail() -> None:
    """telemetry.md: the push time advances even if later checks fail; but not with a push that is throttled."""
    server = telemetry()
    assert pushed(server, NOW, payload=b"noise") == NOT_DECODED
    assert [pushed(server, at) for at in (EARLY, DUE)] == [THROTTLED, NONE]


def test_statement_one_terminating_push_out_of_profile() -> None:
    """telemetry.md: one terminating push may come out of profile; KIP-714: one such consecutive digression."""
    server = telemetry()
    get(server)
    assert pushed(server, NOW + 1) == NONE
    assert pushed(server, NOW + 2, terminating=True) == NONE
    assert pushed(server, NOW + 3) == INVALID
    assert pushed(server, NOW + 4, terminating=True) == THROTTLED
    assert pushed(server, NOW + 5) == THROTTLED  # what was throttled did not count as the last
    assert pushed(server, NOW + 1 + INTERVAL) == NONE
    assert pushed(server, NOW + 2 + INTERVAL, terminating=True) == NONE


def test_a_terminating_push_says_so_to_receivers() -> None:
    """They need not wait for the client's expiry."""
    server = telemetry()
    answer, push = server.push(JAVA, request(server, terminating=True), NOW)
    assert answer.error_code == NONE
    assert isinstance(push, Push)
    assert (push.terminating, push.deltas, push.received_at, push.info) == (True, True, NOW, JAVA)


@pytest.mark.parametrize("codec", COMPRESS)
def test_statement_none_is_accepted_though_not_listed(codec: str) -> None:
    """telemetry.md: "None" is accepted though not listed; receivers get the bytes decompressed, whatever the codec."""
    number, compress = COMPRESS[codec]
    server = telemetry()
    _, push = server.push(JAVA, request(server, codec=number, payload=compress(metrics(30))), NOW)
    assert push is not None
    assert push.payload == metrics(30)
    assert len(push.metrics.resource_metrics[0].scope_metrics[0].metrics) == 30


@pytest.mark.parametrize("codec", COMPRESS)
def test_statement_empty_metrics_are_tolerated(codec: str) -> None:
    """telemetry.md: librdkafka 2.8 pushes null metrics: tolerate. Receivers are not bothered."""
    number, compress = COMPRESS[codec]
    server = telemetry()
    for now, payload in ((NOW, b""), (DUE, compress(b""))):
        answer, push = server.push(JAVA, request(server, codec=number, payload=payload), now)
        assert (answer.error_code, push) == (NONE, None)


@pytest.mark.parametrize("codec", [name for name in COMPRESS if name != "none"])
def test_statement_over_telemetry_max_bytes(codec: str) -> None:
    """telemetry.md: over TelemetryMaxBytes → 118. Brokers bound it as it comes; decompressed it may have more."""
    number, compress = COMPRESS[codec]
    payload = metrics(200)
    most = len(compress(payload))
    room = max(most, -(-len(payload) // GROWTH))
    assert pushed(telemetry(max_bytes=room), codec=number, payload=compress(payload)) == NONE
    assert pushed(telemetry(max_bytes=most - 1), codec=number, payload=compress(payload)) == TOO_LARGE
    large = GROWTH * most + 1
    assert pushed(telemetry(max_bytes=most), codec=number, payload=compress(bytes(large))) == TOO_LARGE


@pytest.mark.parametrize("codec", [name for name in COMPRESS if name != "none"])
def test_what_has_grown_too_much_is_too_large(codec: str) -> None:
    """A bomb has what it had before; a wide client's metrics, of which each byte was sent, have more."""
    number, compress = COMPRESS[codec]
    honest = wide(3_000)
    assert 2 * MAX_BYTES < len(honest) < RATIO * len(compress(honest))
    assert pushed(telemetry(), codec=number, payload=compress(honest)) == NONE
    bomb = compress(honest[:100] * (2 * MAX_BYTES // 100))
    if RATIO * len(bomb) < 2 * MAX_BYTES:  # snappy and LZ4 cannot shrink that far
        assert pushed(telemetry(), codec=number, payload=bomb) == TOO_LARGE


def test_a_wide_push_is_all_there() -> None:
    """Issue 36, point 8: Java's consumer of 420 partitions was refused for ever, one of 1,500 twice over."""
    server = telemetry()
    for number, partitions in enumerate((420, 1_500, 4_000)):
        payload = wide(partitions)
        asked = request(server, codec=4, payload=COMPRESS["zstd"][1](payload))
        answer, push = server.push(JAVA, asked, NOW + INTERVAL * number)
        assert (answer.error_code, push is not None) == (NONE, True)
        assert push is not None
        assert b"".join(part.SerializeToString() for part in push.parts()) == push.payload == payload
        points = [metric for part in push.parts() for one in part.resource_metrics for metric in one.scope_metrics]
        assert len(points) == 6 * partitions
    assert server.tally.pushes == {NONE: 3}


NOT_UTF8 = b"\x0a\x07\x12\x05\x12\x03\x0a\x01\xff"


@pytest.mark.parametrize(
    "end", [b"\x0a", b"\x0a\x05abc", b"\x0a\xff\xff\xff\xff\xff\xff", b"\x12\x00", b"\x0b", NOT_UTF8]
)
def test_a_wide_push_with_another_end(end: bytes) -> None:
    """Protobuf's verdict of the whole: 87, and no receiver gets a part; or 0, where unknown fields are skipped."""
    server, payload = telemetry(), wide(500) + end
    try:
        decode(payload)
        expected = NONE
    except PayloadError as error:
        expected = error.code
    answer, push = server.push(JAVA, request(server, payload=payload), NOW)
    assert (answer.error_code, push is None) == (expected, expected == NOT_DECODED)


def test_statement_a_change_is_noticed_at_the_next_push() -> None:
    """telemetry.md: a subscription change is noticed lazily: the next push gets 117, the client re-gets at once."""
    server = telemetry([Subscription("s", metrics=("a",), interval_ms=10_000)])
    held = get(server).subscription_id
    assert pushed(server, NOW + 1) == NONE
    server.subscriptions.fix([Subscription("s", metrics=("b",), interval_ms=10_000)])
    assert pushed(server, NOW + 2, subscription_id=held) == UNKNOWN_ID  # not 89, though it is early
    response = get(server, NOW + 2)
    assert (response.error_code, response.requested_metrics) == (NONE, ["b"])
    assert pushed(server, NOW + 3, subscription_id=response.subscription_id) == NONE


def test_a_change_for_others_changes_nothing() -> None:
    """A client with an unchanged set keeps its pace and its id."""
    server = telemetry()
    get(server)
    assert pushed(server, NOW + 1) == NONE
    server.subscriptions.put(Subscription("other", metrics=("x",), match=(("client_id", "billing"),)))
    assert [pushed(server, at) for at in (NOW + 2, NOW + 1 + INTERVAL)] == [THROTTLED, NONE]


def test_a_subscription_for_one_version_reaches_only_it() -> None:
    """The others are asked to push nothing."""
    only = Subscription("s", metrics=("*",), match=(("client_software_version", "2[.]12[.].*"),))
    server = telemetry([only])
    assert get(server, info=JAVA).requested_metrics == []
    assert get(server, info=LIBRDKAFKA).requested_metrics == [""]


def test_statement_a_restart_stays_invisible() -> None:
    """telemetry.md: a restart or another replica gives the same id: the next push is taken, asked for or not."""
    held = get(telemetry()).subscription_id
    assert pushed(telemetry(), NOW + 1, subscription_id=held) == NONE


def test_a_push_on_another_connection_is_matched_as_the_get_was() -> None:
    """A client pushes to whatever node it likes: were the new connection's port matched, it would get 117 forever."""
    server = telemetry([Subscription("s", metrics=("a",), match=(("client_source_port", "40001"),))])
    held = get(server).subscription_id
    elsewhere = JAVA._replace(source_port=50_000, source_address="10.9.9.9")
    answer, push = server.push(elsewhere, request(server, subscription_id=held), NOW + 1)
    assert answer.error_code == NONE
    assert push is not None
    assert push.info == elsewhere  # receivers learn where it came from
    server.subscriptions.put(Subscription("other", metrics=("x",), match=(("client_id", "billing"),)))
    assert pushed(server, NOW + 1 + 300, info=elsewhere, subscription_id=held) == NONE
    assert get(server, NOW + 1 + 600, info=elsewhere).requested_metrics == []


def test_a_clock_that_was_set_back_throttles_nobody() -> None:
    """An hour back would be an hour of 89 for every client."""
    server = telemetry()
    get(server)
    assert pushed(server, NOW) == NONE
    assert pushed(server, NOW - 3600) == NONE
    assert get(server, NOW - 7200).error_code == NONE


@pytest.mark.parametrize("interval_ms", [100, 333, 10_000])
def test_exactly_an_interval_later_is_due(interval_ms: int) -> None:
    """Unix seconds as floats have no exact tenths."""
    server = telemetry([Subscription("s", metrics=("a",), interval_ms=interval_ms)])
    times = [NOW + number * interval_ms / 1000 for number in range(50)]
    assert {pushed(server, at) for at in times} == {NONE}


def test_a_client_that_pushes_every_millisecond() -> None:
    """One push per interval is decoded; each other one costs a look at the clock."""
    server = telemetry()
    get(server)
    codes = [pushed(server, NOW + number / 1000) for number in range(10_000)]
    assert (codes.count(NONE), codes.count(THROTTLED)) == (1, 9_999)


def test_what_is_like_the_last_push_is_not_decoded() -> None:
    """From the third like push on receivers get its template, and decode it themselves if they need to."""
    server = telemetry()
    pushes = []
    for number, points in enumerate((3, 3, 3, 4, 3, 3, 3)):
        push = server.push(JAVA, request(server, payload=metrics(points)), NOW + number * INTERVAL)[1]
        assert push is not None
        pushes.append(push)
    assert [push.template is not None for push in pushes] == [False, True, True, False, False, True, True]
    assert pushes[1].template is pushes[2].template
    assert pushes[2].metrics == pushes[0].metrics


def test_pushes_share_what_is_known_of_their_client() -> None:
    """All pushes have one `info` object, unless another connection pushes for the instance."""
    server = telemetry()
    first, second = (server.push(JAVA._replace(), request(server), NOW + number * INTERVAL)[1] for number in range(2))
    assert first is not None
    assert second is not None
    assert first.info is second.info
    elsewhere = server.push(JAVA._replace(source_port=9), request(server), NOW + 3 * INTERVAL)[1]
    assert elsewhere is not None
    assert elsewhere.info == JAVA._replace(source_port=9)


def test_what_is_counted() -> None:
    """Requests by error, bytes as received and decompressed, seconds of decoding by the clock; by instance, too."""
    ticks = count()
    server = telemetry(clock=lambda: float(next(ticks)))
    get(server)
    get(server)
    number, compress = COMPRESS["zstd"]
    payload = compress(metrics(30))
    pushed(server, codec=number, payload=payload)
    pushed(server, DUE, codec=number, payload=b"noise")
    tally = server.tally
    assert tally.gets == {NONE: 1, THROTTLED: 1}
    assert tally.pushes == {NONE: 1, NOT_DECODED: 1}
    assert (tally.pushed_bytes, tally.decompressed_bytes) == (len(payload) + 5, len(metrics(30)))
    assert tally.decode_seconds == 3.0  # to decompress both, and to decode the one that could be decompressed
    (instance,) = server.instances
    assert (instance.pushes, instance.pushed_bytes, instance.last_error) == (1, len(payload), NOT_DECODED)
    assert (instance.last_get, instance.last_push, instance.last_seen) == (NOW, DUE, DUE)


def test_without_a_clock_nothing_is_measured() -> None:
    """The default clock is always 0."""
    server = telemetry()
    assert pushed(server) == NONE
    assert server.tally.decode_seconds == 0.0


def test_instances_that_went_silent() -> None:
    """They are returned once, so that receivers can forget them."""
    server = telemetry()
    get(server)
    get(server, NOW + 50, info=LIBRDKAFKA)
    assert [one.info for one in server.expired(NOW + 61)] == [JAVA]
    assert server.expired(NOW + 61) == []


def test_long_texts_of_a_client_are_not_kept() -> None:
    """Neither an instance nor a push in a queue keeps them."""
    server = telemetry()
    long = JAVA._replace(client_id="i" * 30_000)
    get(server, info=long)
    _, push = server.push(long, request(server), NOW)
    (instance,) = server.instances
    assert push is not None
    assert instance.info.client_id == push.info.client_id == "i" * MAX_TEXT
