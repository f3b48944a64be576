"""Prometheus' own linter on /metrics/clients, whatever clients call their metrics."""

from __future__ import annotations

import pytest

from kproxy.telemetry.receivers.accumulate import Accumulator
from kproxy.telemetry.receivers.exposition import page, snapshot
from kproxy.telemetry.receivers.labels import CLIENT_LABELS
from tests.support.promtool import complaints
from tests.unit.telemetry.receivers.pushes import client, gauge, histogram, metrics, summary, total

ODD = "a.s a.m b.h.x x.count x.y.sum x.bucket foo.info a:b c.gauge.x x.total.total iotime.us 9x requestSizeMB ü.ms.avg"


@pytest.mark.parametrize("labels", [tuple(CLIENT_LABELS), ("client_software_name",), ()])
def test_promtool_has_nothing_to_say(labels: tuple[str, ...]) -> None:
    """Counters, gauges, histograms and summaries of every odd name, of one client or of many."""
    accumulator = Accumulator(labels=labels, constant={"cluster": "main"})
    for number in range(3):
        pushed = metrics(
            *[gauge(name, 1.5, topicName="x", le="1") for name in ODD.split()],
            *[total(name, 1, topicName='"\\\n') for name in ODD.split()],
            *[histogram(f"{name}.hist", [1.0, 2.0], [1, 1, 1], 3.5) for name in ODD.split()],
            *[summary(f"{name}.summary.of", 2, 3.0, {0.5: 1.0}) for name in ODD.split()],
        )
        list(accumulator.steps(client(number), pushed, 0))
    text = page(map(snapshot, accumulator.families.values()))
    assert text.count("# TYPE") > 40
    assert complaints(text.encode()) == ""
