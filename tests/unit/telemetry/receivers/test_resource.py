"""kproxy.telemetry.receivers.resource: labels that are found when the message is decoded."""

from __future__ import annotations

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData, ResourceMetrics

from kproxy.telemetry.receivers.labels import known
from kproxy.telemetry.receivers.resource import MAX_RESOURCES, MAX_SEARCHED, addition, with_attributes
from tests.unit.telemetry.receivers.pushes import client, gauge, metrics, total

ADDED = addition(known(client()))


def attributes(resource_metrics: ResourceMetrics) -> list[tuple[str, str]]:
    """Names and values, in order."""
    return [(each.key, each.value.string_value) for each in resource_metrics.resource.attributes]


def decoded(payload: bytes) -> list[ResourceMetrics]:
    """The resources as a collector decodes them."""
    return list(ExportMetricsServiceRequest.FromString(payload).resource_metrics)


def test_attributes_are_added_to_the_clients_own() -> None:
    """Protobuf merges the two resources; the metrics are those of the client."""
    data = metrics(total("t", 3), gauge("g", 1.0), resource={"client_rack": "r1"})
    [merged] = decoded(with_attributes(data.SerializeToString(), ADDED))
    assert attributes(merged) == [("client_rack", "r1"), *known(client())]
    assert merged.scope_metrics == data.resource_metrics[0].scope_metrics


def test_every_resource_has_them() -> None:
    """Whether or not it had a resource before; a schema's URL and unknown fields stay."""
    data = MetricsData()
    data.resource_metrics.add(schema_url="https://x")
    data.resource_metrics.add().resource.attributes.add(key="a").value.int_value = 1
    unknown = b"\x0a\x03\xba\x3e\x00"  # a ResourceMetrics of an empty field 999
    one, two, three = decoded(with_attributes(data.SerializeToString() + unknown, ADDED))
    assert (one.schema_url, attributes(one)) == ("https://x", known(client()))
    assert len(two.resource.attributes) == 1 + len(known(client()))
    assert b"\xba\x3e\x00" in three.SerializeToString()


def test_long_resources() -> None:
    """Lengths of one, two and three bytes."""
    for size in (1, 200, 20_000):
        data = metrics(*[gauge("g", 1.0)] * size)
        [merged] = decoded(with_attributes(data.SerializeToString(), ADDED))
        assert (len(merged.scope_metrics[0].metrics), attributes(merged)) == (size, known(client()))


def test_payloads_one_after_the_other() -> None:
    """They are one payload with the resources of all."""
    payload = with_attributes(metrics(gauge("g", 1.0)).SerializeToString(), ADDED)
    assert len(decoded(payload * 3)) == 3


def test_nobody_passes_for_another() -> None:
    """A client's own attributes of our names are removed, others stay."""
    data = metrics(gauge("g", 1.0, client_id="in a point"), resource={"client_id": "forged", "client_rack": "r1"})
    [merged] = decoded(with_attributes(data.SerializeToString(), ADDED))
    assert attributes(merged) == [("client_rack", "r1"), *known(client())]
    assert merged.scope_metrics[0].metrics[0].gauge.data_points[0].attributes[0].value.string_value == "in a point"


@pytest.mark.parametrize(
    "key",
    [
        b"\x0a\x89\x00client_id",  # its length has a byte more than need be
        b"\x0a\x89\x80\x00client_id",
        b"\x8a\x00\x09client_id",  # its tag has
        b"\x0a\x01x\x0a\x09client_id",  # the last of two keys counts
    ],
)
def test_nobody_passes_for_another_by_other_bytes(key: bytes) -> None:
    """What protobuf takes for the name is one, however it is written."""
    pair = key + b"\x12\x08\x0a\x06forged"
    resource = b"\x0a" + bytes([len(pair)]) + pair
    payload = b"\x0a" + bytes([len(resource) + 2]) + b"\x0a" + bytes([len(resource)]) + resource
    assert attributes(*decoded(payload)) == [("client_id", "forged")]
    assert attributes(*decoded(with_attributes(payload, ADDED))) == known(client())


def test_nothing_stays_nothing() -> None:
    """A client without metrics pushes no bytes."""
    assert with_attributes(b"", ADDED) == b""


def test_text_that_is_no_unicode() -> None:
    """Half a surrogate pair does not end the receiver."""
    assert b"a?b" in addition([("client_id", "a\ud800b")])


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b"\x12\x00", "a field 0x12"),
        (b"\x0a", "no end"),
        (b"\x0a\xff\xff\xff\xff\xff\xff", "no end"),
        (b"\x0a\x05abc", "ends within a resource"),
        (b"\x0a\x00" * (MAX_RESOURCES + 1), "more than 4096 resources"),
        (b"\x0a\x0b\x0a\x09client_id\xff", "not MetricsData"),
    ],
)
def test_what_is_no_metrics_data(payload: bytes, message: str) -> None:
    """It is refused, and so is a payload that would grow without bounds."""
    with pytest.raises(ValueError, match=message):
        with_attributes(payload, ADDED)


def test_names_of_ours_are_removed_at_once() -> None:
    """Row 3: 24,000 of them among 367,000 others took 5 s: each deletion moved all behind it. Now it is refused."""
    data = MetricsData()
    attributes_of = data.resource_metrics.add().resource.attributes
    for number in range(MAX_SEARCHED):
        attributes_of.add(key="client_id" if number % 2 else f"a{number}")
    data.resource_metrics.add()
    kept, bare = decoded(with_attributes(data.SerializeToString(), ADDED))
    assert attributes(bare) == known(client())
    others = [(f"a{number}", "") for number in range(0, MAX_SEARCHED, 2)]
    assert attributes(kept) == [*others, *known(client())]
    attributes_of.add()
    with pytest.raises(ValueError, match="more than 8192 attributes of resources"):
        with_attributes(data.SerializeToString(), ADDED)
