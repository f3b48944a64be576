"""A response that the client waits for."""

from __future__ import annotations

from kproxy.observe.counters import ClusterCounters
from kproxy.relay.in_flight import Expected
from kproxy.relay.routes import Table


def test_times_begin_when_the_request_was_received() -> None:
    """Until more is known no time has passed, so no histogram sees a negative one."""
    expected = Expected(5, Table(ClusterCounters("test"), {}).route(12 << 16 | 4), 3.5)
    assert (expected.received, expected.sent, expected.first_byte) == (3.5, 3.5, 3.5)
    assert expected.answer is None
