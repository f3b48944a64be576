"""Connections of a topology that is gone: none of their responses names a broker to the client, and all others pass."""

from __future__ import annotations

import pytest

from kproxy.observe.reasons import Reason
from kproxy.wire.apis import APIS
from kproxy.wire.skim import response_skim
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import KIB, Relay, Script, by, play, whole

NODES = frames.endpoints(frames.BROKERS)
COORDINATOR = {"NodeId": 7, "Host": "broker-7.internal", "Port": 9092}
SMALL = {
    0: lambda version: frames.produced(version, 5, (6,), frames.BROKERS),
    3: lambda version: frames.response(3, version, 5, {"Brokers": NODES}),
    10: lambda version: frames.response(
        10, version, 5, COORDINATOR if version < 4 else {"Coordinators": [{"Key": "group", **COORDINATOR}]}
    ),
    60: lambda version: frames.response(60, version, 5, {"Brokers": frames.endpoints(frames.BROKERS, "BrokerId")}),
    79: lambda version: frames.response(79, version, 5, {"NodeEndpoints": NODES}),
}
NAMING = [(key, version) for key in SMALL for version in frames.versions(key) if response_skim(key, version)]


def asked(key: int, version: int) -> bytes:
    return frames.produce(version, 5) if key == 0 else frames.request(key, version, 5)


@every(("key", "version"), NAMING)
def test_a_response_that_names_brokers_ends_the_connection(key: int, version: int) -> None:
    """This avoids a wrong address: the node of that id is another one now, or gone. Nothing is advertised."""
    script: Script = [("client", asked(key, version)), ("epoch", b""), ("broker", SMALL[key](version))]
    relay = play(script)
    assert (relay.reason, bytes(relay.client.data)) == (Reason.REBOOTSTRAP, b"")
    assert (relay.cluster.advertised, relay.cluster.learnt) == ([], [])


@pytest.mark.parametrize(("key", "version"), [(1, 16), (1, 18), (78, 2)])
@pytest.mark.parametrize("records", [b"r" * 90, b"r" * 90 * KIB])
def test_records_are_not_held_back(key: int, version: int, records: bytes) -> None:
    """A Fetch that streams is sent before its endpoints are read: its last bytes are not, and the connection ends."""
    make = frames.fetched if key == 1 else frames.share_fetched
    sent = make(version, 5, [(6, records)], frames.BROKERS)
    for size in (len(sent), 7, 4096):
        relay = Relay().play([("client", asked(key, version)), ("epoch", b""), ("broker", sent)], by(size))
        assert (relay.reason, relay.cluster.advertised) == (Reason.REBOOTSTRAP, [])
        assert sent.startswith(bytes(relay.client.data))
        assert not any(host.encode() in relay.client.data for _, host, _ in frames.BROKERS if len(host) > 1)


@every("version", frames.versions(10))
def test_a_coordinator_that_was_not_found_passes(version: int) -> None:
    """Its placeholders name no broker."""
    absent = {"ErrorCode": 15, "NodeId": -1, "Host": "", "Port": -1}
    content = absent if version < 4 else {"Coordinators": [{"Key": "group", **absent}]}
    sent = frames.response(10, version, 5, content)
    relay = play([("client", asked(10, version)), ("epoch", b""), ("broker", sent)])
    assert (relay.reason, bytes(relay.client.data)) == (None, sent)


@every("key", [spec.key for spec in APIS.values() if spec.broker and spec.key not in (0, 3, 18)])
def test_other_responses_pass(key: int) -> None:
    """What was in flight when the topology changed is answered: a completed commit is not reported as failed."""
    version = APIS[key].max_version
    sent = frames.response(key, version, 5)
    relay = Relay().play([("client", asked(key, version)), ("epoch", b""), ("broker", sent)], whole)
    assert (relay.reason, bytes(relay.client.data)) == (None, sent)


def test_an_acknowledged_produce_passes() -> None:
    """It has no new leader in it."""
    sent = frames.produced(12, 5)
    relay = play([("client", frames.produce(12, 5)), ("epoch", b""), ("broker", sent)])
    assert (relay.reason, bytes(relay.client.data)) == (None, sent)
