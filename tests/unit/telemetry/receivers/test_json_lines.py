"""kproxy.telemetry.receivers.json_lines: lines that json reads, of every form of metric."""

from __future__ import annotations

import json
from math import inf, nan
from typing import Any

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, MetricsData

from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.json_lines import STEP, _about, lines
from kproxy.telemetry.receivers.resource import MAX_RESOURCES
from kproxy.telemetry.subscription import ClientInfo, kafka_text
from tests.unit.telemetry.clients import wide
from tests.unit.telemetry.receivers.pushes import CUMULATIVE, client, gauge, histogram, metrics, push, summary, total


def parsed(pushed: Push, **constant: str) -> list[dict[str, Any]]:
    """The lines as objects, one for each line."""
    out = [line for line in lines(pushed, constant) if line is not None]
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in out)
    return [json.loads(line) for line in out]


def value_of(metric: Metric) -> dict[str, Any]:
    """The only point of a push of one metric."""
    [line] = parsed(push(metric))
    [point] = line["metrics"]
    return dict(point)


def test_who_and_when() -> None:
    """The client, the time as Spark's timestamps are written, the constant columns, the resource."""
    [line] = parsed(push(gauge("g", 1.0), resource={"client_rack": "r"}), cluster="main")
    assert line == {
        "received_at": "2023-11-14T22:13:20.500Z",
        "client_instance_id": kafka_text(client().client_instance_id),
        "client_id": "app",
        "client_software_name": "apache-kafka-java",
        "client_software_version": "4.1.0",
        "client_source_address": "10.0.0.1",
        "client_source_port": 40001,
        "principal": None,
        "terminating": False,
        "cluster": "main",
        "resource": {"client_rack": "r"},
        "metrics": line["metrics"],
    }


def test_whom_the_broker_authenticated() -> None:
    """The principal of the connection on which the push came."""
    [line] = parsed(push(gauge("g", 1.0), info=client()._replace(principal="User:alice")))
    assert line["principal"] == "User:alice"


def test_numbers() -> None:
    """Gauges and sums, with OTLP's description of them; a number has the same type in every line."""
    assert value_of(total("t", 3, start=5, topic="x", partition="0")) == {
        "name": "t",
        "kind": "sum",
        "unit": "",
        "temporality": "delta",
        "monotonic": True,
        "start_unix_nano": 5,
        "unix_nano": 6,
        "attributes": {"partition": "0", "topic": "x"},
        "value": 3.0,
    }
    assert value_of(gauge("g", 1.5)) == {
        "name": "g",
        "kind": "gauge",
        "unit": "",
        "temporality": None,
        "monotonic": None,
        "start_unix_nano": None,
        "unix_nano": None,
        "attributes": {},
        "value": 1.5,
    }
    assert value_of(total("t", 1, temporality=CUMULATIVE))["temporality"] == "cumulative"


@pytest.mark.parametrize("value", [nan, inf, -inf, None])
def test_what_json_has_no_number_for(value: float | None) -> None:
    """It is null: no reader stumbles over it."""
    assert value_of(gauge("g", value))["value"] is None


def test_distributions() -> None:
    """Histograms of both kinds and summaries, with all their values."""
    found = value_of(histogram("h", [1.0, inf], [1, 2, 0], 5.0))
    assert (found["count"], found["sum"], found["bounds"], found["buckets"]) == (3, 5.0, [1.0, None], [1, 2, 0])
    found = value_of(summary("s", 2, 3.0, {0.5: 1.0}))
    assert (found["count"], found["sum"], found["quantiles"]) == (2, 3.0, [{"quantile": 0.5, "value": 1.0}])
    metric = Metric(name="e")
    point = metric.exponential_histogram.data_points.add(count=3, sum=2.0, scale=1, zero_count=1)
    point.positive.offset, point.positive.bucket_counts[:] = 4, [2]
    found = value_of(metric)
    assert (found["scale"], found["zero_count"]) == (1, 1)
    assert found["positive"] == {"offset": 4, "buckets": [2]}
    assert found["negative"] == {"offset": 0, "buckets": []}


