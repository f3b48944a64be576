"""kproxy.telemetry.receivers.labels: a client's later pushes come out as its first one did, with other numbers."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from functools import lru_cache
from struct import Struct

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.telemetry.layout import template_of
from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers import resource
from kproxy.telemetry.receivers.labels import known
from kproxy.telemetry.receivers.resource import MAX_SPANS, MOST_KEPT, Labelling, addition, with_attributes
from kproxy.telemetry.subscription import ClientInfo
from kproxy.wire.primitives import uvarint
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


def test_nobody_passes_for_another_cluster() -> None:
    """Constant attributes are kproxy's own as well, and the virtual cluster is one: a client's is removed."""
    labelling = Labelling({"cluster": "orders", "client_id": "fleet"})
    for value in (1.0, 2.0):
        merged = MetricsData.FromString(labelling.labelled(push(payload(value, of="cluster", rack="payments"))))
        (resource,) = merged.resource_metrics
        pairs = [(pair.key, pair.value.string_value) for pair in resource.resource.attributes]
        assert dict(pairs) == dict(known(client())) | {"cluster": "orders", "client_id": "fleet"}
        assert len(pairs) == len(dict(pairs)), "OTLP: no attribute occurs twice"


def test_a_push_without_template() -> None:
    """It is labelled all the same, or refused if it is not MetricsData."""
    labelling = Labelling({"proxy": "here"})
    assert labelling.labelled(Push(client(), 0.0, payload(1.0, 2.0))) == expected(payload(1.0, 2.0))
    with pytest.raises(ValueError, match="ends within a resource"):
        labelling.labelled(Push(client(), 0.0, b"\x0a\x05abc"))


def fleet(labelling: Labelling, clients: int, make: Callable[[int], tuple[bytes, ClientInfo]]) -> float:
    """Return the bytes that the labelling has grown by for each of so many clients."""
    for number in range(1000, 1010):  # what is made once
        labelling.labelled(push(*make(number)))
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(clients):
            labelling.labelled(push(*make(number)))
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / clients
    finally:
        tracemalloc.stop()


def a_long_resource(number: int) -> tuple[bytes, ClientInfo]:
    """30 KB of a client's own attributes."""
    return payload(1.0, rack=f"{number:05}" * 6000), client(number)


def many_resources(number: int) -> tuple[bytes, ClientInfo]:
    """As many as are joined, of lengths that no other client's have."""
    scope = b"\x12" + uvarint(2 * number) + bytes(2 * number)
    last = b"\x0a\x00" + scope
    return b"\x0a\x04\x0a\x00\x12\x00" * (MAX_SPANS - 1) + b"\x0a" + uvarint(len(last)) + last, client(number)


def long_names(number: int) -> tuple[bytes, ClientInfo]:
    """Each as long as kproxy takes them, of characters that take the most memory."""
    long = f"{number:05}" + "\U0001f980" * 251
    return payload(1.0), client(number, client_id=long, version=long)._replace(principal=long, software_name=long)


def long_enough(number: int) -> tuple[bytes, ClientInfo]:
    """A resource that is still kept, beside names of some length."""
    return payload(1.0, rack=f"{number:05}" * 500), client(number, client_id=f"{number:0100}")


@pytest.mark.parametrize("make", [a_long_resource, many_resources, long_names, long_enough])
def test_what_is_kept_of_a_client_is_bounded(
    make: Callable[[int], tuple[bytes, ClientInfo]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it pushes. A resource of 30 KB was kept whole, so made-up instances held 500 MB for good."""
    monkeypatch.setattr(resource, "_struct", lru_cache(1)(Struct))  # they are shared, and count once
    assert fleet(Labelling({"proxy": "here"}), 40, make) < MOST_KEPT


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The payloads that were searched for what they repeat."""
    found, cut = list[bytes](), resource.cut

    def noted(data: bytes, *, again: bool = True) -> resource.Cut | None:
        found.append(data)
        return cut(data, again=again)

    monkeypatch.setattr(resource, "cut", noted)
    return found


@pytest.mark.parametrize(
    ("data", "times"),
    [(payload(*range(250)), 1), (payload(1.0, rack="r" * 2000), 1), (payload(1.0, rack="r" * 4000), 3)],
    ids=["many metrics", "a resource", "a long resource"],
)
def test_what_is_kept_spares_a_search(searched: list[bytes], data: bytes, times: int) -> None:
    """A resource of Java's is kept, of however many metrics. A longer one is searched for at each push."""
    labelling = Labelling({})
    for _ in range(3):
        labelling.labelled(push(data))
    assert len(searched) == times


def test_a_struct_that_others_have_displaced(searched: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found again."""
    monkeypatch.setattr(resource, "_struct", lru_cache(1)(Struct))
    labelling = Labelling({"proxy": "here"})
    for data, info in [(payload(1.0), client()), (payload(1.0, 2.0), client(2))] * 2:
        assert labelling.labelled(push(data, info)) == expected(data, info)
    assert len(searched) == 2 * 4


def test_who_has_not_pushed_for_longest_is_forgotten(searched: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept of more clients than there may be instances."""
    monkeypatch.setattr(resource, "REMEMBERED", 2)
    labelling = Labelling({})
    for number in (1, 2, 1, 3, 1):
        labelling.labelled(push(payload(1.0), client(number)))
    assert len(searched) == 3
    labelling.labelled(push(payload(1.0), client(2)))
    assert len(searched) == 4
