"""Snapshots from Metadata, and which responses may not replace a good one."""

from __future__ import annotations

import pytest

from kproxy.errors import UpstreamError
from kproxy.topology.snapshot import Node, Snapshot, from_metadata
from kproxy.wire.generated.metadata_response import MetadataResponse, MetadataResponseBroker

GOOD = MetadataResponseBroker(1001, "b", 9092, "rack-1")


def test_a_good_answer_is_a_snapshot() -> None:
    """It has cluster id, controller, and nodes with racks."""
    answer = MetadataResponse(brokers=[GOOD], cluster_id="x", controller_id=1001)
    assert from_metadata(answer) == Snapshot.of([Node(1001, "b", 9092, "rack-1")], "x", 1001)


def test_no_controller_is_none() -> None:
    """Kafka's -1 means no controller."""
    assert from_metadata(MetadataResponse(brokers=[GOOD], controller_id=-1)).controller_id is None


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (MetadataResponse(brokers=[GOOD], error_code=129), "REBOOTSTRAP_REQUIRED"),
        (MetadataResponse(cluster_id="x"), r"no broker that can be dialled \(0 in all\)"),
        (MetadataResponse(brokers=[MetadataResponseBroker(1, "", -1)]), r"\(1 in all\)"),
    ],
)
def test_errors_and_no_usable_broker_are_refused(answer: MetadataResponse, why: str) -> None:
    """They raise an error with the reason, and never make an empty snapshot."""
    with pytest.raises(UpstreamError, match=why):
        from_metadata(answer)
