"""DescribeConfigs: values that name hosts are masked; all other bytes, and all other responses, pass."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.relay.apis import POLICIES
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay, play, whole

KEY = 32
TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
REAL = "CLIENT://secret-7:9092,QUORUM://secret-7:9093"
SHOWN = "CLIENT://proxy:19099,QUORUM://controller-7.invalid:9093"
NODES = [(7, "proxy", 19099, None), (8, "proxy", 19100, "rack")]


def asks(version: int, *resources: tuple[int, str]) -> bytes:
    """A request for all configs of some resources."""
    named = [{"ResourceType": kind, "ResourceName": name, "ConfigurationKeys": None} for kind, name in resources]
    return frames.request(KEY, version, 5, {"Resources": named, "IncludeSynonyms": True})


def config(name: str, value: str | None, **synonyms: str | None) -> dict[str, Any]:
    """A config of a result."""
    listed = [{"Name": name.replace("_", "."), "Value": value, "Source": 4} for name, value in synonyms.items()]
    return {"Name": name, "Value": value, "ConfigSource": 4, "Synonyms": listed}


def result(kind: int, name: str, *configs: dict[str, Any]) -> dict[str, Any]:
    """A result of a response."""
    return {"ErrorMessage": None, "ResourceType": kind, "ResourceName": name, "Configs": list(configs)}


def answers(version: int, *results: dict[str, Any]) -> bytes:
    """A response."""
    return frames.response(KEY, version, 5, {"ThrottleTimeMs": 3, "Results": list(results)})


def relay() -> Relay:
    """A connection to a cluster of two nodes."""
    return Relay(Cluster(nodes=NODES))


OTHERS = (config("a", "secret-7:1", a="secret-7:1"), config("b", None), config("early.start.listeners", "QUORUM"))


@pytest.mark.parametrize("version", frames.versions(KEY))
def test_a_brokers_addresses_are_masked(version: int) -> None:
    """In values and in synonyms; kproxy's address is in their place. All else is as the broker wrote it."""
    real, shown = (
        answers(
            version,
            result(
                BROKER,
                "7",
                config("advertised.listeners", value, advertised_listeners=value, listeners=value, other=value),
                config("listeners", None, listeners=None),
                config("listener.name.client.listeners", ""),
                *OTHERS,
                config("alias", "x", advertised_listeners=value),
                config("controller.listener.names", "QUORUM"),
            ),
            result(TOPIC, "t", config("retention.ms", "5")),
            result(BROKER, "", config("listeners", "A://nobody:1" if value is REAL else "A://masked.invalid:1")),
        )
        for value in (REAL, SHOWN)
    )
    played = play([("client", asks(version, (BROKER, "7"), (TOPIC, "t"), (BROKER, ""))), ("broker", real)], relay)
    assert bytes(played.client.data) == shown
    assert frames.understood(KEY, version, shown[4:])["ThrottleTimeMs"] == 3
    assert played.cluster.advertised == [], "no port is bound for a host of a config"


@pytest.mark.parametrize("version", frames.versions(KEY))
def test_without_an_address_nothing_changes(version: int) -> None:
    """Byte for byte."""
    real = answers(version, result(BROKER, "7", *OTHERS), result(BROKER, "8"), result(BROKER, "9", *OTHERS))
    played = play([("client", asks(version, (BROKER, "7"))), ("broker", real)], relay)
    assert bytes(played.client.data) == real
    for none, resources in ((answers(version), [(BROKER, "7")]), (answers(version), [])):
        assert bytes(play([("client", asks(version, *resources)), ("broker", none)], relay).client.data) == none


@pytest.mark.parametrize(("kind", "held"), [(TOPIC, False), (LOGGER, False), (CLIENT_METRICS, False), (GROUP, False),
                                            (BROKER, True), (3, True), (127, True)])  # fmt: skip
