"""kproxy.demo.board: rates and latencies between two samples."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from kproxy.demo.board import Node
from tests.unit.demo.boards import OWN, TOLD, ended, hosted, sample, scrape, started


def test_rates_between_two_samples() -> None:
    """Each is the difference divided by the time between."""
    first, second = ended().moments
    assert asdict(first) == {
        "at": 1.0,
        "produced_per_s": 110,
        "consumed_per_s": 100,
        "p50_ms": 3.0,
        "p99_ms": 12.0,
        "in_kproxy_p50_ms": pytest.approx(0.055),
        "in_kproxy_p99_ms": pytest.approx(0.0991),
        "requests_per_s": 400,
        "cpu_percent": pytest.approx(40),
        "rss_mb": 50,
        "connections": 4,
    }
    assert (second.produced_per_s, second.consumed_per_s, second.requests_per_s, second.p50_ms) == (90, 100, 600, None)


def test_too_short_is_no_moment() -> None:
    """The records that are received right after the end would look like a burst."""
    board = ended()
    board.see_sample(sample(2.1, 230, (130, 100)), scrape(1010))
    assert len(board.moments) == 2


def test_without_requests_no_latency() -> None:
    """The latency is None, not zero."""
    board = started()
    board.see_sample(sample(1.0, 0, (0, 0), None), scrape(0))
    assert board.moments[0].in_kproxy_p99_ms is None
    assert board.in_kproxy_ms == (None, None)


def test_connections_by_node() -> None:
    """Connections to the bootstrap port belong to no node."""
    board = started()
    assert board.connections == 4
    assert board.nodes == [Node(1, TOLD[1], OWN[1], 2), Node(2, TOLD[2], OWN[2], 1)]


def test_generations_of_a_hosted_group() -> None:
    """Each one once, from when it was first seen stable, with the partitions of each member."""
    board = hosted()
    assert board.group == "Stable, generation 3"
    assert [(one.at, one.number, dict(one.held)) for one in board.generations] == [
        (0.5, 1, {"demo-one": [0], "demo-two": [1]}),
        (1.0, 2, {"demo-one": [0], "demo-two": [1], "demo-guest": []}),
        (1.5, 3, {"demo-one": [0], "demo-two": [1]}),
    ]
