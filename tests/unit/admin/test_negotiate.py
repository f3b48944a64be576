"""kproxy.admin.negotiate: preferences of real clients, and nonsense."""

from __future__ import annotations

import pytest

from kproxy.admin.negotiate import wants_gzip, wants_openmetrics

PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3_TEXT_FIRST = "text/plain;version=0.0.4;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1"


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", False),
        ("*/*", False),
        ("text/html,application/xhtml+xml,*/*;q=0.8", False),
        (PROMETHEUS_2, True),
        (PROMETHEUS_3_TEXT_FIRST, False),
        ("application/openmetrics-text", True),
        ("Application/OpenMetrics-Text; version=1.0.0", True),
        ("application/openmetrics-text;q=0", False),
        ("application/openmetrics-text;q=much", False),
        ("application/openmetrics-text;version=nonsense", True),
        (",;,;q=,", False),
    ],
)
def test_openmetrics_is_given_to_who_prefers_it(accept: str, wanted: bool) -> None:
    """The text format is the default."""
    assert wants_openmetrics(accept) is wanted


@pytest.mark.parametrize(
    ("header", "wanted"),
    [("", False), ("gzip", True), ("deflate, GZIP;q=0.5", True), ("gzip;q=0", False), ("br", False), ("x-gzip", False)],
)
def test_gzip_is_given_to_who_takes_it(header: str, wanted: bool) -> None:
    """Only by its name, and not when its weight is zero."""
    assert wants_gzip(header) is wanted
