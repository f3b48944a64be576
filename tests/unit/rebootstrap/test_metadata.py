"""Metadata: brokers get the proxy's addresses, and kproxy learns them before the client does; v13 carries 129."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from kproxy.observe.reasons import Reason
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.metadata import MetadataState
from kproxy.rebootstrap.topics import MOST_ASKED
from kproxy.wire.apis import APIS
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kproxy.wire.generated.metadata_response import MetadataResponse, MetadataResponseBroker, MetadataResponseTopic
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.primitives import INT32, MAX_TAGS, Tags, frame
from tests.support.every import every
from tests.unit.rebootstrap.test_leader_epochs import as_of, without_epochs, without_ids
from tests.unit.rebootstrap.test_topics import MESSAGES
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Node, Relay, Script, bytewise, play, port_of, whole

NODES: Sequence[Node] = ((5, "proxy.example", 19097, "rack-1"), (6, "proxy.example", 19098, None))
NOTIFYING = {Trigger.METADATA: Action.NOTIFY}
PRESENT = [MetadataResponseBroker(*node) for node in NODES]
ALL_TOPICS = MetadataRequest(topics=None)


@every("version", frames.versions(3))
def test_brokers_are_the_proxys(version: int) -> None:
    """This holds for any node id; racks, controller, cluster id and topics stay."""
    topics = [
        {
            "Name": "orders",
            "TopicId": bytes(range(16)),
            "ErrorCode": 5,
            "Partitions": [{"PartitionIndex": 1, "LeaderId": 7, "ReplicaNodes": [7, 1001], "IsrNodes": [7]}],
        }
    ]
    brokers = frames.endpoints(frames.BROKERS)
    brokers[0]["Rack"] = "rack-1"
    content = {"Brokers": brokers, "ControllerId": 7, "ClusterId": "c", "Topics": topics}
    sent = frames.response(3, version, 5, content)
    relay = play([("client", frames.request(3, version, 5)), ("broker", sent)])
    before = frames.understood(3, version, sent[4:])
    after = frames.understood(3, version, bytes(relay.client.data[4:]))
    assert frames.named(after["Brokers"]) == [(node, "proxy.example", port_of(node)) for node, _, _ in frames.BROKERS]
    assert [broker.get("Rack") for broker in after["Brokers"]] == [broker.get("Rack") for broker in before["Brokers"]]
    assert {**after, "Brokers": 0} == {**before, "Brokers": 0}
    assert relay.cluster.learnt == [list(frames.BROKERS)]


@every("version", frames.versions(3))
def test_a_broker_without_address(version: int) -> None:
    """With id -1 or no host there is nothing to advertise, and it stays as it is."""
    absent = [(-1, "", -1), (5, "", 0)]
    sent = frames.response(3, version, 5, {"Brokers": frames.endpoints(absent)})
    relay = play([("client", frames.request(3, version, 5)), ("broker", sent)])
    assert (bytes(relay.client.data), relay.cluster.advertised) == (sent, [])


def test_a_frame_of_metadata_that_grows_in_parts() -> None:
    """A thousand topics arrive in many reads: they are held, and rewritten once they are complete."""
    topics = [{"Name": f"topic-{n}", "TopicId": bytes(16), "Partitions": [{}] * 3} for n in range(200)]
    sent = frames.response(3, 12, 5, {"Brokers": frames.endpoints(frames.BROKERS), "Topics": topics})
    relay = play([("client", frames.request(3, 12, 5)), ("broker", sent)])
    assert relay.client.data[-1000:] == sent[-1000:]
    assert len(relay.cluster.learnt) == 1


def asked(request: MetadataRequest, correlation_id: int = 5, version: int = 13, tags: Tags = ()) -> bytes:
    """Return a request's frame; `tags` are in its header."""
    return frame(encode_request_header(RequestHeader(3, version, correlation_id, "c1", tags)), request.encode(version))


def named(*names: str) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])


def answer(response: MetadataResponse, version: int = 13, correlation_id: int = 5, header: bytes = b"\0") -> bytes:
    """Return a broker's response."""
    return frame(INT32.pack(correlation_id), header, response.encode(version))


def got(relay: Relay, index: int = -1) -> MetadataResponse:
    """Return a Metadata v13 that the client reads, by default the last one."""
    one = frames.split(bytes(relay.client.data))[index]
    assert one[:5] == INT32.pack(5) + b"\0"
    return MetadataResponse.decode(one[5:], 13)


