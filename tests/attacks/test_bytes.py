"""The attacks' own bytes: those that must be well formed are, as protobuf and kproxy's codecs read them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial

import pytest
import zstandard
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.generated.describe_configs_request import DescribeConfigsRequest
from kproxy.wire.generated.find_coordinator_request import FindCoordinatorRequest
from kproxy.wire.generated.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kproxy.wire.generated.join_group_request import JoinGroupRequest
from kproxy.wire.generated.list_config_resources_request import ListConfigResourcesRequest
from kproxy.wire.header import decode_request_header

from . import configs, otlp, pushes, requests
from .attack import numbered


def test_metrics() -> None:
    """A gauge of a point with an attribute, as OTLP has it."""
    payload = otlp.metrics_data(otlp.gauge("name", otlp.point(2.5, otlp.key_value("a", "b"))))
    data = MetricsData.FromString(payload)
    (metric,) = data.resource_metrics[0].scope_metrics[0].metrics
    (point,) = metric.gauge.data_points
    assert (metric.name, point.as_double) == ("name", 2.5)
    assert [(one.key, one.value.string_value) for one in point.attributes] == [("a", "b")]


def test_series() -> None:
    """Every push is within the limit, and each has series that no other one has."""
    seen: set[str] = set()
    for compressed in pushes.series_pushes(20_000):
        payload = zstandard.ZstdDecompressor().decompress(compressed)
        assert len(payload) <= otlp.MAX_BYTES
        data = MetricsData.FromString(payload)
        for point in data.resource_metrics[0].scope_metrics[0].metrics[0].gauge.data_points:
            seen.add(point.attributes[0].value.string_value)
    assert len(seen) == 20_000


def test_computed_ids() -> None:
    """One honest answer is enough to know the subscription id of any instance, positive or negative."""
    instance = bytes(range(16))
    ids = otlp.Ids(bytes(4) + b"\0" + bytes(4) + struct.pack(">h16si", 0, instance, -5))
    assert ids.fresh()[0] != ids.fresh()[0]
    assert all(-(1 << 31) <= ids.fresh()[1] < 1 << 31 for _ in range(50))


@pytest.mark.parametrize(
    ("made", "decode", "version"),
    [
        (partial(configs.resources, configs.DESCRIBE), DescribeConfigsRequest.decode, 4),
        (partial(configs.resources, configs.INCREMENTAL_ALTER), IncrementalAlterConfigsRequest.decode, 1),
        (partial(configs.resources, configs.LIST), ListConfigResourcesRequest.decode, 1),
        (requests.huge_join_group, JoinGroupRequest.decode, 9),
        (requests.huge_api_versions, ApiVersionsRequest.decode, 3),
        (requests.huge_find_coordinator, FindCoordinatorRequest.decode, 4),
    ],
)
def test_huge_requests(made: Callable[[int], bytes], decode: Callable[[bytes, int], object], version: int) -> None:
    """They are large and not malformed, here with fewer elements."""
    frame = made(1_000)
    header, body = decode_request_header(frame, 4, len(frame))
    assert header.api_version == version
    assert struct.unpack_from(">i", frame)[0] == len(frame) - 4
    decode(frame[body:], version)


def test_numbered() -> None:
    """Each request has an id of its own."""
    frames = numbered([requests.SMALLEST] * 3, 7, -1)
    size = len(requests.SMALLEST)
    assert [struct.unpack_from(">i", frames, place * size + 8)[0] for place in range(3)] == [7, 6, 5]
