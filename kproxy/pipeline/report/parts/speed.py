# This module is pure (no I/O, no clock).
"""How long clients wait, and how much passes."""

from __future__ import annotations

from typing import Final

from kproxy.pipeline.report.charts import over_time
from kproxy.pipeline.report.charts.figure import Figure, Table
from kproxy.pipeline.report.charts.numbers import BYTES, BYTES_BY_SECOND, MILLISECONDS, Unit
from kproxy.pipeline.report.charts.over_time import Caption
from kproxy.pipeline.report.charts.scales import Times
from kproxy.pipeline.report.content import Sections
from kproxy.pipeline.report.parts.part import Part, answered, table
from kproxy.pipeline.report.sections.latency import Latency, SlowClient
from kproxy.pipeline.report.sections.shapes import Listing, OverTime, Unanswered
from kproxy.pipeline.report.sections.throughput import Busy, Passed
from kproxy.pipeline.report.words import shown

_BY_SECOND: Final = {
    what: Unit(tuple((factor, f"{many}{what}/s") for factor, many in ((1, ""), (1e3, "thousand "), (1e6, "million "))))
    for what in ("requests", "records")
}


def latency(sections: Sections, times: Times) -> Part:
    """Return the quantiles over time, and the slowest clients."""
    nothing = "No client pushed its latency in this time: see telemetry in the documentation."
    if isinstance(sections.latency, Unanswered) or not sections.latency:
        return Part("latency", "Latency", (answered(sections.latency, lambda _: None, nothing),))
    charts = tuple(_latency(one, times) for one in sections.latency)
    return Part("latency", "Latency", (*charts, answered(sections.slowest, _slowest, nothing)))


def _latency(one: Latency, times: Times) -> Figure:
    note = f"Half of the {one.averages:,} averages that clients pushed are below p50, all but 1 % below p99."
    key = f"latency-{one.kind.replace(' ', '-')}"
    return over_time.lines(one.over_time, times, Caption(key, f"Latency of {one.kind}", note, MILLISECONDS))


def _slowest(listing: Listing[SlowClient]) -> Table | None:
    head = ("client.id", "p99", "p50", "of", "averages", "cluster")
    return table("Slowest clients", head, listing, _slow, 1, 2, 4)


def _slow(one: SlowClient) -> tuple[str, ...]:
    quantiles = (MILLISECONDS.text(one.p99), MILLISECONDS.text(one.p50))
    return shown(one.client_id), *quantiles, one.kind, f"{one.averages:,}", shown(one.cluster)


def throughput(sections: Sections, times: Times) -> Part:
    """Return bytes, requests and records by second, and the busiest clients."""

    def in_bytes(passed: Passed) -> Figure | None:
        note = f"{BYTES.text(passed.bytes_in)} came from clients and {BYTES.text(passed.bytes_out)} went to them."
        caption = Caption("throughput-bytes", "Bytes through kproxy", note, BYTES_BY_SECOND)
        return None if passed.bytes.empty else over_time.lines(passed.bytes, times, caption)

    def requests(passed: Passed) -> Figure | None:
        note = f"{passed.requests_in:,} requests came from clients."
        caption = Caption("throughput-requests", "Requests through kproxy", note, _BY_SECOND["requests"])
        return None if passed.requests.empty else over_time.lines(passed.requests, times, caption)

    def records(values: OverTime) -> Figure | None:
        note = "By the counters of producers that push their metrics."
        caption = Caption("throughput-records", "Records that producers sent", note, _BY_SECOND["records"])
        return None if values.empty else over_time.lines(values, times, caption)

    def busiest(listing: Listing[Busy]) -> Table | None:
        head = ("client.id", "from it", "to it", "requests", "cluster")
        return table("Busiest clients", head, listing, _busy, 1, 2, 3)

    blocks = (
        answered(sections.passed, in_bytes, "No byte is known to have passed in this time."),
        answered(sections.passed, requests, "No request is known to have passed in this time."),
        answered(sections.records, records, "No producer pushed how many records it sent."),
        answered(sections.busiest, busiest, ""),
    )
    return Part("throughput", "Throughput", tuple(dict.fromkeys(block for block in blocks if block != "")))


def _busy(one: Busy) -> tuple[str, ...]:
    amounts = (BYTES.text(one.bytes_in), BYTES.text(one.bytes_out), f"{one.requests:,}")
    return shown(one.client_id), *amounts, shown(one.cluster)
