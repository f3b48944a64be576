"""ApiVersions: the client's own data goes on; the broker's versions are cut down to those that kproxy serves too."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiTable
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.metadata import MetadataState
from kproxy.relay.apis import POLICIES
from kproxy.wire.apis import APIS
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.generated.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.header import RequestHeader, decode_request_header, encode_request_header
from kproxy.wire.primitives import INT32, frame
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay, Script, bytewise, play, whole

KEY = 18
VERSIONS = frames.versions(KEY)
SERVED = {key: (low, high) for key, low, high in ApiTable(Cluster().counters, POLICIES).served()}
Ranges = dict[int, tuple[int, int]]


def asked(version: int, correlation_id: int = 5, client_id: str | None = "c1", **fields: Any) -> bytes:
    """A request as clients send it, with a name and a version from v3 on."""
    names = {"client_software_name": "kafka-client", "client_software_version": "4.4.0"} if version >= 3 else {}
    body = ApiVersionsRequest(**{**names, **fields}).encode(version)
    return frame(encode_request_header(RequestHeader(KEY, version, correlation_id, client_id)), body)


def replied(version: int, ranges: Ranges, correlation_id: int = 5, **fields: Any) -> bytes:
    """A broker's response."""
    keys = [ApiVersion(key, low, high) for key, (low, high) in ranges.items()]
    body = ApiVersionsResponse(api_keys=keys, **fields).encode(min(version, 4))
    return frame(INT32.pack(correlation_id), body)


def seen(relay: Relay, version: int) -> ApiVersionsResponse:
    """The response that the client reads; its header has no tagged fields in any version."""
    (whole_frame,) = frames.split(bytes(relay.client.data))
    assert whole_frame[:4] == INT32.pack(5)
    return ApiVersionsResponse.decode(whole_frame[4:], version)


def ranges(response: ApiVersionsResponse) -> Ranges:
    return {entry.api_key: (entry.min_version, entry.max_version) for entry in response.api_keys}


def negotiated(version: int, theirs: Ranges) -> Ranges:
    """The versions that a client gets when the broker has `theirs`."""
    relay = play([("client", asked(version)), ("broker", replied(version, theirs))])
    assert relay.reason is None
    return ranges(seen(relay, version))


@pytest.mark.parametrize("client_id", [None, "", "c1", "клиент"])
@every("version", range(5))
def test_a_request_goes_on_as_it_came(version: int, client_id: str | None) -> None:
    """The broker learns the client's software (KIP-511); so does kproxy."""
    sent = asked(version, client_id=client_id)
    relay = play([("client", sent)])
    assert relay.broker.data == sent
    name = ("kafka-client", "4.4.0") if version >= 3 else ("", "")
    assert (relay.context.client_id, relay.context.software) == (client_id, name)
    assert relay.cluster.counters.software.active == {
        ("kafka-client", "4.4.0") if version >= 3 else ("unknown", "unknown"): 1
    }


def test_unknown_tagged_fields_of_a_request_go_on() -> None:
    """In the header and in the body, also when v5 becomes v4."""
    tags = ((7, b"seven"), (900, b""))
    for version in (3, 4, 5):
        header = encode_request_header(RequestHeader(KEY, version, 5, "c1", ((3, b"three"),)))
        request = ApiVersionsRequest(client_software_name="n", client_software_version="v", unknown_tags=tags)
        relay = play([("client", frame(header, request.encode(version)))])
        (sent,) = frames.split(bytes(relay.broker.data))
        got, body = decode_request_header(sent, 0, len(sent))
        assert got == RequestHeader(KEY, min(version, 4), 5, "c1", ((3, b"three"),))
        assert ApiVersionsRequest.decode(sent[body:], min(version, 4)).unknown_tags == tags


