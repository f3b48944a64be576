"""kproxy.telemetry.receivers.labels: a client's later pushes come out as its first one did, with other numbers."""

from __future__ import annotations

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.telemetry.layout import template_of
from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.labels import known
from kproxy.telemetry.receivers.resource import Labelling, addition, with_attributes
from kproxy.telemetry.subscription import ClientInfo
from tests.unit.telemetry.receivers.pushes import client, gauge, metrics, total


def payload(*values: float, rack: str = "r1", of: str = "client_rack") -> bytes:
    """A resource for each value, as Java's clients write it."""
    return b"".join(metrics(gauge("g", value), resource={of: rack}).SerializeToString() for value in values)


def push(data: bytes, info: ClientInfo | None = None) -> Push:
    """A push as from the service, with its template."""
    return Push(info or client(), 0.0, data, template=template_of(data))


def expected(data: bytes, info: ClientInfo | None = None) -> bytes:
    """The result without a cache."""
    return with_attributes(data, addition([*known(info or client()), ("proxy", "here")]))


def test_later_pushes_are_labelled_as_the_first() -> None:
    """Each with its own numbers, whatever is cached of others: another rack, another client, another template."""
    labelling = Labelling({"proxy": "here"})
    other = client(2, client_id="ape")
    single = metrics(total("t", 1), gauge("g", 2.0)).SerializeToString()
    for data, info in [
        (payload(1.0, 2.0), client()),
        (payload(3.0, 4.0), client()),
        (payload(5.0, 6.0, rack="r2"), client()),
        (payload(7.0, 8.0), other),
        (payload(9.0, 0.0), client()),
        (single, client()),
        (payload(1.0) + payload(2.0, rack="r2"), client()),
        (payload(1.5) + payload(2.5, rack="r2"), client()),
    ]:
        assert labelling.labelled(push(data, info)) == expected(data, info)


def test_metrics_of_one_resource_share_it() -> None:
    """Labels occur once, not once for each metric."""
    merged = MetricsData.FromString(Labelling({}).labelled(push(payload(1.0, 2.0, 3.0))))
    assert len(merged.resource_metrics) == 1
    assert len(merged.resource_metrics[0].scope_metrics) == 3


def test_nobody_passes_for_another() -> None:
    """Not by a later push either: a push with attributes of our names is decoded each time."""
    labelling = Labelling({})
    for value in (1.0, 2.0):
        merged = MetricsData.FromString(labelling.labelled(push(payload(value, of="client_id", rack="forged"))))
        ids = [pair for pair in merged.resource_metrics[0].resource.attributes if pair.key == "client_id"]
        assert [pair.value.string_value for pair in ids] == ["app"]


def test_a_push_without_template() -> None:
    """It is labelled all the same, or refused if it is not MetricsData."""
    labelling = Labelling({"proxy": "here"})
    assert labelling.labelled(Push(client(), 0.0, payload(1.0, 2.0))) == expected(payload(1.0, 2.0))
    with pytest.raises(ValueError, match="ends within a resource"):
        labelling.labelled(Push(client(), 0.0, b"\x0a\x05abc"))