def test_only_responses_with_brokers_are_held(kind: int, held: bool) -> None:
    """Responses about topics may have any size: they pass unseen. Types that kproxy does not know are held."""
    real = answers(4, *(result(TOPIC, f"t{number}", *OTHERS) for number in range(20)))
    one = Relay(Cluster(nodes=NODES), held_limit=len(real) - 1)
    one.play([("client", asks(4, (TOPIC, "t"), (kind, "x"))), ("broker", real)], lambda data: (data[:99], data[99:]))
    assert (one.reason is Reason.FRAME_TOO_LARGE) == held
    assert bytes(one.client.data) == (b"" if held else real)
    counted = one.cluster.counters.apis[KEY, 4]
    assert (counted.requests, counted.responses) == (1, 0 if held else 1)


def test_a_next_request_is_judged_anew() -> None:
    """A response is masked by its own request's resources, also where requests come in one read or are alike."""
    topics, broker = asks(4, (TOPIC, "7")), asks(4, (BROKER, "7"))
    assert len(topics) == len(broker)
    real = answers(4, result(BROKER, "7", config("listeners", REAL)))
    for cut in (whole, lambda data: (data[:9], data[9:])):
        one = relay().play([("client", topics), ("broker", real), ("client", broker), ("broker", real)], cut)
        assert one.client.data.count(b"secret") == 2, "only in the first, which a broker would not answer so"
        one = relay().play([("client", broker), ("broker", real), ("client", topics), ("broker", real)], cut)
        assert one.client.data.endswith(real)


def test_a_broker_of_an_earlier_topology() -> None:
    """A node's address could be another cluster's: the broker's is masked plainly."""
    real = answers(4, result(BROKER, "7", config("listeners", "CLIENT://secret-7:9092")))
    one = relay().play([("epoch", b""), ("client", asks(4, (BROKER, "7"))), ("broker", real)], whole)
    (found,) = frames.understood(KEY, 4, bytes(one.client.data[4:]))["Results"]
    assert found["Configs"][0]["Value"] == "CLIENT://broker-7.invalid:9092"


class Portless(Cluster):
    """A cluster with a node that has no port."""

    def brokers(self, local_host: str) -> Any:
        """As `Nodes.advertised`."""
        raise Fault(Reason.NO_FREE_PORT, "node 9 has no port")


def test_a_node_without_a_port() -> None:
    """It does not end the connection."""
    real = answers(4, result(BROKER, "7", config("listeners", "CLIENT://secret-7:9092")))
    one = Relay(Portless()).play([("client", asks(4, (BROKER, "7"))), ("broker", real)], whole)
    assert one.reason is None
    assert b"CLIENT://broker-7.invalid:9092" in one.client.data


@pytest.mark.parametrize("version", frames.versions(KEY))
def test_messages_that_cannot_be_read(version: int) -> None:
    """Whoever sent them is to blame; nothing of a response goes out that may have an address."""
    request = asks(version, (BROKER, "7"))
    for size in range(8 + 4, len(request) - 4):
        cut = (size - 4).to_bytes(4, "big") + request[4:size]
        one = relay().play([("client", cut)], whole)
        assert one.reason in (Reason.MALFORMED_REQUEST, None)
        assert one.reason is not None or size >= len(request) - 4
    real = answers(version, result(BROKER, "7", config("listeners", REAL)))
    for size in range(8, len(real) - (1 if version < 4 else 2)):
        cut = (size - 4).to_bytes(4, "big") + real[4:size]
        one = relay().play([("client", request), ("broker", cut)], whole)
        assert (one.reason, bytes(one.client.data)) == (Reason.MALFORMED_RESPONSE, b"")


def test_more_bytes_than_a_request_may_have() -> None:
    """It is refused at its head."""
    limit = POLICIES[KEY].request_limit
    one = relay().play([("client", (limit + 1).to_bytes(4, "big") + asks(4)[4:])], whole)
    assert one.reason is Reason.FRAME_TOO_LARGE