@pytest.mark.parametrize(
    ("node_id", "cluster_id", "says"),
    [
        pytest.param(7, "cluster-1", {}, id="says nothing"),
        pytest.param(7, "cluster-1", {"cluster_id": "cluster-1"}, id="the cluster"),
        pytest.param(7, "cluster-1", {"node_id": 7}, id="the node"),
        pytest.param(7, "cluster-1", {"cluster_id": "cluster-1", "node_id": 7}, id="both"),
        pytest.param(7, None, {"cluster_id": "any"}, id="cluster not known yet"),
        pytest.param(0, "cluster-1", {"node_id": 0}, id="node 0"),
        pytest.param(None, "cluster-1", {"cluster_id": "other", "node_id": 3}, id="bootstrap: never a loop"),
    ],
)
def test_v5_goes_on_as_v4_without_ids(node_id: int | None, cluster_id: str | None, says: dict[str, Any]) -> None:
    """Brokers of any release understand it; the client still gets a v5 response."""
    sent, answer = asked(5, **says), replied(5, {KEY: (0, 4)})
    relay = play([("client", sent), ("broker", answer)], lambda: Relay(Cluster(cluster_id=cluster_id), node_id=node_id))
    assert relay.broker.data == asked(4)
    assert ranges(seen(relay, 5)) == {KEY: (0, 5)}
    assert relay.context.software == ("kafka-client", "4.4.0")


@pytest.mark.parametrize(
    ("node_id", "cluster_id", "says"),
    [
        pytest.param(7, "cluster-1", {"cluster_id": "cluster-2"}, id="another cluster"),
        pytest.param(7, "cluster-1", {"cluster_id": ""}, id="a cluster without name"),
        pytest.param(7, "cluster-1", {"node_id": 8}, id="another node"),
        pytest.param(7, "cluster-1", {"node_id": 0}, id="node 0"),
        pytest.param(0, "cluster-1", {"node_id": 1}, id="not node 0"),
        pytest.param(7, "cluster-1", {"node_id": -2}, id="an id that is none"),
        pytest.param(7, None, {"cluster_id": "any", "node_id": 8}, id="cluster not known, another node"),
        pytest.param(7, "cluster-1", {"cluster_id": "cluster-1", "node_id": 8}, id="the cluster, another node"),
        pytest.param(7, "cluster-1", {"cluster_id": "cluster-2", "node_id": 7}, id="the node, another cluster"),
    ],
)
def test_v5_with_other_ids_must_rebootstrap(node_id: int, cluster_id: str | None, says: dict[str, Any]) -> None:
    """KIP-1242: the client gets error 129 and nothing else; the broker gets nothing."""
    relay = play([("client", asked(5, **says))], lambda: Relay(notifying(cluster_id), node_id=node_id))
    answer = seen(relay, 5)
    assert (answer.error_code, answer.api_keys, bytes(relay.broker.data)) == (ErrorCode.REBOOTSTRAP_REQUIRED, [], b"")
    assert (relay.cluster.asks, relay.requests.last) == ([(Trigger.ELSEWHERE, 0)], Reason.REBOOTSTRAP)
    assert not relay.in_flight


def notifying(cluster_id: str | None = "cluster-1") -> Cluster:
    """A cluster that notifies every client that means another cluster."""
    return Cluster(cluster_id=cluster_id, decides={Trigger.ELSEWHERE: Action.NOTIFY})


def test_a_mismatch_waits_its_turn() -> None:
    """Its answer comes behind the response in flight; what the client sends later goes nowhere."""
    (one, one_back), (two, _) = frames.heartbeat(1), frames.heartbeat(2)
    relay = play([("client", one + asked(5, node_id=8) + two), ("broker", one_back)], lambda: Relay(notifying()))
    back, answer = frames.split(bytes(relay.client.data))
    assert frame(back) == one_back
    assert answer[:6] == INT32.pack(5) + b"\0\x81"
    assert relay.broker.data == one


@pytest.mark.parametrize(
    ("means", "reason"),
    [(Action.CLOSE, Reason.REBOOTSTRAP), (Action.REFUSE, Reason.RETIRED_NODE), (Action.SERVE, None)],
)
def test_a_mismatch_is_what_the_backend_makes_of_it(means: Action, reason: Reason | None) -> None:
    """A client that was notified before is closed; where nothing has changed, the request goes on."""
    relay = play([("client", asked(5, node_id=8))], lambda: Relay(Cluster(decides={Trigger.ELSEWHERE: means})))
    assert (relay.reason, bytes(relay.client.data)) == (reason, b"")
    assert relay.broker.data == (asked(4) if reason is None else b"")


