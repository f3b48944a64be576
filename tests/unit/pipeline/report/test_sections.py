"""kproxy.pipeline.report.sections: what is made of a query's rows."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kproxy.pipeline.findings import queries
from kproxy.pipeline.report import timeline
from kproxy.pipeline.report.sections import errors, fleet, latency, rebalances, throughput
from kproxy.pipeline.report.sections.coverage import Coverage, coverage
from kproxy.pipeline.report.sections.latency import FETCH
from kproxy.pipeline.report.sections.shapes import Row, Scope, Series
from tests.unit.pipeline.report.contents import SINCE

HOUR = timedelta(hours=1)
_LINE = timeline.hourly(SINCE, SINCE + 4 * HOUR)
FIRST = _LINE.numbers[0]
SCOPE = Scope(_LINE, _LINE, SINCE + 2.5 * HOUR, SINCE + 1.5 * HOUR)


def test_the_rest_of_the_series() -> None:
    """It is their sum, comes last, and says of how many."""
    rows: list[Row] = [
        {"bucket": FIRST + 1, "place": 7, "name": None, "amount": 4.0, "names": 9},
        {"bucket": FIRST + 3, "place": 1, "name": "librdkafka 2.12.1", "amount": 2.0, "names": 9},
        {"bucket": FIRST, "place": 1, "name": "librdkafka 2.12.1", "amount": 1.0, "names": 9},
    ]
    assert fleet.OVER_TIME.make(rows, SCOPE).series == (
        Series("librdkafka 2.12.1", (1.0, 0.0, 0.0, 2.0)),
        Series("3 others", (0.0, 4.0, 0.0, 0.0), rest=True),
    )


def test_rates_end_with_the_data() -> None:
    """Half an hour of data is half an hour's rate; after it there is none, rather than zero."""
    rows = [{"bucket": FIRST + hour, "bytes_in": 3600, "bytes_out": None, "requests": 1800} for hour in (0, 2)]
    passed = throughput.PASSED.make(rows, SCOPE)
    assert passed.bytes.series == (
        Series("from clients", (1.0, 0.0, 2.0, None)),
        Series("to clients", (0.0, 0.0, 0.0, None)),
    )
    assert passed.requests.series[0].values == (0.5, 0.0, 1.0, None)
    assert (passed.bytes_in, passed.bytes_out, passed.requests_in) == (7200, 0, 3600)
    records = throughput.records(3600).make([{"bucket": FIRST + 1, "sent": 3600.0}], SCOPE)
    assert records.series == (Series("records sent", (0.0, 2.0, None, None)),)
    assert throughput.records(3600).make([], SCOPE).empty


def test_quantiles() -> None:
    """By kind, with gaps; a kind without values is left out."""
    rows = [{"bucket": FIRST + 2, "kind": FETCH, "averages": 7, "p50": 1.0, "p99": 9.0}]
    (made,) = latency.over_time(3600).make(rows, SCOPE)
    assert (made.kind, made.averages) == ("consumer fetches", 7)
    assert made.over_time.series == (Series("p50", (None, None, 1.0, None)), Series("p99", (None, None, 9.0, None)))


def test_listings() -> None:
    """They know how much is left out; none is none."""
    row = {"error_class": "c", "error": "e", "api": "Produce", "errors": 1, "clients": 1, "mostly": None}
    made = errors.MOST.make([{**row, "last_at": SINCE, "total": 12}], SCOPE)
    assert (made.rows[0].error, made.more) == ("e", 11)
    assert (errors.MOST.make([], SCOPE).rows, errors.MOST.make([], SCOPE).more) == ((), 0)


@pytest.mark.parametrize(("step", "table"), [(1800, "rollup_1m"), (3600, "rollup_1h")])
def test_the_rollup(step: int, table: str) -> None:
    """Buckets below an hour are made of minutes."""
    for question in (latency.over_time(step), throughput.records(step)):
        assert queries.tables(question.query) == (table,)


def test_short_windows_have_slots() -> None:
    """Rebalances are put together by parts of the window, of a microsecond at least."""
    assert "div 60000000" in rebalances.spells(SINCE, SINCE + 2 * HOUR).query
    assert "div 1\n" in rebalances.spells(SINCE, SINCE + timedelta(microseconds=5)).query


def test_coverage() -> None:
    """The first and the last row of both tables; a missing table is none."""
    made = coverage([{"first": SINCE, "last": SINCE + HOUR}], [{"first": None, "last": None}])
    assert (made.first, made.last) == (SINCE, SINCE + HOUR)
    assert coverage([], []) == Coverage()
    assert (Coverage().first, Coverage().last) == (None, None)
