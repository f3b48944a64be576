# This module is pure.
"""Which of two forms a client prefers, by its Accept and Accept-Encoding headers (RFC 9110, 12.5). Pure."""

from __future__ import annotations


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


def quality(header: str, *names: str) -> float:
    """The highest q of the names in a header of comma-separated preferences; 0.0 when none is there."""
    best = 0.0
    for preference in header.split(","):
        name, *parameters = preference.split(";")
        if name.strip().lower() in names:
            best = max(best, _weight(parameters))
    return best


def wants_openmetrics(accept: str) -> bool:
    """Whether OpenMetrics comes first; a client that only accepts anything gets the older text format."""
    openmetrics = quality(accept, "application/openmetrics-text")
    return openmetrics > 0 and openmetrics >= quality(accept, "text/plain")


def wants_gzip(accept_encoding: str) -> bool:
    return quality(accept_encoding, "gzip") > 0
