"""The queue of responses that a client waits for."""

from __future__ import annotations

from kproxy.observe.counters import ClusterCounters
from kproxy.protocol.api_table import ApiTable
from kproxy.relay.in_flight import Expected, InFlight


def _expected(correlation_id: int) -> Expected:
    return Expected(correlation_id, ApiTable(ClusterCounters("test"), {}).route(12 << 16 | 4), 3.5)


def test_the_first_that_came_is_the_first_that_goes() -> None:
    """Also after it was empty in between; length, first and last are of the entries that wait."""
    queue = InFlight()
    for number in (1, 2, 3):
        queue.append(_expected(number))
    assert [queue.pop().correlation_id for _ in range(3)] == [1, 2, 3]
    assert (len(queue), queue.first, list(queue)) == (0, None, [])
    for number in (4, 5):
        queue.append(_expected(number))
    assert queue.first is not None
    assert queue.last is not None
    assert (queue.first.correlation_id, queue.last.correlation_id, len(queue)) == (4, 5, 2)
    assert [expected.correlation_id for expected in queue] == [4, 5]


def test_the_last_is_dropped_if_it_is_that_one() -> None:
    """Whatever is before it; one that has no response is not in the queue."""
    for before in range(3):
        queue, cut = InFlight(), _expected(9)
        for number in range(before):
            queue.append(_expected(number))
        queue.drop_last(cut)
        assert len(queue) == before
        queue.append(cut)
        queue.drop_last(cut)
        queue.drop_last(cut)
        queue.append(_expected(before))
        assert [expected.correlation_id for expected in queue] == list(range(before + 1))
        assert len(queue) == before + 1
    queue.clear()
    queue.drop_last(cut)
    assert (len(queue), queue.first, queue.last) == (0, None, None)


def test_a_long_queue_is_freed_link_by_link() -> None:
    """Entries that held each other would be freed by recursion, as deep as the queue is long."""
    queue, entries = InFlight(), [_expected(number) for number in range(100_000)]
    for entry in entries:
        queue.append(entry)
    queue.clear()
    assert (len(queue), queue.first, queue.last) == (0, None, None)
    assert all(entry.behind is None for entry in entries)


def test_times_begin_when_the_request_was_received() -> None:
    """Until more is known no time has passed, so no histogram sees a negative one."""
    expected = _expected(5)
    assert (expected.received, expected.sent, expected.first_byte) == (3.5, 3.5, 3.5)
    assert expected.answer is None
