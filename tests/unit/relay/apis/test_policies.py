"""All policies together, checked against Kafka's schemas: every response with an address is rewritten."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from codegen.schema import Struct
from kproxy.cluster.policies import composed
from kproxy.observe.counters import ClusterCounters
from kproxy.protocol.api_table import PASS_UNCHANGED, ApiPolicy, ApiTable, OnRequest, OnResponse, Route
from kproxy.protocol.fault import Fault
from kproxy.relay import apis as relay
from kproxy.wire.apis import APIS
from kproxy.wire.skim import response_skim, response_stream
from tests.property.wire_contents import RESPONSES
from tests.support.every import every
from tests.unit.relay.flows import Cluster

POLICIES = composed(Cluster(), {}, None)
"""The policies of every virtual cluster, whatever its settings."""
ALL = [(spec.key, version) for spec in APIS.values() for version in range(spec.min_version, spec.max_version + 1)]
HOSTS = ("host", "address", "listener", "endpoint")


def route(key: int, version: int, policies: Mapping[int, ApiPolicy] = POLICIES) -> Route | None:
    """The route of an API in a version; None where it is refused."""
    try:
        return ApiTable(ClusterCounters("test"), policies).route(key << 16 | version)
    except Fault:
        return None


def names_hosts(struct: Struct, version: int) -> bool:
    """Whether any string field of a message is called like a host, at any depth."""
    fields = [*struct.plain(version), *struct.tagged(version)]
    return any(
        names_hosts(field.struct, version)
        if field.struct
        else field.element == "string" and any(word in field.name.lower() for word in HOSTS)
        for field in fields
    )


CLIENT_HOSTS = {
    15: "DescribeGroups: where members connect from",
    29: "DescribeAcls: where principals may connect from",
    31: "DeleteAcls: as above",
    69: "ConsumerGroupDescribe: where members connect from",
    77: "ShareGroupDescribe: as above",
    88: "StreamsGroupHeartbeat: application.server of other members",
    89: "StreamsGroupDescribe: both",
}
"""Host fields that belong to clients, and why."""


@every(("key", "version"), ALL)
def test_addresses_are_rewritten_or_refused(key: int, version: int) -> None:
    """Where a skim exists, either the response has a handler or the API is refused."""
    found = route(key, version)
    if response_skim(key, version) is None or found is None:
        assert found is not None or not APIS[key].broker
        return
    assert found.on_response is not OnResponse.PASS
    assert found.policy.response is not None
    last = route(key, version, relay.POLICIES)
    assert last is not None
    assert "each" in repr(last.respond)  # compiled, it has no __qualname__


@every(("key", "version"), ALL)
def test_hosts_in_the_schemas_are_known(key: int, version: int) -> None:
    """Every host-like field of an open API is rewritten: it is found by its name, not by a list of ours."""
    found = route(key, version)
    if found is not None and key not in CLIENT_HOSTS and names_hosts(RESPONSES[key].struct, version):
        assert found.on_response is not OnResponse.PASS


@pytest.mark.parametrize("key", CLIENT_HOSTS)
def test_hosts_of_clients_are_no_brokers(key: int) -> None:
    """No node id is beside them, and the list of exceptions has no entry that is not needed."""
    text = repr(RESPONSES[key])
    assert not any(f"name='{name}'" in text for name in ("NodeId", "BrokerId", "LeaderId", "CoordinatorId"))
    assert names_hosts(RESPONSES[key].struct, APIS[key].max_version)


@every(("key", "version"), ALL)
def test_streams_can_be_walked(key: int, version: int) -> None:
    """A route that streams has a stream, and an API with a stream is not held whole."""
    found = route(key, version)
    streams = found is not None and found.on_response is OnResponse.STREAM
    assert streams == (response_stream(key, version) is not None and found is not None)


@every(("key", "version"), ALL)
def test_what_is_looked_at_has_a_handler(key: int, version: int) -> None:
    """A request or a response that is held whole has a handler."""
    found = route(key, version)
    if found is None:
        return
    held = found.policy.request is not None and version >= found.policy.request_from
    assert (found.on_request is OnRequest.WHOLE) == held
    assert found.on_request is not OnRequest.ACKS or key == 0
    if found.on_response is OnResponse.PASS:
        assert found.respond(None, memoryview(b"")) is None  # type: ignore[arg-type]


def test_policies_cannot_be_changed() -> None:
    """One table of policies serves all virtual clusters."""
    with pytest.raises(TypeError):
        POLICIES[0] = PASS_UNCHANGED  # type: ignore[index]


def test_each_policy_has_its_key() -> None:
    """Each key is that of an API which brokers serve."""
    assert sorted(POLICIES) == [
        0,
        1,
        3,
        8,
        9,
        10,
        11,
        12,
        13,
        14,
        17,
        18,
        28,
        32,
        33,
        36,
        44,
        55,
        60,
        68,
        76,
        78,
        79,
        88,
    ]
    assert all(APIS[key].broker for key in POLICIES)
