"""kproxy.demo.scrape: reading a page of metrics made by kproxy's own collector."""

from __future__ import annotations

import pytest

from kproxy.demo.scrape import Scrape, in_proxy_quantile, read
from kproxy.observe.counters import Counters
from kproxy.observe.prometheus import registry_for, render
from tests.unit.observe.everything import everything


def scraped(counters: Counters) -> Scrape:
    """Return the scrape of these counters' page."""
    return read(render(registry_for(counters))[1].decode())


def test_the_names_are_kproxys() -> None:
    """kproxy exports every metric that the demo reads, under the same name."""
    scrape = scraped(everything())
    assert scrape.requests
    assert scrape.errors
    assert scrape.moved_bytes > 0
    assert scrape.cpu_seconds > 0
    assert scrape.rss_bytes > 1e6
    assert in_proxy_quantile(scrape, read(""), 0.5) is not None


def test_nothing_happened_between_two_scrapes() -> None:
    """Without requests there is no quantile."""
    scrape = scraped(everything())
    assert in_proxy_quantile(scrape, scrape, 0.99) is None


def test_a_kproxy_without_a_client() -> None:
    """It has no requests, errors or latencies."""
    scrape = scraped(Counters(0.0))
    assert (scrape.requests, scrape.errors, scrape.in_proxy, scrape.moved_bytes) == ({}, {}, {}, 0)


def test_garbage() -> None:
    """A page that is not in Prometheus' format is refused."""
    with pytest.raises(ValueError, match="html"):
        read("<html>{</html>")