@pytest.mark.parametrize("retired", [False, True])
def test_never_129_where_clients_bootstrap(retired: bool) -> None:
    """rebootstrap.md: "never on a listener that clients bootstrap from", even if the cluster should decide so."""
    everything = dict.fromkeys(Trigger, Action.NOTIFY)
    script: Script = [("client", asked(5, node_id=8, cluster_id="x")), ("broker", replied(5, {}))]
    relay = play(script, lambda: Relay(Cluster(decides=everything), node_id=None))
    assert seen(relay, 5).error_code == ErrorCode.NONE
    script = [("epoch", b""), ("client", asked(5, node_id=8, cluster_id="x"))]
    relay = play(script, lambda: Relay(Cluster(decides=everything), node_id=None, retired=retired))
    assert (relay.reason, bytes(relay.client.data)) == (Reason.REBOOTSTRAP, b"")


@pytest.mark.parametrize("says", [{"cluster_id": "cluster-1"}, {"node_id": 7}, {"node_id": 0}])
def test_where_the_node_is_gone_any_id_is_a_mismatch(says: dict[str, Any]) -> None:
    """The client means a node that is gone, even if the listener is that node's."""
    relay = play([("client", asked(5, **says))], lambda: Relay(notifying(), retired=True))
    assert (seen(relay, 5).error_code, relay.cluster.asks) == (ErrorCode.REBOOTSTRAP_REQUIRED, [(Trigger.ELSEWHERE, 0)])


@every("version", VERSIONS)
@pytest.mark.parametrize("stale", [False, True])
@pytest.mark.parametrize("retired", [False, True])
def test_hello_is_decided_where_the_node_or_the_topology_is_gone(version: int, stale: bool, retired: bool) -> None:
    """Only there; a client that may go on goes on."""
    hello: Script = [("client", asked(version))]
    script: Script = [("epoch", b""), *hello] if stale else hello
    served = play(script, lambda: Relay(retired=retired))
    assert served.cluster.asks == ([(Trigger.HELLO, 0)] if stale or retired else [])
    assert served.broker.data == asked(min(version, 4))
    for means, reason in ((Action.CLOSE, Reason.REBOOTSTRAP), (Action.REFUSE, Reason.RETIRED_NODE)):
        played = play(script, lambda: Relay(Cluster(decides={Trigger.HELLO: means}), retired=retired))  # noqa: B023
        assert played.reason is (reason if stale or retired else None)
        assert played.context.client_id == "c1"


@every("version", VERSIONS)
def test_only_v5_can_say_129(version: int) -> None:
    """rebootstrap.md: "v13+ only", and v5 of ApiVersions; a client of an older version is closed instead."""
    make = lambda: Relay(Cluster(decides={Trigger.HELLO: Action.NOTIFY}), retired=True)  # noqa: E731
    relay = play([("client", asked(version))], make)
    if version == 5:
        assert (seen(relay, 5).error_code, relay.requests.last) == (ErrorCode.REBOOTSTRAP_REQUIRED, Reason.REBOOTSTRAP)
    else:
        assert (relay.reason, bytes(relay.client.data)) == (Reason.REBOOTSTRAP, b"")


@pytest.mark.parametrize(
    ("highest", "to_clients", "has"),
    [(8, 8, False), (11, 11, False), (12, 13, False), (13, 13, True), (14, 13, True)],
)
def test_metadata_v13_is_served_where_v12_is_known(highest: int, to_clients: int, has: bool) -> None:
    """rebootstrap.md: "v13 can be offered to clients over a broker that serves v12"; the broker's version is noted."""
    relay = play([("client", asked(4)), ("broker", replied(4, {3: (0, highest)}))])
    assert ranges(seen(relay, 4)) == {3: (0, to_clients)}
    assert has_code(relay) == has


def has_code(relay: Relay) -> bool:
    """Whether it is noted that the broker serves Metadata v13, whose responses have an error code."""
    state = relay.context.find(MetadataState)
    return state is not None and state.has_code


def test_a_broker_without_metadata() -> None:
    """The client gets no Metadata either, and nothing is noted that would change a request."""
    relay = play([("client", asked(4)), ("broker", replied(4, {12: (0, 4)}))])
    assert (ranges(seen(relay, 4)), has_code(relay)) == ({12: (0, 4)}, False)


