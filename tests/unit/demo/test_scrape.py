"""What the demo reads from a page of metrics that kproxy's own collector made."""

from __future__ import annotations

import pytest

from kproxy.demo.scrape import Scrape, in_proxy_quantile, read
from kproxy.observe.counters import Counters
from kproxy.observe.prometheus import registry_for, render
from tests.unit.observe.everything import everything


def scraped(counters: Counters) -> Scrape:
    """What the demo reads of these counters' page."""
    return read(render(registry_for(counters))[1].decode())


def test_the_names_are_kproxys() -> None:
    """Every metric that the demo looks for is there, under the name that it looks for."""
    scrape = scraped(everything())
    assert scrape.requests
    assert scrape.errors
    assert scrape.moved_bytes > 0
    assert scrape.cpu_seconds > 0
    assert scrape.rss_bytes > 1e6
    assert in_proxy_quantile(scrape, read(""), 0.5) is not None


def test_nothing_happened_between_two_scrapes() -> None:
    """Then there is no quantile."""
    scrape = scraped(everything())
    assert in_proxy_quantile(scrape, scrape, 0.99) is None


def test_a_kproxy_without_a_client() -> None:
    """No request, no error, no latency."""
    scrape = scraped(Counters(0.0))
    assert (scrape.requests, scrape.errors, scrape.in_proxy, scrape.moved_bytes) == ({}, {}, {}, 0)


def test_garbage() -> None:
    """A page that is none of Prometheus'."""
    with pytest.raises(ValueError, match="html"):
        read("<html>{</html>")