def test_what_has_no_value() -> None:
    """Metrics without data and points that are marked as having none are left out."""
    marked = total("t", 1)
    marked.sum.data_points[0].flags = 1
    assert parsed(push(Metric(name="empty"), marked))[0]["metrics"] == []


def test_a_line_for_each_resource_that_differs() -> None:
    """Up to a limit; no line for a push without resources. Java repeats one for each metric: that is one line."""
    data = MetricsData()
    for number in range(MAX_RESOURCES):
        one = data.resource_metrics.add()
        one.resource.attributes.add(key="rack").value.string_value = "ab"[number % 2]
        one.scope_metrics.add().metrics.append(total(f"m{number}", number))
    lines = parsed(Push(client(), 0.0, data.SerializeToString()))
    assert [line["resource"] for line in lines] == [{"rack": "a"}, {"rack": "b"}]
    assert [len(line["metrics"]) for line in lines] == [MAX_RESOURCES // 2] * 2
    assert parsed(Push(client(), 0.0, b"")) == []
    for number in range(MAX_RESOURCES - 1):
        data.resource_metrics.add().resource.attributes.add(key="host").value.int_value = number
    with pytest.raises(ValueError, match="more than 4096 resources"):
        parsed(Push(client(), 0.0, data.SerializeToString()))


def test_a_wide_push_is_one_line() -> None:
    """It is read part by part, with turns for others; all its points are there."""
    steps = list(lines(Push(client(), 0.0, wide(700)), {}))
    assert steps.count(None) > 4_200 // STEP
    [line] = [json.loads(step) for step in steps if step is not None]
    assert line["resource"] == {"group_id": "orders-consumers"}
    assert [point["value"] for point in line["metrics"]] == [number + 0.5 for number in range(4_200)]


def test_a_name_that_thousands_of_points_repeat() -> None:
    """A push of 64 KB would be lines of 80 MB: it is refused, as soon as that is seen."""
    named = Metric(name="n" * 20_000)
    for each in range(4_000):
        named.gauge.data_points.add(as_int=each)
    with pytest.raises(ValueError, match="names make more than 8 times as many"):
        parsed(push(named))


def test_turns_where_there_is_nothing_to_write() -> None:
    """Scopes without metrics and points without values take time as well."""
    data = metrics(gauge("g", None))
    data.resource_metrics[0].scope_metrics[0].metrics[0].gauge.data_points[0].flags = 1
    points = data.resource_metrics[0].scope_metrics[0].metrics[0].gauge.data_points
    points.extend([points[0]] * 10 * STEP)
    for _ in range(10 * STEP):
        data.resource_metrics[0].scope_metrics.add()
    steps = list(lines(Push(client(), 0.0, data.SerializeToString()), {}))
    assert (steps.count(None), len(steps)) == (20, 21)


def test_text_that_is_no_unicode() -> None:
    """Half a surrogate pair or quotes in a client's text do not break the line."""
    info = ClientInfo(client().client_instance_id, 'a\ud800"\n\u2028', None, None, "::1", 1)
    assert parsed(push(gauge("g", 1.0), info=info))[0]["client_id"] == 'a?"\n\u2028'


def test_steps() -> None:
    """A push of many points lets others have their turn."""
    steps = list(lines(push(*[gauge("g", 1.0)] * (5 * STEP)), {}))
    assert steps.count(None) == 10
    assert len(steps) == 11


def test_long_names_are_not_kept() -> None:
    """They are written but not cached: clients may push any names."""
    name = "n" * 1000
    before = _about.cache_info().currsize
    assert value_of(gauge(name, 1.0, topic="t" * 1000))["attributes"] == {"topic": "t" * 1000}
    assert value_of(gauge(name, 1.0))["name"] == name
    assert _about.cache_info().currsize == before