def over_v12() -> Relay:
    """Return a connection with a broker that serves Metadata up to v12, or has not said what it serves."""
    return Relay(serves_v13=False)


def notifying(means: Action = Action.NOTIFY, nodes: Sequence[Node] = NODES) -> Cluster:
    return Cluster(decides={Trigger.METADATA: means}, nodes=nodes)


def advertised(response: MetadataResponse) -> MetadataResponse:
    """Return the response as the client must see it."""
    brokers = [replace(one, host="proxy.example", port=port_of(one.node_id)) for one in response.brokers]
    return replace(response, brokers=brokers)


@every("version", frames.versions(3))
def test_the_highest_version_that_a_client_used(version: int) -> None:
    """It shows what notification the client can read, and never falls."""
    relay = play([("client", frames.request(3, version, 5)), ("broker", frames.response(3, version, 5))])
    assert relay.context.metadata_version == version
    lower: Script = [("client", frames.request(3, 0, 6)), ("broker", frames.response(3, 0, 6))]
    assert relay.play(lower, whole).context.metadata_version == version


@pytest.mark.parametrize("tags", [(), ((5, b"five"),)])
@pytest.mark.parametrize("node_id", [None, 7])
def test_v13_is_decided_upon_and_goes_on(node_id: int | None, tags: Tags) -> None:
    """It goes on as it came, also where clients bootstrap: the backend learns of them. Below v13 it is not asked."""
    sent = asked(named("orders"), tags=tags)
    relay = play([("client", sent)], lambda: Relay(node_id=node_id))
    assert (bytes(relay.broker.data), relay.cluster.asks) == (sent, [(Trigger.METADATA, 0)])
    assert relay.context.metadata_version == 13
    for version in range(13):
        assert play([("client", frames.request(3, version, 5))], lambda: Relay(notifying())).cluster.asks == []


@every("kind", MESSAGES)
def test_v13_over_a_broker_that_serves_v12(kind: str) -> None:
    """rebootstrap.md: "The v13 request equals v12; the response only appends one int16": exact for anything in it."""
    request, response = asked(named("orders"), tags=((5, b"five"),)), MESSAGES[kind]
    relay = play([("client", request), ("broker", answer(response, 12))], over_v12)
    assert bytes(relay.broker.data) == asked(named("orders"), version=12, tags=((5, b"five"),))
    assert bytes(relay.client.data) == answer(advertised(response))
    assert relay.cluster.counters.apis.keys() == {(3, 13)}


@pytest.mark.parametrize("make", [Relay, over_v12])
def test_errors_in_it_are_counted(make: Callable[[], Relay]) -> None:
    """In whichever version the broker answers."""
    response = MetadataResponse(topics=[MetadataResponseTopic(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "orders")])
    sent = answer(response, 12 if make is over_v12 else 13)
    relay = play([("client", asked(named("orders"))), ("broker", sent)], make)
    assert relay.cluster.counters.apis[3, 13].errors == {ErrorCode.TOPIC_AUTHORIZATION_FAILED: 1}


@pytest.mark.parametrize("make", [Relay, over_v12])
def test_v13_without_brokers(make: Callable[[], Relay]) -> None:
    """A broker that is starting may know none: the client gets the response in its version."""
    relay = play(
        [("client", asked(ALL_TOPICS)), ("broker", answer(MetadataResponse(), 12 if make is over_v12 else 13))], make
    )
    assert bytes(relay.client.data) == answer(MetadataResponse())
    assert relay.cluster.learnt == []


def test_v13_of_the_broker_itself() -> None:
    """Its error code, and everything else, is the broker's."""
    response = replace(MESSAGES["tagged fields of its own"], error_code=42)
    relay = play([("client", asked(ALL_TOPICS)), ("broker", answer(response, header=b"\x01\x05\x01h"))])
    assert bytes(relay.client.data) == answer(advertised(response), header=b"\x01\x05\x01h")


def test_lower_versions_are_as_the_broker_wrote_them() -> None:
    """Only v13 is changed over a broker that serves v12."""
    response = MESSAGES["tagged fields of its own"]
    relay = play([("client", frames.request(3, 12, 5)), ("broker", answer(response, 12))], over_v12)
    assert bytes(relay.client.data) == answer(advertised(response), 12)


