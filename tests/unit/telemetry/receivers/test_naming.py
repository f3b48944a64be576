"""kproxy.telemetry.receivers.labels: names as Prometheus wants them (its linter: test_promtool_clients.py)."""

from __future__ import annotations

import pytest

from kproxy.telemetry.receivers.labels import Kind, exported, is_label, label_name

KAFKA = "org.apache.kafka"


@pytest.mark.parametrize(
    ("name", "kind", "expected", "factor"),
    [
        (f"{KAFKA}.producer.record.send.total", Kind.COUNTER, "org_apache_kafka_producer_record_send_total", 1),
        (f"{KAFKA}.producer.record.send.total", Kind.GAUGE, "org_apache_kafka_producer_record_send", 1),
        (f"{KAFKA}.producer.connection.count", Kind.GAUGE, "org_apache_kafka_producer_connection_count_value", 1),
        ("flush.time.ns.total", Kind.COUNTER, "flush_time_seconds_total", 1e-9),
        ("app.info.start.time.ms", Kind.GAUGE, "app_info_start_time_seconds", 1e-3),
        ("last-poll-seconds-ago", Kind.GAUGE, "last_poll_seconds_ago", 1),
        ("bits.per.ms", Kind.GAUGE, "bytes_per_seconds", 125),
        ("requestSizeKB", Kind.GAUGE, "request_size_bytes", 1000),
        ("myHTTPServer2", Kind.GAUGE, "my_http_server2", 1),
        ("rate.m.x", Kind.GAUGE, "ratem_x", 1),
        ("d.x", Kind.GAUGE, "d_x", 1),
        ("latency.histogram", Kind.HISTOGRAM, "latency", 1),
        ("histogram", Kind.SUMMARY, "client", 1),
        ("9lives", Kind.GAUGE, "client_9lives", 1),
        ("büro.x", Kind.GAUGE, "b_ro_x", 1),
    ],
)
def test_families(name: str, kind: Kind, expected: str, factor: float) -> None:
    """Words joined by _, counters ending in _total and nothing else, base units with their factor."""
    family = exported(name, kind)
    assert family.name == expected
    assert family.factor == pytest.approx(factor)


@pytest.mark.parametrize(
    ("attribute", "label"),
    [
        ("topic", "topic"),
        ("client-id", "client_id"),
        ("nodeId", "node_id"),
        ("le", "exported_le"),
        ("0day", "exported_0day"),
        ("__name__", "name"),
        ("…", "attribute"),
    ],
)
def test_labels_of_attributes(attribute: str, label: str) -> None:
    """An attribute of any name gets a label with a free name."""
    assert label_name(attribute) == label
    assert is_label(label)


@pytest.mark.parametrize("name", ["", "a-b", "__name__", "le", "quantile", "job", "1a"])
def test_what_is_no_label(name: str) -> None:
    """Names that Prometheus refuses, or that have a meaning of their own."""
    assert not is_label(name)
