"""InFlight: answers come in the order of the requests, or not at all."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.upstream.frames import InFlight


def test_answers_in_order_meet_their_requests() -> None:
    """Each answer gets what was kept for its request."""
    queue: InFlight[str] = InFlight()
    ids = [queue.push(name) for name in "abc"]
    assert len(queue) == 3
    assert [queue.answered(i) for i in ids] == ["a", "b", "c"]
    assert not queue


def test_an_answer_out_of_order_is_refused_and_nothing_is_lost() -> None:
    """An answer to the second request before the first is malformed; the first one is still waited for."""
    queue: InFlight[str] = InFlight()
    first, second = queue.push("a"), queue.push("b")
    with pytest.raises(MalformedMessageError, match=f"{second} where {first} is due"):
        queue.answered(second)
    assert queue.answered(first) == "a"


def test_an_answer_to_no_request_is_refused() -> None:
    """With nothing in flight, any answer is malformed."""
    with pytest.raises(MalformedMessageError, match="to no request"):
        InFlight[str]().answered(0)


def test_correlation_ids_wrap_within_int32() -> None:
    """After the largest int32 comes 0: a connection may live for any number of requests."""
    queue: InFlight[str] = InFlight(first_id=2**31 - 1)
    assert [queue.push("a"), queue.push("b")] == [2**31 - 1, 0]


def test_drain_gives_all_that_wait_oldest_first() -> None:
    """When a connection ends, every waiting request is found once."""
    queue: InFlight[str] = InFlight()
    for name in "abc":
        queue.push(name)
    assert (queue.drain(), queue.drain()) == (["a", "b", "c"], [])