@pytest.mark.parametrize("retired", [False, True])
@pytest.mark.parametrize("names", [(), ("orders",), ("orders", "t" * 249, "")])
def test_a_client_is_notified_on_a_stale_connection(names: tuple[str, ...], retired: bool) -> None:
    """rebootstrap.md: "put valid brokers in the body (never zero brokers with topics)"; and each topic asked for."""
    script: Script = [("epoch", b""), ("client", asked(named(*names)))]
    relay = play(script, lambda: Relay(notifying(), retired=retired))
    topics = [MetadataResponseTopic(ErrorCode.LEADER_NOT_AVAILABLE, name) for name in names]
    assert got(relay) == MetadataResponse(0, PRESENT, "cluster-1", 5, topics, error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
    assert (bytes(relay.broker.data), relay.requests.last) == (b"", Reason.REBOOTSTRAP)
    assert relay.cluster.asks == [(Trigger.METADATA, 0)]
    assert relay.context.metadata_version == 13


def test_topics_asked_by_their_ids() -> None:
    """KIP-516: the request has no name for them, so the answer has none."""
    request = MetadataRequest(topics=[MetadataRequestTopic(UUID(int=9), None)])
    relay = play([("epoch", b""), ("client", asked(request))], lambda: Relay(notifying()))
    assert got(relay).topics == [MetadataResponseTopic(ErrorCode.LEADER_NOT_AVAILABLE, None, UUID(int=9))]


def test_a_client_is_notified_in_its_turn() -> None:
    """rebootstrap.md: "flush, then close": behind what is in flight; what comes after it goes nowhere."""
    (one, one_back), (two, _) = frames.heartbeat(1), frames.heartbeat(2)
    script: Script = [("client", one), ("epoch", b""), ("client", asked(named("orders")) + two), ("broker", one_back)]
    relay = play(script, lambda: Relay(notifying()))
    assert (bytes(relay.broker.data), frame(frames.split(bytes(relay.client.data))[0])) == (one, one_back)
    assert got(relay).error_code == ErrorCode.REBOOTSTRAP_REQUIRED


@pytest.mark.parametrize(("make", "request_"), [(Relay, ALL_TOPICS), (over_v12, named("orders"))])
@every("kind", MESSAGES)
def test_a_client_is_notified_by_the_brokers_answer(
    kind: str, make: Callable[[], Relay], request_: MetadataRequest
) -> None:
    """The rest of it is true: some clients use it as it is, such as kafka-python, and Java's listTopics."""
    response, version = MESSAGES[kind], 12 if make is over_v12 else 13

    def make_notifying() -> Relay:
        relay = make()
        relay.cluster.decides = NOTIFYING
        return relay

    (one, one_back), (two, _) = frames.heartbeat(1), frames.heartbeat(2)
    script: Script = [("client", one + asked(request_) + two), ("broker", one_back + answer(response, version))]
    relay = play(script, make_notifying)
    assert bytes(relay.broker.data) == one + asked(request_, version=version)
    assert bytes(relay.client.data) == one_back + answer(
        replace(advertised(response), error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
    )
    assert (relay.requests.last, list(relay.in_flight)) == (Reason.REBOOTSTRAP, [])


def test_only_the_last_answer_says_it() -> None:
    """Metadata that was asked for and served before is as the broker wrote it."""
    relay = Relay()
    relay.feed("client", asked(ALL_TOPICS, 4))
    relay.cluster.decides = NOTIFYING
    relay.feed("client", asked(ALL_TOPICS, 5))
    response = MESSAGES["long names"]
    relay.feed("broker", answer(response, correlation_id=4) + answer(response))
    first, second = frames.split(bytes(relay.client.data))
    assert frame(first) == answer(advertised(response), correlation_id=4)
    assert MetadataResponse.decode(second[5:], 13).error_code == ErrorCode.REBOOTSTRAP_REQUIRED


def test_a_request_for_all_topics_on_a_stale_connection() -> None:
    """No broker of the present cluster can answer: the connection ends without a decision; the next one is notified."""
    for retired in (False, True):
        relay = play([("epoch", b""), ("client", asked(ALL_TOPICS))], lambda: Relay(notifying(), retired=retired))  # noqa: B023
        assert (relay.reason, relay.cluster.asks, bytes(relay.client.data)) == (Reason.REBOOTSTRAP, [], b"")


def test_an_acknowledgement_before_the_end_of_a_stale_connection() -> None:
    """It reaches its client, which would send the record again elsewhere: in front of either side's last message."""
    record, written = frames.produce(9, 4), frames.produced(9, 4)
    by_request = play([("client", record), ("epoch", b""), ("client", asked(ALL_TOPICS))], lambda: Relay(notifying()))
    assert (by_request.reason, bytes(by_request.broker.data)) == (Reason.REBOOTSTRAP, record)
    assert len(by_request.in_flight) == 1  # and the connection waits for it: RequestFault
    by_response: Script = [
        ("client", record + frames.request(3, 12, 5)),
        ("epoch", b""),
        ("broker", written + answer(MESSAGES["long names"], 12)),
    ]
    relay = Relay(notifying()).play(by_response, whole)
    assert (relay.reason, bytes(relay.client.data)) == (Reason.REBOOTSTRAP, written)


def test_ids_of_requests_that_are_answered_are_forgotten() -> None:
    """Also where the client says meanwhile that it is another software, which gets topic ids."""
    relay = hiding()
    relay.feed("client", frame(encode_request_header(RequestHeader(3, 13, 5, "c1", ())), BY_ID.encode(13)))
    relay.cluster.hides = False
    relay.feed("broker", answer(MESSAGES["no name"]))
    state = relay.context.find(MetadataState)
    assert state is not None
    assert state.by_topic_id == set()


@pytest.mark.parametrize(
    ("means", "reason"), [(Action.CLOSE, Reason.REBOOTSTRAP), (Action.REFUSE, Reason.RETIRED_NODE)]
)
@pytest.mark.parametrize("request_", [ALL_TOPICS, named("orders")])
def test_a_client_that_was_notified_already_is_closed(request_: MetadataRequest, means: Action, reason: Reason) -> None:
    """rebootstrap.md: "once for a connection in an epoch"; never a second 129."""
    relay = play([("client", asked(request_))], lambda: Relay(notifying(means)))
    assert (relay.reason, bytes(relay.client.data), bytes(relay.broker.data)) == (reason, b"", b"")


def test_never_zero_brokers() -> None:
    """rebootstrap.md: "never zero brokers": a client that takes the body for true would forget all it knows."""
    relay = play([("epoch", b""), ("client", asked(named("orders")))], lambda: Relay(notifying(nodes=())))
    assert (relay.reason, bytes(relay.client.data)) == (Reason.REBOOTSTRAP, b"")
    assert "no present node" in relay.detail


@pytest.mark.parametrize("retired", [False, True])
@pytest.mark.parametrize("request_", [ALL_TOPICS, named("orders")])
def test_never_129_where_clients_bootstrap(request_: MetadataRequest, retired: bool) -> None:
    """rebootstrap.md: "never on a listener that clients bootstrap from". Not even if the backend should say so."""
    relay = play([("client", asked(request_))], lambda: Relay(notifying(), node_id=None, retired=retired))
    assert (relay.reason, bytes(relay.client.data)) == (Reason.REBOOTSTRAP, b"")


@every("kind", MESSAGES)
@pytest.mark.parametrize("make", [Relay, over_v12])
def test_an_answer_that_comes_when_the_topology_is_gone(kind: str, make: Callable[[], Relay]) -> None:
    """The client learns nothing of the old cluster: it gets present brokers, 129, and its topics to ask for again."""
    response = MESSAGES[kind]
    relay = make()
    relay.feed("client", asked(ALL_TOPICS) + frames.heartbeat(6)[0])
    relay.cluster.epoch, relay.cluster.nodes, relay.cluster.decides = 1, NODES, NOTIFYING
    for byte in bytewise(answer(response, 12 if make is over_v12 else 13)):
        relay.feed("broker", byte)
    topics = [
        MetadataResponseTopic(ErrorCode.LEADER_NOT_AVAILABLE, one.name, one.topic_id, one.is_internal)
        for one in response.topics
    ]
    assert got(relay) == MetadataResponse(0, PRESENT, "cluster-1", 5, topics, error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
    assert (relay.reason, relay.cluster.learnt, relay.cluster.advertised) == (None, [], [])
    assert relay.cluster.asks == [(Trigger.METADATA, 0)] * 2


@pytest.mark.parametrize(
    ("means", "nodes", "reason"),
    [
        (Action.SERVE, NODES, Reason.REBOOTSTRAP),
        (Action.CLOSE, NODES, Reason.REBOOTSTRAP),
        (Action.REFUSE, NODES, Reason.RETIRED_NODE),
        (Action.NOTIFY, (), Reason.REBOOTSTRAP),
    ],
)
def test_an_old_answer_is_never_served(means: Action, nodes: Sequence[Node], reason: Reason) -> None:
    """Whatever the backend decides. Below v13 it is not even asked, and without brokers there is no answer."""
    for response in (MESSAGES["no topic"], MetadataResponse()):
        relay = Relay()
        relay.feed("client", asked(ALL_TOPICS))
        relay.cluster.epoch, relay.cluster.nodes, relay.cluster.decides = 1, nodes, {Trigger.METADATA: means}
        relay.feed("broker", answer(response))
        assert (relay.reason, bytes(relay.client.data)) == (reason, b"")
        relay = play([("client", frames.request(3, 12, 5)), ("epoch", b""), ("broker", answer(response, 12))])
        assert (relay.reason, relay.cluster.asks) == (Reason.REBOOTSTRAP, [])


@every("version", range(13))
def test_a_node_that_is_gone_serves_no_client_that_it_cannot_notify(version: int) -> None:
    """Versions below v13 cannot carry 129: the connection ends at once (KIP-899)."""
    relay = play([("client", frames.request(3, version, 5))], lambda: Relay(retired=True))
    assert (relay.reason, bytes(relay.broker.data)) == (Reason.RETIRED_NODE, b"")


@every("key", [spec.key for spec in APIS.values() if spec.broker and spec.key not in (3, 17, 18, 36)])
def test_a_node_that_is_gone_serves_nothing_else(key: int) -> None:
    """Any request that does not lead to a notification ends the connection."""
    version = max(APIS[key].max_version, 0)
    relay = play([("client", frames.request(key, version, 5))], lambda: Relay(retired=True))
    assert (relay.reason, bytes(relay.broker.data)) == (Reason.RETIRED_NODE, b"")


@pytest.mark.parametrize(("key", "version"), [(17, 1), (36, 2), (18, 4)])
def test_requests_on_the_way_to_a_notification(key: int, version: int) -> None:
    """Hello and authentication reach a broker, though the node is gone."""
    relay = play([("client", frames.request(key, version, 5))], lambda: Relay(retired=True))
    assert relay.broker.data == frames.request(key, version, 5)


def test_a_long_list_of_topics() -> None:
    """10,000 of them are held and decided upon; more bytes than any client sends are refused before they arrive."""
    names = [f"{number:0200}" for number in range(10_000)]
    relay = Relay(notifying(), earlier=1).play([("epoch", b""), ("client", asked(named(*names)))], whole)
    assert [one.name for one in got(relay).topics] == names
    relay = Relay().play([("client", INT32.pack((8 << 20) + 1) + asked(ALL_TOPICS)[4:])], whole)
    assert relay.reason is Reason.FRAME_TOO_LARGE
    below: Script = [("client", INT32.pack((8 << 20) + 1) + asked(ALL_TOPICS, version=12)[4:])]
    assert Relay().play(below, whole).reason is None


def test_a_list_of_topics_without_end() -> None:
    """More than kproxy would answer in one turn are treated as all topics: the connection ends."""
    names = [f"{number}" for number in range(MOST_ASKED + 1)]
    served = Relay(notifying(), earlier=1).play([("epoch", b""), ("client", asked(named(*names[1:])))], whole)
    assert len(got(served).topics) == MOST_ASKED
    ended = Relay(notifying(), earlier=1).play([("epoch", b""), ("client", asked(named(*names)))], whole)
    assert (ended.reason, bytes(ended.client.data)) == (Reason.REBOOTSTRAP, b"")


def test_a_topic_with_tagged_fields_without_end() -> None:
    """More than Kafka will ever have are malformed: they are not looked at."""
    for count, reason in ((MAX_TAGS, None), (MAX_TAGS + 1, Reason.MALFORMED_REQUEST)):
        tags = tuple((number, b"") for number in range(count))
        request = MetadataRequest(topics=[MetadataRequestTopic(name="t", unknown_tags=tags)])
        assert Relay(notifying()).play([("epoch", b""), ("client", asked(request))], whole).reason is reason


@pytest.mark.parametrize("retired", [False, True])
def test_a_request_that_cannot_be_read(retired: bool) -> None:
    """It matters only where kproxy answers it; then it is the client's fault."""
    good = asked(named("orders", "payments"), tags=((5, b"five"),))[4:]
    for size in range(8, len(good) - 3):
        relay = Relay(notifying(), retired=retired).play([("epoch", b""), ("client", frame(good[:size]))], whole)
        assert (relay.reason, bytes(relay.client.data)) == (Reason.MALFORMED_REQUEST, b"")


def test_a_response_that_cannot_be_read() -> None:
    """It is cut anywhere before its own tagged fields: the broker's fault, wherever its topics must be known."""
    body = answer(MESSAGES["tagged fields of its partitions"], 12)[4:]
    for size in range(4, len(body) - 1):
        current, stale = over_v12(), over_v12()
        for relay in (current, stale):
            relay.feed("client", asked(ALL_TOPICS))
        stale.cluster.epoch, stale.cluster.nodes, stale.cluster.decides = 1, NODES, NOTIFYING
        for relay in (current, stale):
            relay.feed("broker", frame(body[:size]))
            assert (relay.reason, bytes(relay.client.data)) == (Reason.MALFORMED_RESPONSE, b"")


def kinds(low: int = 0) -> list[tuple[str, int]]:
    """Return two messages in each version from `low` on, and all in the newest; test_leader_epochs.py has them all."""
    each = [(kind, version) for kind in ("long names", "no cluster id") for version in frames.versions(3, low)]
    return [*each, *((kind, 13) for kind in MESSAGES)]


def forgetful(version: int = 13) -> Relay:
    """Return a connection with a client that must forget leader epochs; `version` is what its broker serves."""
    relay = Relay(serves_v13=version != 12)
    relay.cluster.forgets = True
    return relay


@every(("kind", "version"), kinds(7))
def test_a_client_that_is_to_forget_leader_epochs(kind: str, version: int) -> None:
    """Each is -1, and brokers still have the proxy's addresses; the backend is asked once, for the cluster named."""
    response = as_of(MESSAGES[kind], version)
    header = b"\0" if version >= 9 else b""
    script: Script = [
        ("client", frames.request(3, version, 5, None if version < 13 else {"Topics": []})),
        ("broker", answer(response, version, header=header)),
    ]
    relay = play(script, forgetful)
    expected = answer(advertised(without_epochs(response)), version, header=header)
    assert (bytes(relay.client.data), relay.cluster.epochs_of) == (expected, [response.cluster_id])


@every("kind", MESSAGES)
def test_epochs_are_forgotten_over_a_broker_that_serves_v12(kind: str) -> None:
    """The epochs and the inserted error code are at their own places."""
    response = MESSAGES[kind]
    relay = play([("client", asked(named("orders"))), ("broker", answer(response, 12))], lambda: forgetful(12))
    assert bytes(relay.client.data) == answer(advertised(without_epochs(response)))


@every("version", frames.versions(3))
def test_other_clients_keep_leader_epochs(version: int) -> None:
    """The backend is asked from v7 on, the first with epochs; below, there is nothing to forget."""
    response = as_of(replace(MESSAGES["many replicas"], brokers=[]), version)
    if version < 7:
        response = without_epochs(response)
    sent = answer(response, version, header=b"\0" if version >= 9 else b"")
    script: Script = [("client", frames.request(3, version, 5)), ("broker", sent)]
    relay = play(script)
    assert bytes(relay.client.data) == sent
    assert relay.cluster.epochs_of == ([response.cluster_id] if version >= 7 else [])
    if version < 7:
        assert bytes(play(script, forgetful).client.data) == sent


def test_epochs_of_a_response_that_does_not_end() -> None:
    """The connection ends, by the broker's fault."""
    broken = answer(MESSAGES["many replicas"], 12)[:-30]
    sent = INT32.pack(len(broken) - 4) + broken[4:]
    relay = play([("client", frames.request(3, 12, 5)), ("broker", sent)], forgetful)
    assert relay.reason is Reason.MALFORMED_RESPONSE


BY_ID = MetadataRequest(topics=[MetadataRequestTopic(UUID(int=5), None), MetadataRequestTopic(UUID(int=6), None)])


def hiding(version: int = 13) -> Relay:
    """Return a connection with a client that gets no topic ids; `version` is what its broker serves."""
    relay = Relay(serves_v13=version != 12)
    relay.cluster.hides = True
    return relay


@every(("kind", "version"), kinds())
def test_a_client_that_gets_no_topic_ids(kind: str, version: int) -> None:
    """Nor epochs, of any cluster; brokers still have the proxy's addresses, and the request goes on unchanged."""
    response = as_of(MESSAGES[kind], version)
    if version < 7:
        response = without_epochs(response)
    header = b"\0" if version >= 9 else b""
    sent = frames.request(3, version, 5) if version < 13 else asked(named("orders"))
    relay = play([("client", sent), ("broker", answer(response, version, header=header))], hiding)
    assert bytes(relay.broker.data) == sent
    assert bytes(relay.client.data) == answer(advertised(without_ids(response)), version, header=header)


@every("kind", MESSAGES)
def test_ids_are_hidden_over_a_broker_that_serves_v12(kind: str) -> None:
    """The ids and the inserted error code are at their own places."""
    response = MESSAGES[kind]
    relay = play([("client", asked(ALL_TOPICS)), ("broker", answer(response, 12))], lambda: hiding(12))
    assert bytes(relay.client.data) == answer(advertised(without_ids(response)))


@pytest.mark.parametrize("version", [12, 13])
def test_a_request_by_topic_id_is_answered_by_it(version: int) -> None:
    """It knows the id from elsewhere, as a group's offsets; what it asks for by name has none, before and after."""
    response = MESSAGES["many replicas"]
    requests: Script = [
        ("client", asked(named("orders"), 4)),
        ("client", asked(BY_ID, 5)),
        ("client", asked(ALL_TOPICS, 6)),
        ("client", asked(named(), 7)),
    ]
    answers: Script = [("broker", answer(response, version, correlation_id)) for correlation_id in (4, 5, 6, 7)]
    relay = play([*requests, *answers, *requests, *answers], lambda: hiding(version))
    hidden, shown = without_ids(response), without_epochs(response)
    expected = b"".join(
        answer(advertised(one), correlation_id=number)
        for number, one in ((4, hidden), (5, shown), (6, hidden), (7, hidden))
    )
    assert bytes(relay.client.data) == expected * 2
    assert bytes(relay.broker.data)[: len(requests[0][1])] == asked(named("orders"), 4, version)
    assert not relay.context.state(MetadataState).by_topic_id


@pytest.mark.parametrize("request_", [named("orders"), BY_ID])
def test_ids_in_an_answer_that_comes_when_the_topology_is_gone(request_: MetadataRequest) -> None:
    """It has the previous cluster's topics, to be asked for again: without ids, unless they were asked for by id."""
    response = MESSAGES["long names"]
    relay = hiding()
    relay.feed("client", asked(request_))
    relay.cluster.epoch, relay.cluster.nodes, relay.cluster.decides = 1, NODES, NOTIFYING
    relay.feed("broker", answer(response))
    hidden = response if request_ is BY_ID else without_ids(response)
    expected = [(ErrorCode.LEADER_NOT_AVAILABLE, one.name, one.topic_id, one.is_internal) for one in hidden.topics]
    assert [(one.error_code, one.name, one.topic_id, one.is_internal) for one in got(relay).topics] == expected


def test_a_request_by_id_that_cannot_be_read() -> None:
    """It is the client's fault, where it matters whether it asks by id."""
    head = encode_request_header(RequestHeader(3, 13, 5, "c1", ()))
    assert play([("client", frame(head))], hiding).reason is Reason.MALFORMED_REQUEST
    assert bytes(play([("client", frame(head))]).broker.data) == frame(head)


def test_ids_of_a_response_that_does_not_end() -> None:
    """The connection ends, by the broker's fault."""
    broken = answer(MESSAGES["many replicas"], 12)[:-30]
    sent = INT32.pack(len(broken) - 4) + broken[4:]
    relay = play([("client", frames.request(3, 12, 5)), ("broker", sent)], hiding)
    assert relay.reason is Reason.MALFORMED_RESPONSE
