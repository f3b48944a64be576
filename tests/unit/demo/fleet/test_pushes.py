"""kproxy.demo.fleet.pushes, metrics and otlp: payloads are as Kafka's clients make them."""

from __future__ import annotations

from collections import defaultdict
from math import isnan
from typing import Any

from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.demo.fleet.day import Day

JAVA, LIBRDKAFKA, FRANZ_GO = "apache-kafka-java", "librdkafka", "kgo"


def points(data: MetricsData) -> list[tuple[Any, Any]]:
    """Each metric with its data point."""
    metrics = [one for each in data.resource_metrics for one in each.scope_metrics[0].metrics]
    return [(one, (one.sum if one.HasField("sum") else one.gauge).data_points[0]) for one in metrics]


def test_each_library_has_its_form(of_5: Day) -> None:
    """Java repeats the resource and labels nodes by name; the others name themselves as scope and nodes by number."""
    forms: defaultdict[str, set[tuple[Any, ...]]] = defaultdict(set)
    for _, push in of_5.pushes():
        library = push.info.software_name or ""
        library = LIBRDKAFKA if library.startswith("confluent-") else library
        resources = len(push.metrics.resource_metrics)
        for metric, point in points(push.metrics):
            assert metric.name.startswith("org.apache.kafka.")
            assert resources == (len(points(push.metrics)) if library == JAVA else 1)
            for label in point.attributes:
                forms[library].add((label.key, label.value.WhichOneof("value")))
            if metric.HasField("sum"):
                assert metric.sum.aggregation_temporality == 1
                assert metric.sum.is_monotonic == (library != FRANZ_GO)
    assert forms == {
        JAVA: {("node_id", "string_value")},
        LIBRDKAFKA: {("node.id", "int_value")},
        FRANZ_GO: {("node_id", "int_value")},
    }


def test_sums_are_what_was_added(of_5: Day) -> None:
    """They count from the push before, none below zero; franz-go leaves out zeros, Java's mean of none is NaN."""
    last: dict[bytes, int] = {}
    nothing = set()
    for _, push in of_5.pushes():
        instance = push.info.client_instance_id.bytes
        for metric, point in points(push.metrics):
            value = point.as_int if point.WhichOneof("value") == "as_int" else point.as_double
            assert isnan(value) or value >= 0
            if isnan(value) or (value == 0 and push.info.software_name == FRANZ_GO):
                nothing.add((push.info.software_name, metric.name))
            if metric.HasField("sum"):
                assert point.start_time_unix_nano == last.get(instance, point.start_time_unix_nano)
                assert point.start_time_unix_nano < point.time_unix_nano
        if every := points(push.metrics):
            last[instance] = every[0][1].time_unix_nano
    assert nothing == {(JAVA, "org.apache.kafka.consumer.coordinator.rebalance.latency.avg")}


def test_rebalances_are_counted_by_members_too(of_5: Day) -> None:
    """What Java's members count of a group, all day, are the rebalances that kproxy tells of."""
    counted: defaultdict[str, float] = defaultdict(float)
    for _, push in of_5.pushes():
        for metric, point in points(push.metrics):
            if metric.name == "org.apache.kafka.consumer.coordinator.rebalance.total":
                counted[push.info.client_instance_id.hex] += point.as_double
    compared = 0
    for group in of_5.fleet.groups.values():
        for instance in (one for client in group.members for one in client.instances):
            if instance.id.hex in counted and instance.began < 0 and instance.ended is None:
                ended = [one.at + one.seconds for one in group.rebalances]
                late = sum(one > 86_400 - of_5.interval for one in ended)
                assert len(ended) - late <= counted[instance.id.hex] <= len(ended)
                compared += bool(ended)
    assert compared > 5
