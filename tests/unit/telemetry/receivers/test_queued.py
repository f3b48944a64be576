"""kproxy.telemetry.receivers.interface: what the shipped receivers have in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.telemetry.receivers.files import Files, lines_with
from kproxy.telemetry.receivers.interface import OTLP, Queued, Receiver
from kproxy.telemetry.receivers.kafka import Kafka, records_with
from kproxy.telemetry.receivers.prometheus import Prometheus
from kproxy.upstream.client import UpstreamClient

RECEIVERS: list[Receiver] = [
    Prometheus("r"),
    Files("r", Path("d"), "p", lines_with({})),
    Kafka("r", lambda: UpstreamClient([("127.0.0.1", 1)]), "t", records_with({})),
]


@pytest.mark.parametrize("receiver", RECEIVERS, ids=lambda receiver: type(receiver).__name__)
def test_a_receiver_is_one(receiver: Receiver) -> None:
    """The shipped receivers have the interface of a plug-in; all take OTLP."""
    assert (receiver.name, receiver.content_types) == ("r", frozenset({OTLP}))


def test_plug_ins_take_otlp() -> None:
    """Unless they define other content types."""
    assert Queued("q").content_types == {OTLP}