@pytest.mark.parametrize("version", [6, 7, 255, 256, 32767, -1, -32768])
def test_unknown_versions_are_answered_as_kafka_does(version: int) -> None:
    """Error 35 in a v0 body that names the versions of ApiVersions; the rest of the request is not read."""
    relay = play([("client", frames.raw_request(KEY, version, 5, b"\xff" * 30))])
    answer = seen(relay, 0)
    assert (answer.error_code, ranges(answer)) == (ErrorCode.UNSUPPORTED_VERSION, {KEY: (0, 5)})
    assert (relay.reason, bytes(relay.broker.data), relay.table.routes) == (None, b"", {})
    assert relay.context.software is None


@pytest.mark.parametrize("version", range(3, 6))
def test_a_request_that_cannot_be_read_is_a_fault(version: int) -> None:
    """It is cut short, at any byte."""
    good = asked(version)[4:]
    for bad in (good[:size] for size in range(8, len(good))):
        for cut in (whole, bytewise):
            relay = Relay().play([("client", frame(bad))], cut)
            assert (relay.reason, bytes(relay.broker.data)) == (Reason.MALFORMED_REQUEST, b"")


@every("version", VERSIONS)
def test_the_intersection(version: int) -> None:
    """Each API has the versions that both know; an API that only one knows is not named."""
    theirs = {2: (0, 4), 3: (5, 99), 1: (4, 18), 12: (-1, 2), 11: (90, 99), 4095: (0, 3), 52: (0, 1), 17: (0, 1)}
    assert negotiated(version, {**theirs, KEY: (0, 3)}) == {
        2: (0, 4),
        3: (5, 13),
        1: (4, 18),
        12: (0, 2),
        17: (0, 1),
        KEY: (0, 3),
    }


@every("version", VERSIONS)
def test_a_broker_like_the_schemas_serves_all_that_is_open(version: int) -> None:
    """All that kproxy serves is let through; APIs of controllers are left out."""
    theirs = {spec.key: (spec.min_version, spec.max_version) for spec in APIS.values()}
    assert negotiated(version, theirs) == SERVED


@pytest.mark.parametrize(
    ("theirs", "ours"), [((0, 13), (0, 13)), ((3, 13), (3, 13)), ((0, 99), (0, 13)), ((0, 5), (0, 5))]
)
def test_produces_lowest_version_is_the_brokers(theirs: tuple[int, int], ours: tuple[int, int]) -> None:
    """librdkafka derives the record format from it (KAFKA-18659): brokers name 0 and serve 3."""
    assert negotiated(4, {0: theirs}) == {0: ours}


def test_the_handshakes_lowest_version_is_0() -> None:
    """librdkafka before 2.11 does not authenticate where it is 1, though it sends 1."""
    assert SERVED[17] == (0, 1)
    assert negotiated(4, {17: (0, 1)}) == {17: (0, 1)}


def test_produce_without_a_common_version_is_not_named() -> None:
    """Without a common version the API is not named."""
    assert negotiated(4, {0: (14, 20), 12: (0, 4)}) == {12: (0, 4)}


@pytest.mark.parametrize(("highest", "advertised"), [(0, 0), (2, 2), (3, 3), (4, 5), (5, 5), (6, 5)])
def test_v5_is_advertised_where_v4_is_known(highest: int, advertised: int) -> None:
    """kproxy checks the ids of v5 itself, so the broker need not know it."""
    assert negotiated(3, {KEY: (0, highest)}) == {KEY: (0, advertised)}


@every("version", VERSIONS)
def test_all_else_in_the_response_stays(version: int) -> None:
    """Features, their epoch, throttle time, unknown tagged fields."""
    fields: dict[str, Any] = {"throttle_time_ms": 77} if version >= 1 else {}
    if version >= 3:
        fields |= {
            "supported_features": [SupportedFeatureKey("kraft.version", 0, 1)],
            "finalized_features_epoch": 9,
            "finalized_features": [FinalizedFeatureKey("metadata.version", 27, 27)],
            "zk_migration_ready": True,
            "unknown_tags": ((70, b"new"),),
        }
    both = {12: (0, 4)}
    relay = play([("client", asked(version)), ("broker", replied(version, {**both, 4095: (0, 1)}, **fields))])
    assert bytes(relay.client.data) == replied(version, both, **fields)


@pytest.mark.parametrize("error", [ErrorCode.UNSUPPORTED_VERSION, 42, -1, 30000])
@every("version", VERSIONS)
def test_an_error_of_the_broker_passes(version: int, error: int) -> None:
    """Its body passes, whatever version it has: with 35 it is v0's. Clients use it, and the error is counted."""
    answer = replied(0, {KEY: (0, 2)}, error_code=error)
    relay = play([("client", asked(version)), ("broker", answer)])
    assert (bytes(relay.client.data), relay.errors()) == (answer, {(KEY, version): {error: 1}})


def test_a_broker_of_an_older_age() -> None:
    """It answers v5, sent as v4, with 35 and its own versions; the client asks again with v2."""
    refusal, answer = (
        replied(0, {KEY: (0, 2)}, error_code=ErrorCode.UNSUPPORTED_VERSION),
        replied(2, {KEY: (0, 2), 3: (0, 8)}, 6),
    )
    relay = play([("client", asked(5)), ("broker", refusal), ("client", asked(2, 6)), ("broker", answer)])
    assert relay.broker.data == asked(4) + asked(2, 6)
    assert relay.client.data == refusal + answer


@every("version", VERSIONS)
def test_a_response_that_cannot_be_read_is_a_fault(version: int) -> None:
    """It is the broker's fault, and the client gets nothing of the response."""
    good = replied(version, {12: (0, 4), 3: (0, 13)})
    body = good[8:]
    for bad in [*(body[:size] for size in range(2, len(body))), b""]:
        relay = Relay().play([("client", asked(version)), ("broker", frame(INT32.pack(5), bad))], whole)
        assert (relay.reason, bytes(relay.client.data)) == (Reason.MALFORMED_RESPONSE, b"")


@every("version", VERSIONS)
def test_bytes_behind_the_last_field_do_no_harm(version: int) -> None:
    """Clients ignore them in any response; kproxy leaves them out."""
    good = replied(version, {12: (0, 4), 3: (0, 13)})
    relay = play([("client", asked(version)), ("broker", frame(good[4:], b"\0\0"))])
    assert (bytes(relay.client.data), relay.reason) == (good, None)


def test_two_clusters_do_not_share_what_they_cut() -> None:
    """A remembered result depends on what is served, not only on the broker's answer."""

    class Small(Cluster):
        @property
        def served(self) -> tuple[tuple[int, int, int], ...]:
            return ((12, 1, 2),)

    script: Script = [("client", asked(4)), ("broker", replied(4, {12: (0, 4), 3: (0, 13)}))]
    assert ranges(seen(play(script), 4)) == {12: (0, 4), 3: (0, 13)}
    assert ranges(seen(play(script, lambda: Relay(Small())), 4)) == {12: (1, 2)}
    assert seen(play(script), 4).error_code == ErrorCode.NONE


@every("version", VERSIONS)
def test_what_kproxy_serves_by_itself_is_added(version: int) -> None:
    """In kproxy's versions, whether or not the broker knows it; not at a node that is gone (telemetry, KIP-714)."""
    script: Script = [("client", asked(version)), ("broker", replied(version, {12: (0, 4), 74: (0, 0)}))]

    def serving() -> Cluster:
        cluster = Cluster()
        cluster.own = ((71, 0, 0), (74, 0, 1))
        return cluster

    assert ranges(seen(play(script, lambda: Relay(serving())), version)) == {12: (0, 4), 71: (0, 0), 74: (0, 1)}
    at_a_retired_node = Relay(serving(), retired=True).play(script, whole)
    assert ranges(seen(at_a_retired_node, version)) == {12: (0, 4), 74: (0, 0)}


def test_a_client_that_asks_twice_is_counted_once() -> None:
    """Clients ask twice after a fallback to an older version."""
    relay = play(
        [("client", asked(4)), ("broker", replied(4, {})), ("client", asked(3, 6)), ("broker", replied(3, {}, 6))]
    )
    assert relay.cluster.counters.software.total == {("kafka-client", "4.4.0"): 1}
